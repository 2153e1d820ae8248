"""Events of the cluster: what was written to pods is told to people, as far as there is time for it.

An event tells of a change that the API server has taken. It is best effort: each costs the API server as much as a
grant, so they have a bound in number and in rate, and those that come by it are counted and forgotten.
"""

from __future__ import annotations

import logging
import secrets
import socket
import time
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.engines.kubernetes.api import ApiError
from fairhold.engines.kubernetes.names import DOMAIN
from fairhold.engines.kubernetes.repeating import Again, Repeating

if TYPE_CHECKING:
    from fairhold.engines.kubernetes.api import Api
    from fairhold.engines.kubernetes.leader import Fence
    from fairhold.engines.kubernetes.measures import Measures
    from fairhold.engines.kubernetes.news import News

CONTROLLER = f"{DOMAIN}/governor"
_LONGEST_NOTE, _LONGEST_NAME, _LONGEST_INSTANCE = 1000, 230, 128
_TERMINATED = "being terminated"
"""What the API server says where it refuses since a namespace goes."""
_LOG = logging.getLogger("fairhold")


class Bounds(NamedTuple):
    """How much is told.

    most  : events that wait at once; few: the same, above which only what people have to know is taken
    rate  : events a second in the long run; burst: at once
    pause : seconds without a try after the API server has given no right to
    """

    most: int = 500
    few: int = 100
    rate: float = 10.0
    burst: int = 20
    pause: float = 60.0


@dataclass(slots=True)
class Allowance:
    """How many events may be written: `rate` more a second, up to `burst`."""

    bounds: Bounds
    left: float
    at: float

    def wait(self, now: float) -> float:
        """Seconds until the next may be written; 0: it counts as written."""
        self.left = min(self.bounds.burst, self.left + (now - self.at) * self.bounds.rate)
        self.at = now
        if self.left < 1:
            return (1 - self.left) / self.bounds.rate
        self.left -= 1
        return 0.0


def event_of(news: News, at: float, instance: str, key: str) -> dict[str, Any]:
    """The object of an event.

    at  : seconds since 1970; instance: who tells it; key: makes its name one of its own
    """
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": f"{news.name[:_LONGEST_NAME].rstrip('.-')}.{key}", "namespace": news.namespace},
        "eventTime": datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "reportingController": CONTROLLER,
        "reportingInstance": instance[:_LONGEST_INSTANCE],
        "action": news.action,
        "reason": news.reason,
        "note": news.note[:_LONGEST_NOTE],
        "type": "Warning" if news.is_urgent else "Normal",
        "regarding": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": news.namespace,
            "name": news.name,
            "uid": news.uid,
        },
    }


class Announcer:
    """Writes events in a thread of its own; `put` may be called by any, and never waits."""

    def __init__(self, api: Api, fence: Fence, measures: Measures, bounds: Bounds = Bounds()) -> None:  # noqa: B008
        self._api, self._fence, self._measures, self._bounds = api, fence, measures, bounds
        self._waiting: deque[News] = deque()
        self._allowance = Allowance(bounds, bounds.burst, time.monotonic())
        self._complaint = ""
        self._thread = Repeating("events", self._tell)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def put(self, news: News | None) -> None:
        """Tell this, where there is something to tell and room."""
        if news is None:
            return
        if len(self._waiting) >= (self._bounds.most if news.is_urgent else self._bounds.few):
            self._measures.told("dropped")
            return
        self._waiting.append(news)
        self._thread.wake()

    def close(self) -> None:
        """Stop; what waits is not told. May be called twice."""
        self._thread.close()

    def _tell(self) -> Again:
        is_closing = self._thread.is_closing
        while self._waiting:
            while (wait := self._allowance.wait(time.monotonic())) and not is_closing.wait(wait):
                pass
            if not self._fence.passes(is_closing):
                break
            news = self._waiting.popleft()
            self._write(event_of(news, time.time(), socket.gethostname(), secrets.token_hex(8)))
        return Again()

    def _write(self, event: dict[str, Any]) -> None:
        path = f"/apis/events.k8s.io/v1/namespaces/{event['metadata']['namespace']}/events"
        try:
            self._api.request("POST", path, event, within=self._fence.write)
        except ApiError as error:
            self._measures.told("failed")
            if _TERMINATED in str(error):
                return
            if error.reason != self._complaint:
                self._complaint = error.reason
                _LOG.warning("an event cannot be written: %s", error)
            if error.status == HTTPStatus.FORBIDDEN:
                self._thread.is_closing.wait(self._bounds.pause)
        else:
            self._complaint = ""
            self._measures.told("written")
