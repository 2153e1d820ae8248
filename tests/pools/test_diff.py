"""`diff` under `multidimensional`: who gains and loses in every pool, what changes hands, what goes (R-ADJUST-3)."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cli.differing import Look, diff_text, print_diff
from fairhold.cycle.diff import diff
from fairhold.cycle.document import run_cycle
from fairhold.cycle.pooled.carrying import with_owned
from fairhold.cycle.window_preview import diff_windows, side
from fairhold.errors import ArgumentError, InputError, UsageError
from fairhold.planio.moving import with_new_paths
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from fairhold.units import SECOND
from tests.examples import FEWER
from tests.pools.small import inputs, of, on, own
from tests.pools.strategies import changed, plans, read, states
from tests.pools.test_commands import PLAN, STATE

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Json = dict[str, Any]
HOSTS = {"h0": 4, "h1": 4, "h2": 4}


def both(before: tuple[Plan, State], after: tuple[Plan, State], moved: dict[str, str] | None = None) -> Json:
    """What a change of plan does, as the command tells it."""
    one = run_cycle(*before)
    return diff(one, run_cycle(after[0], with_owned(after[1], after[0], one.after, before[0])), moved)


def change(one: Json, other: Json, requests: list[Json], stands: list[Json] | None = None, **more: Any) -> Json:
    """The same state under two sets of settings."""
    more = {"hosts": HOSTS, **more}
    return both(inputs(one, requests, stands, **more), inputs(other, requests, stands, **more))


def test_who_gains_and_who_loses_in_the_public_pool_s0_16() -> None:
    held = [on("h0", "A", 4), on("h1", "A", 4), on("h2", "B", 4)]
    found = change({"/A": {}, "/B": {}}, {"/A": {}, "/B": {"share_ratio": 2}}, [of("/A", 20), of("/B", 20)], held)
    pool = found["pools"]["/"]
    assert pool["amounts"] == [{"cpu": "12", "gpu": "0"}] * 2
    assert {path: row["usage_quota"] for path, row in pool["consumers"].items()} == {
        "/A": ["1/2", "1/3"],
        "/B": ["1/2", "2/3"],
    }
    assert pool["consumers"]["/B"]["share_quota"] == [{"cpu": "6", "gpu": "0"}, {"cpu": "8", "gpu": "0"}]
    assert [(row["request"], row["units"], row["for"]) for row in found["reclaims"]["added"]] == [("A", 2, "B")]
    assert [(row["request"], row["units"], row["for"]) for row in found["reclaims"]["removed"]] == []
    assert found["ownership"] == []


def test_r_adjust_3_what_changes_hands_is_told_with_from_and_to_s2_16_s2_28() -> None:
    parcels = [("h0", "/A", 4), ("h1", "/A", 4), ("h2", "/B", 4)]
    one, other = {"/A": own(hosts=2), "/B": own(hosts=1)}, {"/A": own(hosts=1), "/B": own(hosts=2)}
    found = change(one, other, [of("/A", 4)], [on("h0", "A", 4, "own")], ownership=parcels)
    assert found["ownership"] == [{"host": "h1", "from": "/A", "to": "/B", "amounts": {"cpu": 4}}]
    assert "host  from  to  cpu\nh1    /A    /B    4" in diff_text(found)


def test_parts_that_change_hands_and_what_comes_from_nobody() -> None:
    one = {"/A": own(per_host={"cpu": 1.5}), "/B": own(per_host={"cpu": 1})}
    other = {"/A": own(per_host={"cpu": 1}), "/B": own(per_host={"cpu": 2.5})}
    found = change(one, other, [], resources={"cpu": {"step": 0.5}}, hosts={"h0": 4})
    assert found["ownership"] == [
        {"host": "h0", "from": "/A", "to": "/B", "amounts": {"cpu": 0.5}},
        {"host": "h0", "from": None, "to": "/B", "amounts": {"cpu": 1}},
    ]


def test_without_ownership_in_the_state_the_new_plan_goes_on_from_what_the_old_one_assigns() -> None:
    one, other = {"/A": own(hosts=1), "/B": own(hosts=1)}, {"/A": own(hosts=2), "/B": own(hosts=1)}
    found = change(one, other, [])
    assert found["ownership"] == [{"host": "h2", "from": None, "to": "/A", "amounts": {"cpu": 4}}]


def test_r_adjust_4_what_goes_from_reserved_hosts_is_told_with_deadline_and_reason_s2_30() -> None:
    one = {"/A": {"reclaim_grace": "30s"}, "/B": own(hosts=["h0"])}
    other = {"/A": {"reclaim_grace": "30s"}, "/B": own(hosts=["h0"], reserved=True, lend_grace="20s")}
    found = change(one, other, [of("/A", 4)], [on("h0", "A", 4, "/", B=4)])
    row = {"consumer": "/A", "resource_group": "all", "request": "A", "host": "h0", "units": 4, "for": None}
    assert found["reclaims"]["added"] == [row | {"deadline": "2026-01-05T09:00:20Z", "reason": "limit"}]


def test_consumers_that_are_called_otherwise_keep_pools_parcels_and_units() -> None:
    def under(path: str) -> tuple[Plan, State]:
        consumers = {path: own(hosts=1), f"{path}/x": {}, "/Z": {}}
        return inputs(
            consumers,
            [of(f"{path}/x", 2, name="u")],
            [on("h0", "u", 2, path)],
            hosts=HOSTS,
            ownership=[("h0", path, 4)],
        )

    found = both(under("/M"), under("/N"), {"/M": "/N"})
    assert found["ownership"] == []
    assert found["reclaims"] == {"added": [], "removed": []}
    assert {pool: list(each["consumers"]) for pool, each in found["pools"].items()} == {
        "/": ["/N", "/N/x"],
        "/N": ["/N", "/N/x"],
    }
    assert found["pools"]["/N"]["consumers"]["/N/x"] == {
        "usage": ["1", "1"],
        "usage_quota": ["1", "1"],
        "share_quota": [{"cpu": "2", "gpu": "0"}] * 2,
        "approximate_share_quota": [{"cpu": "2", "gpu": "0"}] * 2,
        "was": "/M/x",
    }
    assert "/N/x (was /M/x)" in diff_text(found)


def test_the_same_plan_changes_nothing() -> None:
    consumers = {"/M": own(hosts=2), "/M/x": own(hosts=1), "/M/y": {}, "/Z": {}}
    requests = [of("/M/x", 9), of("/M/y", 9), of("/Z", 9)]
    found = change(consumers, consumers, requests)
    assert found["ownership"] == []
    assert {name: pool["consumers"] for name, pool in found["pools"].items()} == {"/": {}, "/M": {}}
    assert "private pool of /M: cpu 4; no numbers change\n\nChange hands: nothing" in diff_text(found)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    paths = tuple(tmp_path / name for name in ("plan.yaml", "new.yaml", "state.yaml"))
    for path, text in zip(paths, (PLAN, PLAN, STATE), strict=True):
        path.write_text(text)
    return paths[0], paths[1], paths[2]


def test_was_reads_a_state_under_the_new_paths(
    files: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    files[1].write_text(PLAN.replace("A: {}", "Q: {}").replace("/A:", "/Q:"))
    print_diff(*files, Look("2d"), as_json=True, was={"/Q": "/A"})
    found = json.loads(capsys.readouterr().out)
    assert {path: row["was"] for path, row in found["resource_groups"]["slow"]["consumers"].items()} == {"/Q": "/A"}
    assert (found["ownership"], found["settings"]) == ([], [])
    assert found["reclaims"] == {"added": [], "removed": []}
    assert [each["reclaims"] for each in found["windows"]] == [{"added": [], "removed": []}] * len(found["windows"])
    with pytest.raises(InputError) as caught:
        print_diff(*files, Look("2d"), as_json=True)
    assert {fault.code for fault in caught.value.faults} == {"unknown-consumer"}
    with pytest.raises(ArgumentError) as strange:
        print_diff(*files, Look("2d"), as_json=True, was={"/Q": "/X"})
    assert [(fault.code, fault.place) for fault in strange.value.faults] == [("unknown-consumer", ("--was",))]
    with pytest.raises(UsageError):
        print_diff(*files, Look("2d"), as_json=True, was={"/Q": "/A", "/C": "/A"})


def test_only_paths_of_a_state_are_renamed() -> None:
    row = {
        "request": "u",
        "host": "/M",
        "user": "/M",
        "consumer": "/M/x",
        "for": "u",
        "pool": "/M",
        "lenders": {"/M": 2},
    }
    was: Json = {"demand": {"/M/x": {"main": 4}, "/Mx": {}}, "reclaims": [row]}
    will = row | {"consumer": "/N/x", "pool": "/N", "lenders": {"/N": 2}}
    expected = {"demand": {"/N/x": {"main": 4}, "/Mx": {}}, "reclaims": [will]}
    assert with_new_paths(was, {"/M": "/N"}) == expected


def test_slots_and_the_pools_of_several_entries_are_compared_side_by_side(
    files: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    text = PLAN.replace("/B: {owned: 5}", "/B: {owned: 4}")
    files[1].write_text(text.replace("own: [{resource_group: big, hosts: 1}]", "share_ratio: 2"))
    print_diff(*files, Look("2d"), as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert list(found["resource_groups"]) == ["slow"]
    assert {name: list(pools) for name, pools in found["pools"].items()} == {"main": ["/"], "big": ["/"]}
    assert found["pools"]["main"]["/"]["consumers"] == {}
    assert found["ownership"] == [{"host": "b1", "from": "/C", "to": None, "amounts": {"cpu": 8, "gpu": 2}}]
    print_diff(*files, Look("2d"), as_json=False)
    assert "\n\nbig, public pool: cpu 6 -> 8, gpu 0 -> 2\n" in capsys.readouterr().out


def test_coming_windows_are_compared_too(files: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    files[1].write_text(PLAN.replace("cpu: 50%, gpu: 1", "cpu: 25%"))
    print_diff(*files, Look("12h"), as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["ownership"] == []
    (evening,) = found["windows"]
    assert evening["now"] == "2026-01-05T18:00:00Z"
    gone = [(row["host"], row["from"], row["to"], row["amounts"]) for row in evening["ownership"]]
    assert gone == [(host, "/B", None, {"cpu": 2, "gpu": 1}) for host in ("h1", "h2")]


def test_a_group_that_goes_from_slots_to_vectors() -> None:
    """Where nothing is held of it; counts of slots do not fit the new plan, and are refused at their place."""
    slots = {"hosts": [{"name": "h0", "slots": 4}]}
    plan: Json = {
        "fairhold": 1,
        "resource_groups": {"all": slots},
        "consumers": {"A": {}, "B": {}},
        "policies": [{"resource_groups": ["all"], "policy": "hybrid", "consumers": {"/A": {"owned": 4}}}],
    }
    other = plan | {
        "resources": {"cpu": {}},
        "resource_groups": {"all": {"hosts": [{"name": "h0", "cpu": 4}]}},
        "policies": [{"resource_groups": ["all"], "policy": "multidimensional", "consumers": {"/A": own(hosts=1)}}],
    }
    state = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z"}
    before, after = read(plan, state), read(other, state)
    found = both(before, after)
    assert found["resource_groups"]["all"]["consumers"]["/A"]["owned"] == [4, 0]
    assert found["pools"]["/"]["amounts"] == [None, {"cpu": "4"}]
    assert found["ownership"] == [{"host": "h0", "from": None, "to": "/A", "amounts": {"cpu": 4}}]
    text = diff_text(found)
    assert "public pool: cpu none -> 4\n" in text
    back = both(after, before)
    assert back["ownership"] == [{"host": "h0", "from": "/A", "to": None, "amounts": {"cpu": 4}}]


def test_what_consumers_and_hosts_owned_that_are_gone_is_nobodys() -> None:
    consumers: Json = {"/A": own(hosts=["h0"]), "/B": own(hosts=["h1"]), "/M": own(hosts=["h2"]), "/M/x": {}}
    plan, state = inputs(consumers, [of("/A", 6)], [on("h0", "A", 4, "own"), on("h1", "A", 2, "/", B=2)], hosts=HOSTS)
    text = json.dumps(state_document(plan, run_cycle(plan, state).after))
    less, _ = inputs({"/A": own(hosts=["h0"]), "/C": {}}, [], hosts={"h0": 4, "h1": 2})
    with pytest.raises(InputError):
        parse_state(text, less, "state.json")
    after = parse_state(text, less, "state.json", plan)
    found = both((plan, parse_state(text, plan, "state.json")), (less, after))
    assert [(row["host"], row["from"], row["to"]) for row in found["ownership"]] == [
        ("h1", "/B", None),
        ("h2", "/M", None),
    ]
    assert found["pools"]["/M"]["amounts"][1] is None


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Json, Json, Json]:
    """Two plans of the same consumers and a state."""
    plan, leaves = draw(plans())
    state = draw(states(plan, leaves))
    named = {*(row["host"] for row in state["allocations"]), *state.get("hosts_down", ())}
    return plan, draw(changed(plan, leaves, named)), state


def owned(rows: list[Json]) -> Counter[tuple[str, str, str]]:
    found: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        for resource, amount in row["amounts"].items():
            found[row["host"], row["consumer"], resource] += Fraction(str(amount))  # type: ignore[assignment]
    return found


@FEWER
@given(pairs())
def test_what_changes_hands_and_what_goes_leads_from_one_cycle_to_the_other(case: tuple[Json, Json, Json]) -> None:
    one, other, document = case
    before, (plan, state) = read(one, document), read(other, document)
    first = run_cycle(*before)
    second = run_cycle(plan, with_owned(state, plan, first.after, before[0]))
    found = diff(first, second)
    parcels = owned(first.document["ownership"])
    for row in found["ownership"]:
        assert row["from"] != row["to"]
        for resource, amount in row["amounts"].items():
            parcels[row["host"], row["from"], resource] -= Fraction(str(amount))  # type: ignore[assignment]
            parcels[row["host"], row["to"], resource] += Fraction(str(amount))  # type: ignore[assignment]
    told = {key: amount for key, amount in parcels.items() if amount and key[1]}
    assert told == {key: amount for key, amount in owned(second.document["ownership"]).items() if amount}
    units = Counter[tuple[str, str]]()
    for sign, rows in (
        (1, first.document["reclaims"]),
        (1, found["reclaims"]["added"]),
        (-1, found["reclaims"]["removed"]),
        (-1, second.document["reclaims"]),
    ):
        for row in rows:
            units[row["request"], row["host"]] += sign * row["units"]
    assert not any(units.values())
    for pool, each in found["pools"].items():
        for path, row in each["consumers"].items():
            will = second.document["pools"].get(pool, {"consumers": {}})["consumers"].get(path, {})
            assert row["usage_quota"][1] == will.get("usage_quota")
    again = diff(first, run_cycle(*before))
    assert again["ownership"] == []
    assert all(not pool["consumers"] for pool in again["pools"].values())
    assert again["reclaims"] == {"added": [], "removed": []}


def test_plans_without_windows_have_none_to_compare() -> None:
    plan, state = inputs({"/A": {}}, [of("/A", 1)])
    sides = side(plan, state), side(plan, state)
    assert diff_windows(*sides, state.now, state.now + SECOND) is None
    windowed = parse_plan(PLAN, "plan.yaml")[0]
    night = parse_state(STATE, windowed, "state.yaml")
    found = diff_windows(side(windowed, night), side(windowed, night), night.now, night.now + 86_400 * SECOND)
    assert [each["ownership"] for each in found or ()] == [[], []]
