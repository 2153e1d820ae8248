"""The client takes what the REST API takes, and the same with and without `await`."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import fairhold
from fairhold.client import steps, typed
from fairhold.client.asynchronous import AsyncClient
from fairhold.client.synchronous import Client
from tests.client.serving import fake as fake  # noqa: PLC0414 - a fixture
from tests.service.support import Bank

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from tests.client.fake import Fake

METHODS = {
    "POST /v1/jobs": "submit",
    "POST /v1/jobs/check": "check_job",
    "GET /v1/jobs": "jobs",
    "GET /v1/jobs/{job}": "wait",
    "PATCH /v1/jobs/{job}": "change",
    "POST /v1/jobs/{job}/cancel": "cancel",
    "POST /v1/jobs/{job}/hold": "hold",
    "POST /v1/jobs/{job}/release": "release",
    "POST /v1/jobs/{job}/requeue": "requeue",
    "GET /v1/jobs/{job}/tasks": "tasks",
    "GET /v1/jobs/{job}/tasks/{task}/output": "output",
    "GET /v1/jobs/{job}/tasks/{task}/files": "files",
    "GET /v1/jobs/{job}/tasks/{task}/file": "file",
    "GET /v1/jobs/{job}/explanation": "explain",
    "GET /v1/jobs/{job}/forecast": "forecast",
    "GET /v1/pods": "pods",
    "GET /v1/pods/observed": "observed",
    "GET /v1/pods/{namespace}/{pod}": "pod",
    "GET /v1/consumers": "consumers",
    "GET /v1/consumers/explanation": "explain_consumer",
    "GET /v1/consumers/lending": "lending",
    "GET /v1/allocations": "allocations",
    "GET /v1/usage": "usage",
    "GET /v1/plan": "plan",
    "GET /v1/plan/versions": "plan_versions",
    "GET /v1/plan/versions/{version}": "plan",
    "GET /v1/plan/schema": "plan_schema",
    "POST /v1/plan/check": "check_plan",
    "POST /v1/plan/diff": "diff_plan",
    "PUT /v1/plan": "apply_plan",
    "POST /v1/plan/revert": "revert_plan",
    "GET /v1/hosts": "hosts",
    "GET /v1/explore": "explorable",
    "POST /v1/explore": "explore",
    "POST /v1/explore/draft": "draft_plan",
    "POST /v1/simulate": "simulate",
    "GET /v1/windows": "windows",
    "POST /v1/hosts/{host}/close": "close_host",
    "POST /v1/hosts/{host}/open": "open_host",
    "POST /v1/hosts/{host}/enrol": "enrol_host",
    "POST /v1/hosts/{host}/revoke": "revoke_host",
    "POST /v1/groups/{group}/pause": "pause",
    "POST /v1/groups/{group}/resume": "resume",
    "GET /v1/cycles": "cycles",
    "GET /v1/cycles/{number}": "cycle",
    "GET /v1/events": "events",
    "GET /v1/events/snapshot": "snapshot",
    "GET /v1/health": "health",
    "GET /v1/metrics": "metrics",
    "GET /v1/status": "status",
    "GET /v1/state": "state",
    "POST /v1/stop": "stop",
    "GET /v1/me": "me",
    "GET /v1/tokens": "tokens",
    "POST /v1/tokens": "create_token",
    "POST /v1/tokens/{token}/revoke": "revoke_token",
    "GET /v1/me/notifications": "notifications",
    "PATCH /v1/me/notifications": "change_notifications",
    "POST /v1/me/notifications/test": "test_notifications",
    "GET /v1/jobs/{job}/notifications": "notifications",
    "PUT /v1/jobs/{job}/notifications": "notify",
    "GET /v1/access": "access",
    "GET /v1/access/versions": "access_versions",
    "GET /v1/access/versions/{version}": "access",
    "PUT /v1/access": "apply_access",
    "GET /v1/audit": "audit",
    "GET /v1/audit/check": "check_audit",
}
NAMES = {
    "Idempotency-Key": "key",
    "if-match": "seen",
    "group": "resource_group",
    "all": "finished",
    "from": "start",
    "to": "end",
    "for": "for_",
    "next": "ahead",
    "wait": "timeout",
}
"""What is called otherwise in Python."""
OTHERWISE = {("POST /v1/plan/revert", "to"): "to", ("GET /v1/consumers/explanation", "consumer"): "path"}
ELSEWHERE = {("GET /v1/jobs/{job}", "expected"), ("GET /v1/consumers", "since")}
"""What another method asks for: `job`; and what only pages ask that look at all consumers again and again."""
FOLLOWED = {
    ("GET /v1/jobs", "cursor"),
    *(("GET /v1/jobs/{job}/tasks", name) for name in ("limit", "cursor")),
    *(("GET /v1/jobs/{job}/tasks/{task}/output", name) for name in ("limit", "timeout")),
    *(("GET /v1/jobs/{job}/tasks/{task}/files", name) for name in ("limit", "after")),
    *(("GET /v1/jobs/{job}/tasks/{task}/file", name) for name in ("limit", "offset")),
    *(("GET /v1/access/versions", name) for name in ("limit", "before")),
    *(("GET /v1/plan/versions", name) for name in ("limit", "before")),
    *((f"GET /v1/pods{path}", "limit") for path in ("", "/observed")),
    ("GET /v1/consumers", "consumer"),
    ("GET /v1/audit", "before"),
    ("GET /v1/events", "last-event-id"),
}
"""What pages have: the client asks for all of them."""


def taken(operation: dict[str, Any], schemas: dict[str, Any]) -> Iterator[str]:
    """Names of all that an address takes."""
    yield from (each["name"] for each in operation.get("parameters", []))
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    for each in schema.get("anyOf", [schema]):
        yield from schemas.get(each.get("$ref", "").rpartition("/")[2], {}).get("properties", {})


def test_all_that_the_service_takes_can_be_given(tmp_path: Path) -> None:
    with Bank(tmp_path / "state") as bank:
        document = bank.app.openapi()
    missing = []
    for path, methods in document["paths"].items():
        for verb, operation in methods.items():
            label = f"{verb.upper()} {path}"
            given = {*inspect.signature(getattr(Client, METHODS[label])).parameters}
            given |= {*typed.Terms.__annotations__} if "terms" in given else set()
            for name in taken(operation, document["components"]["schemas"]):
                called = OTHERWISE.get((label, name)) or NAMES.get(name, name)
                if called not in given and (label, called) not in FOLLOWED | ELSEWHERE:
                    missing.append((label, name))
    assert missing == []


def test_what_can_be_said_of_a_job_is_the_same_for_a_check() -> None:
    submitted = {*inspect.signature(Client.submit).parameters} - {"self", "consumer", "argv"}
    assert submitted == {*typed.Terms.__annotations__}


def test_both_clients_take_the_same() -> None:
    def signatures(client: type) -> dict[str, str]:
        methods = inspect.getmembers(client, inspect.isfunction)
        texts = {name: str(inspect.signature(each)) for name, each in methods if name[0] != "_" and name != "close"}
        return {name: text.replace("AsyncIterator", "Iterator") for name, text in texts.items()}

    assert signatures(Client) == {name: text for name, text in signatures(AsyncClient).items() if name != "aclose"}


def test_all_versions_of_the_plan_are_read(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "_PAGE", 2)
    fake.plans = ["one", "two", "three", "four"]
    with fairhold.connect() as service:
        assert [each.version for each in service.plan_versions()] == [4, 3, 2, 1]
