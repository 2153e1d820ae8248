"""A resource group whose demands, hosts, plan and windows change at random, and what must be true all the while."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from fairhold.cycle.document import run_cycle
from fairhold.cycle.open import close_books, open_books
from fairhold.cycle.verify import verify
from fairhold.errors import InputError
from fairhold.ledger import transitions
from fairhold.ledger.rows import in_force, in_other_window
from fairhold.model.state import State
from fairhold.planio.plan import parse_plan
from fairhold.planio.statewrite import state_document
from tests.properties.machinery import cycle, is_quiet, stop_expired
from tests.properties.strategies import GROUP, LONGEST_GRACE, Case, Json

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from fairhold.cycle.run import CycleResult
    from fairhold.ledger.books import Books
    from fairhold.model.plan import Plan

SECOND = 1_000_000
SMALL = st.integers(0, 9)


class Changing(RuleBasedStateMachine):
    """Changes come in any order, between cycles or not; `rest` lets things be until nothing moves any more.

    A subclass says which cases it begins with, and whether there are gangs.
    """

    begins: SearchStrategy[Case]
    gangs = False

    def __init__(self) -> None:
        super().__init__()
        self.document: Json = {}

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """A plan and a state of any kind."""
        case = data.draw(self.begins)
        self.document = deepcopy(case.plan_document)
        self.plan: Plan = case.plan
        self.now = case.state.now
        self.books: Books = open_books(self.plan, case.state)[GROUP]
        stop_expired(self.books, self.now)

    # What changes

    @rule(at=SMALL, count=st.integers(0, 24))
    def want(self, at: int, count: int) -> None:
        """A request is for more or less; what runs beyond it is excess."""
        live = [request for mine in self.books.requests.by_leaf.values() for request in mine]
        if live:
            request = live[at % len(live)]
            least = self.books.requests.minimum[request]
            transitions.want(self.books, request, max(count, least))

    @rule(at=SMALL, count=st.integers(1, 24))
    def ask(self, at: int, count: int) -> None:
        """Another request of a leaf."""
        leaves = self.books.rows.leaves
        leaf = leaves[at % len(leaves)]
        if self.books.requests.id and all(self.books.requests.id):
            name = f"n{len(self.books.requests.id)}"
            if name not in self.books.requests.row_of:
                transitions.submit(self.books, leaf, count, name=name, submitted=self.now)
        elif not self.books.requests.by_leaf.get(leaf):
            transitions.submit(self.books, leaf, count)

    @rule(at=SMALL, units=st.integers(1, 4))
    def end(self, at: int, units: int) -> None:
        """Work ends by itself."""
        allocations = [row for mine in self.books.allocations.by_request.values() for row in mine]
        if allocations:
            row = allocations[at % len(allocations)]
            request = self.books.allocations.request[row]
            units = min(units, self.books.allocations.units[row])
            if not self.books.requests.minimum[request]:
                transitions.release(self.books, row, units)
                transitions.want(self.books, request, max(0, self.books.requests.count[request] - units))

    @rule(at=SMALL, slots=st.integers(0, 12))
    def host(self, at: int, slots: int) -> None:
        """A host comes, goes, or has another number of slots."""
        row = at % len(self.books.hosts.name)
        if self.books.hosts.name[row]:
            transitions.set_host(self.books, row, up=not self.books.hosts.up[row])
        else:
            transitions.set_host(self.books, row, slots=slots * 3)

    @rule(
        at=SMALL, kind=st.sampled_from(["limit", "rank", "reclaim_grace", "share_ratio", "owned", "settings"]), to=SMALL
    )
    def change_plan(self, at: int, kind: str, to: int) -> None:
        """Another plan of the same consumers, where it is one."""
        document = deepcopy(self.document)
        entry = document["policies"][at % len(document["policies"])]
        stated = entry["consumers"][sorted(entry["consumers"])[at % len(entry["consumers"])]]
        if kind == "settings":
            switches = [key for key, value in entry["settings"].items() if isinstance(value, bool)]
            for key in switches:
                entry["settings"][key] = not entry["settings"][key]
        elif kind == "limit":
            stated.pop("limit", None) if to > 6 else stated.update(limit=stated.get("owned", 0) + to)
        elif kind == "reclaim_grace":
            stated["reclaim_grace"] = f"{to}s"
        elif kind in stated or kind == "rank":
            stated[kind] = to
        self.put(document)

    def put(self, document: Json) -> None:
        """A plan comes into force, where it is one."""
        try:
            plan = parse_plan(json.dumps(document), "plan.json")[0]
        except InputError:
            return
        self.document, self.plan = document, plan
        self.reopen()

    @rule()
    def reopen(self) -> None:
        """The state is written down and read again."""
        self.books = open_books(self.plan, self.state())[GROUP]

    @precondition(lambda self: self.document and self.plan.calendar is not None)
    @rule()
    def next_window(self) -> None:
        """Time passes to the next switch."""
        assert self.plan.calendar is not None
        switch = self.plan.calendar.next_switch(GROUP, self.now)
        if switch is not None:
            self.pass_time(switch.instant - self.now)

    @rule(span=st.sampled_from([1, SECOND, 7 * SECOND, LONGEST_GRACE]))
    def wait(self, span: int) -> None:
        """Time passes; what is due is stopped, and the next cycle runs."""
        self.pass_time(span)

    def pass_time(self, span: int) -> None:
        self.now += span
        force = in_force(self.plan, GROUP, self.now)
        if force != self.books.rows.force:
            self.books.use(in_other_window(self.books.rows, force))
        stop_expired(self.books, self.now)
        cycle(self.books, self.now)

    @rule()
    def run(self) -> None:
        """A cycle runs, and its independent check agrees."""
        state = self.state()
        found = run_cycle(self.plan, state, check=True)
        assert not found.untrue, found.untrue
        result = found.document | {"state": state_document(self.plan, found.after)}
        findings = verify(self.plan, state, json.loads(json.dumps(result)))
        assert not findings, findings
        cycle(self.books, self.now)

    def state(self) -> State:
        """What the books say, as a state."""
        group = self.plan.resource_groups[GROUP]
        hosts = self.books.hosts
        down = frozenset(name for row, name in enumerate(hosts.name) if name and not hosts.up[row])
        slots: dict[str, int] = {} if group.hosts else {GROUP: hosts.slots[0]}
        return close_books({GROUP: self.books}, State(self.now, slots=slots, hosts_down=down))

    # Nothing changes any more

    @rule()
    def rest(self) -> None:
        """Cycles, each when the next grace has ended, come to rest in the steps that docs/no-thrash.md states.

        Nobody who got a slot gives it back, and no more is stopped than somebody held too much.
        """
        result = cycle(self.books, self.now)
        most, stopped, steps = self.too_much(result), 0, 1
        got = {self.books.requests.leaf[grant.request] for grant in result.decision.grants}
        while (due := self.next_due(result)) is not None:
            self.now = max(due, self.now)
            stopped += stop_expired(self.books, self.now)
            result = cycle(self.books, self.now)
            gives = {self.holder(notice.allocation) for notice in result.decision.notices}
            assert self.gangs or not got & gives, "who got a slot is to give it back"
            got |= {self.books.requests.leaf[grant.request] for grant in result.decision.grants}
            steps += 1
            assert steps <= self.most_steps(most), f"{steps} cycles for {most} slots too many"
        assert is_quiet(cycle(self.books, self.now))
        assert self.gangs or stopped <= most

    def next_due(self, result: CycleResult) -> int | None:
        """When something has to be looked at again: the next end of a grace."""
        del result
        return transitions.next_deadline(self.books)

    def most_steps(self, most: int) -> int:
        """Cycles within which all is at rest, where so many slots are held too much."""
        return 2 + most

    def holder(self, allocation: int) -> int:
        return self.books.requests.leaf[self.books.allocations.request[allocation]]

    def too_much(self, result: CycleResult) -> int:
        """Slots that leaves hold above their quota, or that go in any case."""
        books, quota = self.books, result.draft.quota
        return sum(max(books.held[leaf] - quota[leaf], result.draft.bound[leaf], 0) for leaf in books.rows.leaves)
