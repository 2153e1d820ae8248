"""An object of the cluster for each consumer of the plan in force, which says what it has now.

Objects are made, written and deleted in a thread of its own, and only those that bear the label of the service. They
tell what is; nothing reads them.
"""

from __future__ import annotations

import logging
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes.api import ApiError
from fairhold.engines.kubernetes.custom_resources import CONSUMERS, MANAGED, MANAGER, VERSION
from fairhold.engines.kubernetes.leader import Fenced
from fairhold.engines.kubernetes.names import DOMAIN
from fairhold.engines.kubernetes.repeating import Again, Repeating
from fairhold.engines.kubernetes.writes import MERGE
from fairhold.errors import FairholdError
from fairhold.runtime.live.consumer_status import merge, names_of, statuses_of
from fairhold.runtime.live.views.consumers import consumers_document

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.engines.kubernetes.api import Api
    from fairhold.engines.kubernetes.leader import Fence
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.desk import Desk

Document = dict[str, Any]
PAUSE = 2.0
"""Seconds between two rounds of writes, at least."""
IDLE = 60.0
"""Seconds after which all is compared with the cluster again, whether or not anything happens."""
_SHARE = 20
"""A round waits so many times as long as the desk worked at the numbers, so that it has time for its own work; how long
the question waited for its turn does not count."""
_LOG = logging.getLogger("fairhold")


class ConsumerObjects:
    """Keeps the objects; see the module.

    is_known    : whether what is known of the cluster is up to date; the desk is asked, in its thread
    pause, idle : seconds, as above
    """

    def __init__(
        self,
        api: Api,
        desk: Desk,
        fence: Fence,
        is_known: Callable[[], bool] = lambda: True,
        *,
        pause: float = PAUSE,
        idle: float = IDLE,
    ) -> None:
        self._is_known = is_known
        self._api, self._desk, self._pause, self._idle = api, desk, pause, idle
        self._objects: dict[str, Document] | None = None
        """Name → object, as the cluster has it; None = to be listed."""
        self._listed_at = 0.0
        self._foreign: set[str] = set()
        self._complaint = ""
        self._thread = Repeating("consumer objects", self._round)
        self._changes = Fenced(api, fence, self._thread.is_closing)

    def start(self) -> None:
        """Begin."""
        self._desk.listeners.append(lambda _: self._thread.wake())
        self._thread.wake()
        self._thread.start()

    def close(self) -> None:
        """Stop; the objects stay as they are."""
        self._thread.close(5.0)

    def _round(self) -> Again:
        """Make the objects say what is; the desk is left alone for a while then."""
        try:
            if self._objects is None or time.monotonic() - self._listed_at > self._idle:
                self._list()
            told, needed = self._desk.read(self._look).result()
            if told is not None:
                self._write(statuses_of(told))
            self._complaint = ""
        except ApiError as error:
            self._objects = None
            self._complain(error)
            return Again(self._idle if error.status == HTTPStatus.NOT_FOUND else self._pause, 0.0)
        except FairholdError:  # the service ends
            return Again(self._pause, self._idle)
        return Again(max(self._pause, needed * _SHARE), self._idle)

    def _look(self, core: Core) -> tuple[Document | None, float]:
        """What consumers have, and the seconds that it took; None while nodes count as silent as nobody is heard."""
        began = time.perf_counter()
        told = consumers_document(core) if self._is_known() else None
        return told, time.perf_counter() - began

    def _list(self) -> None:
        """Learn which objects there are."""
        found, _ = self._api.list(CONSUMERS, labelSelector=f"{MANAGED}={MANAGER}")
        self._objects = {each["metadata"]["name"]: each for each in found}
        self._listed_at = time.monotonic()
        self._foreign.clear()

    def _write(self, statuses: dict[str, Document]) -> None:
        """Make what is missing, change what is different, delete what is gone. Raises ApiError."""
        assert self._objects is not None
        names = names_of(statuses)
        for path, name in names.items():
            if self._thread.is_closing.is_set():
                return
            made = self._objects.get(name) or self._make(name)
            if made is None:
                continue
            if patch := merge(made.get("status") or {}, statuses[path]):
                self._change(made, patch)
        for name in self._objects.keys() - names.values():
            self._delete(name)

    def _change(self, made: Document, patch: Document) -> None:
        """Change the status of an object; one that somebody deleted is made anew in the next round."""
        assert self._objects is not None
        name = made["metadata"]["name"]
        body = {"metadata": _as_seen(made), "status": patch}
        try:
            self._objects[name] = self._changes.request("PATCH", f"{CONSUMERS}/{name}/status", body, MERGE)
        except ApiError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            self._objects.pop(name, None)
            self._thread.wake()

    def _make(self, name: str) -> Document | None:
        """Make an object; None where there is one that somebody else made."""
        if name in self._foreign:
            return None
        body = {
            "apiVersion": f"{DOMAIN}/{VERSION}",
            "kind": "Consumer",
            "metadata": {"name": name, "labels": {MANAGED: MANAGER}},
            "spec": {},
        }
        try:
            return self._changes.request("POST", CONSUMERS, body)
        except ApiError as error:
            if error.status != HTTPStatus.CONFLICT:
                raise
            _LOG.warning("the Consumer %s is not the service's own, and is left as it is", name)
            self._foreign.add(name)
            return None

    def _delete(self, name: str) -> None:
        assert self._objects is not None
        try:
            self._changes.request("DELETE", f"{CONSUMERS}/{name}", {"preconditions": _as_seen(self._objects[name])})
        except ApiError as error:
            if error.status not in {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT}:
                raise
        del self._objects[name]

    def _complain(self, error: ApiError) -> None:
        """Once for each reason."""
        what = "missing" if error.status == HTTPStatus.NOT_FOUND else f"{error.status} {error.reason}"
        if what == self._complaint or error.status == HTTPStatus.CONFLICT or self._thread.is_closing.is_set():
            return
        self._complaint = what
        if error.status == HTTPStatus.NOT_FOUND:
            _LOG.info("the cluster has no kind Consumer of fairhold.io: no objects show what consumers have")
        else:
            _LOG.warning("what consumers have is not written into the cluster: %s", error)


def _as_seen(made: Document) -> Document:
    """What an object has to be still for a change of it."""
    return {key: made["metadata"][key] for key in ("uid", "resourceVersion")}
