"""Wide and deep plans, many hosts, and the balances that `check` shows."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from fairhold.planio import consumers
from fairhold.planio.hosts import expand
from fairhold.planio.plan import Balance, balances, parse_plan
from fairhold.planio.state import parse_state
from tests.planio.support import SMALL, faults_of

DEEP = "".join(f"/level{at}" for at in range(5000))


def deep_document() -> dict[str, object]:
    entry = {"resource_groups": ["g"], "policy": "hybrid"}
    return {"fairhold": 1, "resource_groups": {"g": {"slots": 9}}, "consumers": {DEEP: {}}, "policies": [entry]}


def test_a_path_of_5000_levels_works_in_json() -> None:
    plan, _ = parse_plan(json.dumps(deep_document()), "f")
    assert len(plan.tree) == 5001
    assert plan.tree.paths[5000] == DEEP
    state = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "demand": {DEEP: {"g": 3}}}
    assert parse_state(json.dumps(state), plan, "f").demand == {(5000, "g"): 3}


def test_a_path_of_5000_levels_works_in_yaml() -> None:
    rest = "policies:\n- resource_groups: [g]\n  policy: hybrid\n  consumers:\n"
    text = f"fairhold: 1\nresource_groups: {{g: {{slots: 9}}}}\nconsumers:\n  ? {DEEP}\n  : {{rank: 2}}\n{rest}"
    plan, _ = parse_plan(text, "f")
    assert plan.tree.rank[5000] == 2
    assert faults_of(f"{text}    ? {DEEP}\n    : {{owned: 1}}\n")[0].code == "children-own-more"


def test_a_nested_tree_that_is_too_deep_is_to_be_written_by_path() -> None:
    tree = '{"a": {"consumers": ' * 3000 + "{}" + "}}" * 3000
    text = f'{{"fairhold": 1, "consumers": {tree}}}'
    for kind in (text, f"---\n{text}"):
        (fault,) = faults_of(kind)
        assert fault.code == "nested-too-deep"
        assert "by path" in fault.mend


def test_a_small_file_cannot_make_a_huge_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "MOST_CHARACTERS", 10**6)
    assert [fault.code for fault in faults_of(json.dumps(deep_document()))] == ["tree-too-large"]


def test_twenty_thousand_consumers_by_path() -> None:
    paths = [f"/d{at}" for at in range(200)]
    paths = [path for top in paths for path in (top, *(f"{top}/t{at}" for at in range(99)))]
    owned = {path: {"owned": 1 if path.count("/") == 2 else 99} for path in paths}
    document = deep_document() | {"consumers": {path: {} for path in paths}}
    document["resource_groups"] = {"g": {"slots": 200 * 99}}
    document["policies"] = [{"resource_groups": ["g"], "policy": "hybrid", "consumers": owned}]
    text = json.dumps(document)
    tracemalloc.start()
    plan, warnings = parse_plan(text, "f")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(plan.tree), warnings) == (20_001, ())
    assert peak < 60e6
    owned["/d7"]["owned"] = 98
    (fault,) = faults_of(json.dumps(document, indent=0))
    assert (fault.code, fault.place) == ("children-own-more", ("policies", 0, "consumers", "/d7", "owned"))


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("g", ["g"]),
        ("g[1-3]", ["g1", "g2", "g3"]),
        ("g[01-03]", ["g01", "g02", "g03"]),
        ("g[9-11]x", ["g9x", "g10x", "g11x"]),
        ("g[09-11]", ["g09", "g10", "g11"]),
        ("h[1-3,7]", ["h1", "h2", "h3", "h7"]),
        ("r[1-2]n[1,3]", ["r1n1", "r1n3", "r2n1", "r2n3"]),
    ],
)
def test_ranges_are_expanded(name: str, names: list[str]) -> None:
    assert expand(name) == names


def test_balances_are_what_children_leave() -> None:
    plan, _ = parse_plan(SMALL.replace("{slots: 100}", "{slots: 100, configured_slots: 130}"), "f")
    found = balances(plan)
    assert found == [Balance("compute", 0, 130, 100), Balance("compute", 1, 60, 40)]
    assert [each.balance for each in found] == [30, 20]
    assert balances(parse_plan(SMALL, "f")[0])[0].balance == 0
