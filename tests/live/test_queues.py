"""Queues of `fair_share` in the live service: what runs, what is refused, what is taken back, what is told."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cli.live.explaining import job_in_words
from fairhold.cli.live.tree import BORROWED, COLUMNS, OWN, WAITING, trees
from fairhold.errors import InputError
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.events import JobChanged
from fairhold.runtime.live.using import Terms, usage_document
from fairhold.runtime.live.views.amounts import NAMES
from fairhold.runtime.live.views.explanation import job_explanation
from fairhold.runtime.live.views.jobs import job_document
from fairhold.runtime.live.views.pools import pools_group
from fairhold.service.metrics import amount_metrics, numbers, queue_metrics
from fairhold.units import SECOND
from tests.live.play import Play

if TYPE_CHECKING:
    from pathlib import Path

GPU = (("gpu", "1"),)
QUEUES: dict[str, dict[str, Any]] = {
    "/A": {"deserved": {"gpu": 4}},
    "/A/a1": {"deserved": {"gpu": 2}},
    "/A/a2": {"deserved": {"gpu": 2}},
    "/B": {"deserved": {"gpu": 2}, "limit": {"gpu": 6}},
}


def plan(queues: dict[str, dict[str, Any]] = QUEUES, **settings: Any) -> str:
    """Two hosts of four GPUs, shared by queues; /C and /D share a third one in pools."""
    return json.dumps(
        {
            "fairhold": 1,
            "time_zone": "Europe/Zurich",
            "resources": {"cpu": {}, "gpu": {}},
            "resource_groups": {
                "train": {"hosts": [{"name": "h[1-2]", "cpu": 16, "gpu": 4}]},
                "rest": {"hosts": [{"name": "h3", "cpu": 4, "gpu": 1}]},
            },
            "consumers": {
                "A": {"consumers": {"a1": {"reclaim_grace": "30s"}, "a2": {"reclaim_grace": "10s"}}},
                "B": {"reclaim_grace": "20s"},
                "C": {},
            },
            "policies": [
                {"resource_groups": ["train"], "policy": "fair_share", "settings": settings, "consumers": queues},
                {"resource_groups": ["rest"], "policy": "multidimensional", "consumers": {"/C": {}}},
            ],
        }
    )


@pytest.fixture
def play(tmp_path: Path) -> Play:
    found = Play(tmp_path, plan())
    for name in ("h1", "h2", "h3"):
        found.report(name)
    return found


def ask(play: Play, consumer: str, count: int, **terms: Any) -> str:
    """Submit units of a GPU; the cycle that follows has run."""
    job = play.submit(consumer, count, group=POOLED, unit=terms.pop("unit", GPU), **terms)
    play.pass_time(SECOND)
    return job


def running(play: Play) -> dict[str, int]:
    return {job.name: job.running for job in play.core.cluster.jobs.values()}


def noticed(play: Play) -> list[tuple[str, str]]:
    """(job, taker) of units under notice."""
    return [(each.job.name, each.notice.job) for each in play.core.cluster.attempts.values() if each.notice]


def shown(play: Play, job: str) -> dict[str, Any]:
    found = job_document(play.core, job)
    assert found is not None
    return found


def refusal(play: Play, consumer: str, count: int = 1, **terms: Any) -> str:
    with pytest.raises(InputError) as caught:
        ask(play, consumer, count, **terms)
    fault = caught.value.faults[0]
    return f"{fault.what} [{fault.code}]"


def test_a_queue_takes_its_share_back_within_the_grace_of_who_holds_it(play: Play) -> None:
    """R-CONTEST-1, R-SERVE-2, S4.16: what is idle goes out up to the limit, and comes back."""
    other = ask(play, "/B", 9)
    mine = ask(play, "/A/a1", 4)
    assert running(play) == {other: 6, mine: 2}
    assert noticed(play) == [(other, mine)] * 2
    told = job_in_words(job_explanation(play.core, mine) or {}, [])
    assert "2 on the way" in told
    play.pass_time(25 * SECOND)
    for name, attempt in list(play.core.cluster.attempts.items()):
        if attempt.stopping:
            play.end(name, "reclaim")
    play.pass_time(SECOND)
    assert running(play) == {other: 4, mine: 4}
    play.commit()
    taken = job_explanation(play.core, other)
    assert taken is not None
    assert {row["rule"] for row in taken["reclaims"]} == {"R-CONTEST-1"}


def test_inside_a_queue_the_more_important_preempts_what_may_be_taken(play: Play) -> None:
    """R-CONTEST-5: of two jobs of the queue that is full, the one that says so gives nothing."""
    fixed = ask(play, "/B", 2, preemptible=False)
    loose = ask(play, "/B", 4)
    high = ask(play, "/B", 3, priority=50)
    assert running(play) == {fixed: 2, loose: 4, high: 0}
    assert noticed(play) == [(loose, high)] * 3
    explained = job_explanation(play.core, loose)
    assert explained is not None
    assert {row["rule"] for row in explained["reclaims"]} == {"R-CONTEST-5"}


def test_gangs_of_queues_begin_together_and_the_rest_is_elastic(play: Play) -> None:
    first = ask(play, "/A/a1", 3)
    second = ask(play, "/A/a2", 3)
    gang = ask(play, "/B", 4, min_count=3)
    assert running(play) == {first: 3, second: 3, gang: 0}
    play.end(play.live()[0])
    play.pass_time(SECOND)
    assert running(play) == {first: 2, second: 3, gang: 3}


def test_whether_work_may_be_taken_back_goes_by_its_priority_where_it_does_not_say(play: Play) -> None:
    """R-SERVE-2: from priority 100 on it may not."""
    job = ask(play, "/A/a1", 2, priority=100)
    assert shown(play, job)["preemptible"] is False
    play.feed(JobChanged(job, priority=99))
    assert shown(play, job)["preemptible"] is True
    said = ask(play, "/A/a2", 1, priority=100, preemptible=True)
    assert shown(play, said)["preemptible"] is True
    pool = ask(play, "/C", 1, priority=100)
    assert shown(play, pool)["preemptible"] is True


def test_it_is_the_same_after_a_restart_and_when_it_is_over(play: Play) -> None:
    job = ask(play, "/A/a1", 1, preemptible=False)
    done = ask(play, "/A/a2", 1, preemptible=False)
    play.end(play.live()[-1])
    for snapshot in (False, True):
        play.restart(snapshot=snapshot)
        assert shown(play, job)["preemptible"] is False
        assert shown(play, done)["state"] == "done"
        assert shown(play, done)["preemptible"] is False


def test_what_could_never_run_is_refused(play: Play) -> None:
    """R-SERVE-2: never above a limit, and for good only within what is deserved, at every level."""
    what = "and non-preemptible work runs only within what is deserved [never-fits]"
    assert refusal(play, "/A/a1", unit=(("gpu", "3"),), preemptible=False) == (
        f"one unit can never start: `/A/a1` deserves 2 of `gpu`, {what}"
    )
    assert refusal(play, "/A/a1", 3, min_count=3, priority=100) == (
        f"3 units at once can never start: `/A/a1` deserves 2 of `gpu`, {what}"
    )
    assert refusal(play, "/A/a1", preemptible=False, unit=(("cpu", "1"),)) == (
        f"one unit can never start: `/A/a1` deserves 0 of `cpu`, {what}"
    )
    assert refusal(play, "/B", 8, min_count=7) == (
        "7 at once can never start: the `limit` of `/B` has room for 6 such units [never-fits]"
    )
    assert refusal(play, "/C", preemptible=False) == (
        "`preemptible` is false, and its consumer is not a queue of `fair_share` [no-queue]"
    )
    waits = ask(play, "/A/a1", 3, preemptible=False)
    assert running(play) == {waits: 2}
    explained = job_explanation(play.core, waits)
    assert explained is not None
    assert explained["request"]["waits"]["reason"] == "beyond deserved"


def test_it_is_told_how_queues_stand(play: Play) -> None:
    """Shares, what is held beyond what is deserved, metrics and `top`."""
    ask(play, "/A/a1", 3)
    ask(play, "/B", 7)
    told = {row["path"]: row for row in pools_group(play.core)["consumers"]}
    assert told["/B"]["queue"]["resources"]["gpu"] == {
        "fair_share": 5,
        "deserved": 2,
        "limit": 6,
        "requested": 7,
        "allocated": 5,
        "saturation": "1",
        "usage": None,
    }
    assert [told[path]["borrowed"] for path in ("/A", "/A/a1", "/B")] == [1, 1, 3]
    assert told["/C"]["queue"] is None
    family = {each.name: each for each in queue_metrics(numbers(play.core).queues)}
    values = {
        sample.labels["consumer"]: sample.value
        for sample in family["fairhold_queue_fair_share"].samples
        if sample.labels["resource"] == "gpu"
    }
    assert values == {"/A": 3, "/A/a1": 3, "/A/a2": 0, "/B": 5}
    limits = family["fairhold_queue_saturation"].samples
    assert {sample.value for sample in limits} >= {1.0}


def test_amounts_are_owned_allocated_borrowed_lent_and_entitled(play: Play) -> None:
    """Owned is what is deserved, borrowed what is held beyond it, lent what others hold of it."""
    ask(play, "/A/a1", 3)
    ask(play, "/B", 7)
    group = pools_group(play.core)
    told = {row["path"]: row["amounts"] for row in group["consumers"]}
    gpus = {path: tuple(of[name].get("gpu", 0) for name in NAMES) for path, of in told.items()}
    assert gpus == {  # owned, allocated, borrowed, lent, waiting, reclaiming, entitled: of 8 two are nobody's
        "/A": (4, 3, 0, 1, 0, 0, 3),
        "/A/a1": (2, 3, 1, 0, 0, 0, 3),
        "/A/a2": (2, 0, 0, 2, 0, 0, 0),
        "/B": (2, 5, 3, 0, 2, 0, 5),
        "/C": (0, 0, 0, 0, 0, 0, 0),
    }
    (tree,) = trees({"resource_groups": {"train": group}}, 65)
    assert tree.title == "train  cpu 0/36, gpu 8/9 used; columns show gpu"
    assert tree.head == ("consumer", *(column for column in COLUMNS if column != "lent"))
    rows = {line.name.strip(): line for line in tree.lines}
    assert rows["a1"].cells == ("2", "3", "3", "1", "·")
    assert rows["B"].bar == ((OWN, 2), (BORROWED, 3), (WAITING, 2))
    wide = next(iter(trees({"resource_groups": {"train": group}}, 200)))
    assert {line.name.strip(): line.cells for line in wide.lines}["B"][:3] == ("gpu 2", "gpu 5", "gpu 5")


def test_metrics_say_the_same_amounts(play: Play) -> None:
    ask(play, "/A/a1", 3)
    ask(play, "/B", 7)
    read = numbers(play.core)
    family = {each.name: each for each in amount_metrics(read.amounts)}
    assert set(family) == {f"fairhold_resource_{name}" for name in NAMES}
    for name, expected in (("owned", 2), ("allocated", 5), ("borrowed", 3), ("entitled", 5), ("waiting", 2)):
        values = [
            sample.value
            for sample in family[f"fairhold_resource_{name}"].samples
            if sample.labels == {"resource_group": "train, rest", "consumer": "/B", "resource": "gpu"}
        ]
        assert values == [expected]
    assert read.units == {}


def kinds_of(play: Play) -> dict[str, Fraction]:
    """GPU-seconds of /B by kind."""
    tail = play.core.usage.tail(play.clock())
    rows = usage_document(play.store, tail, 0, play.clock(), Terms(("consumer", "kind"), ["gpu"]))["rows"]
    return {row["kind"]: Fraction(row["resource_seconds"]) for row in rows if row["consumer"] == "/B"}


def rates(play: Play, *, snapshot: bool | None) -> dict[str, Fraction]:
    """GPUs of /B by kind in the time that passes, with a restart before where `snapshot` says how."""
    if snapshot is not None:
        play.restart(snapshot=snapshot)
    begin, before = play.clock(), kinds_of(play)
    play.pass_time(10 * SECOND)
    passed = Fraction(play.clock() - begin, SECOND)
    return {kind: (amount - before.get(kind, 0)) / passed for kind, amount in kinds_of(play).items()}


@pytest.mark.parametrize("snapshot", [None, False, True])
def test_usage_within_what_is_deserved_is_own(play: Play, *, snapshot: bool | None) -> None:
    """In the order of starts, units of two GPUs and of one alike; when one goes, those behind it move up."""
    one = ask(play, "/B", 1)
    ask(play, "/B", 1, unit=(("gpu", "2"),))
    ask(play, "/B", 1)
    assert rates(play, snapshot=snapshot) == {"own": 2, "borrowed": 2}
    row = next(each for each in pools_group(play.core)["consumers"] if each["path"] == "/B")
    assert row["amounts"]["borrowed"] == {"gpu": 2}
    play.end(next(each.name for each in play.core.cluster.attempts.values() if each.job.name == one))
    assert rates(play, snapshot=snapshot) == {"own": 2, "borrowed": 1}


def test_plans_go_to_queues_and_back_while_work_runs(play: Play) -> None:
    """A job that said that it is not preemptible is as any other in pools, and fixed again after."""
    fixed = ask(play, "/A/a1", 2, preemptible=False)
    other = ask(play, "/B", 6)
    pools = json.loads(plan())
    pools["policies"] = [
        {"resource_groups": ["train"], "policy": "multidimensional", "consumers": {"/A": {}, "/B": {}}},
        pools["policies"][1],
    ]
    for text, is_fixed in ((json.dumps(pools), False), (plan(), True)):
        play.core.apply_plan(text, "ann", "", play.core.version)
        play.pass_time(SECOND)
        assert running(play) == {fixed: 2, other: 6}
        assert shown(play, fixed)["preemptible"] is not is_fixed
