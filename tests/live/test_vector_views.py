"""What the service shows of resources of hosts: why a job waits, what was taken from it, hosts and consumers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cli.live import machines
from fairhold.cli.live.explaining import job_in_words
from fairhold.cli.pool_words import pools_in_words
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.events import MachineClosed, MachineGone, MachineSilent
from fairhold.orchestrator.vectors import state_of
from fairhold.runtime.live.views.consumers import consumer_explanation
from fairhold.runtime.live.views.explanation import job_explanation
from fairhold.runtime.live.views.hosts import hosts_document
from fairhold.runtime.live.views.lending import lending_document
from fairhold.runtime.live.views.pools import pools_group
from fairhold.runtime.live.views.usage import UsageQuery, usage_document
from fairhold.runtime.live.views.waiting import reason_of
from fairhold.service.metrics import numbers, resource_metrics
from fairhold.units import SECOND
from tests.live.play import Play

if TYPE_CHECKING:
    from pathlib import Path

PLAN: dict[str, Any] = {
    "fairhold": 1,
    "resources": {"cpu": {}, "memory": {"unit": "GiB"}, "gpu": {}},
    "resource_groups": {"gpu": {"hosts": [{"name": "h1", "cpu": 8, "memory": 64, "gpu": 4}]}},
    "consumers": {"A": {"reclaim_grace": "5s"}, "B": {"reclaim_grace": "5s"}, "C": {"reclaim_grace": "9s"}},
    "policies": [
        {
            "resource_groups": ["gpu"],
            "policy": "multidimensional",
            "consumers": {"/A": {"own": [{"resource_group": "gpu", "hosts": 1}]}},
        }
    ],
}
ONE = (("cpu", "2"), ("memory", "8"), ("gpu", "1"))


class GpuPlay(Play):
    """A service of one host that /A owns."""

    def __init__(self, directory: Path, plan: dict[str, Any] = PLAN) -> None:
        super().__init__(directory, json.dumps(plan))

    def ask(self, consumer: str, count: int = 1, **terms: Any) -> str:
        job = self.submit(consumer, count, group=POOLED, **({"unit": ONE} | terms))
        self.pass_time(SECOND)
        self.commit()
        return job

    def explained(self, job: str) -> dict[str, Any]:
        found = job_explanation(self.core, job)
        assert found is not None
        return found


def test_units_on_parcels_are_borrowed_of_their_owners(play: GpuPlay) -> None:
    play.ask("/B")
    play.ask("/A")
    pairs = [
        {"lender": "/A", "borrower": "/B", "resource": resource, "units": units}
        for resource, units in (("cpu", 2), ("memory", 8), ("gpu", 1))
    ]
    for consumer in ("/A", "/B"):
        assert lending_document(play.core, consumer)["resource_groups"] == {"gpu": {"pairs": pairs}}
    assert lending_document(play.core, "/C")["resource_groups"] == {"gpu": {"pairs": []}}


def used(play: GpuPlay) -> set[tuple[str, str]]:
    """Consumers and kinds of all that was used."""
    now = play.clock()
    found = usage_document(play.store, play.core.usage.tail(now), UsageQuery(0, now, ("consumer", "kind")))
    return {(row["consumer"], row["kind"]) for row in found["rows"]}


@pytest.fixture
def play(tmp_path: Path) -> GpuPlay:
    return GpuPlay(tmp_path)


@pytest.mark.parametrize("snapshot", [False, True])
def test_what_was_taken_says_the_rule_of_pools(play: GpuPlay, *, snapshot: bool) -> None:
    lent, owner = play.ask("/B", 4), play.ask("/A", 2)
    play.restart(snapshot=snapshot)
    rows = play.explained(lent)["reclaims"]
    assert [(row["rule"], row["for"], row["end"]) for row in rows] == [("R-TAKE-2", "/A", None)] * 2
    cycles = {row["cycle"] for row in rows}
    assert len(cycles) == 1
    assert cycles.pop() > 1
    play.end(rows[0]["attempt"], "yielded")
    play.commit()
    ended = next(row for row in play.explained(lent)["reclaims"] if row["end"])
    assert (ended["rule"], ended["for"]) == ("R-TAKE-2", "/A")
    assert "R-TAKE-2" in job_in_words(play.explained(lent), [])
    coming = play.explained(owner)["notices"]
    assert [(row["consumer"], row["for"], row["units"]) for row in coming] == [("/B", "/A", 1)]


def test_units_over_a_share_limit_go_by_its_rule(tmp_path: Path) -> None:
    play = GpuPlay(tmp_path)
    job = play.ask("/B", 3)
    entry = PLAN["policies"][0]
    limited = {**entry["consumers"], "/B": {"share_limit": {"gpu": 2}}}
    other = PLAN | {"policies": [entry | {"consumers": limited}]}
    play.core.apply_plan(json.dumps(other), "ann", "", play.core.version)
    play.report("h1")
    play.pass_time(SECOND)
    assert [(row["rule"], row["for"]) for row in play.explained(job)["reclaims"]] == [("R-LIMIT-3", None)]


def test_a_job_that_waits_tells_level_by_level_why(play: GpuPlay) -> None:
    play.ask("/B", 2)
    play.ask("/A", 2)
    job = play.ask("/C", 3)
    found = play.explained(job)
    request = found["request"]
    assert (request["request"], request["held"] + request["waiting"]) == (job, 3)
    assert request["waits"]["levels"]
    assert {row["consumer"]: (row["units"], row["quota"]) for row in found["holders"]}["/A"] == (2, None)
    assert sum(row["units"] for row in found["holders"]) + request["held"] == 4
    words = job_in_words(found, [])
    assert f"Job {job} of /C: 3 units" in words
    assert "level by level" in words
    assert "Who has the units" in words
    asked = next(each for each in state_of(play.core.cluster, play.core.orchestrator.now).requests if each.id == job)
    assert asked.count == request["count"]


def test_hosts_show_what_is_used_of_every_resource(
    play: GpuPlay, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    play.ask("/A", 3)

    class Connection:
        def run(self, _steps: object) -> dict[str, Any]:
            return hosts_document(play.core)

    monkeypatch.setattr(machines, "connect", lambda _service: Connection())
    machines.list_hosts("", as_json=False)
    head, row = capsys.readouterr().out.splitlines()
    assert "slots" not in head
    assert "used" in head
    assert "cpu 6/8, memory 24/64, gpu 3/4" in row


def test_a_host_that_has_more_or_less_in_a_new_plan(play: GpuPlay) -> None:
    """Who owns it whole owns what is more. On what is less units stay, and the owner's starts when there is room."""
    lent = play.ask("/B", 3)
    owner = play.ask("/A", 1)
    for gpus, cpus, owned, held in ((6, 24, 6, 4), (2, 8, 2, 4)):
        host = PLAN["resource_groups"]["gpu"]["hosts"][0] | {"gpu": gpus, "cpu": cpus}
        plan = PLAN | {"resource_groups": {"gpu": {"hosts": [host]}}}
        play.core.apply_plan(json.dumps(plan), "ann", "", play.core.version)
        play.report("h1")
        play.pass_time(SECOND)
        (row,) = hosts_document(play.core)["hosts"]
        assert row["owners"] == [{"consumer": "/A", "amounts": {"cpu": cpus, "memory": 64, "gpu": owned}}]
        assert row["resources"]["gpu"] == {"total": gpus, "used": held}
    assert [play.explained(job)["reclaims"] for job in (lent, owner)] == [[], []]
    play.end(4)
    waiting = play.ask("/A", 1)
    found = []
    for at in (2, 3):
        play.end(at, "yielded")
        play.pass_time(SECOND)
        play.commit()
        found.append(play.explained(waiting)["state"])
    assert found == ["waiting", "running"]


def test_metrics_count_each_resource_by_group(tmp_path: Path) -> None:
    groups = PLAN["resource_groups"] | {"big": {"hosts": [{"name": "h2", "cpu": 16, "memory": 256}]}}
    entry = PLAN["policies"][0] | {"resource_groups": ["gpu", "big"]}
    play = GpuPlay(tmp_path, PLAN | {"resource_groups": groups, "policies": [entry]})
    play.ask("/A", 3)
    play.ask("/B", unit=(("memory", "100.5"),))
    found = numbers(play.core).resources
    assert found["gpu"]["gpu"] == {"total": 4, "used": 3}
    assert found["big"]["memory"] == {"total": 256, "used": 100.5}
    assert found["big"]["gpu"] == {"total": 0, "used": 0}
    families = list(resource_metrics(found))
    assert [family.name for family in families] == ["fairhold_resource_total", "fairhold_resource_used"]
    values = {(*sample.labels.values(),): sample.value for sample in families[1].samples}
    assert values["big", "memory"] == 100.5


def test_what_is_handed_out_beyond_what_there_is_counts_as_there(tmp_path: Path) -> None:
    resources = PLAN["resources"] | {"cpu": {"overcommit": 2}}
    play = GpuPlay(tmp_path, PLAN | {"resources": resources})
    (host,) = hosts_document(play.core)["hosts"]
    assert host["resources"]["cpu"] == {"total": 16, "used": 0}


def test_what_a_group_has_leaves_out_a_host_whose_lease_has_run_out(tmp_path: Path) -> None:
    hosts = [{"name": "h1", "cpu": 8, "gpu": 4}, {"name": "h2", "cpu": 8, "gpu": 4}]
    play = GpuPlay(tmp_path, PLAN | {"resource_groups": {"gpu": {"hosts": hosts}}})
    play.feed(MachineSilent("h2"), MachineGone("h2"))
    assert numbers(play.core).resources["gpu"]["gpu"]["total"] == 4


def test_a_task_that_ends_while_a_host_is_closed_is_counted(play: GpuPlay) -> None:
    job = play.ask("/B", 2)
    play.feed(MachineClosed("h1", "dust", drain=False))
    for attempt in play.live():
        play.end(attempt)
    play.commit()
    assert job not in play.core.cluster.jobs
    play.restart(snapshot=True)
    assert used(play) == {("/B", "borrowed"), ("/A", "lent")}


def test_a_host_with_room_that_starts_nothing_is_named(tmp_path: Path) -> None:
    hosts = [{"name": "h1", "cpu": 8, "gpu": 4}, {"name": "h2", "cpu": 8, "gpu": 4}]
    play = GpuPlay(tmp_path, PLAN | {"resource_groups": {"gpu": {"hosts": hosts}}})
    play.feed(MachineClosed("h2", "dust", drain=False))
    job = play.ask("/A", 5, unit=(("gpu", "1"),))
    reason = reason_of(play.core, play.core.cluster.jobs[job])
    assert reason is not None
    room = "the hosts with room are closed: h2; nearest is h1, gpu 1 short [R-LIVE-2]"
    assert reason.text == f"{room}; 1 of 2 hosts is up; h2 is closed"
    (waits,) = [each["waits"] for each in consumer_explanation(play.core, "/A")()["explanations"][0]["requests"]]
    assert waits["closed"] == waits["levels"][-1]["closed"] == "h2"


def test_a_host_that_starts_nothing_lacks_nothing(play: GpuPlay) -> None:
    play.feed(MachineClosed("h1", "dust", drain=False))
    job = play.ask("/A", 5, unit=(("gpu", "1"),))
    text = consumer_explanation(play.core, "/A")()["text"]
    assert f"5 units of job {job} wait: the hosts with room are closed: h1 [R-LIVE-2]." in text


def test_a_consumers_requests_are_called_jobs(play: GpuPlay) -> None:
    play.ask("/A", 4)
    job = play.ask("/C", 2)
    found = consumer_explanation(play.core, "/C")()
    assert f"of job {job} wait" in found["text"]
    (told,) = found["explanations"]
    assert f"of job {job} wait" in told["sentence"]
    assert told["requests"][0]["request"] == job
    assert f"Job {job} of /C" in pools_in_words(told, "job")


def test_a_user_limit_is_the_reason_by_name(tmp_path: Path) -> None:
    limited = PLAN | {"policies": [PLAN["policies"][0] | {"consumers": {"/B": {"user_limit": 2}}}]}
    play = GpuPlay(tmp_path, limited)
    job = play.ask("/B", 3, user="ann")
    reason = reason_of(play.core, play.core.cluster.jobs[job])
    assert reason is not None
    assert (reason.code, reason.facts) == (
        "user_limit",
        {"consumer": "/B", "user": "ann", "user_limit": 2, "held": 2},
    )
    assert reason.text.endswith(": ann holds 2 of 2 units [R-USER-2]")
    consumer = next(each for each in pools_group(play.core)["consumers"] if each["path"] == "/B")
    assert consumer["user_limit"] == 2


def test_what_stands_on_hosts_of_a_consumer_above_is_not_borrowed(tmp_path: Path) -> None:
    """As in usage: own on hosts of the leaf or of one above it, borrowed elsewhere, and lent by who owns them."""
    consumers = {"A": {"consumers": {"a1": {}, "a2": {}}}, "B": {"reclaim_grace": "5s"}}
    play = GpuPlay(tmp_path, PLAN | {"consumers": consumers})
    play.ask("/A/a1", 1)
    play.ask("/B", 2)
    told = {row["path"]: row["amounts"] for row in pools_group(play.core)["consumers"]}
    names = ("owned", "allocated", "borrowed", "lent")
    assert {path: tuple(of[name].get("gpu", 0) for name in names) for path, of in told.items()} == {
        "/A": (4, 1, 0, 2),
        "/A/a1": (0, 1, 0, 0),
        "/A/a2": (0, 0, 0, 0),
        "/B": (0, 2, 2, 0),
    }
    assert told["/B"]["borrowed"] == {"cpu": 4, "memory": 16, "gpu": 2}
    assert used(play) == {("/A/a1", "own"), ("/B", "borrowed"), ("/A", "lent")}
