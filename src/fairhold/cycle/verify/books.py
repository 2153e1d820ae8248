"""Units held in one resource group, and how notices that expire change them (R-SETTLE-1)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fairhold.cycle.verify.sheet import Sheet
    from fairhold.model.plan import Plan
    from fairhold.model.state import HeldUnits, Notice, State


class Place(NamedTuple):
    """The consumer, request and host of a row. `request` and `host` are empty where the state has none."""

    consumer: str
    request: str
    host: str


class Batch(NamedTuple):
    """Units of one request that started together on one host."""

    request: str
    host: str
    started: int


@dataclass
class Books:
    """The state of one group, to be moved forward.

    counts  : leaf → units held, where the state has only counts
    batches : units held, where the state has requests
    notices : notices in force, in the order of the state
    kept    : freed units that are kept for requests
    fresh   : units of the batches that this cycle has granted; they get no notice in this cycle
    """

    counts: Counter[str]
    batches: Counter[Batch]
    notices: list[Notice]
    kept: list[HeldUnits]
    plan: Plan
    fresh: Counter[Batch] = field(default_factory=Counter)

    def held(self, sheet: Sheet) -> dict[str, int]:
        """Units held, by leaf."""
        held = {leaf: self.counts[leaf] for leaf in sheet.leaves}
        for batch, units in self.batches.items():
            held[sheet.holder[batch.request]] += units
        return held

    def held_by_request(self) -> Counter[str]:
        """Units held, by request."""
        held: Counter[str] = Counter()
        for batch, units in self.batches.items():
            held[batch.request] += units
        return held

    def older(self, now: int) -> Counter[str]:
        """Units held since before an instant, by request."""
        held: Counter[str] = Counter()
        for batch, units in self.batches.items():
            held[batch.request] += units if batch.started < now else 0
        return held

    def standing(self) -> dict[str, set[str]]:
        """Request → hosts on which it holds units."""
        hosts: dict[str, set[str]] = {}
        for batch, units in self.batches.items():
            if units and batch.host:
                hosts.setdefault(batch.request, set()).add(batch.host)
        return hosts

    def place(self, notice: Notice) -> Place:
        """The consumer, request and host of a notice."""
        return Place(self.plan.tree.paths[notice.consumer], notice.request, notice.host)

    def kept_on(self, sheet: Sheet) -> list[HeldUnits]:
        """Freed units that are kept, except those on hosts that are down."""
        return [entry for entry in self.kept if entry.host not in sheet.down]

    def noticed(self) -> Counter[str]:
        """Units under notice, by leaf."""
        noticed: Counter[str] = Counter()
        for notice in self.notices:
            noticed[self.place(notice).consumer] += notice.units
        return noticed

    def switching(self) -> Counter[str]:
        """Units under notice for a switch of windows, by leaf."""
        units: Counter[str] = Counter()
        for notice in self.notices:
            if notice.reason == "window":
                units[self.place(notice).consumer] += notice.units
        return units


def open_books(plan: Plan, state: State, sheet: Sheet) -> Books:
    """Open the books of a state."""
    counts: Counter[str] = Counter()
    for (row, group), units in state.allocated.items():
        if group == sheet.group:
            counts[plan.tree.paths[row]] += units
    batches: Counter[Batch] = Counter()
    for part in state.allocations:
        if part.request in sheet.requests:
            batches[Batch(part.request, part.host, part.started)] += part.units
    notices = [notice for notice in state.notices if notice.resource_group == sheet.group]
    missing = {name: request.count - _held(batches, name) for name, request in sheet.requests.items()}
    kept: list[HeldUnits] = []
    for each in state.held:
        if missing.get(each.request, 0) > 0:
            kept.append(replace(each, units=min(each.units, missing[each.request])))
            missing[each.request] -= each.units
    return Books(counts, batches, notices, kept, plan)


def _held(batches: Counter[Batch], request: str) -> int:
    return sum(units for batch, units in batches.items() if batch.request == request)


def settle(books: Books, state: State, sheet: Sheet) -> Counter[Place]:
    """Stop units whose grace has expired, and remove them from their holders (§8.1, R-SETTLE-1).

    A second cycle at the same instant stops nothing: a grace does not expire within one instant.
    """
    stops: Counter[Place] = Counter()
    if state.previous_cycle is not None and state.previous_cycle >= state.now:
        return stops
    for notice in books.notices:
        if notice.deadline <= state.now:
            place = books.place(notice)
            stops[place] += notice.units
            if notice.request:
                _take_off(books, sheet, place.consumer, notice)
            else:
                books.counts[place.consumer] -= notice.units
    books.notices = [notice for notice in books.notices if notice.deadline > state.now]
    return stops


def shut(books: Books, sheet: Sheet) -> Sheet:
    """The sheet with closed hosts reduced to the slots in use there: their idle slots do not count."""
    used: Counter[str] = Counter()
    for batch, units in books.batches.items():
        used[batch.host] += units
    hosts = tuple((name, min(slots, used[name]) if name in sheet.closed else slots) for name, slots in sheet.hosts)
    fewer = sum(slots for _, slots in sheet.hosts) - sum(slots for _, slots in hosts)
    return replace(sheet, hosts=hosts, slots=sheet.slots - fewer)


def _take_off(books: Books, sheet: Sheet, leaf: str, notice: Notice) -> None:
    """Remove the units of a notice from the batches of its request on its host, in the order of victims.

    Units that have run long enough (R-CONTROL-5) come first, in the order of `victims` (R-VICTIM-1).
    """
    found = [each for each in books.batches if (each.request, each.host) == (notice.request, notice.host)]
    left = notice.units
    found.sort(key=lambda each: each.started, reverse=sheet.switches[leaf].victims != "oldest")
    for batch in sorted(found, key=lambda each: sheet.is_young(leaf, each.started)):
        taken = min(left, books.batches[batch])
        books.batches[batch] -= taken
        left -= taken


def fewer(notice: Notice, units: int) -> Notice:
    """Return the same notice for fewer units."""
    return replace(notice, units=notice.units - units)
