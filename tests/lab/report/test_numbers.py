"""What the report counts and says, without plots."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fairhold.lab.report.amounts import HOUR, Unit, duration, number, percent, unit_of
from fairhold.lab.report.data import resources_of
from fairhold.lab.report.tables import consumers_table, gains_table, plans_table
from fairhold.lab.report.verdict import BAD, FAIR, GOOD, kept_waiting, sufferers, verdict
from fairhold.lab.report.views import LARGEST, NUMBERS, lending, rows_of, spreads, taken, views_of
from tests.lab.report.documents import document, lends, many, splits
from tests.sim.scenes import SECOND, jobs_of, plan_of

SLOT = Unit("slot", 1)


def test_numbers_are_said_in_the_units_of_people() -> None:
    lengths = [0, 999, 340_000, 12_400_000, 250 * SECOND, 3 * HOUR + 1_200 * SECOND, 50 * HOUR, 48 * HOUR]
    assert [duration(each) for each in lengths] == [
        *("0 s", "0 s", "340 ms", "12 s", "4 min 10 s", "3 h 20 min", "2 d 2 h", "2 d"),
    ]
    assert [number(each) for each in (0, 0.0001, 0.04, 1.234, 12.34, 100.4, 12345)] == [
        *("0", "< 0.01", "0.04", "1.23", "12.3", "100", "12,345"),
    ]
    assert [percent(*each) for each in ((0, 0), (0, 5), (1, 2), (1, 3), (1, 5000))] == [
        *("", "0 %", "50 %", "33.3 %", "< 0.1 %"),
    ]
    assert SLOT.hours(90 * 60 * SECOND) == "1.5 slot-hours"
    assert Unit("GiB of memory", 1024).hours(2048 * HOUR) == "2 GiB-hours of memory"
    shared = {"resource": "memory", "unit": "GiB", "base": 1024}
    assert unit_of(shared) == Unit("GiB of memory", 1024)
    assert unit_of({"resource": "gpu", "unit": "", "base": 1000}).hour == "gpu-hours"


def test_the_verdict_says_who_waited_for_his_own_and_who_lost_work() -> None:
    shared = lends()["shared"][0]
    lines = {line.text: line.how for line in verdict(lends(), shared, SLOT)}
    assert lines == {
        "Owners got what they own within 2 s (/A waited longest).": GOOD,
        "100 % of the capacity was used (0.07 slot-hours); of the capacity that was wanted, 100 %.": GOOD,
        "37.5 % of all that was used was borrowed: allocated beyond what is owned.": "plain",
        "0.02 slot-hours of work were lost, 26.7 % of what was used; most of it by /B (0.02 slot-hours).": BAD,
        "2 attempts were notified to give units back; none was preempted again.": GOOD,
        "Of 7 tasks, p50 of the wait is 0 s, p95 12 s, the longest 12 s.": "plain",
        "1 job of /X can never run: `/X` is not a leaf of the plan (the first is j3).": BAD,
    }
    assert [(each.path, each.why) for each in sufferers(shared, SLOT)] == [
        ("/B", "lost 0.02 slot-hours of work, 30.5 % of what it used"),
    ]


def test_what_nobody_could_have_given_is_held_against_no_plan() -> None:
    """A's gang of 8 waits ten minutes beside three idle slots of its own, since the other five work for A, too."""
    plan = plan_of({"/A": {"owned": 8}, "/B": {"owned": 8}}, slots=16, tree={"A": {}, "B": {}})
    jobs = jobs_of((0, "/A", 5, 600), (1, "/B", 8, 600), (5, "/A", 8, 1000))
    shared = document(plan, replace(jobs, min_count=[5, 0, 8]), 1500)["shared"][0]
    assert shared["consumers"]["/A"]["longest"] == 595 * SECOND
    assert "Nobody ever waited for what they own." in {line.text for line in verdict(lends(), shared, SLOT)}
    assert sufferers(shared, SLOT) == []


def test_where_a_parent_owns_more_than_its_leaves_what_is_due_counts() -> None:
    shared = lends()["shared"][0]
    assert shared["consumers"]["/A"]["starvation"]["count"] == 0  # its leaves own nothing themselves
    assert kept_waiting(shared, "/A") == shared["consumers"]["/A"]["longest"] == 2 * SECOND


def test_what_idles_beside_who_waits_is_not_good() -> None:
    lines = {line.text: line.how for line in verdict(splits(), splits()["shared"][0], SLOT)}
    text = "63.8 % of the capacity was used (0.04 slot-hours); of the capacity that was wanted, 63.8 %."
    assert lines[text] == BAD
    assert lines["2 slots were wanted and not held when the run ended."] == FAIR


def test_first_level_first_ten_by_themselves_and_the_rest_together() -> None:
    shared = many()["shared"][0]
    views = views_of([shared])
    assert [views[0].above, len(views), len(views[0].members), len(views[0].others)] == ["/", 16, LARGEST, 5]
    (resource,) = resources_of({"a": many(), "b": many()})
    assert resource.views[0][1] == 120
    shown = [resource.data(view, points) for view, points in resource.views]
    numbers = sum(len(column) for data in shown for each in data["over"] for column in each["columns"].values())
    assert len(shown) > 1
    assert numbers <= NUMBERS


def test_over_time_nothing_is_lost_or_counted_twice() -> None:
    (resource,) = resources_of({"a": many()})
    shared = many()["shared"][0]
    view, points = resource.views[0]
    data = resource.data(view, points)
    held = sum(sum(each["columns"]["own"]) + sum(each["columns"]["borrowed"]) for each in data["over"])
    assert held * SECOND == pytest.approx(shared["used"], rel=1e-3)
    rows = rows_of(data["over"])
    assert len(rows) == len(data["over"]) * 31
    assert rows[30]["t"] - rows[0]["t"] == 30_000


def test_what_is_lent_is_what_is_borrowed() -> None:
    shared = many()["shared"][0]
    view = views_of([shared])[0]
    rows = lending("a", shared, view, SLOT)
    for name, paths in view.parts:
        borrowed = sum(shared["consumers"][path]["borrowed"] for path in paths) / HOUR
        assert sum(row["hours"] for row in rows if row["borrower"] == name) == pytest.approx(borrowed, rel=1e-2)
        assert not any(row["hours"] for row in rows if row["borrower"] == name == row["lender"]) or paths[1:]
    (row,) = [row for row in lending("a", lends()["shared"][0], views_of(lends()["shared"])[0], SLOT) if row["hours"]]
    assert (row["lender"], row["borrower"]) == ("A", "B")


def test_who_gave_to_whom_and_how_waits_are_spread() -> None:
    shared = lends()["shared"][0]
    view = views_of([shared])[0]
    assert [tuple(row.values()) for row in taken({"a": shared}, view)] == [("a", "B → A", "B", "A", 2, 0)]
    rows = spreads("a", shared, view, "waits", scale=SECOND, least=1)
    assert [(row["bound"], row["part"]) for row in rows if row["consumer"] == "B"] == [(1, 100)]
    assert [row["part"] for row in rows if row["consumer"] == "A"][-1] == 100


def test_tables_put_first_what_matters() -> None:
    document = lends()
    shown = consumers_table(document, document["shared"][0], SLOT)
    assert shown.index(">/B<") < shown.index(">/A<") < shown.index("/A/a1") < shown.index("/A/a2")
    (resource,) = resources_of({"now": lends(), "split": splits()})
    plans = plans_table(resource)
    assert plans.index(">waiting, ") < plans.index("work lost") < plans.index("utilisation") < plans.index("borrowed")
    assert 'class="best"' in plans
    gains = gains_table(resource)
    assert gains.index(">/B<") < gains.index(">/A<")
