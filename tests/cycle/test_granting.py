"""Leaves that cannot use what they are handed give way at once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.invariants import check
from fairhold.cycle.open import open_books
from fairhold.cycle.run import run
from fairhold.kernels.distribute import grant
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state

if TYPE_CHECKING:
    from fairhold.cycle.run import CycleResult


@pytest.mark.parametrize(("reserved", "granted", "most"), [(0, 30, 1), (1, 0, 2)])
def test_many_stuck_leaves_take_few_rounds(
    monkeypatch: pytest.MonkeyPatch, reserved: int, granted: int, most: int
) -> None:
    """Gangs of 2 in leaves that own 1 each: every second one can borrow what another cannot use, unless it is kept."""
    names = [f"L{number}" for number in range(60)]
    plan, _ = parse_plan(
        json.dumps(
            {
                "fairhold": 1,
                "resource_groups": {"c": {"slots": 60}},
                "consumers": {name: {} for name in names},
                "policies": [
                    {
                        "resource_groups": ["c"],
                        "policy": "hybrid",
                        "consumers": {f"/{name}": {"owned": 1, "reserved": reserved} for name in names},
                    }
                ],
            }
        ),
        "plan",
    )
    requests = [{"id": name, "consumer": f"/{name}", "count": 2, "min_count": 2} for name in names]
    state = parse_state(
        json.dumps({"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "requests": requests}), plan, "state"
    )
    rounds = 0
    passes = grant.run

    def counted(*columns: Any) -> int:
        nonlocal rounds
        rounds += 1
        return passes(*columns)

    monkeypatch.setattr(grant, "run", counted)
    result = run(open_books(plan, state)["c"], state.now)
    assert len(result.decision.grants) == granted
    assert result.draft.idle == 60 - 2 * granted
    assert rounds == most


def limited(demand: dict[str, int], held: dict[str, int], slots: int) -> CycleResult:
    """A cycle of a group in which /A has a limit of 3 and one of its leaves a reserve of 1."""
    stated = {"/A": {"owned": 1, "limit": 3}, "/A/kept": {"owned": 1, "reserved": 1}}
    plan, _ = parse_plan(
        json.dumps(
            {
                "fairhold": 1,
                "resource_groups": {"c": {"slots": slots}},
                "consumers": {"A": {"consumers": {"kept": {}, "over": {}, "more": {}}}, "B": {}},
                "policies": [{"resource_groups": ["c"], "policy": "hybrid", "consumers": stated}],
            }
        ),
        "plan",
    )
    document = {
        "fairhold_state": 1,
        "now": "2026-01-05T09:00:00Z",
        "demand": {path: {"c": units} for path, units in demand.items()},
        "allocated": {path: {"c": units} for path, units in held.items()},
    }
    return run(open_books(plan, parse_state(json.dumps(document), plan, "state"))["c"], 0)


def test_what_is_set_aside_under_a_limit_counts_as_held() -> None:
    """Else /A would hold 3, nothing could be set aside for its reserve any more, and the next cycle would move it."""
    result = limited({"/A/over": 1, "/A/more": 1, "/B": 1}, {"/A/over": 2}, 4)
    books = result.snapshot.books
    assert [(books.requests.leaf[given.request], given.units) for given in result.decision.grants] == [
        (result.snapshot.rows.leaves[-1], 1)
    ]
    assert check(result) == ()


def test_what_is_set_aside_goes_to_nobody_outside_where_the_limit_of_the_branch_is_full() -> None:
    """/A holds 4 of a limit of 3: of 2 idle slots one is set aside for /A/kept all the same, /B is granted the other.

    /A is 5 with it, so that 2 of /A/over go: after that it holds 2 and has 1 set aside, which is its limit.
    """
    result = limited({"/A/over": 4, "/B": 2}, {"/A/over": 4}, 6)
    assert granted_to(result) == {"/B": 1}
    assert sum(notice.units for notice in result.decision.notices) == 2
    assert result.draft.idle == 1
    assert check(result) == ()


def granted_to(result: CycleResult) -> dict[str, int]:
    """Path of a leaf → units that it is granted."""
    leaf_of = result.snapshot.books.requests.leaf
    return {result.snapshot.rows.path(leaf_of[given.request]): given.units for given in result.decision.grants}
