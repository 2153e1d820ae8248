"""Units that are held for gangs that have waited too long (R-HOLD-1, R-HOLD-2)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.cycle.verify.gangs import is_overdue, waits
from fairhold.cycle.verify.rooms import room_on_hosts
from fairhold.cycle.verify.victims import not_noticed
from fairhold.model.state import HeldUnits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.cycle.verify.books import Books, Place
    from fairhold.cycle.verify.quotas import Quotas
    from fairhold.cycle.verify.sheet import Sheet
    from fairhold.model.state import Request


def collecting(sheet: Sheet, books: Books, quotas: Quotas) -> dict[str, list[Request]]:
    """Leaf → its gangs that are overdue, in order: units are held for the first that cannot start (R-HOLD-1)."""
    found: dict[str, list[Request]] = {}
    held, standing = books.held_by_request(), books.standing()
    line = sorted(sheet.requests.values(), key=lambda each: (-each.priority, each.submitted, each.id))
    for request in line if sheet.holds else ():
        leaf = sheet.holder[request.id]
        if not waits(request, held) or not is_overdue(sheet, request) or request.min_count > quotas.quota[leaf]:
            continue
        if not sheet.hosts or request.min_count <= room_on_hosts(sheet, request, standing.get(request.id, set())):
            found.setdefault(leaf, []).append(request)
    return found


def still_kept(
    sheet: Sheet, quotas: Quotas, gangs: Mapping[str, list[Request]], kept: Mapping[str, int], held: Mapping[str, int]
) -> Counter[str]:
    """Leaf → kept units that are set aside: at most what the leaf may come to hold; for gangs at most its quota.

    kept, held : path → units
    """
    found = Counter(kept)
    most = quotas.need if sheet.is_fixed else quotas.quota
    for leaf in list(found):
        found[leaf] = max(0, min(found[leaf], min(most[leaf], sheet.counted[leaf]) - held[leaf]))
        if sheet.switches[leaf].hold_after is not None:
            room = min(quotas.quota[leaf], sheet.counted[leaf]) - held[leaf] if leaf in gangs else 0
            found[leaf] = max(0, min(found[leaf], room))
    return found


class Collection:
    """The gang of a leaf for which units are held.

    units : held, once the leaf is served
    begun : it could not start, so that units are held from now on
    until : instant at which all missing units will have come; None: not known
    """

    def __init__(self, sheet: Sheet, books: Books, quotas: Quotas, gangs: list[Request]) -> None:
        self.sheet = sheet
        self.books = books
        self.gangs = list(gangs)
        self.gang = gangs[0]
        self.quota = quotas.quota[sheet.holder[self.gang.id]]
        self.needs = 0
        self.units = 0
        self.begun = False
        self.until: int | None = None

    def comes(self, priority: int) -> bool:
        """Whether it is a gang's turn: it comes before the others of its priority while they can start."""
        if self.begun or not self.gangs or priority > self.gangs[0].priority:
            return False
        self.gang = self.gangs.pop(0)
        return True

    def begin(self, needs: int) -> None:
        """Hold a number of units for a gang that cannot start."""
        self.begun = True
        self.needs = needs

    def find_start(self, given: Mapping[str, int]) -> None:
        """Find the earliest start of the gang, after its leaf is served.

        Notices of this instant do not count: a second cycle must find the same instant.

        given : request → units that others were given
        """
        sheet, leaf = self.sheet, self.sheet.holder[self.gang.id]
        free = not_noticed(self.books, sheet, leaf)
        own = [
            (max(sheet.now, batch.started + limit), count)
            for batch, count in free.items()
            if (limit := run_limit(sheet, sheet.requests[batch.request]))
        ]
        own += [
            (sheet.now + limit, count)
            for key, count in given.items()
            if (limit := run_limit(sheet, sheet.requests[key]))
        ]
        paths = self.books.plan.tree.paths
        coming = [
            (max(sheet.now, notice.deadline), notice.units)
            for notice in self.books.notices
            if notice.taker >= 0
            and paths[notice.taker] == leaf
            and notice.deadline != sheet.now + sheet.grace[paths[notice.consumer]]
        ]
        stay = sum(free.values()) + sum(given.values())
        in_the_way = _when(own, self.needs + stay - self.quota, sheet.now)
        all_there = _when([*own, *coming], self.needs - self.units, sheet.now)
        self.until = None if in_the_way is None or all_there is None else max(in_the_way, all_there)

    def allows(self, request: Request) -> bool:
        """Whether a request ends before the gang can start (R-HOLD-2)."""
        limit = run_limit(self.sheet, request)
        return self.until is not None and limit > 0 and self.sheet.now + limit <= self.until


def run_limit(sheet: Sheet, request: Request) -> int:
    """The longest run time of a unit of a request in microseconds; 0: no limit."""
    limits = [request.time_limit, sheet.max_run_time[sheet.holder[request.id]]]
    return min((limit for limit in limits if limit > 0), default=0)


def _when(ends: Iterable[tuple[int, int]], units: int, now: int) -> int | None:
    """The instant at which a number of units has ended: the end of the last one that is needed."""
    each = [end for end, count in sorted(ends) for _ in range(count)]
    return now if units <= 0 else each[units - 1] if units <= len(each) else None


def apart(held_for: Mapping[str, Collection], placed: Counter[Place]) -> tuple[Counter[Place], list[HeldUnits]]:
    """Splits placed units into grants and units held for gangs."""
    grants, kept = Counter(placed), []
    for place, units in placed.items():
        collection = held_for.get(place.consumer)
        if collection is not None and collection.begun and place.request == collection.gang.id:
            kept.append(HeldUnits(place.request, place.host, units))
            del grants[place]
    return grants, kept
