"""What is wanted and held in a resource group of slots at one instant, unit by unit, by path."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from fairhold.model.siting import ANYWHERE, label_set
from fairhold.reference.consumers import Consumers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.model.plan import Plan
    from fairhold.model.siting import Siting
    from fairhold.model.state import Notice, State

NOWHERE = ""
"""The host of a group that is a plain number of slots, and of a state of plain counts."""


@dataclass(frozen=True)
class Wish:
    """A request, or all that a leaf wants where a state has plain counts; `is_count` then.

    since : since when it could be served (R-HOLD-1)
    """

    id: str
    leaf: str
    count: int
    minimum: int = 0
    priority: int = 0
    submitted: int = 0
    user: str = ""
    time_limit: int = 0
    since: int = 0
    siting: Siting = ANYWHERE
    is_count: bool = False

    @property
    def is_gang(self) -> bool:
        """Whether it runs with its minimum or not at all."""
        return self.minimum > 0

    @property
    def packs(self) -> bool:
        """Whether all its units stand on one host (R-SITE-3)."""
        return self.is_gang and self.siting.place == "pack"

    @property
    def is_bound(self) -> bool:
        """Whether not all hosts will do: it names labels, or needs one host (R-SITE-4)."""
        return bool(self.siting.need or self.siting.avoid) or self.packs

    @property
    def turn(self) -> tuple[int, int, str]:
        """The order inside a leaf: priority, submitted, id."""
        return -self.priority, self.submitted, self.id

    @property
    def gangs_first(self) -> tuple[int, bool, int, str]:
        """The order in which requests are counted: by priority, within one gangs first, then submitted, id."""
        return -self.priority, not self.is_gang, self.submitted, self.id


@dataclass(frozen=True)
class Unit:
    """One slot that is held. notice : the one under which it is."""

    wish: str
    leaf: str
    host: str
    started: int = 0
    notice: Notice | None = None


class Situation:
    """A resource group as it is; what is derived from it is derived anew whenever it is asked for.

    granted : places of units that this cycle grants
    slots : what is divided (R-UP-1)
    room  : host → slots that exist there now, `NOWHERE` where hosts are not told
    """

    def __init__(self, consumers: Consumers, state: State, wishes: Iterable[Wish], units: Iterable[Unit]) -> None:
        """Of what has been read. units : in the order of the state."""
        self.consumers, self.state, self.now = consumers, state, state.now
        self.wishes = {wish.id: wish for wish in wishes}
        self.units = tuple(units)
        self.group = consumers.group
        self.granted: frozenset[int] = frozenset()

    def with_units(self, units: Iterable[Unit]) -> Situation:
        """The same when other units are held."""
        return Situation(self.consumers, self.state, self.wishes.values(), units)

    def with_grants(self, units: Iterable[Unit]) -> Situation:
        """The same with units that are granted. units : those of before first."""
        found = self.with_units(units)
        found.granted = frozenset(range(len(self.units), len(found.units)))
        return found

    @cached_property
    def has_requests(self) -> bool:
        """Whether the state has requests for the group; else plain counts."""
        return not all(wish.is_count for wish in self.wishes.values())

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """In inventory order; one without a name where none are told."""
        told = self.consumers.plan.resource_groups[self.group].hosts
        return tuple(host.name for host in told) if told and self.has_requests else (NOWHERE,)

    @cached_property
    def labels(self) -> Mapping[str, frozenset[str]]:
        """What labels hosts match."""
        told = self.consumers.plan.resource_groups[self.group].hosts
        return {NOWHERE: frozenset()} | {host.name: label_set(host.labels) for host in told}

    @cached_property
    def away(self) -> frozenset[str]:
        """Hosts that are not up: down, or closed."""
        return self.state.hosts_down | self.state.hosts_closed

    @cached_property
    def stated(self) -> dict[str, int]:
        """Slots of each host that the state names, whether it is up or not."""
        hosts = self.consumers.plan.resource_groups[self.group].hosts if self.hosts != (NOWHERE,) else ()
        return {host.name: host.slots for host in hosts}

    @cached_property
    def room(self) -> dict[str, int]:
        """R-UP-1: a host that is not up has as many slots as are held on it."""
        group = self.consumers.plan.resource_groups[self.group]
        if self.hosts != (NOWHERE,):
            used = Counter(unit.host for unit in self.units)
            return {each.name: used[each.name] if each.name in self.away else each.slots for each in group.hosts}
        if group.hosts and self.group not in self.state.slots:
            return {NOWHERE: sum(each.slots for each in group.hosts if each.name not in self.away)}
        return {NOWHERE: self.state.slots.get(self.group, group.slots)}

    @property
    def slots(self) -> int:
        """What is divided."""
        return sum(self.room.values())

    @cached_property
    def held(self) -> Counter[str]:
        """Path → units held, those under notice included; of branches the sums."""
        found: Counter[str] = Counter()
        for unit in self.units:
            found["/"] += 1
            for path in self.consumers.above(unit.leaf):
                found[path] += 1
        return found

    def held_by(self, wish: str, host: str | None = None) -> int:
        """Units of a request, on one host or all."""
        return sum(unit.wish == wish and host in (None, unit.host) for unit in self.units)

    def wishes_of(self, leaf: str) -> list[Wish]:
        """The requests of a leaf, in the order in which they are served."""
        return sorted((wish for wish in self.wishes.values() if wish.leaf == leaf), key=lambda wish: wish.turn)

    def suitable(self, wish: Wish) -> list[str]:
        """R-SITE-1: hosts of the group that will do, in inventory order."""
        return [host for host in self.hosts if wish.siting.fits(self.labels[host])]

    def suitable_up(self, wish: Wish) -> list[str]:
        """Those of them that are up."""
        return [host for host in self.suitable(wish) if host not in self.away]

    @property
    def idle(self) -> dict[str, int]:
        """Host → slots that nobody holds; never less than 0."""
        used = Counter(unit.host for unit in self.units)
        return {host: max(0, slots - used[host]) for host, slots in self.room.items()}


def read_situation(plan: Plan, state: State, group: str) -> Situation:
    """The situation of a group as a state says it; nothing has been settled."""
    consumers = Consumers(plan, group, state.now, state)
    paths = plan.tree.paths
    told = [each for each in state.requests if each.resource_group == group and not each.unit]
    wishes = [
        Wish(
            each.id, paths[each.consumer], each.count, each.min_count, each.priority, each.submitted, each.user,
            each.time_limit, each.submitted if each.since is None else each.since, each.siting,
        )
        for each in told
    ]  # fmt: skip
    units = [
        Unit(each.request, paths[next(one.consumer for one in told if one.id == each.request)], each.host, each.started)
        for each in state.allocations
        if any(one.id == each.request for one in told)
        for _ in range(each.units)
    ]
    if not told:
        for leaf in consumers.leaves:
            key = (plan.tree.rows[leaf], group)
            wishes.append(Wish(leaf, leaf, state.demand.get(key, 0), is_count=True))
            units += [Unit(leaf, leaf, NOWHERE)] * state.allocated.get(key, 0)
    return _with_notices(Situation(consumers, state, wishes, units))


def _with_notices(situation: Situation) -> Situation:
    """Every notice is put on units of its request on its host: which of them, R-VICTIM-1 and R-CONTROL-5 say."""
    from fairhold.reference.ages import first_to_go  # noqa: PLC0415 - it needs situations

    paths = situation.consumers.plan.tree.paths
    units = list(situation.units)
    for notice in situation.state.notices:
        if notice.resource_group != situation.group:
            continue
        wish = notice.request or paths[notice.consumer]
        free = [at for at, unit in enumerate(units) if unit.wish == wish and unit.notice is None]
        mine = [at for at in free if units[at].host == notice.host or situation.hosts == (NOWHERE,)]
        for at in first_to_go(situation, units, mine)[: notice.units]:
            units[at] = replace(units[at], notice=notice)
    return situation.with_units(units)
