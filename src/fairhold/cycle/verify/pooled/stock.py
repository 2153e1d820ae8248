"""Hosts with parcels, requests with units, and held space, by path (R-POOL-1)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fairhold.cycle.verify.pooled.amounts import Amounts, excess, fits, lower, minus, plus, summed
from fairhold.cycle.verify.pooled.terms import TOP, Terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.model.adjusted import Adjusted
    from fairhold.model.state import Request
    from fairhold.model.vector import Owning

Chain = tuple[tuple[str, "Owning"], ...]
"""Owners of a parcel with their entries, the owner first, then those that it is carved out of."""


def preference_in(chain: Chain) -> int:
    """The nearest that is stated on the way up: 1 is best."""
    return next((entry.preference for _, entry in chain if entry.preference), 5)


@dataclass(eq=False)
class Parcel:
    """The part of a host that a consumer owns and its children do not own.

    owner  : path, TOP = nobody
    plain  : the same without overcommitment
    level  : the pool that has its idle part: its owner's, until it is lent up
    kept   : request → amounts held for it; they are not idle
    """

    owner: str
    chain: Chain
    amounts: Amounts
    plain: Amounts = ()
    level: str = TOP
    idle: Amounts = ()
    kept: dict[str, Amounts] = field(default_factory=dict)

    def room(self, request: str) -> Amounts:
        """Amounts that a request can use: idle, and held for it."""
        return plus(self.idle, self.kept[request]) if request in self.kept else self.idle

    def owners(self) -> set[str]:
        """All that it belongs to, from its owner up."""
        return {path for path, _ in self.chain}

    @property
    def preference(self) -> int:
        """1 is best."""
        return preference_in(self.chain)


@dataclass(eq=False)
class Host:
    """A host.

    plain, total : without and with overcommitment
    is_closed    : it starts nothing, and counts with what is booked on it (R-UP-1)
    """

    name: str
    group: str
    place: int
    plain: Amounts
    total: Amounts
    labels: frozenset[str] = frozenset()
    is_closed: bool = False
    parcels: list[Parcel] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)


@dataclass(eq=False)
class Asked:
    """A request: its leaf, and units on hosts that are up.

    away : pool, or OWN → units on hosts that are down which were placed in it (R-UP-1)
    cap : units that it may have, None = any number
    never : why a gang can never start, as its row under `refused` says it; empty = it may
    """

    model: Request
    leaf: str
    place: int
    units: list[Unit] = field(default_factory=list)
    away: Counter[str] = field(default_factory=Counter)
    cap: int | None = None
    never: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Its name."""
        return self.model.id

    @property
    def unit(self) -> Amounts:
        """What one unit needs."""
        return self.model.unit

    @property
    def held(self) -> int:
        """Units held, under notice or not."""
        return len(self.units) + self.away.total()

    @property
    def unmet(self) -> int:
        """Units wanted and not held."""
        return max(0, self.model.count - self.held)

    @property
    def stops(self) -> bool:
        """Whether it is a gang that is stopped whole: all its units have notice, and not only to move."""
        going = [unit.notice for unit in self.units if unit.notice is not None]
        return self.model.min_count > 0 and len(going) - self.moving == len(self.units) > 0

    @property
    def waiting(self) -> int:
        """Waiting units that it may hold; 0 for a gang that is stopped whole (R-TAKE-4)."""
        return 0 if self.stops else self.allowed

    @property
    def allowed(self) -> int:
        """Units not held of those that it wants and may hold."""
        return self.unmet if self.cap is None else max(0, min(self.unmet, self.cap - self.held))

    @property
    def missing(self) -> int:
        """Missing units of a gang below its minimum, if it may hold them."""
        return max(0, self.model.min_count - self.held) if self.waiting else 0

    @property
    def short(self) -> int:
        """Missing units of a gang below its minimum, also while all of it has notice."""
        return max(0, self.model.min_count - self.held)

    @property
    def moving(self) -> int:
        """Units that will move to other hosts and have not moved yet (R-CONTEST-6)."""
        notices = (unit.notice for unit in self.units)
        return sum(each is not None and each.taker is not None and each.reason == "consolidation" for each in notices)

    @property
    def turn(self) -> tuple[int, int, str]:
        """Its turn inside its leaf."""
        return -self.model.priority, self.model.submitted, self.model.id


@dataclass(eq=False)
class Notice:
    """The notice of a unit.

    taker : request, None = nobody
    at    : later ones have larger numbers
    """

    taker: Asked | None
    deadline: int
    reason: str
    at: int
    is_new: bool


@dataclass(eq=False)
class Unit:
    """One unit on a host.

    pool : OWN, TOP or the path of a private pool; at: later ones have larger numbers
    is_new : this cycle placed it
    """

    asked: Asked
    host: Host
    started: int
    at: int
    pool: str
    books: dict[Parcel, Amounts] = field(default_factory=dict)
    notice: Notice | None = None
    is_new: bool = False

    def lenders(self, terms: Terms) -> list[str]:
        """The other owners of its parcels, in path order: without nobody, the pool's owner and its own leaf."""
        found = {parcel.owner for parcel in self.books} - {TOP, self.pool, self.asked.leaf}
        return sorted(found, key=terms.order.__getitem__)

    def on(self, parcels: Iterable[Parcel], width: int) -> Amounts:
        """What it has of some parcels."""
        return summed((self.books[parcel] for parcel in parcels if parcel in self.books), width)


@dataclass
class Stock:
    """The hosts and requests of one entry.

    keeps : (request, host) → units for which space is held there, None = for all that fit
    down  : hosts that are in no pool
    booked : (pool, or OWN, host that is down or not here) → what is booked on it in that
    unmet : owner, entry, what it has and what it asks for, where that is more
    entries : owner, host, place of one of its several entries of a group, what that has of it
    """

    terms: Terms
    hosts: dict[str, Host]
    asked: dict[str, Asked]
    now: int
    keeps: dict[tuple[str, str], int | None] = field(default_factory=dict)
    down: dict[str, Host] = field(default_factory=dict)
    booked: dict[tuple[str, str], Amounts] = field(default_factory=dict)
    unmet: list[tuple[str, Owning, Amounts, Amounts]] = field(default_factory=list)
    entries: list[tuple[str, Host, int, Amounts]] = field(default_factory=list)
    adjusted: Adjusted | None = None
    """The last adjustment, where the entry says how often (R-ADJUST-5)"""
    count: int = 0
    lost: Counter[Asked] = field(default_factory=Counter)
    """Request → units of this cycle that were not placed after all (R-SWEEP-3)"""

    sure: set[Unit] = field(default_factory=set)
    """Units that this instant has granted on what was held for them: nobody takes them at it (R-SERVE-3)"""

    before: dict[Unit, Notice] = field(default_factory=dict)
    """Unit → its notice that this cycle has withdrawn (R-NOTICE-2)"""

    def next(self) -> int:
        """A larger number than all before."""
        self.count += 1
        return self.count

    def told_before(self, units: Iterable[Unit]) -> list[Unit]:
        """Of units whose notices are withdrawn those that had one before this cycle; by when they were to go stays."""
        notices = ((unit, unit.notice) for unit in units)
        found = {unit: notice for unit, notice in notices if notice is not None and not notice.is_new}
        self.before |= found
        return [*found]

    def keep_told(self, noticed: list[Unit], withdrawn: list[Unit]) -> int:
        """Keep the notices of units that were withdrawn and given again in this cycle without change (R-NOTICE-2).

        noticed, withdrawn : units of this cycle, without those from now on; returns how many they are
        """
        same: set[Unit] = set()
        for unit, before in self.before.items():
            now = unit.notice
            if now is None or not now.is_new or (now.taker, now.deadline) != (before.taker, before.deadline):
                continue
            if (now.reason == "consolidation") == (before.reason == "consolidation"):
                unit.notice = before
                same.add(unit)
        noticed[:] = [unit for unit in noticed if unit not in same]
        withdrawn[:] = [unit for unit in withdrawn if unit not in same]
        return len(same)

    def units(self) -> Iterator[Unit]:
        """All units, by host in inventory order, as they came."""
        for host in self.hosts.values():
            yield from host.units

    @cached_property
    def lines(self) -> dict[str, list[Asked]]:
        """Leaf → its requests in their order; who asks for what stays as it is for a cycle."""
        found: dict[str, list[Asked]] = {}
        for asked in sorted(self.asked.values(), key=lambda each: each.turn):
            found.setdefault(asked.leaf, []).append(asked)
        return found

    def of(self, leaf: str) -> list[Asked]:
        """Requests of a leaf in their order."""
        return self.lines.get(leaf, [])

    def parcels(self) -> Iterator[Parcel]:
        """All parcels."""
        for host in self.hosts.values():
            yield from host.parcels

    @cached_property
    def owned(self) -> dict[str, list[Host]]:
        """Owner → hosts of which it owns some, in inventory order; as it stays once ownership is adjusted."""
        found: dict[str, dict[Host, None]] = {}
        for host in self.hosts.values():
            for parcel in host.parcels:
                found.setdefault(parcel.owner, {})[host] = None
        return {owner: list(hosts) for owner, hosts in found.items()}

    def private(self) -> list[str]:
        """Owners of private pools, the deepest first, then in plan order (R-SWEEP-1)."""
        terms = self.terms
        paths = {path for parcel in self.parcels() for path in parcel.owners()}
        paths |= {unit.pool for unit in self.units() if unit.pool in terms.up} - {TOP}
        return sorted(
            (path for path in paths if terms.children[path]), key=lambda path: (-len(terms.up[path]), terms.place[path])
        )


def put(stock: Stock, asked: Asked, host: Host, pool: str, parcels: list[Parcel]) -> Unit:
    """Book a new unit on parcels in their order, on what is kept for it first; then it is there."""
    unit = Unit(asked, host, stock.now, stock.next(), pool, is_new=True)
    rest = asked.unit
    for parcel in parcels:
        part = lower(rest, parcel.room(asked.id))
        if any(part):
            kept = parcel.kept.pop(asked.id, (0,) * len(part))
            if any(left := excess(kept, part)):
                parcel.kept[asked.id] = left
            parcel.idle = minus(parcel.idle, excess(part, kept))
            unit.books[parcel] = part
            rest = minus(rest, part)
    asked.units.append(unit)
    host.units.append(unit)
    return unit


def gone(unit: Unit) -> None:
    """Remove a unit."""
    for parcel, part in unit.books.items():
        parcel.idle = plus(parcel.idle, part)
    unit.asked.units.remove(unit)
    unit.host.units.remove(unit)


def kept_on(request: str, host: Host, width: int) -> Amounts:
    """Amounts held for a request on a host."""
    return summed((parcel.kept[request] for parcel in host.parcels if request in parcel.kept), width)


def kept_before(stock: Stock, asked: Asked, host: Host) -> Amounts:
    """Amounts held for a request on a host where the previous cycle held some; else nothing."""
    return kept_on(asked.id, host, stock.terms.width) if (asked.id, host.name) in stock.keeps else ()


def keep(request: str, host: Host, parcels: list[Parcel], need: Amounts) -> None:
    """Set what is idle of parcels aside for a request until it has so much of the host, if it is there (R-HELD-1)."""
    need = excess(need, kept_on(request, host, len(need)))
    for parcel in parcels:
        part = lower(need, parcel.idle)
        if any(part):
            parcel.kept[request] = plus(parcel.kept.get(request, (0,) * len(need)), part)
            parcel.idle = minus(parcel.idle, part)
            need = minus(need, part)


def fits_in(asked: Asked, parcels: list[Parcel]) -> bool:
    """Whether a unit has room on parcels of one host."""
    return bool(parcels) and fits(asked.unit, plus(*(parcel.room(asked.id) for parcel in parcels)))
