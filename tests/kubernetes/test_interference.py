"""Users who interfere, and nodes that go: nothing is lost, nothing runs beside what is booked."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from fairhold.engines.kubernetes import names
from tests.kubernetes.estate import PLAN, Estate

if TYPE_CHECKING:
    from pathlib import Path

    from tests.kubernetes.control_plane import ControlPlane


def test_who_strips_finalizer_and_annotation_changes_nothing(estate: Estate) -> None:
    estate.pod(estate.risk, "p")
    estate.until_states(estate.risk, running=1)
    before = estate.pods(estate.risk)[0]
    estate.patch(before, {"metadata": {"finalizers": None, "annotations": {names.ATTEMPT: None}}})

    def is_mended() -> bool:
        meta = estate.pods(estate.risk)[0]["metadata"]
        attempt = before["metadata"]["annotations"][names.ATTEMPT]
        return names.FINALIZER in meta.get("finalizers", ()) and meta["annotations"].get(names.ATTEMPT) == attempt

    estate.until(is_mended)
    assert [job.state for job in estate.house.client.jobs()] == ["running"]


def test_a_pod_that_never_had_the_gate_is_adopted_and_counts(estate: Estate) -> None:
    for number in range(3):
        estate.pod(estate.risk, f"free{number}", gated=False, gpus=2)
    estate.until_states(estate.risk, running=3)
    estate.until(lambda: sum(job.state == "running" for job in estate.house.client.jobs()) == 3)
    for number in range(4):
        estate.pod(estate.trading, f"t{number}")
    estate.until_states(estate.trading, running=4)  # two were free, the others come back
    assert max(estate.used().values()) <= 4
    assert sum(estate.used().values()) <= 8


def test_a_pod_that_is_deleted_by_force_keeps_its_object_until_its_end_is_read(estate: Estate) -> None:
    for number in range(8):
        estate.pod(estate.risk, f"p{number}", term_after=1)
    estate.until_states(estate.risk, running=8)
    estate.pod(estate.risk, "next")
    estate.delete(estate.risk, "p0", grace=0)
    estate.until_states(estate.risk, running=8)
    assert max(estate.used().values()) <= 4
    ended = [job for job in estate.house.client.jobs(finished=True) if job.title == "p0"]
    assert [job.state for job in ended] == ["cancelled"]


def test_what_runs_on_a_node_that_is_not_heard_stays_booked(control_plane: type[ControlPlane], tmp_path: Path) -> None:
    with ExitStack() as stack:
        (folder := tmp_path / "cluster").mkdir()
        cluster = stack.enter_context(control_plane(folder, quick_faults=True))
        estate = Estate(cluster, tmp_path / "house")
        stack.callback(estate.api.close)
        stack.callback(estate.house.close)
        estate.serve()
        for number in range(6):
            estate.pod(estate.risk, f"p{number}")
        estate.until_states(estate.risk, running=6)
        cluster.kill("kwok")
        estate.until(lambda: all(host.state == "silent" for host in estate.house.client.hosts()), 60)
        estate.pod(estate.trading, "waits")
        assert sum(job.state == "running" for job in estate.house.client.jobs()) == 6
        assert estate.states(estate.trading) == {"gated": 1}
        cluster.start("kwok")
        estate.until_states(estate.trading, patience=60, running=1)
        estate.until_states(estate.risk, running=6)


def test_an_object_of_a_node_that_is_deleted_frees_nothing_until_it_is_back(estate: Estate) -> None:
    for number in range(8):
        estate.pod(estate.risk, f"p{number}")
    estate.until_states(estate.risk, running=8)
    node = estate.api.request("GET", f"/api/v1/nodes/{estate.nodes[0]}")
    estate.api.request("DELETE", f"/api/v1/nodes/{estate.nodes[0]}")
    estate.until(
        lambda: not any(host.name == estate.nodes[0] and host.state == "up" for host in estate.house.client.hosts())
    )
    assert sum(job.state == "running" for job in estate.house.client.jobs()) == 8
    for key in ("resourceVersion", "uid", "creationTimestamp", "managedFields"):
        node["metadata"].pop(key, None)
    estate.post("/api/v1/nodes", node)
    estate.until(
        lambda: any(host.name == estate.nodes[0] and host.state == "up" for host in estate.house.client.hosts())
    )
    assert sum(job.state == "running" for job in estate.house.client.jobs()) == 8


def test_what_ran_on_a_node_that_an_autoscaler_has_deleted_runs_elsewhere_after_the_time_of_the_plan(
    cluster: ControlPlane, tmp_path: Path
) -> None:
    plan = PLAN.replace("kubernetes:", "kubernetes:\n  deleted_nodes_lost_after: 3s")
    with ExitStack() as stack:
        estate = Estate(cluster, tmp_path, plan=plan)
        stack.callback(estate.close)
        estate.serve()
        estate.job(estate.risk, "work", 4, spec={"backoffLimit": 0})
        estate.until_states(estate.risk, running=4)
        first = next(iter(estate.used()))
        kept = estate.used()[estate.nodes[1 - estate.nodes.index(first)]]
        estate.nodes.remove(first)
        estate.api.request("DELETE", f"/api/v1/nodes/{first}")
        assert kept < 4
        estate.until(lambda: estate.used()[estate.nodes[0]] == 4)
        estate.until(lambda: first not in estate.used(), 90)  # as the garbage collector of pods sees to it
        assert not estate.job_status(estate.risk, "work").get("failed")
