"""Whatever stands in a result, `verify` answers with findings and never with a crash."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.planio.statewrite import state_document
from tests.cycle.test_verify_mutations import changed, places, without

DEEP: Any = 1
for _ in range(900):
    DEEP = [DEEP]
VALUES: list[Any] = [
    *(None, True, False, -1, 0, 1, 2, 3.5, 1e300, 10**30, "", "x", "/", "/A", "/B", "compute", "1", "\u0663"),
    *("2026-01-05T09:00:00Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"),
    *([], {}, [[]], [{}], [None], ["/A"], {"a": 1}, {"/A": {}}, {"slots": True}, DEEP),
]
"""One of every JSON type and more: what is tried at every place."""

PLAN = """
fairhold: 1
resource_groups: {compute: {slots: 10, configured_slots: 10}, batch: {hosts: [{name: h1, slots: 4}]}}
consumers: {A: {rank: 1}, B: {}}
policies:
  - {resource_groups: [compute], policy: hybrid, consumers: {/A: {owned: 4}, /B: {owned: 6, limit: 8}}}
  - {resource_groups: [batch], policy: hybrid, consumers: {/A: {owned: 1}, /B: {owned: 3, reserved: 1}}}
"""
STATE = """
fairhold_state: 1
now: 2026-01-05T09:00:00Z
demand: {/A: {compute: 9}, /B: {compute: 9}}
allocated: {/A: {compute: 9}}
reclaims:
  - {consumer: /A, resource_group: compute, units: 1, for: /B, deadline: 2026-01-05T08:59:59Z}
  - {consumer: /A, resource_group: compute, units: 2, for: /B, deadline: 2026-01-05T09:00:30Z}
requests:
  - {id: r1, consumer: /A, resource_group: batch, count: 3, priority: 1}
  - {id: r2, consumer: /B, resource_group: batch, count: 2, min_count: 2, submitted: 2026-01-05T08:00:00Z}
allocations: [{request: r1, host: h1, units: 3, started: 2026-01-05T08:30:00Z}]
"""


def sweep(result: dict[str, Any], step: int) -> list[str]:
    """Try one of so many values and places of a right result; names what is accepted though it says something else."""
    plan, _ = parse_plan(PLAN, "plan")
    state = parse_state(STATE, plan, "state")
    result = json.loads(json.dumps(result))
    assert verify(plan, state, result) == ()
    accepted = []
    for at, (path, right) in enumerate(places(result)):
        tried = [] if not path else [(value, changed(result, path, value)) for value in VALUES]
        tried += [] if not path else [("gone", without(result, path))]
        if isinstance(right, dict):
            tried.append(("more", changed({"": result}, ("", *path), right | {"extra": 1})[""]))
        if isinstance(right, list):
            tried += [(value, changed(result, path, [*right, value])) for value in VALUES]
        for value, made in tried[at % step :: step]:
            findings = verify(plan, state, made)
            json.dumps([str(finding) for finding in findings])
            same = type(value) is type(right) and value == right
            if not findings and not same and not means_the_same(path, value):
                accepted.append(f"{'/'.join(map(str, path))} = {value!r:.60}")
    return accepted


def means_the_same(path: tuple[str | int, ...], value: Any) -> bool:
    """Whether it is left out where the state's format says it twice: whose a request is stands with the request."""
    return value == "gone" and path[:2] == ("state", "reclaims") and path[-1] in {"consumer", "resource_group"}


@pytest.mark.parametrize(
    ("kind", "step"), [("quota", 1), ("cycle", 5), pytest.param("cycle", 1, marks=pytest.mark.slow)]
)
def test_no_value_at_any_place_of_a_result_crashes_and_every_change_is_found(kind: str, step: int) -> None:
    plan, _ = parse_plan(PLAN, "plan")
    state = parse_state(STATE, plan, "state")
    cycle = run_cycle(plan, state)
    if kind == "quota":
        result = quota_document(plan, state)
    else:
        result = cycle.document | {"state": state_document(plan, cycle.after)}
        assert all(result[part] for part in ("stops", "grants", "reclaims", "state"))
        assert {row["for"] for row in result["reclaims"]} == {"/B"}
    assert sweep(result, step) == []
