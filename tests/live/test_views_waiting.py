"""What the reason of a waiting job says is true in the state at hand."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.run import quotas
from fairhold.ledger.decision import Grant
from fairhold.orchestrator.events import Dependency, GroupPaused, JobHeld, MachineClosed, TaskRunning
from fairhold.rules.serving import serve_leaf
from fairhold.runtime.live.views.explanation import job_explanation
from fairhold.runtime.live.views.prospect import prospect
from fairhold.runtime.live.views.waiting import Reason, place_of, reason_of
from fairhold.units import SECOND, UNLIMITED, format_instant
from tests.live.play import MIXED, PLAIN, Play, plan_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fairhold.ledger.books import Books
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.tasks import JobRecord


class Anywhere:
    """Hosts without end."""

    def room(self, request: int) -> int:  # noqa: ARG002
        return UNLIMITED

    def take(self, request: int, units: int) -> None:
        pass

    def place(self, request: int, units: int) -> list[Grant]:
        return [Grant(request, 0, units)]


def given(books: Books, leaf: int, units: int) -> dict[int, int]:
    found: dict[int, int] = {}
    for grant in serve_leaf(books, leaf, units, Anywhere()):
        found[grant.request] = found.get(grant.request, 0) + grant.units
    return found


def check(play: Play, job: JobRecord, reason: Reason) -> None:  # noqa: PLR0912 - one branch for each code
    cluster, facts = play.core.cluster, reason.facts
    books = play.core.orchestrator.books[job.resource_group]
    rows, now = books.rows, play.core.orchestrator.now
    assert reason.text
    match reason.code:
        case "held":
            assert job.hold is not None
        case "dependency":
            assert [name for name in facts["jobs"] if not cluster.jobs[name].is_over] == facts["jobs"] != []
        case "backoff":
            assert job.waiting == 0
            assert facts["at"] in (job.delays or {}).values()
        case "throttle":
            assert job.running >= job.terms.throttle > 0
        case "paused":
            assert any(cluster.paused[job.resource_group])
        case "soon":
            assert job.startable >= facts["tasks"] > 0
        case "no_host":
            names = [name for group, name in cluster.hosts if group == job.resource_group]
            assert all(is_silent(cluster, name) or not cluster.accepts(name) for name in names)
        case "behind":
            assert facts["before"] > 0
        case "limit":
            row = rows.by_path[facts["consumer"]]
            assert facts["limit"] == rows.plan.limit[row]
            assert facts["held"] + job.units > facts["limit"]
            assert job.consumer.startswith(facts["consumer"])
        case "reclaiming":
            check_reclaiming(books, cluster.leaf_of(job), facts)
        case "gang":
            assert facts["needs"] == job.units
            assert any(0 <= facts.get(name, job.units) < job.units for name in ("idle", "room", "slots", "quota"))
        case "quota":
            draft = prospect(play.core, job.resource_group).result.draft
            assert facts["quota"] == quotas(books, now).draft.quota[cluster.leaf_of(job)]
            assert facts["held"] >= facts["quota"] or draft.idle == 0 or draft.inside[0] > 0
            assert all(books.held[rows.by_path[path]] for path in facts["holders"])
        case _:
            pytest.fail(f"{reason.code} is no reason")


def is_silent(cluster: Cluster, host: str) -> bool:
    return cluster.machines[cluster.machine_of(host)].is_silent


def check_reclaiming(books: Books, leaf: int, facts: Mapping[str, Any]) -> None:
    """What is said to come is under notice for the leaf, or would be."""
    mine = [
        (books.notices.units[row], books.notices.deadline[row])
        for notices in books.notices.by_allocation.values()
        for row in notices
        if books.notices.taker[row] == leaf
    ]
    if facts["given"]:
        assert (sum(units for units, _ in mine), max(at for _, at in mine)) == (facts["units"], facts["deadline"])
    else:
        assert facts["units"] > 0
        assert not mine


def check_place(play: Play, job: JobRecord) -> None:
    """Given so many units, its leaf serves none of the job's tasks; given one more, it does."""
    books = play.core.orchestrator.books[job.resource_group]
    place, leaf = place_of(play.core, job), play.core.cluster.leaf_of(job)
    if place is None or any(books.requests.minimum[row] for row in books.requests.by_leaf[leaf]):
        return
    assert job.request not in given(books, leaf, place)
    assert given(books, leaf, place + 1)[job.request] == 1


@pytest.mark.parametrize("seed", range(30))
def test_reasons_and_places_are_true(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    groups = MIXED if seed % 2 else PLAIN | {"gpu": {"slots": 3}}
    plan = plan_text(groups, within="fifo" if seed % 3 == 0 else "users")
    play = Play(tmp_path, plan, most=1_000)
    for _ in range(6):
        play.wander(random, 12, [plan])
        for job in play.core.cluster.jobs.values():
            reason = reason_of(play.core, job)
            assert (reason is None) == (job.is_cancelled or not (job.waiting or job.delays))
            if reason is not None:
                check(play, job, reason)
                check_place(play, job)
                explained = job_explanation(play.core, job.name)
                assert explained is not None
                assert explained["reason"] == reason.code
    said = {job.name: reason_of(play.core, job) for job in play.core.cluster.jobs.values()}
    before = {job.name: job.running for job in play.core.cluster.jobs.values()}
    for group in groups:  # the cycle that was foretold
        play.core.orchestrator._cycle(group)
    for name, job in play.core.cluster.jobs.items():
        reason = said[name]
        started = job.running - before[name]
        assert started == (reason.facts["tasks"] if reason is not None and reason.code == "soon" else 0)
    play.store.close()


def bank(place: Path) -> Play:
    owned = {"/A": {"owned": 4}, "/A/a1": {"owned": 4}, "/B": {"owned": 4}, "/C": {"limit": 2}}
    return Play(place, plan_text({"compute": {"slots": 8}, "gpu": {"slots": 2}}, owned))


def why_in(play: Play, job: str) -> str:
    reason = reason_of(play.core, play.core.cluster.jobs[job])
    assert reason is not None
    return f"{reason.code}: {reason.text}"


def test_a_job_waits_until_a_borrower_gives_back(tmp_path: Path) -> None:
    play = bank(tmp_path)
    core = play.core

    def why(job: str) -> str:
        return why_in(play, job)

    first = play.submit("/A/a1", 20)
    assert why(first) == "soon: the next cycle starts 8 tasks of it"
    play.pass_time(SECOND // 2)
    play.feed(*(TaskRunning(number) for number in play.live()))
    assert why(first) == "quota: /A/a1 holds 8, its quota is 8"
    assert why(play.submit("/A/a1", 1)).startswith("behind: 12 tasks of its leaf are served before it; ")
    taker = play.submit("/B", 2, user="bob")
    assert why(taker).startswith("reclaiming: the next cycle asks for 2 slots for its leaf, by ")
    play.pass_time(SECOND // 10)
    deadline = core.cluster.attempts[play.live()[-1]].notice
    assert deadline is not None
    assert why(taker) == f"reclaiming: 2 slots are on the way to its leaf, by {format_instant(deadline[0])}"
    explained = job_explanation(core, taker)
    assert explained is not None
    assert explained["place"] == 0
    assert explained["leaf"]["quota"] == 2
    assert [each["consumer"] for each in explained["notices"]] == ["/A/a1", "/A/a1"]
    assert explained["holders"][0] | {"deadline": ""} == {
        "consumer": "/A/a1", "units": 8, "quota": 6, "reclaiming": 2, "deadline": ""
    }  # fmt: skip
    assert explained["bounds"] == [
        {"consumer": "/B", "bound": "demand", "rule": "R-NEED-1", "quota": 2, "exact": "2", "allocated": 0}
    ]
    told = job_explanation(core, first)
    assert told is not None
    assert [(each["cycle"], each["rule"], each["for"]) for each in told["reclaims"]] == [
        (core.cluster.cycles, "R-RECLAIM-4", "/B")
    ] * 2
    victim = core.cluster.attempts[play.live()[-1]]
    play.end(victim.name, "reclaim")
    play.commit()
    told = job_explanation(core, first)
    assert told is not None
    gone = next(each for each in told["reclaims"] if each["ended"])
    assert (gone["attempt"], gone["end"], gone["rule"], gone["for"]) == (victim.name, "reclaim", "R-RECLAIM-4", "/B")
    play.store.close()


def test_a_job_waits_for_what_somebody_wanted(tmp_path: Path) -> None:
    play = bank(tmp_path)

    def why(job: str) -> str:
        return why_in(play, job)

    held = play.submit("/C", 1, is_held=True)
    assert why(held).startswith("held: it is held; ")
    play.feed(JobHeld(held, "ask ann first"))
    assert why(held).startswith("held: it is held: ask ann first; ")
    assert why(play.submit("/C", 1, after=(Dependency(held, "any"),))) == f"dependency: it waits for job {held}"
    throttled = play.submit("/B", 3, group="gpu", throttle=1, retries=1, backoff=60 * SECOND)
    play.pass_time(SECOND)
    assert why(throttled) == "throttle: it runs 1 task at once, as many as its throttle allows"
    assert (
        why(play.submit("/C", 1, group="gpu", units=2))
        == "gang: each of its tasks needs 2 slots at once, more than /C could have now: it is not counted as demand"
    )
    limited = play.submit("/C", 3, group="gpu")
    play.end(max(play.live()), "finished")
    play.pass_time(SECOND)
    assert why(limited).split(":")[0] in {"limit", "quota", "behind"}
    play.feed(GroupPaused("gpu", grants=True, reclaims=False))
    assert why(limited).startswith("paused: grants are paused in gpu")
    play.feed(GroupPaused("gpu", grants=False, reclaims=False), MachineClosed("", "dust"))
    assert why(limited) == "no_host: no host of gpu may start anything now; `fairhold hosts` shows why"
    single = play.submit("/B", 1, group="compute", retries=1, backoff=60 * SECOND)
    assert why(single) == "no_host: no host of compute may start anything now; `fairhold hosts` shows why"
    play.store.close()
