"""The desk: the thread that owns the live service and runs it in rounds.

A round takes in all that came since the last one (what clients ask for, what agents tell, the time), lets the core
decide, writes everything in one transaction, and only then answers and lets the agents act. So nothing runs, and no
change is confirmed, that a crash could undo, and many who ask at once share one write.

Without room on the disk, or without the database of the store, the desk is in trouble: it keeps what is decided already
in memory, where a crash loses it, refuses changes, and lets agents start nothing. But it may be a task that fills the
disk: what only gives back is taken in (`Freeing`), and what somebody wants stopped is stopped; after a crash it waits
again. Who looks sees what is decided, also where it is not durable yet.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from fairhold.errors import FairholdError, Fault, InputError
from fairhold.ports import StoreError, StoreFull, StoreGone, StoreWaits
from fairhold.runtime.live.recovery import Frozen
from fairhold.store.turns import LOST
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.outbox import Order
    from fairhold.runtime.live.core import Core

    _Call = tuple[Callable[[Core], Any], Future[Any], bool]
    """What is asked, where the answer goes, and whether it is to be written."""

Answer = TypeVar("Answer")
_LOG = logging.getLogger("fairhold")
SNAPSHOT_EVERY = 20_000
"""Entries of the log after which a new snapshot is taken: a start replays no more than so many, and some."""
_IDLE = 3600.0
"""Seconds after which the desk looks again, whatever is due; a lock cannot be waited for without end."""
_RETRY = 0.5
"""Seconds between tries to write when there was no room."""
_BEGUN: dict[type[StoreWaits], str] = {
    StoreFull: "the disk is full: nothing is accepted or started until there is space",
    StoreGone: "the database is gone: nothing is accepted or started until it is back",
}
_OVER: dict[type[StoreWaits], str] = {
    StoreFull: "the disk has space again: pending decisions are written, and work continues",
    StoreGone: "the database is back: pending decisions are written, and work continues",
}
MOST_IN_A_ROUND = 2_000
SLICE = 1_000
"""Jobs that a round gathers for a snapshot: two milliseconds' work."""


@dataclass(frozen=True, slots=True)
class Freeing:
    """Something asked of the core that only gives back, and is done also while there is no room to write it down."""

    ask: Callable[[Core], None]

    def __call__(self, core: Core) -> None:
        """Do it."""
        self.ask(core)


class MustEndError(FairholdError):
    """The service has to end, though nothing has failed."""


class LeadershipLostError(MustEndError):
    """Another service leads, or may lead: this one ends, and its next start waits for its turn."""

    code = "leadership-lost"

    def __init__(self, why: str) -> None:
        super().__init__(f"leadership is lost: {why} [{self.code}]")


@contextmanager
def giving_way() -> Iterator[None]:
    """Tell that the store refuses a write because another has taken it over as LeadershipLostError."""
    try:
        yield
    except StoreError as error:
        if error.code == LOST:
            raise LeadershipLostError(error.what) from error
        raise


class Agents(Protocol):
    """What the desk needs of the hub of agents; see `engines.agents.hub`."""

    def execute(self, instructions: Iterable[Order]) -> None:
        """Carry out instructions; nothing waits for an agent."""
        ...

    def events(self) -> Iterable[Any]:
        """What has happened since the last call; never waits."""
        ...


class Intake(Protocol):
    """What takes in what an engine tells; see `runtime.live.governing`."""

    def begin(self, core: Core) -> None:
        """A round begins to take in."""
        ...

    def take(self, core: Core, report: Any) -> None:  # noqa: ANN401 - engines tell what their intakes know
        """Hand something that the engine tells to the core."""
        ...

    def end(self, core: Core) -> None:
        """All of a round is taken in, and nothing of it is written yet."""
        ...


class Feeding:
    """Takes in events alone."""

    def begin(self, core: Core) -> None:
        """Nothing is to be told."""

    def take(self, core: Core, report: Event) -> None:
        """Hand an event to the core."""
        core.feed(report)

    def end(self, core: Core) -> None:
        """Nothing is to be told."""


class Desk:
    """Runs a core.

    listeners : called after every commit with the number of the last entry of the log; must not wait
    trouble   : why nothing can be written at present, None = all is well; since: from which instant on
    unwritten : what is decided and not written, in trouble
    leads     : whether this service leads for sure at present: only then anybody is told to do something
    failed    : done when the desk can do nothing more, with why, or when it was stopped, with None
    """

    def __init__(
        self, core: Core, agents: Agents, intake: Intake | None = None, leads: Callable[[], bool] = lambda: True
    ) -> None:
        self.core = core
        self.leads = leads
        self.agents = agents
        self.intake = intake or Feeding()
        self.listeners: list[Callable[[int], None]] = []
        self.trouble: StoreWaits | None = None
        self.since = 0
        self.unwritten = ""
        self.failed: Future[BaseException | None] = Future()
        self.rounds = 0
        self.stages = {"decide": 0, "commit": 0, "order": 0}
        self._answers: list[tuple[Future[Any], Any, BaseException | None, bool]] = []
        self._calls: deque[_Call] = deque()
        self._at_hand: deque[_Call] = deque()
        self._room = Condition()
        self._is_woken = False
        self._is_stopping = self._hands_over = False
        self._since_snapshot = 0
        self._frozen: Frozen | None = None
        self._saver: Thread | None = None
        self._thread = Thread(target=self._run, name="desk", daemon=True)

    # From any thread

    def start(self) -> None:
        """Begin with the rounds; the core is open."""
        self._thread.start()

    def write(self, ask: Callable[[Core], Answer]) -> Future[Answer]:
        """Run a function on the core; the future is done when its changes are durable. Errors of `ask` come back in it.

        InputError is a refusal, for which `ask` has changed nothing. After any other error the desk does no more.
        StoreWaits comes back where nothing can be written: `is_kept` tells whether it was decided all the same.
        """
        return self._put(ask, is_write=True)

    def read(self, ask: Callable[[Core], Answer]) -> Future[Answer]:
        """Read from the core between two rounds; while the store has trouble, what is read may not be durable yet."""
        return self._put(ask, is_write=False)

    def wake(self) -> None:
        """Wake the desk: something happened at the agents."""
        with self._room:
            self._is_woken = True
            self._room.notify()

    def stop(self, *, hands_over: bool = False) -> None:
        """End after the current round, with a snapshot; running tasks continue.

        hands_over : without one: who takes over has followed
        """
        with self._room:
            self._is_stopping, self._hands_over = True, hands_over
            self._room.notify()
        if self._thread.is_alive():
            self._thread.join()

    def _put(self, ask: Callable[[Core], Any], *, is_write: bool) -> Future[Any]:
        answer: Future[Any] = Future()
        with self._room:
            if self._is_stopping:
                answer.set_exception(_refused("stopping", "the service is stopping", "try again when it is back"))
                return answer
            self._calls.append((ask, answer, is_write))
            self._room.notify()
        return answer

    # In the desk's thread

    def _run(self) -> None:
        try:
            self._rounds()
        except BaseException as error:  # noqa: BLE001 - a fault of ours or of the store: the log has all that was said
            self._fail(error)
        else:
            self.failed.set_result(None)

    def _fail(self, error: BaseException) -> None:
        """Nothing more can be decided: who waits is told, and whoever runs the service starts it anew from the log."""
        if isinstance(error, MustEndError):
            _LOG.critical("the service ends: %s", error)
        else:
            _LOG.critical("the service loop has failed: %s", error, exc_info=error)
        with self._room:
            self._is_stopping = True
            calls = [*self._at_hand, *self._calls]
            self._at_hand.clear()
            self._calls.clear()
        waiting = [answer for _, answer, _ in calls if answer.set_running_or_notify_cancel()]
        for answer in (*waiting, *(answer for answer, *_ in self._answers if not answer.done())):
            answer.set_exception(_refused("failed", "the service has failed", "read its log, then start it again"))
        self.failed.set_result(error)

    def _rounds(self) -> None:
        while True:
            with self._room:
                if not self._calls and not self._is_woken and not self._is_stopping:
                    self._room.wait(self._timeout())
                self._is_woken = False
                calls = [self._calls.popleft() for _ in range(min(len(self._calls), MOST_IN_A_ROUND))]
                stopping = self._is_stopping
            self.round(calls)
            if stopping and not self._calls:
                self._last_snapshot()
                return

    def _timeout(self) -> float:
        if self.trouble is not None:
            return _RETRY
        if self._frozen is not None:
            return 0.0
        due = self.core.due
        return _IDLE if due is None else min(_IDLE, max(0.0, (due - self.core.now()) / SECOND))

    def round(self, calls: Iterable[_Call]) -> None:
        """One round; in trouble nothing new is accepted until what is decided already could be written."""
        began = time.perf_counter_ns()
        core = self.core
        answers = self._answers = []
        at_hand = self._at_hand = deque(calls)  # those behind one that fails are refused
        while at_hand:
            ask, answer, is_write = at_hand.popleft()
            if not answer.set_running_or_notify_cancel():
                continue
            if is_write and self.trouble is not None and not isinstance(ask, Freeing):
                answers.append((answer, None, self.trouble, True))
                continue
            answers.append((answer, *self._ask(ask, answer, is_write=is_write), is_write))
        self.intake.begin(core)
        for report in self.agents.events():
            self.intake.take(core, report)
        if core.due is not None and core.due <= core.now():
            core.pass_time()
        self.intake.end(core)
        decided = time.perf_counter_ns()
        has_grown = self._commit()
        committed = time.perf_counter_ns()
        orders = self._orders()
        if orders:  # before anybody is told: whom that wakes keeps the agents' thread from its work
            self.agents.execute(orders)
        if has_grown:
            for listener in self.listeners:
                listener(core.store.last)
        for future, value, error, is_write in answers:
            failed = error or (self._kept() if is_write else None)
            if failed is not None:
                future.set_exception(failed)
            else:
                future.set_result(value)
        done = time.perf_counter_ns()
        self._gather()
        self.rounds += 1
        self.stages["decide"] += decided - began
        self.stages["commit"] += committed - decided
        self.stages["order"] += done - committed

    def _orders(self) -> Iterable[Order]:
        """What may be carried out now; what may not stays."""
        if not self.leads():
            return ()
        return self.core.outbox.take() if self.trouble is None else self.core.outbox.take_stops()

    def _kept(self) -> StoreWaits | None:
        """What is told to who asked for what this round decided and could not write: a crash would lose it."""
        return None if self.trouble is None else self.trouble.kept()

    def _ask(
        self, ask: Callable[[Core], Any], answer: Future[Any], *, is_write: bool
    ) -> tuple[Any, BaseException | None]:
        """What the core answers. What fails otherwise than by a refusal may have left half of a change.

        That must not be written: the desk ends as it does when a commit fails.
        """
        noted = len(self.core.journal)
        try:
            return ask(self.core), None
        except InputError as why:
            return None, why
        except Exception as why:
            is_whole = isinstance(why, StoreWaits) and len(self.core.journal) == noted
            if is_write and not is_whole:
                answer.set_exception(why)
                raise
            return None, why

    def _commit(self) -> bool:
        """Make durable what was decided; whether the log is longer by it."""
        entries = len(self.core.journal.entries)
        try:
            with giving_way():
                self.core.commit()
        except StoreWaits as error:  # what was decided is kept here and written when that is possible
            if self.trouble is None:
                self.since = self.core.now()
                _LOG.warning("%s%s", _BEGUN[type(error)], f" ({error.what})" if isinstance(error, StoreGone) else "")
            self.trouble, self.unwritten = error, self.core.journal.told()
            return False
        if self.trouble is not None:
            _LOG.warning(_OVER[type(self.trouble)])
        self.trouble = None
        if entries:
            self._since_snapshot += entries
            if self._since_snapshot >= SNAPSHOT_EVERY and not self.is_gathering:
                self._frozen, self._since_snapshot = Frozen(self.core), 0
        return entries > 0

    @property
    def is_gathering(self) -> bool:
        """Whether a snapshot is being gathered or written."""
        return self._frozen is not None or (self._saver is not None and self._saver.is_alive())

    def _gather(self) -> None:
        """Go on with a snapshot that was begun, a slice a round; it is written in a thread of its own."""
        if self._frozen is not None and not self._frozen.step(SLICE):
            self._frozen.end()
            self._saver = Thread(target=self._save, args=(self._frozen,), name="snapshot", daemon=True)
            self._saver.start()
            self._frozen = None

    def _save(self, frozen: Frozen) -> None:
        try:
            self.core.store.save_snapshot(frozen.seq, frozen.at, frozen.text().encode())
        except StoreError as error:  # the log has everything: the next snapshot may succeed
            _LOG.warning("could not write a snapshot: %s", error)

    def _last_snapshot(self) -> None:
        if self._saver is not None:
            self._saver.join()
        if self.trouble is None and not self._hands_over and (self._since_snapshot or self._frozen is not None):
            whole = Frozen(self.core)
            whole.end()
            self._save(whole)


def _refused(code: str, what: str, mend: str) -> InputError:
    return InputError([Fault(code, what, mend)])
