"""A service that only looks: others decide, and it tells what it would do on what the cluster has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.asking import Namespace
from fairhold.engines.kubernetes.observing import MOST_PODS, pods_of_job
from fairhold.runtime.live.views.observed import seats_of, would_do
from fairhold.runtime.live.views.pods import pod_document
from fairhold.runtime.live.views.waiting import WOULD_START
from fairhold.service.planning import Frozen
from tests.live.governed import PLAN, Governed

if TYPE_CHECKING:
    from pathlib import Path

KUEUE = "kueue.x-k8s.io/admission"


SLOTS = PLAN.replace("resources: {gpu: {base: 1}}\n", "").replace(
    "{nodes: {}}", "{nodes: {}, slot: {nvidia.com/gpu: 1}}"
)
OF_SLOTS = SLOTS.replace("fair_share", "hybrid").replace("{deserved: {gpu: 2}}", "{owned: 2}")


@pytest.fixture
def seen(tmp_path: Path) -> Governed:
    """A cluster with a node of four GPUs, of which each of the two consumers deserves two."""
    return Governed(tmp_path, observes=True)


@pytest.fixture(params=[PLAN, OF_SLOTS], ids=["resources", "slots"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Governed:
    """The same, and one in which each owns two slots of a GPU."""
    return Governed(tmp_path, request.param, observes=True)


def told(governed: Governed, most: int = 100) -> dict[str, Any]:
    """What would be done; nothing is."""
    frozen = Frozen(governed.core)
    while frozen.step(governed.core):
        pass
    return would_do(frozen.standing(), *seats_of(governed.governor), most)


def actions(governed: Governed) -> list[str]:
    return [f"{row['action']} {row['pod']}" for row in told(governed)["actions"]]


def counts(governed: Governed) -> tuple[dict[str, int], dict[str, int]]:
    found = told(governed)
    return found["running"], found["waiting"]


def test_what_waits_elsewhere_would_start_and_is_never_counted_as_started(both: Governed) -> None:
    for number in range(6):
        both.pod(f"p{number}", gate=KUEUE if number % 2 else "")
    for _ in range(3):
        assert both.settle(5_000_000) == []
        assert len([each for each in actions(both) if each.startswith("start")]) == 4
        assert counts(both) == ({"keep": 0, "notice": 0, "stop": 0}, {"start": 4, "wait": 2, "refused": 0})
    assert both.core.cluster.attempts == {}
    document = pod_document(both.core, both.governor, "risk", "p0")
    assert (document["state"], document["text"]) == ("waiting", WOULD_START)


def test_what_the_cluster_started_counts_and_what_it_lent_too_long_would_be_told_to_go(both: Governed) -> None:
    for number in range(4):
        both.pod(f"p{number}", gate=KUEUE)
        both.run(f"p{number}")
    both.settle()
    assert counts(both) == ({"keep": 4, "notice": 0, "stop": 0}, {"start": 0, "wait": 0, "refused": 0})
    assert len(both.core.cluster.attempts) == 4
    both.pod("owner", "trading", gate="")
    assert both.settle(5_000_000) == []
    found = told(both)
    [row] = found["actions"]
    assert (row["action"], row["taker"], row["node"], row["consumer"]) == ("notice", "/trading", "n0", "/risk")
    assert found["running"] == {"keep": 3, "notice": 1, "stop": 0}
    assert found["waiting"] == {"start": 0, "wait": 1, "refused": 0}
    both.settle(600_000_000)
    assert told(both)["running"] == {"keep": 3, "notice": 1, "stop": 0}, "nobody was told, so nobody is stopped"
    assert both.written == []


def test_the_state_follows_what_the_cluster_did_otherwise(seen: Governed) -> None:
    seen.pod("ours", gate="")
    seen.settle()
    for number in range(4):
        seen.pod(f"t{number}", "trading", gate=KUEUE)
    seen.settle()
    assert "start ours" in actions(seen)
    for number in range(4):  # the cluster's scheduler takes those
        seen.run(f"t{number}")
    seen.settle()
    assert [each.split()[0] for each in actions(seen)] == ["notice"]
    seen.end("t0")
    seen.settle()
    assert actions(seen) == ["start ours"]
    seen.delete("ours")
    seen.settle()
    assert actions(seen) == []
    assert len(seen.core.cluster.jobs) == 3


def test_the_plan_says_whose_pods_count_whether_or_not_their_namespace_is_governed(seen: Governed) -> None:
    seen.governor.see_namespace(Namespace("risk", {}, {}))
    seen.governor.see_namespace(Namespace("other", {}, {}))
    seen.pod("a", "risk", gate="")
    seen.pod("b", "other", gate="")
    seen.pod("c", "risk", gate="", annotations={names.CONSUMER: "/nobody"})
    seen.settle()
    assert actions(seen) == ["start a"]
    assert told(seen)["waiting"] == {"start": 1, "wait": 0, "refused": 1}


def test_another_service_that_governs_is_looked_at_like_any_scheduler(seen: Governed) -> None:
    seen.pod("p", finalizers=[names.FINALIZER], annotations={names.ATTEMPT: "77"})
    seen.settle()
    assert actions(seen) == ["start p"]
    seen.run("p")
    seen.settle()
    assert counts(seen)[0] == {"keep": 1, "notice": 0, "stop": 0}
    assert seen.written == []


def test_under_other_rules_every_pod_is_looked_at_again(seen: Governed) -> None:
    seen.pod("runs", gate="")
    seen.run("runs")
    seen.pod("waits", gate=KUEUE)
    seen.settle()
    assert [pod_document(seen.core, seen.governor, "risk", name)["consumer"] for name in seen.pods] == 2 * ["/risk"]
    other = PLAN.replace("{namespace: risk, consumer: /risk}", "{namespace: risk, consumer: /trading}")
    seen.core.apply_plan(other, "ann", "", seen.core.version)
    seen.settle()
    assert [pod_document(seen.core, seen.governor, "risk", name)["consumer"] for name in seen.pods] == 2 * ["/trading"]
    assert counts(seen) == ({"keep": 1, "notice": 0, "stop": 0}, {"start": 1, "wait": 0, "refused": 0})
    seen.core.apply_plan(PLAN.replace("namespace: risk,", "namespace: none,"), "ann", "", seen.core.version)
    seen.settle()
    assert counts(seen) == ({"keep": 0, "notice": 0, "stop": 0}, {"start": 0, "wait": 0, "refused": 0})
    assert seen.core.cluster.jobs == {}
    assert seen.governor.fleet.changes(seen.governor.asking.resources) == {}
    assert seen.written == []


def test_a_namespace_that_says_otherwise_whose_its_pods_are_is_believed(seen: Governed) -> None:
    for name in ("a", "b"):
        seen.pod(name, "other", gate="")
    seen.run("a")
    seen.settle()
    assert counts(seen) == ({"keep": 0, "notice": 0, "stop": 0}, {"start": 0, "wait": 0, "refused": 0})
    seen.governor.see_namespace(Namespace("other", {}, {names.CONSUMER: "/risk"}))
    seen.settle()
    assert counts(seen) == ({"keep": 1, "notice": 0, "stop": 0}, {"start": 1, "wait": 0, "refused": 0})
    seen.governor.see_namespace(Namespace("other", {}, {}))
    seen.settle()
    assert counts(seen) == ({"keep": 0, "notice": 0, "stop": 0}, {"start": 0, "wait": 0, "refused": 0})


def test_what_is_taken_back_and_comes_again_waits_again(seen: Governed) -> None:
    for _ in range(3):
        seen.pod("j.0", gate=KUEUE)
        seen.settle()
        assert actions(seen) == ["start j.0"]
        seen.delete("j.0")
        seen.settle()
        assert actions(seen) == []


def job(**spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"resources": {"limits": {"cpu": "1"}}}]}}
    meta = {"uid": "j", "name": "train", "namespace": "risk", "resourceVersion": "3"}
    return {"metadata": meta, "spec": {"template": template} | spec}


@pytest.mark.parametrize(
    ("document", "number"),
    [
        (job(suspend=True), 1),
        (job(suspend=True, parallelism=3), 3),
        (job(suspend=True, parallelism=3, completions=2), 2),
        (job(suspend=True, parallelism=3, completions=5) | {"status": {"succeeded": 4}}, 1),
        (job(suspend=True, parallelism=0), 0),
        (job(suspend=True, parallelism=10**6), MOST_PODS),
        (job(suspend=False, parallelism=3), 0),
        (job(parallelism=3), 0),
        (job(suspend=True) | {"status": {"conditions": [{"type": "Complete", "status": "True"}]}}, 0),
    ],
)
def test_a_suspended_job_will_have_so_many_pods(document: dict[str, Any], number: int) -> None:
    pods = list(pods_of_job(document))
    assert len({pod.uid for pod in pods}) == number
    assert all((pod.namespace, pod.labels, pod.family) == ("risk", {"a": "b"}, ("risk.j", "")) for pod in pods)
