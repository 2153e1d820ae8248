"""Jobs over HTTP."""

from __future__ import annotations

import json
import re
import threading
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.orchestrator.events import JobCancelled
from fairhold.ports import StoreFull
from fairhold.runtime.live.submitting import Limits
from fairhold.service.settings import RequestLimits
from tests.service.support import PLAN, Bank

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from fairhold.runtime.live.core import Core


def test_a_job_is_accepted_runs_and_is_over(bank: Bank) -> None:
    job = bank.submit(name="price", count=2, labels={"book": "rates"}, priority=7)
    assert (job["name"], job["consumer"], job["resource_group"]) == ("price", "/Research", "compute")
    assert (job["priority"], job["labels"], job["tasks"]["tasks"]) == (7, {"book": "rates"}, 2)
    bank.hub.wait_started(2)
    assert bank.until(f"/jobs/{job['job']}", "state", "running")["ended"] is None
    bank.hub.end(1)
    bank.hub.end(2)
    over = bank.get(f"/jobs/{job['job']}?wait=5")
    assert (over["state"], over["exit_code"], over["tasks"]["done"]) == ("done", 0, 2)
    assert over["ended"] >= over["submitted"]


def test_the_terms_arrive_at_the_core(bank: Bank) -> None:
    job = bank.submit(
        argv=["sh", "-c", "echo {index}"],
        environment={"PATH": "/bin", "ÄÖ": "ü"},
        directory="/tmp",
        stdin=b64encode(b"\x00\xff").decode(),
        time_limit="1m30s",
        memory=10**9,
        signal="USR1",
        lead=5,
        units=2,
        retries=3,
        backoff="250ms",
        throttle=1,
        user="eve",
    )["job"]
    spec = bank.core.specs.of(job)
    assert spec is not None
    assert (spec.argv, spec.environment) == (("sh", "-c", "echo {index}"), {"PATH": "/bin", "ÄÖ": "ü"})
    assert (spec.directory, spec.stdin, spec.memory) == ("/tmp", b"\x00\xff", 10**9)
    assert (spec.time_limit, spec.lead, spec.notice, spec.user) == (90_000_000, 5_000_000, 10, "eve")
    terms = bank.desk.read(lambda core: core.orchestrator.jobs[job].terms).result()
    assert (terms.units, terms.retries, terms.backoff, terms.throttle, terms.user) == (2, 3, 250_000, 1, "eve")


def test_the_same_key_is_the_same_job(bank: Bank) -> None:
    head = {"Idempotency-Key": "once"}
    body = {"consumer": "/Research", "argv": ["true"]}
    first = bank.post("/jobs", body, 201, headers=head)
    again = bank.post("/jobs", body, 200, headers=head)
    assert again["job"] == first["job"]
    assert bank.post("/jobs", body, 201, headers={"Idempotency-Key": "twice"})["job"] != first["job"]
    assert bank.post("/jobs", body | {"user": "eve"}, 201, headers=head)["job"] != first["job"]
    bank.hub.wait_started(1)
    bank.hub.end(1)
    bank.get(f"/jobs/{first['job']}?wait=5")
    assert bank.post("/jobs", body | {"environment": {"A": "b"}}, 200, headers=head)["state"] == "done"
    other = body | {"argv": ["false", "a b"]}
    for path in ("/jobs", "/jobs/check"):
        refused = bank.post(path, other, 409, headers=head)
        assert refused["code"] == "key-reused"
        job = first["job"]
        assert f"was used for job {job}, which runs `true`; this submit has `false 'a b'`" in refused["detail"]
    assert bank.post("/jobs", other | {"user": "ann"}, 201, headers=head)["argv"] == ["false", "a b"]


@pytest.mark.parametrize(
    ("terms", "code", "place"),
    [
        ({"argv": []}, "out-of-range", "argv"),
        ({"argv": "true"}, "wrong-type", "argv"),
        ({"argv": ["a\0b"]}, "not-text", "argv[0]"),
        ({"argv": ["a\ud800"]}, "not-text", "argv[0]"),
        ({"count": 0}, "out-of-range", "count"),
        ({"count": "3"}, "not-whole", "count"),
        ({"count": 1.5}, "not-whole", "count"),
        ({"count": True}, "not-whole", "count"),
        ({"hold": "yes"}, "wrong-type", "hold"),
        ({"colour": "blue"}, "unknown-key", "colour"),
        ({"time_limit": "30"}, "duration", "time_limit"),
        ({"time_limit": -1}, "duration", "time_limit"),
        ({"time_limit": True}, "duration", "time_limit"),
        ({"time_limit": 10**12}, "duration", "time_limit"),
        ({"lead": None}, "duration", "lead"),
        ({"signal": "KILL"}, "unknown-word", "signal"),
        ({"signal": 9}, "unknown-word", "signal"),
        ({"signal": "_IGN"}, "unknown-word", "signal"),
        ({"directory": "here"}, "name", "directory"),
        ({"environment": {"A=B": "1"}}, "name", "environment.A=B.[key]"),
        ({"stdin": "§"}, "base64", "stdin"),
        ({"labels": {"a b": "1"}}, "name", "labels.a b.[key]"),
        ({"name": "two\nlines"}, "not-text", "name"),
        ({"user": "a b"}, "name", "user"),
        ({"after": [{"job": "1", "on": "maybe"}]}, "unknown-word", "after[0].on"),
        ({"consumer": "/Nowhere"}, "not-a-leaf", ""),
        ({"consumer": "/Trading"}, "not-a-leaf", ""),
        ({"resource_group": "gpu"}, "unknown-resource-group", ""),
        ({"after": [{"job": "99"}]}, "unknown-job", ""),
    ],
)
def test_what_is_wrong_with_a_job_is_told(bank: Bank, terms: dict[str, Any], code: str, place: str) -> None:
    body = json.dumps({"consumer": "/Research", "argv": ["true"]} | terms)
    found = bank._ask("POST", "/jobs", 422, content=body, headers={"Content-Type": "application/json"})
    assert found["code"] == code
    assert found["status"] == 422
    assert found["faults"][0]["place"] == place


def test_what_is_no_json_is_told(bank: Bank) -> None:
    for content in (b"{", b"\xff", b"[" * 100_000, b""):
        answer = bank.client.post("/v1/jobs", content=content, headers={"Content-Type": "application/json"})
        assert answer.status_code in {400, 422}
        assert answer.headers["content-type"] == "application/problem+json"
    huge = b'{"consumer": "/Research", "argv": ["true"], "count": ' + b"9" * 10_000 + b"}"
    answer = bank.client.post("/v1/jobs", content=huge, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400


def test_jobs_are_held_released_changed_requeued_and_cancelled(bank: Bank) -> None:
    job = bank.submit(hold=True)["job"]
    assert bank.get(f"/jobs/{job}")["state"] == "held"
    assert bank.post(f"/jobs/{job}/hold", {"reason": "month end"})["hold"] == "month end"
    assert bank._ask("PATCH", f"/jobs/{job}", 200, json={"priority": 5, "consumer": "/Trading/FX"})["priority"] == 5
    assert bank.get(f"/jobs/{job}")["consumer"] == "/Trading/FX"
    assert bank._ask("PATCH", f"/jobs/{job}", 422, json={"consumer": "/Nowhere"})["code"] == "not-a-leaf"
    assert bank._ask("PATCH", f"/jobs/{job}", 422, json={"priority": 2**41})["code"] == "out-of-range"
    assert bank.post(f"/jobs/{job}/release")["hold"] is None
    bank.hub.wait_started(1)
    bank.post(f"/jobs/{job}/requeue")
    bank.hub.wait_started(2)
    assert bank.hub.stops[0].reason == "requeue"
    assert bank.hub.started[2].number == 2
    bank.post(f"/jobs/{job}/cancel")
    assert bank.get(f"/jobs/{job}?wait=5")["state"] == "cancelled"
    assert bank.post(f"/jobs/{job}/cancel", {})["state"] == "cancelled"
    for verb in ("hold", "release", "requeue"):
        assert bank.post(f"/jobs/{job}/{verb}", status=409)["code"] == "job-over"


def test_labels_of_a_job_are_changed_and_kept(tmp_path: Path) -> None:
    with Bank(tmp_path / "state", limits=RequestLimits(labels=2)) as bank:
        job = bank.submit(hold=True, labels={"book": "fx"})["job"]
        changed = bank._ask("PATCH", f"/jobs/{job}", 200, json={"labels": {"book": "rates"}, "priority": 3})
        assert (changed["labels"], changed["priority"]) == ({"book": "rates"}, 3)
        assert [each["job"] for each in bank.get("/jobs?label=book:rates")["jobs"]] == [job]
        assert bank.get("/jobs?label=book:fx")["jobs"] == []
        many = {"labels": {"a": "", "b": "", "c": ""}}
        assert bank._ask("PATCH", f"/jobs/{job}", 413, json=many)["code"] == "too-large"
        wrong = {"labels": {}, "consumer": "/Nowhere"}
        assert bank._ask("PATCH", f"/jobs/{job}", 422, json=wrong)["code"] == "not-a-leaf"
        event = next(each for each in bank.get("/events")["events"] if each["kind"] == "JobLabelled")
        assert (event["job"], event["labels"]) == (job, {"book": "rates"})
    with Bank(tmp_path / "state") as bank:
        assert bank.get(f"/jobs/{job}")["labels"] == {"book": "rates"}
        bank.post(f"/jobs/{job}/cancel")
        assert bank.get(f"/jobs/{job}")["labels"] == {"book": "rates"}
        assert bank._ask("PATCH", f"/jobs/{job}", 409, json={"labels": {}})["code"] == "job-over"


def test_held_and_delayed_tasks_wait_too_for_a_limit(tmp_path: Path) -> None:
    with Bank(tmp_path / "small", core=Limits(waiting_in_leaf=6)) as bank:
        first = bank.submit(consumer="/Research", count=6, hold=True)["job"]
        assert "`waiting_in_leaf`" in bank.submit(429)["detail"]
        assert bank.submit(consumer="/Trading/Risk")["job"] == "2"
        bank.post(f"/jobs/{first}/cancel")
        bank.core.waiting = type(bank.core.waiting)()
        assert bank.submit(count=6)["job"] == "3"


def test_a_leaf_full_of_held_arrays_keeps_no_other_leaf_out(bank: Bank) -> None:
    bank.submit(consumer="/Research", count=10_000_000, hold=True)
    refused = bank.submit(429, consumer="/Research", count=10_000_000, hold=True)["detail"]
    assert "`fairhold serve --limit waiting_in_leaf=N`" in refused
    for _ in range(2):
        bank.submit(consumer="/Trading/Risk", hold=True)


def test_the_answer_to_a_submit_says_why_the_job_waits_where_no_cycle_has_to(bank: Bank) -> None:
    held = bank.submit(hold=True)
    blocked = bank.submit(after=[{"job": held["job"], "on": "any"}])
    assert bank.client.post("/v1/groups/compute/pause", json={"grants": True}).status_code == 200
    paused = bank.submit()
    assert [each["reason"] for each in (held, blocked, paused)] == ["held", "dependency", "paused"]
    for job in (held, blocked, paused):
        found = bank.get(f"/jobs/{job['job']}")
        assert (found["reason"], found["text"]) == (job["reason"], job["text"])


def test_a_job_that_could_never_start_says_which_one_it_waited_for(bank: Bank) -> None:
    first = bank.submit(hold=True)["job"]
    second = bank.submit(after=[{"job": first, "on": "ok"}])["job"]
    third = bank.submit(after=[{"job": second, "on": "ok"}])["job"]
    assert bank.client.post(f"/v1/jobs/{first}/cancel").json()["reason"] is None
    text = f"job {first} was cancelled, and it waited for its success"
    rows = {each["job"]: each for each in bank.get("/jobs?all=true")["jobs"]}
    for found in (bank.get(f"/jobs/{second}"), bank.get(f"/jobs/{second}/explanation"), rows[second]):
        assert (found["state"], found["reason"], found["text"]) == ("cancelled", "never_ready", text)
    assert rows[third]["text"] == f"job {second} was cancelled, and it waited for its success"
    assert bank.get(f"/jobs/{first}/explanation")["text"] == "it is over: cancelled"


def test_a_job_that_waited_for_a_failure_or_a_success_that_did_not_come_says_so(bank: Bank) -> None:
    good, bad = bank.submit()["job"], bank.submit()["job"]
    waits = [bank.submit(after=[{"job": job, "on": on}])["job"] for job, on in ((good, "fail"), (bad, "ok"))]
    bank.hub.wait_started(2)
    bank.hub.end(1)
    bank.hub.end(2, "failed")
    assert [bank.until(f"/jobs/{job}", "state", "cancelled")["text"] for job in waits] == [
        f"job {good} is done, and it waited for its failure",
        f"job {bad} failed, and it waited for its success",
    ]


def test_a_job_may_wait_for_one_that_ends_in_the_same_round(bank: Bank) -> None:
    job = bank.submit(hold=True)["job"]

    def both(core: Core) -> str:
        core.feed(JobCancelled(job))
        done = core.finished(job)
        return "" if done is None else done.state

    assert bank.desk.write(both).result(5) == "cancelled"


@pytest.mark.parametrize("job", ["99", "0", "-1", "x", "9" * 400, "%00", "1%2F2", "ä"])
def test_a_job_that_is_not_there(bank: Bank, job: str) -> None:
    for verb in ("cancel", "hold", "release", "requeue"):
        assert bank.client.post(f"/v1/jobs/{job}/{verb}").status_code == 404
    for path in ("", "?wait=0.1", "/tasks", "/explanation", "/tasks/0/output"):
        answer = bank.client.get(f"/v1/jobs/{job}{path}")
        assert answer.status_code == 404, path
        assert answer.json()["code"] in {"unknown-job", "no-such-page"}


def test_a_wait_ends_with_the_job_and_not_before(bank: Bank) -> None:
    job = bank.submit()["job"]
    bank.hub.wait_started(1)
    assert bank.get(f"/jobs/{job}?wait=0.05")["state"] == "running"
    found: list[Any] = []
    waiting = threading.Thread(target=lambda: found.append(bank.get(f"/jobs/{job}?wait=20")))
    waiting.start()
    bank.hub.end(1, "failed", 3)
    waiting.join(5)
    assert not waiting.is_alive()
    assert (found[0]["state"], found[0]["exit_code"]) == ("failed", 3)
    assert bank.get(f"/jobs/{job}?wait=61", 422)["code"] == "out-of-range"


def test_pages_of_jobs_and_their_filters(bank: Bank) -> None:
    names = [bank.submit(hold=True, user=user)["job"] for user in ("ann", "bob", "ann")]
    moved = bank.submit(consumer="/Trading/FX", hold=True, labels={"book": "fx"}, user="ann")["job"]
    assert {each["job"] for each in bank.get("/jobs")["jobs"]} == {*names, moved}
    assert {each["job"] for each in bank.get("/jobs?user=bob")["jobs"]} == {names[1]}
    assert {each["job"] for each in bank.get("/jobs?consumer=/Trading")["jobs"]} == {moved}
    assert {each["job"] for each in bank.get("/jobs?label=book:fx")["jobs"]} == {moved}
    assert {each["job"] for each in bank.get("/jobs?state=held")["jobs"]} == {*names, moved}
    assert bank.get("/jobs?state=running")["jobs"] == []
    assert bank.get("/jobs?state=runing", 422)["code"] == "unknown-word"
    seen, cursor = [], ""
    while cursor is not None:
        page = bank.get(f"/jobs?limit=2&cursor={cursor}")
        seen += [each["job"] for each in page["jobs"]]
        cursor = page["next"]
    assert sorted(seen) == sorted([*names, moved])
    bank.post(f"/jobs/{names[0]}/cancel")
    assert names[0] not in {each["job"] for each in bank.get("/jobs")["jobs"]}
    for query in ("all=1", "state=cancelled"):
        assert names[0] in {each["job"] for each in bank.get(f"/jobs?{query}")["jobs"]}
    assert bank.get("/jobs?cursor=nonsense", 422)["code"] == "bad-cursor"
    assert bank.get("/jobs?limit=0", 422)["code"] == "out-of-range"


@pytest.mark.parametrize(
    ("terms", "name"),
    [
        ({"argv": ["x" * 600]}, "argv"),
        ({"environment": {"A": "x" * 600}}, "environment"),
        ({"argv": ["x" * 350]}, "argument"),
        ({"stdin": b64encode(b"x" * 600).decode()}, "stdin"),
        ({"after": [{"job": "1"}] * 3}, "after"),
        ({"labels": {"a": "", "b": "", "c": ""}}, "labels"),
        ({"name": "x" * 10, "environment": {str(number): "x" for number in range(2_000)}}, "body"),
    ],
)
def test_a_request_that_is_too_large_names_the_limit(tmp_path: Path, terms: dict[str, Any], name: str) -> None:
    limits = RequestLimits(body=8_000, argv=500, environment=500, argument=300, stdin=500, after=2, labels=2)
    with Bank(tmp_path / "small", limits=limits) as bank:
        found = bank.submit(413, **terms)
        assert found["code"] == "too-large"
        assert f"`{name}`" in found["detail"]
        assert f"--limit {name}=N`" in found["detail"]


def test_a_body_without_length_is_counted(tmp_path: Path) -> None:
    with Bank(tmp_path / "small", limits=RequestLimits(body=1_000)) as bank:

        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(20):
                yield b"x" * 100

        answer = bank.client.post("/v1/jobs", content=pieces(), headers={"Content-Type": "application/json"})
        assert answer.status_code == 413
        assert "`body`" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (Limits(jobs=1), "jobs"),
        (Limits(waiting=6), "waiting"),
        (Limits(waiting_in_leaf=6), "waiting_in_leaf"),
    ],
)
def test_more_than_the_service_takes_names_the_limit(tmp_path: Path, limits: Limits, name: str) -> None:
    with Bank(tmp_path / "small", core=limits) as bank:
        bank.submit(consumer="/Research", count=1)
        answer = bank.client.post("/v1/jobs", json={"consumer": "/Research", "argv": ["true"], "count": 6})
        assert answer.status_code == 429
        assert answer.json()["code"] == "too-many"
        assert f"`{name}`" in answer.json()["detail"]
        assert f"--limit {name}=N`" in answer.json()["detail"]
        assert answer.headers["retry-after"] == "1"


@pytest.mark.parametrize("name", ["tasks", "waiting", "waiting_in_leaf"])
def test_an_array_that_is_too_large_is_not_to_be_tried_later(tmp_path: Path, name: str) -> None:
    with Bank(tmp_path / "small", core=Limits()._replace(**{name: 5})) as bank:
        found = bank.submit(413, count=6)
        assert (found["code"], f"`{name}`" in found["detail"], "wait until" in found["detail"]) == (
            "too-large",
            True,
            False,
        )
        assert f"--limit {name}=N`" in found["detail"]
        bank.submit(count=5)


def test_the_resource_group_is_named_where_there_are_several(tmp_path: Path) -> None:
    plan = PLAN.replace("compute: {slots: 4}", "compute: {slots: 4}, gpu: {slots: 1}").replace(
        "[compute]", "[compute, gpu]"
    )
    with Bank(tmp_path / "two", plan=plan) as bank:
        assert bank.submit(422)["code"] == "missing-key"
        assert bank.submit(resource_group="gpu")["resource_group"] == "gpu"


def test_a_submit_without_room_is_refused_and_goes_on_later(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **_more: object) -> None:
        raise StoreFull("no room")

    with monkeypatch.context() as patch:
        patch.setattr(bank.store, "_write", full)
        assert bank.submit(507)["code"] == "store-full"
        health = bank.get("/health")
        assert health["state"] == "trouble"
        assert re.fullmatch(r".*no room.*; since 20.*Z; not written: .*", health["trouble"])
        assert bank.submit(507)["code"] == "store-full"
    bank.until("/health", "state", "ok")
    bank.submit()


def test_answers_are_not_kept_and_errors_tell_nothing_of_the_inside(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("fairhold.service.routers.plan.plan_check", broken)
    answer = bank.client.post("/v1/plan/check", json={"text": ""})
    assert answer.status_code == 500
    assert answer.json()["code"] == "internal"
    assert "secret" not in answer.text
    assert answer.headers["cache-control"] == "no-store"
    assert json.loads(answer.text)["faults"]


def test_pages_and_methods_that_are_not_there(bank: Bank) -> None:
    assert bank.get("/nothing", 404)["code"] == "no-such-page"
    found = bank.client.delete("/v1/jobs")
    assert found.status_code == 405
    assert found.json()["code"] == "no-such-method"
    assert "GET" in found.headers["allow"] or "POST" in found.headers["allow"]
