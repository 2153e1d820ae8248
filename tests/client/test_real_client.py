"""Both clients against a real service that runs real tasks."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

import fairhold
from fairhold.client.errors import Refused
from fairhold.client.finding import find
from tests.cli.live.served import Served

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("client")) as found:
        yield found


@pytest.fixture
def address(served: Served) -> str:
    return f"unix:{served.state / 'api.sock'}"


def test_jobs_are_submitted_waited_for_and_their_results_are_read(address: str) -> None:
    with fairhold.connect(address) as service:
        job = service.submit("/Trading", ["sh", "-c", 'echo "{index} $WORD"; exit {index}'], count=3,
                             environment={"WORD": "hello"}, labels={"team": "quants"}, name="three")  # fmt: skip
        results = service.results(job, timeout=60)
        assert [(each.index, each.state, each.code, each.text) for each in results] == [
            (0, "done", 0, "0 hello\n"),
            (1, "failed", 1, "1 hello\n"),
            (2, "failed", 2, "2 hello\n"),
        ]
        over = service.job(job)
        assert (over.state, over.exit_code, over.title, over.is_over) == ("failed", 1, "three", True)
        assert [each.name for each in service.jobs(label="team:quants", finished=True)] == [job.name]
        other = service.submit("/Trading", ["true"], name="another", hold=True, priority=-3)
        titles = [each.title for each in service.jobs(finished=True, sort="name")]
        assert titles == ["another", "three"]
        assert [each.name for each in service.jobs(finished=True, sort="-priority")] == [job.name, other.name]
        service.cancel(other)
        assert service.explain(job)["state"] == "failed"


def test_tasks_that_never_started_stand_as_one_and_are_results_all_the_same(address: str) -> None:
    with fairhold.connect(address) as service:
        job = service.submit("/Trading", ["true"], count=1000, hold=True)
        waiting = service.tasks(job)
        assert [(task.index, task.through, task.state) for task in waiting] == [(0, 999, "held")]
        service.cancel(job)
        results = service.results(job, timeout=60)
        assert [result.index for result in results] == list(range(1000))
        assert {(result.state, result.code, result.output) for result in results} == {("cancelled", None, b"")}


def test_jobs_are_changed_and_explained(address: str) -> None:
    with fairhold.connect(address) as service:
        first = service.submit("/Research/Models", ["true"], hold=True, key="first")
        assert service.submit("/Research/Models", ["true"], hold=True, key="first").name == first.name
        after = service.submit("/Research/Models", ["true"], after=[first])
        assert service.explain(after)["reason"] == "dependency"
        assert service.change(first, priority=3, consumer="/Research/Backtests").consumer == "/Research/Backtests"
        with pytest.raises(TimeoutError):
            service.wait(first, timeout=0.1)
        assert service.hold(first, "later").document["hold"] == "later"
        service.release(first)
        assert service.wait(after, timeout=60).state == "done"
        with pytest.raises(Refused) as caught:
            service.submit("/Nowhere", ["true"])
        assert caught.value.code == "not-a-leaf"


def test_the_cluster_is_seen_and_steered(address: str, served: Served) -> None:
    with fairhold.connect(address) as service:
        leaves = {consumer.path for consumer in service.consumers() if consumer.is_leaf}
        assert leaves == {"/Trading", "/Research/Models", "/Research/Backtests"}
        assert service.plan().text == served.plan.read_text()
        assert service.check_plan("fairhold: 1")["faults"]
        done = service.apply_plan(served.plan.read_text(), comment="the same", dry_run=True)
        assert done["version"] == service.plan().version
        assert service.close_host("-", "a test")["state"] == "closed"
        assert service.hosts()[0].reason == "a test"
        assert service.open_host("-")["state"] == "up"
        planned = service.close_host("-", "a plan", at=datetime(2200, 1, 1, tzinfo=UTC), until="2200-01-02T00:00:00Z")
        assert (planned["state"], planned["close_at"][:10], planned["open_at"][:10]) == (
            "up",
            "2200-01-01",
            "2200-01-02",
        )
        assert service.open_host("-")["close_at"] is None
        last = service.cycles(limit=1)[0]["number"]
        assert service.cycle(last)["number"] == last
        assert [each["number"] for each in service.cycles(before=last, limit=1)] == [last - 1]
        assert service.pause("compute", grants=True) == {"resource_group": "compute", "grants": True, "reclaims": False}
        assert service.resume("compute")["grants"] is False
        assert service.health()["state"] == "ok"
        assert service.events(limit=1)["events"]
        assert service.usage(("kind",))["by"] == ["kind"]


def test_events_are_followed_and_metrics_and_checks_asked_for(address: str) -> None:
    with fairhold.connect(address) as service:
        assert service.check_job("/Trading", ["true"], count=2)["tasks"] == 2
        with pytest.raises(Refused, match="not-a-leaf"):
            service.check_job("/Nowhere", ["true"])
        assert "fairhold_" in service.metrics()
        events = service.follow(service.health()["entries"])
        job = service.submit("/Trading", ["true"])
        added = next(each for each in events if each["kind"] == "JobAdded")
        assert added["job"] == job.name
        ended = next(each for each in events if each["kind"] == "JobEnded")
        assert (ended["job"], ended["state"]) == (job.name, "done")


def test_many_at_once_with_asyncio(address: str) -> None:
    async def work() -> list[str]:
        async with fairhold.connect_async(address) as service:
            jobs = await asyncio.gather(*(service.submit("/Trading", ["echo", str(at)]) for at in range(10)))
            found = await asyncio.gather(*(service.results(job, timeout=60) for job in jobs))
            assert (await service.resume("compute"))["reclaims"] is False
            return [result.text for results in found for result in results]

    assert asyncio.run(work()) == [f"{at}\n" for at in range(10)]


def test_the_token_opens_the_port(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRHOLD_STATE", str(served.state))
    monkeypatch.delenv("FAIRHOLD_SERVICE", raising=False)
    monkeypatch.delenv("FAIRHOLD_TOKEN", raising=False)
    with fairhold.connect() as here:
        assert here.health()["state"] == "ok"
    with fairhold.connect(find().url) as service:
        assert service.health()["state"] == "ok"
