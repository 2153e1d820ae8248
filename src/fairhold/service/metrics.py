"""Metrics for Prometheus: requests as they are answered, everything else as it is at the scrape."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from fairhold.ledger.vectors import POOLED
from fairhold.runtime.live.views.budgets import budgets_of
from fairhold.runtime.live.views.consumers import group_document
from fairhold.runtime.live.views.pools import kept_amounts, kept_queues, resources_of_groups

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from prometheus_client.metrics_core import Metric

    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.desk import Desk
    from fairhold.runtime.live.outbox import Outbox
    from fairhold.service.context import Service

MOST_LEAVES = 1_000
"""Leaves with numbers of their own; the others together are the consumer `others`."""
OTHERS = "others"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
UNITS = {
    "owned": "guaranteed by the plan now",
    "entitled": "that the consumer is entitled to now: its quota or fair share",
    "allocated": "held, those under notice included",
    "borrowed": "allocated beyond what is owned",
    "lent": "owned and allocated by others",
    "waiting": "wanted and not allocated",
    "reclaiming": "allocated and under notice",
}
"""What is told of consumers, in slots and in amounts of resources, and the words for it."""
QUEUE = {
    "fair_share": "What a queue is entitled to of a resource, in declared units.",
    "deserved": "What a queue deserves of a resource, in declared units.",
    "requested": "What a queue holds and waits for of a resource, in declared units.",
    "allocated": "What a queue holds of a resource, in declared units.",
    "saturation": "What a queue holds of a resource for its fair share.",
    "usage": "Decayed history of a queue, as a part of what there was of a resource.",
}
"""What is told of a queue in every resource, and the words for it."""


class Requests:
    """Counts requests and how long they took."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._seconds = Histogram(
            "fairhold_http_request_seconds",
            "Seconds from a request to the end of its answer.",
            ("method", "path", "status"),
            registry=self.registry,
            buckets=_BUCKETS,
        )

    def count(self, method: str, path: str, status: int, seconds: float) -> None:
        """An answer was given; `path` is that of the route below `/v1`, so that there are few; empty: there is none."""
        method = method if method in _METHODS else "other"
        self._seconds.labels(method, path, str(status)).observe(seconds)


class Numbers(NamedTuple):
    """What is read from the core at once.

    units     : resource group of slots → leaf → `UNITS` → slots
    resources : resource group that shares resources of hosts → name → total and used
    amounts   : groups that share resources → consumer → `UNITS` → resource → amount, of the first `MOST_LEAVES`
    queues    : path of a queue → how it stands, the first `MOST_LEAVES`
    budgets   : (resource group, path, budget) of consumers that have one
    """

    cycles: int
    jobs: int
    attempts: int
    units: dict[str, dict[str, dict[str, int]]]
    cycle_micros: dict[str, int]
    cycle_stages: dict[str, int]
    resources: dict[str, dict[str, Any]]
    amounts: dict[str, dict[str, dict[str, Any]]]
    queues: dict[str, dict[str, Any]]
    budgets: list[tuple[str, str, dict[str, Any]]]


def numbers(core: Core) -> Numbers:
    """The core in numbers; called in the desk's thread."""
    cluster = core.cluster
    notes = core.cycle_notes
    counts = cluster.cycles, len(cluster.jobs), len(cluster.attempts)
    units = {group: units_of_leaves(core, group) for group in cluster.books if group != POOLED}
    queues = dict(islice(kept_queues(core).items(), MOST_LEAVES))
    resources = resources_of_groups(core), _amounts(core)
    now = max(core.now(), core.orchestrator.now)
    budgets = [
        (books.rows.group.name, books.rows.path(row), budget)
        for books in cluster.books.values()
        for row, budget in islice(budgets_of(books, now).items(), MOST_LEAVES)
    ]
    return Numbers(*counts, units, dict(notes.micros), dict(notes.stages), *resources, queues, budgets)


def units_of_leaves(core: Core, group: str) -> dict[str, dict[str, int]]:
    """Path of a leaf → `UNITS` → slots; those beyond `MOST_LEAVES` together."""
    found: dict[str, dict[str, int]] = {}
    for row in group_document(core, group)["consumers"]:
        if row["leaf"]:
            numbers = {name: row["quota" if name == "entitled" else name] for name in UNITS}
            _count(found, row["path"], numbers)
    return found


def _amounts(core: Core) -> dict[str, dict[str, dict[str, Any]]]:
    """Resource groups that share resources of hosts, together → consumer → `UNITS` → resource → amount."""
    if POOLED not in core.cluster.books:
        return {}
    told = {path: amounts for path, amounts in kept_amounts(core).items() if path != "/"}
    return {core.cluster.books[POOLED].rows.group.name: dict(islice(told.items(), MOST_LEAVES))}


def _count(found: dict[str, dict[str, int]], path: str, numbers: dict[str, int]) -> None:
    if len(found) < MOST_LEAVES:
        found[path] = numbers
    else:
        rest = found.setdefault(OTHERS, dict.fromkeys(numbers, 0))
        found[OTHERS] = {name: rest[name] + number for name, number in numbers.items()}


class _Collector:
    """Gives one reading to Prometheus."""

    def __init__(self, desk: Desk, read: Numbers, agents: int, store_bytes: int, term: int) -> None:
        self._term = term
        self._desk = desk
        self._read = read
        self._agents = agents
        self._store_bytes = store_bytes

    def collect(self) -> Iterator[Metric]:
        """All of it."""
        read, desk = self._read, self._desk
        yield _counter("cycles", "Cycles that were run.", read.cycles)
        yield _counter("rounds", "Rounds of the desk.", desk.rounds)
        yield _counter("log_entries", "Entries of the event log.", desk.core.store.last)
        yield _stages("stage_seconds", "Seconds in each stage of the rounds.", desk.stages)
        yield _stages("cycle_stage_seconds", "Seconds in each stage of the cycles.", read.cycle_stages)
        latest = GaugeMetricFamily("fairhold_cycle_seconds", "Duration of the latest cycle.", labels=["resource_group"])
        for group, micros in read.cycle_micros.items():
            latest.add_metric([group], micros / 1e6)
        yield latest
        yield GaugeMetricFamily("fairhold_jobs", "Jobs that have not ended.", value=read.jobs)
        yield GaugeMetricFamily("fairhold_attempts", "Attempts that run.", value=read.attempts)
        yield GaugeMetricFamily("fairhold_agents_connected", "Agents that are connected.", value=self._agents)
        yield GaugeMetricFamily("fairhold_store_bytes", "Size of the store's files.", value=self._store_bytes)
        yield from _notifications(desk.core.notifications.outbox)
        trouble = desk.trouble is not None
        leads = "1 = this service leads. One that stands by answers no metrics."
        yield GaugeMetricFamily("fairhold_leader", leads, value=desk.leads())
        yield GaugeMetricFamily("fairhold_term", "Counts services that have led the store.", value=self._term)
        yield GaugeMetricFamily("fairhold_trouble", "1 = nothing can be written at present.", value=trouble)
        yield from resource_metrics(read.resources)
        yield from queue_metrics(read.queues)
        yield budget_metric(read.budgets)
        yield from amount_metrics(read.amounts)
        for name, text in UNITS.items():
            family = GaugeMetricFamily(
                f"fairhold_units_{name}", f"Slots {text}.", labels=["resource_group", "consumer"]
            )
            for group, leaves in read.units.items():
                for path, numbers in leaves.items():
                    family.add_metric([group, path], numbers[name])
            yield family


def _counter(name: str, text: str, value: float) -> CounterMetricFamily:
    return CounterMetricFamily(f"fairhold_{name}", text, value=value)


def _notifications(outbox: Outbox) -> Iterator[Metric]:
    """What became of messages to people since the start, and how many wait."""
    sent = CounterMetricFamily("fairhold_notifications_sent", "Messages that were sent.", labels=["channel"])
    failed = CounterMetricFamily("fairhold_notifications_failed", "Messages that were given up.", labels=["channel"])
    waiting = GaugeMetricFamily("fairhold_notifications_waiting", "Messages that wait.", labels=["channel"])
    for channel, number in outbox.waiting().items():
        sent.add_metric([channel], outbox.sent[channel])
        failed.add_metric([channel], outbox.failed[channel])
        waiting.add_metric([channel], number)
    yield from (sent, failed, waiting)


def resource_metrics(groups: Mapping[str, Mapping[str, Any]]) -> Iterator[GaugeMetricFamily]:
    """What there is and what is used of every resource, in declared units; groups: as in `Numbers.resources`."""
    texts = {"total": "What there is of a resource on the hosts that are up.", "used": "What tasks hold of a resource."}
    for name, text in texts.items():
        family = GaugeMetricFamily(f"fairhold_resource_{name}", text, labels=["resource_group", "resource"])
        for group, resources in groups.items():
            for resource, of in resources.items():
                family.add_metric([group, resource], float(of[name]))
        yield family


def amount_metrics(groups: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Iterator[GaugeMetricFamily]:
    """What consumers have of every resource, in declared units; groups: as in `Numbers.amounts`."""
    for name, text in UNITS.items():
        labels = ["resource_group", "consumer", "resource"]
        family = GaugeMetricFamily(f"fairhold_resource_{name}", f"Amounts of resources {text}.", labels=labels)
        for group, consumers in groups.items():
            resources = dict.fromkeys(each for of in consumers.values() for row in of.values() for each in row)
            for path, of in consumers.items():
                for resource in resources:
                    family.add_metric([group, path, resource], _value(of[name].get(resource, 0)))
        yield family


def budget_metric(budgets: Iterable[tuple[str, str, Mapping[str, Any]]]) -> GaugeMetricFamily:
    """What is used of every budget; budgets: as in `Numbers.budgets`."""
    labels = ["resource_group", "consumer", "period"]
    family = GaugeMetricFamily("fairhold_budget_used", "Part of a budget that is used; 1 = used up.", labels=labels)
    for group, path, budget in budgets:
        family.add_metric([group, path, budget["period"]], float(budget["used"]))
    return family


def queue_metrics(queues: Mapping[str, Mapping[str, Any]]) -> Iterator[GaugeMetricFamily]:
    """How queues stand in every resource; queues: as in `Numbers.queues`. Without bound is +Inf."""
    for name, text in QUEUE.items():
        family = GaugeMetricFamily(f"fairhold_queue_{name}", text, labels=["resource_group", "consumer", "resource"])
        for path, queue in queues.items():
            for resource, of in queue["resources"].items():
                if name != "usage" or of[name] is not None:
                    family.add_metric([", ".join(queue["resource_groups"]), path, resource], _value(of[name]))
        yield family


def _value(said: float | str | None) -> float:
    """A number as documents have it: a fraction as text, nothing and `unbounded` where there is no bound."""
    return inf if said in {None, "unbounded"} else float(Fraction(said))


def _stages(name: str, text: str, nanos: Mapping[str, int]) -> CounterMetricFamily:
    found = CounterMetricFamily(f"fairhold_{name}", text, labels=["stage"])
    for stage, spent in nanos.items():
        found.add_metric([stage], spent / 1e9)
    return found


def exposition(service: Service, read: Numbers, agents: int) -> bytes:
    """Everything in Prometheus' text format."""
    registry, requests = CollectorRegistry(), service.requests
    size = _size(service.settings.directory.glob("store*"))
    registry.register(_Collector(service.desk, read, agents, size, service.role["term"]))
    return generate_latest(registry) + generate_latest(requests.registry)


def _size(paths: Iterable[Path]) -> int:
    total = 0
    for path in paths:
        try:
            total += path.stat().st_size
        except OSError:
            continue  # a file of the store's log that has just gone
    return total
