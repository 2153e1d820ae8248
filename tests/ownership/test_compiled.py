"""Two speeds, one answer: cycles of `ownership` with compiled kernels are those in plain Python."""

from __future__ import annotations

import json
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.document import run_cycle
from fairhold.kernels import _jit
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State


def random_case(seed: int) -> tuple[Plan, State]:
    """Some branches of leaves, lists between neighbours both ways and once round; every second case beside `hybrid`."""
    dice = Random(seed)
    tree: dict[str, Any] = {}
    owners: dict[str, Any] = {}
    others: dict[str, Any] = {}
    leaves: list[str] = []
    for top in "abcdef":
        names = "stuv"[: dice.randint(1, 4)]
        tree[top] = {"rank": dice.randint(0, 1), "consumers": {name: {"rank": dice.randint(0, 1)} for name in names}}
        side = others if seed % 2 and top in "ef" else owners
        own = {f"/{top}/{name}": {"owned": dice.randint(0, 9)} for name in names}
        side[f"/{top}"] = {"owned": sum(each["owned"] for each in own.values()) + dice.randint(0, 3)}
        side |= own
        leaves += own
    mine = [leaf for leaf in leaves if leaf in owners]
    around = [*pairwise(mine), *pairwise(reversed(mine)), (mine[-1], mine[0])]
    for lender, borrower in around:
        if seed > 1 and len(mine) > 2 and dice.random() < 0.7:
            owners[lender].setdefault("lend_to", []).append({"consumer": borrower})
            peer = {"consumer": lender, "limit": dice.randint(1, 6)}
            owners[borrower].setdefault("borrow_from", []).append(peer)
    entries = [{"resource_groups": ["c"], "policy": "ownership", "consumers": owners}]
    entries += [{"resource_groups": ["c"], "policy": "hybrid", "consumers": others}] if others else []
    groups = {"c": {"slots": dice.randint(40, 160)}}
    plan = {"fairhold": 1, "resource_groups": groups, "consumers": tree, "policies": entries}
    state = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z"}
    counts = {key: {leaf: {"c": dice.randint(0, 12)} for leaf in leaves} for key in ("demand", "allocated")}
    made = parse_plan(json.dumps(plan), "plan")[0]
    return made, parse_state(json.dumps(state | counts), made, "state")


@pytest.mark.parametrize("seed", range(8))
def test_compiled_cycles_are_the_plain_ones(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    plan, state = random_case(seed)
    plain = run_cycle(plan, state, check=True)
    assert plain.untrue == ()
    monkeypatch.delenv("FAIRHOLD_JIT", raising=False)
    monkeypatch.setitem(_jit._MODE, "few_rows", 0)
    compiled = run_cycle(plan, state)
    assert compiled.document == plain.document
    assert compiled.after == plain.after
