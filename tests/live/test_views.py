"""Pages of jobs and tasks, and the tables of what there is."""

from __future__ import annotations

import json
import sys
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.errors import InputError
from fairhold.model.spec import Spec
from fairhold.orchestrator.events import (
    JobCancelled,
    JobSubmitted,
    MachineClosed,
    MachineSilent,
    TaskRunning,
)
from fairhold.runtime.live.submitting import Submission
from fairhold.runtime.live.views.allocations import allocations_document
from fairhold.runtime.live.views.consumers import consumer_explanation, consumers_document
from fairhold.runtime.live.views.cycles import cycle_document, cycles_page
from fairhold.runtime.live.views.hosts import hosts_document
from fairhold.runtime.live.views.jobs import Wanted, job_document, jobs_page, state_of
from fairhold.runtime.live.views.tasks import tasks_page
from fairhold.units import SECOND
from tests.live.play import MIXED, PLAIN, Play, plan_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Document = dict[str, Any]


def all_pages(page: Callable[[str], Document], name: str) -> list[Document]:
    rows: list[Document] = []
    cursor = ""
    for _ in range(10_000):
        document = page(cursor)
        json.dumps(document)
        rows += document[name]
        if document["next"] is None:
            return rows
        cursor = document["next"]
    raise AssertionError("the pages do not end")


@pytest.mark.parametrize("seed", range(6))
def test_pages_show_every_job_once(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    play = Play(tmp_path, plan_text(MIXED))
    play.wander(random, 120, [plan_text(MIXED)])
    core = play.core
    limit = random.randint(1, 7)
    live = [row["job"] for row in all_pages(lambda at: jobs_page(core, Wanted(), at, limit), "jobs")]
    assert live == sorted(core.cluster.jobs, key=int, reverse=True)
    everything = all_pages(lambda at: jobs_page(core, Wanted(finished=True), at, limit), "jobs")
    assert sorted(int(row["job"]) for row in everything) == list(range(1, core.next_job))
    for row in everything:
        whole = job_document(core, row["job"])
        assert whole is not None
        assert {name: whole[name] for name in row} == row
        assert whole["argv"] == ["true", "{index}"]
        tasks = whole["tasks"]
        assert sum(tasks[name] for name in tasks if name not in {"tasks", "reclaimed"}) == tasks["tasks"]
        assert (row["ended"] is None) == (row["job"] in core.cluster.jobs)
    for wanted in (
        Wanted(user="bob", finished=True),
        Wanted(consumer="/A", finished=True),
        Wanted(state="running"),
        Wanted(state="cancelled"),
        Wanted(state="held", user="cy"),
    ):
        found = [row["job"] for row in all_pages(lambda at, w=wanted: jobs_page(core, w, at, limit), "jobs")]  # type: ignore[misc]
        assert found == [
            row["job"]
            for row in everything
            if wanted.user in {"", row["user"]}
            and wanted.state in {"", row["state"]}
            and f"{row['consumer']}/".startswith(f"{wanted.consumer}/")
        ]
    for cursor in ("live-", "x", "done-x"):
        with pytest.raises(InputError):
            jobs_page(core, Wanted(finished=True), cursor)
    with pytest.raises(InputError):
        jobs_page(core, Wanted(state="tired"))
    assert job_document(core, "999") is None
    play.store.close()


@pytest.mark.parametrize("seed", range(6))
def test_pages_show_every_task_once(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    play = Play(tmp_path, plan_text(MIXED))
    play.wander(random, 120, [plan_text(MIXED)])
    for name in map(str, range(1, play.core.next_job)):
        limit = random.randint(1, 4)
        job = job_document(play.core, name)
        assert job is not None
        rows = all_pages(lambda at, n=name, m=limit: tasks_page(play.core, n, at, m) or {}, "tasks")  # type: ignore[misc]
        at = 0
        states: dict[str, int] = {}
        for row in rows:
            assert row["task"] == at
            at = row.get("through", at) + 1
            states[row["state"]] = states.get(row["state"], 0) + at - row["task"]
            numbers = [attempt["number"] for attempt in row["attempts"]]
            assert numbers == list(range(1, len(numbers) + 1))
        assert at == job["tasks"]["tasks"]
        tasks = job["tasks"]
        for state in ("done", "failed", "cancelled", "delayed"):
            assert states.get(state, 0) == tasks[state]
        assert sum(states.get(each, 0) for each in ("starting", "running", "reclaiming", "unknown")) == tasks["running"]
    assert tasks_page(play.core, "999") is None
    with pytest.raises(InputError):
        tasks_page(play.core, "1", "x")
    play.store.close()


def test_an_array_of_a_million_is_three_entries(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    job = play.submit("/B", 1_000_000)
    play.pass_time(SECOND)
    play.end(1)
    play.commit()
    page = tasks_page(play.core, job, limit=20)
    assert page is not None
    assert [row["state"] for row in page["tasks"]] == ["done"] + ["starting"] * 7 + ["waiting"]
    assert page["tasks"][-1] == {"task": 8, "through": 999_999, "state": "waiting", "attempts": []}
    play.feed(JobCancelled(job))
    page = tasks_page(play.core, job, "8", limit=20)
    assert page is not None
    assert page["tasks"] == [{"task": 8, "through": 999_999, "state": "cancelled", "attempts": []}]
    for number in play.live():
        play.end(number, "cancel")
    play.commit()
    page = tasks_page(play.core, job, "8", limit=20)
    assert page is not None
    assert page["tasks"] == [{"task": 8, "through": 999_999, "state": "cancelled", "attempts": []}]
    done = job_document(play.core, job)
    assert done is not None
    assert (done["state"], done["tasks"]["cancelled"], done["exit_code"]) == ("cancelled", 999_999, 1)
    play.store.close()


def test_the_exit_code_of_a_single_task(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    ended = {play.submit("/B", 1): (end, code) for end, code in (("finished", 0), ("failed", 3), ("time_limit", 1))}
    play.pass_time(SECOND)
    for number in play.live():
        play.end(number, ended[play.core.cluster.attempts[number].job.name][0])
    play.commit()
    assert [(job_document(play.core, name) or {})["exit_code"] for name in ended] == [0, 3, 1]
    play.store.close()


def test_a_page_of_many_jobs_looks_at_few(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN), most=10**9)
    core = play.core
    for number in range(30_000):
        asked = JobSubmitted("", ("/A/a1", "/A/a2", "/B")[number % 3], "compute", 1)
        core.submit(Submission(f"u{number % 7}", "", asked, Spec("/B", ("true",))))
        if number % 5_000 == 0:
            play.commit()
    play.pass_time(SECOND)
    play.commit()
    cursor = ""
    for _ in range(5):
        play.pass_time(SECOND)
        play.end(play.live()[0])  # another state: nothing that was worked out before holds
        play.commit()
        calls = 0

        def count(*_: object) -> None:
            nonlocal calls
            calls += 1

        sys.setprofile(count)
        page = jobs_page(core, Wanted(), cursor)
        sys.setprofile(None)
        assert calls < 31_000, "some for a row, none for every job"
        assert len(page["jobs"]) == 100
        assert {row["reason"] for row in page["jobs"]} == {"behind"}
        cursor = page["next"]
    play.store.close()


def test_the_live_tree_adds_up(tmp_path: Path) -> None:
    random = Random(3)
    play = Play(tmp_path, plan_text(MIXED))
    for _ in range(8):
        play.wander(random, 15, [plan_text(MIXED)])
        document = consumers_document(play.core)
        json.dumps(document)
        held = 0
        for group, tree in document["resource_groups"].items():
            leaves = [row for row in tree["consumers"] if row["leaf"]]
            tops = [row for row in tree["consumers"] if row["path"].count("/") == 1]
            for name in ("allocated", "running", "reclaiming", "coming", "demand"):
                assert sum(row[name] for row in leaves) == sum(row[name] for row in tops)
            for row in tree["consumers"]:
                assert row["borrowed"] == max(0, row["allocated"] - row["owned"])
                assert row["lent"] <= max(0, row["owned"] - row["allocated"])
            for row in leaves:
                assert sum(row["users"].values()) == row["allocated"]
            held += sum(row["allocated"] for row in leaves)
            assert tree["idle"] == max(0, tree["slots"] - sum(row["allocated"] for row in leaves))
            assert sum(row["running"] for row in tops) == sum(
                attempt.job.resource_group == group for attempt in play.core.cluster.attempts.values()
            )
        rows = allocations_document(play.core)["allocations"]
        assert sum(row["units"] for row in rows) == held
        assert sum(len(allocations_document(play.core, host=host)["allocations"]) for host in ("h1", "h2")) == sum(
            row["host"] != "" for row in rows
        )
        assert allocations_document(play.core, "/A")["allocations"] == [
            row for row in rows if row["consumer"][:3] == "/A/"
        ]
    play.store.close()


def test_hosts_say_why_they_start_nothing(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(MIXED))
    play.submit("/B", 3)
    play.pass_time(SECOND)
    play.feed(TaskRunning(1), MachineClosed("h1", "dust", drain=True), MachineSilent("h2"), MachineClosed("", "why"))
    rows = {row["host"]: row for row in hosts_document(play.core)["hosts"]}
    assert [(row["state"], row["reason"], row["connected"]) for row in rows.values()] == [
        ("draining", "dust", True),
        ("silent", None, False),
        ("closed", "why", True),
    ]
    assert (rows["h1"]["running"], rows["h1"]["starting"]) == (1, 2)
    assert rows["h1"]["resource_groups"] == {"compute": 4}
    over = hosts_document(play.core, None, None, {"h2": 1_767_603_600 * SECOND, "h1": SECOND})["hosts"]
    assert [(row["state"], row["gone_at"]) for row in over] == [
        ("draining", None),
        ("gone", "2026-01-05T09:00:00Z"),
        ("closed", None),
    ]
    play.store.close()


@pytest.mark.parametrize(
    ("kept", "shown"),
    [
        (("memory", "cpu"), {"cpu": "kernel", "memory": "kernel"}),
        (("memory",), {"cpu": "none", "memory": "kernel"}),
        ((), {"cpu": "none", "memory": "sampled"}),
        (None, None),
    ],
)
def test_hosts_say_which_limits_the_kernel_keeps(
    tmp_path: Path, kept: tuple[str, ...] | None, shown: dict[str, str] | None
) -> None:
    declared = json.loads(plan_text(MIXED)) | {"resources": {"cpu": {}, "gpu": {}, "memory": {"unit": "GiB"}}}
    for text, of_h1 in ((json.dumps(declared), shown), (plan_text(MIXED), None)):
        play = Play(tmp_path / str(len(text)), text)
        rows = {row["host"]: row for row in hosts_document(play.core, None, {"h1": kept})["hosts"]}
        assert (rows["h1"]["enforced"], rows["h2"]["enforced"]) == (of_h1, None)
        play.store.close()


def test_cycles_and_explanations_of_consumers(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    play.submit("/A/a1", 20)
    play.pass_time(SECOND)
    play.submit("/B", 3)
    play.pass_time(SECOND)
    play.commit()
    cycles = cycles_page(play.store)["cycles"]
    assert [row["number"] for row in cycles] == list(range(len(cycles), 0, -1))
    assert sum(row["granted"] for row in cycles) == 8
    number = next(row["number"] for row in cycles if row["reclaimed"])
    whole = cycle_document(play.store, number)
    assert whole is not None
    assert [(row["consumer"], row["units"], row["for"]) for row in whole["document"]["reclaims"]] == [
        ("/A/a1", 3, "/B")
    ]
    assert cycle_document(play.store, 10_000) is None
    document = consumer_explanation(play.core, "/B")()
    json.dumps(document)
    assert document["explanations"][0]["quota"] == 3
    assert document["text"].startswith("/B in compute: quota 3, holds 0, wants 3")
    assert consumer_explanation(play.core, "/")()["explanations"][0]["would_help"] is None
    for consumer, group in (("/X", ""), ("/B", "gpu")):
        with pytest.raises(InputError):
            consumer_explanation(play.core, consumer, group)
    assert state_of(play.core.cluster.jobs["2"]) == "waiting"
    play.store.close()
