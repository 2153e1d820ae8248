"""Events and metrics of a service that governs a real control plane."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.kubernetes.control_plane import SERVICE
from tests.kubernetes.estate import Estate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kubernetes.control_plane import ControlPlane


@pytest.fixture
def graceful(cluster: ControlPlane, tmp_path: Path) -> Iterator[Estate]:
    """An estate of one node, whose borrowers have three seconds."""
    made = Estate(cluster, tmp_path, nodes=1, grace="3s")
    try:
        yield made.serve()
    finally:
        made.close()


def events(estate: Estate, namespace: str) -> list[dict[str, Any]]:
    found = estate.api.list(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events")[0]
    return [each for each in found if each.get("reportingController") == "fairhold.io/governor"]


def reasons(estate: Estate, namespace: str) -> list[str]:
    return sorted({each["reason"] for each in events(estate, namespace)})


def value(estate: Estate, name: str) -> float:
    """The sum of a metric's samples, chosen by the start of their text."""
    text = estate.house.client.metrics()
    return sum(float(each) for each in re.findall(rf"^{re.escape(name)}.* (\S+)$", text, flags=re.MULTILINE))


def test_people_are_told_of_waits_notices_stops_and_refusals_and_of_plain_grants_nothing(graceful: Estate) -> None:
    estate = graceful
    estate.job(estate.risk, "borrows", 4)
    estate.until_states(estate.risk, running=4)
    assert events(estate, estate.risk) == []
    estate.pod(estate.risk, "more")
    estate.until(lambda: reasons(estate, estate.risk))
    estate.job(estate.trading, "owner", 1)
    estate.until(lambda: {"NoticeGiven", "Reclaimed"} <= set(reasons(estate, estate.risk)))
    [noticed] = [each for each in events(estate, estate.risk) if each["reason"] == "NoticeGiven"]
    assert "for /trading" in noticed["note"]
    assert noticed["type"] == "Warning"
    assert noticed["regarding"]["uid"]
    estate.until_states(estate.trading, running=1)
    estate.delete(estate.risk, "more")
    estate.api.request(
        "DELETE", f"/apis/batch/v1/namespaces/{estate.trading}/jobs/owner", {"propagationPolicy": "Background"}
    )
    made = estate.pod(estate.trading, "whose", notes={"fairhold.io/consumer": "/nobody"})
    estate.until(lambda: "UnknownConsumer" in reasons(estate, estate.trading))
    [refused] = [each for each in events(estate, estate.trading) if each["reason"] == "UnknownConsumer"]
    assert refused["regarding"]["uid"] == made["metadata"]["uid"]
    shown = estate.cluster.kubectl("events", "--namespace", estate.trading, "--for", "pod/whose")
    assert "UnknownConsumer" in shown


def test_metrics_tell_of_pods_writes_lists_and_the_lead(graceful: Estate) -> None:
    estate = graceful
    estate.job(estate.risk, "work", 5)
    estate.until_states(estate.risk, running=4, gated=1)
    name = "fairhold_kubernetes"
    estate.until(lambda: value(estate, f'{name}_pods{{namespace="{estate.risk}",state="running"}}') == 4)
    assert value(estate, f'{name}_pods{{namespace="{estate.risk}",state="waiting"}}') == 1
    assert value(estate, f'{name}_writes_total{{result="done",what="grant"}}') == 4
    assert value(estate, f"{name}_write_seconds_count") == value(estate, f"{name}_writes_total") >= 4
    assert value(estate, f'{name}_lists_total{{kind="nodes"}}') == 1
    assert value(estate, f"{name}_leader") == 1
    assert value(estate, f"{name}_stale_seconds") == 0
    assert value(estate, f'{name}_nodes{{state="ready"}}') >= 1
    assert value(estate, f'{name}_events_total{{result="dropped"}}') == 0


def test_without_the_right_to_events_everything_else_goes_on(cluster: ControlPlane, tmp_path: Path) -> None:
    rules = [("pods,pods/status", "get,list,watch,create,patch,delete"), ("nodes,namespaces", "get,list,watch")]
    for number, (what, verbs) in enumerate(rules):
        name = f"part-{number}"
        cluster.kubectl("create", "clusterrole", name, f"--verb={verbs}", f"--resource={what}")
        cluster.kubectl("create", "clusterrolebinding", name, f"--clusterrole={name}", f"--user={SERVICE}")
    words = ("--no-lease", "--kubernetes", "--kubeconfig", str(cluster.kubeconfig(SERVICE)))
    estate = Estate(cluster, tmp_path, *words, nodes=1, grace="1s")
    try:
        estate.serve()
        estate.job(estate.risk, "borrows", 4)
        estate.until_states(estate.risk, running=4)
        estate.job(estate.trading, "owner", 2)
        estate.until_states(estate.trading, running=2)
        estate.until(lambda: value(estate, 'fairhold_kubernetes_events_total{result="failed"}') >= 1)
        assert events(estate, estate.risk) == []
        assert estate.house.said.count("an event cannot be written") == 1
    finally:
        estate.close()
