"""What is left of nodes beside pods that the plan does not govern, and what happens to nodes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.constraints import constraint_of
from fairhold.engines.kubernetes.fleet import CORDONED, ENOUGH, Fleet
from fairhold.engines.kubernetes.pods import NodeSeen, Pod, node_of, pod_of
from fairhold.orchestrator.events import (
    Event,
    MachineClosed,
    MachineGone,
    MachineLabelled,
    MachineOpened,
    MachineSilent,
)

PLAN = frozenset({"cpu", "pods"})
CPUS = 8


def node(
    name: str = "n1",
    *,
    boot: str = "b1",
    ready: bool = True,
    cordoned: bool = False,
    lost: bool = False,
    **labels: str,
) -> NodeSeen:
    taints = [{"key": names.OUT_OF_SERVICE, "effect": "NoExecute"}] if lost else []
    return node_of(
        {
            "metadata": {"name": name, "labels": {names.HOSTNAME: name} | labels},
            "spec": {"unschedulable": cordoned, "taints": taints},
            "status": {
                "allocatable": {"cpu": str(CPUS), "pods": "110", "memory": "1Gi"},
                "conditions": [{"type": "Ready", "status": "True" if ready else "Unknown"}],
                "nodeInfo": {"bootID": boot},
            },
        }
    )


def pod(uid: str, on: str, cpus: int = 1, phase: str = "Running") -> Pod:
    state = {"terminated": {"exitCode": 0}} if phase == "Succeeded" else {"running": {}}
    return pod_of(
        {
            "metadata": {"uid": uid, "namespace": "kube-system", "name": uid, "resourceVersion": "1"},
            "spec": {"nodeName": on, "containers": [{"resources": {"requests": {"cpu": str(cpus)}}}]},
            "status": {"phase": phase, "containerStatuses": [{"state": state}]},
        }
    )


def told(fleet: Fleet, *, is_fresh: bool = True) -> list[Event | str]:
    return list(fleet.events(is_fresh=is_fresh))


def seen(*nodes: NodeSeen) -> Fleet:
    fleet = Fleet()
    for each in nodes:
        fleet.see(each)
    told(fleet)
    return fleet


def test_what_is_left_beside_foreign_pods() -> None:
    fleet = Fleet()
    fleet.see(node())
    fleet.see_foreign(pod("a", "n1", 3))
    fleet.see_foreign(pod("b", "", 2))
    [(name, left)] = fleet.changes(PLAN).items()
    assert left is not None
    assert (name, left.amounts) == ("n1", (("cpu", Fraction(5)), ("pods", Fraction(109))))
    assert left.labels == ((names.HOSTNAME, "n1"),)
    told(fleet)
    assert fleet.changes(PLAN) == {}
    [wider] = fleet.changes(PLAN | {"memory"}).values()
    assert wider is not None
    assert dict(wider.amounts)["memory"] == 2**30


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c"]),
            st.sampled_from(["see", "end", "lose"]),
            st.sampled_from(["", "n1", "n2"]),
            st.integers(1, 4),
        ),
        max_size=20,
    )
)
def test_what_is_left_does_not_depend_on_the_way_there(steps: list[tuple[str, str, str, int]]) -> None:
    fleet, there = seen(node("n1"), node("n2")), dict[str, tuple[str, int]]()
    known: dict[str, Any] = fleet.changes(PLAN)
    for uid, what, on, cpus in steps:
        if what == "lose":
            fleet.lose_foreign(uid)
            there.pop(uid, None)
        else:
            fleet.see_foreign(pod(uid, on, cpus, "Succeeded" if what == "end" else "Running"))
            there.pop(uid, None)
            if what == "see" and on:
                there[uid] = (on, cpus)
        known |= fleet.changes(PLAN)
        told(fleet)
    for name in ("n1", "n2"):
        mine = [cpus for on, cpus in there.values() if on == name]
        expected = (("cpu", Fraction(max(0, CPUS - sum(mine)))), ("pods", Fraction(110 - len(mine))))
        assert known[name].amounts == expected


def test_nodes_that_come_and_go() -> None:
    fleet = seen(node())
    assert list(fleet.changes(PLAN)) == ["n1"]
    fleet.see(node("n2"))
    assert list(fleet.changes(PLAN)) == ["n2"]
    assert told(fleet) == ["n2"]
    fleet.lose("n2", 1)
    fleet.lose("n3", 1)
    assert fleet.changes(PLAN) == {"n2": None}
    assert told(fleet) == [MachineSilent("n2")]
    assert told(fleet) == []


def test_a_node_without_a_host_name_is_no_host() -> None:
    fleet = Fleet()
    fleet.see(node_of({"metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "1"}}}))
    assert fleet.changes(PLAN) == {}
    assert fleet.host_name("n1") == "n1"
    assert fleet.host_name("n9") == "n9"
    fleet.see(node_of({"metadata": {"name": "n1", "labels": {names.HOSTNAME: "other"}}}))
    assert fleet.host_name("n1") == "other"


def test_readiness() -> None:
    fleet = Fleet()
    fleet.see(node(ready=False))
    assert told(fleet) == []
    fleet.see(node())
    assert told(fleet) == ["n1"]
    fleet.see(node())
    assert told(fleet) == []
    fleet.see(node(ready=False))
    assert told(fleet) == [MachineSilent("n1")]
    fleet.see(node())
    assert told(fleet) == ["n1"]


def test_a_node_that_was_started_anew_is_reported() -> None:
    fleet = seen(node(boot="b1"))
    fleet.see(node(boot="b2"))
    assert told(fleet) == ["n1"]
    fleet.see(node(boot="b2", ready=False))
    told(fleet)
    fleet.see(node(boot="b3", ready=False))
    assert told(fleet) == []
    fleet.see(node(boot="b3"))
    assert told(fleet) == ["n1"]


def test_cordons() -> None:
    fleet = seen(node())
    fleet.see(node(cordoned=True))
    assert told(fleet) == [MachineClosed("n1", CORDONED)]
    fleet.see(node(cordoned=True, ready=False))
    assert told(fleet) == [MachineSilent("n1")]
    fleet.see(node(ready=False))
    assert told(fleet) == [MachineOpened("n1")]


def test_a_node_that_is_no_host_yet_is_closed_when_it_is_heard() -> None:
    fleet = Fleet()
    fleet.see(node(cordoned=True, ready=False))
    assert told(fleet) == []
    fleet.see(node(cordoned=True))
    assert told(fleet) == ["n1", MachineClosed("n1", CORDONED)]


def test_a_cordon_while_nothing_is_heard_is_told_at_last() -> None:
    fleet = seen(node())
    assert told(fleet, is_fresh=False) == [MachineSilent("n1")]
    fleet.see(node(cordoned=True))
    assert told(fleet, is_fresh=False) == []
    assert told(fleet) == ["n1", MachineClosed("n1", CORDONED)]


def test_while_nothing_is_heard_every_node_is_silent() -> None:
    fleet = seen(node("n1"), node("n2"), node("n3", ready=False))
    assert told(fleet, is_fresh=False) == [MachineSilent("n1"), MachineSilent("n2")]
    assert told(fleet, is_fresh=False) == []
    assert told(fleet) == ["n1", "n2"]
    assert told(fleet) == []


def test_a_node_is_gone_where_it_is_out_of_service_and_silent() -> None:
    fleet = seen(node())
    fleet.see(node(lost=True))  # switched off, and its kubelet is missed in a minute only
    assert told(fleet) == []
    fleet.see(node(lost=True, ready=False))
    assert told(fleet) == [MachineSilent("n1"), MachineGone("n1")]
    fleet.see(node(lost=True, ready=False))
    assert told(fleet) == []
    fleet.see(node(ready=False))
    fleet.see(node(boot="b2"))
    assert told(fleet) == ["n1"]
    fleet.see(node(boot="b2", ready=False))
    fleet.see(node(boot="b2", ready=False, lost=True))
    assert told(fleet) == [MachineSilent("n1"), MachineGone("n1")]


def test_silence_of_the_cluster_makes_no_node_gone() -> None:
    fleet = seen(node())
    fleet.see(node(lost=True))
    assert told(fleet, is_fresh=False) == [MachineSilent("n1")]
    assert told(fleet) == ["n1"]


def test_hosts_say_which_pods_they_suit() -> None:
    fleet = seen(node("n1", zone="a"), node("n2", zone="b"))
    in_a, anywhere = constraint_of({"nodeSelector": {"zone": "a"}}), constraint_of({})
    label = fleet.label_for(in_a)
    assert fleet.label_for(constraint_of({"nodeSelector": {"zone": "a"}})) == label
    assert fleet.label_for(anywhere) != label
    assert fleet.in_words(f"there is no host with {label}") == "there is no node with zone=a"
    assert fleet.in_words("other") == "other"
    assert label in fleet.labels("n1")
    assert label not in fleet.labels("n2")
    assert fleet.labels("n9") == ()
    assert told(fleet) == [MachineLabelled(name, fleet.labels(name)) for name in ("n1", "n2")]
    fleet.see(node("n2", zone="a"))
    assert told(fleet) == [MachineLabelled("n2", fleet.labels("n2"))]
    assert label in fleet.labels("n2")


def test_what_no_pod_says_of_nodes_any_more_is_forgotten_where_it_is_most() -> None:
    fleet = seen(node("n1", zone="z0"))
    said = [constraint_of({"nodeSelector": {"zone": f"z{number}"}}) for number in range(ENOUGH + 1)]
    labels = [fleet.label_for(each) for each in said]
    assert labels[0] in fleet.labels("n1")
    told(fleet)
    fleet.forget_but(lambda: said[1:3])
    assert list(fleet.suitable) == said[1:3]
    assert told(fleet) == [MachineLabelled("n1", fleet.labels("n1"))]
    assert labels[0] not in fleet.labels("n1")
    assert fleet.label_for(said[0]) == labels[0]
    assert labels[0] in fleet.labels("n1")
    fleet.forget_but(lambda: pytest.fail("few are not worth a look"))


def test_a_node_that_is_gone_is_forgotten_once_nothing_of_it_is_booked() -> None:
    fleet = seen(node("n1"), node("n2"))
    fleet.lose("n1", 5)
    fleet.forget_gone(tuple)
    assert told(fleet) == [MachineSilent("n1")], "it was not forgotten before that was told"
    fleet.lose("n2", 6)
    told(fleet)
    fleet.forget_gone(lambda: {"n1"})
    assert (fleet.gone_since("n1"), fleet.gone_since("n2")) == (5, 0)
    fleet.is_to_forget = True
    fleet.forget_gone(tuple)
    assert fleet.gone_since("n1") == 0
    assert told(fleet, is_fresh=False) == []
    fleet.see(node("n1"))
    assert told(fleet) == ["n1"]
