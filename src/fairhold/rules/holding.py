"""Units held for a gang that has waited too long, and the requests that may use them meanwhile (R-HOLD-1, R-HOLD-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.columns import zeros
from fairhold.ledger.draft import UnitsHeld
from fairhold.ledger.effective_demand import line_key
from fairhold.ledger.sited import most_of
from fairhold.rules.gangs import waiting_gangs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fairhold.ledger.books import Books
    from fairhold.ledger.decision import Grant
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot
    from fairhold.rules.placing import Placement
    from fairhold.rules.serving import Served


class Hold:
    """Units that a leaf collects for one of its gangs.

    gangs  : those that are overdue, in order; gang : the first that cannot start
    quota  : of the leaf
    places : where units go
    units  : that are held; 0 where the gang starts
    until  : instant by which the gang has all units that it misses, as far as that is known; None = it is not
    grants : on which hosts they are held
    """

    def __init__(self, books: Books, gangs: Sequence[int], now: int, quota: int, places: Placement) -> None:
        self.books = books
        self.gangs = list(gangs)
        self.gang = self.gangs[0]
        self.leaf = books.requests.leaf[self.gang]
        self.now = now
        self.quota = quota
        self.places = places
        self.until: int | None = None
        self.is_open = False
        self.units = 0
        self.grants: list[Grant] = []

    def _missing(self, gang: int) -> int:
        """Units that a gang needs to start."""
        return self.books.requests.minimum[gang] - self.books.requests.held[gang]

    def come_first(self, priority: int, served: Served) -> dict[int, int]:
        """Serve the gangs of a priority, before its other requests: they start, up to the first that cannot.

        A gang that has no room under its user's limit is passed over. Returns user → units.
        """
        requests, taken = self.books.requests, dict[int, int]()
        while served.units and not self.is_open and self.gangs and requests.priority[self.gangs[0]] == priority:
            gang = self.gangs.pop(0)
            if served.room(gang) < self._missing(gang):
                continue
            units = served.serve(gang, alone=True)
            if units:
                taken[requests.user[gang]] = taken.get(requests.user[gang], 0) + units
            else:
                self.gang, self.is_open = gang, True
                served.take_room(gang, self._missing(gang))
                self.lay(served)
        return taken

    def lay(self, served: Served) -> None:
        """Hold as many of the remaining units as the gang can use; no other request gets them."""
        self.units = min(served.units, self._missing(self.gang), self.places.room(self.gang))
        if self.units:
            served.units -= self.units
            self.places.take(self.gang, self.units)

    def opens(self, served: Served) -> bool:
        """After all other requests: whether some of them may use held units, which they then take (R-HOLD-2)."""
        if not self.is_open:
            return False
        self.until = self._known_start(served.given)
        queues = self.books.requests.lines.of[self.leaf].values()
        if not self.units or all(served.is_served(row) for queue in queues for row in self.allowed(queue)):
            return False
        served.units += self.units
        self.places.put_back(self.gang)
        return True

    def allowed(self, queue: Iterable[int]) -> list[int]:
        """The other requests that are certain to end before the gang can start."""
        if self.until is None:
            return []
        span = self.until - self.now
        return [row for row in queue if row != self.gang and 0 < run_limit(self.books, row) <= span]

    def place(self) -> None:
        """Keep the held units on hosts where the gang may run."""
        if self.units:
            self.grants = self.places.place(self.gang, self.units)
            self.units = sum(grant.units for grant in self.grants)

    def _known_start(self, given: Mapping[int, int]) -> int | None:
        """When the gang has what it needs, by the known ends; None if there are too few.

        Own units must end until the gang fits under the quota, and the missing units must come, from own ends or by
        notices for the leaf.

        given : request → units that others of the leaf are given in this cycle
        """
        requests, allocations = self.books.requests, self.books.allocations
        ends: list[tuple[int, int]] = []
        stays, missing = sum(given.values()), self._missing(self.gang)
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
        coming = [*ends, *_notices_for(self.books, self.leaf, self.now)]
        own = _reached(ends, missing - (self.quota - stays), self.now)
        all_units = _reached(coming, missing - self.units, self.now)
        return None if own is None or all_units is None else max(own, all_units)


def run_limit(books: Books, request: int) -> int:
    """Microseconds that a unit of a request runs at most; 0 = any time."""
    limits = (books.requests.time_limit[request], books.rows.controls.max_run_time[books.requests.leaf[request]])
    return min((limit for limit in limits if limit), default=0)


def _notices_for(books: Books, leaf: int, now: int) -> Iterator[tuple[int, int]]:
    """Deadlines and units of the notices for a leaf, but for those that may have been given at this very instant."""
    notices, allocations, requests = books.notices, books.allocations, books.requests
    for allocation, mine in books.notices.by_allocation.items():
        grace = books.rows.grace[requests.leaf[allocations.request[allocation]]]
        for row in mine:
            if notices.taker[row] == leaf and notices.deadline[row] != now + grace:
                yield notices.deadline[row], notices.units[row]


def _reached(ends: Iterable[tuple[int, int]], units: int, now: int) -> int | None:
    """Instant at which this many units have ended; None if there are too few ends."""
    for end, count in sorted(ends):
        if units <= 0:
            break
        units -= count
        now = max(now, end)
    return now if units <= 0 else None


def collect(snapshot: Snapshot, draft: CycleContext) -> None:
    """Find for every leaf the gang for which units are held, and how many held ones are still its (R-HOLD-1)."""
    books, rows = snapshot.books, snapshot.rows
    draft.kept = zeros(len(rows))
    if all(entry.settings.hold_after is None for entry in rows.entries):
        return
    for leaf in books.requests.lines.gangs:
        after = rows.settings(leaf).hold_after
        if after is None:
            continue
        for row in waiting_gangs(books, leaf):
            if books.requests.since[row] + after > snapshot.now:
                draft.decision = draft.decision.not_after(books.requests.since[row] + after)
        late = overdue_gangs(books, leaf, snapshot.now, draft.quota[leaf])
        if late:
            draft.collecting[leaf] = late
            room = min(draft.quota[leaf], snapshot.counted[leaf]) - snapshot.held[leaf]
            draft.kept[leaf] = max(0, min(snapshot.kept[leaf], room))


def keep_for_gangs(snapshot: Snapshot, draft: CycleContext, holds: Iterable[Hold]) -> None:
    """Units held for gangs do not count as held by their leaves: they are set aside and kept on their hosts."""
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
    """(request, host) → units that are kept, also where no gang waits too long any more."""
    found: dict[tuple[int, int], int] = {}
    keeps = books.keeps
    for row in keeps.live:
        key = (keeps.request[row], keeps.host[row])
        found[key] = found.get(key, 0) + keeps.units[row]
    return found


def overdue_gangs(books: Books, leaf: int, now: int, quota: int) -> list[int]:
    """Gangs of a leaf that have waited for `hold_after` and could start some day, in order (R-HOLD-1)."""
    requests, after = books.requests, books.rows.settings(leaf).hold_after
    if after is None:
        return []
    late = [row for row in waiting_gangs(books, leaf) if now >= requests.since[row] + after]
    late = [row for row in late if requests.minimum[row] <= min(quota, most_of(books, row))]
    return sorted(late, key=lambda row: line_key(books, row))
