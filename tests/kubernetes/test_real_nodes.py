"""Governed pods on real kubelets: what containers say of their ends, and what is known where a node says nothing."""

from __future__ import annotations

import json
import os
import signal
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines.kubernetes import names
from tests.kubernetes.estate import state_of
from tests.kubernetes.real_estate import NOTICE, SLEEPS, RealEstate, pod_spec
from tests.kubernetes.real_nodes import SLOTS, containers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kubernetes.control_plane import ControlPlane
    from tests.kubernetes.real_nodes import RealNode


OBEYS = f"trap 'exit 7' USR1; trap 'exit 75' TERM; {SLEEPS}"


@pytest.fixture(params=["5s"])
def estate(
    real_nodes: tuple[ControlPlane, list[RealNode]], tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[RealEstate]:
    with ExitStack() as stack:
        made = RealEstate(*real_nodes, tmp_path, request.param)
        stack.callback(made.close)
        yield made.serve()  # type: ignore[misc]


def gone(estate: RealEstate) -> str:
    """The pod that was stopped, once its object is gone: that is a while after its units are another's."""
    names_ = {f"p{number}" for number in range(2 * SLOTS)}
    found: set[str] = estate.until(lambda: names_ - {pod["metadata"]["name"] for pod in estate.pods(estate.risk)})
    (name,) = found
    return name


def test_a_container_that_saves_its_work_at_term_yields_and_one_that_is_deaf_is_killed(estate: RealEstate) -> None:
    estate.fill(script=OBEYS)
    estate.script("owner", SLEEPS, trading=True)
    estate.until_states(estate.trading, running=1)
    name = gone(estate)
    attempt = estate.attempt(name)
    assert (attempt["reason"], attempt["code"]) == ("yielded", 75)


def test_a_container_that_does_not_hear_term_is_killed_when_its_grace_is_over(estate: RealEstate) -> None:
    estate.fill(script=f"trap '' TERM; {SLEEPS}")
    estate.script("owner", SLEEPS, trading=True)
    estate.until_states(estate.trading, running=1)
    name = gone(estate)
    attempt = estate.attempt(name)
    assert (attempt["reason"], attempt["code"], attempt["signal"]) == ("reclaim", 137, 9)


def test_a_pod_whose_image_is_not_there_says_so_and_gives_back_what_it_holds(estate: RealEstate) -> None:
    estate.script("bad", SLEEPS, image="fairhold.test/none:1")

    def condition() -> dict[str, Any]:
        conditions = estate.pods(estate.risk)[0]["status"].get("conditions", ())
        return next((each for each in conditions if each["type"] == names.GRANTED), {})

    told = estate.until(lambda: condition().get("reason") == "CannotStart" and condition())
    assert told["status"] == "False"
    assert "ErrImageNeverPull" in told["message"]
    attempt = estate.attempt("bad")
    assert (attempt["state"], attempt["reason"]) == ("failed", "not_started")
    assert "ErrImageNeverPull" in attempt["detail"]
    estate.until(lambda: not estate.pods(estate.risk))


@pytest.mark.parametrize("estate", ["600s"], indirect=True)
def test_a_process_in_a_container_reads_its_notice_from_a_file_and_goes(estate: RealEstate) -> None:
    estate.fill(script=f"until grep -q deadline {NOTICE}; do sleep 0.1; done; exit 75")
    estate.script("owner", SLEEPS, trading=True)
    estate.until_states(estate.trading, patience=90, running=1)
    (pod,) = [pod for pod in estate.pods(estate.risk) if state_of(pod) == "failed"]
    attempt = estate.attempt(pod["metadata"]["name"])
    assert (attempt["reason"], attempt["code"]) == ("yielded", 75)
    assert json.loads(pod["metadata"]["annotations"][names.NOTICE])["taker"] == "/trading"


@pytest.mark.slow
def test_what_runs_on_a_node_whose_kubelet_is_gone_stays_booked_and_its_end_is_known_when_it_is_back(
    estate: RealEstate,
) -> None:
    mark = estate.script("a", OBEYS)
    pid = estate.running(mark)
    estate.until_states(estate.risk, running=1)
    node = estate.node_of("a")
    node.kubelet.kill()
    try:
        estate.until(lambda: estate.is_silent(node), 60)
        for number in range(2 * SLOTS):
            estate.script(f"t{number}", SLEEPS, trading=True)
        estate.until_states(estate.trading, running=SLOTS, gated=SLOTS)
        assert containers(mark) == [pid]
        (job,) = [job for job in estate.house.client.jobs() if job.title == "a"]
        assert job.state == "running"
        os.kill(pid, signal.SIGUSR1)  # it ends, and nobody is there to say so
        estate.until(lambda: not containers(mark))
        assert state_of(estate.pods(estate.risk)[0]) != "failed"
    finally:
        node.start_kubelet()
    assert (estate.attempt("a")["reason"], estate.attempt("a")["code"]) == ("failed", 7)
    estate.until_states(estate.trading, patience=60, running=2 * SLOTS)


@pytest.mark.slow
def test_a_pod_that_is_deleted_by_force_is_there_until_its_end_is_known(estate: RealEstate) -> None:
    mark = estate.script("a", f"trap '' TERM; {SLEEPS}")
    pid = estate.running(mark)
    estate.until_states(estate.risk, running=1)
    node = estate.node_of("a")
    node.kubelet.kill()
    try:
        estate.cluster.kubectl("delete", "pod", "a", "--namespace", estate.risk, "--force", "--wait=false")
        estate.until(lambda: estate.is_silent(node), 60)
        assert containers(mark) == [pid]
        assert estate.states(estate.risk)["ending"] == 1
        assert [job.title for job in estate.house.client.jobs()] == ["a"]
    finally:
        node.start_kubelet()
    attempt = estate.attempt("a")
    assert (attempt["reason"], attempt["code"]) == ("cancel", 137)
    assert not containers(mark)
    estate.until(lambda: not estate.pods(estate.risk))


@pytest.mark.slow
def test_a_node_whose_object_is_deleted_frees_nothing_while_its_processes_run(estate: RealEstate) -> None:
    mark = estate.script("a", OBEYS)
    pid = estate.running(mark)
    estate.until_states(estate.risk, running=1)
    node = estate.node_of("a")
    node.kubelet.kill()
    try:
        estate.api.request("DELETE", f"/api/v1/nodes/{node.name}")
        estate.until_states(estate.risk, patience=120, failed=1)  # as the garbage collector of pods says
        assert containers(mark) == [pid]
        assert [job.title for job in estate.house.client.jobs()] == ["a"]
    finally:
        node.start_kubelet()
    attempt = estate.attempt("a")
    assert attempt["code"] in {75, 143}
    assert not containers(mark)


@pytest.mark.slow
def test_no_index_of_a_job_runs_twice_at_once_whatever_is_killed(estate: RealEstate, tmp_path: Path) -> None:
    (log := tmp_path / "log").touch()
    trap = "trap 'echo term $JOB_COMPLETION_INDEX >> /log; exit 75' TERM"
    script = f"{trap}; echo start $JOB_COMPLETION_INDEX >> /log; for i in 1 2 3 4 5 6 7 8 9; do sleep 0.5; done"
    spec = pod_spec(f"{script}; echo end $JOB_COMPLETION_INDEX >> /log", 2)
    spec["containers"][0]["volumeMounts"].append({"name": "log", "mountPath": "/log"})
    spec["volumes"].append({"name": "log", "hostPath": {"path": str(log), "type": "File"}})
    job = {"completionMode": "Indexed", "backoffLimit": 0, "template": {"metadata": {}, "spec": spec}}
    estate.job(estate.risk, "work", 2 * SLOTS, spec=job)
    estate.until_states(estate.risk, running=2 * SLOTS)
    estate.script("owner", SLEEPS, trading=True)
    node = next(iter(estate.real.values()))
    node.kubelet.kill()
    estate.house.kill()
    estate.house.serve()
    estate.until(lambda: estate.is_silent(node), 60)
    node.start_kubelet()
    estate.house.kill()
    estate.house.serve()
    estate.until(lambda: estate.job_status(estate.risk, "work").get("succeeded") == 2 * SLOTS, 120)
    told: dict[str, list[str]] = {}
    for line in log.read_text().splitlines():
        word, index = line.split()
        told.setdefault(index, []).append(word)
    assert set(told) == {str(index) for index in range(2 * SLOTS)}
    for words in told.values():
        assert words == ["start", "term"] * (len(words) // 2 - 1) + ["start", "end"]
    assert not estate.job_status(estate.risk, "work").get("failed")
