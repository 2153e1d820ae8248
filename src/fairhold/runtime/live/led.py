"""What a service does only as long as it leads, and while it waits to."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fairhold.errors import FairholdError
from fairhold.runtime.live.desk import LeadershipLostError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.engines.leader import Leader
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.desk import Intake


class StoppedWhileWaitingError(FairholdError):
    """A service that waited for its turn was asked to end."""

    code = "stopping"


class Led:
    """Takes in what an engine tells for as long as the lease is held.

    check : further looks at whether the service may go on; raises a MustEndError where it may not
    """

    def __init__(self, intake: Intake, leader: Leader, check: Callable[[], None] = lambda: None) -> None:
        self._intake, self._leader, self._check = intake, leader, check

    def begin(self, core: Core) -> None:
        """A round begins; LeadershipLostError ends the desk."""
        check_leads(self._leader)
        self._check()
        self._intake.begin(core)

    def take(self, core: Core, report: Any) -> None:  # noqa: ANN401 - see Intake
        """Hand something that the engine tells to the core."""
        self._intake.take(core, report)

    def end(self, core: Core) -> None:
        """All of a round is taken in."""
        self._intake.end(core)


def check_leads(leader: Leader) -> None:
    """Raise LeadershipLostError where it does not lead any more."""
    if why := leader.lost:
        raise LeadershipLostError(why)


@contextmanager
def on_signals(act: Callable[[], object]) -> Iterator[None]:
    """Act when a signal comes that asks to end; in the main thread, others get none."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # as `nohup` wants it
                before[number] = signal.signal(number, lambda *_: act())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
