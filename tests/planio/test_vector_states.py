"""States of `multidimensional`: units of vectors, where they stand and on whose parcels (SPEC §11)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from fairhold.cycle.document import run_cycle
from fairhold.errors import InputError
from fairhold.model.state import Allocation, HeldUnits, Notice
from fairhold.model.vector import Parcel
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from tests.planio.support import VECTORS, cases, swapped, told

if TYPE_CHECKING:
    from fairhold.model.state import State

STATE = """\
fairhold_state: 1
now: 2026-01-05T09:00:00Z
requests:
  - {id: r1, consumer: /Trading/Risk, unit: {cpu: 0.5, memory: 1.25, gpu: 1}, count: 8}
  - {id: r2, consumer: /Research, unit: {cpu: 4}, count: 12, min_count: 4}
allocations:
  - {request: r1, host: g1, units: 2, started: 2026-01-05T08:10:00Z, pool: own}
  - {request: r1, host: g2, units: 3, started: 2026-01-05T08:10:00Z, pool: /Trading, lenders: {/Trading/FX: 2}}
  - {request: r2, host: r1, units: 3, started: 2026-01-05T08:10:00Z}
reclaims:
  - {request: r1, host: g2, units: 1, for: r2, deadline: 2026-01-05T09:00:30Z}
  - {request: r2, host: r1, units: 1, for: null, deadline: 2026-01-05T09:00:30Z, reason: limit}
held: [{request: r2, host: big, units: 2}]
ownership: [{host: g1, consumer: /Trading, amounts: {cpu: 64, gpu: 8}}]
hosts_down: [g4]
"""
PLAN = parse_plan(VECTORS, "plan.yaml")[0]


def state(text: str = STATE) -> State:
    return parse_state(text, PLAN, "state.yaml")


@pytest.mark.parametrize("name", ["multidimensional", "lending"])
def test_all_cases_are_read_and_written_back(name: str) -> None:
    found = cases(name)
    assert len(found) > 40
    for case in found:
        under = parse_plan(json.dumps(case["plan"]), "plan.json")[0]
        before = parse_state(json.dumps(case["state"]), under, "state.json")
        document = state_document(under, before)
        after = parse_state(json.dumps(document), under, "state.json")
        assert after == before, case["id"]
        assert state_document(under, after) == document, case["id"]
        rows = [(row["id"], row["unit"]) for row in case["state"]["requests"]]
        assert [(row["id"], row["unit"]) for row in document.get("requests", [])] == rows, case["id"]


def test_a_state_of_vectors_is_read() -> None:
    found = state()
    assert [request.unit for request in found.requests] == [(500, 1280, 1), (4000, 0, 0)]
    assert {request.resource_group for request in found.requests} == {""}
    started = found.allocations[0].started
    assert found.allocations == (
        Allocation("r1", "g1", 2, started, "own"),
        Allocation("r1", "g2", 3, started, "/Trading", ((3, 2),)),
        Allocation("r2", "r1", 3, started, "/"),
    )
    deadline = found.now + 30_000_000
    assert found.notices == (
        Notice(2, "", 1, 4, deadline, "quota", "r1", "g2", "r2"),
        Notice(4, "", 1, -1, deadline, "limit", "r2", "r1"),
    )
    assert found.held == (HeldUnits("r2", "big", 2),)
    assert found.ownership == (Parcel("g1", 1, (64_000, 0, 8)),)


def test_a_state_of_vectors_is_written_back() -> None:
    document = state_document(PLAN, state())
    assert state(json.dumps(document)) == state()
    assert document["requests"][0]["unit"] == {"cpu": 0.5, "memory": 1.25, "gpu": 1}
    assert document["allocations"][1]["lenders"] == {"/Trading/FX": 2}
    assert document["reclaims"][0]["for"] == "r2"
    assert "resource_group" not in json.dumps(document)


def test_owning_nothing_is_not_the_same_as_not_known() -> None:
    for ownership, noun in (("ownership: []\n", ()), ("", None)):
        found = state(f"fairhold_state: 1\nnow: 2026-01-05T09:00:00Z\n{ownership}")
        assert found.ownership == noun
        assert state(json.dumps(state_document(PLAN, found))) == found


@pytest.mark.parametrize(
    ("old", "new", "code", "place", "mend"),
    [
        ("unit: {cpu: 4}, ", "", "missing-key", "requests.1", "add `unit:`"),
        ("{cpu: 4}", "{cpu: 0, gpu: 0}", "out-of-range", "requests.1.unit", "above 0 of one resource"),
        ("{cpu: 4}", "{}", "out-of-range", "requests.1.unit", "above 0 of one resource"),
        ("{cpu: 4}", "{cpu: 5, memory: -4}", "negative", "requests.1.unit.memory", "0 or more"),
        ("{cpu: 4}", "{cpu: 0.0015}", "no-multiple", "requests.1.unit.cpu", "write 0.002"),
        ("{cpu: 4}", "{gpu: 0.5}", "no-multiple", "requests.1.unit.gpu", "write 1"),
        ("{cpu: 4}", "{slots: 1}", "unknown-resource", "requests.1.unit.slots", "some of `cpu`, `memory`, `gpu`"),
        ("{cpu: 4}", "4", "wrong-type", "requests.1.unit", "`{key: value, …}`"),
        ("{cpu: 4}, ", "{cpu: 4}, resource_group: main, ", "wrong-place", "requests.1.resource_group", "leave"),
        ("min_count: 4", "min_count: 13", "gang-above-count", "requests.1.min_count", "raise `count`"),
        ("host: g1, ", "", "missing-key", "allocations.0", "add `host:`"),
        ("host: g1", "host: g9", "unknown-host", "allocations.0.host", "name a host"),
        ("pool: own", "pool: owned", "unknown-pool", "allocations.0.pool", "`own`, `/`, `/Trading`"),
        ("pool: own", "pool: /Research", "unknown-pool", "allocations.0.pool", "`own`, `/`, `/Trading`"),
        ("pool: own", "pool: 1", "not-a-string", "allocations.0.pool", "quote it"),
        ("{/Trading/FX: 2}", "{/Trading/FX: 4}", "lent-above-held", "allocations.1.lenders./Trading/FX", "lower"),
        ("{/Trading/FX: 2}", "{/Trading/FX: 0}", "out-of-range", "allocations.1.lenders./Trading/FX", "from 1"),
        ("{/Trading/FX: 2}", "{/Trading/X: 2}", "unknown-consumer", "allocations.1.lenders./Trading/X", "did you"),
        ("{/Trading/FX: 2}", "{/: 2}", "name", "allocations.1.lenders./", "leave it out"),
        ("pool: own", "pool: own, lenders: {/Research: 1}", "lent-above-held", "allocations.0.lenders", "leave"),
        (
            "units: 3, started: 2026-01-05T08:10:00Z}",
            "units: 4, started: 2026-01-05T08:10:00Z}",
            *("used-above-host",),
            "allocations.2.units",
            "lower",
        ),
        ("for: r2", "for: /Research", "unknown-request", "reclaims.0.for", "name the request"),
        ("for: r2", "for: r3", "unknown-request", "reclaims.0.for", ""),
        ("g2, units: 1", "g2, units: 4", "notice-above-held", "reclaims.0.units", "lower `units`"),
        ("request: r1, host: g2, units: 1", "consumer: /Research, units: 1", "missing-key", "reclaims.0", "`request:`"),
        ("host: g2, units: 1", "units: 1", "missing-key", "reclaims.0", "add `host:`"),
        ("host: big, ", "", "missing-key", "held.0", "add `host:`"),
        ("big, units: 2}", "big, units: 2}, {request: r2, host: big, units: 1}", "listed-twice", "held.1", "one row"),
        ("for: r2", "for: r1", "wrong-holder", "reclaims.0.for", "or `null`"),
        ("reason: limit", "reason: window", "other-policy", "reclaims.1.reason", "or write `limit`"),
        ("reason: limit", "reason: lost", "other-policy", "reclaims.1.reason", "or write `limit`"),
        ("ownership: [{host: g1", "ownership: [{host: g9", "unknown-host", "ownership.0.host", "name a host"),
        ("amounts: {cpu: 64, gpu: 8}", "amounts: {cpu: 65}", "owned-above-host", "ownership.0.amounts", "lower"),
        ("amounts: {cpu: 64, gpu: 8}", "amounts: {}", "out-of-range", "ownership.0.amounts", "leave it out"),
        ("consumer: /Trading, amounts", "consumer: /, amounts", "name", "ownership.0.consumer", "leave it out"),
        ("consumer: /Trading, amounts", "amounts", "missing-key", "ownership.0", "add `consumer:`"),
        (
            "hosts_down:",
            "demand: {/Research: {main: 3}}\nhosts_down:",
            "vectors-need-requests",
            "demand./Research.main",
            "`unit`",
        ),
        (
            "hosts_down:",
            "shortages: [{consumer: /Research, since: 2026-01-05T08:00:00Z}]\nhosts_down:",
            "vectors-need-requests",
            "shortages.0",
            "`unit`",
        ),
    ],
)
def test_a_bad_state_is_refused_with_place_and_mend(old: str, new: str, code: str, place: str, mend: str) -> None:
    text = swapped(STATE, old, new)
    with pytest.raises(InputError) as caught:
        state(text)
    fault = caught.value.faults[0]
    assert (fault.code, ".".join(map(str, fault.place))) == (code, place), told(caught.value.faults)
    assert mend in fault.mend, fault


def test_units_stand_on_hosts_of_their_own_entry() -> None:
    text = swapped(VECTORS, "resource_groups: [main, rest]", "resource_groups: [main]").replace(
        "Research: {}", "R: {}, N: {}"
    )
    text = text.replace("/Research", "/R") + "  - {resource_groups: [rest], policy: multidimensional}\n"
    two = parse_plan(text, "plan.yaml")[0]
    with pytest.raises(InputError) as caught:
        parse_state(STATE.replace("/Research", "/R"), two, "state.yaml")
    fault = caught.value.faults[0]
    assert (fault.code, fault.place, fault.line) == ("wrong-host", ("allocations", 2, "host"), 9)
    with pytest.raises(InputError) as caught:
        parse_state(STATE.replace("/Research", "/N"), two, "state.yaml")
    fault = caught.value.faults[0]
    assert (fault.code, fault.place) == ("group-without-policy", ("requests", 1, "consumer"))


def test_a_unit_that_fits_no_host_is_no_fault_of_the_state() -> None:
    assert state(swapped(STATE, "{cpu: 0.5, memory: 1.25, gpu: 1}, count: 8", "{cpu: 0.5}, count: 8")).requests
    text = STATE[: STATE.index("allocations:")].replace("{cpu: 4}", "{cpu: 4000, gpu: 900}")
    assert state(text).requests[1].unit == (4_000_000, 0, 900)


def test_what_a_change_of_plan_or_demand_leaves_behind_is_read() -> None:
    """What was held, lent or its own under the plan before is no fault of the state: a cycle puts it right."""
    for old, new in (
        ("host: big, units: 2", "host: big, units: 99"),  # `count` was lowered since
        ("hosts_down: [g4]", "hosts_down: [big]"),  # the host went down since
        ("lenders: {/Trading/FX: 2}", "lenders: {/Research: 2}"),  # who owned it owns nothing by the plan of now
        ("host: r1, units: 3", "host: r1, pool: own, units: 3"),
    ):
        found = state(swapped(STATE, old, new))
        after = run_cycle(PLAN, found).after
        assert state(json.dumps(state_document(PLAN, after))) == after


def test_slots_and_vectors_stand_side_by_side() -> None:
    text = swapped(VECTORS, "rest: {hosts: [{name: r1, cpu: 8}]}", "rest: {slots: 8}").replace("[main, rest]", "[main]")
    both = parse_plan(text + "  - {resource_groups: [rest], policy: hybrid}\n", "plan.yaml")[0]
    requests = (
        "requests: [{id: s, consumer: /Research, count: 2}, {id: v, consumer: /Research, unit: {gpu: 1}, count: 2}]"
    )
    started = "started: 2026-01-05T08:00:00Z"
    held = f"allocations: [{{request: s, units: 1, {started}}}, {{request: v, host: g1, units: 1, {started}}}]"
    found = parse_state(f"fairhold_state: 1\nnow: 2026-01-05T09:00:00Z\n{requests}\n{held}\n", both, "state.yaml")
    assert [(each.id, each.resource_group, each.unit) for each in found.requests] == [
        ("s", "rest", ()),
        ("v", "", (0, 0, 1)),
    ]
    assert [(each.host, each.pool) for each in found.allocations] == [("", ""), ("g1", "/")]
    document = state_document(both, found)
    assert document["requests"][0] == {"id": "s", "consumer": "/Research", "count": 2}
    assert parse_state(json.dumps(document), both, "state.json") == found


@pytest.mark.parametrize("unit", ["{}", "{slots: 2}"])
def test_a_unit_of_neither_kind_is_shown_both(unit: str) -> None:
    mixed = """\
fairhold: 1
resources: {cpu: {}}
resource_groups: {big: {hosts: [{name: b1, cpu: 8}]}, small: {slots: 4}}
consumers: {A: {}}
policies: [{resource_groups: [big], policy: multidimensional}, {resource_groups: [small], policy: hybrid}]
"""
    state = (
        f"fairhold_state: 1\nnow: 2026-01-05T09:00:00Z\nrequests: [{{id: a, consumer: /A, count: 1, unit: {unit}}}]\n"
    )
    with pytest.raises(InputError) as caught:
        parse_state(state, parse_plan(mixed, "plan.yaml")[0], "state.yaml")
    (fault,) = caught.value.faults
    assert (fault.code, fault.mend) == (
        "wrong-unit",
        "write `unit: {slots: 1}`, or what it needs of resources, as `{cpu: 4}`",
    )
