# ruff: noqa: ARG002 - clients of tests take what they do not look at
"""Requests that fail as no API server refuses: no credentials, no JSON, faults of our own. No thread ends by them."""

from __future__ import annotations

import threading
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, cast

import httpx
import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.access import Access
from fairhold.engines.kubernetes.api import Api, ApiError
from fairhold.engines.kubernetes.engine import WRITERS, Kubernetes
from fairhold.engines.kubernetes.leader import Leader
from fairhold.engines.kubernetes.recreating import pack
from fairhold.engines.kubernetes.writes import MERGE, Write, recreate
from fairhold.errors import Fault, InputError
from fairhold.leadership import Terms
from fairhold.planio.plan import parse_plan
from tests.engines.kubernetes.fake_cluster import FakeCluster
from tests.engines.kubernetes.pretended import QUEUES
from tests.faults.house import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def no_helper() -> str:
    raise InputError([Fault("kubernetes-access", "`get-token` has failed")])


def no_file() -> str:
    raise FileNotFoundError("/token")


def client(answer: bytes = b"{}", token: Callable[[], str] = str) -> Api:
    """A client whose API server says the same to everything."""
    api = Api(Access("https://server", verify=False, token=token))
    api.close()
    api._transport = httpx.MockTransport(lambda _: httpx.Response(200, content=answer))
    return api


@pytest.mark.parametrize("token", [no_helper, no_file])
def test_credentials_that_cannot_be_had_are_a_request_that_is_not_answered(token: Callable[[], str]) -> None:
    with closing(client(token=token)) as api:
        for ask in (lambda: api.request("GET", "/x"), api.clock, lambda: next(iter(api.watch("/x", "1")))):
            with pytest.raises(ApiError, match="token") as raised:
                ask()
            assert raised.value.status == 0


def test_a_write_whose_credentials_took_too_long_is_not_sent() -> None:
    def token() -> str:
        time.sleep(0.2)
        return "t"

    with closing(client(token=token)) as api:
        with pytest.raises(ApiError, match="credentials"):
            api.request("PATCH", "/x", {}, MERGE, within=0.1)
        assert api.request("PATCH", "/x", {}, MERGE, within=5.0) == {}
        assert api.request("PATCH", "/x", {}, MERGE) == {}


@pytest.mark.parametrize("answer", [b"<html>", b"[]", b"\xff"])
def test_an_answer_that_is_no_object_is_none(answer: bytes) -> None:
    with closing(client(answer)) as api, pytest.raises(ApiError) as raised:
        api.request("GET", "/x")
    assert raised.value.status == 0


class Leases:
    """An API server with one lease, which is out of its mind for a while."""

    def __init__(self) -> None:
        self.lease: dict[str, Any] = {}
        self.fault: Exception | None = None
        self.version = 0

    def request(self, method: str, path: str, body: dict[str, Any] | None = None, within: float = 0) -> dict[str, Any]:
        if self.fault is not None:
            raise self.fault
        if "/leases" not in path:
            return {}
        if body is not None:
            self.version += 1
            self.lease = body | {"metadata": {"name": "fairhold", "resourceVersion": str(self.version)}}
        if not self.lease:
            raise ApiError(404, "NotFound", "no lease")
        return self.lease

    def list(self, path: str) -> tuple[list[dict[str, Any]], str]:
        return [], "1"

    def close(self) -> None:
        """Nothing is to be done."""


@pytest.mark.parametrize("lasts", [False, True])
def test_the_thread_of_the_lease_outlives_what_nothing_foresees(*, lasts: bool) -> None:
    server, lost = Leases(), threading.Event()
    leader = Leader(cast("Api", server), "fairhold", Terms(1.0), lost.set)
    leader.start()
    assert leader.wait(5)
    server.fault = KeyError("spec")
    if lasts:
        assert lost.wait(5), "it has told that it leads no more"
        assert leader.lost
    else:
        time.sleep(0.4)
        server.fault = None
        version = server.version
        until(lambda: server.version > version + 1)
        assert leader.leads
    leader.close()


PATH = "/api/v1/namespaces/risk/pods/p"


@contextmanager
def governed() -> Iterator[tuple[FakeCluster, Kubernetes, dict[str, Any]]]:
    """A cluster, its engine without a desk, and a pod."""
    fake = FakeCluster()
    fake.request("POST", "/api/v1/namespaces", {"metadata": {"name": "risk"}})
    gated = {"metadata": {"name": "p"}, "spec": {"schedulingGates": [{"name": "x"}]}}
    pod = fake.request("POST", "/api/v1/namespaces/risk/pods", gated)
    plan = parse_plan(QUEUES, "plan", places=True)[0]
    engine = Kubernetes(cast("Api", fake), plan, lambda: time.time_ns() // 1000)
    engine.start()
    with closing(engine):
        yield fake, engine, pod


def mark(pod: dict[str, Any], number: int) -> Write:
    meta = {"uid": pod["metadata"]["uid"], "annotations": {names.ATTEMPT: str(number)}}
    return Write(pod["metadata"]["uid"], "keep", "PATCH", PATH, {"metadata": meta}, MERGE)


def marked(fake: FakeCluster) -> str:
    return str((fake.request("GET", PATH)["metadata"].get("annotations") or {}).get(names.ATTEMPT))


def test_writers_outlive_what_nothing_foresees(monkeypatch: pytest.MonkeyPatch) -> None:
    is_mad = threading.Event()
    with governed() as (fake, engine, pod):
        answers = fake.request

        def request(method: str, *said: Any, **more: Any) -> Any:
            if method == "PATCH" and is_mad.is_set():
                raise KeyError(method)
            return answers(method, *said, **more)

        monkeypatch.setattr(fake, "request", request)
        is_mad.set()
        for number in range(2 * WRITERS):
            engine._to_write.put(mark(pod, number))
        until(engine._to_write.empty)
        is_mad.clear()
        engine._to_write.put(mark(pod, 88))
        until(lambda: marked(fake) == "88")


def test_pods_whose_names_are_taken_keep_no_other_request_waiting() -> None:
    with governed() as (fake, engine, pod):
        for _ in range(2 * WRITERS):
            engine._to_write.put(recreate("risk.p", pack(pod)))
        engine._to_write.put(mark(pod, 8))
        until(lambda: marked(fake) == "8")


@pytest.mark.parametrize("is_older", [False, True])
def test_after_a_conflict_it_is_decided_anew_at_once_only_where_something_has_changed(*, is_older: bool) -> None:
    with governed() as (fake, engine, pod):
        now = int(fake.request("GET", PATH)["metadata"]["resourceVersion"])
        version = str(now + 1 if is_older else now - 1)
        meta = {"uid": pod["metadata"]["uid"], "resourceVersion": version}
        write = Write(pod["metadata"]["uid"], "keep", "PATCH", PATH, {"metadata": meta}, MERGE, version=version)
        found, is_done, refusal = engine._carry_out(write)
        assert found is not None
        assert (found.uid, is_done, refusal) == (pod["metadata"]["uid"], not is_older, "")
