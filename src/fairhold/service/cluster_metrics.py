"""Metrics of a governed cluster: its pods and nodes as they are at the scrape, its traffic as it is counted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily

from fairhold.engines.kubernetes.work import STANDINGS, standing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prometheus_client.metrics_core import Metric

    from fairhold.engines.kubernetes.governor import Governor
    from fairhold.engines.kubernetes.measures import Measures

MOST_NAMESPACES = 500
"""Namespaces with numbers of their own; the others together are `others`."""
OTHERS = "others"


class ClusterNumbers(NamedTuple):
    """Pods by namespace and state, and nodes by state."""

    pods: Mapping[tuple[str, str], int]
    nodes: Mapping[str, int]


def cluster_numbers(governor: Governor) -> ClusterNumbers:
    """A governor in numbers; called in the desk's thread."""
    pods: Counter[tuple[str, str]] = Counter()
    named: set[str] = set()
    for work in governor.works.of.values():
        namespace = work.pod.namespace
        if namespace not in named and len(named) >= MOST_NAMESPACES:
            namespace = OTHERS
        named.add(namespace)
        pods[namespace, standing(work)] += 1
    nodes = Counter(
        "silent" if not node.is_ready else "cordoned" if node.is_closed else "ready"
        for node in governor.fleet.nodes.values()
    )
    return ClusterNumbers(pods, nodes)


class _Collector:
    def __init__(self, numbers: ClusterNumbers) -> None:
        self._numbers = numbers

    def collect(self) -> Iterator[Metric]:
        pods = GaugeMetricFamily(
            "fairhold_kubernetes_pods", "Governed pods by where they stand.", labels=["namespace", "state"]
        )
        for namespace in dict.fromkeys(namespace for namespace, _ in self._numbers.pods):
            for state in STANDINGS:
                pods.add_metric([namespace, state], self._numbers.pods.get((namespace, state), 0))
        yield pods
        nodes = GaugeMetricFamily("fairhold_kubernetes_nodes", "Nodes of the cluster.", labels=["state"])
        for state in ("ready", "cordoned", "silent"):
            nodes.add_metric([state], self._numbers.nodes.get(state, 0))
        yield nodes


def cluster_exposition(numbers: ClusterNumbers, measures: Measures) -> bytes:
    """Everything of the cluster in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(_Collector(numbers))
    return generate_latest(registry) + generate_latest(measures.registry)
