"""Budgets of resources in a live cluster of vectors: due at the right instant, in the log, and what follows."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cli.pool_words import pools_in_words
from fairhold.cycle.explain.pooled.document import explain_pools
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.events import HostLost, JobSubmitted
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.runtime.explaining_pools import as_document, why
from fairhold.runtime.live.recovery import frozen
from fairhold.runtime.live.views.budgets import budgets_of
from fairhold.runtime.live.views.jobs import job_document
from tests.budgets.test_live import DAY, HOUR, MINUTE, wake_of
from tests.budgets.vectors import GPU, POLICIES, document_of, pieces_of, text_of, used
from tests.live.play import Play
from tests.orchestrator.house import SECOND, House, notices, starts
from tests.orchestrator.vector_storm import VectorStorm

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.ledger.spending import Spending
    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.instructions import Instruction

THENS = ("wait", "borrow_only", "lowest_rank")


class Vectors(House):
    """The two hosts of `document_of`."""

    def __init__(self, policy: str, then: str = "wait", **hours: float) -> None:
        super().__init__(plan=parse_plan(text_of(policy, then, **hours), "plan")[0])

    def submit(self, consumer: str = "/B", count: int = 1, **terms: Any) -> list[Instruction]:
        self.jobs += 1
        return self.take(JobSubmitted(f"j{self.jobs}", consumer, POOLED, count, unit=GPU, **terms))

    @property
    def spending(self) -> Spending:
        found = self.live.books[POOLED].spending
        assert found is not None
        return found

    @property
    def spent(self) -> frozenset[int]:
        return self.live.books[POOLED].rows.spent


class Storm(VectorStorm):
    """Counts the changes that it brings."""

    def __init__(self, random: Random, **settings: Any) -> None:
        self.told = Counter[str]()
        super().__init__(random, **settings)

    def take(self, event: Event) -> None:
        super().take(event)
        self.told.update(type(each).__name__ for each in self.live.changes)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_budget_of_gpus_is_used_up_to_the_microsecond_and_begins_again_at_midnight(policy: str) -> None:
    """R-BUDGET-5, R-BUDGET-7, R-BUDGET-8: four GPUs use a GPU-hour in 15 minutes; what runs goes on."""
    house = Vectors(policy)
    begun = house.submit("/A/a1", 4)
    assert len(starts(begun)) == 4
    assert wake_of(begun) == house.now + 12 * MINUTE  # at 80 %
    house.submit("/A/a2", 1, is_held=True)
    assert wake_of(house.wait(12 * MINUTE - SECOND)) == house.now + 3 * MINUTE
    assert house.spending.told == {house.plan.tree.rows["/A"]}
    house.wait(3 * MINUTE - 1)
    assert not house.spent
    assert wake_of(house.wait(1)) == DAY
    assert house.spent == {house.plan.tree.rows["/A"]}
    assert starts(house.submit("/A/a2", 1)) == []
    assert starts(house.end(1)) == []
    assert notices(house.wait(MINUTE)) == []
    assert len(starts(house.submit("/B", 1))) == 1
    assert [each[0] for each in starts(house.wait(DAY - house.now))] == ["j3"]
    assert house.spent == frozenset()


def test_the_first_resource_that_is_used_up_counts() -> None:
    """R-BUDGET-5: four units of a CPU and a GPU each use two CPU-hours later than a GPU-hour."""
    house = Vectors("multidimensional", cpu=2, gpu=1)
    house.submit("/A/a1", 4)
    house.wait(15 * MINUTE)
    assert house.spent
    books, now = house.live.books[POOLED], house.now
    (told,) = budgets_of(books, now).values()
    assert (told["unit_hours"], told["unit_seconds"]) == (None, None)
    assert (told["hours"], told["seconds"]) == ({"cpu": "2", "gpu": "1"}, {"cpu": "3600", "gpu": "3600"})
    assert (told["used"], told["used_up"], told["warned"]) == ("1", True, True)


def test_the_dominant_share_follows_what_there_is() -> None:
    """R-BUDGET-6: four of eight GPUs are 1/2, four of four are 1; CPUs are a third, then a half."""
    house = Vectors("fair_share", dominant_share=1)
    house.submit("/A/a1", 4)
    row, share = house.plan.tree.rows["/A"], len(house.plan.resources)
    assert house.spending.meters[row, "day", share].rate == 10**9 // 2
    there = {each.places[0][0] for each in house.live.attempts.values()}
    house.take(HostLost(POOLED, ({"h1", "h2"} - there or {"h2"}).pop()), 30 * MINUTE)
    assert house.spending.meters[row, "day", share].rate == 10**9
    assert house.spending.used(house.now)[row][share] == 30 * MINUTE * 10**9 // 2
    assert wake_of(house.wait(0)) == house.now + 33 * MINUTE  # 80 % are 48 minutes alone
    house.wait(45 * MINUTE - 1)
    assert not house.spent
    house.wait(1)
    assert house.spent


@pytest.mark.parametrize("policy", POLICIES)
def test_who_may_only_borrow_gives_back_what_others_want(policy: str) -> None:
    """R-BUDGET-3, R-BUDGET-7, R-BUDGET-8: it owns, or deserves, nothing while its budget is used up."""
    house = Vectors(policy, "borrow_only")
    house.submit("/A/a1", 4)
    assert notices(house.submit("/B", 8)) == []
    house.wait(30 * MINUTE)
    assert house.spent
    taken = notices(house.wait(1))
    held = [each for each in house.live.attempts.values() if each.notice is not None]
    assert len(held) + len(taken) > 0
    assert {each.job.consumer for each in held} == {"/A/a1"}


def test_who_comes_last_gets_no_surplus_that_others_want() -> None:
    """R-BUDGET-4, R-BUDGET-8: what it deserves stays its own."""
    house = Vectors("fair_share", "lowest_rank", gpu=0.001)
    house.submit("/A/a1", 1)
    house.wait(MINUTE)
    assert house.spent
    house.submit("/A/a1", 20)
    house.submit("/B", 20)
    for number in list(house.live.attempts):
        house.end(number)
    for _ in range(3):
        house.wait(MINUTE)
    held = [each.job.consumer for each in house.live.attempts.values()]
    assert (held.count("/A/a1"), held.count("/B")) == (4, 4)


def test_a_cluster_with_budgets_of_resources_comes_back_from_its_document() -> None:
    house = Vectors("multidimensional", gpu=1, dominant_share=2)
    house.submit("/A/a1", 9)
    house.wait(20 * MINUTE)
    written = json.loads(json.dumps(freeze(house.live.cluster)))
    assert written["budgets"][POOLED][1] == ["/A"]
    again = thaw(written, open_cluster_books(house.plan, house.now), forgets=False, own="")
    assert freeze(again) == written
    spending = again.books[POOLED].spending
    assert spending is not None
    spending.enforce(house.spending.budgets)
    assert spending.used(house.now + HOUR) == house.spending.used(house.now + HOUR)


@pytest.mark.parametrize("then", THENS)
@pytest.mark.parametrize("policy", POLICIES)
def test_a_storm_with_budgets_leaves_everything_in_order(policy: str, then: str) -> None:
    """R-BUDGET-5: who replays, and who is thawed, is the same as who was there."""
    hours = {"gpu": 0.003, "cpu": 0.006, "dominant_share": 0.002}
    budget = {"hours": hours, "period": "day", "then": then}
    small = {"hours": {"cpu": 0.002}, "period": "week", "then": then}
    entry = {
        "resource_groups": ["all", "more"],
        "policy": policy,
        "consumers": {"/A": {"budget": budget}, "/A/a2": {"budget": small}, "/B": {"budget": small}},
    }
    storm = Storm(Random(then), forgets=True, policies=[entry])
    storm.run(250)
    assert storm.told["BudgetsSpent"]
    assert storm.told["BudgetsWarned"]


@pytest.mark.parametrize("seed", range(4))
def test_what_is_used_is_the_integral_of_the_log_and_counts_from_then_on(tmp_path: Path, seed: int) -> None:
    """R-BUDGET-5, R-BUDGET-6, R-BUDGET-7: by brute force, whose budget is used up when; then nothing starts."""
    hours = {"gpu": 0.05, "cpu": 0.1, "dominant_share": 0.02}
    document = document_of(POLICIES[seed % 2], "wait", **hours)
    document["consumers"]["C"] = {}
    document["consumers"]["A"]["consumers"] = {"a1": {}}
    text = json.dumps(document)
    play = Play(tmp_path, text)
    _wander(play, Random(seed), 150)
    now = play.clock.instant
    entries = play.store.entries(0, limit=10**6)
    pieces = pieces_of(play.store, entries, now)
    books = play.core.cluster.books[POOLED]
    assert books.spending is not None
    begin = books.spending.period("day", now)[0]
    row, names = books.rows.by_path["/A"], ("cpu", "gpu", "dominant_share")
    units = {"cpu": 1000, "gpu": 1000, "dominant_share": 10**9}
    found = [used(pieces, name, begin, now) * units[name] for name in names]
    assert [books.spending.used(now)[row][at] for at in range(3)] == found
    most = {name: hours[name] * HOUR for name in names}
    is_spent, told, refused = False, 0, 0
    for entry in entries:
        kind, *fields = json.loads(entry.body)
        should = any(used(pieces, name, begin, entry.at) >= round(most[name]) for name in names)
        if kind == "BudgetsSpent":
            is_spent, told = bool(fields[1]), told + 1
        elif kind == "Started" and is_spent:
            job = job_document(play.core, fields[1])
            assert job is not None
            assert job["consumer"] != "/A/a1"
            refused += 1
        if kind in {"BudgetsSpent", "CycleRan"}:
            assert should == is_spent, entry
    assert told
    assert refused
    play.restart(snapshot=True)
    assert json.loads(frozen(play.core))["cluster"]["budgets"]
    play.store.close()


def _wander(play: Play, random: Random, steps: int) -> None:
    """As in tests of usage, but under the one plan."""
    for _ in range(steps):
        play.pass_time(random.choice([1, 700, 60_000, 900_000, 20_000_000]))
        live = play.live()
        what = random.random()
        if what < 0.45:
            unit = (("gpu", "1"), ("cpu", random.choice("12")))
            play.submit(random.choice(("/A/a1", "/A/a1", "/B", "/C")), random.randint(1, 5), group=POOLED, unit=unit)
        elif what < 0.8 and live:
            play.end(random.choice(live))
        elif what < 0.9:
            play._machine(random)
        else:
            play.restart(snapshot=random.random() < 0.5)
    play.pass_time(100_000)
    play.commit()


@pytest.mark.parametrize("policy", POLICIES)
def test_what_waits_for_a_budget_is_explained_with_hours_that_would_be_enough(policy: str) -> None:
    """R-BUDGET-7, R-BUDGET-8."""
    plan = parse_plan(text_of(policy, "wait", gpu=4, dominant_share=0.5), "plan")[0]
    request = {"id": "r1", "consumer": "/A/a1", "unit": {"cpu": 1, "gpu": 1}, "count": 1}
    said: dict[str, Any] = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "requests": [request]}
    said["spent_resources"] = {"/A": {"gpu": 18_000, "dominant_share": 1_800}}
    state = parse_state(json.dumps(said), plan, "state")
    (told,) = explain_pools(plan, state, "/A/a1")
    (asked,) = told["requests"]
    waits = asked["waits"]
    rule = "R-BUDGET-7" if policy == "multidimensional" else "R-BUDGET-8"
    assert (waits["reason"], waits["rule"]) == ("budget", rule)
    hours = {"gpu": "4", "dominant_share": "0.5"}
    budget = {"consumer": "/A", "hours": hours, "period": "day", "then": "wait", "ends": "2026-01-06T00:00:00Z"}
    assert told["budgets"] == [budget | {"rule": rule}]
    assert waits["budget"] == budget | {"rule": rule}
    assert "it goes on at 2026-01-06T00:00:00Z" in why(waits)
    changes = {(each["resource"], each["new"]) for each in asked["would_help"][0]["changes"]}
    assert changes == {("gpu", 5.001), ("dominant_share", 0.500000001)}


@pytest.mark.parametrize("then", THENS)
def test_a_budget_that_is_used_up_stands_in_explanations_of_all_around_it(then: str) -> None:
    plan = parse_plan(text_of("multidimensional", then), "plan")[0]
    said = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "spent_resources": {"/A": {"gpu": 3600}}}
    state = parse_state(json.dumps(said), plan, "state")
    text = pools_in_words(as_document(explain_pools(plan, state, "/")[0]))
    assert "The budget of /A is used up: " in text
    assert [each["then"] for each in explain_pools(plan, state, "/A/a1")[0]["budgets"]] == [then]
    assert "budgets" not in explain_pools(plan, state, "/B")[0]
