"""A run as plain lines, one an event: for logs, pipes and dumb terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairhold.runtime.tally import News


def line_of(news: News, start: int) -> str:
    """One line: seconds since the start, what happened, to which task of whom, details."""
    what = news.job if news.task < 0 else f"{news.job}[{news.task}]"
    if news.attempt > 1:
        what += f" attempt {news.attempt}"
    text = f"{(news.at - start) / SECOND:9.3f}s {news.kind:<10} {what}  {news.consumer}"
    if news.kind == "notice":
        left = max(0, news.deadline - news.at) / SECOND
        return f"{text}: {left:.3f}s to give its {news.noun} back, {news.note}"
    return f"{text}  ({news.note})" if news.note else text


class PlainView:
    """Writes every event as a line (see `loop.View`)."""

    pace = 0.0

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._start: int | None = None

    def tell(self, news: Sequence[News]) -> None:
        """Write the lines of what happened."""
        for each in news:
            if self._start is None:
                self._start = each.at
            self._say(line_of(each, self._start))

    def refresh(self) -> None:
        """Time alone changes no line."""

    def close(self) -> None:
        """Nothing is to be put back."""
