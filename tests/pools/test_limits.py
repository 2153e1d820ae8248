"""Share limits: what goes first, what counts, what is withdrawn (R-LIMIT-2, R-LIMIT-3, R-NOTICE-2)."""

from __future__ import annotations

from typing import Any

from fairhold.cycle.document import quota_document
from tests.pools.small import inputs, of, on, own, run, taken

SOON = "2026-01-05T09:00:30Z"


def test_r_limit_3_what_breaks_no_gang_goes_first() -> None:
    asked = [
        of("/A", 1, name="single", submitted="2026-01-05T08:00:00Z"),
        of("/A", 2, name="gang", min_count=2, submitted="2026-01-05T08:30:00Z"),
    ]
    found = taken({"/A": {"share_limit": {"cpu": 2}}}, asked, [on("h0", "single", 1), on("h0", "gang", 2)])
    assert found == [("single", "h0", 1, None, 0)]


def test_r_limit_3_pools_of_different_size_are_compared_by_usage() -> None:
    consumers = {
        "/A": {"share_limit": {"cpu": 4}, **own(hosts=2)},
        "/A/x": own(hosts=["h0"], reserved=True),
        "/A/x/1": {},
        "/A/y": own(hosts=["h1"], reserved=True),
        "/A/y/1": {},
    }
    asked = [of("/A/x/1", 2, name="x"), of("/A/y/1", 3, name="y")]
    stands = [on("h0", "x", 2, "/A/x"), on("h1", "y", 3, "/A/y")]
    found = taken(consumers, asked, stands, hosts={"h0": 4, "h1": 8})
    assert found == [("x", "h0", 1, None, 0)]  # 2 of 4 is more than 3 of 8


def test_r_limit_2_a_limit_above_a_private_pool_counts_in_it() -> None:
    consumers: dict[str, Any] = {"/A": {"share_limit": {"cpu": 2}, **own(hosts=1)}, "/A/x": {}, "/A/x/1": {}}
    consumers["/A/x"] = own(hosts=1, reserved=True)
    plan, state = inputs(consumers, [of("/A/x/1", 4)], hosts={"h0": 4})
    found = quota_document(plan, state)["pools"]["/A/x"]["consumers"]
    assert found["/A/x/1"]["usage_demand"] == "1/2"


def test_r_notice_2_what_is_withdrawn_counts_under_the_limit() -> None:
    notices = [
        {"request": "B", "host": "h0", "units": 1, "for": "T", "deadline": SOON},
        {"request": "B", "host": "h0", "units": 1, "deadline": SOON, "reason": "limit"},
    ]
    document = run(
        {"/B": {"share_limit": {"cpu": 2}, "reclaim_grace": "30s"}, "/T": {}},
        [of("/B", 3), of("/T", 1)],
        [on("h0", "B", 3), on("h1", "T", 1)],
        reclaims=notices,
    ).document
    assert [(row["request"], row["units"]) for row in document["withdrawn"]] == [("B", 1)]
    assert document["reclaims"] == []
