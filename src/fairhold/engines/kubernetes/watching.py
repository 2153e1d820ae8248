"""Follows all objects of a kind: a list, then a watch from there, and a list again where the watch is too old."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Protocol

from fairhold.engines.kubernetes.api import ApiError
from fairhold.engines.kubernetes.measures import Measures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.engines.kubernetes.api import Api

_GONE = 410
_SOON, _LATER = 0.2, 5.0
"""Seconds between two tries to reach the API server, doubled from the first to the last."""


class Follower(Protocol):
    """Who is told; by the thread of the watch."""

    def seen(self, kind: str, document: Mapping[str, Any]) -> None:
        """An object is there, or has changed."""
        ...

    def gone(self, kind: str, document: Mapping[str, Any]) -> None:
        """An object is gone."""
        ...

    def listed(self, kind: str, documents: Sequence[Mapping[str, Any]]) -> None:
        """All there are were seen: others are gone."""
        ...

    def fresh(self, kind: str) -> None:
        """From now on, all that changes is told as it happens."""
        ...

    def stale(self, kind: str, why: ApiError) -> None:
        """The API server does not tell any more."""
        ...


class Watcher:
    """Follows one kind in a thread of its own.

    kind : a word for it; path: of its list; measures: counts, None = nothing does
    """

    def __init__(
        self, api: Api, kind: str, path: str, follower: Follower, measures: Measures | None = None, **query: str
    ) -> None:
        self.kind, self.path = kind, path
        self._api, self._follower, self._query = api, follower, query
        self._measures = measures or Measures()
        self._version = ""
        self._is_closing = threading.Event()
        self._lists_again = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"watch {kind}", daemon=True)

    def list(self) -> None:
        """Tell all there are. Raises ApiError."""
        documents, self._version = self._api.list(self.path, **self._query)
        self._measures.listed(self.kind)
        documents.sort(key=lambda each: each["metadata"]["creationTimestamp"])  # who was first is served first
        for document in documents:
            self._follower.seen(self.kind, document)
        self._follower.listed(self.kind, documents)

    def start(self) -> None:
        """Begin to follow, after the first `list`."""
        self._thread.start()

    def list_again(self) -> None:
        """Tell all there are once more, soon."""
        self._lists_again.set()

    def close(self) -> None:
        """Stop; the thread ends with its connection."""
        self._is_closing.set()

    def _run(self) -> None:
        pause = _SOON
        while not self._is_closing.is_set():
            try:
                if not self._version or self._lists_again.is_set():
                    self._lists_again.clear()
                    self.list()
                self._watch()
                self._measures.watch_ended(self.kind, "time")
                pause = _SOON
            except ApiError as error:
                if self._is_closing.is_set():
                    return
                self._measures.watch_ended(self.kind, "expired" if error.status == _GONE else "broken")
                if error.status == _GONE:
                    self._version = ""
                    continue
                self._follower.stale(self.kind, error)
                self._is_closing.wait(pause)
                pause = min(pause * 2, _LATER)

    def _watch(self) -> None:
        for change in self._api.watch(self.path, self._version, **self._query):
            if self._is_closing.is_set() or self._lists_again.is_set():
                return
            if change is None:
                self._follower.fresh(self.kind)
                continue
            self._version = change.document["metadata"]["resourceVersion"]
            if change.kind == "DELETED":
                self._follower.gone(self.kind, change.document)
            elif change.kind != "BOOKMARK":
                self._follower.seen(self.kind, change.document)
