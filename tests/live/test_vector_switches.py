"""Resources of hosts while the plan changes under them: windows that switch, hosts that are lost, all told before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.events import MachineGone, MachineSilent
from fairhold.runtime.live.contents import LiveContents
from fairhold.runtime.live.recovery import frozen
from fairhold.service.planning import Frozen, Look, plan_effect
from fairhold.store import check_store
from fairhold.units import SECOND, format_instant
from tests.live.play import START
from tests.live.test_vector_views import GpuPlay

if TYPE_CHECKING:
    from pathlib import Path

HOUR = 3600 * SECOND
NINE = START + HOUR
"""2026-01-05T09:00:00Z, a Monday."""
OWN = [{"resource_group": "gpu", "hosts": ["h1"], "reserved": True}]
PLAN: dict[str, Any] = {
    "fairhold": 1,
    "resources": {"cpu": {}, "gpu": {}},
    "resource_groups": {"gpu": {"hosts": [{"name": name, "cpu": 8, "gpu": 2} for name in ("h1", "h2")]}},
    "consumers": {"A": {}, "B": {"reclaim_grace": "5s"}, "C": {}},
    "policies": [
        {
            "resource_groups": ["gpu"],
            "policy": "multidimensional",
            "window": "Mon 09:00-10:00",
            "consumers": {"/A": {"own": OWN}},
        },
        {"resource_groups": ["gpu"], "policy": "multidimensional", "consumers": {"/C": {"share_ratio": 1}}},
    ],
}
GPU = (("cpu", "1"), ("gpu", "1"))


def owners(play: GpuPlay) -> set[tuple[str, str]]:
    vectors = play.core.cluster.books[POOLED].vectors
    assert vectors is not None
    paths = play.core.plan.tree.paths
    return {(parcel.host, paths[parcel.consumer]) for parcel in vectors.ownership or ()}


def to(play: GpuPlay, instant: int) -> None:
    play.pass_time(instant - play.clock.instant)
    play.commit()


def test_a_window_that_opens_takes_a_host_and_one_that_closes_gives_it_back(tmp_path: Path) -> None:
    play = GpuPlay(tmp_path, PLAN | {"policies": [PLAN["policies"][1]]})
    lent = play.ask("/B", 4, unit=GPU)
    assert owners(play) == set()
    effect = plan_effect(Frozen(play.core), json.dumps(PLAN), {}, Look(HOUR)).diff
    assert effect["reclaims"]["added"] == []
    (coming,) = effect["windows"]
    assert [(row["host"], row["to"]) for row in coming["ownership"]] == [("h1", "/A")]
    (row,) = coming["reclaims"]["added"]
    assert (row["host"], row["units"], row["for"], row["deadline"]) == (
        "h1",
        2,
        None,
        format_instant(NINE + 5 * SECOND),
    )
    play.core.apply_plan(json.dumps(PLAN), "ann", "", play.core.version)
    assert (
        plan_effect(Frozen(play.core), json.dumps(PLAN), {}, Look(HOUR)).diff["windows"][0]["reclaims"]["added"] == []
    )

    to(play, NINE + SECOND)
    assert owners(play) == {("h1", "/A")}
    attempts = play.core.cluster.attempts.values()
    taken = [each for each in attempts if each.notice is not None]
    assert [each.places[0][0] for each in taken] == ["h1", "h1"]
    assert all(each.notice and each.notice.reason == "limit" and each.notice.job == "" for each in taken)
    by = {each.notice.deadline - 5 * SECOND for each in taken if each.notice}
    assert all(NINE <= instant < NINE + SECOND // 10 for instant in by)
    assert {each.lenders for each in taken} == {("/A",)}
    play.snapshot()
    play.restart(snapshot=False)
    assert owners(play) == {("h1", "/A")}
    for each in taken:
        play.end(each.name, "yielded")
    own = play.ask("/A", 1, unit=GPU)
    held = {(each.places[0][0], each.devices, each.job.name) for each in play.core.cluster.attempts.values()}
    assert held == {("h2", (0,), lent), ("h2", (1,), lent), ("h1", (0,), own)}

    to(play, NINE + HOUR + SECOND)
    assert owners(play) == set()
    assert len(play.core.cluster.attempts) == 4  # what was reserved is everybody's again
    play.store.close()
    assert check_store(play.directory / "state", LiveContents) == ()


def test_a_host_that_is_lost_leaves_nothing_behind(tmp_path: Path) -> None:
    plan = PLAN | {"policies": [{key: value for key, value in PLAN["policies"][0].items() if key != "window"}]}
    plan["policies"][0]["consumers"] = {"/A": {"own": [{"resource_group": "gpu", "hosts": 1}]}}
    play = GpuPlay(tmp_path, plan)
    play.ask("/B", 4, unit=GPU)
    play.ask("/A", 1, unit=GPU)
    (noticed,) = [each for each in play.core.cluster.attempts.values() if each.notice]
    ((lost, _),) = noticed.places
    play.feed(MachineSilent(lost))
    play.pass_time(SECOND)
    assert len(play.core.cluster.attempts) == 4, "until the lease is over nobody knows"
    play.feed(MachineGone(lost))
    play.pass_time(SECOND)
    play.commit()
    left = {each.places[0][0] for each in play.core.cluster.attempts.values()}
    assert left == {"h1", "h2"} - {lost}
    assert {host for host, _ in owners(play)} == left
    before = json.loads(frozen(play.core))["cluster"]
    assert before["vectors"]["gone"] == [lost]
    play.report(lost)
    play.pass_time(6 * SECOND)
    found = {(each.places[0][0], *each.devices) for each in play.core.cluster.attempts.values()}
    assert found == {(host, number) for host in ("h1", "h2") for number in (0, 1)}
    assert {job.name for job in play.core.cluster.jobs.values() if job.running} == {"1", "2"}
    play.store.close()
