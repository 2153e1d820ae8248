"""Machines with agents: what they report, their silence, their end (docs/attempts.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.ending import OUTCOMES, end, run
from fairhold.orchestrator.events import Exit, Outcome, TaskEnded, TaskRunning
from fairhold.orchestrator.instructions import Forget, Notify, Stop, Withdraw
from fairhold.orchestrator.vectors import grace_of

if TYPE_CHECKING:
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.events import (
        Held,
        MachineClosed,
        MachineGone,
        MachineOpened,
        MachineReported,
        MachineSilent,
    )
    from fairhold.orchestrator.handle import Orchestrator

HOST_LOST = "host_lost"
"""Reason of an end, and of the stop of a gang, where a host is lost."""


def report(live: Orchestrator, event: MachineReported) -> None:
    """An agent has connected: reconcile the service's records with what the machine holds."""
    known = live.cluster.machines.get(event.machine)
    is_another_start = known is not None and known.boot not in {"", event.boot}
    is_another_spool = known is not None and known.spool not in {"", event.spool}
    live.do(say.MachineSeen(event.machine, event.boot, event.spool, event.labels))
    if event.last >= live.cluster.next_attempt:  # the log is an earlier one that came back
        live.do(say.AttemptNumbersTaken(event.last))
    held = {each.attempt: each for each in event.held}
    ended: list[TaskEnded] = []
    for attempt in live.cluster.on(event.machine):
        if attempt.machine != event.machine:
            if is_another_start:
                live.stop(attempt, HOST_LOST)
            continue
        found = held.pop(attempt.name, None)
        if found is None:
            ended += _missing(live, attempt, event.last, forgot=is_another_start or is_another_spool)
        elif found.exit is not None:
            outcome = OUTCOMES.get(found.exit.reason, Outcome.FAILED)
            ended.append(TaskEnded(attempt.name, outcome, found.exit))
        else:
            _found(live, attempt, found)
    for stray in held.values():
        _stray(live, event.machine, stray)
    for each in ended:  # last: their slots may be handed on, and starts come by rising number
        end(live, each)
    live.changed_all()


def _missing(live: Orchestrator, attempt: Attempt, last: int, *, forgot: bool) -> tuple[TaskEnded, ...]:
    """Handle an attempt that the machine does not hold: the order never arrived (see `Outbox`), or its end was lost.

    forgot : the host was restarted, perhaps after a power failure, or has another spool: `last` may be out of date

    Returns its end if it is over.
    """
    if attempt.is_running:
        return (TaskEnded(attempt.name, Outcome.LOST, Exit(HOST_LOST, detail="its record is gone")),)
    if forgot:
        return (TaskEnded(attempt.name, Outcome.LOST, Exit(HOST_LOST, detail="its host has no record of it")),)
    if attempt.name <= last:
        return (TaskEnded(attempt.name, Outcome.LOST, Exit(HOST_LOST, detail="it was not started")),)
    if attempt.stopping:
        return (TaskEnded(attempt.name, Outcome.STOPPED, Exit(attempt.stopping)),)
    live.order(live.start_order(attempt))
    _say_again(live, attempt)
    return ()


def _found(live: Orchestrator, attempt: Attempt, found: Held) -> None:
    """The machine holds an attempt that has not ended: repeat orders that it may not have received."""
    if found.is_alive:
        run(live, TaskRunning(attempt.name))
    _say_again(live, attempt)


def _say_again(live: Orchestrator, attempt: Attempt) -> None:
    if attempt.told is not None:
        live.order(Notify(attempt.name, *attempt.told))
    elif attempt.noticed:  # withdrawn, maybe while nobody could tell it
        live.order(Withdraw(attempt.name))
    if attempt.stopping:
        live.order(Stop(attempt.name, attempt.stopping))


def _stray(live: Orchestrator, machine: str, held: Held) -> None:
    """The machine holds an attempt that is over for the service, or that it has never heard of."""
    if held.exit is None:
        live.order(Stop(held.attempt, "stray", machine))
    else:
        live.order(Forget(held.attempt, machine))


def miss(live: Orchestrator, event: MachineSilent) -> None:
    """The connection to an agent broke: its slots stay booked, and nothing new starts there."""
    live.do(say.MachineMissed(event.machine))
    live.changed_all()


def give_up(live: Orchestrator, event: MachineGone) -> None:
    """The lease of a silent machine has run out: its attempts are over; a gang that runs elsewhere stops whole."""
    if any(group == POOLED and live.cluster.machine_of(host) == event.machine for group, host in live.cluster.hosts):
        live.do(say.MachineLapsed(event.machine))
    for attempt in live.cluster.on(event.machine):
        if attempt.machine == event.machine:
            end(live, TaskEnded(attempt.name, Outcome.LOST, Exit(HOST_LOST, detail="its lease ran out")))
        else:
            live.stop(attempt, HOST_LOST)
    live.changed_all()


def close(live: Orchestrator, event: MachineClosed) -> None:
    """A machine starts nothing more; drained, what runs there is told to leave within its holder's grace, or before."""
    _known(live, event.machine)
    live.do(say.MachineShut(event.machine, event.reason, drains=event.drain))
    if event.drain:
        for attempt in live.cluster.on(event.machine):
            if not attempt.stopping:
                _drain(live, attempt, event.by)
    live.changed_all()


def _drain(live: Orchestrator, attempt: Attempt, by: int) -> None:
    """An attempt is to leave; one that is leaving already has less time where the host is to be empty earlier."""
    deadline = live.now + grace_of(live.books[attempt.job.resource_group], attempt.job.consumer, live.now)
    if by:
        deadline = min(deadline, max(live.now, by))
    if attempt.leaving is None or (by and deadline < attempt.leaving):
        told = attempt.told
        live.do(say.Drained(attempt.name, deadline))
        if attempt.told is not None and attempt.told != told:
            live.order(Notify(attempt.name, *attempt.told))


def open_again(live: Orchestrator, event: MachineOpened) -> None:
    """A closed machine may start work again, and what was to leave it may stay, as far as its other hosts let it."""
    _known(live, event.machine)
    live.do(say.MachineShut(event.machine, None))
    for attempt in live.cluster.on(event.machine):
        drains = any(each.drains for each in live.cluster.machines_of(attempt))
        if attempt.leaving is not None and not attempt.stopping and not drains:
            told = attempt.told
            live.do(say.Undrained(attempt.name))
            if attempt.told is None:
                live.order(Withdraw(attempt.name))
            elif attempt.told != told:
                live.order(Notify(attempt.name, *attempt.told))
    live.changed_all()


def _known(live: Orchestrator, machine: str) -> None:
    names = {live.cluster.machine_of(host) for _, host in live.cluster.hosts} | live.cluster.machines.keys()
    if machine not in names:
        what = f"there is no host `{machine or '-'}`"
        raise InputError([Fault("unknown-host", what, "`fairhold hosts` shows what there is")])
