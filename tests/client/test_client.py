"""The client library against a service that follows the contract."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

import fairhold
from fairhold.client import exchange as exchanging
from fairhold.client import steps
from fairhold.client.asynchronous import AsyncClient
from fairhold.client.errors import ConnectionLost, Refused, ServiceError, ServiceMissing
from fairhold.client.exchange import LONG_PATIENCE, Pause, Response
from fairhold.client.finding import find
from fairhold.client.synchronous import Client
from fairhold.errors import ArgumentError, UsageError
from tests.client.fake import TOKEN, Fake, Problem, fault
from tests.client.serving import cuts_of, running
from tests.client.serving import fake as fake  # noqa: PLC0414 - a fixture

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.client.answers import Job
    from fairhold.client.typed import After


def test_a_job_is_submitted_waited_for_and_its_results_are_read(fake: Fake) -> None:
    fake.on_wait = lambda name: fake.run(name, [b"one\n", b"two\xff\n"])
    with fairhold.connect() as service:
        job = service.submit("/Research", ["echo", "{index}"], count=2, name="pair", environment={"A": "1"})
        assert (job.name, job.title, job.state, job.reason, job.is_over) == ("1", "pair", "waiting", "no-slots", False)
        assert job.submitted == datetime(2026, 1, 5, 9, 0, 0, 123456, UTC)
        results = service.results(job)
        assert [(each.index, each.state, each.code, each.text) for each in results] == [
            (0, "done", 0, "one\n"),
            (1, "done", 0, "two�\n"),
        ]
        assert service.wait(job).exit_code == 0
        assert service.output(job, 1) == b"two\xff\n"
        assert [each.attempts[0].reason for each in service.tasks(job)] == ["finished", "finished"]
    sent = fake.asked[0][2]
    assert sent["environment"] == {"A": "1"}
    assert sent["count"] == 2
    assert "priority" not in sent


def test_the_async_client_does_the_same(fake: Fake) -> None:
    fake.on_wait = lambda name: fake.run(name, [b"x"])

    async def use() -> list[bytes]:
        async with fairhold.connect_async(fake.url, TOKEN) as service:
            jobs = await asyncio.gather(*(service.submit("/Trading", ["true"]) for _ in range(5)))
            assert len({job.name for job in jobs}) == 5
            assert len(await service.jobs()) == 5
            found = [await service.results(job, timeout=5) for job in jobs]
            assert {each.path for each in await service.consumers()} == {"/Trading", "/Trading/Risk", "/Research"}
            assert await service.allocations() == await service.cycles() == []
            with pytest.raises(Refused) as caught:
                await service.job(99)
            assert (caught.value.code, caught.value.status) == ("unknown-job", 404)
            return [each.output for results in found for each in results]

    assert asyncio.run(use()) == [b"x"] * 5


def test_both_clients_offer_the_same() -> None:
    def offered(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")}

    assert offered(Client) == offered(AsyncClient)
    assert len(offered(Client)) > 25


@pytest.mark.parametrize("where", ["before", "during", "after"])
@pytest.mark.parametrize("over", ["tcp", "socket"])
def test_a_submission_that_is_cut_anywhere_is_one_job(fake: Fake, where: str, over: str) -> None:
    fake.cuts = cuts_of(where)
    with fairhold.connect(f"unix:{fake.socket}" if over == "socket" else None) as service:
        assert service.submit("/Research", ["true"]).name == "1"
    assert list(fake.jobs) == ["1"]
    assert not fake.cuts
    assert len(fake.keys) == 1


@pytest.mark.usefixtures("fake")
def test_a_key_of_the_caller_is_one_job() -> None:
    with fairhold.connect() as service:
        first, second = (service.submit("/Research", ["true"], key="mine") for _ in range(2))
        assert first == second
        assert service.submit("/Research", ["true"]).name == "2"


def test_what_may_have_happened_is_not_asked_again(fake: Fake) -> None:
    with fairhold.connect() as service:
        job = service.submit("/Research", ["true"])
        fake.cuts = ["after"]
        with pytest.raises(ConnectionLost, match="check whether it was done"):
            service.requeue(job)
        assert [path for method, path, _ in fake.asked if method == "POST"] == ["/v1/jobs", "/v1/jobs/1/requeue"]


def test_waiting_goes_on_while_the_service_restarts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRHOLD_STATE", str(tmp_path))
    first = Fake()
    waits = threading.Event()
    found: list[Job] = []

    def cut(_name: str) -> None:
        first.cuts = ["before"] * 100
        waits.set()

    first.on_wait = cut

    def wait(url: str, job: Job) -> None:
        with fairhold.connect(url, TOKEN) as service:
            found.append(service.wait(job, timeout=60))

    with running(tmp_path, first):
        port = int(first.url.rpartition(":")[2])
        with fairhold.connect(first.url, TOKEN) as service:
            job = service.submit("/Research", ["true"])
        waiter = threading.Thread(target=wait, args=(first.url, job))
        waiter.start()
        assert waits.wait(10)
    first.on_wait, first.cuts = None, []
    first.end("1", 3)
    with running(tmp_path, first, port=port):
        waiter.join(20)
    assert [each.exit_code for each in found] == [3]


@pytest.mark.usefixtures("fake")
def test_a_wait_ends_when_its_time_is_over() -> None:
    with fairhold.connect() as service:
        job = service.submit("/Research", ["true"])
        with pytest.raises(TimeoutError, match=r"job 1 is waiting after 0\.2 seconds"):
            service.wait(job, timeout=0.2)


def test_a_service_that_is_not_there_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRHOLD_STATE", str(tmp_path / "nothing"))
    monkeypatch.delenv("FAIRHOLD_SERVICE", raising=False)
    with pytest.raises(ServiceMissing, match="no service runs here"):
        fairhold.connect()
    with (
        fairhold.connect("http://127.0.0.1:1") as service,
        pytest.raises(ServiceMissing, match=r"does not answer: .*; start one with `fairhold serve PLAN`"),
    ):
        service.submit("/A", ["true"])
    for wrong in ("ftp://host", "host:80", "http://host/path", "http://host:port"):
        with pytest.raises(UsageError, match="is not a service address"):
            fairhold.connect(wrong)


def test_the_token_goes_to_the_service_that_it_belongs_to_and_no_other(fake: Fake) -> None:
    assert find().token == find(fake.url).token == find(f"unix:{fake.socket}").token == TOKEN
    assert find("http://127.0.0.1:9").token == ""
    with fairhold.connect(fake.url, "wrong") as service, pytest.raises(ServiceError) as caught:
        service.health()
    assert (caught.value.status, caught.value.exit_code, caught.value.code) == (401, 3, "no-token")


def test_faults_of_the_service_come_whole(fake: Fake) -> None:
    with fairhold.connect() as service:
        with pytest.raises(Refused) as caught:
            service.submit("/Nowhere", ["true"])
        assert caught.value.faults[0].mend == "did you mean `/R`?"
        assert caught.value.exit_code == 2
        fake.problems["jobs"] = Problem(429, fault("too-many", "the limit `waiting` is 10"))
        with pytest.raises(ServiceError, match="the limit `waiting` is 10") as full:
            service.submit("/Research", ["true"])
        assert full.value.status == 429
        fake.problems["jobs"] = Problem(413, fault("too-large", "the limit `body` is 10 bytes"))
        with pytest.raises(Refused, match="limit `body`"):
            service.submit("/Research", ["true"])


def test_pages_are_followed(fake: Fake) -> None:
    fake.page = 7
    with fairhold.connect() as service:
        for _ in range(20):
            service.submit("/Research", ["true"])
        assert [job.name for job in service.jobs()] == [str(name) for name in range(20, 0, -1)]
        assert len(service.jobs(limit=9)) == 9
        fake.page = 3
        fake.run("1", [b"0123456789"])
        assert service.output("1") == b"0123456789"


def test_the_plan_is_applied_from_the_version_that_was_seen(fake: Fake) -> None:
    with fairhold.connect() as service:
        plan = service.plan()
        assert (plan.version, plan.author) == (1, "ann")
        assert plan.text
        assert service.apply_plan(plan.text, comment="same", dry_run=True)["version"] == 1
        assert service.apply_plan(plan.text, comment="same", for_="2h")["version"] == 2
        assert fake.asked[-1][2] == {"text": plan.text, "comment": "same", "for": "2h"}
        with pytest.raises(Refused) as caught:
            service.apply_plan(plan.text, seen=1)
        assert caught.value.code == "plan-changed"
        assert service.revert_plan()["version"] == 3
        assert [each.version for each in service.plan_versions()] == [3, 2, 1]
        assert service.diff_plan(plan.text)["reclaims"] == {"added": [], "removed": []}
        assert service.check_plan(plan.text)["faults"] == []


def test_the_socket_has_one_name_whatever_the_port_is(fake: Fake) -> None:
    with fairhold.connect() as service:
        service.plan()
    with fairhold.connect(fake.url, token=TOKEN) as service:
        service.plan()
    assert fake.hosts_called == ["fairhold", fake.url.removeprefix("http://")]


def test_a_plan_is_taken_back_with_the_names_of_before(fake: Fake) -> None:
    with fairhold.connect() as service:
        service.apply_plan("fairhold: 1\n")
        service.revert_plan(1, "back", was={"/Research": "/Science"})
    assert fake.asked[-1][2] == {"to": 1, "comment": "back", "was": {"/Research": "/Science"}}


@pytest.mark.parametrize(
    ("argv", "said"),
    [("echo hi", "give a list"), ([], "give a list"), (["echo", 1], "str"), ([b"echo"], "str")],
)
def test_a_command_is_a_list_of_strings(fake: Fake, argv: Any, said: str) -> None:
    with fairhold.connect() as service, pytest.raises(ArgumentError, match=said):
        service.submit("/Research", argv)
    assert fake.asked == []


def test_jobs_are_changed(fake: Fake) -> None:
    with fairhold.connect() as service:
        job = service.submit("/Research", ["true"], after=["ok:7", ("8", "any"), 9], labels={"a": "b"})
        assert fake.asked[-1][2]["after"] == [
            {"job": "7", "on": "ok"},
            {"job": "8", "on": "any"},
            {"job": "9", "on": "ok"},
        ]
        assert service.hold(job, "later").state == "held"
        assert service.release(job).state == "waiting"
        assert service.change(job, priority=5).priority == 5
        assert fake.asked[-1][2] == {"priority": 5}
        assert service.change(job, consumer="/Trading").consumer == "/Trading"
        assert service.explain(job)["place"] == 3
        assert service.cancel(job).state == "cancelled"
        with pytest.raises(Refused, match="is over"):
            service.release(job)
        with pytest.raises(ArgumentError, match="does not say what to wait for"):
            service.submit("/Research", ["true"], after=["never:3"])


def test_hosts_and_usage_are_read(fake: Fake) -> None:
    with fairhold.connect() as service:
        assert [(host.name, host.state, host.reason) for host in service.hosts()] == [
            ("g1", "up", ""),
            ("g2", "closed", "starts fail"),
        ]
        assert service.close_host("rack 1", "new disk", drain=True)["state"] == "draining"
        assert fake.asked[-1][1:3] == ("/v1/hosts/rack%201/close", {"reason": "new disk", "drain": True})
        at, by, until = (datetime(2026, 1, 5, hour, tzinfo=UTC) for hour in (9, 10, 11))
        service.close_host("g1", drain=True, at=at, by=by, until="2026-01-05T11:00:00Z")
        assert {name: datetime.fromisoformat(fake.asked[-1][2][name]) for name in ("at", "by", "until")} == {
            "at": at,
            "by": by,
            "until": until,
        }
        assert "reason" not in fake.asked[-1][2]
        rows = service.usage("consumer", resource=("gpu", "memory"), start=datetime(2026, 1, 5, tzinfo=UTC))["rows"]
        assert [(row["resource"], row["resource_seconds"]) for row in rows] == [("gpu", "5400"), ("memory", "3600")]
        with pytest.raises(ValueError, match="time zone"):
            service.usage(start=datetime(2026, 1, 5))  # noqa: DTZ001


def test_the_environment_of_the_caller_goes_without_the_token(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRHOLD_TOKEN", TOKEN)
    monkeypatch.setenv("COLOUR", "blue")
    with fairhold.connect() as service:
        service.submit("/Research", ["true"])
    sent = fake.asked[0][2]["environment"]
    assert sent["COLOUR"] == "blue"
    assert "FAIRHOLD_TOKEN" not in sent


def pauses_until_given_up(asked: exchanging.Steps[Response]) -> list[float]:
    """How long is waited between requests to a service that is never there."""
    pauses = []
    step = next(asked)
    while True:
        try:
            if isinstance(step, Pause):
                pauses.append(step.seconds)
                step = asked.send(None)
            else:
                step = asked.throw(ServiceMissing("gone"))
        except ServiceMissing:
            return pauses


def test_only_a_service_that_was_there_is_waited_for() -> None:
    asked = exchanging.request("GET", "health")
    assert pauses_until_given_up(exchanging.exchange(asked)) == []
    pauses = pauses_until_given_up(exchanging.exchange(asked, patience=LONG_PATIENCE, is_known=True))
    assert LONG_PATIENCE <= sum(pauses) < LONG_PATIENCE + 2
    assert max(pauses) == 1.0


def test_after_a_break_a_submission_waits_for_a_service_that_restarts() -> None:
    stopping = Response(503, {}, b'{"code": "stopping", "detail": "it stops", "status": 503, "faults": []}')
    asked = steps.submit({}, "mine")
    first = next(asked)
    assert isinstance(first, exchanging.Request)
    assert isinstance(asked.throw(ConnectionLost("it broke")), Pause)
    for answer in (stopping, ServiceMissing("gone"), stopping):
        again = asked.send(None)
        assert again == first
        back = asked.throw(answer) if isinstance(answer, ServiceMissing) else asked.send(answer)
        assert isinstance(back, Pause)
    assert asked.send(None) == first
    with pytest.raises(StopIteration):
        asked.send(Response(201, {}, b'{"job": "1"}'))
    assert first.headers["Idempotency-Key"] == "mine"


def test_a_service_that_goes_on_stopping_after_a_break_leaves_it_open_what_happened() -> None:
    asked = steps.submit({}, "mine")
    next(asked)
    asked.throw(ConnectionLost("it broke"))

    def always_stopping() -> None:
        while True:
            asked.send(None)
            asked.send(Response(503, {}, b"{}"))

    with pytest.raises(ConnectionLost, match="did not come back"):
        always_stopping()


def test_an_answer_of_something_else_says_so() -> None:
    asked = steps.health()
    next(asked)
    with pytest.raises(ServiceError, match=r"not an answer of a fairhold service: status 502, <html>") as caught:
        asked.send(Response(502, {}, b"<html>"))
    assert caught.value.faults[0].mend


def test_import_is_fast_and_leaves_the_client_out() -> None:
    code = "import sys, fairhold; print(sorted(m for m in sys.modules if m.startswith(('fairhold.', 'httpx'))))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = fairhold.nothing  # type: ignore[attr-defined]


def test_what_cannot_be_sent_is_refused_before(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fairhold.connect() as service:
        for wrong in ({"key": "ä"}, {"stdin": "text"}, {"after": "soon:1"}):
            with pytest.raises(ArgumentError):
                service.submit("/Research", ["true"], **wrong)  # type: ignore[arg-type]
        for call in (service.apply_plan, service.check_plan, service.diff_plan):
            with pytest.raises(ArgumentError, match="not a string"):
                call(b"fairhold: 1")  # type: ignore[arg-type]
        gone = tmp_path / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)
        gone.rmdir()
        with pytest.raises(ArgumentError, match="no longer exists"):
            service.submit("/Research", ["true"])
        monkeypatch.chdir(tmp_path)
    assert not fake.asked
    with pytest.raises(UsageError, match="closed"):
        service.health()


def test_one_word_may_stand_without_a_list(fake: Fake) -> None:
    with fairhold.connect() as service:
        first = service.submit("/Research", ["true"])
        several: tuple[After, ...] = (first, "ok:1", 1, (first, "any"), [first, "any:1"])
        for one in several:
            service.submit("/Research", ["true"], after=one)
        service.usage("job")
    sent = [each[2]["after"] for each in fake.asked[1:6]]
    ok, any_ = {"job": "1", "on": "ok"}, {"job": "1", "on": "any"}
    assert sent == [[ok], [ok], [ok], [any_], [ok, any_]]
    assert "by=job" in fake.asked[-1][1]


def test_a_token_that_is_none_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRHOLD_SERVICE", "http://127.0.0.1:1")
    monkeypatch.setenv("FAIRHOLD_TOKEN", "secret\nsecret")
    with pytest.raises(UsageError) as caught:
        fairhold.connect()
    assert "secret" not in str(caught.value)
