"""Usage quotas of a public pool: the worked tree, and the product on random plans in which nobody owns anything."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairhold.reference.quotas.pool import Pool, usage_quotas
from tests.pools.strategies import plans, read, states
from tests.reference.cases import told_quotas

Json = dict[str, Any]


@st.composite
def documents(draw: st.DrawFn) -> tuple[Json, Json]:
    """A plan without ownership, share limits and bounds of graces, and a state."""
    plan, leaves = draw(plans())
    for stated in plan["policies"][0]["consumers"].values():
        for key in ("own", "share_limit", "private_pool_grace"):
            stated.pop(key, None)
    plan["policies"][0]["settings"].pop("public_pool_grace", None)
    return plan, draw(states(plan, leaves))


@given(documents())
def test_as_the_product(drawn: tuple[Json, Json]) -> None:
    plan, state = read(*drawn)
    told = told_quotas(plan, state)["pools"]["/"]["consumers"]
    usage, demand, quota = usage_quotas(Pool(plan, state, plan.policies[0]))
    for path, row in told.items():
        at = plan.tree.rows[path]
        expected = usage[at], demand[at], quota[at]
        assert tuple(Fraction(row[key]) for key in ("usage", "usage_demand", "usage_quota")) == expected, path


def test_the_worked_tree() -> None:
    """R-USAGE-3: A:B = 1:2 at one priority, C below; A1:A2 = 1:2; B1 above B2 (S0.20)."""
    consumers = {
        "/A": {"share_priority": 1},
        "/A/A1": {},
        "/A/A2": {"share_ratio": 2},
        "/B": {"share_priority": 1, "share_ratio": 2},
        "/B/B1": {"share_priority": 1},
        "/B/B2": {},
        "/C": {},
    }
    leaves = ("/A/A1", "/A/A2", "/B/B1", "/B/B2", "/C")
    plan = {
        "fairhold": 1,
        "resources": {"cpu": {}},
        "resource_groups": {"m": {"hosts": [{"name": "h", "cpu": 9}]}},
        "consumers": {path: {} for path in consumers},
        "policies": [{"resource_groups": ["m"], "policy": "multidimensional", "consumers": consumers}],
    }
    now = "2026-01-05T09:00:00Z"
    requests = [{"id": leaf[1:], "consumer": leaf, "unit": {"cpu": 1}, "count": 20} for leaf in leaves]
    state = {
        "fairhold_state": 1,
        "now": now,
        "requests": requests,
        "allocations": [{"request": "C", "host": "h", "units": 9, "started": now}],
    }
    parsed = read(json.loads(json.dumps(plan)), state)
    _, _, quota = usage_quotas(Pool(*parsed, parsed[0].policies[0]))
    found = {path: quota[parsed[0].tree.rows[path]] for path in ("/A", "/B", "/C", *leaves[:4])}
    ninth = Fraction(1, 9)
    expected = (3 * ninth, 6 * ninth, 0 * ninth, ninth, 2 * ninth, 6 * ninth, 0 * ninth)
    assert found == dict(zip(("/A", "/B", "/C", *leaves[:4]), expected, strict=True))
