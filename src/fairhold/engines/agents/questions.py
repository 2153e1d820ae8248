"""Questions about files on other machines, which their agents answer; asked by any thread."""

from __future__ import annotations

import base64
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.agent.reading import Entry, Piece
from fairhold.engines.agents.reports import field, number
from fairhold.errors import FairholdError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.engines.agents.link import Link

MOST_OPEN = 64
"""Questions that one agent may have to answer at a time: its answers share the connection with what its tasks do."""


class AgentAwayError(FairholdError):
    """The agent of a machine is not connected, or was lost before it has answered."""

    code = "host-away"


class AgentBusyError(FairholdError):
    """The agent of a machine has too many questions to answer already."""

    code = "too-many"


class Question(NamedTuple):
    """Something to ask of an agent: `read` a file or `list` a folder, at a path below the folder of all jobs."""

    type: str
    path: str
    limit: int
    offset: int = 0
    after: str = ""


class Asked(NamedTuple):
    """A question with the number by which its answer is known."""

    number: int
    question: Question


class Questions:
    """Questions that wait for their answers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._open: dict[int, tuple[Link, Future[Any]]] = {}

    def put(self, link: Link, question: Question) -> tuple[Asked, Future[Any]]:
        """A question for the agent of a connection; who gives the future up cancels it. Raises AgentBusyError."""
        with self._lock:
            if sum(each is link for each, _ in self._open.values()) >= MOST_OPEN:
                raise AgentBusyError(f"the agent has {MOST_OPEN} questions to answer already")
            self._last += 1
            asked, future = Asked(self._last, question), Future[Any]()
            self._open[self._last] = link, future
        future.add_done_callback(lambda _: self._close(asked.number))
        return asked, future

    def _close(self, number: int) -> None:
        with self._lock:
            del self._open[number]

    def answered(self, link: Link, message: Mapping[str, Any]) -> None:
        """An answer; one that nobody waits for is left alone. Raises ValueError where it is none."""
        found = _listing(message) if message["type"] == "listing" else _piece(message)
        with self._lock:
            owner, future = self._open.get(number(message, "n"), (None, None))
        if future is not None and owner is link and future.set_running_or_notify_cancel():
            future.set_result(found)

    def lost(self, link: Link | None = None) -> None:
        """A connection is no more, or none is: what was asked over it is not answered."""
        with self._lock:
            lost = [future for each, future in self._open.values() if link in {None, each}]
        for future in lost:
            if future.set_running_or_notify_cancel():
                future.set_exception(AgentAwayError("the agent was lost before it has answered"))


def _piece(message: Mapping[str, Any]) -> Piece | None:
    if message.get("content") is None:
        return None
    content = base64.b64decode(field(message, "content", str), validate=True)
    return Piece(content, number(message, "next"), is_end=field(message, "end", bool))


def _listing(message: Mapping[str, Any]) -> list[Entry] | None:
    rows = message.get("entries")
    if rows is None:
        return None
    return [_entry(row) for row in field(message, "entries", list)]


def _entry(row: object) -> Entry:
    match row:
        case [str(name), str(kind), int(size), int(modified)]:
            return Entry(name, kind if kind in {"file", "folder"} else "other", size, max(0, modified))
    raise ValueError("an entry of a folder is not a name, a kind, a size and an instant")
