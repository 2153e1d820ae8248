"""Gangs of several leaves that stop as a whole in one cycle: no more of them than it takes (R-VICTIM-3)."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from fairhold.cycle.invariants import books_after
from fairhold.cycle.open import open_books
from fairhold.cycle.run import run
from tests.gangs.test_rules import Json, at, case_of, cycle, gang, loose, runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.properties.strategies import Case

CROWDS = range(300)
LOUD = [44, 711, 983, 1340, 1774, 2471, 2606, 2855, 3478, 3626, 4404, 4759, 5571, 6519, 6833, 7237, 7954, 8355]
"""Crowds in which it matters: without R-VICTIM-3 a second cycle withdraws a notice, or tells another one."""
RATIOS = ({"entitlement": "planned"}, {"entitlement": "workload"}, {"entitlement": "fixed"}, {"enforce": "parent"})
DEADLINE = "2026-01-05T09:00:20Z"


def crowd(seed: int) -> Case:
    """Leaves full of gangs, and some that miss units; at times gangs are under notice as a whole."""
    draw = Random(seed)
    policy = draw.choice(("hybrid", "share_ratio", "ownership"))
    key, names = "share_ratio" if policy == "share_ratio" else "owned", "abcde"[: draw.randint(3, 5)]
    leaves: Json = {name: {key: draw.choice((0, 0, 1, 2, 3, 5))} for name in names}
    if policy == "ownership":
        for at_, name in enumerate(names):
            leaves[name]["borrow_from"] = [{"consumer": f"/{other}"} for other in names[:at_]]
            leaves[name]["lend_to"] = [{"consumer": f"/{other}"} for other in names[at_ + 1 :]]
    for stated in leaves.values():
        if draw.random() < 0.2:
            stated["limit"] = stated.get("owned", 0) + draw.randint(0, 6)
    requests, running, notices, used = [], [], [], 0
    for number in range(draw.randint(2, 5)):
        name, leaf, units = f"g{number}", f"/{draw.choice(names)}", draw.randint(2, 7)
        least = units if draw.random() < 0.7 else draw.randint(2, units)
        requests.append(gang(name, leaf, units, submitted=at(draw.randint(0, 50))) | {"min_count": least})
        running.append(runs(name, units))
        used += units
        if draw.random() < 0.25:
            notices.append({"request": name, "units": units, "deadline": DEADLINE})
    requests += [loose(f"w{leaf}", f"/{leaf}", draw.randint(1, 8)) for leaf in names if draw.random() < 0.6]
    settings = draw.choice(RATIOS) if policy == "share_ratio" else {}
    slots = used - draw.choice((0, 0, 0, 1, 2)) + draw.choice((0, 0, 1))
    return case_of(leaves, requests, *running, policy=policy, settings=settings, slots=slots, reclaims=notices)


def test_r_victim_3_a_gang_that_another_makes_needless_runs_on() -> None:
    """/C misses 3. /A gives 1 of 2 and /B 2 of 3, and so each its gang; but then that of /B is enough."""
    leaves = {"C": {"share_ratio": 1}, "A": {"share_ratio": 0}, "B": {"share_ratio": 0}}
    requests = [gang("a", "/A", 2), gang("b", "/B", 3), loose("c", "/C", 3)]
    found = cycle(case_of(leaves, requests, runs("a", 2), runs("b", 3), policy="share_ratio", slots=5))
    assert [(row["request"], row["units"]) for row in found.document["reclaims"]] == [("b", 3)]


def test_r_victim_3_for_a_gang_that_was_told_nobody_else_is() -> None:
    """/B was told: its gang stops with 4, of which 1 is above its quota. Nor is /C's asked for the other units."""
    leaves = {"A": {"owned": 4}, "B": {"owned": 3}, "C": {"owned": 0}}
    requests = [loose("a", "/A", 4), gang("b", "/B", 4), gang("c", "/C", 3)]
    told = [{"request": "b", "units": 4, "deadline": DEADLINE}]
    found = cycle(case_of(leaves, requests, runs("b", 4), runs("c", 3), slots=7, reclaims=told))
    assert not found.document["reclaims"]
    assert not found.document["withdrawn"]


@pytest.mark.parametrize("seeds", [LOUD, CROWDS[:100], CROWDS[100:200], CROWDS[200:]], ids=lambda seeds: str(seeds[0]))
def test_where_gangs_stop_whole_a_second_cycle_decides_nothing(seeds: Sequence[int]) -> None:
    for seed in seeds:
        case = crowd(seed)
        books = open_books(case.plan, case.state)["g"]
        result = run(books, case.state.now)
        assert run(books_after(result), case.state.now).decision.changes_nothing, seed


@pytest.mark.parametrize("seed", [*LOUD, *CROWDS[:20]])
def test_where_gangs_stop_whole_the_check_recomputes_it(seed: int) -> None:
    cycle(crowd(seed))
