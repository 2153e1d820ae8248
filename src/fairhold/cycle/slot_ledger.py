"""What the cycles of one resource group of slots go on with, live and simulated alike.

Changes mark the requests that they touch (`ledger.wait_queue`). Two kinds of cycles need no look at anybody else:

- where everybody gets all that it waits for, and nobody has to give anything back (`grants_where_all_fits`);
- where the cycle before left nothing to decide, and what was marked since moves nothing (`Settled`).

Every other cycle is made whole (`cycle.run`). All decide the same: an orchestrator that `reopens` makes every cycle
whole, and is the slow twin.

In a crowded cluster most events are jobs that queue behind others, and tasks whose unit goes to the next of their leaf.
What they change is what some leaves want. A cycle then decides nothing, if the one before left nothing to decide,
nobody holds or has under notice anything else since, and of every leaf whose requests have changed:

- it wants what it wanted, or it wanted more than its quota, and does now, in every division that the cycle before made
  while gangs gave way. So all these quotas are the same (`ledger.divisions` says why, policy by policy);
- of each of these quotas its requests could use as much as before. So the same leaves give way, in the same order;
- no request of it that has changed can start with the idle units that its quota leaves room for. So nothing is granted.

Nobody misses more then. What has to move depends on needs only as far as they are no more than what is held, or than
the quota with every level rounded up, which exceeds the quota by less than two units a level (R-PROTECT-1). Where
anything is missed or under notice, needs lie beyond both, before and now.

A cycle that granted, gave notices or withdrew some left nothing to decide either, where all of that has happened and no
gang has a part in it: quotas do not depend on what single units stand where, all that could be granted was, and who is
to give so much gives just that where it is under notice already (R-NOTICE-1). A gang that starts counts otherwise from
the next instant on, and one that stops as a whole may have made a cycle give more than the next one finds it has to.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from fairhold.cycle.run import CycleResult, run
from fairhold.kernels._jit import fits
from fairhold.kernels.rollup import exceeds
from fairhold.ledger.decision import NOTHING, Decision
from fairhold.rules.gangs import usable
from fairhold.rules.placing import Placement
from fairhold.rules.serving import serve_leaf

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.ledger.books import Books
    from fairhold.ledger.decision import Grant
    from fairhold.ledger.draft import CycleContext

MOST_TRIED = 16
"""Divisions of one cycle that are looked at again; after one that made more the next cycle is whole."""
NOWHERE = -1
"""Slots of a cycle that is like no other."""


class MarkedCycle(NamedTuple):
    """A cycle that looked at nothing but marks.

    quota : (rows,) of the leaves
    """

    books: Books
    now: int
    decision: Decision
    quota: array[int]

    @property
    def idle(self) -> int:
        """Slots that stay idle."""
        return max(0, self.books.slots - sum(self.books.held) - sum(grant.units for grant in self.decision.grants))


SlotCycle = CycleResult | MarkedCycle


class SlotLedger:
    """The books of one group of slots as a cycle has left them."""

    __slots__ = ("_is_over", "_settled")

    def __init__(self) -> None:
        self._settled: Settled | None = None
        self._is_over = False

    def run(self, books: Books, now: int, on_stage: Callable[[str], None]) -> SlotCycle:
        """The next cycle; as `cycle.run`."""
        on_stage("marks")
        if self._settled is not None and self._settled.holds(books, now):
            return MarkedCycle(books, now, NOTHING, self._settled.quota)
        found = grants_where_all_fits(books)
        if found is not None:
            return MarkedCycle(books, now, *found)
        result = run(books, now, on_stage)
        self._is_over = leaves_nothing(result)
        return result

    def carried_out(self, cycle: SlotCycle) -> None:
        """All that a cycle decided has happened, but for what is paused."""
        if isinstance(cycle, CycleResult):
            self._settled = settled_after(cycle, is_over=self._is_over)


class Settled:
    """A cycle that left nothing to decide, and the books as they were after it."""

    __slots__ = (
        "_could",
        "_demand",
        "_draft",
        "_gangs",
        "_held",
        "_limit",
        "_need",
        "_noticed",
        "_quota",
        "_rows",
        "_slots",
        "_tried",
    )

    def __init__(self, result: CycleResult) -> None:
        snapshot, draft, books = result.snapshot, result.draft, result.snapshot.books
        rows, requests = snapshot.rows, books.requests
        self._rows, self._slots, self._tried = rows, snapshot.slots, result.tried
        self._demand, self._held = array("q", books.demand), array("q", books.held)
        self._noticed, self._gangs = array("q", books.noticed), bool(requests.lines.gangs)
        self._could: dict[int, list[int]] = {}
        for leaf in {*requests.gangs, *requests.lines.gangs}:
            wanted = books.demand[leaf]
            self._could[leaf] = [usable(books, leaf, snapshot.now, wanted, quota[leaf]) for quota in self._tried]
        self._draft: CycleContext | None = draft
        self._need, self._limit = draft.needs.need, rows.plan.limit
        self._quota: array[int] | None = None
        requests.lines.changed = set()

    @property
    def quota(self) -> array[int]:
        """(rows,) the quotas of its leaves."""
        return self._tried[-1]

    def holds(self, books: Books, now: int) -> bool:
        """Whether the next cycle decides nothing either; then it counts as the one before from here on."""
        lines, changed = books.requests.lines, books.requests.lines.changed
        if changed is None or books.rows is not self._rows or books.slots != self._slots or not _is_calm(books, now):
            return False
        if books.held != self._held or books.noticed != self._noticed or bool(lines.gangs) != self._gangs:
            return False
        if not self._rests():
            return False
        leaves = {leaf for leaf, _ in changed}
        if not all(self._wants_more(books, leaf, now) for leaf in leaves):
            return False
        if self._starts_any(books, changed) or not self._needs_as_much(books, leaves):
            return False
        for leaf in leaves:
            self._demand[leaf] = books.demand[leaf]
        changed.clear()
        return True

    def _rests(self) -> bool:
        """Whether all of it happened, and everybody gives what is under notice; asked once, as most are not at all."""
        draft, self._draft = self._draft, None
        if draft is not None:
            of_leaves = self._rows.of_leaves
            has_happened = of_leaves(draft.held) == of_leaves(self._held)
            if not (has_happened and of_leaves(draft.balance.gives) == of_leaves(self._noticed)):
                self._slots = NOWHERE
                return False
            if draft.balance.missing[0] or any(self._noticed):
                self._quota = draft.quota
        return True

    def _wants_more(self, books: Books, leaf: int, now: int) -> bool:
        """Whether a leaf changes no division: it wants as much, or more than each quota, using as much of it."""
        wanted, before = books.demand[leaf], self._demand[leaf]
        is_same = wanted == before
        if self._rows.is_owner[leaf] and not is_same and min(wanted, before) < self._rows.plan.owned[leaf]:
            return False
        least, could = min(wanted, before), self._could.get(leaf)
        for at, quota in enumerate(self._tried):
            units = quota[leaf]
            if least <= units and not is_same:
                return False
            if usable(books, leaf, now, wanted, units) != (min(wanted, units) if could is None else could[at]):
                return False
        return True

    def _starts_any(self, books: Books, changed: set[tuple[int, int]]) -> bool:
        """Whether a request that has changed could start with what is idle."""
        requests, quota = books.requests, self._tried[-1]
        idle = self._slots - sum(self._held)
        if idle <= 0:
            return False
        return any(
            requests.leaf[row] == leaf
            and requests.queued[row] > 0
            and max(1, requests.minimum[row] - requests.held[row]) <= min(idle, quota[leaf] - self._held[leaf])
            for leaf, row in changed
        )

    def _needs_as_much(self, books: Books, leaves: set[int]) -> bool:
        """Whether needs that have changed lie beyond what matters, where units are missed or under notice."""
        quota, limit, held, margin = self._quota, self._limit, self._held, 2 * self._rows.depth
        if quota is None:
            return True
        parent = self._rows.tree.parent
        more: dict[int, int] = {}
        for leaf in leaves:
            row, units = leaf, books.demand[leaf] - self._demand[leaf]
            while row >= 0:
                more[row] = more.get(row, 0) + units
                row = parent[row]
        need = array("q", self._need)
        for row, units in more.items():
            # What a limit cuts off is not known: more wanted is cut off as well, and less may not be.
            if units < 0 and need[row] >= limit[row]:
                return False
            need[row] = min(limit[row], need[row] + units)
            least = min(need[row], self._need[row])
            if need[row] != self._need[row] and least <= max(held[row], quota[row] + margin):
                return False
        self._need = need
        return True


def leaves_nothing(result: CycleResult) -> bool:
    """Whether nothing is left to decide once all of a cycle has happened; asked before it does."""
    snapshot, decision = result.snapshot, result.decision
    if decision.due is not None or snapshot.lost or len(result.tried) > MOST_TRIED:
        return False
    return decision.changes_nothing or (_moves_only(decision) and not _moves_gangs(snapshot.books, decision))


def _moves_only(decision: Decision) -> bool:
    """Whether all that it decides is what starts, has to go, and may stay after all."""
    others = (decision.loans, decision.keeps, decision.shortages)
    return not decision.pins and not decision.observed and all(each is None for each in others)


def _moves_gangs(books: Books, decision: Decision) -> bool:
    """Whether a gang starts, gets more, has to go, or is under notice."""
    requests, allocations, notices = books.requests, books.allocations, books.notices
    told = [each.allocation for each in decision.notices]
    told += [notices.allocation[each.notice] for each in decision.withdrawals]
    touched = {*(each.request for each in decision.grants), *(allocations.request[row] for row in told)}
    if any(requests.minimum[row] for row in touched):
        return True
    return any(requests.noticed[row] for mine in requests.gangs.values() for row in mine)


def settled_after(result: CycleResult, *, is_over: bool) -> Settled | None:
    """What is to be known of a cycle of which all has happened; None where the next one has to be made whole.

    is_over : it left nothing to decide
    """
    snapshot, books = result.snapshot, result.snapshot.books
    if is_over and _is_calm(books, snapshot.now):
        return Settled(result)
    books.requests.lines.changed = None
    return None


def _is_calm(books: Books, now: int) -> bool:
    """Whether nothing but what is held and wanted says what moves: no place, instant or limit of a kind."""
    is_moving = books.keeps.live or books.before or books.shortages or books.allocations.latest_gang >= now
    return books.rows.is_steady and not (is_moving or _is_choosy(books))


def grants_where_all_fits(books: Books) -> tuple[Decision, array[int]] | None:
    """The decision of a cycle and the quotas of all leaves, None where `run` has to say.

    Under `hybrid` without reserves every leaf's quota is what it wants as long as all together want no more than there
    is and no limit is reached; then no notice is needed, and none can be in force.
    """
    rows = books.rows
    if not rows.is_plain or _is_moving(books) or _is_choosy(books):
        return None
    lines = books.requests.lines
    if sum(books.hosts.used) + sum(lines.waiting.values()) > books.slots:
        return None
    if rows.has_limits and _reaches_limit(books):
        return None
    if not lines.of:
        return NOTHING, books.demand[:]
    grants: list[Grant] = []
    places = Placement(books)
    for leaf in sorted(lines.of, key=rows.position.__getitem__):
        wanted = books.demand[leaf] - books.held[leaf]
        served = serve_leaf(books, leaf, wanted, places)
        if sum(grant.units for grant in served) != wanted:
            return None
        grants += served
    return Decision(tuple(grants)), books.demand[:]


def _is_moving(books: Books) -> bool:
    """Whether anything is on its way or held for anybody."""
    is_kept = books.keeps.live or books.before or books.shortages
    return bool(is_kept or books.notices.by_allocation or books.borrowed)


def _is_choosy(books: Books) -> bool:
    """Whether it matters which host a unit is on."""
    requests, hosts = books.requests, books.hosts
    return bool(requests.siting or hosts.closed or (requests.lines.gangs and len(hosts.name) > 1))


def _reaches_limit(books: Books) -> bool:
    """Whether somebody wants more than its limit, or holds more."""
    rows, compiled = books.rows, fits(len(books.rows), 0)
    return any(exceeds.run(compiled, rows.tree, rows.plan.limit, column) for column in (books.demand[:], books.held[:]))
