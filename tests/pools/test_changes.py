"""State machines: hosts, demands, gangs and plans of `multidimensional` change at random; cycles come to rest."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.errors import InputError
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from fairhold.units import SECOND
from tests.pools.strategies import plans, read, states
from tests.pools.truths import MOVES, second_cycle, untrue

if TYPE_CHECKING:
    from fairhold.cycle.document import Cycle

Json = dict[str, Any]
SMALL = st.integers(0, 9)
LONGEST_GRACE = 30 * SECOND
MOST_CYCLES = 40
CONTROLS: dict[str, tuple[Any, Any]] = {
    "max_reclaims": (1, 3),
    "dead_zone": (1, 2),
    "await_ends": ("3s", "40s"),
    "rebalance_interval": ("10s", "10m"),
    "min_runtime": ("5s", "1m"),
}


class Changing(RuleBasedStateMachine):
    """Changes come in any order, between cycles or not; `rest` lets things be until nothing moves any more.

    is_run_twice : whether a second cycle on the file of the state has to decide nothing
    """

    is_run_twice = False

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """A plan and a state of any kind."""
        self.document, self.leaves = data.draw(plans())
        self.plan, self.state = read(self.document, data.draw(states(self.document, self.leaves)))

    @rule(at=SMALL, count=st.integers(1, 9))
    def want(self, at: int, count: int) -> None:
        """A request is for more or less."""
        mine = list(self.state.requests)
        at %= len(mine)
        mine[at] = replace(mine[at], count=max(count, mine[at].min_count))
        self.state = replace(self.state, requests=tuple(mine))

    @rule(at=SMALL, leaf=SMALL, count=st.integers(1, 6), least=st.sampled_from([0, 0, 3]))
    def ask(self, at: int, leaf: int, count: int, least: int) -> None:
        """Another request, of a size that somebody has asked for."""
        like = self.state.requests[at % len(self.state.requests)]
        leaves = [row for row in range(len(self.plan.tree)) if self.plan.tree.is_leaf(row)]
        name = f"n{len(self.state.requests)}"
        new = replace(like, id=name, consumer=leaves[leaf % len(leaves)], count=count, min_count=min(count, least))
        self.state = replace(self.state, requests=(*self.state.requests, new))

    @rule(at=SMALL)
    def end(self, at: int) -> None:
        """Units that are not under notice end by themselves."""
        noticed = {(notice.request, notice.host) for notice in self.state.notices}
        held = list(self.state.allocations)
        gone = [row for row in held if (row.request, row.host) not in noticed]
        if gone:
            held.remove(gone[at % len(gone)])
            self.state = replace(self.state, allocations=tuple(held))

    @rule(at=SMALL)
    def host(self, at: int) -> None:
        """A host goes down or comes back."""
        names = [host.name for group in self.plan.resource_groups.values() for host in group.hosts]
        self.state = replace(self.state, hosts_down=self.state.hosts_down ^ {names[at % len(names)]})

    @rule(size=st.integers(2, 8))
    def join(self, size: int) -> None:
        """A host is added."""
        document = deepcopy(self.document)
        name, group = next(iter(document["resource_groups"].items()))
        like = dict.fromkeys(document["resources"], size)
        group["hosts"].append({"name": f"{name}{len(group['hosts']) + 20}", **like})
        self.put(document)

    @rule(at=SMALL, kind=st.sampled_from(["share_ratio", "share_priority", "rank", "share_limit", "own"]), to=SMALL)
    def change_plan(self, at: int, kind: str, to: int) -> None:
        """Another plan of the same consumers, where it is one."""
        document = deepcopy(self.document)
        stated = document["policies"][0]["consumers"]
        mine = stated[sorted(stated)[at % len(stated)]]
        if kind == "own":
            mine.pop("own", None)
        else:
            mine[kind] = {"cpu": to} if kind == "share_limit" else to
        self.put(document)

    @rule(at=SMALL, kind=st.sampled_from(sorted(CONTROLS)), to=st.integers(0, 2))
    def control(self, at: int, kind: str, to: int) -> None:
        """Another control, or none."""
        document = deepcopy(self.document)
        entry = document["policies"][0]
        stated = entry["consumers"]
        words = stated[sorted(stated)[at % len(stated)]] if kind == "min_runtime" else entry["settings"]
        words.pop(kind, None)
        if to:
            words[kind] = CONTROLS[kind][to - 1]
        self.put(document)

    def put(self, document: Json) -> None:
        """A plan comes into force, where it is right and knows all that the state says."""
        try:
            plan = parse_plan(json.dumps(document), "plan.json")[0]
            state = parse_state(json.dumps(state_document(self.plan, self.state)), plan, "state.json")
        except InputError:
            return
        self.document, self.plan, self.state = document, plan, state

    @rule(seconds=st.sampled_from([1, 5, 30]))
    def wait(self, seconds: int) -> None:
        """Time passes, and the next cycle runs."""
        self.state = replace(self.state, now=self.state.now + seconds * SECOND)
        self.run()

    @rule()
    def check(self) -> None:
        """The independent check agrees with a cycle."""
        state = self.state
        cycle = self.run()
        result = json.loads(json.dumps(cycle.document | {"state": state_document(self.plan, cycle.after)}))
        findings = verify(self.plan, state, result)
        assert not findings, findings

    def run(self) -> Cycle:
        """A cycle, of which all truths hold; the state goes through its file."""
        cycle = run_cycle(self.plan, self.state)
        assert list(untrue(self.plan, self.state, cycle)) == []
        assert not self.is_run_twice or list(second_cycle(self.plan, cycle)) == []
        self.state = parse_state(json.dumps(state_document(self.plan, cycle.after)), self.plan, "state.json")
        return cycle

    @rule()
    def rest(self) -> None:
        """Under constant demand cycles come to rest."""
        for _ in range(MOST_CYCLES):
            cycle = self.run()
            if not any(cycle.document[kind] for kind in MOVES):
                return
            self.state = replace(self.state, now=self.state.now + LONGEST_GRACE + 1)
        raise AssertionError(f"still moving after {MOST_CYCLES} cycles")


QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


class Twice(Changing):
    is_run_twice = True


def play(machine: type[Changing], examples: int, steps: int) -> None:
    rules = settings(max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=QUIET)
    run_state_machine_as_test(machine, settings=rules)


def test_whatever_changes_pools_come_to_rest() -> None:
    """A second cycle on the file of each state decides nothing."""
    play(Twice, 15, 12)


@pytest.mark.slow
def test_thousands_of_changes_of_pools() -> None:
    play(Changing, 400, 30)
