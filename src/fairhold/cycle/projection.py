"""What becomes of the work of a state over time: a cycle now, and at every instant at which something changes.

Nobody wants more or less than now. A task runs on until it is stopped, or until its time limit. That is the course of a
state file; `sim/live_projection.py` tells that of a live cluster in the same nouns.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from fairhold.cycle.document import run_cycle
from fairhold.ledger.controls import shorter
from fairhold.ledger.rows import in_force, lay_out
from fairhold.ledger.vectors import open_vectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fairhold.cycle.document import Cycle
    from fairhold.model.plan import Plan
    from fairhold.model.state import Notice, Request, State

Amounts = dict[str, int]
"""Resource → base units; of slots: `slots` → how many."""
Held = dict[tuple[str, str], Amounts]
"""(resource group, path of a leaf) → what it holds."""
SLOTS = "slots"
MOST_CYCLES = 5_000
"""Cycles of a course at most."""


class Stopped(NamedTuple):
    """Units that are taken from a task which is not done.

    at       : instant of the stop
    consumer : path of the leaf; request: its id, or the job; empty: the state has only counts
    task, attempt : of a live cluster, which of the job, and its number there; -1 and 0 = unknown
    host     : empty where the group is a plain number of slots
    since    : instant since which the units were held; None = unknown
    told     : instant of the notice, None = it was given before
    deadline, reason, taker : as the notice says
    is_now   : the units were held when the course began, and ever since
    unit     : what each has of resources, in base units; empty = it is a slot
    """

    at: int
    consumer: str
    resource_group: str
    request: str
    task: int
    attempt: int
    host: str
    units: int
    since: int | None
    told: int | None
    deadline: int
    reason: str
    taker: str
    is_now: bool
    unit: tuple[tuple[str, int], ...] = ()


@dataclass
class Course:
    """What happens under one plan.

    begin : instant; until: the one up to which it is told, earlier than was asked where it takes too many cycles
    held  : what everybody holds right before each of the instants that were asked for, as far as it is told
    stops : in the order of time
    waiting : (instant, path of a leaf, how many more units of it wait from then on), in the order of time
    """

    begin: int
    until: int
    held: list[Held] = field(default_factory=list)
    stops: list[Stopped] = field(default_factory=list)
    waiting: list[tuple[int, str, int]] = field(default_factory=list)


def course_of(plan: Plan, before: State, first: Cycle, instants: Sequence[int]) -> Course:
    """The course of a state.

    before   : the state; first: its cycle now
    instants : rising, after now; a cycle runs at each of them, and the last one ends the course
    """
    walk = _Walk(plan, before, first)
    for instant in instants:
        while (at := walk.next(instant)) < instant:
            if walk.cycles >= MOST_CYCLES:
                walk.course.until = walk.now
                return walk.course
            walk.step(at)
        walk.course.held.append(held_of(plan, walk.state))
        walk.course.until = instant
        if instant != instants[-1]:
            walk.step(instant)
    return walk.course


def held_of(plan: Plan, state: State) -> Held:
    """What every leaf of a state holds."""
    found: Held = {}
    for (node, group), units in state.allocated.items():
        _add(found, (group, plan.tree.paths[node]), {SLOTS: units})
    requests = {request.id: request for request in state.requests}
    group_of = groups_of_hosts(plan)
    for each in state.allocations:
        request = requests[each.request]
        path = plan.tree.paths[request.consumer]
        if request.unit:
            amounts = {
                of.name: amount * each.units for of, amount in zip(plan.resources, request.unit, strict=True) if amount
            }
            _add(found, (group_of.get(each.host, ""), path), amounts)
        else:
            _add(found, (request.resource_group, path), {SLOTS: each.units})
    return found


def _waiting_of(plan: Plan, state: State) -> Counter[str]:
    """Path → units that a leaf of a state wants and does not hold."""
    found: Counter[str] = Counter()
    for (node, group), units in state.demand.items():
        found[plan.tree.paths[node]] += max(0, units - state.allocated.get((node, group), 0))
    held: Counter[str] = Counter()
    for each in state.allocations:
        held[each.request] += each.units
    for request in state.requests:
        found[plan.tree.paths[request.consumer]] += max(0, request.count - held[request.id])
    return found


def groups_of_hosts(plan: Plan) -> dict[str, str]:
    """Host → its resource group, where vectors are shared."""
    groups = (group for group in plan.resource_groups.values() if group.shares_vectors)
    return {host.name: group.name for group in groups for host in group.hosts}


def _add(found: Held, key: tuple[str, str], amounts: Amounts) -> None:
    mine = found.setdefault(key, {})
    for name, amount in amounts.items():
        mine[name] = mine.get(name, 0) + amount


_Key = tuple[str, str, int]
"""(request, host, started)."""


class _Walk:
    """A state that goes on: `state` is the one that the cycle at `now` has left."""

    def __init__(self, plan: Plan, before: State, first: Cycle) -> None:
        self.plan, self.now = plan, before.now
        self.course = Course(before.now, before.now)
        self.cycles = 0
        self._group_of = groups_of_hosts(plan)
        self._limits = _limits(plan, before)
        self._told: dict[tuple[object, ...], int | None] = {_name(each): None for each in before.notices}
        self._waiting: Counter[str] = Counter()
        self._first: Counter[_Key] = Counter()
        self._counts: dict[tuple[int, str], list[tuple[int | None, int]]] = {
            key: [(None, units)] for key, units in before.allocated.items()
        }
        for each in before.allocations:
            self._first[each.request, each.host, each.started] += each.units
        self.state = before
        self._take(before, first)

    def next(self, instant: int) -> int:
        """When the next cycle is: at an instant, or earlier where something changes by then."""
        down = self.state.hosts_down
        dues = [notice.deadline for notice in self.state.notices if notice.host not in down]
        ends = (each.started + limit for each in self.state.allocations if (limit := self._limits[each.request]))
        return max(min([*dues, *ends, *self._dues, instant]), self.now + 1)

    def step(self, now: int) -> None:
        """What ended is over, what was told to go goes, and a cycle runs."""
        self.now = now
        state = replace(_without_ended(self.state, self._limits, now), now=now)
        self._take(state, run_cycle(self.plan, state))

    def _take(self, before: State, cycle: Cycle) -> None:
        self.cycles += 1
        self._stops(before, cycle)
        self.state = cycle.after
        dues = [result.decision.due for result in cycle.results.values()]
        dues += [pooled.due for _, pooled in cycle.pooled]
        self._dues = [due for due in dues if due is not None and due > self.now]
        self._told = {_name(each): self._told.get(_name(each), self.now) for each in self.state.notices}
        waiting = _waiting_of(self.plan, self.state)
        for path in dict.fromkeys((*waiting, *self._waiting)):
            if waiting[path] != self._waiting[path]:
                self.course.waiting.append((self.now, path, waiting[path] - self._waiting[path]))
        self._waiting = waiting

    def _stops(self, before: State, cycle: Cycle) -> None:
        """What the cycle found past its deadline, and since when it was held."""
        gone: Counter[_Key] = Counter()
        for each in before.allocations:
            gone[each.request, each.host, each.started] += each.units
        for each in cycle.after.allocations:
            gone[each.request, each.host, each.started] -= each.units
        is_again = before.previous_cycle is not None and before.previous_cycle >= self.now
        due = [] if is_again else [each for each in before.notices if each.deadline <= self.now]
        requests = {request.id: request for request in before.requests}
        for notice in due:
            if notice.host not in before.hosts_down or not notice.host:
                self.course.stops += self._stopped(notice, gone, requests.get(notice.request))
        self._count(before, cycle.after, due)

    def _stopped(self, notice: Notice, gone: Counter[_Key], request: Request | None) -> Iterator[Stopped]:
        tree, resources = self.plan.tree, self.plan.resources
        node = notice.consumer if request is None else request.consumer
        unit = zip(resources, request.unit, strict=True) if request is not None and request.unit else ()
        said = Stopped(
            self.now,
            tree.paths[node],
            notice.resource_group or self._group_of.get(notice.host, ""),
            notice.request,
            *(-1, notice.attempt, notice.host, 0, None),
            self._told.get(_name(notice)),
            notice.deadline,
            notice.reason,
            tree.paths[notice.taker] if notice.taker >= 0 else "",
            is_now=True,
            unit=tuple((of.name, amount) for of, amount in unit if amount),
        )
        if not notice.request:
            yield from self._of_counts(said, (node, notice.resource_group), notice.units)
            return
        left = notice.units
        mine = [key for key in gone if key[:2] == (notice.request, notice.host) and gone[key] > 0]
        if notice.started is not None:
            mine = [key for key in mine if key[2] == notice.started] or mine
        for key in sorted(mine, key=lambda each: -each[2]):
            units = min(left, gone[key])
            gone[key] -= units
            left -= units
            for part, is_now in _split(units, self._first[key]):
                if is_now:
                    self._first[key] -= part
                yield said._replace(units=part, since=key[2], is_now=is_now)

    def _of_counts(self, said: Stopped, key: tuple[int, str], units: int) -> Iterator[Stopped]:
        """Of plain counts the units that came last go first."""
        held = self._counts.setdefault(key, [])
        while units and held:
            since, there = held.pop()
            part = min(units, there)
            if there > part:
                held.append((since, there - part))
            units -= part
            yield said._replace(units=part, since=since, is_now=since is None)

    def _count(self, before: State, after: State, due: Iterable[Notice]) -> None:
        """What was granted to plain counts."""
        stopped: Counter[tuple[int, str]] = Counter()
        for notice in due:
            if not notice.request:
                stopped[notice.consumer, notice.resource_group] += notice.units
        for key, units in after.allocated.items():
            more = units - before.allocated.get(key, 0) + stopped[key]
            if more > 0:
                self._counts.setdefault(key, []).append((self.now, more))


def _split(units: int, first: int) -> Iterator[tuple[int, bool]]:
    """Units that were there at the beginning, and others."""
    there = min(units, max(0, first))
    if there:
        yield there, True
    if units > there:
        yield units - there, False


def _name(notice: Notice) -> tuple[object, ...]:
    """What a notice is known by from one cycle to the next, whatever becomes of a part of its units."""
    return notice.consumer, notice.resource_group, notice.request, notice.host, notice.deadline


def _limits(plan: Plan, state: State) -> dict[str, int]:
    """Request → microseconds that its units run at most, 0 = any time, as the entries in force now say."""
    most: dict[tuple[int, str], int] = {}
    books = [lay_out(plan, name, force) for name in _of_slots(plan) if (force := in_force(plan, name, state.now))]
    for rows in books:
        for row in rows.leaves:
            most[row, rows.group.name] = rows.controls.max_run_time[row]
    vectors = open_vectors(plan)
    if vectors is not None:
        rows = vectors.rows
        for row in rows.leaves:
            most[row, ""] = rows.controls.max_run_time[row]
    return {
        each.id: shorter(each.time_limit, most.get((each.consumer, each.resource_group), 0)) for each in state.requests
    }


def _of_slots(plan: Plan) -> list[str]:
    return [name for name in plan.resource_groups if not plan.resource_groups[name].shares_vectors]


def _without_ended(state: State, limits: Mapping[str, int], now: int) -> State:
    """The state without units whose time is over: they are not wanted any more."""
    gone: Counter[str] = Counter()
    there: Counter[tuple[str, str]] = Counter()
    stays = []
    for each in state.allocations:
        limit = limits[each.request]
        if limit and each.started + limit <= now:
            gone[each.request] += each.units
        else:
            stays.append(each)
            there[each.request, each.host] += each.units
    if not gone:
        return state
    notices = []
    for notice in state.notices:
        place = notice.request, notice.host
        units = min(notice.units, there[place]) if notice.request else notice.units
        there[place] -= units
        if units:
            notices.append(replace(notice, units=units))
    requests = [_fewer(each, gone[each.id]) if gone[each.id] else each for each in state.requests]
    left = tuple(each for each in requests if each.count)
    ids = {each.id for each in left}
    held = tuple(each for each in state.held if each.request in ids)
    takers = tuple(
        each if not each.taker_request or each.taker_request in ids else replace(each, taker_request="")
        for each in notices
    )
    return replace(state, requests=left, allocations=tuple(stays), notices=takers, held=held)


def _fewer(request: Request, units: int) -> Request:
    count = max(0, request.count - units)
    return replace(request, count=count, min_count=min(request.min_count, count))
