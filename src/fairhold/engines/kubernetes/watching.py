"""Follows all objects of a kind: a list, then a watch from there, and a list again where the watch is refused."""

from __future__ import annotations

import logging
import threading
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol

from fairhold.engines.kubernetes.api import ApiError
from fairhold.engines.kubernetes.measures import Measures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.engines.kubernetes.api import Api

_LOG = logging.getLogger("fairhold")
ABSENT = 10.0
"""Seconds between two looks for a kind that the cluster lacks."""
_SOON, _LATER = 0.2, 5.0
"""Seconds between two tries to reach the API server, doubled from the first to the last; the end waits so long, too."""


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

    def went_back(self, kind: str) -> None:
        """The cluster has an older state than was seen; all there are are told next."""
        ...

    def fresh(self, kind: str) -> None:
        """From now on, all that changes is told as it happens."""
        ...

    def stale(self, kind: str, why: ApiError) -> None:
        """The API server does not tell any more."""
        ...


class OptionalFollower(Follower, Protocol):
    """Who is told of a kind that may not be there."""

    def serves(self, kind: str, *, is_served: bool) -> None:
        """The cluster has a kind, or lacks it."""
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
        self._version, self._highest, self._pause = "", 0, _SOON
        self._is_closing = threading.Event()
        self._lists_again = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"watch {kind}", daemon=True)

    def list(self) -> None:
        """Tell all there are. Raises ApiError."""
        documents, self._version = self._api.list(self.path, **self._query)
        self._measures.listed(self.kind)
        before, self._highest = self._highest, number_of(self._version)
        if self._highest < before:
            self._follower.went_back(self.kind)
        documents.sort(key=lambda each: each["metadata"]["creationTimestamp"])  # who was first is served first
        for document in documents:
            self._follower.seen(self.kind, document)
        self._follower.listed(self.kind, documents)

    def start(self) -> None:
        """Begin to follow, after the first `list`."""
        self._thread.start()

    def list_again(self) -> None:
        """Tell all there are once more, at once: the watch that runs is broken off."""
        self._lists_again.set()
        self._api.end_watches(self.path)

    def close(self) -> bool:
        """Stop; whether the thread has ended: it may wait for an answer."""
        self._is_closing.set()
        self._api.end_watches(self.path)
        if self._thread.ident is not None:
            self._thread.join(_LATER)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._is_closing.is_set():
            try:
                if not self._version or self._lists_again.is_set():
                    self._lists_again.clear()
                    self.list()
                self._watch()
                self._measures.watch_ended(self.kind, "time")
            except ApiError as error:
                if self._is_closing.is_set():
                    return
                if self._lists_again.is_set() and not error.status:
                    continue
                self._measures.watch_ended(self.kind, "expired" if error.status == HTTPStatus.GONE else "broken")
                self._version = ""  # a watch would say that all is known before it has told what happened meanwhile
                if error.status != HTTPStatus.GONE:
                    self._wait(error)
            except Exception as error:  # noqa: BLE001 - a fault of ours: nobody would know that nothing is followed
                _LOG.exception("following %s failed; all of them are listed again", self.kind)
                self._version = ""
                self._wait(ApiError(0, "Failed", repr(error)))

    def _wait(self, why: ApiError) -> None:
        """Say that nothing is followed, and pause before the next try."""
        self._follower.stale(self.kind, why)
        self._is_closing.wait(self._pause)
        self._pause = min(self._pause * 2, _LATER)

    def _watch(self) -> None:
        for change in self._api.watch(self.path, self._version, **self._query):
            if self._is_closing.is_set() or self._lists_again.is_set():
                return
            if change is None:
                self._pause = _SOON
                self._follower.fresh(self.kind)
                continue
            self._version = change.document["metadata"]["resourceVersion"]
            self._highest = number_of(self._version)
            if change.kind == "DELETED":
                self._follower.gone(self.kind, change.document)
            elif change.kind != "BOOKMARK":
                self._follower.seen(self.kind, change.document)


def number_of(version: str) -> int:
    """A version as it compares, though of one cluster alone; 0 = it does not."""
    return int(version) if version.isdigit() else 0


class OptionalWatcher(Watcher):
    """Follows a kind that the cluster may lack, and get or lose at any time.

    kind : plural and group, as its definition is called
    """

    def __init__(self, api: Api, kind: str, follower: OptionalFollower, measures: Measures | None = None) -> None:
        super().__init__(api, kind, "", follower, measures)
        self._tells = follower

    def list(self) -> None:
        """Tell all there are, and whether the cluster has the kind. Raises ApiError."""
        plural, _, group = self.kind.partition(".")
        self.path = self._api.find(group, plural)
        self._tells.serves(self.kind, is_served=bool(self.path))
        if self.path:
            super().list()
        else:
            self._tells.listed(self.kind, ())

    def _watch(self) -> None:
        if not self.path:
            self._version = ""
            self._is_closing.wait(ABSENT)
            return
        try:
            super()._watch()
        except ApiError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            self._version = ""  # the kind is gone
