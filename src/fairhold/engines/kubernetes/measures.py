"""What is counted of the governor's traffic with its API server, for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

if TYPE_CHECKING:
    from collections.abc import Callable

_BUCKETS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0)
_NAME = "fairhold_kubernetes"


class Measures:
    """Counts; any thread may."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._writes = Counter(
            f"{_NAME}_writes", "Changes that the API server was asked for.", ("what", "result"), registry=self.registry
        )
        self._seconds = Histogram(
            f"{_NAME}_write_seconds", "Seconds for a change.", registry=self.registry, buckets=_BUCKETS
        )
        self._lists = Counter(f"{_NAME}_lists", "Lists of all objects of a kind.", ("kind",), registry=self.registry)
        self._watches = Counter(
            f"{_NAME}_watches", "Watches that have ended, and why.", ("kind", "end"), registry=self.registry
        )
        self._events = Counter(f"{_NAME}_events", "Events for people.", ("result",), registry=self.registry)
        self._stale = Gauge(
            f"{_NAME}_stale_seconds", "Since when the cluster is not heard, 0 = it is.", registry=self.registry
        )
        self._leads = Gauge(f"{_NAME}_leader", "1 = this service leads.", registry=self.registry)
        for result in ("written", "failed", "dropped"):
            self._events.labels(result)

    def look_at(self, stale_seconds: Callable[[], float], leads: Callable[[], bool]) -> None:
        """What is looked up whenever somebody wants the numbers."""
        self._stale.set_function(stale_seconds)
        self._leads.set_function(leads)

    def wrote(self, what: str, result: str, seconds: float) -> None:
        """A change was asked for; result: done, conflict, failed."""
        self._writes.labels(what, result).inc()
        self._seconds.observe(seconds)

    def listed(self, kind: str) -> None:
        """All objects of a kind were listed."""
        self._lists.labels(kind).inc()

    def watch_ended(self, kind: str, end: str) -> None:
        """A watch is over; end: time (it had run for as long as it may), expired (a list follows), broken."""
        self._watches.labels(kind, end).inc()

    def told(self, result: str) -> None:
        """An event was written, failed or dropped."""
        self._events.labels(result).inc()
