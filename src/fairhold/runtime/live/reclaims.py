"""Which cycle reclaimed what: kept while the attempt runs, and with its end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.orchestrator import changes as say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.orchestrator.changes import Change

RULE_OF = {"quota": "R-RECLAIM-4", "limit": "R-RECLAIM-1", "window": "R-SWITCH-1", "lost": "R-RECLAIM-3", "host": ""}
"""The rule (docs/rules.md) by which units go for a reason; a host is drained because somebody asked for it."""
_DETAIL, _RECLAIM = "detail", "reclaim"


class Reclaim(NamedTuple):
    """A notice.

    cycle  : number of the one that gave it, 0 = none did
    at     : instant; deadline : by which the units are to be given back
    reason : quota, limit, window, lost; host: the host is being drained
    taker  : path of the leaf that benefits, empty = nobody in particular
    why    : what was said when its host was drained, empty = nothing
    law    : id of the rule that the cycle said, empty = that of the reason
    """

    cycle: int
    at: int
    deadline: int
    reason: str
    taker: str
    why: str = ""
    law: str = ""

    @property
    def rule(self) -> str:
        """Id of the rule, empty where there is none."""
        return self.law or RULE_OF.get(self.reason, "")


class Reclaims:
    """The notices in force, by attempt; told of every change in order."""

    def __init__(self) -> None:
        self._cycle = 0
        self._why = ""  # of the machine that was closed last: its drains follow in the same event
        self._notices: dict[int, Reclaim] = {}
        self._drains: dict[int, Reclaim] = {}

    def note(self, change: Change, at: int) -> None:
        """A change happened."""
        handler = _NOTES.get(type(change))
        if handler is not None:
            handler(self, change, at)

    def _ran(self, change: say.CycleRan, _at: int) -> None:
        self._cycle = change.number

    def _notice(self, change: say.Noticed, at: int) -> None:
        self._notices[change.attempt] = Reclaim(
            self._cycle, at, change.deadline, change.reason, change.taker, law=change.rule
        )

    def _drain(self, change: say.Drained, at: int) -> None:
        self._drains[change.attempt] = Reclaim(0, at, change.deadline, "host", "", self._why)

    def _shut(self, change: say.MachineShut, _at: int) -> None:
        self._why = change.reason or ""

    def _withdraw(self, change: say.Withdrawn, _at: int) -> None:
        self._notices.pop(change.attempt, None)

    def _undrain(self, change: say.Undrained, _at: int) -> None:
        self._drains.pop(change.attempt, None)

    def _end(self, change: say.Ended, _at: int) -> None:
        self._notices.pop(change.attempt, None)
        self._drains.pop(change.attempt, None)

    def of(self, attempt: int) -> Reclaim | None:
        """The notice that an attempt is under, None = it is under none."""
        return self._notices.get(attempt) or self._drains.get(attempt)

    def freeze(self) -> list[Any]:
        """For a snapshot."""
        return [self._cycle, [[*each] for each in self._notices.items()], [[*each] for each in self._drains.items()]]

    def thaw(self, document: list[Any]) -> None:
        """The reverse of `freeze`, whole or, where the document cannot be read, not at all."""
        notices, drains = ({number: Reclaim(*each) for number, each in rows} for rows in document[1:])
        self._cycle, self._notices, self._drains = document[0], notices, drains


def detail_text(detail: str, reclaim: Reclaim | None) -> str:
    """What is kept in the detail of a finished attempt: the words of its exit record, and the notice it was under."""
    return detail if reclaim is None else json.dumps({_DETAIL: detail, _RECLAIM: [*reclaim]}, separators=(",", ":"))


def read_detail(text: str) -> tuple[str, Reclaim | None]:
    """The reverse of `detail_text`."""
    if text.startswith('{"' + _DETAIL + '":'):
        try:
            fields: Mapping[str, Any] = json.loads(text)
            return str(fields[_DETAIL]), Reclaim(*fields[_RECLAIM])
        except (ValueError, KeyError, TypeError):  # words of a record that happen to begin so
            pass
    return text, None


_NOTES: dict[type, Callable[[Reclaims, Any, int], None]] = {
    say.CycleRan: Reclaims._ran,
    say.Noticed: Reclaims._notice,
    say.Drained: Reclaims._drain,
    say.MachineShut: Reclaims._shut,
    say.Withdrawn: Reclaims._withdraw,
    say.Undrained: Reclaims._undrain,
    say.Ended: Reclaims._end,
}
