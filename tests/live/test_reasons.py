"""Every code of docs/reference/reasons.md can be met, and what mends a reason ends it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from fairhold.model.siting import Siting
from fairhold.orchestrator.events import (
    Dependency,
    GroupPaused,
    JobChanged,
    JobReleased,
    MachineClosed,
    TaskRunning,
)
from fairhold.runtime.live.views.explanation import job_explanation
from fairhold.runtime.live.views.jobs import job_document
from fairhold.runtime.live.views.waiting import reason_of
from fairhold.units import SECOND
from tests.live.play import MIXED, PLAIN, Play, plan_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.runtime.live.views.waiting import Reason

DOCUMENT = Path(__file__).parents[2] / "docs/reference/reasons.md"


def held(play: Play) -> str:
    return play.submit("/B", is_held=True)


def dependency(play: Play) -> str:
    return play.submit("/B", after=(Dependency(play.submit("/B"), "any"),))


def backoff(play: Play) -> str:
    job = play.submit("/B", retries=1, backoff=60 * SECOND)
    play.pass_time(SECOND)
    play.end(play.live()[-1], "failed")
    return job


def throttle(play: Play) -> str:
    job = play.submit("/B", 2, throttle=1)
    play.pass_time(SECOND)
    return job


def paused(play: Play) -> str:
    play.feed(GroupPaused("compute", grants=True, reclaims=False))
    return play.submit("/B")


def soon(play: Play) -> str:
    return play.submit("/B")


def no_host(play: Play) -> str:
    play.feed(MachineClosed("", "dust", drain=False))
    return play.submit("/B")


def bounded(play: Play, **stated: object) -> None:
    """Another plan is in force, in which /B has more settings."""
    text = plan_text(PLAIN).replace('"/B": {"owned": 3}', json.dumps({"/B": {"owned": 3} | stated})[1:-1])
    play.core.apply_plan(text, "ann", "", play.core.version)


def budget(play: Play) -> str:
    bounded(play, budget={"unit_hours": 1, "period": "day"})
    play.submit("/B", 4)
    play.pass_time(3600 * SECOND)
    return play.submit("/B")


def user_limit(play: Play) -> str:
    bounded(play, user_limit=1)
    job = play.submit("/B", 2)
    play.pass_time(SECOND)
    return job


def site(play: Play) -> str:
    hosts = [{"name": "h1", "slots": 2, "labels": ["ssd"]}, {"name": "h2", "slots": 6}]
    play.core.apply_plan(plan_text({"compute": {"hosts": hosts}}), "ann", "", play.core.version)
    for machine in play.core.cluster.machines:
        play.report(machine)
    play.submit("/B", 2, siting=Siting(need=("ssd",)))
    play.pass_time(SECOND)
    return play.submit("/B", siting=Siting(need=("ssd",)))


def full(play: Play, leaf: str = "/A/a1") -> None:
    play.submit(leaf, 9)
    play.pass_time(SECOND)
    play.feed(*map(TaskRunning, play.live()))


def behind(play: Play) -> str:
    full(play)
    return play.submit("/A/a1")


def limit(play: Play) -> str:
    full(play, "/C")
    return list(play.core.cluster.jobs)[-1]


def reclaiming(play: Play) -> str:
    full(play)
    job = play.submit("/B")
    play.pass_time(SECOND)
    return job


def control(play: Play) -> str:
    text = plan_text(PLAIN).replace('"/A": {"owned"', '"/A": {"min_runtime": "1h", "owned"')
    play.core.apply_plan(text, "ann", "", play.core.version)
    full(play)
    return play.submit("/B")


def gang(play: Play) -> str:
    play.submit("/A/a1")
    play.pass_time(SECOND)
    return play.submit("/B", units=8)


def quota(play: Play) -> str:
    full(play)
    return list(play.core.cluster.jobs)[-1]


def pool(play: Play) -> str:
    document = json.loads(plan_text({"gpu": {"hosts": [{"name": "g1", "gpu": 1}]}}, {"/A": {"share_ratio": 2}}))
    document["resources"] = {"gpu": {}}
    document["policies"][0] |= {"policy": "multidimensional", "settings": {}}
    play.core.apply_plan(json.dumps(document), "ann", "", play.core.version)
    play.report("g1")
    play.submit("/B", group="", unit=(("gpu", "1"),))
    play.pass_time(SECOND)
    job = play.submit("/B", group="", unit=(("gpu", "1"),))
    play.pass_time(SECOND)
    return job


WAYS: dict[str, Callable[[Play], str]] = {
    way.__name__: way
    for way in (
        *(held, dependency, backoff, throttle, paused, soon, no_host, site, budget, user_limit),
        *(behind, limit, reclaiming, control, gang, quota, pool),
    )
}


def test_the_page_names_all_codes() -> None:
    assert re.findall(r"^\| `(\w+)` \|", DOCUMENT.read_text(), re.MULTILINE) == list(WAYS)


@pytest.mark.parametrize("code", WAYS)
def test_every_code_can_be_met(tmp_path: Path, code: str) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    job = WAYS[code](play)
    for found in (job_document(play.core, job), job_explanation(play.core, job)):
        assert found is not None
        assert found["reason"] == code
        assert len(found["text"]) > 10
    play.store.close()


def test_paused_reclaims_are_told_by_who_waits_for_them(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    full(play)
    play.feed(GroupPaused("compute", grants=False, reclaims=True))
    job = play.submit("/B", 2)
    found = job_document(play.core, job)
    assert found is not None
    assert found["text"].startswith("2 slots are to be reclaimed for its leaf, but reclaims are paused in compute")
    play.pass_time(SECOND)
    assert not any(attempt.notice for attempt in play.core.cluster.attempts.values())
    play.store.close()


def everything_for(leaf: str, groups: dict[str, object]) -> str:
    """The plan in which a leaf owns all that there is, without limits."""
    text = plan_text(groups, {"/A": {"owned": 100}, "/A/a1": {"owned": 100}})
    return (
        text.replace("/A/a1", leaf)
        if leaf.startswith("/A/")
        else text.replace('"/A/a1"', f'"{leaf}"').replace('"/A": {"owned": 100}, ', "")
    )


def mend(play: Play, job: JobRecord, reason: Reason, groups: dict[str, object]) -> None:
    """Do what a reason asks for."""
    match reason.code:
        case "held":
            play.feed(JobReleased(job.name))
        case "paused":
            play.feed(GroupPaused(job.resource_group, grants=False, reclaims=False))
        case "behind":
            play.feed(JobChanged(job.name, priority=max(each.priority for each in play.core.cluster.jobs.values()) + 1))
        case "soon":
            play.pass_time(SECOND // 10)
        case "limit" | "quota":
            text = everything_for(job.consumer, groups)
            play.core.apply_plan(text, "ann", "", play.core.version)
        case "reclaiming":
            play.pass_time(3 * SECOND)
            for attempt in [each for each in play.core.cluster.attempts.values() if each.stopping]:
                play.end(attempt.name, "reclaim")
            play.pass_time(SECOND)
        case "backoff":
            play.pass_time(reason.facts["at"] - play.clock.instant + SECOND)
        case _:
            pytest.fail(reason.code)


MENDED = ("held", "paused", "behind", "soon", "limit", "quota", "reclaiming", "backoff")


@pytest.mark.parametrize("seed", range(16))
def test_what_mends_a_reason_ends_it(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    groups = MIXED if seed % 2 else PLAIN | {"gpu": {"slots": 3}}
    plan = plan_text(groups)
    play = Play(tmp_path, plan, most=1_000)
    for _ in range(8):
        play.wander(random, 10, [plan])
        names = list(play.core.cluster.jobs)
        for name in random.sample(names, min(6, len(names))):
            check_mending(play, name, groups)
        play.core.apply_plan(plan, "ann", "", play.core.version)
    play.store.close()


def check_mending(play: Play, name: str, groups: dict[str, object]) -> None:
    jobs = play.core.cluster.jobs
    reason = reason_of(play.core, jobs[name]) if name in jobs else None
    if reason is None or reason.code not in MENDED:
        return
    job = jobs[name]
    books, running = play.core.orchestrator.books[job.resource_group], job.running
    has_all = max(books.held[play.core.cluster.leaf_of(job)], reason.facts.get("held", 0)) >= books.slots
    mend(play, job, reason, groups)
    found = play.core.cluster.jobs.get(name)
    after = None if found is None else reason_of(play.core, found)
    if reason.code == "soon":
        assert job.running >= running + reason.facts["tasks"]
    elif reason.code == "reclaiming":
        still = after is not None and (after.code, after.facts) == (reason.code, reason.facts)
        assert not still, "the units have come, or they are others by now"
    elif not (has_all and reason.code in {"quota", "limit"}):
        assert after is None or after.code != reason.code, (reason, after)
