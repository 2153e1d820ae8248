"""The reclaim of slots as values: the real service decides, an agent carries out, messages and time are between them.

Everything that can be next is a step: the service takes in the next word of the agent, or the next wish of people, or
the instant comes at which it wants to be woken; the agent reads the next order; a task that knows of its notice yields;
one that was told to stop ends. Broken connections and crashes are explored in `world`; here they are whole.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.cycle.open import open_books
from fairhold.cycle.run import quotas
from fairhold.model.state import State
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.events import (
    Event,
    Exit,
    JobCancelled,
    JobSubmitted,
    MachineReported,
    Outcome,
    TaskEnded,
    Woken,
)
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.instructions import Notify, Start, Stop, WakeAt, Withdraw
from fairhold.planio.plan import parse_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.model.plan import Plan

SECOND = 1_000_000
NEVER = -1
NOTICE = "notice"
Message = tuple[Any, ...]
Wish = tuple[str, int]
"""A leaf, and how many tasks it wants from now on beside the others; 0: what it wanted is cancelled."""


class Task(NamedTuple):
    """An attempt that runs; told: what the agent knows: nothing, that it is under notice, or why it is to stop."""

    attempt: int
    told: str = ""


class World(NamedTuple):
    """All of it.

    document : number of the service's state
    now      : instant of the last thing that happened
    wake     : when the service wants to be woken, NEVER = not at all
    left     : how many wishes may still come
    going    : orders on the way to the agent; coming: words on the way to the service
    running  : by attempt
    got      : leaves that were given a slot since anybody last wanted more or less
    """

    document: int
    now: int
    wake: int
    left: int
    going: tuple[Message, ...] = ()
    coming: tuple[Message, ...] = ()
    running: tuple[Task, ...] = ()
    got: frozenset[str] = frozenset()


class Decided(NamedTuple):
    """What the service made of an event: its next state, when it wants to be woken, what it says, who got slots."""

    document: int
    wake: int
    said: tuple[Message, ...]
    got: frozenset[str]
    noticed: frozenset[str]


class Service:
    """The real orchestrator as a function; a state is the text of its document, known by a number."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._texts: list[str] = []
        self._number: dict[str, int] = {}
        self.decide = cache(self._decide)
        self.view = cache(self._view)

    def begin(self) -> int:
        """A service whose agent is there."""
        cluster = Cluster(self._books(), forgets=True, own="")
        Orchestrator(cluster, cycle_min_gap=0).handle(MachineReported("", "boot", 0), 0)
        return self._keep(cluster)

    def cluster(self, number: int) -> Cluster:
        """The state of this number."""
        return thaw(json.loads(self._texts[number]), self._books(), forgets=True, own="")

    def _books(self) -> Any:
        return open_books(self.plan, State(now=0))

    def _keep(self, cluster: Cluster) -> int:
        text = json.dumps(freeze(cluster) | {"cycles": 0}, sort_keys=True)
        if text not in self._number:
            self._number[text] = len(self._texts)
            self._texts.append(text)
        return self._number[text]

    def _decide(self, number: int, event: Event, before: int, now: int) -> Decided:
        cluster = self.cluster(number)
        live = Orchestrator(cluster, cycle_min_gap=0)
        live.changed_all()
        live.handle(Woken(), before)  # so that it knows the quotas, and hands slots on
        assert self._keep(cluster) == number, "a cycle with nothing new decides something"
        said: list[Message] = []
        got, noticed, wake = set(), set(), NEVER
        for each in (event, Woken()):
            wake = NEVER
            for order in live.handle(each, now):
                match order:
                    case Start():
                        got.add(_leaf(cluster, order.attempt))
                        said.append(("start", order.attempt))
                    case Notify():
                        noticed.add(_leaf(cluster, order.attempt))
                        said.append(("notice", order.attempt))
                    case Withdraw():
                        said.append(("withdraw", order.attempt))
                    case Stop():
                        said.append(("stop", order.attempt, order.reason))
                    case WakeAt():
                        wake = order.instant
                    case _:
                        pass
        return Decided(self._keep(cluster), wake, tuple(said), frozenset(got), frozenset(noticed))

    def _view(self, number: int, now: int) -> View:
        cluster = self.cluster(number)
        books = cluster.books["c"]
        quota = quotas(books, now).draft.quota
        leaves = {}
        for leaf in books.rows.leaves:
            mine = [each for each in cluster.attempts.values() if cluster.leaf_of(each.job) == leaf]
            stopping = sum(each.stopping == "reclaim" for each in mine)
            noticed = sum(each.notice is not None and not each.stopping for each in mine)
            leaves[books.rows.path(leaf)] = Leaf(books.demand[leaf], books.held[leaf], noticed, quota[leaf], stopping)
        told = {each.name: each.stopping or (NOTICE if each.notice else "") for each in cluster.attempts.values()}
        return View(leaves, told, books.slots, tuple(cluster.jobs))


class Leaf(NamedTuple):
    """A leaf by the service; noticed: without those that are told to stop; stopping: those of them whose grace is over.

    Who is told to stop for a cancel counts as held and wanted until it has ended, so that others may get notice.
    """

    demand: int
    held: int
    noticed: int
    quota: int
    stopping: int


class View(NamedTuple):
    """The service's state, as far as truths ask for it."""

    leaves: dict[str, Leaf]
    told: dict[int, str]
    slots: int
    jobs: tuple[str, ...]


def _leaf(cluster: Cluster, attempt: int) -> str:
    return cluster.attempts[attempt].job.consumer


def plan_of(policy: str, slots: int, consumers: dict[str, Any], graces: dict[str, str], **settings: Any) -> Plan:
    """A plan with one resource group of plain slots."""
    document = {
        "fairhold": 1,
        "resource_groups": {"c": {"slots": slots}},
        "consumers": {path.lstrip("/"): {"reclaim_grace": graces.get(path, "0s")} for path in consumers},
        "policies": [{"resource_groups": ["c"], "policy": policy, "settings": settings, "consumers": consumers}],
    }
    return parse_plan(json.dumps(document), "plan")[0]


def wishes(service: Service, world: World, asked: tuple[Wish, ...]) -> Iterator[World]:
    """All that somebody may wish for next.

    asked : what people may wish for, in any order and again and again
    """
    jobs = service.view(world.document, world.now).jobs if world.left else ()
    for leaf, count in asked if world.left else ():
        last = max((name for name in jobs if name.startswith(leaf)), default="")
        if count or last:
            event = JobSubmitted(f"{leaf}{9 - world.left}", leaf, "c", count) if count else JobCancelled(last)
            yield _decided(service, world._replace(left=world.left - 1), event, world.now)


def steps(service: Service, world: World) -> Iterator[World]:
    """All that may be next without a wish."""
    if world.coming:
        message, *rest = world.coming
        yield _decided(service, world._replace(coming=tuple(rest)), _event(message), world.now)
    if world.wake != NEVER:
        yield _decided(service, world, Woken(), max(world.now, world.wake))
    if world.going:
        yield _received(world)
    for task in world.running:
        if task.told:
            left = tuple(each for each in world.running if each != task)
            yield world._replace(running=left, coming=(*world.coming, (task.attempt, task.told)))


def _event(message: Message) -> Event:
    attempt, told = message
    if told == NOTICE:
        return TaskEnded(attempt, Outcome.YIELDED, Exit("yielded", 75))
    return TaskEnded(attempt, Outcome.STOPPED, Exit(told))


def _decided(service: Service, world: World, event: Event, now: int) -> World:
    made = service.decide(world.document, event, world.now, now)
    before, after = service.view(world.document, world.now), service.view(made.document, now)
    wanted = [[leaf.demand for leaf in view.leaves.values()] for view in (before, after)]
    got = world.got if wanted[0] == wanted[1] else frozenset()
    assert not got & made.noticed, f"{got & made.noticed} got a slot, and is to give it back"
    return world._replace(
        document=made.document, now=now, wake=made.wake, going=(*world.going, *made.said), got=got | made.got
    )


def _received(world: World) -> World:
    """The agent reads an order; of an attempt that is over it knows nothing any more."""
    (kind, attempt, *reason), *rest = world.going
    world = world._replace(going=tuple(rest))
    if kind == "start":
        return world._replace(running=(*world.running, Task(attempt)))
    told = reason[0] if reason else NOTICE if kind == NOTICE else ""
    here = next((task for task in world.running if task.attempt == attempt), None)
    assert reason or here is None or here.told in {"", NOTICE}, f"{kind} after {here}"
    running = tuple(task._replace(told=told) if task == here else task for task in world.running)
    return world._replace(running=running)


# What must be true


def check(service: Service, world: World) -> None:
    """Of every state: no slot is used twice, nobody at or under its quota gives one, agents know what is decided."""
    view = service.view(world.document, world.now)
    starts = [message[1] for message in world.going if message[0] == "start"]
    living = [task.attempt for task in world.running] + starts
    assert len(living) <= view.slots, f"{living} in {view.slots} slots"
    assert set(living) <= view.told.keys(), "an attempt lives, and its slot is free"
    assert sum(leaf.held for leaf in view.leaves.values()) <= view.slots, "slots are granted twice"
    for path, leaf in view.leaves.items():
        above = leaf.held - leaf.stopping - leaf.quota
        assert leaf.noticed <= max(0, above), f"{path} is to give {leaf.noticed}, and is {above} above its quota"
    if not world.going and not world.coming:
        assert dict(world.running) == view.told, "somebody was not told what was decided"


def settled(service: Service, world: World) -> None:
    """Where nothing more can happen: everybody has the quota but for rounding, and nobody is under notice."""
    leaves, told, *_ = service.view(world.document, world.now)
    assert not any(told.values()), f"{told} at rest"
    for path, leaf in leaves.items():
        assert abs(leaf.held - leaf.quota) <= 1, f"{path} rests at {leaf}"
    assert sum(leaf.held for leaf in leaves.values()) == sum(leaf.quota for leaf in leaves.values()), "a slot idles"


class Seen(NamedTuple):
    """What an exploration has seen.

    states : how many there are
    rounds : how often notices were given on one way without a wish, at most
    notices : how many were given on one such way, at most
    """

    states: int
    rounds: int
    notices: int


def explore(service: Service, asked: tuple[Wish, ...], left: int, most: int = 200_000) -> Seen:
    """Look at every state that can be reached, and at every way on without another wish: each comes to an end."""
    first = World(service.begin(), 0, NEVER, left)
    number, came_from, todo = {first: 0}, {first: first}, [first]
    quiet: list[list[tuple[int, int]]] = []
    at_wish = [0]
    for world in todo:
        try:
            check(service, world)
            on = list(steps(service, world))
            wished = list(wishes(service, world, asked))
            if not on:
                settled(service, world)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{_way(service, world, came_from)}") from error
        for each in (*on, *wished):
            if each not in number:
                number[each], came_from[each] = len(todo), world
                todo.append(each)
                at_wish.append(0)
        quiet.append([(number[each], _notices(world, each)) for each in on])
        for each in wished:
            at_wish[number[each]] = max(at_wish[number[each]], _notices(world, each))
        assert len(todo) <= most, f"there are more than {most} states"
    return Seen(len(todo), *_longest(quiet, at_wish))


def _notices(before: World, after: World) -> int:
    """Notices that a step has given."""
    return sum(message[0] == NOTICE for message in after.going[len(before.going) :])


def _way(service: Service, world: World, came_from: dict[World, World]) -> str:
    """How a state was reached, a line a state."""
    lines: list[str] = []
    while not lines or came_from[world] != world:
        world = came_from[world] if lines else world
        lines.append(f"{world._replace(document=0)}\n    {service.view(world.document, world.now)}")
    return "\n".join(reversed(lines))


def _longest(quiet: list[list[tuple[int, int]]], at_wish: list[int]) -> tuple[int, int]:
    """The most decisions with notices, and the most notices, on any way; fails where a way leads back to its begin.

    at_wish : notices that the wish gave with which a way begins
    """
    before = [0] * len(quiet)
    for after in quiet:
        for each, _ in after:
            before[each] += 1
    ready = [at for at, count in enumerate(before) if not count]
    rounds, notices = [int(given > 0) for given in at_wish], at_wish[:]
    for at in ready:
        for each, given in quiet[at]:
            rounds[each] = max(rounds[each], rounds[at] + (given > 0))
            notices[each] = max(notices[each], notices[at] + given)
            before[each] -= 1
            if not before[each]:
                ready.append(each)
    assert len(ready) == len(quiet), "a way leads round in a circle: it may never end"
    return max(rounds), max(notices)
