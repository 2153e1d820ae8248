"""A service that governs a cluster in memory: crashes at bad moments, round by round."""

from __future__ import annotations

import time
from copy import deepcopy
from typing import TYPE_CHECKING, Any, cast

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.api import ApiError
from fairhold.engines.kubernetes.engine import Kubernetes
from fairhold.engines.kubernetes.writes import MERGE
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.desk import Desk
from fairhold.runtime.live.governing import Governing
from fairhold.runtime.live.opening import Rising
from fairhold.store.opening import open_store
from fairhold.units import SECOND
from tests.engines.governor_bench import PATIENT
from tests.engines.kubernetes.fake_cluster import FakeCluster, ended
from tests.kubernetes.estate import GPU, PLAN, state_of, template
from tests.kubernetes.nodes import fake_node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fairhold.engines.kubernetes.api import Api

PODS, JOBS = "/api/v1/namespaces/p-{}/pods", "/apis/batch/v1/namespaces/p-{}/jobs"


class Served:
    """A service without its thread, and a cluster with one node of two GPUs, one for each consumer.

    Notices end after a minute: pods with more grace than that are told to end at once.
    """

    def __init__(self, directory: Path) -> None:
        self.directory, self.fake = directory, FakeCluster()
        node = fake_node("n1", {"cpu": "8", GPU: "2", "pods": "9"}, {"pool": "p"})
        self.fake.request("POST", "/api/v1/nodes", node)
        for name in ("p-risk", "p-trading"):
            self.fake.request(
                "POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": {names.GOVERNED: "true"}}}
            )
        self.open()

    def open(self, *, later: int = 0) -> None:
        """Start, or start again; later: microseconds by which the clock was set on."""
        self.store = open_store(self.directory / "state", cluster="", node="n1", now=time.time_ns() // 1000)
        now = Rising(self.store.last_at + later)
        self.core = Core(self.store, now, cycle_min_gap=1_000)
        self.core.open(PLAN.format(pool="p", grace="60s", each=1), "plan", "ann")
        self.engine = Kubernetes(cast("Api", self.fake), self.core.plan, now.look)
        self.desk = Desk(self.core, self.engine, Governing(self.core, self.engine.governor))
        self.engine.start()

    def close(self) -> None:
        self.engine.close()
        self.store.close()

    def round(self) -> None:
        self.desk.round([])
        self.core.over.clear()

    def until(self, what: Callable[[], Any]) -> None:
        """Run rounds until something is true."""
        end = time.monotonic() + PATIENT
        while not what():
            assert time.monotonic() < end, f"it did not come to be: {self.pods('risk')} {self.pods('trading')}"
            self.round()
            time.sleep(0.01)

    def job(self, consumer: str, name: str, count: int, **terms: Any) -> None:
        spec = {"parallelism": count, "template": template(**terms)}
        self.fake.request("POST", JOBS.format(consumer), {"metadata": {"name": name}, "spec": spec})

    def pod(self, consumer: str, name: str, **terms: Any) -> None:
        made = template(**terms)
        meta = made["metadata"] | {"name": name}
        self.fake.request("POST", PODS.format(consumer), made | {"metadata": meta})

    def documents(self, consumer: str) -> list[dict[str, Any]]:
        return self.fake.list(PODS.format(consumer))[0]

    def pods(self, consumer: str) -> list[str]:
        return sorted(map(state_of, self.documents(consumer)))

    def uid_of(self, job: str) -> str:
        """Uid of the pod by which a start finds a job."""
        spec = self.core.specs.of(job)
        return spec.labels["uid"] if spec else ""

    def end(self, pod: dict[str, Any], code: int) -> None:
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}/status"
        self.fake.request("PATCH", path, ended(code), MERGE)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path)
    yield made
    made.close()


def test_a_pod_that_is_still_ending_at_a_crash_keeps_its_attempt_beside_the_one_that_takes_its_place(
    served: Served,
) -> None:
    served.job("risk", "borrows", 2, grace=90, term_after=9)
    served.until(lambda: served.pods("risk") == ["running", "running"])
    served.job("trading", "owner", 1)
    served.until(lambda: served.pods("risk") == ["ending", "gated", "running"])
    (going,) = (pod for pod in served.documents("risk") if state_of(pod) == "ending")
    (new,) = (pod for pod in served.documents("risk") if state_of(pod) == "gated")
    attempt = served.core.cluster.attempts[int(going["metadata"]["annotations"][names.ATTEMPT])]
    served.until(lambda: served.uid_of(attempt.job.name) == new["metadata"]["uid"])
    served.close()
    served.open()
    for _ in range(50):
        served.round()
        assert (served.pods("risk"), served.pods("trading")) == (["ending", "gated", "running"], ["gated"])
        time.sleep(0.01)
    assert attempt.name in served.core.cluster.attempts
    served.end(going, 143)
    served.until(lambda: served.pods("trading") == ["running"] and served.pods("risk") == ["gated", "running"])
    assert len(served.core.cluster.attempts) == 2
    assert served.core.cluster.jobs[attempt.job.name].waiting


def test_a_pod_that_was_left_behind_in_a_namespace_is_told_once(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    """The label was taken off, and this service has never heard of its pods."""
    served.fake.request("POST", "/api/v1/namespaces", {"metadata": {"name": "p-other"}})
    served.pod("other", "plain", gated=False)
    served.until(lambda: served.engine.governor.asking.namespaces.get("p-other"))
    assert "nobody takes them away" not in caplog.text
    for name in ("left", "too"):
        served.pod("other", name)
    served.until(lambda: "nobody takes them away" in caplog.text)
    served.round()
    assert caplog.text.count("the pod left has the gate or the finalizer of Fairhold, and its namespace p-other") == 1
    assert "the pod too" not in caplog.text
    assert served.pods("other") == ["gated", "gated", "pending"]


def test_a_pod_that_came_without_the_gate_is_told_once(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    served.pod("risk", "gated")
    served.until(lambda: served.pods("risk") == ["running"])
    assert "without the gate" not in caplog.text
    made = template()
    del made["spec"]["schedulingGates"]
    for name in ("first", "second"):
        document = made | {"metadata": made["metadata"] | {"name": name}}
        served.fake.request("POST", PODS.format("risk"), document)
    served.until(lambda: len(served.engine.governor.works.of) == 3)
    assert caplog.text.count("came without the gate") == 1
    assert "the pod first of the governed namespace p-risk" in caplog.text
    assert "fairhold kubernetes manifest" in caplog.text


@pytest.mark.parametrize("is_slow", [False, True])
def test_a_pod_that_ends_well_after_its_job_let_it_go_is_run_again_by_the_one_in_its_place(
    served: Served, *, is_slow: bool
) -> None:
    served.fake.is_slow = is_slow
    served.job("risk", "borrows", 2, grace=90, term_after=9)
    served.until(lambda: served.pods("risk") == ["running", "running"])
    served.job("trading", "owner", 1)
    served.until(lambda: "ending" in served.pods("risk"))
    (going,) = (pod for pod in served.documents("risk") if state_of(pod) == "ending")
    attempt = int(going["metadata"]["annotations"][names.ATTEMPT])
    served.until(lambda: is_slow or "gated" in served.pods("risk"))
    served.end(going, 0)
    served.until(lambda: attempt not in served.core.cluster.attempts)
    served.fake.make_late()
    served.until(lambda: served.pods("trading") == ["running"])
    (owner,) = served.documents("trading")
    served.end(owner, 0)
    served.until(lambda: served.pods("risk") == ["running", "running"])


def test_a_notice_that_ends_while_nobody_governs_fails_no_job(served: Served) -> None:
    served.job("risk", "borrows", 2)
    served.until(lambda: served.pods("risk") == ["running", "running"])
    served.job("trading", "owner", 1)
    served.until(lambda: any(attempt.told for attempt in served.core.cluster.attempts.values()))
    served.close()
    served.open(later=120 * SECOND)
    served.until(lambda: served.pods("trading") == ["running"])
    served.until(lambda: served.pods("risk") == ["gated", "running"])
    (again,) = (job for job in served.core.cluster.jobs.values() if job.consumer == "/risk" and job.waiting)
    (ended,) = served.store.tasks_of(again.name)
    assert (ended.reason, ended.code) == ("reclaim", 143)


BARE = {names.RECREATE: "true"}


def reclaimed(served: Served) -> None:
    """A bare pod runs on what is another's, and is reclaimed."""
    served.pod("risk", "kept")
    served.until(lambda: served.pods("risk") == ["running"])
    served.pod("risk", "bare", notes=BARE, grace=90)
    served.until(lambda: served.pods("risk") == ["running", "running"])
    served.job("trading", "owner", 1)


def test_a_pod_that_was_made_anew_right_before_a_crash_runs_once(served: Served) -> None:
    reclaimed(served)
    served.until(lambda: served.pods("risk") == ["gated", "running"])
    served.close()  # the new pod is not taken in yet
    served.open()
    served.until(lambda: served.pods("trading") == ["running"])
    served.end(served.documents("trading")[0], 0)
    served.until(lambda: served.pods("risk") == ["running", "running"])
    (anew,) = (pod for pod in served.documents("risk") if pod["metadata"]["name"] == "bare")
    served.end(anew, 0)
    path = f"{PODS.format('risk')}/bare"
    served.until(lambda: not any(job.consumer == "/risk" and job.waiting for job in served.core.cluster.jobs.values()))
    served.until(lambda: not (served.fake.request("GET", path)["metadata"].get("finalizers")))
    served.fake.request("DELETE", path, {"preconditions": {"uid": anew["metadata"]["uid"]}})
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        served.round()
        time.sleep(0.01)
    assert served.pods("risk") == ["running"]


@pytest.mark.parametrize("status", [0, 403, 429, 503])
def test_a_pod_that_cannot_be_made_anew_now_is_made_later(
    served: Served, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    answers, tries = served.fake.request, list[str]()

    def request(method: str, path: str, *said: Any, **more: Any) -> Any:
        if method == "POST" and path.endswith("/p-risk/pods") and len(tries) < 2:
            tries.append(path)
            raise ApiError(status, "No", "exceeded quota")
        return answers(method, path, *said, **more)

    reclaimed(served)
    monkeypatch.setattr(served.fake, "request", request)
    served.until(lambda: served.pods("risk") == ["gated", "running"])
    served.until(lambda: served.pods("trading") == ["running"])
    served.end(served.documents("trading")[0], 0)
    served.until(lambda: served.pods("risk") == ["running", "running"])
    assert len(tries) == 2


def test_a_pod_is_made_anew_as_its_user_made_it(served: Served) -> None:
    pinned = {"nodeSelector": {names.HOSTNAME: "n1"}}
    served.pod("risk", "kept")
    served.until(lambda: served.pods("risk") == ["running"])
    served.pod("risk", "bare", notes=BARE, grace=90, spec=pinned)
    served.until(lambda: served.pods("risk") == ["running", "running"])
    path = f"{PODS.format('risk')}/bare"
    debugged = {"spec": {"ephemeralContainers": [{"name": "debugger"}]}}
    before = served.fake.request("PATCH", path, debugged, MERGE)["metadata"]["uid"]
    served.job("trading", "owner", 1)
    served.until(lambda: served.pods("risk") == ["gated", "running"])
    anew = served.fake.request("GET", path)
    assert anew["metadata"]["uid"] != before
    assert anew["spec"]["nodeSelector"] == pinned["nodeSelector"]
    assert "ephemeralContainers" not in anew["spec"]


def test_a_pod_whose_grant_is_refused_leaves_its_units_to_others(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = served.fake.request

    def request(method: str, path: str, body: Any = None, *said: Any, **more: Any) -> Any:
        if method == "PATCH" and path.endswith("/refused") and "spec" in body:
            raise ApiError(403, "Forbidden", "denied by a policy")
        return answers(method, path, body, *said, **more)

    monkeypatch.setattr(served.fake, "request", request)
    served.pod("risk", "refused", gpus=2)
    served.until(lambda: any(job.hold for job in served.core.cluster.jobs.values()))
    served.pod("risk", "other", gpus=2)
    served.until(lambda: served.pods("risk") == ["gated", "running"])
    (held,) = (job.hold for job in served.core.cluster.jobs.values() if job.hold)
    assert "denied by a policy" in held


def test_a_cluster_that_was_set_back_to_an_earlier_state_is_governed_as_it_is(served: Served) -> None:
    fake = served.fake
    served.pod("risk", "first", gpus=2)
    served.pod("risk", "bare", gpus=2)
    served.until(lambda: served.pods("risk") == ["gated", "running"])
    (first,) = (pod for pod in served.documents("risk") if state_of(pod) == "running")
    backup = deepcopy((fake._objects, fake._history))
    served.end(first, 0)
    served.until(lambda: served.pods("risk") == ["running", "succeeded"])
    path = f"{PODS.format('risk')}/bare"
    for number in range(20):
        served.fake.request("PATCH", path, {"metadata": {"labels": {"number": str(number)}}}, MERGE)
    served.until(lambda: {work.pod.labels.get("number") for work in served.engine.governor.works.of.values()} >= {"19"})
    fake.cut()
    served.until(lambda: not served.engine._fresh)
    fake._objects, fake._history = backup
    fake.cut(is_cut=False)
    assert served.pods("risk") == ["gated", "running"]
    served.end(first, 0)  # its kubelet says so again
    served.until(lambda: served.pods("risk") == ["running", "succeeded"])
    served.until(lambda: served.engine.governor.stale_since is None)
