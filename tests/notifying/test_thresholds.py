"""Administrators are told when a host is silent, a budget is used, an owner starves: once, until it is no longer so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.events import JobCancelled, MachineReported, MachineSilent
from fairhold.runtime.live.notifications import Subscription
from fairhold.units import SECOND
from tests.live.play import Play, plan_text
from tests.live.test_queues import GPU
from tests.live.test_queues import plan as queue_plan

if TYPE_CHECKING:
    from pathlib import Path

HOSTS = {"compute": {"hosts": [{"name": "h1", "slots": 4}, {"name": "h2", "slots": 4}]}}
ACCESS = """\
fairhold_access: 1
others: hidden
users: [ada, ben, cy]
groups: {{ops: [ada]}}
bindings:
  - {{role: administrator, at: /, users: [ada]}}
  - {{role: viewer, at: /A, users: [ben]}}
  - {{role: viewer, at: /B, users: [cy]}}
notifications:
  webhooks: {{hosts: ['https://hooks.example.com']}}
  thresholds:
    - {{{0}}}
"""
MINUTE = 60 * SECOND


def play(place: Path, threshold: str, plan: str = "") -> Play:
    found = Play(place, plan or plan_text(HOSTS))
    found.core.people.apply(found.core, ACCESS.format(threshold), ("ada", ""), 0)
    for user in ("ada", "ben", "cy"):
        hook = "https://hooks.example.com/x"
        found.core.notifications.subscribe(Subscription(user, webhook=hook, secret="whsec_eA=="))
    found.commit()
    return found


def told(play: Play) -> dict[str, list[dict[str, Any]]]:
    """Person → what he was told since the last look."""
    play.commit()
    known, now = play.core.notifications, play.clock.instant + 10 * MINUTE
    found = {}
    for delivery in known.outbox.take(now, lambda user, fact: known.may_know(user, fact, now)):
        found[delivery.user] = [*delivery.facts]
        known.outbox.done(delivery, now - 10 * MINUTE, is_sent=True)
    play.commit()
    return found


def submit(play: Play, consumer: str, count: int, **terms: Any) -> str:
    """A job; the cycle that follows has run."""
    job = play.submit(consumer, count, **terms)
    play.pass_time(SECOND)
    return job


def test_a_host_that_is_silent_for_long_is_told_once_and_again_when_it_was_back(tmp_path: Path) -> None:
    at = play(tmp_path, "when: host_silent, for: 10m, groups: [ops], users: [ben]")
    at.feed(MachineSilent("h1"))
    at.pass_time(9 * MINUTE)
    assert told(at) == {}
    at.pass_time(2 * MINUTE)
    found = told(at)
    assert {user: [(each["event"], each["host"]) for each in facts] for user, facts in found.items()} == {
        "ada": [("host_silent", "h1")],
        "ben": [("host_silent", "h1")],
    }
    at.pass_time(60 * MINUTE)
    assert told(at) == {}
    at.feed(MachineReported("h1", "boot-h1", 0))
    at.pass_time(MINUTE)
    at.feed(MachineSilent("h1"))
    at.pass_time(11 * MINUTE)
    assert {*told(at)} == {"ada", "ben"}


def test_what_was_told_before_a_crash_is_not_told_again_and_the_time_goes_on(tmp_path: Path) -> None:
    at = play(tmp_path, "when: starving, for: 10m, users: [ada]")
    submit(at, "/C", 8)
    at.feed(MachineSilent("h1"), MachineSilent("h2"))
    submit(at, "/A/a1", 3)
    at.pass_time(8 * MINUTE)
    at.restart(snapshot=True)
    at.feed(MachineSilent("h1"), MachineSilent("h2"))
    assert told(at) == {}
    at.pass_time(3 * MINUTE)
    (facts,) = told(at).values()
    assert ("starving", "/A/a1") in {(each["event"], each["consumer"]) for each in facts}
    at.restart(snapshot=False)
    at.feed(MachineSilent("h1"), MachineSilent("h2"))
    at.pass_time(60 * MINUTE)
    assert told(at) == {}


def test_an_owner_who_waits_with_less_than_his_quota_starves_and_one_beyond_it_does_not(tmp_path: Path) -> None:
    at = play(
        tmp_path, "when: starving, for: 5m, at: /, users: [ada, ben, cy]", plan_text(HOSTS).replace('"2s"', '"1h"')
    )
    submit(at, "/A/a1", 20)  # all, of which some are borrowed, and given back within an hour
    job = submit(at, "/B", 3)
    at.pass_time(4 * MINUTE)
    assert told(at) == {}
    at.pass_time(2 * MINUTE)
    found = told(at)
    assert {user: [each["consumer"] for each in facts] for user, facts in found.items()} == {
        "ada": ["/B"],
        "cy": ["/B"],
    }
    fact = found["ada"][0]
    assert (fact["waiting"], fact["entitled"], fact["allocated"]) == ("3", "3", "0")
    at.feed(JobCancelled(job))
    at.pass_time(MINUTE)
    assert (told(at), at.store.notifications("threshold")) == ({}, {})


def test_a_budget_is_told_at_its_percent_once_in_a_period(tmp_path: Path) -> None:
    owned: Any = {"/A": {"owned": 4, "budget": {"unit_hours": 4, "period": "day"}}}
    at = play(tmp_path, "when: budget_used, percent: 75, at: /A, users: [ada, cy]", plan_text(HOSTS, owned))
    submit(at, "/A/a1", 1)
    at.pass_time(170 * MINUTE)
    assert told(at) == {}
    at.pass_time(12 * MINUTE)
    found = told(at)
    assert [*found] == ["ada"]  # cy does not see /A
    fact = found["ada"][0]
    assert (fact["event"], fact["consumer"], fact["period"], fact["used_percent"]) == ("budget_used", "/A", "day", 75)
    written = at.store.notifications("threshold")
    at.pass_time(30 * MINUTE)
    assert (told(at), at.store.notifications("threshold")) == ({}, written)


def test_two_alike_for_different_people_tell_all_of_them_once(tmp_path: Path) -> None:
    rule = "when: host_silent, for: 10m"
    at = play(tmp_path, f"{rule}, groups: [ops], users: [ben]}}\n    - {{{rule}, users: [ben, cy]")
    at.feed(MachineSilent("h1"))
    at.pass_time(11 * MINUTE)
    assert {user: len(facts) for user, facts in told(at).items()} == {"ada": 1, "ben": 1, "cy": 1}


def test_a_threshold_that_is_there_no_more_leaves_nothing(tmp_path: Path) -> None:
    at = play(tmp_path, "when: host_silent, for: 0s, users: [ada]")
    at.feed(MachineSilent("h1"))
    at.pass_time(MINUTE)
    assert told(at)
    assert [*at.store.notifications("threshold")] == ["host_silent / 0 0"]
    at.core.people.apply(at.core, "fairhold_access: 1\n", ("ada", ""), 1)
    at.pass_time(MINUTE)
    at.commit()
    assert at.store.notifications("threshold") == {}


def test_owners_of_vectors_and_queues_starve_too(tmp_path: Path) -> None:
    at = play(tmp_path, "when: starving, for: 5m, users: [ada]", queue_plan().replace('"20s"', '"1h"'))
    for host in ("h1", "h2", "h3"):
        at.report(host)
    submit(at, "/B", 6, group=POOLED, unit=GPU)
    submit(at, "/A/a1", 4, group=POOLED, unit=GPU)
    at.pass_time(4 * MINUTE)
    assert told(at) == {}
    at.pass_time(2 * MINUTE)
    (fact,) = told(at)["ada"]
    assert (fact["consumer"], fact["resource_group"].split()[-1]) == ("/A/a1", "gpu")
    assert (fact["waiting"], fact["entitled"], fact["allocated"]) == ("2", "4", "2")
