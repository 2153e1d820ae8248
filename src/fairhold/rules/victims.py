"""Inside a leaf: the units that get notice, and the notices that are withdrawn (R-VICTIM-1, R-NOTICE-1, R-GRACE-1)."""

from __future__ import annotations

from heapq import nlargest
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from fairhold.kernels.columns import zeros
from fairhold.ledger.decision import NoticeGiven, Withdrawal
from fairhold.ledger.snapshot import WINDOW
from fairhold.ledger.tables import NOBODY
from fairhold.model.state import REASONS
from fairhold.rules.aging import old_ones, young
from fairhold.rules.choosing import Choice, Claimed
from fairhold.rules.housing import emptying_first
from fairhold.rules.restraining import hold_back

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from fairhold.ledger.books import Books
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot

QUOTA, LIMIT, LOST = (REASONS.index(name) for name in ("quota", "limit", "lost"))

NO_TAKER = (NOBODY, 0)

Chosen = list[tuple[int, int]]
"""Allocations with the units of each that get notice."""


class Units(NamedTuple):
    """Units that get notice, and notices that are withdrawn.

    victims : leaf → allocations, in path order
    beyond  : the first leaf that gives more than it was asked because a gang stops as a whole, with the units that it
        gives; None where every leaf gives what it was asked
    """

    victims: dict[int, Chosen]
    withdrawals: list[Withdrawal]
    beyond: tuple[int, int] | None


def choose_units(snapshot: Snapshot, draft: CycleContext) -> Units:
    """Find new and withdrawn notices for what every leaf gives: the difference to those in force (R-NOTICE-1).

    If leaves give more than they have to, `beyond` is the first in path order; leaves that must give in any case come
    before others, because what they give more is not needed from others.
    """
    books, gives, noticed = snapshot.books, draft.balance.gives, snapshot.noticed
    withdrawals: list[Withdrawal] = []
    victims: dict[int, Chosen] = {}
    stay = {pin.notice: pin.units for pin in draft.decision.pins}
    leaves: Iterable[int] = snapshot.leaves_where_other(gives, noticed)
    if draft.claims:
        leaves = sorted({*leaves, *draft.claims}, key=snapshot.rows.position.__getitem__)
    fresh: dict[int, int] = {}
    for grant in draft.decision.grants:
        fresh[grant.request] = fresh.get(grant.request, 0) + grant.units
    whole_gangs: list[tuple[int, int]] = []
    nothing_claimed, spares_young = Claimed(books, NOBODY, []), snapshot.rows.spares_young
    for leaf in leaves:
        claimed = Claimed(books, leaf, draft.claims[leaf]) if leaf in draft.claims else nothing_claimed
        asked, going, new = gives[leaf] - noticed[leaf], noticed[leaf], list[tuple[int, int]]()
        if asked > 0 or claimed.left:
            spared = young(snapshot, leaf) if spares_young else ()
            new = choose_victims(books, leaf, max(0, asked), spared, claimed.left, fresh)
            for _, units in new:
                going += units
        if going > gives[leaf]:
            pinned = stay | {notice: max(units, stay.get(notice, 0)) for notice, units in claimed.stay.items()}
            back = withdraw_inside(books, leaf, going - gives[leaf], new, pinned)
            going -= sum(withdrawal.units for withdrawal in back)
            if going > gives[leaf]:
                whole_gangs.append((leaf, going))
            withdrawals += back
        if new:
            victims[leaf] = new
    beyond = next((each for each in whole_gangs if _must_give(snapshot, draft, each[0])), None)
    return Units(victims, withdrawals, beyond or next(iter(whole_gangs), None))


def tell(snapshot: Snapshot, draft: CycleContext, units: Units) -> None:
    """Put the chosen units into the decision, except those left for later cycles."""
    withdrawals = units.withdrawals
    notices = _pair(snapshot, draft, hold_back(snapshot, draft, units.victims, withdrawals), withdrawals)
    draft.decision = draft.decision._replace(notices=tuple(notices), withdrawals=tuple(withdrawals))


def stopping_beyond(snapshot: Snapshot, draft: CycleContext) -> dict[int, int]:
    """Leaf → units that stay under notice because a gang stops with them, if more than the leaf has to give."""
    books, noticed, must = snapshot.books, snapshot.noticed, draft.balance.must
    stay = {pin.notice: pin.units for pin in draft.decision.pins}
    found: dict[int, int] = {}
    for leaf in books.requests.gangs:
        more = noticed[leaf] and noticed[leaf] - max(must[leaf], draft.held[leaf] - draft.keep[leaf])
        if more > 0:
            back = sum(each.units for each in withdraw_inside(books, leaf, more, [], stay))
            if back < more:
                found[leaf] = noticed[leaf] - back
    return found


def _must_give(snapshot: Snapshot, draft: CycleContext, row: int) -> bool:
    """Whether a leaf, or an ancestor, must give units even if no other leaf misses them."""
    while row > 0 and draft.balance.must[row] == 0:
        row = snapshot.rows.tree.parent[row]
    return row > 0


def _pair(
    snapshot: Snapshot, draft: CycleContext, victims: Mapping[int, Chosen], withdrawals: list[Withdrawal]
) -> Iterator[NoticeGiven]:
    """The new notices, each assigned to a leaf with a deficit, in path order (R-FOR-1; for information only)."""
    now, opens, grace, switches = snapshot.now, snapshot.opens, snapshot.rows.grace, draft.switched[0]
    takers = _takers(snapshot, draft, withdrawals)
    taker, wanted = next(takers, NO_TAKER)
    for leaf, chosen in victims.items():
        deadline = max(now + grace[leaf], opens)
        switched = max(0, draft.switched[leaf] - snapshot.noticed[leaf]) if switches else 0
        for allocation, left in chosen:
            if switched:
                first = min(left, switched)
                yield NoticeGiven(allocation, first, NOBODY, deadline, WINDOW)
                switched -= first
                left -= first  # noqa: PLW2901 - what is left of them
            while left and wanted:
                count = min(wanted, left)
                yield NoticeGiven(allocation, count, taker, deadline, QUOTA)
                left -= count  # noqa: PLW2901
                wanted -= count
                if not wanted:
                    taker, wanted = next(takers, NO_TAKER)
            if left:
                spare = LIMIT if _is_over_a_limit(snapshot, draft, leaf) else LOST if snapshot.lost else QUOTA
                yield NoticeGiven(allocation, left, NOBODY, deadline, spare)


def _takers(snapshot: Snapshot, draft: CycleContext, withdrawals: list[Withdrawal]) -> Iterator[tuple[int, int]]:
    """Leaves with missing units, in path order, with those for which no notice is assigned yet."""
    books, notices = snapshot.books, snapshot.books.notices
    coming: dict[int, int] = {}
    for mine in books.notices.by_allocation.values():
        for notice in mine:
            coming[notices.taker[notice]] = coming.get(notices.taker[notice], 0) + notices.units[notice]
    for withdrawal in withdrawals:
        coming[notices.taker[withdrawal.notice]] -= withdrawal.units
    missing = draft.balance.missing
    for leaf in snapshot.leaves_where_more(missing, zeros(len(missing))):
        if missing[leaf] > coming.get(leaf, 0):
            yield leaf, missing[leaf] - coming.get(leaf, 0)


def _is_over_a_limit(snapshot: Snapshot, draft: CycleContext, row: int) -> bool:
    """Whether a leaf, or a branch above it, holds more than its limit."""
    rows = snapshot.rows
    over = draft.held[row] > rows.plan.limit[row]
    while row > 0 and not over:
        row = rows.tree.parent[row]
        whole = draft.held[row] + draft.inside[row] + draft.balance.missing[row]
        over = row > 0 and whole > rows.plan.limit[row]
    return over


def withdraw_inside(
    books: Books, leaf: int, units: int, new: Chosen, stay: Mapping[int, int] | None = None
) -> list[Withdrawal]:
    """Withdraw notices of a leaf, latest deadline first, of equal ones the last given.

    A gang that is stopped as a whole stays under notice, unless so much is withdrawn that it can run. Notices of a
    switch of windows stay.

    new  : what this cycle notices of the leaf
    stay : notice → units that count for a switch of windows, or for what is claimed on certain hosts
    """
    notices, allocations, requests = books.notices, books.allocations, books.requests
    going: dict[int, int] = {}
    for allocation, count in new:
        request = allocations.request[allocation]
        going[request] = going.get(request, 0) + count
    mine = [
        notice
        for request in requests.holders.get(leaf, ())
        if requests.noticed[request]
        for allocation in allocations.by_request[request]
        for notice in notices.by_allocation.get(allocation, ())
        if notices.reason[notice] != WINDOW
    ]
    mine.sort(key=lambda row: (notices.deadline[row], notices.serial[row]), reverse=True)
    withdrawn: list[Withdrawal] = []
    for notice in mine:
        request = allocations.request[notices.allocation[notice]]
        runs_on = requests.held[request] - requests.noticed[request] - going.get(request, 0)
        if runs_on + units < requests.minimum[request] <= requests.held[request]:
            continue
        taken = min(units, notices.units[notice] - (stay or {}).get(notice, 0))
        if taken:
            withdrawn.append(Withdrawal(notice, taken))
            going[request] = going.get(request, 0) - taken
            units -= taken
    return withdrawn


def choose_victims(  # noqa: PLR0917 - what choosing knows
    books: Books,
    leaf: int,
    units: int,
    spared: Collection[int] = (),
    claims: Sequence[tuple[tuple[int, ...], int]] = (),
    fresh: Mapping[int, int] = MappingProxyType({}),
) -> Chosen:
    """Allocations of a leaf that give `units` more, fewest gangs broken, then in the order of `victims` (R-VICTIM-1).

    Of a gang its surplus goes first; one below its minimum stops as a whole, which may give more than was asked.

    spared : allocations that go only where the others do not suffice (R-CONTROL-5)
    claims : hosts, and units that go there before others (R-SITE-4)
    fresh  : request → units that this cycle grants; they stay, and count for a gang's minimum
    """
    requests, allocations = books.requests, books.allocations
    mine = requests.holders.get(leaf, ())
    if len(mine) == 1 and not claims:
        (request,) = mine
        held = allocations.by_request.get(request, ())
        if len(held) == 1 and requests.minimum[request] == 0:  # nothing to choose: by far the most frequent case
            (allocation,) = held
            return [(allocation, min(units, allocations.units[allocation] - allocations.noticed[allocation]))]
    if units and not (claims or spared or books.hosts.closed or books.rows.is_exclusive or leaf in requests.gangs):
        return _first_ones(books, leaf, units)
    order = victim_order(books, [row for request in mine for row in allocations.by_request.get(request, ())])
    order = emptying_first(books, leaf, order)
    wanted = max(units, sum(there for _, there in claims))
    if books.hosts.closed:
        order = _open_ones(books, leaf, order, wanted)
    order, whole_ones = old_ones(books, order, spared, wanted) if spared else (order, set())
    choice = Choice(books, order, whole_ones, fresh)
    for hosts, there in claims:
        choice.take(there, hosts)
    if sum(choice.chosen.values()) < units:
        choice.take(units - sum(choice.chosen.values()))
    return [*choice.chosen.items()]


def _first_ones(books: Books, leaf: int, units: int) -> Chosen:
    """The first units in the order of `victims`, for a leaf without gangs and without other constraints.

    Each running request gives at least one unit. So the first `units` requests in the order are enough, with all of
    equal age; a leaf may have many more.
    """
    requests, allocations = books.requests, books.allocations
    held, noticed, submitted = requests.held, requests.noticed, requests.submitted
    victims = books.rows.settings(leaf).victims
    running = [row for row in requests.holders.get(leaf, ()) if held[row] > noticed[row]]
    if victims == "youngest" and len(running) > units:
        bound = nlargest(units, [submitted[row] for row in running])[-1]
        running = [row for row in running if submitted[row] >= bound]
    chosen: Chosen = []
    for row in victim_order(books, [row for request in running for row in allocations.by_request[request]]):
        taken = min(units, allocations.units[row] - allocations.noticed[row])
        if taken:
            chosen.append((row, taken))
            units -= taken
        if not units:
            break
    return chosen


def stranded(books: Books, leaf: int) -> set[int]:
    """Allocations of a leaf on closed hosts, and all of a gang with one there: no other leaf could use their units."""
    allocations, found = books.allocations, set[int]()
    for request in books.requests.holders.get(leaf, ()):
        mine = allocations.by_request.get(request, ())
        there = [row for row in mine if allocations.host[row] in books.hosts.closed]
        found.update(mine if there and books.requests.minimum[request] else there)
    return found


def stranded_units(books: Books, leaf: int) -> int:
    """Units of a leaf that are stranded and under no notice."""
    if not books.hosts.closed:
        return 0
    return sum(books.allocations.units[row] - books.allocations.noticed[row] for row in stranded(books, leaf))


def _open_ones(books: Books, leaf: int, rows: list[int], units: int) -> list[int]:
    """The allocations that are not stranded, if these are enough; a limit is enforced on closed hosts too."""
    allocations, left = books.allocations, stranded(books, leaf)
    found = [row for row in rows if row not in left]
    enough = sum(allocations.units[row] - allocations.noticed[row] for row in found) >= units
    return found if enough else rows


def victim_order(books: Books, rows: list[int]) -> list[int]:
    """Allocations in the order of `victims`; age is submitted, then started.

    Ties go to the last id and the last host, for `oldest` to the first ones, so that the order is total.
    """
    if not rows:
        return []
    requests, allocations = books.requests, books.allocations
    victims = books.rows.settings(requests.leaf[allocations.request[rows[0]]]).victims

    def age(row: int) -> tuple[int, int, int, str, int, int]:
        request = allocations.request[row]
        priority = -requests.priority[request] if victims == "lowest_priority" else 0
        started = allocations.started[row]
        return (
            priority,
            requests.submitted[request],
            started,
            requests.id[request],
            allocations.host[row],
            allocations.serial[row],
        )

    return sorted(rows, key=age, reverse=victims != "oldest")
