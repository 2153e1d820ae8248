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
    MachineClosed,
    MachineGone,
    MachineOpened,
    MachineReported,
    MachineSilent,
    Outcome,
    TaskEnded,
    TaskRunning,
)
from tests.protocol.service import BOTH_LEASED, HOSTS, Message, attempts_of, begin_of, cluster_of, decide, gangs_of

if TYPE_CHECKING:
    from collections.abc import Iterator

ORDERED, FORKED, RUNS, ORPHANED, DEAD = "ordered", "forked", "runs", "orphaned", "dead"
"""Stages of an attempt in a spool: written, no supervisor lives; its supervisor lives; its command runs; its command
runs and its supervisor is dead; it died with its host. Everything else is the reason of its exit record."""
STAGES = (ORDERED, FORKED, RUNS, ORPHANED, DEAD)
LIVING = (FORKED, RUNS, ORPHANED)
SUBMIT, GANG, REQUEUE, CANCEL, DRAIN, OPEN = "submit", "gang", "requeue", "cancel", "drain", "open"
EVENTS: dict[str, Event] = {
    SUBMIT: JobSubmitted("j", "/A", "c", 2, retries=1),
    GANG: JobSubmitted("j", "/A", "c", 1, units=2),
    REQUEUE: JobRequeued("j"),
    CANCEL: JobCancelled("j"),
    DRAIN: MachineClosed(HOSTS[1], "repair", drain=True),
    OPEN: MachineOpened(HOSTS[1]),
}
SILENT: Message = ("silent",)
GONE: Message = ("gone",)
LEFT = {ORDERED: "refused", ORPHANED: "supervisor_lost", DEAD: "host_lost"}
"""What the agent writes into the record of an attempt whose supervisor is gone."""
AGAIN = "again"
"""The last word of a start that comes for the second time: only such a one may have to be refused."""


class Entry(NamedTuple):
    """An attempt in a spool; stop: reason of an order to stop, empty = none; notice: it is under one."""

    attempt: int
    stage: str
    stop: str = ""
    notice: bool = False


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
    boot    : how often it was started; disk: which spool it has
    is_old  : the lease in the spool is from before the host's start: on the clock that began again it is far away
    seen    : the spool that the service knows, 0 = none
    known   : what the service believes that a connection has left there; followed while spools can be lost
    """

    is_up: bool = True
    last: int = 0
    spool: tuple[Entry, ...] = ()
    linked: bool = False
    open: bool = False
    coming: tuple[Message, ...] = ()
    going: tuple[Message, ...] = ()
    lease: str = "held"
    boot: int = 1
    disk: int = 1
    is_old: bool = False
    seen: int = 0
    known: frozenset[int] = frozenset()


class World(NamedTuple):
    """All of it.

    document  : number of the service's committed state
    asked     : what people will ask for, in order
    faults    : how many may still come
    doubles   : how many messages may still come twice, at once or after all that was on the way
    restarts  : how often a host may still restart, with its spool or without it
    machines  : names of the hosts' machines; an empty one is the service's own, which has no lease
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
    restarts: int = 0
    machines: tuple[str, ...] = ("", HOSTS[1])


def _event(machine: str, message: Message) -> Event:
    match message:
        case ("inventory", last, held, boot, disk):
            known = tuple(
                Held(attempt, is_alive=stage in STAGES, exit=None if stage in STAGES else Exit(stage))
                for attempt, stage in held
            )
            return MachineReported(machine, f"boot {boot}", last, known, f"spool {disk}")
        case ("running", attempt):
            return TaskRunning(attempt)
        case ("ended", attempt, reason):
            return TaskEnded(attempt, OUTCOMES.get(reason, Outcome.FAILED), Exit(reason), machine)
        case ("silent",):
            return MachineSilent(machine)
        case _:
            assert message == GONE
            return MachineGone(machine)


def begin(
    asked: tuple[str, ...],
    faults: int = 0,
    *,
    longest_round: int = 1,
    doubles: int = 0,
    restarts: int = 0,
    both_leased: bool = False,
    lasts: tuple[int, ...] = (0, 0),
) -> World:
    """Service and agents are up and know nothing yet of each other; the hosts have just been started.

    both_leased: both are of other machines

    lasts : what the hosts have started for a log that was lost: the service has an earlier one back. Of the last of
        them the host knows no end yet
    """
    machines = BOTH_LEASED if both_leased else ("", HOSTS[1])
    document, _ = decide(begin_of(machines), tuple(MachineSilent(machine) for machine in machines))
    return World(
        is_up=True,
        document=document,
        asked=asked,
        faults=faults,
        hosts=tuple(
            Host(last=last, spool=(Entry(last, ORDERED),) if last else (), is_old=bool(machine))
            for last, machine in zip(lasts, machines, strict=True)
        ),
        longest_round=longest_round,
        doubles=doubles,
        restarts=restarts,
        machines=machines,
    )


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
    for at in range(len(world.hosts)):
        for after, started in host_steps(world, at):
            yield put(world._replace(ran=world.ran | started), at, after)


def service_steps(world: World) -> Iterator[tuple[World, World]]:
    """(after it, committed and nothing sent): for every decision of the service that may be next."""
    if not world.is_up:
        document, _ = decide(world.document, tuple(MachineSilent(machine) for machine in world.machines))
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
            yield put(world, at, host._replace(coming=tuple(rest), open=is_open)), _event(world.machines[at], message)


def _decided(world: World, events: tuple[Event, ...]) -> tuple[World, World]:
    """After the commit and everything sent, and after the commit alone."""
    document, sent = decide(world.document, events)
    committed = world._replace(document=document)
    hosts = list(committed.hosts)
    for at, message in sent:
        if hosts[at].open:
            hosts[at] = _told(world, hosts[at], message)
    return committed._replace(hosts=tuple(hosts)), committed


def _told(world: World, host: Host, message: Message) -> Host:
    host = host._replace(going=(*host.going, message))
    if not world.restarts:
        return host
    if message[0] == "start":
        return host._replace(known=host.known | {message[1]})
    return host._replace(known=host.known - {message[1]}) if message[0] == "forget" else host


def let_in(host: Host) -> bool:
    """Whether the service takes an agent with this spool (rule 5)."""
    return host.disk == host.seen or not host.seen or not host.known or host.lease == "told"


def host_steps(world: World, at: int) -> Iterator[tuple[Host, frozenset[int]]]:
    """What agent and supervisors of a host may do next, with the attempts whose command is started by it."""
    host, nothing = world.hosts[at], frozenset[int]()
    for entry in host.spool:
        if entry.stage == FORKED:
            yield say(stage(host, entry, RUNS), ("running", entry.attempt)), frozenset({entry.attempt})
        elif entry.stage == RUNS:
            for reason in filter(None, ("finished", entry.stop, "reclaim" if entry.notice else "")):
                yield say(stage(host, entry, reason), ("ended", entry.attempt, reason)), nothing
        elif host.is_up and entry.stage in LEFT:
            reason = LEFT[entry.stage]
            yield say(stage(host, entry, reason), ("ended", entry.attempt, reason)), nothing
    if not host.is_up:
        # Whoever renames an order first has it: a supervisor that was slow finds that it may not start.
        spool = tuple(each._replace(stage="refused") if each.stage in STAGES[:2] else each for each in host.spool)
        yield host._replace(is_up=True, spool=spool), nothing
        return
    if host.going:
        yield received(host), nothing
    if not host.linked and world.is_up and (not world.machines[at] or let_in(host)):
        held = tuple((each.attempt, each.stage) for each in host.spool)
        known = frozenset(attempt for attempt, _ in held) if world.restarts else frozenset()
        linked = host._replace(linked=True, open=False, going=(), lease="held", seen=host.disk, known=known)
        yield say(linked, ("inventory", host.last, held, host.boot, host.disk)), nothing


def lease_steps(world: World) -> Iterator[World]:
    """Time without a connection: the lease of a host ends, and later the service's own count of it.

    An agent that was killed is started again before (docs/attempts.md, rule 4), so that no orphan is left.
    """
    for at, host in enumerate(world.hosts):
        if host.linked or not world.machines[at]:
            continue
        if host.lease == "held" and all(each.stage != ORPHANED for each in host.spool):
            yield put(world, at, lease_over(host))
        elif host.lease == "over" and world.is_up:
            yield put(world, at, host._replace(lease="told", coming=(*host.coming, GONE)))


def lease_over(host: Host) -> Host:
    """Each supervisor kills its attempt at the end of the lease that it reads."""
    if host.is_old:
        return host._replace(lease="over")
    spool = tuple(each._replace(stage="host_lost") if each.stage in {FORKED, RUNS} else each for each in host.spool)
    return host._replace(lease="over", spool=spool)


def welcomed(host: Host) -> Host:
    """The lease is set anew, shorter too (rule 4)."""
    return host._replace(is_old=False)


def received(host: Host) -> Host:  # noqa: PLR0911 - a table of answers
    """The agent takes a message (rules 1 and 2); the welcome came before every other."""
    message, *rest = host.going
    host = welcomed(host)._replace(going=tuple(rest))
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
            return _noted(host, held, held._replace(stop=held.stop or message[2]))
        case "notice" | "withdraw" if held is not None and held.stage in STAGES:
            return _noted(host, held, held._replace(notice=message[0] == "notice"))
        case "forget" if held is not None and held.stage not in STAGES:
            return host._replace(spool=tuple(each for each in host.spool if each != held))
        case _:
            return host


def _noted(host: Host, entry: Entry, told: Entry) -> Host:
    return host._replace(spool=tuple(told if each == entry else each for each in host.spool))


# What must be true


def check(world: World) -> None:
    """Of every state."""
    gone = {
        machine
        for machine, host in zip(world.machines, world.hosts, strict=True)
        if host.lease == "told" and not host.linked and GONE not in host.coming
    }
    for machines, stop in gangs_of(world.document):
        assert stop or gone.isdisjoint(machines), "a gang goes on without one of its hosts"
    booked = attempts_of(world.document)
    tasks = set()
    for machine, host in zip(world.machines, world.hosts, strict=True):
        is_quiet = host.open and host.is_up and not host.coming and not host.going
        for entry in host.spool:
            if entry.stage in LIVING:
                assert entry.attempt in booked, f"attempt {entry.attempt} lives, and its slot is free"
                task, place, *told = booked[entry.attempt]
                assert place == machine
                assert task not in tasks, f"task {task} runs twice"
                tasks.add(task)
                if is_quiet:
                    assert told == [entry.stop, entry.notice], f"attempt {entry.attempt} was not told {told}"


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
