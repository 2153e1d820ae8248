"""Ctrl-C and its like: the first asks for an orderly end, a second for an end at once."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Interrupts:
    """While it is entered, the signals that end a program are kept here; outside the main thread it does nothing.

    on_first, on_second : called from the signal handler; they must only set flags
    first               : the first such signal, None while there was none
    """

    def __init__(self, on_first: Callable[[], None], on_second: Callable[[], None]) -> None:
        self._on_first, self._on_second = on_first, on_second
        self._before: dict[signal.Signals, object] = {}
        self.first: signal.Signals | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread():
            return self
        for number in _ENDING:
            # Who was started by `nohup` is to live on when the terminal goes.
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._handle)
        if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:  # inherited; exit codes of children would be lost
            self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, before in self._before.items():
            if before is not None:  # a handler that is not Python's can be replaced, not put back
                signal.signal(number, before)  # type: ignore[arg-type] # what `signal.signal` returned
        self._before = {}

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self.first is None:
            self.first = signal.Signals(number)
            self._on_first()
        else:
            self._on_second()
