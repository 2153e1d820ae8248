"""Service, agents, supervisors and what is between them, as values: every state is a tuple, every step makes new ones.

The service is the real orchestrator, here as a document (`freeze`) and a function from document and event to the next
document and its instructions. The agents are a model of docs/attempts.md, rules 1 to 5:

- what the host keeps (the spool, `last`, running processes) survives every crash but the host's own;
- what a connection holds in one direction comes in order, and a break may lose its end;
- what came from a machine waits in one queue until the service takes it, whatever connection it came over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.orchestrator.ending import OUTCOMES
from fairhold.orchestrator.events import (
    Event,
    Exit,
    Held,
    JobCancelled,
    JobRequeued,
    JobSubmitted,
    MachineGone,
    MachineOpened,
    MachineReported,
    MachineSilent,
    Outcome,
    TaskEnded,
    TaskRunning,
)
from tests.protocol.service import BEGIN, MACHINES, Message, attempts_of, cluster_of, decide

if TYPE_CHECKING:
    from collections.abc import Iterator

ORDERED, FORKED, RUNS, ORPHANED = "ordered", "forked", "runs", "orphaned"
"""Stages of an attempt in a spool: written, no supervisor lives; its supervisor lives; its command runs; its command
runs and its supervisor is dead. Everything else is the reason of its exit record."""
STAGES = (ORDERED, FORKED, RUNS, ORPHANED)
SUBMIT, REQUEUE, CANCEL = "submit", "requeue", "cancel"
EVENTS: dict[str, Event] = {
    SUBMIT: JobSubmitted("j", "/A", "c", 2, retries=1),
    REQUEUE: JobRequeued("j"),
    CANCEL: JobCancelled("j"),
}
SILENT: Message = ("silent",)
GONE: Message = ("gone",)
AGAIN = "again"
"""The last word of a start that comes for the second time: only such a one may have to be refused."""


class Entry(NamedTuple):
    """An attempt in a spool; stop: reason of an order to stop, empty = none."""

    attempt: int
    stage: str
    stop: str = ""


class Host(NamedTuple):
    """One host and its connection.

    is_up   : its agent lives
    last    : largest attempt ever started here
    spool   : by attempt
    linked  : there is a connection
    open    : over which the service may speak: it has taken its inventory
    coming  : what came from here and the service has not taken yet
    going   : what the service has sent and the agent has not read yet, also over a connection that broke meanwhile
    lease   : held, over (no process of it lives), told (and the service knows)
    """

    is_up: bool = True
    last: int = 0
    spool: tuple[Entry, ...] = ()
    linked: bool = False
    open: bool = False
    coming: tuple[Message, ...] = ()
    going: tuple[Message, ...] = ()
    lease: str = "held"


class World(NamedTuple):
    """All of it.

    document  : number of the service's committed state
    asked     : what people will ask for, in order
    faults    : how many may still come
    doubles   : how many messages may still come twice, at once or after all that was on the way
    ran       : attempts whose command was ever started
    longest_round : so many things may the service take in before it commits, and sends what came of them
    """

    is_up: bool
    document: int
    asked: tuple[str, ...]
    faults: int
    hosts: tuple[Host, ...]
    ran: frozenset[int] = frozenset()
    longest_round: int = 1
    doubles: int = 0


def _event(machine: str, message: Message) -> Event:
    match message:
        case ("inventory", last, held):
            known = tuple(
                Held(attempt, is_alive=stage in STAGES, exit=None if stage in STAGES else Exit(stage))
                for attempt, stage in held
            )
            return MachineReported(machine, "boot", last, known)
        case ("running", attempt):
            return TaskRunning(attempt)
        case ("ended", attempt, reason):
            return TaskEnded(attempt, OUTCOMES.get(reason, Outcome.FAILED), Exit(reason))
        case ("silent",):
            return MachineSilent(machine)
        case _:
            assert message == GONE
            return MachineGone(machine)


def begin(asked: tuple[str, ...], faults: int, longest_round: int = 1, doubles: int = 0) -> World:
    """Service and agents are up and know nothing yet of each other."""
    document, _ = decide(BEGIN, tuple(MachineSilent(machine) for machine in MACHINES))
    hosts = (Host(), Host())
    return World(True, document, asked, faults, hosts, longest_round=longest_round, doubles=doubles)  # noqa: FBT003


# Small changes of a world


def put(world: World, at: int, host: Host) -> World:
    """The world with another host."""
    return world._replace(hosts=(*world.hosts[:at], host, *world.hosts[at + 1 :]))


def say(host: Host, message: Message) -> Host:
    """The agent sends a message, if it lives and is connected."""
    return host._replace(coming=(*host.coming, message)) if host.is_up and host.linked else host


def stage(host: Host, entry: Entry, now: str) -> Host:
    """An attempt comes to another stage."""
    return host._replace(spool=tuple(each._replace(stage=now) if each == entry else each for each in host.spool))


def broken(host: Host) -> Iterator[Host]:
    """The connection breaks; of what is on the way to the service, any end may be lost."""
    coming = host.coming
    while True:
        if coming and coming[-1] in {SILENT, GONE}:
            yield host._replace(linked=False, open=False, coming=coming)
            return
        yield host._replace(linked=False, open=False, coming=(*coming, SILENT))
        if not coming:
            return
        coming = coming[:-1]


# Steps that need no fault


def steps(world: World) -> Iterator[World]:
    """All that may happen next without a fault; what the service does comes with the crashes in the midst of it."""
    for made, _ in service_steps(world):
        yield made
    for at, host in enumerate(world.hosts):
        for after, started in host_steps(world, host):
            yield put(world._replace(ran=world.ran | started), at, after)


def service_steps(world: World) -> Iterator[tuple[World, World]]:
    """(after it, committed and nothing sent): for every decision of the service that may be next."""
    if not world.is_up:
        document, _ = decide(world.document, tuple(MachineSilent(machine) for machine in MACHINES))
        back = world._replace(is_up=True, document=document)
        yield back, back
        return
    rounds: list[tuple[World, tuple[Event, ...]]] = [(world, ())]
    for _ in range(world.longest_round):
        rounds = [(taken, (*before, event)) for at, before in rounds for taken, event in _next(at)]
        for taken, events in rounds:
            yield _decided(taken, events)


def _next(world: World) -> Iterator[tuple[World, Event]]:
    """What the service may take in next, and the world without it."""
    if world.asked:
        yield world._replace(asked=world.asked[1:]), EVENTS[world.asked[0]]
    for at, host in enumerate(world.hosts):
        if host.coming:
            message, *rest = host.coming
            is_latest = host.linked and not any(each == SILENT or each[0] == "inventory" for each in rest)
            is_open = host.open or (message[0] == "inventory" and is_latest)
            yield put(world, at, host._replace(coming=tuple(rest), open=is_open)), _event(MACHINES[at], message)


def _decided(world: World, events: tuple[Event, ...]) -> tuple[World, World]:
    """After the commit and everything sent, and after the commit alone."""
    document, sent = decide(world.document, events)
    committed = world._replace(document=document)
    hosts = list(committed.hosts)
    for at, message in sent:
        if hosts[at].open:
            hosts[at] = hosts[at]._replace(going=(*hosts[at].going, message))
    return committed._replace(hosts=tuple(hosts)), committed


def host_steps(world: World, host: Host) -> Iterator[tuple[Host, frozenset[int]]]:
    """What agent and supervisors of a host may do next, with the attempts whose command is started by it."""
    nothing: frozenset[int] = frozenset()
    for entry in host.spool:
        if entry.stage == FORKED:
            yield say(stage(host, entry, RUNS), ("running", entry.attempt)), frozenset({entry.attempt})
        elif entry.stage == RUNS:
            for reason in ("finished", entry.stop) if entry.stop else ("finished",):
                yield say(stage(host, entry, reason), ("ended", entry.attempt, reason)), nothing
        elif host.is_up and entry.stage in {ORDERED, ORPHANED}:
            reason = "refused" if entry.stage == ORDERED else "failed"
            yield say(stage(host, entry, reason), ("ended", entry.attempt, reason)), nothing
    if not host.is_up:
        # Whoever renames an order first has it: a supervisor that was slow finds that it may not start.
        spool = tuple(each._replace(stage="refused") if each.stage in STAGES[:2] else each for each in host.spool)
        yield host._replace(is_up=True, spool=spool), nothing
        return
    if host.going:
        yield received(host), nothing
    if not host.linked and world.is_up:
        inventory = ("inventory", host.last, tuple((each.attempt, each.stage) for each in host.spool))
        linked = host._replace(linked=True, open=False, going=(), lease="held")
        yield say(linked, inventory), nothing


def lease_steps(world: World) -> Iterator[World]:
    """Time without a connection: the lease of a host ends, and later the service's own count of it.

    An agent that was killed is started again before (docs/attempts.md, rule 4), so that no orphan is left.
    """
    host = world.hosts[1]
    if host.linked:
        return
    if host.lease == "held" and all(each.stage not in {ORDERED, ORPHANED} for each in host.spool):
        spool = tuple(each._replace(stage="host_lost") if each.stage in STAGES else each for each in host.spool)
        yield put(world, 1, host._replace(lease="over", spool=spool))
    elif host.lease == "over" and world.is_up:
        yield put(world, 1, host._replace(lease="told", coming=(*host.coming, GONE)))


def received(host: Host) -> Host:  # noqa: PLR0911 - a table of answers
    """The agent takes a message (rules 1 and 2)."""
    message, *rest = host.going
    host = host._replace(going=tuple(rest))
    attempt = message[1]
    held = next((each for each in host.spool if each.attempt == attempt), None)
    match message[0]:
        case "start" if held is not None:
            if held.stage == RUNS:
                return say(host, ("running", attempt))
            return host if held.stage in STAGES else say(host, ("ended", attempt, held.stage))
        case "start" if attempt <= host.last and AGAIN in message:
            return say(host, ("ended", attempt, "refused"))
        case "start" if attempt <= host.last:
            raise AssertionError(f"the start of {attempt} comes when it must be refused")
        case "start" if host.lease != "held":  # it came before the connection broke, and is read now
            return say(host._replace(last=attempt), ("ended", attempt, "refused"))
        case "start":
            return host._replace(last=attempt, spool=(*host.spool, Entry(attempt, FORKED)))
        case "stop" if held is not None and held.stage in STAGES:
            told = held._replace(stop=held.stop or message[2])
            return host._replace(spool=tuple(told if each == held else each for each in host.spool))
        case "forget" if held is not None and held.stage not in STAGES:
            return host._replace(spool=tuple(each for each in host.spool if each != held))
        case _:
            return host


# Faults


def faults(world: World) -> Iterator[World]:
    """Every single fault that may happen next."""
    if world.doubles:
        yield from _doubled(world._replace(doubles=world.doubles - 1))
    if not world.faults:
        return
    world = world._replace(faults=world.faults - 1)
    if world.is_up:
        yield service_killed(world)
        for _, committed in service_steps(world):
            yield service_killed(committed)
    for at, host in enumerate(world.hosts):
        for entry in host.spool:
            if entry.stage in {FORKED, RUNS}:
                yield put(world, at, stage(host, entry, ORDERED if entry.stage == FORKED else ORPHANED))
        if host.linked:
            for after in broken(host):
                yield put(world, at, after)
        if host.is_up:
            for after in broken(host) if host.linked else (host,):
                for spool, last in _in_the_midst(host):
                    yield put(world, at, after._replace(is_up=False, going=(), spool=spool, last=last))


def _doubled(world: World) -> Iterator[World]:
    """The next message of a host, or for it, comes twice."""
    for at, host in enumerate(world.hosts):
        if host.coming and host.coming[0][0] in {"running", "ended"}:
            for coming in _twice(host.coming, host.coming[0]):
                yield put(world, at, host._replace(coming=coming))
        if host.going:
            message = host.going[0]
            for going in _twice(host.going, (*message, AGAIN) if message[0] == "start" else message):
                yield put(world, at, host._replace(going=going))


def _twice(messages: tuple[Message, ...], again: Message) -> Iterator[tuple[Message, ...]]:
    """The first message once more: at once, and after all that is on the way."""
    yield (messages[0], again, *messages[1:])
    if len(messages) > 1:
        yield (*messages, again)


def service_killed(world: World) -> World:
    """The service loses its memory and its connections; what was sent may still be read."""
    hosts = (
        host._replace(linked=False, open=False, coming=(), lease="over" if host.lease == "told" else host.lease)
        for host in world.hosts
    )
    return world._replace(is_up=False, hosts=tuple(hosts))


def _in_the_midst(host: Host) -> Iterator[tuple[tuple[Entry, ...], int]]:
    """What is on the disk when an agent is killed: between two messages, or while it carries out a start."""
    yield host.spool, host.last
    if host.going and host.going[0][0] == "start" and host.going[0][1] > host.last:
        attempt = host.going[0][1]
        yield host.spool, attempt
        yield (*host.spool, Entry(attempt, ORDERED)), attempt


# What must be true


def check(world: World) -> None:
    """Of every state."""
    booked = attempts_of(world.document)
    tasks = set()
    for machine, host in zip(MACHINES, world.hosts, strict=True):
        for entry in host.spool:
            if entry.stage in STAGES and entry.stage != ORDERED:
                assert entry.attempt in booked, f"attempt {entry.attempt} lives, and its slot is free"
                task, place = booked[entry.attempt]
                assert place == machine
                assert task not in tasks, f"task {task} runs twice"
                tasks.add(task)


def settled(world: World) -> None:
    """At the end, when nothing more can happen: no task and no slot is left."""
    cluster = cluster_of(world.document)
    assert not cluster.attempts, f"slots that never come back: {[*cluster.attempts]}"
    assert all(job.is_over for job in cluster.jobs.values()), "a task waits for ever"
    assert all(not host.spool for host in world.hosts), "a spool is never cleared"


def opened(world: World) -> World | None:
    """Somebody opens the machines that refused too often, and asks nothing else; None where none is shut."""
    shut = [name for name, each in cluster_of(world.document).machines.items() if each.shut is not None]
    if not shut:
        return None
    return _decided(world, (MachineOpened(shut[0]),))[0]
