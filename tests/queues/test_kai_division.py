"""`division: kai` against answers of KAI-Scheduler's own code: siblings under one parent, random (R-QUEUE-5)."""

from __future__ import annotations

import json
from math import inf
from typing import Any

import pytest

from fairhold.cycle.document import quota_document
from fairhold.cycle.verify import verify
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.rules.queues.as_kai import KaiSiblings, divide_as_kai
from tests.planio.support import cases
from tests.queues.small import NOW, Cluster

Json = dict[str, Any]
ANSWERS = cases("kai_division")
PARTS = [ANSWERS[at::8] for at in range(8)]
in_parts = pytest.mark.parametrize("part", PARTS, ids=range(8))


def test_there_are_answers_with_history_and_without() -> None:
    with_history = [case for case in ANSWERS if case["k"] and any(queue["usage"] for queue in case["queues"])]
    assert (len(ANSWERS), len(with_history)) == (797, 308)


def plan_of(case: Json, above: str = "") -> Json:
    """The siblings as queues, at the top or below a parent that has everything."""
    queues = {
        f"{above}/{queue['id']}": {
            "deserved": {"gpu": queue["deserved"]},
            "limit": {"gpu": queue["limit"]},
            "over_quota_weight": queue["weight"],
            "priority": queue["priority"],
        }
        for queue in case["queues"]
    }
    parent: Json = {above: {"deserved": "unlimited"}} if above else {}
    entry = {"resource_groups": ["g"], "policy": "fair_share", "settings": {"division": "kai", "k": case["k"]}}
    return {
        "fairhold": 1,
        "resources": {"gpu": {}},
        "resource_groups": {"g": {"capacity": {"gpu": case["total"]}}},
        "consumers": {path: {} for path in (*parent, *queues)},
        "policies": [entry | {"consumers": parent | queues}],
    }


def state_of(case: Json, above: str = "") -> Json:
    return {
        "fairhold_state": 1,
        "now": NOW,
        "demand": {f"{above}/{queue['id']}": {"g": {"gpu": queue["request"]}} for queue in case["queues"]},
        "usage": {f"{above}/{queue['id']}": {"gpu": queue["usage"]} for queue in case["queues"]},
    }


def quotas(case: Json, above: str = "") -> Json:
    """Queue of the case → fair share, as `fairhold quota --json` says it; the independent check agrees."""
    plan, _ = parse_plan(json.dumps(plan_of(case, above)), "plan.json")
    state = parse_state(json.dumps(state_of(case, above)), plan, "state.json")
    result = json.loads(json.dumps(quota_document(plan, state)))
    assert verify(plan, state, result) == ()
    consumers = result["resource_groups"]["g"]["consumers"]
    return {queue["id"]: consumers[f"{above}/{queue['id']}"]["fair_share"]["gpu"] for queue in case["queues"]}


@in_parts
def test_quotas_are_those_that_kai_gave(part: list[Json]) -> None:
    assert [(case, found) for case in part if (found := quotas(case)) != case["expected"]] == []


def test_quotas_below_a_parent_are_those_that_kai_gave() -> None:
    fitting = [case for case in PARTS[0] if sum(queue["request"] for queue in case["queues"]) >= case["total"]]
    assert len(fitting) > 50
    assert [(case, found) for case in fitting if (found := quotas(case, "/P")) != case["expected"]] == []


def test_the_division_alone_gives_what_kai_gave() -> None:
    def divided(case: Json) -> dict[str, float]:
        queues: list[Json] = case["queues"]
        siblings = KaiSiblings(
            [queue["deserved"] for queue in queues],
            [min(queue["request"], inf if queue["limit"] is None else queue["limit"]) for queue in queues],
            [queue["weight"] for queue in queues],
            [queue["priority"] for queue in queues],
            [queue["usage"] for queue in queues],
        )
        shares = divide_as_kai(case["total"], siblings, case["k"])
        return dict(zip([queue["id"] for queue in queues], shares, strict=True))

    assert [(case, found) for case in ANSWERS if (found := divided(case)) != case["expected"]] == []


def test_what_rounding_left_goes_one_step_to_each_where_nobody_wanted_less_than_its_part() -> None:
    queues = {"/a": {}, "/b": {}, "/c": {"over_quota_weight": 4}}
    cluster = Cluster([5], queues, division="kai")
    for name in "abc":
        cluster.ask(name, f"/{name}", 10)
    assert cluster.shares() == {"/a": 1, "/b": 1, "/c": 3}


def test_a_limit_below_what_is_deserved_is_a_warning_and_holds() -> None:
    queues = {"/a": {"deserved": {"gpu": 4}, "limit": {"gpu": 2}}, "/b": {}}
    cluster = Cluster([8], queues, division="kai").ask("x", "/a", 8).ask("y", "/b", 8)
    assert cluster.shares() == {"/a": 2, "/b": 6}
    cluster.cycle()
    assert cluster.held() == {"x": 2, "y": 6}
    plan = json.dumps(cluster.plan_document)
    (warning,) = parse_plan(plan, "plan.json")[1]
    assert (warning.code, warning.mend) == ("limit-below-deserved", "raise `limit`, or lower `deserved`")
    assert warning.place == ("policies", 0, "consumers", "/a", "limit", "gpu")
