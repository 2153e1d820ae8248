"""Units that are held for a gang that has waited too long, and who may use them meanwhile (R-HOLD-1, R-HOLD-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.draft import UnitsHeld
from fairhold.rules.gangs import is_overdue, line_key, waiting_gangs

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fairhold.ledger.books import Books
    from fairhold.ledger.decision import Grant
    from fairhold.ledger.draft import Draft
    from fairhold.ledger.snapshot import Snapshot
    from fairhold.rules.placing import Places
    from fairhold.rules.serving import Served


class Hold:
    """Units that a leaf collects for one of its gangs.

    gangs : those that have waited too long and do not have their units yet, in order; gang : the first
    quota : of the leaf
    units : that are held after its requests were served; 0 where the gang starts
    until : instant by which the gang has all units that it misses, as far as that is known; None = it is not
    """

    def __init__(self, books: Books, gangs: Sequence[int], now: int, quota: int) -> None:
        self.books = books
        self.gangs = list(gangs)
        self.gang = self.gangs[0]
        self.leaf = books.requests.leaf[self.gang]
        self.now = now
        self.quota = quota
        self.until: int | None = None
        self.is_open = False
        self.units = 0
        self.grants: list[Grant] = []

    @property
    def missing(self) -> int:
        """Units that the gang needs to start."""
        return self.books.requests.minimum[self.gang] - self.books.requests.held[self.gang]

    def come_first(self, priority: int, served: Served) -> dict[int, int]:
        """The turn of the gangs of a priority, before all others of it: they start, up to one that cannot.

        Returns user → units.
        """
        requests, taken = self.books.requests, dict[int, int]()
        while not self.is_open and self.gangs and requests.priority[self.gangs[0]] == priority:
            self.gang = self.gangs[0]
            units = served.serve(self.gang, alone=True)
            if units:
                user = requests.user[self.gangs.pop(0)]
                taken[user] = taken.get(user, 0) + units
            else:
                self._begin(served.units, served.given)
        return taken

    def _begin(self, units: int, given: Mapping[int, int]) -> None:
        """The gang cannot start with the units that are there: they are held from here on.

        given : request → units that others of the leaf were given before it
        """
        self.is_open = True
        self.until = self._known_start(units, given)

    def allows(self, request: int) -> bool:
        """Whether a request may use what is held: it is over for sure before the gang can start (R-HOLD-2)."""
        if not self.is_open:
            return True
        limit = run_limit(self.books, request)
        return self.until is not None and 0 < limit <= self.until - self.now

    def close(self, units: int, places: Places) -> None:
        """So many units are left; they are held where the gang may stand."""
        if self.is_open and units:
            units = min(units, self.missing, places.room(self.gang))
            places.take(self.gang, units)
            self.grants = places.place(self.gang, units)
            self.units = sum(grant.units for grant in self.grants)

    def _known_start(self, units: int, given: Mapping[int, int]) -> int | None:
        """When the gang has what it needs, by the ends that are known; None where they are too few.

        So many own units must end as stand in its way under the quota, and so many units must come, from own ends or by
        notices for the leaf, as are missing.
        """
        requests, allocations = self.books.requests, self.books.allocations
        ends: list[tuple[int, int]] = []
        stays = sum(given.values())
        for request in requests.holders.get(self.leaf, ()):
            stays += requests.held[request] - requests.noticed[request]
            limit = run_limit(self.books, request)
            ends.extend(
                (allocations.started[row] + limit, allocations.units[row] - allocations.noticed[row])
                for row in (allocations.by_request.get(request, ()) if limit else ())
            )
        for request, count in given.items():
            if limit := run_limit(self.books, request):
                ends.append((self.now + limit, count))
        coming = [*ends, *_notices_for(self.books, self.leaf)]
        own = _reached(ends, self.missing - (self.quota - stays), self.now)
        all_units = _reached(coming, self.missing - units, self.now)
        return None if own is None or all_units is None else max(own, all_units)


def run_limit(books: Books, request: int) -> int:
    """Microseconds that a unit of a request runs at most; 0 = any time."""
    limits = (books.requests.time_limit[request], books.rows.controls.max_run_time[books.requests.leaf[request]])
    return min((limit for limit in limits if limit), default=0)


def _notices_for(books: Books, leaf: int) -> Iterator[tuple[int, int]]:
    notices = books.notices
    for mine in notices.by_allocation.values():
        for row in mine:
            if notices.taker[row] == leaf:
                yield notices.deadline[row], notices.units[row]


def _reached(ends: Iterable[tuple[int, int]], units: int, now: int) -> int | None:
    """When so many units are over; None where the ends are too few."""
    for end, count in sorted(ends):
        if units <= 0:
            break
        units -= count
        now = max(now, end)
    return now if units <= 0 else None


def collect(snapshot: Snapshot, draft: Draft) -> None:
    """Find for every leaf the gang for which units are held, and how many held ones are still its (R-HOLD-1)."""
    books, rows = snapshot.books, snapshot.rows
    draft.kept = snapshot.kept[:]
    if all(entry.settings.hold_after is None for entry in rows.entries):
        return
    for leaf in {books.requests.leaf[books.keeps.request[row]] for row in books.keeps.live}:
        if rows.settings(leaf).hold_after is not None:
            draft.kept[leaf] = 0
    for leaf in books.requests.lines.gangs:
        after = rows.settings(leaf).hold_after
        if after is None:
            continue
        waiting = waiting_gangs(books, leaf)
        late = [row for row in waiting if is_overdue(books, row, snapshot.now)]
        for row in waiting:
            if row not in late:
                draft.decision = draft.decision.not_after(books.requests.since[row] + after)
        fitting = [row for row in late if books.requests.minimum[row] <= draft.quota[leaf]]
        if fitting:
            draft.collecting[leaf] = sorted(fitting, key=lambda row: line_key(books, row, snapshot.now))
            room = min(draft.quota[leaf], snapshot.counted[leaf]) - snapshot.held[leaf]
            draft.kept[leaf] = max(0, min(snapshot.kept[leaf], room))


def keep_for_gangs(snapshot: Snapshot, draft: Draft, holds: Iterable[Hold]) -> None:
    """What is held for gangs is not held by their leaves: it is set aside for them, and kept where it is."""
    books, parent = snapshot.books, snapshot.rows.tree.parent
    kept: list[Grant] = []
    holds = [hold for hold in holds if hold.is_open]
    draft.holds = tuple(UnitsHeld(hold.leaf, hold.gang, hold.units, hold.until) for hold in holds)
    for hold in holds:
        kept.extend(hold.grants)
        draft.own[hold.leaf] += hold.units
        row = hold.leaf
        while row >= 0:
            draft.held[row] -= hold.units
            draft.inside[row] += hold.units
            row = parent[row] if row else -1
    before = kept_for_gangs(books)
    after = {(grant.request, grant.host): grant.units for grant in kept}
    leaves = {books.requests.leaf[request] for request, _ in before}
    if before != after or any(books.requests.leaf[grant.request] in leaves for grant in draft.decision.grants):
        draft.decision = draft.decision._replace(keeps=tuple(kept))


def kept_for_gangs(books: Books) -> dict[tuple[int, int], int]:
    """(request, host) → units that are kept in leaves whose policy entry holds units for gangs."""
    found: dict[tuple[int, int], int] = {}
    keeps = books.keeps
    for row in keeps.live:
        if books.rows.settings(books.requests.leaf[keeps.request[row]]).hold_after is not None:
            key = (keeps.request[row], keeps.host[row])
            found[key] = found.get(key, 0) + keeps.units[row]
    return found


def is_collecting(books: Books, leaf: int, now: int, quota: array[int]) -> bool:
    """Whether a leaf has a gang for which units are held: then a cycle decides who gets the next one."""
    late = (row for row in waiting_gangs(books, leaf) if is_overdue(books, row, now))
    return any(books.requests.minimum[row] <= quota[leaf] for row in late)
