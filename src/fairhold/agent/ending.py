"""Why an attempt ended: from its exit status and the requests to it."""

from __future__ import annotations

YIELDED = 75
"""Exit code of a task that was under notice and has saved its state (EX_TEMPFAIL)."""
_FIRST_SIGNAL_CODE = 128
"""Shells say so: this plus the number of the signal."""


class PendingRequest:
    """What was asked of an attempt so far.

    forced  : why its own supervisor stopped it: time_limit, memory, host_lost, or reclaim at the deadline; empty = not
    stop    : reason of an order to stop, empty = none
    is_under_notice, was_noticed : its slot is reclaimed now; was reclaimed now or before a withdrawal
    sent    : the signal that it was told with, 0 = none yet
    """

    __slots__ = ("forced", "is_under_notice", "sent", "stop", "was_noticed")

    def __init__(self) -> None:
        self.forced = ""
        self.stop = ""
        self.is_under_notice = self.was_noticed = False
        self.sent = 0


def reason_of(code: int, signal: int, asked: PendingRequest) -> str:
    """The reason of an end; `code` is -1 where a signal ended it. See the table in docs/attempts.md."""
    if asked.forced and not (asked.forced == "reclaim" and not signal):
        return asked.forced
    if code == YIELDED and asked.was_noticed and asked.stop != "cancel":
        return "yielded"
    if asked.stop and asked.stop != "reclaim":
        return asked.stop
    if code == 0:
        return "finished"
    is_reclaimed = asked.is_under_notice or bool(asked.stop)
    # The notice may have been withdrawn when its signal was on the way already.
    is_its_signal = bool(asked.sent) and (signal == asked.sent or code == _FIRST_SIGNAL_CODE + asked.sent)
    return "reclaim" if is_reclaimed or is_its_signal else "failed"
