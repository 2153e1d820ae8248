"""What explanations say of labels and places, on files and live."""

from __future__ import annotations

import json
import re
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cli.words import as_document, document_in_words, in_words
from fairhold.cycle.explain import Bound, explain, one_more
from fairhold.cycle.open import open_books
from fairhold.cycle.run import run
from fairhold.model.siting import Siting, words_of
from fairhold.orchestrator.events import MachineClosed
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.runtime.live.views.consumers import consumer_explanation
from fairhold.runtime.live.views.explanation import job_explanation
from fairhold.runtime.live.views.waiting import reason_of
from fairhold.units import SECOND
from tests.live.play import Play

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairhold.cycle.explain import Explanation

HOSTS = [
    {"name": "a1", "slots": 4, "labels": {"zone": "a"}},
    {"name": "a2", "slots": 4, "labels": {"zone": "a"}},
    {"name": "b1", "slots": 6, "labels": ["zone=b", "gpu"]},
]
HELD = {"a1": 4, "a2": 3, "b1": 6}


def text_of(
    policy: str,
    group: str = "g",
    settings: dict[str, Any] | None = None,
    of_b: dict[str, Any] | None = None,
    **of_a: Any,
) -> str:
    owned = {} if policy == "share_ratio" else {"owned": 7}
    entry = {"resource_groups": [group], "policy": policy, "settings": {"packing": "balanced"} | (settings or {})}
    entry["consumers"] = {"/A": owned | of_a, "/B": owned | (of_b or {})}
    consumers = {"A": {}, "B": {"reclaim_grace": "1m"}}
    return json.dumps(
        {"fairhold": 1, "resource_groups": {group: {"hosts": HOSTS}}, "consumers": consumers, "policies": [entry]}
    )


def told(
    policy: str, needs: str, settings: dict[str, Any] | None = None, down: Sequence[str] = (), **of: Any
) -> Explanation:
    """/A wants 4 slots on hosts with a label, and /B, which wants 14, holds 13 of 14."""
    plan, _ = parse_plan(text_of(policy, settings=settings, **of), "plan")
    requests = [
        {"id": "a", "consumer": "/A", "count": 4, "need": [needs], "user": "ann"},
        {"id": "b", "consumer": "/B", "count": 14},
    ]
    held = [
        {"request": "b", "host": host, "units": units, "started": "2026-03-30T17:00:00Z"}
        for host, units in HELD.items()
    ]
    document = {"fairhold_state": 1, "now": "2026-03-30T18:00:00Z", "requests": requests, "allocations": held}
    document |= {"hosts_down": [*down]}
    state = parse_state(json.dumps(document), plan, "state")
    return explain(plan, run(open_books(plan, state)["g"], state.now), "/A")


@pytest.mark.parametrize("policy", ["hybrid", "share_ratio"])
@pytest.mark.parametrize("settings", [{}, {"dead_zone": 1}, {"dead_zone": 3}])
def test_what_nobody_can_give_on_its_hosts_is_named(policy: str, settings: dict[str, Any]) -> None:
    """R-SITE-4: of 4 slots /B gives the 3 that it has above its quota; no other control is blamed for the fourth."""
    found = told(policy, "gpu", settings)
    (control,) = found.controls
    assert (control.name, control.consumer, control.units, control.hosts) == ("site.now", "/A", 1, "hosts with gpu")
    assert "/A has a deficit of 1 slot that cannot be reclaimed on hosts with gpu [site.now, R-SITE-4]" in in_words(
        found
    )


@pytest.mark.parametrize("policy", ["hybrid", "share_ratio"])
def test_what_has_not_run_long_enough_on_those_hosts_is_told_as_that(policy: str) -> None:
    """R-CONTROL-5, R-SITE-4: /B would give the 3 that it has above its quota, had they run for 2 hours, not one."""
    found = told(policy, "gpu", of_b={"min_runtime": "2h"})
    rows = [(control.name, control.consumer, control.units, control.hosts) for control in found.controls]
    assert rows == [("min_runtime", "/B", 3, "hosts with gpu"), ("site.now", "/A", 1, "hosts with gpu")]
    said = "/B keeps 3 slots on hosts with gpu that have not run long enough, the first until 2026-03-30T19:00:00Z ["
    assert said in in_words(found)


@pytest.mark.parametrize("policy", ["hybrid", "ownership", "share_ratio"])
def test_what_no_host_has_is_the_bound(policy: str) -> None:
    """R-SITE-2: not a user limit, which nobody has set."""
    found = told(policy, "zone=c")
    bounds = {row.path: row.bound for row in found.levels[-1].siblings}
    assert bounds["/A"] is Bound.SITE
    text = in_words(found)
    assert "needs hosts that have no more slots [R-SITE-2]" in text
    assert (
        "/A wants 4 slots for which there is no room on hosts with zone=c, as far as they are up [site.never," in text
    )


def test_hosts_that_would_do_and_are_not_up_are_named() -> None:
    """R-SITE-2, R-UP-1: without b1 there is no room for what needs a GPU; b1 could run it."""
    found = told("hybrid", "gpu", down=["b1"])
    assert [(each.name, each.away) for each in found.controls if each.consumer == "/A"] == [("site.never", ("b1",))]
    where = "no room on hosts with gpu, as far as they are up; b1 would do, but is not up [site.never, R-SITE-2]"
    assert f"/A wants 4 slots for which there is {where}" in in_words(found)
    (control,) = as_document(found)["controls"]
    assert control["away"] == ["b1"]
    assert told("hybrid", "zone=c", down=["b1"]).controls[0].away == ()


def test_labels_and_a_user_limit_are_told_apart() -> None:
    """R-USER-1, R-SITE-2: hosts with a label could take all 4, the user may hold 3."""
    names = [control.name for control in told("hybrid", "gpu", user_limit=3).controls]
    assert "user_limit" in names
    assert "site.never" not in names
    assert [control.name for control in told("hybrid", "zone=c", user_limit=3).controls] == ["site.never"]


def test_hosts_in_words() -> None:
    assert words_of(Siting(("a", "b=c"), (), ("d",))) == "with a, b=c and without d"
    assert words_of(Siting(avoid=("d",))) == "without d"
    assert not words_of(Siting(prefer=("d",), place="pack"))


def live(place: Path, **of_a: Any) -> Play:
    play = Play(place, text_of("hybrid", "compute", **of_a))
    for host in HOSTS:
        play.report(str(host["name"]))
    return play


GPU = Siting(need=("gpu",))


def why(play: Play, job: str) -> str:
    reason = reason_of(play.core, play.core.cluster.jobs[job])
    assert reason is not None
    return reason.code


def test_a_job_whose_hosts_are_gone_waits_for_them_and_not_for_its_quota(tmp_path: Path) -> None:
    """R-SITE-2: whatever its leaf may have. Its leaf is full, and more for it would not help the job."""
    play = live(tmp_path)
    play.feed(MachineClosed("b1", "", drain=False))
    play.submit("/A", 7)
    play.submit("/B", 7)
    play.pass_time(SECOND)
    job = play.submit("/A", siting=Siting(need=("zone=b",)))
    play.pass_time(SECOND)
    assert why(play, job) == "site"


def test_a_job_in_a_full_leaf_waits_for_its_quota_and_not_for_hosts(tmp_path: Path) -> None:
    """A host with a label that becomes free would not be its leaf's; once the leaf may have more, it is the host."""
    play = live(tmp_path)
    play.submit("/B", 6, siting=GPU)
    play.pass_time(SECOND)
    first = play.submit("/A", 7)
    play.submit("/B", 1)
    play.pass_time(SECOND)
    job = play.submit("/A", siting=GPU)
    play.pass_time(SECOND)
    assert why(play, job) == "quota"
    for attempt in [*play.core.cluster.jobs[first].attempts][:2]:
        play.end(attempt)
    play.pass_time(SECOND)
    assert why(play, job) == "site"


def test_one_slot_more_is_the_same_live_as_of_files(tmp_path: Path) -> None:
    """R-USER-1, R-SITE-2: the demand that it tells of is the one that there is, and a limit of users is found."""
    play = live(tmp_path, user_limit=4)
    play.submit("/A", 6)
    play.submit("/B", 3, siting=Siting(need=("zone=b",)))
    play.submit("/B", 9, siting=GPU)
    play.pass_time(SECOND)
    books, plan = play.core.orchestrator.books["compute"], play.core.plan
    for path, first in (("/A", ("user_limit", 4, 5)), ("/B", ("demand", 12, 13))):
        document = consumer_explanation(play.core, path)()["explanations"][0]
        (told,) = document["would_help"]
        change = told["changes"][0]
        assert (change["what"], change["old"], change["new"]) == first
        (expected,) = one_more(plan, books, books.rows.by_path[path], play.core.orchestrator.now).helps
        assert told["quota"] == expected.quota


def test_a_search_leaves_the_books_as_they_are(tmp_path: Path) -> None:
    """It goes on in another thread, on a copy of its own: changes of the books change nothing of it."""
    play = live(tmp_path, user_limit=4)
    play.submit("/A", 6)
    play.submit("/B", 9, siting=GPU)
    play.pass_time(SECOND)
    before, search = consumer_explanation(play.core, "/A")(), consumer_explanation(play.core, "/A")
    for attempt in play.live():
        play.end(attempt)
    play.submit("/A", 3, user="bob", siting=GPU)
    play.feed(MachineClosed("b1", "", drain=False))
    play.pass_time(SECOND)
    assert search() == before


@pytest.mark.parametrize("seed", range(8))
def test_every_job_and_consumer_can_be_explained(tmp_path: Path, seed: int) -> None:
    """Labels, gangs that collect, user limits and hosts that come and go; nothing is said in bad words."""
    random = Random(seed)
    limits = {"user_limit": 5} if seed % 2 else {}
    play = live(tmp_path, settings={"hold_after": "1s"} if seed % 3 else {"dead_zone": 1}, **limits)
    texts: list[str] = []
    sitings = [Siting(), GPU, Siting(avoid=("zone=b",)), Siting(place="pack"), Siting(("zone=a",), (), (), "pack")]
    for _ in range(25):
        what = random.random()
        if what < 0.5:
            consumer, user = random.choice(["/A", "/B"]), random.choice(["ann", "bob"])
            units, siting = random.choice([1, 1, 2, 4]), random.choice(sitings)
            play.submit(consumer, random.randint(1, 6), user=user, units=units, siting=siting)
        elif what < 0.7 and play.live():
            play.end(random.choice(play.live()))
        elif what < 0.8:
            play.feed(MachineClosed(random.choice(["a1", "a2", "b1"]), "", drain=False))
        elif what < 0.9:
            play.report(random.choice(["a1", "a2", "b1"]))
        play.pass_time(random.choice([0, SECOND, 90 * SECOND]))
        for job in play.core.cluster.jobs:
            document = job_explanation(play.core, job)
            assert document is not None
            assert document["bound"] != "user limit" or limits
            texts.append(document["text"])
        texts += [document_in_words(each) for each in consumer_explanation(play.core, "/A")()["explanations"]]
    wrong = re.compile(r"\b1 (slots|tasks|are)\b|\b([02-9]|\d\d+) (slot|task|is)\b|has not|None")
    assert [text for text in texts if wrong.search(text)] == []
