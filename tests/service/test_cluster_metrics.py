"""Numbers of a governed cluster for Prometheus."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.measures import Measures
from fairhold.service import cluster_metrics
from fairhold.service.cluster_metrics import cluster_exposition, cluster_numbers
from tests.engines.kubernetes.pretended import node
from tests.live.governed import Governed

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def samples(text: bytes, name: str) -> dict[str, float]:
    """Labels → value, of what is not 0."""
    found = re.findall(rf"^fairhold_kubernetes_{name}(?:{{(.*)}})? (\S+)$", text.decode(), flags=re.MULTILINE)
    return {labels: float(value) for labels, value in found if float(value)}


def test_pods_are_counted_by_namespace_and_state_and_nodes_by_state(tmp_path: Path) -> None:
    governed = Governed(tmp_path)
    for number in range(4):
        governed.pod(f"p{number}")
    governed.pod("none", "trading", gpus=0)
    governed.settle()
    governed.run("p0")
    governed.governor.see_node(node("n1"))
    governed.settle()
    text = cluster_exposition(cluster_numbers(governed.governor), Measures())
    assert samples(text, "pods") == {
        'namespace="risk",state="granted"': 3,
        'namespace="risk",state="running"': 1,
        'namespace="trading",state="refused"': 1,
    }
    assert samples(text, "nodes") == {'state="ready"': 2}


def test_namespaces_have_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_metrics, "MOST_NAMESPACES", 1)
    governed = Governed(tmp_path)
    for number, namespace in enumerate(("risk", "trading", "trading", "risk")):
        governed.pod(f"p{number}", namespace)
    governed.settle()
    numbers = cluster_numbers(governed.governor)
    assert numbers.pods == {("risk", "granted"): 2, ("others", "granted"): 2}


def test_traffic_is_counted_by_kind_and_result() -> None:
    measures = Measures()
    measures.look_at(lambda: 2.5, lambda: True)
    for result in ("done", "done", "conflict"):
        measures.wrote("grant", result, 0.02)
    measures.listed("pods")
    measures.watch_ended("pods", "expired")
    measures.told("dropped")
    text = cluster_exposition(cluster_metrics.ClusterNumbers({}, {}), measures)
    assert samples(text, "writes_total") == {
        'result="done",what="grant"': 2,
        'result="conflict",what="grant"': 1,
    }
    assert samples(text, "write_seconds_count") == {"": 3}
    assert samples(text, "write_seconds_bucket")['le="0.025"'] == 3
    assert samples(text, "lists_total") == {'kind="pods"': 1}
    assert samples(text, "watches_total") == {'end="expired",kind="pods"': 1}
    assert samples(text, "events_total") == {'result="dropped"': 1}
    assert samples(text, "stale_seconds") == {"": 2.5}
    assert samples(text, "leader") == {"": 1}
