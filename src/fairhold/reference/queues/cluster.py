"""What is wanted and held of a group that queues share, unit by unit, and what is on its way to whom."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.model.siting import PACK
from fairhold.model.state import CONSOLIDATION
from fairhold.reference.vectors import beyond, times, total_of, units_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from fairhold.model.siting import Siting
    from fairhold.model.state import Request
    from fairhold.model.vector import Vector

FIXED_FROM = 100
"""R-SERVE-2: from this priority on a request that does not say otherwise is not preemptible."""


@dataclass(frozen=True, eq=False)
class Ask:
    """A request. place : in the state."""

    request: Request
    leaf: str
    place: int

    @property
    def id(self) -> str:
        """Its name."""
        return self.request.id

    @property
    def unit(self) -> Vector:
        """What one of its units needs."""
        return self.request.unit

    @property
    def minimum(self) -> int:
        """Units without which it does not run; 0: it is no gang."""
        return self.request.min_count

    @property
    def siting(self) -> Siting:
        """What it says of hosts."""
        return self.request.siting

    @property
    def packs(self) -> bool:
        """Whether all its units stand on one host (R-SITE-3)."""
        return self.minimum > 0 and self.siting.place == PACK

    @property
    def gives(self) -> bool:
        """Whether it may be taken back for others (R-SERVE-2)."""
        said = self.request.preemptible
        return self.request.priority < FIXED_FROM if said is None else said

    @property
    def asked(self) -> list[int]:
        """The resources that it asks for."""
        return [at for at, need in enumerate(self.unit) if need]


@dataclass(eq=False)
class Told:
    """A notice of one unit. taker : None = for nobody; serial : in the order of giving."""

    taker: Ask | None
    deadline: int
    reason: str
    serial: int

    def is_as(self, other: Told | None) -> bool:
        """Whether both say the same: for the same request, by the same deadline."""
        if other is None:
            return False
        return (self.taker, self.deadline, self.reason) == (other.taker, other.deadline, other.reason)


@dataclass(eq=False)
class Unit:
    """One unit that is held.

    serial : in the order of the state, then of granting
    is_new : granted by this cycle
    told, before : its notice, and the one of before the cycle
    """

    ask: Ask
    host: str
    started: int
    serial: int
    is_new: bool = False
    told: Told | None = None
    before: Told | None = None

    @property
    def goes(self) -> bool:
        """Whether it is told to go, and not to move to another host (R-CONTEST-6)."""
        return self.told is not None and self.told.reason != CONSOLIDATION


@dataclass(frozen=True)
class Host:
    """A host. is_open : whether it is up, so that something can start there; total : with `overcommit`."""

    name: str
    group: str
    total: Vector
    labels: frozenset[str]
    is_open: bool
    place: int


class Cluster:
    """The hosts of an entry, and all that is on them.

    units : on hosts that are not down, in the order of the state, then of granting
    away  : units on hosts that are down
    coming : request → host → units that are on their way to it there
    most  : request → units that count of what it wants (R-QUEUE-1)
    capacity : all that there is, where hosts are not told; then nothing can be placed
    """

    def __init__(self, asks: Iterable[Ask], hosts: Iterable[Host], width: int, now: int) -> None:
        """With nothing on it."""
        self.asks = {ask.id: ask for ask in asks}
        self.hosts = {host.name: host for host in hosts}
        self.width, self.now = width, now
        self.units: list[Unit] = []
        self.away: Counter[Ask] = Counter()
        self.coming: dict[Ask, dict[str, int]] = {}
        self.most: dict[Ask, int] = {ask: ask.request.count for ask in self.asks.values()}
        self.serial = 0
        self.is_exclusive = False
        self.capacity: Vector | None = None

    def next(self) -> int:
        """A number that is larger than those before."""
        self.serial += 1
        return self.serial

    # What is held

    def of(self, ask: Ask) -> list[Unit]:
        """Its units on hosts that are not down."""
        return [unit for unit in self.units if unit.ask is ask]

    def held(self, ask: Ask) -> int:
        """Units that it holds, wherever they are, under notice too."""
        return len(self.of(ask)) + self.away[ask]

    def on_way(self, ask: Ask) -> int:
        """Units on their way to it."""
        return sum(self.coming.get(ask, {}).values())

    def missing(self, ask: Ask) -> int:
        """What a gang misses to its minimum."""
        return max(0, ask.minimum - self.held(ask))

    def waiting(self, ask: Ask) -> int:
        """Units that it wants and does not hold; none for a gang while all of it is told to go (R-TAKE-4)."""
        if ask.minimum and self.of(ask) and not self.away[ask] and all(unit.goes for unit in self.of(ask)):
            return 0
        return max(0, self.most[ask] - self.held(ask))

    def wanted_on_way(self, ask: Ask) -> int:
        """R-HELD-1: the most that may be on its way to it."""
        missing = self.missing(ask)
        wanted = min(missing, self.waiting(ask)) if missing else self.waiting(ask)
        return wanted + self.moving(ask)

    def moving(self, ask: Ask) -> int:
        """Its units that move to places that are held for them (R-CONTEST-6)."""
        return sum(unit.told is not None and not unit.goes for unit in self.of(ask))

    # What is idle

    def used(self, host: str) -> Vector:
        """What units on a host need."""
        return total_of((unit.ask.unit for unit in self.units if unit.host == host), self.width)

    def going(self, ask: Ask, host: str) -> list[Unit]:
        """Units under notice for it on a host."""
        return [u for u in self.units if u.host == host and u.told is not None and u.told.taker is ask]

    def freed(self, ask: Ask, host: str) -> Vector:
        """What units under notice for it leave on a host."""
        return total_of((unit.ask.unit for unit in self.going(ask, host)), self.width)

    def kept(self, ask: Ask, host: str) -> Vector:
        """What is idle on a host and held for it: what its units need beyond what is freed for it."""
        units = self.coming.get(ask, {}).get(host, 0)
        return beyond(times(ask.unit, units), self.freed(ask, host))

    def left(self, ask: Ask, host: str) -> Vector:
        """What notices for it free beyond what is on its way to it: idle from the stop on."""
        units = self.coming.get(ask, {}).get(host, 0)
        return beyond(self.freed(ask, host), times(ask.unit, units))

    def idle(self, host: str) -> Vector:
        """What nobody uses, and nothing is held of it; on a host that is closed nothing (R-UP-1)."""
        there = self.hosts[host]
        if not there.is_open:
            return (0,) * self.width
        taken = [self.used(host), *(self.kept(ask, host) for ask in self.coming)]
        return total_of((there.total, times(total_of(taken, self.width), -1)), self.width)

    # Hosts

    def is_suitable(self, ask: Ask, host: str) -> bool:
        """R-SITE-1, R-UP-1."""
        there = self.hosts[host]
        return there.is_open and ask.siting.fits(there.labels)

    def suitable(self, ask: Ask, *, closed: bool = False) -> list[str]:
        """Hosts that will do, in inventory order; for a gang that packs and runs, the one that it runs on."""
        every = self.hosts.values()
        found = [host.name for host in every if (host.is_open or closed) and ask.siting.fits(host.labels)]
        if ask.packs and self.held(ask):
            stands = {unit.host for unit in self.of(ask)}
            return [host for host in found if host in stands and not self.away[ask]]
        return found

    def is_taken(self, ask: Ask, host: str, without: Collection[Unit] = (), *, at_once: bool = False) -> bool:
        """R-HOSTS-3: whether somebody else has a unit on a whole host, is to have what goes there, or space there.

        without : units that are to leave
        at_once : whether units that go for it are still in its way
        """
        if not self.is_exclusive:
            return False
        for unit in self.units:
            taker = None if unit.told is None else unit.told.taker
            is_for_others = taker is not None and taker.leaf != ask.leaf
            is_leaving = not at_once and (unit in without or (taker is not None and not is_for_others))
            if unit.host == host and (is_for_others or (unit.ask.leaf != ask.leaf and not is_leaving)):
                return True
        return any(each.leaf != ask.leaf and ways.get(host) for each, ways in self.coming.items())

    def room(self, ask: Ask, host: str) -> int:
        """Units of it that fit on what is idle on a host."""
        return units_in(ask.unit, self.idle(host))

    # Moves

    def bring(self, ask: Ask, host: str, units: int) -> None:
        """So many more are on their way to it there."""
        ways = self.coming.setdefault(ask, {})
        ways[host] = ways.get(host, 0) + units

    def place(self, ask: Ask, host: str) -> Unit:
        """A unit is granted."""
        unit = Unit(ask, host, self.now, self.next(), is_new=True)
        self.units.append(unit)
        return unit


Piece = tuple[Unit, ...]
"""Units that go together."""


def pieces_of(cluster: Cluster, ask: Ask) -> list[Piece]:
    """R-CONTEST-3: the youngest first; of a gang units beyond its minimum one by one, then its core."""
    stays = [unit for unit in cluster.of(ask) if unit.told is None]
    units = sorted(stays, key=lambda each: (-each.started, -each.serial))
    extra = max(0, len(units) - ask.minimum) if ask.minimum else len(units)
    core = [tuple(units[extra:])] if units[extra:] else []
    return [(unit,) for unit in units[:extra]] + core


def told_by(cluster: Cluster) -> list[Unit]:
    """Units that a cycle tells to go, in the order of telling."""
    new = [unit for unit in cluster.units if unit.told is not None and not unit.told.is_as(unit.before)]
    return sorted(new, key=lambda each: each.told.serial if each.told else 0)
