"""The engine of the live service: runs tasks through agents on hosts (docs/attempts.md)."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from fairhold.engines.agents.questions import AgentAwayError, Questions
from fairhold.engines.agents.rank import Rank
from fairhold.engines.agents.routes import Routes
from fairhold.engines.agents.settings import AgentSettings
from fairhold.engines.agents.talk import Clear, Talk
from fairhold.engines.agents.wire import Wire
from fairhold.orchestrator.instructions import Start

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from concurrent.futures import Future

    from fairhold.engines.agents.authority import Authority
    from fairhold.engines.agents.link import Link
    from fairhold.engines.agents.listening import Doors
    from fairhold.engines.agents.machine import MachineStatus
    from fairhold.engines.agents.questions import Question
    from fairhold.engines.agents.routes import Order, Report
    from fairhold.engines.agents.talk import Posted
    from fairhold.model.spec import Spec


class Agents:
    """The service's end of all agents: instructions go in, events come out; see the port in docs/attempts.md.

    doors     : listening sockets for agents; closed with this
    secret    : shared with the agents, see `the_secret`
    spec_of   : what a job runs; called in the thread that calls `execute`
    on_events : is called, from a thread of this class, when `events` has something; must not wait
    own_host  : the plan's name of the service's own machine; a start for a host of that name, for none, or for one
                whose agent was never connected goes to the own machine
    awaited   : other machines that may still run attempts from before the service's start, with their spools; each
                reports, or counts as gone when a lease has run out since the start
    lease_before : seconds of the longest lease that they may have from before
    complain  : called, from that thread, with faults of connections
    is_planned : whether the plan has a host of this name; called in a thread of this class
    handed_out : names of the resources that the plan hands out; called in that thread, too
    authority : that signs for agents that speak TLS; None where the doors have none for them
    rank      : by which this service leads, said to agents with every order; ahead: is told of an agent that has taken
                orders of a later one. Both are called in the threads that speak
    now       : instant, of the clock that sets the deadlines of notices: what is left of a grace is counted by it;
                called in a thread of this class
    clock     : seconds that do not go back. A test that sets one of them calls `wake`

    A machine gets instructions after `events` has given its MachineReported. Instructions for a machine that is not
    connected are dropped: the orchestrator repeats what is still needed after the next MachineReported.
    """

    def __init__(
        self,
        *,
        doors: Doors,
        secret: bytes,
        spec_of: Callable[[str], Spec],
        now: Callable[[], int],
        on_events: Callable[[], None] = lambda: None,
        own_host: str = "",
        awaited: Mapping[str, str] | None = None,
        lease_before: float = 0.0,
        is_planned: Callable[[str], bool] = lambda _: True,
        handed_out: Callable[[], Collection[str]] = tuple,
        authority: Authority | None = None,
        settings: AgentSettings | None = None,
        rank: Callable[[], Rank] = Rank,
        ahead: Callable[[str], None] = lambda _: None,
        complain: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._doors = doors
        self._spec_of = spec_of
        self._settings = settings = settings or AgentSettings()
        self._on_events, self._complain, self._clock = on_events, complain, clock
        self._lock, self._floor = threading.Lock(), threading.Lock()
        """The second is held by who speaks: the thread of the connections, or for a moment the one that has orders."""
        self._routes = Routes(own_host, awaited or ())
        self._posted: list[Posted] = []
        self._reports: list[tuple[Report, Link | None]] = []
        self._old: dict[Link, list[str]] = {}
        self._questions, self._is_closing, self._has_news = Questions(), False, False
        self._looks_at = 0.0
        """When the thread of the connections looks at the clock if nothing comes."""
        self._failure: BaseException | None = None
        self.authority, self.address, self.secure_address = authority, doors.address, doors.secure_address
        """Who signs for agents of other machines, and where these connect."""
        self._talk = Talk(
            secret=secret,
            own_host=own_host,
            settings=settings,
            report=self._report,
            asked=self._note_old,
            questions=self._questions,
            complain=complain,
            clock=clock,
            now=now,
            awaited=awaited or {},
            lease_before=lease_before,
            is_planned=is_planned,
            handed_out=handed_out,
            authority=authority,
            rank=rank,
            ahead=ahead,
        )
        secure = (doors.secure, authority.context) if doors.secure and authority else None
        self._wire = self._talk.wire = Wire(
            doors.sockets, self._talk, secret=secret, settings=settings, complain=complain, clock=clock, secure=secure
        )
        self._thread = threading.Thread(target=self._run, name="agents", daemon=True)
        self._thread.start()

    def execute(self, instructions: Iterable[Order]) -> None:
        """Pass instructions on, in order; nothing waits for an agent. Raises what `spec_of` raises.

        They go out at once, in the thread that calls, where the thread of the connections waits for something to come:
        handing them over would cost half a millisecond of two threads that want the interpreter.
        """
        with self._lock:
            for order in instructions:
                link = self._routes.link_for(order)
                if link:
                    self._posted.append((link, order, self._spec_of(order.job) if isinstance(order, Start) else None))
        if not self._floor.acquire(blocking=False):
            self.wake()
            return
        try:
            if not self._is_closing and not self._failure:
                self._carry_out()
            is_earlier = self._has_news or self._talk.due() < self._looks_at
        finally:
            self._floor.release()
        if is_earlier:
            self.wake()

    def events(self) -> list[Report]:
        """What came since the last call; never waits. Raises RuntimeError when the connections are served no more."""
        with self._lock:
            if self._failure:
                raise RuntimeError("agent connections are no longer served") from self._failure
            drained, self._reports = self._reports, []
            for report, link in drained:
                self._routes.told(report, link)
        if len(drained) >= self._settings.reports:
            self.wake()
        return [report for report, _ in drained]

    def answer_old(self, forgotten: Callable[[list[str]], list[str]]) -> None:
        """Answer agents that ask about jobs whose folders they hold.

        forgotten : those of some jobs that nobody knows any more; when it fails, it is asked again with the next call
        """
        with self._lock:
            asked = list(self._old.items())
        for link, jobs in asked:
            answer = [] if link.is_closed else forgotten(jobs)
            with self._lock:
                del self._old[link]
                self._posted.append((link, Clear(answer), None))
        if asked:
            self.wake()

    def ask(self, machine: str, question: Question) -> Future[Any]:
        """Ask the agent of a machine about files: a Piece, a list of Entry, None where there is no such thing.

        Who gives up cancels the future. Raises AgentAwayError, also in the future, and AgentBusyError.
        """
        with self._lock:
            link = self._routes.link_to(machine)
            if link is None or self._is_closing:
                raise AgentAwayError("the agent is not connected")
            asked, future = self._questions.put(link, question)
            self._posted.append((link, asked, None))
        self.wake()
        return future

    def revoke(self, host: str) -> int:
        """Let the certificates of a host count no more, and end its connection; the instant. There is an authority."""
        assert self.authority is not None
        at = self.authority.revoke(host)
        self.wake()
        return at

    def status(self) -> tuple[MachineStatus, ...]:
        """All machines by name, the service's own (an empty name) first."""
        return self._talk.status()

    def wake(self) -> None:
        """Let the thread look at the clock, and at what there is to do."""
        with self._lock:
            if not self._is_closing:
                self._wire.wake()

    def close(self) -> None:
        """End all connections; agents and tasks go on. May be called twice."""
        with self._lock:
            is_first = not self._is_closing
            if is_first:
                self._is_closing = True
                self._wire.wake()
        self._thread.join()
        if is_first:
            with self._floor:
                self._wire.close()
            self._questions.lost()
            self._doors.close()

    def _run(self) -> None:
        try:
            while not self._is_closing:
                with self._floor:
                    is_choked = len(self._reports) >= self._settings.reports
                    due = self._looks_at = self._wire.due(self._talk.due(), is_choked=is_choked)
                ready = self._wire.wait(due)
                with self._floor:
                    self._wire.serve(ready)
                    self._carry_out()
                if self._has_news:
                    self._has_news = False
                    self._on_events()
            with self._floor:
                self._carry_out()  # what was ordered before `close` and can go at once
        except BaseException as error:  # noqa: BLE001 - whatever it is, the service must not go on as if all were well
            self._failure = error
            self._complain(f"agent connections are no longer served: {error!r}")
            self._on_events()

    def _carry_out(self) -> None:
        """What is posted and whose turn it is; by who has the floor."""
        with self._lock:
            posted, self._posted = self._posted, []
        self._talk.carry_out(posted)
        self._talk.pass_time(self._clock())

    def _note_old(self, link: Link, jobs: list[str]) -> None:
        with self._lock:
            self._old[link] = jobs

    def _report(self, report: Report, link: Link | None) -> None:
        with self._lock:
            self._reports.append((report, link))
        self._has_news = True
