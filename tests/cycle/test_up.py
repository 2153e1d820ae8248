"""What is up is divided, and of the other hosts what is booked on them (R-UP-1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.planio.statewrite import state_document

Json = dict[str, Any]
NOW, BEFORE = "2026-01-05T09:00:00Z", "2026-01-05T08:00:00Z"
KEYS = ("hosts_down", "hosts_never_seen", "hosts_closed")


def run(policy: str, consumers: Json, key: str, **more: Any) -> tuple[Json, Json]:
    """(quotas, cycle) where A holds 2 of h1, B has h0, and h1 is not up; each wants all that it can have."""
    is_slots = policy in {"hybrid", "ownership", "share_ratio"}
    name, unit = ("slots", {}) if is_slots else ("gpu", {"unit": {"gpu": 1}})
    plan = {
        "fairhold": 1,
        "resource_groups": {"g": {"hosts": [{"name": "h[0-2]", name: 4}]}},
        "consumers": {"A": {}, "B": {}},
        "policies": [{"resource_groups": ["g"], "policy": policy, "consumers": consumers}],
    } | ({} if is_slots else {"resources": {"gpu": {}}})
    state = {
        "fairhold_state": 1,
        "now": NOW,
        "requests": [
            {"id": "a", "consumer": "/A", "count": 12, **unit},
            {"id": "b", "consumer": "/B", "count": 12, **unit},
        ],
        "allocations": [
            {"request": "a", "host": "h1", "units": 2, "started": BEFORE},
            {"request": "b", "host": "h0", "units": 4, "started": BEFORE},
        ],
        key: ["h1", "h2"],
        **more,
    }
    parsed = parse_plan(json.dumps(plan), "plan")[0]
    read = parse_state(json.dumps(state), parsed, "state")
    done = run_cycle(parsed, read, check=True)
    told = json.loads(json.dumps(done.document)), json.loads(json.dumps(quota_document(parsed, read)))
    full = told[0] | {"state": json.loads(json.dumps(state_document(parsed, done.after)))}
    assert (done.untrue, verify(parsed, read, full), verify(parsed, read, told[1])) == ((), (), ())
    return told[1], told[0]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("policy", ["hybrid", "ownership", "share_ratio"])
def test_slots_of_a_host_that_is_not_up_are_those_in_use_there(policy: str, key: str) -> None:
    """Of h0 all four, of h1 the two in use, of h2 none; nobody stops for a host on which nothing can start."""
    owned = {} if policy == "share_ratio" else {"/A": {"owned": 6}, "/B": {"owned": 6}}
    quotas, cycle = run(policy, owned, key)
    assert quotas["resource_groups"]["g"]["slots"] == 6
    assert [row for row in cycle["reclaims"] if row["reason"] == "lost"] == []
    assert {row["host"] for row in cycle["reclaims"]} <= {"h0"}
    assert cycle["grants"] == []


@pytest.mark.parametrize("key", KEYS)
def test_queues_share_what_is_up_and_what_is_booked_elsewhere(key: str) -> None:
    """Of 6 GPUs A deserves 3 and B 1, each gets one more: A holds 2 on a host that is not up and takes 2 of B's."""
    queues = {"/A": {"deserved": {"gpu": 3}}, "/B": {"deserved": {"gpu": 1}}}
    quotas, cycle = run("fair_share", queues, key)
    group = quotas["resource_groups"]["g"]
    assert group["amounts"] == {"gpu": 6}
    found = {path: (row["fair_share"]["gpu"], row["allocated"]["gpu"]) for path, row in group["consumers"].items()}
    assert found == {"/": (6, 6), "/A": (4, 2), "/B": (2, 4)}
    assert [(row["request"], row["host"], row["units"]) for row in cycle["reclaims"]] == [("b", "h0", 2)]


@pytest.mark.parametrize("key", KEYS)
def test_pools_have_what_is_booked_on_a_host_that_is_not_up(key: str) -> None:
    """Of 6 units A uses 2, and B 4; by ratio 2 to 1 A may take two from B."""
    quotas, cycle = run("multidimensional", {"/A": {"share_ratio": 2}, "/B": {}}, key)
    pool = quotas["pools"]["/"]
    assert pool["amounts"] == {"gpu": "6"}
    usage = {path: (row["usage"], row["usage_quota"]) for path, row in pool["consumers"].items()}
    assert usage == {"/": ("1", "1"), "/A": ("1/3", "2/3"), "/B": ("2/3", "1/3")}
    assert sum(row["units"] for row in cycle["reclaims"]) == 2


@pytest.mark.parametrize("key", KEYS)
def test_share_limits_count_what_is_booked_there(key: str) -> None:
    """h2 is up: A is at its limit of 2 by what it has on h1, so that B alone gets what is idle."""
    _, cycle = run("multidimensional", {"/A": {"share_limit": {"gpu": 2}}, "/B": {}}, key, **{key: ["h1"]})
    assert [(row["request"], row["host"], row["units"]) for row in cycle["grants"]] == [("b", "h2", 4)]
