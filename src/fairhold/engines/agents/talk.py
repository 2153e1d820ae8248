"""The conversation with agents over their connections (docs/attempts.md); used by one thread at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.agent.frames import VERSION, FrameError
from fairhold.engines.agents import messages, reports
from fairhold.engines.agents.lease import Leases
from fairhold.engines.agents.limits import limits_missing, said_of
from fairhold.engines.agents.link import BrokenLinkError, Link, NotEnrolledError
from fairhold.engines.agents.machine import Machine, MachineStatus, Waiting
from fairhold.engines.agents.pace import Pace
from fairhold.engines.agents.questions import Asked
from fairhold.engines.agents.rank import Rank
from fairhold.engines.agents.routes import OWN
from fairhold.errors import printable
from fairhold.orchestrator.events import (
    Exit,
    MachineGone,
    MachineReported,
    MachineSilent,
    Outcome,
    TaskEnded,
    TaskRunning,
)
from fairhold.orchestrator.instructions import Notify, Start, Stop, Withdraw
from fairhold.ports import StoreError
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from fairhold.engines.agents.authority import Authority
    from fairhold.engines.agents.questions import Questions
    from fairhold.engines.agents.routes import Order, Report
    from fairhold.engines.agents.settings import AgentSettings
    from fairhold.engines.agents.wire import Wire
    from fairhold.model.spec import Spec

    Posted = tuple[Link, Order | "Clear" | Asked, Spec | None]
    """An instruction or a question, the connection that it is for, and what to run where it is a start."""

_LOW = 256 * 1024
"""Bytes that wait to be sent, from which on starts wait in their queue."""
_RENEW_AGAIN = 86_400 * SECOND
"""How long an agent that could not keep its new certificate waits for the next."""
_FORGOTTEN = 10_000
"""Numbers of attempts in one `forget`."""


class Clear(NamedTuple):
    """The answer to an agent that has asked which jobs are forgotten."""

    jobs: list[str]


class Talk:
    """All machines that were ever connected, and the leases of those that have some.

    report  : is given every event with the connection it came over, in order
    asked   : is given jobs that an agent asks about, with its connection
    questions : is given the answers of agents
    clock   : seconds that do not go back; now : instant
    awaited : other machines that may still run something from before the service's start, with their spools
    lease_before : seconds of the leases that they may have
    is_planned : whether the plan has a host of this name, asked for agents of other machines
    handed_out : names of the resources that the plan hands out
    rank      : by which this service leads; ahead: is told of an agent that knows of a later one
    authority : that signs for agents that speak TLS, None = none do
    """

    wire: Wire
    """Set before the first round."""

    def __init__(
        self,
        *,
        secret: bytes,
        own_host: str,
        settings: AgentSettings,
        report: Callable[[Report, Link | None], None],
        asked: Callable[[Link, list[str]], None],
        questions: Questions,
        complain: Callable[[str], None],
        clock: Callable[[], float],
        now: Callable[[], int],
        awaited: Mapping[str, str],
        lease_before: float,
        is_planned: Callable[[str], bool] = lambda _: True,
        handed_out: Callable[[], Collection[str]] = tuple,
        authority: Authority | None = None,
        rank: Callable[[], Rank] = Rank,
        ahead: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._authority, self._revision = authority, 0
        self._rank, self._ahead = rank, ahead
        self._secret = secret
        self._own_host = own_host
        self._settings = settings
        self._report = report
        self._asked = asked
        self._questions = questions
        self._complain = complain
        self._clock = clock
        self._now = now
        self._is_planned, self._handed_out = is_planned, handed_out
        self._unplanned: set[str] = set()
        self._machines: dict[str, Machine] = {}
        self._busy: dict[str, Machine] = {}
        self._leases = Leases(settings.lease)
        self._machine(OWN)
        for name, spool in awaited.items():
            if name != OWN:
                machine = self._machine(name)
                machine.spool, machine.is_bound = spool, True
                self._leases.promise(name, clock(), max(lease_before, settings.lease))
                self._leases.broken(name)

    def status(self) -> tuple[MachineStatus, ...]:
        """All machines by name; may be called from any thread."""
        machines = self._machines  # replaced, never changed
        return tuple(machines[name].status() for name in sorted(machines))

    def due(self) -> float:
        """When there is something to do that no connection tells of."""
        due = self._leases.due()
        turns = [machine.pace.next_at() for machine in self._busy.values() if machine.link and not _is_full(machine)]
        return min(turns, default=float("inf")) if due is None else min([due, *turns])

    # -- what agents say

    def hear(self, link: Link, message: Mapping[str, Any], now: float) -> None:
        """A message of an agent; one that is not known here is left alone. Raises ValueError, BrokenLinkError."""
        what = message.get("type")
        if link.machine is None:
            if what == "enrol":
                self._enrol(link, message)
            else:
                self._greet(link, reports.inventory(message), now)
            return
        if what == "beat":
            machine = self._machines[link.machine]
            machine.beat = self._now()
            if not link.is_own:
                beat = reports.number(message, "n")
                self._leases.promise(machine.name, now)
                self._renew(link)
                self._say(link, messages.lease(beat))
        elif what == "running":
            self._report(TaskRunning(reports.number(message, "attempt")), link)
        elif what == "old":
            self._asked(link, reports.old_jobs(message))
        elif what in ("piece", "listing"):
            self._questions.answered(link, message)
        elif what in ("ended", "refused"):
            event = reports.ended(message) if what == "ended" else reports.refused(message)
            link.known.discard(event.attempt)
            self._report(replace(event, machine=link.machine), link)

    def lost(self, link: Link, why: str) -> None:
        """A connection broke: what its machine runs is unknown, what was not sent is ordered again later."""
        assert link.machine is not None
        machine = self._machines[link.machine]
        self._complain(f"the agent of {machine.name or 'this machine'} is not connected any more: {why}")
        machine.link, machine.since, machine.is_bound = None, self._now(), bool(link.known)
        machine.drop_waiting()
        self._busy.pop(machine.name, None)
        self._leases.broken(machine.name)
        self._questions.lost(link)
        self._report(MachineSilent(machine.name), link)

    def _greet(self, link: Link, inventory: reports.Inventory, now: float) -> None:
        """The first message of an agent; an older connection of the same machine is given up."""
        if inventory.version != str(VERSION):
            raise BrokenLinkError(f"the agent speaks version {inventory.version}, this service {VERSION}")
        name = OWN if link.is_own else inventory.host
        if not link.is_own and name in (OWN, self._own_host):
            raise BrokenLinkError("an agent of another machine gives the name of the service's own")
        self._certify(link, inventory.host)
        self._look_whether_outdone(inventory)
        machine = self._machine(name)
        if not link.is_own and inventory.spool != machine.spool and machine.spool:
            self._refuse_another(machine, now)
        if machine.link:
            self.wire.give_up(machine.link, "a newer connection took its place")
        machine.spool = inventory.spool
        link.machine, machine.link = name, link
        link.known.update(held.attempt for held in inventory.held)
        machine.since, machine.beat, machine.gone_at = self._now(), 0, 0
        machine.host, machine.version, machine.slots = inventory.host, inventory.version, inventory.slots
        self._leases.connected(name)
        if not link.is_own:
            self._leases.promise(name, now)
            self._leases.promise(name, now, inventory.lease)
        self._report(
            MachineReported(name, inventory.boot, inventory.last, inventory.held, inventory.spool, inventory.labels),
            link,
        )
        own = messages.welcome(None, None)  # the service clears its own machine
        self._say(link, own if link.is_own else messages.welcome(self._settings.lease, self._settings.keep or None))
        if not link.is_own:
            self._look_up(link, name)
        machine.enforced = inventory.enforced
        self._say_what_is_missing(machine)

    def _look_whether_outdone(self, inventory: reports.Inventory) -> None:
        """Look whether an agent knows of more than this service, and can prove it. Raises BrokenLinkError."""
        rank, (term, tail) = self._rank(), (inventory.term, inventory.tail)
        if not (why := rank.outdone(term, tail)):
            return
        if not rank.is_proved(term, tail, inventory.proof):
            who = printable(inventory.host)
            self._complain(f"the agent of {who} {why}, as it says: no service has told it so, and it does not count")
            return
        self._ahead(f"the agent of {printable(inventory.host)} {why}")
        raise BrokenLinkError(f"it {why}")

    def _certify(self, link: Link, host: str) -> None:
        """Look whether who speaks TLS is the host that it says. Raises BrokenLinkError."""
        if link.tunnel is None or self._authority is None:
            return
        try:
            link.certified = self._authority.check(link.tunnel.peer)
        except NotEnrolledError as error:
            raise BrokenLinkError(str(error)) from error
        if link.certified.host != host:
            raise BrokenLinkError(f"its certificate is of {printable(link.certified.host)}, not of {printable(host)}")

    def _renew(self, link: Link) -> None:
        """Give a host another certificate in time."""
        if link.certified is None or self._authority is None or self._now() < link.certified.renew_at:
            return
        assert link.tunnel is not None
        self._say(link, messages.certificate(self._authority.renewed(link.tunnel.certificate)))
        link.certified = link.certified._replace(renew_at=self._now() + _RENEW_AGAIN)

    def _enrol(self, link: Link, message: Mapping[str, Any]) -> None:
        """Give a host a certificate for its code; it connects again with that. Raises BrokenLinkError, ValueError."""
        if link.tunnel is None or self._authority is None:
            raise BrokenLinkError("a host can enrol only where TLS is spoken")
        host, code, request = (reports.field(message, name, str) for name in ("host", "code", "request"))
        try:
            made = self._authority.enrol(host, code, request)
        except NotEnrolledError as error:
            self._say(link, messages.not_enrolled(str(error)))
            raise BrokenLinkError(f"it cannot enrol as {printable(host[:255])}: {error}") from error
        except StoreError as error:
            raise BrokenLinkError(error.what) from error
        self._complain(f"{printable(host)} has enrolled, from {link.peer}")
        self._say(link, messages.enrolled(made, self._authority.certificate))
        link.is_done = True

    def _drop_revoked(self) -> None:
        """Give up connections whose certificate counts no more."""
        if self._authority is None or self._authority.revision == self._revision:
            return
        self._revision = self._authority.revision
        for machine in list(self._machines.values()):
            link = machine.link
            if link is not None and link.tunnel is not None:
                try:
                    self._authority.check(link.tunnel.peer)
                except NotEnrolledError as error:
                    self.wire.give_up(link, str(error))

    def _say_what_is_missing(self, machine: Machine) -> None:
        """Limits that a host does not keep though the plan hands the resource out; people are told once."""
        missing = () if machine.enforced is None else limits_missing(machine.enforced, self._handed_out())
        if missing and missing != machine.missing:
            self._complain(said_of(printable(machine.host), missing))
        machine.missing = missing

    def _look_up(self, link: Link, name: str) -> None:
        """Tell who gives a name that the plan does not have; people are told once."""
        if self._is_planned(name):
            self._unplanned.discard(name)
            return
        if name not in self._unplanned:
            self._unplanned.add(name)
            what = f"an agent is connected as {printable(name)}, and the plan has no host of this name"
            self._complain(f"{what}: nothing is started there")
        self._say(link, messages.unplanned())

    def _refuse_another(self, machine: Machine, now: float) -> None:
        """An agent with another spool knows nothing of what the one before runs. Raises BrokenLinkError."""
        if machine.link:
            raise BrokenLinkError(f"another agent is connected as {machine.name}; give each host its own name")
        if machine.is_bound and self._leases.runs(machine.name, now):
            what = f"its spool is new, and the lease of what {machine.name} ran before has not ended"
            raise BrokenLinkError(f"{what}; it can connect when it has")

    # -- what agents are told

    def carry_out(self, posted: Iterable[Posted]) -> None:
        """Instructions in their order; those for a connection that is closed are dropped."""
        forgotten: dict[Link, list[int]] = {}
        told: dict[Link, None] = {}
        for link, order, spec in posted:
            if link.is_closed or link.machine is None:
                self._questions.lost(link)
                continue
            machine = self._machines[link.machine]
            if isinstance(order, Start):
                assert spec is not None
                machine.put(order, spec)
                self._busy[machine.name] = machine
                continue
            told[link] = None
            if isinstance(order, Notify | Withdraw):
                self._notify(machine, link, order)
            elif isinstance(order, Stop):
                self._stop(machine, link, order)
            elif isinstance(order, Clear):
                self._say(link, messages.clear(order.jobs))
            elif isinstance(order, Asked):
                self._say(link, messages.question(order))
            else:
                link.known.discard(order.attempt)
                forgotten.setdefault(link, []).append(order.attempt)
        for link, attempts in forgotten.items():
            for first in range(0, len(attempts), _FORGOTTEN):
                self._say(link, messages.forget(attempts[first : first + _FORGOTTEN]))
        for link in told:
            self.wire.flush(link)

    def pass_time(self, now: float) -> None:
        """Send the starts whose turn it is; say which machines are gone."""
        self._drop_revoked()
        for machine in list(self._busy.values()):
            link = machine.link
            while link and machine.waiting and not _is_full(machine) and machine.pace.take(now):
                self._start(link, machine.next_start())
                link = machine.link
            if link:
                self.wire.flush(link)
            if not machine.waiting:
                self._busy.pop(machine.name, None)
        for name in self._leases.gone(now):
            self._machines[name].gone_at = self._now()
            self._report(MachineGone(name), None)

    def _notify(self, machine: Machine, link: Link, order: Notify | Withdraw) -> None:
        notice = order if isinstance(order, Notify) else None
        waiting = machine.waiting.get(order.attempt)
        if waiting:
            waiting.notice = notice
        else:
            self._say(link, messages.notice(notice, self._now()) if notice else messages.withdraw(order.attempt))

    def _stop(self, machine: Machine, link: Link, order: Stop) -> None:
        """Stop an attempt; one that was never sent is over without the agent."""
        if machine.waiting.pop(order.attempt, None) and order.attempt not in link.known:
            ended = Exit(order.reason, detail="it was stopped before it was sent")
            self._report(TaskEnded(order.attempt, Outcome.STOPPED, ended), link)
        else:
            seconds = self._settings.stop_grace if order.reason in ("cancel", "requeue", "host_lost") else 0.0
            self._say(link, messages.stop(order.attempt, order.reason, seconds))

    def _start(self, link: Link, waiting: Waiting) -> None:
        start = waiting.start
        message = messages.start(
            start,
            waiting.spec,
            secret=self._secret,
            weight=self._settings.weight,
            output_limit=self._settings.output,
            is_own=link.is_own,
        )
        try:
            self.wire.send(link, self._rank().stamped(message))
        except FrameError as error:
            ended = Exit("not_started", detail=f"too much to send to the agent: {error}")
            self._report(TaskEnded(start.attempt, Outcome.FAILED, ended), link)
            return
        link.known.add(start.attempt)
        if waiting.notice:
            self._say(link, messages.notice(waiting.notice, self._now()))

    def _say(self, link: Link, message: messages.Message) -> None:
        """Send a message that is always short enough."""
        self.wire.send(link, self._rank().stamped(message))
        self.wire.flush(link)

    def _machine(self, name: str) -> Machine:
        if name not in self._machines:
            machine = Machine(name, Pace(self._settings.starts_per_second), self._now())
            self._machines = {**self._machines, name: machine}
        return self._machines[name]


def _is_full(machine: Machine) -> bool:
    return machine.link is not None and machine.link.backlog >= _LOW
