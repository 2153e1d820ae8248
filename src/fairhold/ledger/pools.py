"""Books of vectors: hosts with their parcels, requests with their units, and amounts kept for requests (SPEC §6.1).

A unit runs on one host and is booked on one or several parcels of it. The idle part of a parcel can be used at one
level at a time: by its owner, or by a pool that it is lent to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, common, less
from fairhold.ledger.backlog import Backlog
from fairhold.ledger.restraint import Restraint
from fairhold.model.siting import ANYWHERE
from fairhold.model.state import CONSOLIDATION
from fairhold.model.vector import DEFAULT_PREFERENCE
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.free_hosts import FreeHosts
    from fairhold.ledger.infeasible import Never
    from fairhold.ledger.pool_terms import Terms
    from fairhold.ledger.unmet import Unmet
    from fairhold.model.adjusted import Adjusted
    from fairhold.model.state import Allocation, Request
    from fairhold.model.vector import Owning
    from fairhold.model.vector import Parcel as ParcelNoun

PUBLIC = 0
"""The public pool, and the owner of what nobody owns: the root's row. A private pool is its owner's row."""
OWN = -1
"""In place of a pool: a unit stands on what its own leaf owns."""


_NOTHING: Mapping[Parcel, Vector] = {}
_NOWHERE: Mapping[int, int] = {}

Chain = tuple[tuple[int, "Owning"], ...]
"""(Row, entry) of an owner and those above it that a piece of a host is carved out of, the owner first."""


class Parcel:
    """A part of a host with one owner: a consumer (its children do not own it), or nobody (public).

    owner  : row, PUBLIC = nobody
    chain  : its owner and those above it, with their entries
    amounts, idle : with overcommitment; what is kept for requests is not idle
    kept   : request → amounts set aside for it, out of what is neither used nor idle
    level  : row at whose level the idle amounts can be used: that of a pool, or of the leaf that owns them
    """

    __slots__ = ("_alone", "amounts", "chain", "host", "idle", "kept", "level", "owner")

    def __init__(self, host: Machine, owner: int, chain: Chain, amounts: Vector) -> None:
        self.host = host
        self.owner = owner
        self.chain = chain
        self.amounts = self.idle = amounts
        self.kept: dict[PendingRequest, Vector] = {}
        self.level = PUBLIC
        self._alone: dict[Vector, Mapping[Parcel, Vector]] | None = None

    def alone(self, amounts: Vector) -> Mapping[Parcel, Vector]:
        """The books of a unit that has so much of this parcel and stands on no other: all such units have the same."""
        if self._alone is None:
            self._alone = {}
        found = self._alone.get(amounts)
        if found is None:
            found = self._alone[amounts] = {self: amounts}
        return found

    @property
    def preference(self) -> int:
        """That of its owner, 1 is best."""
        return (self.chain[0][1].preference if self.chain else None) or DEFAULT_PREFERENCE

    def room(self, asked: PendingRequest) -> Vector:
        """The amounts that a request can use of it: idle ones, and those kept for the request."""
        kept = self.kept.get(asked)
        return add(self.idle, kept) if kept else self.idle

    def take(self, asked: PendingRequest, amount: Vector) -> None:
        """Use some: first of what is kept for the request."""
        kept = self.kept.get(asked)
        if kept:
            from_kept = common(kept, amount)
            left = less(kept, from_kept)
            if any(left):
                self.kept[asked] = left
            else:
                del self.kept[asked]
            amount = less(amount, from_kept)
        self.idle = less(self.idle, amount)

    def keep(self, asked: PendingRequest, amount: Vector) -> None:
        """Set some of what is idle aside for a request."""
        self.idle = less(self.idle, amount)
        self.host.holding[self.host] = None
        self.kept[asked] = add(self.kept[asked], amount) if asked in self.kept else amount

    def unkeep(self, asked: PendingRequest) -> None:
        """What was set aside for a request is idle again."""
        if asked in self.kept:
            self.idle = add(self.idle, self.kept.pop(asked))


class Machine:
    """A host.

    total : with overcommitment
    place : in inventory order
    units : units on it, in the order in which they were placed
    labels : as `label_set` gives them
    is_closed : it starts nothing more, so that only what is booked on it counts (R-UP-1)
    is_plain : it is one parcel without an owner, and all of its units are in the public pool
    taken : sum of its units while books are opened, None = not counted yet
    holding : those hosts of its books on which amounts may be kept for requests
    """

    __slots__ = (
        "group",
        "holding",
        "is_closed",
        "is_plain",
        "labels",
        "name",
        "parcels",
        "place",
        "plain",
        "taken",
        "total",
        "units",
    )

    def __init__(self, name: str, group: str, place: int, plain: Vector, total: Vector) -> None:
        self.name, self.group, self.place, self.plain, self.total = name, group, place, plain, total
        self.parcels: list[Parcel] = []
        self.units: dict[Unit, None] = {}
        self.is_closed = self.is_plain = False
        self.taken: Vector | None = None
        self.holding: dict[Machine, None] = {}
        self.labels: frozenset[str] = frozenset()


class PendingRequest:
    """A request with what it holds.

    order  : place in its leaf: priority, submitted, id
    count  : units wanted, those that it holds included; min_count: of a gang, below so many it does not run
    siting : what it says of hosts, None = any will do
    units : that it holds, those under notice too
    away  : units on hosts that are down; they may still run, so they are not placed again
    away_in : pool, or OWN → those of them that were placed in it
    most  : units that it may hold, those held counted; UNLIMITED = any number (R-USER-2, R-GANG-2)
    never : of a gang that can never start, why
    """

    __slots__ = (
        *("away", "away_in", "count", "leaf", "min_count", "model"),
        *("most", "never", "order", "place", "siting", "unit", "units"),
    )

    def __init__(self, model: Request, place: int) -> None:
        self.leaf = model.consumer
        self.unit = model.unit
        self.siting = None if model.siting == ANYWHERE else model.siting
        self.becomes(model)
        self.place = place
        self.units: dict[Unit, None] = {}
        self.away, self.away_in = 0, _NOWHERE
        self.most = UNLIMITED
        self.never: Never | None = None

    def becomes(self, model: Request) -> None:
        """The request asks for other numbers now, of the same unit."""
        self.model, self.count, self.min_count = model, model.count, model.min_count
        self.order = -model.priority, model.submitted, model.id

    def holds_away(self, pool: int, units: int) -> None:
        """It holds units of a pool on a host that is down (R-UP-1)."""
        self.away, self.away_in = self.away + units, {**self.away_in, pool: self.away_in.get(pool, 0) + units}

    @property
    def away_shared(self) -> int:
        """Units on hosts that are down, without those on parcels of its own leaf."""
        return self.away - self.away_in.get(OWN, 0)

    @property
    def held(self) -> int:
        """Units that it holds, wherever."""
        return len(self.units) + self.away

    @property
    def lacking(self) -> int:
        """Units that it wants and does not hold."""
        return max(0, self.count - len(self.units) - self.away)

    @property
    def is_stopping(self) -> bool:
        """Whether all units of a gang are under notice: units granted now would be its only ones (R-TAKE-4)."""
        going = (unit.notice is not None and not unit.notice.is_move for unit in self.units)
        return self.min_count > 0 and bool(self.units) and all(going)

    @property
    def waiting(self) -> int:
        """Units that it lacks and may hold; 0 for a gang that is being reclaimed as a whole."""
        if self.min_count and self.is_stopping:
            return 0
        most = self.count if self.count < self.most else self.most  # noqa: FURB136 - it is asked all the time
        left = most - len(self.units) - self.away
        return left if left > 0 else 0  # noqa: FURB136

    @property
    def missing(self) -> int:
        """Units that a gang lacks to its minimum; 0 where it may not hold them."""
        if not self.min_count or self.is_stopping:
            return 0
        return max(0, min(self.min_count, self.most) - len(self.units) - self.away)


class Notice:
    """A unit is to be given back; taker: request that gets it, None = none.

    strategy : of a notice that this cycle gives between queues, by which one (`fair_share`)
    """

    __slots__ = ("deadline", "is_new", "reason", "serial", "strategy", "taker")

    def __init__(self, taker: PendingRequest | None, deadline: int, reason: str, serial: int, *, is_new: bool) -> None:
        self.taker, self.deadline, self.reason, self.serial, self.is_new = taker, deadline, reason, serial, is_new
        self.strategy = ""

    @property
    def is_move(self) -> bool:
        """Whether the unit goes to another host, where a place is held for it (R-CONTEST-6)."""
        return self.taker is not None and self.reason == CONSOLIDATION


class Unit:
    """One unit of a request on a host.

    pool  : where it was placed, or OWN
    books : parcel → what it takes of it; replaced, never changed
    said  : what the state says of it and of those beside it, None = it was placed by this cycle
    """

    __slots__ = ("asked", "books", "host", "notice", "pool", "said", "serial", "started")

    def __init__(self, asked: PendingRequest, host: Machine, started: int, serial: int, pool: int) -> None:
        self.asked, self.host, self.started, self.serial, self.pool = asked, host, started, serial, pool
        self.said: Allocation | None = None
        self.books: Mapping[Parcel, Vector] = _NOTHING
        self.notice: Notice | None = None

    @property
    def attempt(self) -> int:
        """By what number a live cluster knows it; 0 = by none."""
        return self.said.attempt if self.said is not None else 0

    @property
    def is_new(self) -> bool:
        """Whether it was placed by this cycle."""
        return self.said is None

    def lenders(self, terms: Terms) -> tuple[int, ...]:
        """Rows that own what it stands on; not the owner of the pool, nor its own leaf."""
        if len(self.books) == 1:  # the common case
            (parcel,) = self.books
            owner = parcel.owner
            return () if owner in (PUBLIC, self.pool, self.asked.leaf) else (owner,)
        found = {parcel.owner for parcel in self.books}
        found.difference_update((PUBLIC, self.pool, self.asked.leaf))
        return tuple(sorted(found, key=terms.position.__getitem__)) if found else ()


@dataclass(slots=True)
class PoolBooks:
    """All that one policy entry shares: its hosts that are up, requests, and what was decided so far.

    hosts_of : row → hosts of which it or a descendant owns a part, in inventory order
    hosts_down : those that are in no pool
    away     : pool, or OWN → name of a host that is down, or of no host here → what is booked on it in that (R-UP-1)
    """

    terms: Terms
    hosts: list[Machine]
    asked: dict[str, PendingRequest]
    by_leaf: dict[int, list[PendingRequest]]
    host_of: dict[str, Machine]
    now: int
    keeps: dict[tuple[PendingRequest, Machine], int | None] = field(default_factory=dict)
    """(request, host) → units for which space is held there, as the cycle before has left it; None = all that fit"""
    hosts_of: dict[int, list[Machine]] = field(default_factory=dict)
    hosts_down: list[Machine] = field(default_factory=list)
    away: dict[int, dict[str, Vector]] = field(default_factory=dict)
    unmet: list[Unmet] = field(default_factory=list)
    own_entries: list[tuple[Machine, int, int, Vector]] = field(default_factory=list)
    """(host, row, place of an entry, amounts): what of a row is whose, where several of its entries are of one group"""
    adjusted: Adjusted | None = None
    """The last adjustment of ownership, where the entry says how often (R-ADJUST-5)"""
    unplaced: dict[PendingRequest, int] = field(default_factory=dict)
    """Request → units that were placed in this cycle and are not, as they would go at once (R-SWEEP-3)"""
    sure: set[Unit] = field(default_factory=set)
    """Units that this instant has granted on what was held for them: nobody takes them at it (R-SERVE-3)"""
    told_before: dict[Unit, Notice] = field(default_factory=dict)
    """Unit → its notice from before, where this cycle has withdrawn it (R-NOTICE-2)"""
    told: list[Unit] = field(default_factory=list)
    opened: list[Machine] = field(default_factory=list)
    """Units under notice from before; hosts that were not left as they stood in the books of the cycle before"""
    wanting: dict[PendingRequest, None] = field(default_factory=dict)
    bounded: list[PendingRequest] = field(default_factory=list)
    """Requests that wanted more than they held when the cycle began; those that may not hold any number of units"""
    holding: dict[Machine, None] = field(default_factory=dict)
    free: FreeHosts | None = None
    """Hosts on which something may be held for a request; hosts by what is idle there, None = parcels have owners"""
    needed: dict[PendingRequest, object] = field(default_factory=dict)
    """Request of which all on its way was needed when it was looked at last → all that this rests on"""
    backlog: Backlog = field(default_factory=Backlog)
    owns_exactly: bool = True
    """Whether everybody has just what its entries ask for"""
    owned: tuple[ParcelNoun, ...] | None = None
    """What consumers own, as a state says it; None = that has to be made"""
    serial: int = 0
    restraint: Restraint = field(default_factory=Restraint)

    def hosts_in(self, pool: int) -> list[Machine]:
        """Hosts of which a pool can have some."""
        return self.hosts if pool == PUBLIC else self.hosts_of.get(pool, [])

    def under_notice(self, noticed: Iterable[Unit]) -> list[Unit]:
        """Units under notice, each once: from before, and of those that this cycle told."""
        return [unit for unit in dict.fromkeys([*self.told, *noticed]) if unit.notice is not None]

    def next_serial(self) -> int:
        """A number that is larger than all before."""
        self.serial += 1
        return self.serial

    def units(self) -> Iterator[Unit]:
        """All units, host by host."""
        return chain.from_iterable(host.units for host in self.hosts)


def place(books: PoolBooks, asked: PendingRequest, host: Machine, pool: int, parcels: list[Parcel]) -> Unit:
    """Place a unit on a host and book it on the parcels in their order."""
    books.serial += 1
    unit = Unit(asked, host, books.now, books.serial, pool)
    if books.backlog.of:
        books.backlog.serves(asked)
    parcel = parcels[0]
    if len(parcels) == 1 and not parcel.kept:  # the common case
        parcel.idle = less(parcel.idle, asked.unit)
        unit.books = parcel.alone(asked.unit)
    else:
        _book_on(unit, parcels)
    asked.units[unit] = None
    host.units[unit] = None
    return unit


def _book_on(unit: Unit, parcels: list[Parcel]) -> None:
    unit.books, rest = {}, unit.asked.unit
    for parcel in parcels:
        part = common(rest, parcel.room(unit.asked))
        if any(part):
            parcel.take(unit.asked, part)
            unit.books[parcel] = part
            rest = less(rest, part)
    assert not any(rest), "whoever places a unit has seen that it fits"


def remove(unit: Unit) -> None:
    """A unit is gone; what it had is idle where its parcels are."""
    for parcel, part in unit.books.items():
        parcel.idle = add(parcel.idle, part)
    del unit.asked.units[unit]
    del unit.host.units[unit]
