"""One service of several leads a cluster: the others wait, and one that leads no more ends."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes.api import Api
from fairhold.engines.kubernetes.leader import Leader
from fairhold.engines.kubernetes.leadership import Terms
from fairhold.errors import FairholdError
from fairhold.runtime.live.desk import MustEndError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.engines.kubernetes.access import Access
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.desk import Intake
    from fairhold.runtime.live.opening import ClusterSettings

_LOOK = 0.2
"""Seconds between two looks whether a signal has come."""


class StoppedWhileWaitingError(FairholdError):
    """A service that waited for its turn was asked to end."""

    code = "stopping"


class LeadershipLostError(MustEndError):
    """Another service leads, or may lead: this one ends, and its next start waits for its turn."""

    code = "leadership-lost"

    def __init__(self, why: str) -> None:
        super().__init__(f"leadership is lost: {why} [{self.code}]")


class Led:
    """Takes in what an engine tells for as long as the lease is held."""

    def __init__(self, intake: Intake, leader: Leader) -> None:
        self._intake, self._leader = intake, leader

    def begin(self, core: Core) -> None:
        """A round begins; LeadershipLostError ends the desk."""
        if why := self._leader.lost:
            raise LeadershipLostError(why)
        self._intake.begin(core)

    def take(self, core: Core, report: Any) -> None:  # noqa: ANN401 - see Intake
        """Hand something that the engine tells to the core."""
        self._intake.take(core, report)


def open_leader(access: Access, settings: ClusterSettings, on_lost: Callable[[], None]) -> Leader | None:
    """One who may lead, None where there is no other."""
    if not settings.lease:
        return None
    return Leader(Api(access), settings.lease_namespace or access.namespace, Terms(settings.lease), on_lost)


def follow(leader: Leader) -> None:
    """Wait until it leads. Raises ApiError, and StoppedWhileWaitingError after SIGTERM, SIGINT or SIGHUP."""
    leader.start()
    with _signals() as came:
        while not leader.wait(_LOOK):
            if came:
                raise StoppedWhileWaitingError("stopped while another service leads")
            if why := leader.lost:
                raise LeadershipLostError(why)


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Signals that ask to end, as they come; for the main thread alone, others get none."""
    came: list[int] = []
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # as `nohup` wants it
                before[number] = signal.signal(number, lambda number, _: came.append(number))
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
