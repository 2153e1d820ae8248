# ruff: noqa: ARG002 - followers and clients of tests take what they do not look at
"""Watches over connections that are used again, and threads that follow whatever happens."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes.access import Access
from fairhold.engines.kubernetes.api import Api, ApiError
from fairhold.engines.kubernetes.watching import Watcher
from tests.faults.house import until

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PATIENCE = 10.0


def test_a_connection_may_be_another_watches_before_the_first_has_left() -> None:
    api, (here, there) = Api(Access("https://127.0.0.1:1", verify=False)), socket.socketpair()
    first, second = api._is_watched(here, "/pods"), api._is_watched(here, "/nodes")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    there.settimeout(PATIENCE)
    api.end_watches("/nodes")
    assert there.recv(1) == b"", "the second is broken off"
    second.__exit__(None, None, None)
    api.close()
    here.close()
    there.close()


class Failing:
    """An API whose first watch fails as nothing foresees."""

    def __init__(self) -> None:
        self.lists = 0
        self.has_begun = threading.Event()

    def list(self, path: str) -> tuple[list[dict[str, Any]], str]:
        self.lists += 1
        return [], "1"

    def watch(self, path: str, version: str) -> Iterator[None]:
        if self.lists == 1:
            raise KeyError(path)
        yield None
        self.has_begun.wait(PATIENCE)

    def end_watches(self, path: str) -> None:
        self.has_begun.set()


class Told:
    """Who follows, and keeps what was told."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.is_fresh = threading.Event()

    def seen(self, kind: str, document: Mapping[str, Any]) -> None:
        self.words.append("seen")

    def gone(self, kind: str, document: Mapping[str, Any]) -> None:
        self.words.append("gone")

    def listed(self, kind: str, documents: Sequence[Mapping[str, Any]]) -> None:
        self.words.append("listed")

    def went_back(self, kind: str) -> None:
        self.words.append("went back")

    def fresh(self, kind: str) -> None:
        self.words.append("fresh")
        self.is_fresh.set()

    def stale(self, kind: str, why: ApiError) -> None:
        self.words.append("stale")


def test_a_fault_of_our_own_is_told_and_all_is_listed_again() -> None:
    api, told = Failing(), Told()
    watcher = Watcher(api, "pods", "/pods", told)  # type: ignore[arg-type]  # as much of the API as is used
    watcher.start()
    assert told.is_fresh.wait(PATIENCE)
    assert watcher.close()
    assert told.words == ["listed", "stale", "listed", "fresh"]


class Restored:
    """An API whose first watch breaks off; from then on it is set back to an earlier state."""

    def __init__(self) -> None:
        self.versions = ["100", "90", "95"]
        self.is_over = threading.Event()

    def list(self, path: str) -> tuple[list[dict[str, Any]], str]:
        return [], self.versions.pop(0)

    def watch(self, path: str, version: str) -> Iterator[None]:
        yield None
        if version == "95":
            self.is_over.wait(PATIENCE)
        raise ApiError(0, "Unreachable", "broken off")

    def end_watches(self, path: str) -> None:
        self.is_over.set()


def test_after_a_break_all_is_listed_before_it_is_fresh_and_an_earlier_state_is_told() -> None:
    api, told = Restored(), Told()
    watcher = Watcher(api, "pods", "/pods", told)  # type: ignore[arg-type]  # as much of the API as is used
    watcher.start()
    until(lambda: told.words.count("fresh") == 3)
    assert watcher.close()
    first, again = ["listed", "fresh", "stale"], ["listed", "fresh"]
    assert told.words[:9] == [*first, "went back", *first, *again]
