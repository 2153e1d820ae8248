"""The host of each unit where requests restrict hosts: labels, spread, pack, whole hosts (R-SITE-1, R-HOSTS-1)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cycle.verify.books import Place

if TYPE_CHECKING:
    from fairhold.cycle.verify.books import Books
    from fairhold.cycle.verify.sheet import Sheet
    from fairhold.model.state import Request


def has_label(labels: dict[str, str], asked: str) -> bool:
    """Whether a host has a label, with its value where one is given."""
    name, _, value = asked.partition("=")
    return name in labels and (not value or labels[name] == value)


def will_do(labels: dict[str, str], request: Request) -> bool:
    """Whether a host with these labels is suitable for a request (R-SITE-1)."""
    asked = request.siting
    needs = all(has_label(labels, each) for each in asked.need)
    return needs and not any(has_label(labels, each) for each in asked.avoid)


def is_on_one(request: Request) -> bool:
    """Whether all units of a request must be on one host: those of a gang that packs (R-SITE-3)."""
    return request.min_count > 0 and request.siting.place == "pack"


def alike(request: Request) -> tuple[object, ...]:
    """The key of requests that share slots of hosts. A request that accepts any host shares with none."""
    asked = request.siting
    return (frozenset(asked.need), frozenset(asked.avoid)) if any(asked) else (request.id,)


def sizes_for(sheet: Sheet, request: Request, among: set[str] | None = None) -> list[int]:
    """Slots of the suitable hosts that are up. among: only these hosts count."""
    return [
        slots
        for name, slots in sheet.hosts
        if name not in sheet.down and will_do(sheet.labels.get(name, {}), request) and (among is None or name in among)
    ]


def elsewhere(sheet: Sheet, books: Books) -> Counter[str]:
    """Request → units that it holds on hosts that are unsuitable or down."""
    up = {name for name, _ in sheet.hosts} - sheet.down
    apart: Counter[str] = Counter()
    for batch, units in books.batches.items():
        will = batch.host in up and will_do(sheet.labels.get(batch.host, {}), sheet.requests[batch.request])
        apart[batch.request] += 0 if will else units
    return apart


def room_on_hosts(sheet: Sheet, request: Request, stands_on: set[str]) -> int:
    """Slots of the suitable open hosts, used or not; for a gang that packs, of the largest one (R-HOLD-1).

    stands_on : hosts on which the request holds units
    """
    able = {name for name, _ in sheet.hosts if name not in sheet.closed}
    sizes = sizes_for(sheet, request, able & stands_on if is_on_one(request) and stands_on else able)
    return max(sizes, default=0) if is_on_one(request) else sum(sizes)


class Rooms:
    """Idle slots of the hosts, granted turn by turn.

    free   : host → idle slots; kept: (host, request) → of these, freed ones that are kept for it
    stands : (request, host) → units there
    grants : granted units
    """

    def __init__(self, sheet: Sheet, books: Books) -> None:
        self.sheet = sheet
        self.slots = dict(sheet.hosts)
        self.stands: Counter[tuple[str, str]] = Counter()
        used: Counter[str] = Counter()
        for batch, units in books.batches.items():
            self.stands[batch.request, batch.host] += units
            used[batch.host] += units
        self.free = {name: max(0, slots - used[name]) for name, slots in sheet.hosts}
        self.kept: Counter[tuple[str, str]] = Counter()
        for entry in books.kept_on(sheet):
            self.kept[entry.host, entry.request] += entry.units
        self.kept_before = self.kept.copy()
        self.lives = dict(sheet.lives)
        self.tenants = {name: Counter(there) for name, there in sheet.tenants.items()}
        self.grants: Counter[Place] = Counter()

    def room(self, key: str) -> int:
        """Units of a request that fit on hosts."""
        free = [self.free[name] for name in self.hosts(key)]
        return max(free, default=0) if is_on_one(self.sheet.requests[key]) else sum(free)

    def hosts(self, key: str) -> list[str]:
        """Suitable hosts with idle slots."""
        request, leaf = self.sheet.requests[key], self.sheet.holder[key]
        bound = {name for (mine, name), units in self.stands.items() if mine == key and units}
        return [
            name
            for name, idle in self.free.items()
            if idle
            and will_do(self.sheet.labels.get(name, {}), request)
            and not (self.sheet.is_exclusive and self.lives.get(name, leaf) != leaf)
            and not (is_on_one(request) and bound and name not in bound)
        ]

    def put(self, key: str, units: int) -> None:
        """Place units of a request on hosts, at most `room`."""
        able = self.hosts(key)
        if is_on_one(self.sheet.requests[key]):
            able = [
                min((name for name in able if self.free[name] >= units), key=lambda name: self.rank(key, name, units))
            ]
        self._put_on(key, units, able)

    def hold(self, key: str, units: int) -> int:
        """Hold idle slots for a gang, up to a number; for a gang that packs on one host that is large enough."""
        request = self.sheet.requests[key]
        able = self.hosts(key)
        if is_on_one(request):
            able = [name for name in able if self.slots[name] >= request.min_count]
            units = min(units, max((self.free[name] for name in able), default=0))
            able = [name for name in able if self.free[name] >= units]
            able = sorted(able, key=lambda name: self.rank(key, name, units))[:1]
        units = min(units, sum(self.free[name] for name in able))
        self._put_on(key, units, able)
        return units

    def lift(self, key: str) -> None:
        """Release the slots that are held for a gang."""
        leaf = self.sheet.holder[key]
        for place, units in [each for each in self.grants.items() if each[0].request == key]:
            name = place.host
            del self.grants[place]
            self.free[name] += units
            self.stands[key, name] -= units
            self.kept[name, key] = self.kept_before[name, key]
            if self.sheet.is_exclusive:
                self.tenants[name][leaf] -= units
                if not any(self.tenants[name].values()):
                    del self.lives[name]

    def _put_on(self, key: str, units: int, able: list[str]) -> None:
        request, leaf = self.sheet.requests[key], self.sheet.holder[key]
        one_by_one = request.siting.place == "spread" or self.sheet.settings.packing == "balanced"
        while units:
            name = min((each for each in able if self.free[each]), key=lambda each: self.rank(key, each, units))
            common = max(0, self.free[name] - sum(kept for (host, _), kept in self.kept.items() if host == name))
            own = min(self.free[name], self.kept[name, key])
            most = 1 if one_by_one and not is_on_one(request) else units
            taken = min(most, own or common or self.free[name])
            self.free[name] -= taken
            self.kept[name, key] -= min(taken, self.kept[name, key])
            self.stands[key, name] += taken
            self.grants[Place(leaf, key, name)] += taken
            units -= taken
            if self.sheet.is_exclusive:
                self.lives[name] = leaf
                self.tenants[name][leaf] += taken

    def rank(self, key: str, name: str, units: int) -> tuple[int | Fraction, ...]:
        """Order of hosts for the next units of a request: the smallest comes first; ties: inventory order."""
        request, leaf = self.sheet.requests[key], self.sheet.holder[key]
        common = self.free[name] - sum(kept for (host, _), kept in self.kept.items() if host == name)
        kept = 0 if self.kept[name, key] else 1 if common > 0 else 2
        labels = self.sheet.labels.get(name, {})
        liked = -sum(has_label(labels, each) for each in set(request.siting.prefer))
        beside = {"spread": 1, "pack": -1}.get(request.siting.place, 0) * self.stands[key, name]
        home, packed = 0, Fraction(0)
        if self.sheet.is_exclusive:
            home = 0 if self.lives.get(name) == leaf else 1
            packed = Fraction(self.free[name] > units if home else -self.tenants[name][leaf])
        elif self.sheet.settings.packing == "balanced":
            packed = Fraction(self.slots[name] - self.free[name], self.slots[name])
        return kept, home, liked, beside, packed
