"""One of several services that take part in leading: the thread that asks for the lease, and the fence for writes."""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from fairhold.leadership import Ask, Do, Leadership, Refused, Seen, Terms

if TYPE_CHECKING:
    from collections.abc import Callable

_LOG = logging.getLogger("fairhold")
_WAKE = 0.2
"""Seconds after which a writer that waits looks whether it is to end."""
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def clock() -> float:
    """Seconds on a clock that never goes back, and counts while the machine sleeps."""
    return time.clock_gettime(_CLOCK)


class Leader(ABC):
    """One participant.

    terms      : of the lease
    on_changed : called by the thread when it leads again, or leads no more for good though nobody asked
    regains    : see `Leadership`
    """

    troubles: ClassVar[tuple[type[Exception], ...]]
    """What may go wrong when the lease is asked for."""

    def __init__(
        self, identity: str, terms: Terms, on_changed: Callable[[], None] = lambda: None, *, regains: bool = False
    ) -> None:
        self.on_changed = on_changed
        self._terms = terms
        self._core = Leadership(identity, terms, regains=regains)
        self._changed = threading.Condition()
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="lease", daemon=True)
        self._told = self._complained = ""

    @abstractmethod
    def _ask(self, ask: Ask) -> Seen:
        """Carry a request out. Raises one of `troubles`."""

    @abstractmethod
    def _is_conflict(self, error: Exception) -> bool:
        """Whether a request was refused because the lease has changed since it was seen."""

    @abstractmethod
    def _let_go(self) -> None:
        """Close what was needed to ask."""

    @property
    def identity(self) -> str:
        """By which the lease names this process."""
        return self._core.identity

    @property
    def seen(self) -> Seen:
        """The lease as it was seen last."""
        with self._changed:
            return self._core.seen or Seen()

    @property
    def lost(self) -> str:
        """Why it leads no more, empty = it does or has not yet."""
        with self._changed:
            return self._core.lost

    @property
    def write(self) -> float:
        """Seconds that a write may take."""
        return self._terms.write

    @property
    def leads(self) -> bool:
        """Whether it leads for sure."""
        with self._changed:
            return self._core.left(clock()) > 0

    def start(self) -> None:
        """Look at the lease, then take and hold it. Raises one of `troubles`."""
        ask = Ask(Do.LOOK)
        began = clock()
        seen = self._ask(ask)
        self._looked(seen)
        self._answered(ask, began, seen)
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Wait for so long to lead; whether it does."""
        with self._changed:
            return self._changed.wait_for(lambda: self._core.left(clock()) > 0, seconds)

    def passes(self, is_closing: threading.Event) -> bool:
        """Wait until the lease is held for longer than a write may take; False: it never will be, or is_closing."""
        with self._changed:
            while not (self._is_closing or self._core.lost or is_closing.is_set()):
                if self._core.left(clock()) >= self._terms.write:
                    return True
                self._changed.wait(_WAKE)
            return False

    def close(self) -> None:
        """Lead no more; who waits for the lease gets it at once. May be called twice."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join()
        ask = self._core.release()
        if ask is not None:
            try:
                self._ask(ask)
            except self.troubles as error:
                _LOG.info("the lease could not be released, it ends by itself: %s", error)
        self._let_go()

    @abstractmethod
    def _looked(self, seen: Seen) -> None:
        """The lease was seen for the first time; raises one of `troubles` where it cannot be taken."""

    def _run(self) -> None:
        while True:
            with self._changed:
                ask = self._core.next(clock())
                if self._is_closing or self._core.lost:
                    break
                if ask is None:
                    self._changed.wait(max(0.0, self._core.due() - clock()))
                    continue
            began = clock()
            try:
                answer: Seen | Refused = self._ask(ask)
            except self.troubles as error:
                answer = Refused.CONFLICT if self._is_conflict(error) else Refused.UNKNOWN
                self._complain(error)
            except Exception:  # noqa: BLE001 - a fault of ours: nobody would know that the lease has ended
                answer = Refused.UNKNOWN
                _LOG.exception("the lease could not be asked for")
            self._answered(ask, began, answer)
        if self.lost and not self._is_closing:
            self.on_changed()

    def _answered(self, ask: Ask, began: float, answer: Seen | Refused) -> None:
        with self._changed:
            had_led = self._core.has_led and self._core.left(clock()) == 0
            self._core.answered(ask, began, clock(), answer)
            leads_again = had_led and self._core.left(clock()) > 0
            self._changed.notify_all()
        if leads_again:
            self.on_changed()
        if isinstance(answer, Seen):
            self._complained = ""
            self._tell(answer)

    def _tell(self, seen: Seen) -> None:
        """Say once who leads."""
        if self.lost or seen.holder == self._told:
            return
        self._say(seen)
        self._told = seen.holder

    def _say(self, seen: Seen) -> None:
        if seen.holder == self.identity:
            _LOG.info("%s leads", self.identity)
        elif seen.holder:
            _LOG.info("waiting: %s leads", seen.holder)

    def _complain(self, error: Exception) -> None:
        if not self._is_conflict(error) and str(error) != self._complained:
            self._complained = str(error)
            _LOG.warning("the lease cannot be used: %s", error)
