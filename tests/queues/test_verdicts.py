"""KAI's verdicts on single steps: who is served, what is refused, who may take from whom (S4.13-S4.23)."""

from __future__ import annotations

from typing import Any

import pytest

from fairhold.ledger.queue_terms import queue_terms_of
from fairhold.ledger.queues import BORDER
from fairhold.rules.queues.contest import FAIR_SHARE, QUOTA, STRATEGIES, Contest, contended, is_open, may_reclaim, sides
from fairhold.rules.queues.queue_metrics import FINE, breaks_guarantee, breaks_limit, dominant_share
from fairhold.rules.queues.serving import serving_key
from fairhold.units import SECOND
from tests.planio.support import cases
from tests.queues.differences import listed
from tests.queues.kai import RESOURCES, amounts, in_order, standing
from tests.queues.small import Cluster

Json = dict[str, Any]
NOTHING_IDLE = (0, 0, 0)
OTHERWISE = listed("Single decisions")


def of(*kinds: str) -> pytest.MarkDecorator:
    found = [case for case in cases("kai") if case["kind"] in kinds]
    assert found
    return pytest.mark.parametrize("case", found, ids=lambda case: case["id"])


def agrees(case: Json, found: object) -> bool:
    """Whether an answer is KAI's, or another one where we say why."""
    return (found == case["expected"]) is (case["id"] not in OTHERWISE)


@of("can_reclaim")
def test_who_may_reclaim(case: Json) -> None:
    queues, rows, base = standing(case)
    need, leaf = amounts(case["reclaimer"]["request"], base), rows[case["reclaimer"]["queue"]]
    is_barred = not case["reclaimer"]["preemptible"] and breaks_guarantee(queues, leaf, need) is not None
    assert agrees(case, may_reclaim(queues, leaf, need) is None and not is_barred)


@of("over_limit")
def test_what_breaks_a_limit(case: Json) -> None:
    queues, rows, base = standing(case)
    found = breaks_limit(queues, rows[case["job"]["queue"]], amounts(case["job"]["request"], base))
    assert agrees(case, {"over": found is not None, "resource": RESOURCES[found[1]] if found else None})


@of("nonpreemptible_over_quota")
def test_what_is_never_taken_back_stays_within_what_is_deserved(case: Json) -> None:
    queues, rows, base = standing(case)
    found = breaks_guarantee(queues, rows[case["job"]["queue"]], amounts(case["job"]["request"], base))
    assert agrees(case, {"over": found is not None, "resource": RESOURCES[found[1]] if found else None})


@of("preemptibility")
def test_preemptible_is_what_says_so_or_has_a_low_priority(case: Json) -> None:
    said, priority = case["job"]["preemptibility"], case["job"]["priority"]
    is_preemptible = said == "preemptible" if said else priority < BORDER
    assert agrees(case, "preemptible" if is_preemptible else "non-preemptible")


@of("min_runtime")
def test_how_long_units_run_before_others_take_them(case: Json) -> None:
    queues = in_order(case["queues"])
    paths = {"": ""}
    for queue, parent in queues:
        paths[queue["id"]] = f"{paths[parent]}/{queue['id']}"
    said = {
        paths[queue["id"]]: {
            key: f"{queue[f'{key}_s']}s"
            for key in ("preempt_min_runtime", "reclaim_min_runtime")
            if queue[f"{key}_s"] is not None
        }
        for queue, _ in queues
    }
    plan = Cluster([1], said).plan
    terms, victim = queue_terms_of(plan, plan.policies[0]), plan.tree.rows[paths[case["victim_queue"]]]
    if case["action"] == "preempt":
        found = terms.preempt_min_runtime[victim]
    else:
        found = terms.reclaim_min_runtime[sides(terms, plan.tree.rows[paths[case["reclaimer_queue"]]], victim)[1]]
    assert agrees(case, found // SECOND)


@of("dominant_share")
def test_dominant_shares(case: Json) -> None:
    queues, _, _ = standing(case)
    is_unbound, parts = dominant_share(queues, 1, NOTHING_IDLE)
    # KAI counts what is held and not entitled a thousand times; here it is above all others
    assert is_unbound if case["expected"] > 1000 else parts / (1 << FINE) == pytest.approx(case["expected"])


@of("allocatable_share")
def test_thresholds(case: Json) -> None:
    queues, _, base = standing(case)
    expected = amounts(case["expected"], base)
    assert [queues.threshold(at, 1) for at, units in enumerate(expected) if units] == [
        each for each in expected if each
    ]


@of("queue_order")
def test_who_is_served_first(case: Json) -> None:
    queues, rows, base = standing(case)
    left, right = (
        serving_key(queues, rows[case[side]], amounts(case[f"{side}_job"], base)) for side in ("left", "right")
    )
    assert agrees(case, "L" if left < right else "R")


@of("strategy_fair_share", "strategy_quota", "filter_victim")
def test_which_side_may_give(case: Json) -> None:
    queues, rows, base = standing(case)
    need = amounts(case["reclaimer"]["request"], base)
    mine, theirs = sides(queues.terms, rows[case["reclaimer"]["queue"]], rows[case["victim_queue"]])
    if case.get("victim_remaining"):
        for at, units in enumerate(amounts(case["victim_remaining"], base)):
            queues.held[at][theirs] = units
    # cases without a request ask of all resources
    short = contended(need, NOTHING_IDLE) or range(len(RESOURCES))
    tried = {"strategy_fair_share": [FAIR_SHARE], "strategy_quota": [QUOTA]}.get(case["kind"], STRATEGIES)
    assert agrees(case, any(is_open(queues, strategy, mine, theirs, need, short) for strategy in tried))


@of("reclaimable")
def test_what_may_be_taken(case: Json) -> None:
    assert agrees(case, any(is_allowed(case, strategy) for strategy in STRATEGIES))


def is_allowed(case: Json, strategy: str) -> bool:
    """Whether all pieces may be taken one after the other."""
    queues, rows, base = standing(case)
    need, leaf = amounts(case["reclaimer"]["request"], base), rows[case["reclaimer"]["queue"]]
    short = contended(need, NOTHING_IDLE)
    if not case["reclaimer"]["preemptible"] and breaks_guarantee(queues, leaf, need) is not None:
        return False
    contest, gone = Contest(queues, leaf, need, short), []
    for victim in case["victims"]:
        row = rows[victim["queue"]]
        mine, theirs = sides(queues.terms, leaf, row)
        for piece in victim["pieces"]:
            if not is_open(queues, strategy, mine, theirs, need, short):
                return False
            for at, units in enumerate(amounts(piece, base)):
                for above in queues.terms.above[row]:
                    queues.held[at][above] -= units
            gone.append(row)
            if contest.refused(strategy, mine, theirs, gone) is not None:
                return False
    return True
