"""Where the pods of a governed cluster stand, from their appearance to their end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.errors import InputError
from fairhold.runtime.live.views.consumers import consumers_document
from fairhold.runtime.live.views.pods import pod_document, pods_document
from fairhold.service.planning import Frozen, Look, plan_effect
from fairhold.units import SECOND
from tests.engines.kubernetes.pretended import node
from tests.live.governed import PLAN, Governed

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.model.plan import Host, Plan


@pytest.fixture
def governed(tmp_path: Path) -> Governed:
    return Governed(tmp_path)


def seen(governed: Governed, name: str, namespace: str = "risk") -> dict[str, Any]:
    return pod_document(governed.core, governed.governor, namespace, name)


def listed(governed: Governed, namespace: str = "", state: str = "", most: int = 100) -> list[str]:
    document = pods_document(governed.core, governed.governor, namespace, state, most)
    return [f"{row['pod']} {row['state']}" for row in document["pods"]] + ["…"] * document["left_out"]


def test_a_pod_is_granted_runs_is_noticed_and_stopped(governed: Governed) -> None:
    for number in range(4):
        governed.pod(f"p{number}")
    governed.settle()
    assert seen(governed, "p0") | {"job": ""} == {
        "namespace": "risk",
        "pod": "p0",
        "uid": "p0",
        "state": "granted",
        "consumer": "/risk",
        "job": "",
        "task": 0,
        "node": "n0",
        "reason": None,
        "text": "",
        "notice": None,
        "would": None,
    }
    for number in range(4):
        governed.run(f"p{number}")
    governed.pod("owner", "trading", gpus=1)
    governed.settle()
    assert listed(governed, "risk", "running") == ["p0 running", "p1 running", "p2 running"]
    assert listed(governed, "risk", "notice") == ["p3 notice"]
    assert listed(governed, "trading") == ["owner waiting"]
    assert listed(governed, most=2) == ["p0 running", "p1 running", "…", "…", "…"]
    told = seen(governed, "p3")
    assert told["notice"]["taker"] == "/trading"
    assert seen(governed, "owner", "trading")["reason"]
    governed.settle(60_000_000)
    assert seen(governed, "p3")["state"] == "stopping"


def test_a_pod_whose_node_was_deleted_says_so_and_no_more_is_used_than_there_is(tmp_path: Path) -> None:
    governed = Governed(tmp_path, nodes=2)
    for number in range(8):
        governed.pod(f"p{number}")
    governed.settle()
    for number in range(8):
        governed.run(f"p{number}", governed.governor.works.of[f"p{number}"].host)
    governed.settle()
    [gone] = {row["node"] for row in pods_document(governed.core, governed.governor, "", "", 100)["pods"]} - {"n1"}
    governed.governor.lose_node(gone)
    governed.settle()
    told = [seen(governed, f"p{number}") for number in range(8)]
    assert {each["text"] for each in told if each["node"] == "n1"} == {""}
    assert {each["reason"] for each in told if each["node"] == gone} == {"NodeGone"}
    texts = {each["text"] for each in told if each["node"] == gone}
    assert all(text.startswith(f"its node {gone} was deleted at 2026-01-05T08:00:0") for text in texts)
    [group] = consumers_document(governed.core)["resource_groups"].values()
    assert group["resources"]["gpu"] == {"total": 8, "used": 8}
    governed.governor.see_node(node(gone))
    governed.settle()
    assert {seen(governed, f"p{number}")["text"] for number in range(8)} == {""}


def test_another_plan_is_compared_on_the_nodes_that_there_are(governed: Governed) -> None:
    for number in range(4):
        governed.pod(f"p{number}")
    governed.settle()
    for number in range(4):
        governed.run(f"p{number}")
    governed.pod("owner", "trading")
    governed.settle()
    frozen = Frozen(governed.core)
    while frozen.step(governed.core):
        pass
    other = PLAN.replace("/trading: {deserved: {gpu: 2}}", "/trading: {deserved: {gpu: 1}}")
    look = Look(3_600 * SECOND)
    assert hosts(plan_effect(frozen, other, {}, look).plan) == hosts(governed.core.plan) != []
    same = plan_effect(frozen, PLAN + "# the same\n", {}, look).diff
    assert [span["consumers"] for span in same["over_time"]["spans"]] == [{}]


def hosts(plan: Plan) -> list[Host]:
    return [host for group in plan.resource_groups.values() for host in group.hosts]


def test_a_pod_that_is_refused_says_why(governed: Governed) -> None:
    governed.pod("none", gpus=0)
    governed.settle()
    told = seen(governed, "none")
    assert (told["state"], told["reason"], told["job"], told["consumer"]) == ("refused", "MissingUnit", None, None)
    assert "asks for nothing of what the plan shares" in told["text"]


def test_what_is_not_governed_is_not_known(governed: Governed) -> None:
    governed.pod("free", "other", gate="")
    governed.settle()
    for namespace, name in (("other", "free"), ("risk", "nobody")):
        with pytest.raises(InputError) as caught:
            seen(governed, name, namespace)
        assert caught.value.faults[0].code == "unknown-pod"
    assert listed(governed) == []
