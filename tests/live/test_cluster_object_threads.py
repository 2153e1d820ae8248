"""The threads that keep objects of a cluster, against an API server in miniature."""

from __future__ import annotations

import logging
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from fairhold.engines.kubernetes import repeating
from fairhold.engines.kubernetes.api import ApiError
from fairhold.engines.kubernetes.custom_resources import CONSUMERS, MANAGED, MANAGER, PLANS, text_of
from fairhold.engines.kubernetes.leader import Unfenced
from fairhold.errors import Fault, InputError
from fairhold.ports import PlanVersion, StoreFull
from fairhold.runtime.live import consumer_objects, plan_objects
from fairhold.runtime.live.consumer_objects import ConsumerObjects
from fairhold.runtime.live.consumer_status import merge
from fairhold.runtime.live.plan_objects import PlanObject
from fairhold.runtime.live.plan_status import status_of
from tests.faults.house import plan as a_plan
from tests.faults.house import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.engines.kubernetes.api import Api
    from fairhold.engines.kubernetes.leader import Fence
    from fairhold.runtime.live.auditing import Deed
    from fairhold.runtime.live.desk import Desk

Document = dict[str, Any]


class Server:
    """Objects by path.

    fails : the status of every answer, 0 = it answers; asked : (method, path) of all requests
    on_change : called with a plan that was changed
    """

    def __init__(self) -> None:
        self.objects: dict[str, Document] = {}
        self.fails = 0
        self.asked: list[tuple[str, str]] = []
        self.on_change: Callable[[Document], object] = lambda _: None

    def request(self, method: str, path: str, body: Document | None = None, *_: str, **__: str) -> Document:
        self.asked.append((method, path))
        if self.fails:
            raise ApiError(self.fails, "Refused", "refused")
        if method == "POST":
            assert body is not None
            path = f"{path}/{body['metadata']['name']}"
            if path in self.objects:
                raise ApiError(409, "AlreadyExists", "it is there")
            self.objects[path] = body | {"metadata": body["metadata"] | {"uid": path, "resourceVersion": "1"}}
            return self.objects[path]
        path = path.removesuffix("/status")
        if path not in self.objects:
            raise ApiError(404, "NotFound", "it is not there")
        made, said = self.objects[path], body or {}
        if method != "GET":
            named = said["preconditions" if method == "DELETE" else "metadata"]
            if named != {key: made["metadata"][key] for key in ("uid", "resourceVersion")}:
                raise ApiError(409, "Conflict", "it has changed")
        if method == "DELETE":
            return self.objects.pop(path)
        if method == "PATCH":
            meta = made["metadata"] | {"resourceVersion": f"{made['metadata']['resourceVersion']}0"}
            status = patched(made.get("status") or {}, said["status"])
            self.objects[path] = made | {"metadata": meta, "status": status}
            if path.startswith(PLANS):
                self.on_change(self.objects[path])
        return self.objects[path]

    def list(self, path: str, **query: str) -> tuple[list[Document], str]:
        self.asked.append(("LIST", path))
        if self.fails:
            raise ApiError(self.fails, "Refused", "refused")
        key, _, value = query.get("labelSelector", "").partition("=")
        all_of = [each for at, each in self.objects.items() if at.startswith(path)]
        return [each for each in all_of if not key or (each["metadata"].get("labels") or {}).get(key) == value], "1"


def names(server: Server) -> list[str]:
    return sorted(path.rpartition("/")[2] for path in server.objects)


def patched(document: Document, patch: Document) -> Document:
    """A merge patch applied."""
    found = {name: value for name, value in document.items() if name not in patch or patch[name] is not None}
    for name, value in patch.items():
        if isinstance(value, dict):
            found[name] = patched(found.get(name) or {}, value)
        elif value is not None:
            found[name] = value
    return found


class Asked:
    """A desk in miniature, which answers at once, of a core in miniature."""

    def __init__(self) -> None:
        self.listeners: list[Callable[[int], None]] = []
        self.refusal: Exception | None = None
        self.words: dict[str, str] = {}
        self.plans = [PlanVersion(1, 0, "bob", "", a_plan())]
        journal = SimpleNamespace(write=lambda write: write(SimpleNamespace(put_meta=self.words.__setitem__)))
        store = SimpleNamespace(plan=lambda: self.plans[-1], meta=lambda: self.words)
        self.deeds: list[Deed] = []
        audit = SimpleNamespace(note=lambda deed, _: self.deeds.append(deed))
        more = {"audit": audit, "now": lambda: 0}
        self.core = SimpleNamespace(store=store, journal=journal, version=1, apply_plan=self.apply, **more)

    def apply(self, text: str, author: str, comment: str, *_: Any, **__: Any) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.plans.append(PlanVersion(len(self.plans) + 1, 0, author, comment, text))

    def write(self, ask: Callable[[Any], Any]) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(ask(self.core))
        except (InputError, StoreFull) as error:
            done.set_exception(error)
        return done

    read = write

    def tell(self) -> None:
        for listener in self.listeners:
            listener(1)


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def desk() -> Asked:
    return Asked()


@contextmanager
def consumers(
    server: Server, desk: Asked, fence: Fence | None = None, is_known: Callable[[], bool] = lambda: True
) -> Iterator[ConsumerObjects]:
    server_, desk_ = cast("Api", server), cast("Desk", desk)
    made = ConsumerObjects(server_, desk_, fence or Unfenced(), is_known, pause=0.01, idle=0.1)
    made.start()
    try:
        yield made
    finally:
        made.close()


def those(monkeypatch: pytest.MonkeyPatch, *paths: str, **numbers: int) -> None:
    """Let there be these consumers."""
    rows: list[Document] = [
        {"path": path, "amounts": None}
        | dict.fromkeys(("owned", "allocated", "quota", "borrowed", "lent", "waiting"), 0)
        | numbers
        for path in paths
    ]
    told = {"resource_groups": {"cpus": {"consumers": rows}}}
    monkeypatch.setattr(consumer_objects, "consumers_document", lambda _: told)


def test_consumers_are_made_changed_and_deleted(server: Server, desk: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    those(monkeypatch, "/", "/a", "/a/b", owned=2)
    with consumers(server, desk):
        until(lambda: "status" in server.objects.get(f"{CONSUMERS}/a.b", {}))
        made = server.objects[f"{CONSUMERS}/a"]
        assert (made["metadata"]["labels"], made["spec"]) == ({MANAGED: MANAGER}, {})
        assert made["status"]["owned"] == {"cpus": 2}
        those(monkeypatch, "/a", allocated=1)
        desk.tell()
        until(lambda: names(server) == ["a"] and server.objects[f"{CONSUMERS}/a"]["status"]["owned"] == {})
        assert server.objects[f"{CONSUMERS}/a"]["status"]["shown"]["allocated"] == "cpus 1"


def test_what_is_the_same_is_not_written(server: Server, desk: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    those(monkeypatch, "/a")
    with consumers(server, desk):
        until(lambda: server.asked.count(("LIST", CONSUMERS)) > 2)
    assert [method for method, _ in server.asked if method != "LIST"] == ["POST", "PATCH"]


def test_an_unknown_cluster_is_not_told(server: Server, desk: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    those(monkeypatch, "/a")
    is_known: list[bool] = []
    with consumers(server, desk, is_known=lambda: bool(is_known)):
        until(lambda: server.asked.count(("LIST", CONSUMERS)) > 2)
        assert server.objects == {}
        is_known.append(True)
        desk.tell()
        until(lambda: names(server) == ["a"])


def test_an_object_of_somebody_else_is_left_alone_and_one_that_was_deleted_is_made_anew(
    server: Server, desk: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    those(monkeypatch, "/a", "/b")
    theirs = {"metadata": {"name": "a", "uid": "x"}}
    server.objects[f"{CONSUMERS}/a"] = theirs
    with consumers(server, desk):
        until(lambda: "status" in server.objects.get(f"{CONSUMERS}/b", {}))
        del server.objects[f"{CONSUMERS}/b"]
        those(monkeypatch, "/a", "/b", waiting=3)
        desk.tell()
        until(lambda: (server.objects.get(f"{CONSUMERS}/b", {}).get("status") or {}).get("waiting") == {"cpus": 3})
    assert server.objects[f"{CONSUMERS}/a"] is theirs


def test_an_object_that_somebody_has_changed_is_looked_at_again(
    server: Server, desk: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    those(monkeypatch, "/a")
    with consumers(server, desk):
        until(lambda: "status" in server.objects.get(f"{CONSUMERS}/a", {}))
        meta = server.objects[f"{CONSUMERS}/a"]["metadata"] | {"resourceVersion": "2", "annotations": {"theirs": "x"}}
        server.objects[f"{CONSUMERS}/a"] = {"metadata": meta, "status": {}}
        those(monkeypatch, "/a", owned=7)
        desk.tell()
        until(lambda: (server.objects[f"{CONSUMERS}/a"]["status"] or {}).get("owned") == {"cpus": 7})
    assert server.objects[f"{CONSUMERS}/a"]["metadata"]["annotations"] == {"theirs": "x"}


class Closed(Unfenced):
    """The fence of a service that leads no more."""

    def passes(self, _: Any) -> bool:
        return False


def test_nothing_is_written_by_a_service_that_leads_no_more(
    server: Server, desk: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    those(monkeypatch, "/a")
    server.objects[f"{PLANS}/estate"] = document = plan_document(SPEC)
    with consumers(server, desk, Closed()), followed(server, desk, Closed()) as plan:
        plan.seen("plans", document)
        until(lambda: server.asked.count(("LIST", CONSUMERS)) > 2 and plan._complaint)
    assert {method for method, _ in server.asked} == {"LIST"}


@pytest.mark.parametrize("status", [0, 403, 404, 503])
def test_it_goes_on_where_the_server_answers_again(
    server: Server, desk: Asked, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    caplog.set_level(logging.INFO, "fairhold")
    those(monkeypatch, "/a")
    server.fails = status
    with consumers(server, desk):
        until(lambda: len(server.asked) > 2)
        server.fails = 0
        until(lambda: "status" in server.objects.get(f"{CONSUMERS}/a", {}))
    levels = [each.levelname for each in caplog.records if "Consumer" in each.message or "consumers" in each.message]
    assert levels == {0: [], 404: ["INFO"]}.get(status, ["WARNING"])


def test_what_nothing_foresees_ends_no_thread(
    server: Server, desk: Asked, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(repeating, "LATER", 0.01)
    monkeypatch.setattr(consumer_objects, "consumers_document", lambda _: {})
    monkeypatch.setattr(plan_objects, "status_of", None)
    server.objects[f"{PLANS}/estate"] = plan_document(SPEC)
    with consumers(server, desk), followed(server, desk) as plan:
        plan.seen("plans", server.objects[f"{PLANS}/estate"])
        failures = ["the thread `consumer objects` failed", "the thread `plan object` failed"]
        until(lambda: all(caplog.text.count(failure) > 1 for failure in failures))
        those(monkeypatch, "/a")
        monkeypatch.setattr(plan_objects, "status_of", status_of)
        until(lambda: "status" in server.objects.get(f"{CONSUMERS}/a", {}))
        until(lambda: shown(server) == (1, 2, "InForce", []))


def test_it_ends_with_the_desk(server: Server, desk: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise InputError([Fault("stopping", "the service is stopping")])

    monkeypatch.setattr(consumer_objects, "consumers_document", refuse)
    with consumers(server, desk) as made:
        until(lambda: server.asked)
        made.close()
        made.close()
    assert names(server) == []


def plan_document(text: Document, generation: int = 1) -> Document:
    meta = {"name": "estate", "uid": "u", "generation": generation, "resourceVersion": str(generation)}
    return {"metadata": meta, "spec": text}


@contextmanager
def followed(server: Server, desk: Asked, fence: Fence | None = None) -> Iterator[PlanObject]:
    """What follows a Plan, without its watch."""
    made = PlanObject(cast("Api", server), "estate", cast("Desk", desk), lambda: 0, fence or Unfenced())
    made._watcher = SimpleNamespace(start=lambda: None, close=lambda: None)  # type: ignore[assignment]
    server.on_change = partial(made.seen, "plans")
    made.start()
    try:
        yield made
    finally:
        made.close()


def shown(server: Server) -> tuple[Any, ...]:
    """Generation, version, condition and codes of faults, as they stand at the object."""
    status = server.objects[f"{PLANS}/estate"].get("status") or {}
    conditions: list[Document] = status.get("conditions") or [{}]
    (condition,) = conditions
    codes = [each["code"] for each in status.get("faults") or ()]
    return status.get("observedGeneration"), status.get("version"), condition.get("reason"), codes


SPEC: Document = {
    "fairhold": 1,
    "resource_groups": {"c": {"slots": 4}},
    "consumers": {"A": {}},
    "policies": [{"policy": "hybrid", "resource_groups": ["c"], "consumers": {"/A": {"owned": 4}}}],
}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_objects, "RETRY", 0.05)
    monkeypatch.setattr(plan_objects, "_PAUSE", 0.0)


@pytest.mark.usefixtures("quick")
def test_a_plan_that_is_refused_is_tried_again(server: Server, desk: Asked, caplog: pytest.LogCaptureFixture) -> None:
    server.objects[f"{PLANS}/estate"] = document = plan_document(SPEC)
    desk.refusal = InputError([Fault("consumer-in-use", "jobs are there")])
    with followed(server, desk) as plan:
        plan.seen("plans", document)
        until(lambda: shown(server) == (1, 1, "Refused", ["consumer-in-use"]))
        plan.seen("plans", server.objects[f"{PLANS}/estate"])
        desk.refusal = None
        until(lambda: shown(server) == (1, 2, "InForce", []))
    assert desk.plans[-1].comment == "Plan estate generation 1"
    assert [(deed.via, deed.action) for deed in desk.deeds] == [("plan object", "apply")]
    assert sum("cannot be put in force" in each.message for each in caplog.records) == 1


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("is_kept", [False, True])
def test_a_full_disk_is_waited_for(server: Server, desk: Asked, is_kept: bool) -> None:  # noqa: FBT001
    server.objects[f"{PLANS}/estate"] = document = plan_document(SPEC)
    desk.refusal = StoreFull("the disk is full", is_kept=is_kept)
    with followed(server, desk) as plan:
        plan.seen("plans", document)
        until(lambda: server.asked or plan._complaint)
        desk.refusal = None
        if is_kept:  # it is decided, and written later
            desk.apply(text_of(document), "kubernetes", "")
            desk.tell()
        until(lambda: shown(server) == (1, 2, "InForce", []))
    assert len(desk.plans) == 2


@pytest.mark.usefixtures("quick")
def test_a_status_that_could_not_be_written_is_written_later(server: Server, desk: Asked) -> None:
    server.objects[f"{PLANS}/estate"] = document = plan_document(SPEC | {"default_rank": "x"})
    server.fails = 503
    with followed(server, desk) as plan:
        plan.seen("plans", document)
        until(lambda: len(server.asked) > 2)
        server.fails = 0
        until(lambda: shown(server) == (1, 1, "Faulty", ["not-whole"]))


@pytest.mark.usefixtures("quick")
def test_another_plan_in_force_is_told_and_comes_from_no_generation_that_was_seen(server: Server, desk: Asked) -> None:
    server.objects[f"{PLANS}/estate"] = document = plan_document(SPEC)
    with followed(server, desk) as plan:
        plan.seen("plans", document)
        until(lambda: shown(server) == (1, 2, "InForce", []))
        plan.seen("plans", server.objects[f"{PLANS}/estate"])
        desk.apply(a_plan(), "bob", "by hand")
        desk.tell()
        until(lambda: shown(server) == (1, 3, "Replaced", []))
    with followed(server, desk) as plan:  # another start
        plan.seen("plans", server.objects[f"{PLANS}/estate"])
        server.objects[f"{PLANS}/estate"] |= plan_document(SPEC | {"default_rank": 2}, 2)
        plan.seen("plans", server.objects[f"{PLANS}/estate"])
        until(lambda: shown(server) == (2, 4, "InForce", []))


def test_a_merge_patch_of_the_server_in_miniature_is_the_reverse() -> None:
    before, after = {"a": {"b": 1, "c": 2}, "d": 1}, {"a": {"c": 3}, "e": {"f": 1}}
    assert patched(before, merge(before, after)) == after
