"""Graces of vectors that keep resources idle are told when a plan is read (SPEC §6.3)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.planio.support import VECTORS, swapped
from tests.planio.test_read_vectors import TRADING, warnings_of

Json = dict[str, Any]


def test_graces_that_keep_resources_idle_are_told() -> None:
    said = "[{resource_group: main, hosts: 1, lend_grace: %s}], private_pool_grace: 20s"
    place = "policies.0.consumers./Trading"
    for grace, is_told in (("20s", False), ("21s", True), ("none", True)):
        found = warnings_of(swapped(VECTORS, TRADING, said % grace).replace("reclaim_grace: 30s", "reclaim_grace: 1s"))
        assert found == ([("private-grace-short", f"{place}.private_pool_grace")] if is_told else []), grace
    reserved = swapped(VECTORS, TRADING, said % "none, reserved: true").replace("reclaim_grace: 30s", "")
    assert warnings_of(reserved) == []


def test_a_grace_above_every_bound_is_told() -> None:
    place = "policies.0.consumers./Trading/Risk.reclaim_grace"
    bounded = VECTORS.replace("hosts: 3}]", "hosts: 3, lend_grace: 50s}], private_pool_grace: 50s")
    for grace, is_told in (("60s", False), ("61s", True)):
        found = warnings_of(bounded.replace("reclaim_grace: 30s", f"reclaim_grace: {grace}"))
        assert found == ([("never-borrows", place)] if is_told else []), grace
    assert warnings_of(VECTORS.replace("reclaim_grace: 30s", "reclaim_grace: 61s")) == []  # a lender without a bound


def owns(hosts: Any, **more: Any) -> Json:
    return {"own": [{"resource_group": "g", "hosts": hosts, **more}]}


M_LENDS = owns(["h1"], lend_grace="5s")
BOUND_BELOW = {"/M": M_LENDS, "/M/x": owns(["h1"], lend_grace="30s")}


@pytest.mark.parametrize(
    ("consumers", "public", "expected"),
    [
        (BOUND_BELOW, "5s", ["never-borrows"]),
        (BOUND_BELOW, "6s", []),
        (BOUND_BELOW, "none", []),
        ({"/M": owns(["h1"], reserved=True), "/M/x": owns(["h1"], lend_grace="30s")}, "5s", ["never-borrows"]),
        ({"/M": M_LENDS, "/Y": owns(["h2"], lend_grace="6s")}, "5s", []),
        ({"/M": M_LENDS, "/Y": owns(1, lend_grace="1s")}, "none", ["never-borrows"]),
        ({"/M": owns("100%", lend_grace="5s")}, "none", ["never-borrows"]),
        ({"/M": M_LENDS, "/Y": owns("remaining", reserved=True)}, "none", ["never-borrows"]),
    ],
)
def test_a_grace_above_the_bounds_of_all_lenders_is_told(consumers: Json, public: str, expected: list[str]) -> None:
    assert bounds_told({**consumers, "/Z": {"reclaim_grace": "6s"}}, public) == expected


def test_a_private_pool_bounds_what_its_own_children_use() -> None:
    mine = {"/M": owns(["h1"], lend_grace="60s") | {"private_pool_grace": "5s"}, "/M/x": {"reclaim_grace": "10s"}}
    assert bounds_told(mine, "5s") == ["never-borrows", "private-grace-short"]
    assert bounds_told(mine | {"/Y": owns(["h2"], lend_grace="10s")}, "5s") == ["private-grace-short"]


def bounds_told(consumers: Json, public: str) -> list[str]:
    """Warnings on a plan of two hosts."""
    entry = {
        "resource_groups": ["g"],
        "policy": "multidimensional",
        "settings": {"public_pool_grace": public},
        "consumers": {path: stated for path, stated in consumers.items() if stated},
    }
    plan = {
        "fairhold": 1,
        "resources": {"cpu": {}},
        "resource_groups": {"g": {"hosts": [{"name": "h[1-2]", "cpu": 4}]}},
        "consumers": {path: {} for path in consumers},
        "policies": [entry],
    }
    return sorted(code for code, _ in warnings_of(json.dumps(plan)))
