"""Who is served next inside a leaf."""

from __future__ import annotations

import json

from fairhold.cycle.document import run_cycle
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state


def test_inside_a_leaf_users_are_served_in_turn() -> None:
    """R-GRANT-3: who holds the fewest slots of the leaf is next; `fifo` leaves users out."""
    requests = [
        {"id": "a", "consumer": "/A", "count": 9, "submitted": "2026-01-05T08:00:00Z", "user": "ann"},
        {"id": "b", "consumer": "/A", "count": 9, "submitted": "2026-01-05T08:10:00Z", "user": "bob"},
    ]
    held = [{"request": "a", "units": 3, "started": "2026-01-05T08:30:00Z"}]
    for within, granted in (("users", {"a": 1, "b": 4}), ("fifo", {"a": 5})):
        plan = {
            "fairhold": 1,
            "cluster": "c",
            "resource_groups": {"g": {"slots": 8}},
            "consumers": {"A": {}},
            "policies": [
                {
                    "resource_groups": ["g"],
                    "policy": "hybrid",
                    "settings": {"within": within},
                    "consumers": {"/A": {"owned": 8}},
                }
            ],
        }
        state = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "requests": requests, "allocations": held}
        parsed = parse_plan(json.dumps(plan), "plan.json")[0]
        document = run_cycle(parsed, parse_state(json.dumps(state), parsed, "state.json")).document
        assert {row["request"]: row["units"] for row in document["grants"]} == granted
