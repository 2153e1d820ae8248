"""State files: what they mean under a plan, what is refused, and that they are written back the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.errors import Fault, InputError
from fairhold.model.state import Allocation, HeldUnits, Notice, Request, State
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, read_state, state_document
from fairhold.units import SECOND, parse_instant
from tests.planio.support import HOSTS, SMALL, cases

if TYPE_CHECKING:
    from fairhold.model.plan import Plan

PLAN = parse_plan(SMALL, "plan.yaml")[0]
HOST_PLAN = parse_plan(HOSTS, "plan.yaml")[0]
NOW = parse_instant("2026-01-05T09:00:00Z") or 0
HEAD = "fairhold_state: 1\nnow: 2026-01-05T09:00:00Z\n"
FULL = (
    HEAD
    + """\
resource_groups: {cpu: {slots: 40}}
demand: {/A: {cpu: 3}}
allocated: {/A: {cpu: 5}}
requests:
  - {id: r1, consumer: /A, resource_group: gpu, unit: {slots: 1}, count: 9,
     min_count: 2, priority: -3, submitted: 2026-01-05T08:00:00+01:00}
  - {id: r2, consumer: /B/b, resource_group: gpu, count: 1, preemptible: true}
allocations:
  - {request: r1, host: g01, units: 8, started: 2026-01-05T08:10:00Z}
  - {request: r1, host: g02, units: 2, started: 2026-01-05T08:10:00.5Z}
reclaims:
  - {request: r1, host: g01, units: 3, for: r2, deadline: 2026-01-05T09:00:20Z}
  - {consumer: /A, resource_group: cpu, units: 5, for: /C, deadline: 2026-01-05T09:00:20Z, reason: limit}
held: [{request: r2, host: g03, units: 1}]
hosts_down: [g04]
hosts_never_seen: [g03]
hosts_closed: [g02]
previous_cycle: 2026-01-05T08:59:59Z
"""
)


def faults_of(text: str, plan: Plan) -> tuple[Fault, ...]:
    with pytest.raises(InputError) as caught:
        parse_state(text, plan, "state.yaml")
    return caught.value.faults


def test_a_state_is_read_whole() -> None:
    state = parse_state(FULL, HOST_PLAN, "f")
    a, b, c = (HOST_PLAN.tree.rows[path] for path in ("/A", "/B/b", "/C"))
    started = NOW - 50 * 60 * SECOND
    assert state == State(
        now=NOW,
        slots={"cpu": 40},
        hosts_down=frozenset({"g03", "g04"}),
        hosts_never_seen=frozenset({"g03"}),
        hosts_closed=frozenset({"g02"}),
        demand={(a, "cpu"): 3},
        allocated={(a, "cpu"): 5},
        requests=(Request("r1", a, "gpu", 9, 2, -3, NOW - 2 * 3600 * SECOND), Request("r2", b, "gpu", 1)),
        allocations=(Allocation("r1", "g01", 8, started), Allocation("r1", "g02", 2, started + SECOND // 2)),
        notices=(
            Notice(a, "gpu", 3, b, NOW + 20 * SECOND, "quota", "r1", "g01"),
            Notice(a, "cpu", 5, c, NOW + 20 * SECOND, "limit"),
        ),
        held=(HeldUnits("r2", "g03", 1),),
        previous_cycle=NOW - SECOND,
    )


def test_hosts_are_named_with_ranges_as_in_plans() -> None:
    text = FULL.replace("[g04]", '["g[04]"]').replace("seen: [g03]", "seen: []").replace("[g02]", '["g[01-02,03]"]')
    state = parse_state(text, HOST_PLAN, "f")
    assert (sorted(state.hosts_down), sorted(state.hosts_closed)) == (["g04"], ["g01", "g02", "g03"])
    (fault,) = faults_of(FULL.replace("[g04]", '["g[04-99]"]'), HOST_PLAN)  # of a range the first unknown one alone
    assert fault.what == "there is no host `g05`"


def test_a_state_is_written_back_the_same() -> None:
    state = parse_state(FULL, HOST_PLAN, "f")
    document = state_document(HOST_PLAN, state)
    assert parse_state(json.dumps(document), HOST_PLAN, "f") == state
    assert document["now"] == "2026-01-05T09:00:00Z"
    assert document["reclaims"][0]["for"] == "/B/b"
    assert list(document) == [line.split(":")[0] for line in FULL.splitlines() if line[0] != " "]


def test_the_states_of_all_cases_are_read_and_written_back() -> None:
    for case in [*cases("hybrid"), *cases("share_ratio"), *cases("cycles")]:
        plan, _ = parse_plan(json.dumps(case["plan"]), case["id"])
        state = parse_state(json.dumps(case["state"]), plan, case["id"])
        assert parse_state(json.dumps(state_document(plan, state)), plan, case["id"]) == state
        assert {plan.tree.paths[row]: units for (row, _), units in state.demand.items()} == {
            path: units["compute"] for path, units in case["state"].get("demand", {}).items()
        }


@pytest.mark.parametrize(
    ("rest", "code"),
    [
        ("demand: {/Trading: {compute: 1}}", "not-a-leaf"),
        ("demand: {/: {compute: 1}}", "not-a-leaf"),
        ("allocated: {/Trading: {compute: 1}}", "not-a-leaf"),
        ("demand: {/Trading/Rsk: {compute: 1}}", "unknown-consumer"),
        ("demand: {/Research: {comput: 1}}", "unknown-resource-group"),
        ("demand: {/Research: {compute: -1}}", "negative"),
        ("demand: {/Research: {compute: 1.5}}", "not-whole"),
        ("demand: {/Research: {compute: 1000000000001}}", "out-of-range"),
        ("demand: {/Research: 5}", "wrong-type"),
        ("resource_groups: {compute: {slots: -1}}", "negative"),
        ("resource_groups: {comput: {slots: 1}}", "unknown-resource-group"),
        ("resource_groups: {compute: {capacity: {}, slots: 1}}", "slots-and-vectors"),
        ("resource_groups: {compute: {}}", "missing-key"),
        ("borrowed: [{borrower: /Trading/FX, lender: /Research, units: 1}]", "other-policy"),
        ("borrowed: [{borrower: /Research, lender: /Research, units: 1}]", "lends-to-itself"),
        ("borrowed: [{borrower: /Trading, lender: /Research, units: 1}]", "not-a-leaf"),
        ("borrowed: [{borrower: /Trading/FX, units: 1}]", "missing-key"),
        ("ownership: {}", "wrong-type"),
        ("demnd: {}", "unknown-key"),
        ("previous_cycle: 2026-01-05T09:00:01Z", "later-than-now"),
        ("previous_cycle: yesterday", "instant"),
        ("hosts_down: [h]", "unknown-host"),
        ("requests: [{id: a, consumer: /Trading, count: 1}]", "not-a-leaf"),
        ("requests: [{id: a, count: 1}]", "missing-key"),
        ("requests: [{id: 7, consumer: /Research, count: 1}]", "not-a-string"),
        ("requests: [{id: /a, consumer: /Research, count: 1}]", "name"),
        (
            "requests: [{id: a, consumer: /Research, count: 1}, {id: a, consumer: /Research, count: 1}]",
            "duplicate-request",
        ),
        ("requests: [{id: a, consumer: /Research, count: 1, min_count: 2}]", "gang-above-count"),
        ("requests: [{id: a, consumer: /Research, count: 1, unit: {gpu: 1, slots: 1}}]", "wrong-unit"),
        ("requests: [{id: a, consumer: /Research, count: 1, unit: {slots: 2}}]", "wrong-unit"),
        ("requests: [{id: a, consumer: /Research, count: 1, preemptible: false}]", "out-of-range"),
        ("requests: [{id: a, consumer: /Research, count: 1, submitted: 2026-01-05}]", "instant"),
        ("allocations: [{request: a, units: 1, started: 2026-01-05T08:00:00Z}]", "unknown-request"),
        ("reclaims: [{consumer: /Research, units: 1, deadline: 2026-01-05T09:00:01Z}]", "notice-above-held"),
        ("reclaims: [{units: 1, deadline: 2026-01-05T09:00:01Z}]", "missing-key"),
        ("reclaims: [{consumer: /Research, units: 0, deadline: 2026-01-05T09:00:01Z}]", "out-of-range"),
        ("held: [{request: a, units: 1}]", "unknown-request"),
        ("spent: {/: 5}", "name"),
        ("requests: [{id: a, consumer: /Research, count: 1, submitted: 2026-01-05T09:00:00.1Z}]", "later-than-now"),
        ("requests: [{id: a, consumer: /Research, count: 1, waiting_since: 2026-01-05T10:00:00Z}]", "later-than-now"),
    ],
)
def test_a_bad_state_is_refused_with_its_line(rest: str, code: str) -> None:
    fault = faults_of(f"{HEAD}{rest}\n", PLAN)[0]
    assert (fault.code, fault.line, fault.file) == (code, 3, "state.yaml")


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("fairhold_state: 1", "fairhold_state: 2", "version", 1),
        ("now: 2026-01-05T09:00:00Z", "now: 2026-01-05T09:00:00", "instant", 2),
        ("now: 2026-01-05T09:00:00Z", "now: 0001-01-01T00:00:00+14:00", "instant", 2),
        ("now: 2026-01-05T09:00:00Z\n", "", "missing-key", 1),
        ("{cpu: {slots: 40}}", "{gpu: {slots: 40}}", "slots-and-hosts", 3),
        ("demand: {/A: {cpu: 3}}", "demand: {/A: {gpu: 3}}", "counts-and-requests", 4),
        ("resource_group: gpu, count: 1", "count: 1", "missing-key", 9),
        ("host: g01, units: 8", "units: 8", "missing-key", 11),
        ("host: g01, units: 8", "host: g1, units: 8", "unknown-host", 11),
        ("host: g01, units: 8", "host: g01, units: 0", "out-of-range", 11),
        ("host: g01, units: 8", "host: g01, units: 8, pool: /", "other-policy", 11),
        (", started: 2026-01-05T08:10:00Z", "", "missing-key", 11),
        ("host: g01, units: 3", "host: g01, units: 9", "notice-above-held", 14),
        ("host: g01, units: 3", "host: g03, units: 1", "notice-above-held", 14),
        (
            "request: r1, host: g01, units: 3",
            "consumer: /A, resource_group: gpu, units: 3",
            "notice-without-request",
            14,
        ),
        ("request: r1, host: g01, units: 3", "request: r1, consumer: /C, host: g01, units: 3", "wrong-holder", 14),
        (
            "request: r1, host: g01, units: 3",
            "request: r1, resource_group: cpu, host: g01, units: 3",
            "wrong-holder",
            14,
        ),
        ("for: r2", "for: r3", "unknown-request", 14),
        ("for: r2", "for: /B", "not-a-leaf", 14),
        ("units: 5, for: /C", "units: 6, for: /C", "notice-above-held", 15),
        ("2026-01-05T08:10:00.5Z", "2026-01-05T09:00:00.000001Z", "later-than-now", 12),
        ("units: 5, for: /C", "units: 5, host: g01, for: /C", "wrong-host", 15),
        ("reason: limit", "reason: limits", "unknown-word", 15),
        ("host: g03", "host: g09", "unknown-host", 16),
        ("[g04]", "[g04, g04]", "duplicate-host", 17),
        ("[g04]", "[4]", "not-a-string", 17),
        ("[g04]", '["g[04-99]"]', "unknown-host", 17),
        ("[g04]", '["g[04]", g04]', "duplicate-host", 17),
        ("[g04]", '["g[04"]', "host-range", 17),
        ("[g04]", '["g[05-04]"]', "host-range", 17),
        ("seen: [g03]", 'seen: ["g[1-9999999]"]', "host-range", 18),
        ("seen: [g03]", 'seen: ["g[03-04]"]', "duplicate-host", 18),
        ("[g02]", '["g[02-03]"]', "duplicate-host", 19),
        ("seen: [g03]", "seen: [g03, g03]", "duplicate-host", 18),
        ("seen: [g03]", "seen: [g04]", "duplicate-host", 18),
        ("seen: [g03]", "seen: [g09]", "unknown-host", 18),
        ("[g02]", "[g02, g02]", "duplicate-host", 19),
        ("[g02]", "[g03]", "duplicate-host", 19),
        ("[g02]", "[g01, g04]", "duplicate-host", 19),
        ("[g02]", "g02", "wrong-type", 19),
        ("[g02]", "[g09]", "unknown-host", 19),
    ],
)
def test_a_bad_full_state_is_refused_with_its_line(old: str, new: str, code: str, line: int) -> None:
    assert FULL.count(old) == 1
    fault = faults_of(FULL.replace(old, new), HOST_PLAN)[0]
    assert (fault.code, fault.line) == (code, line)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("host: g01, units: 3", "host: g01, units: 9", "`r1` holds 8 units that are not under notice yet on `g01`"),
        ("host: g01, units: 3", "host: g03, units: 1", "`r1` holds 0 units that are not under notice yet on `g03`"),
        ("units: 5, for: /C", "units: 6, for: /C", "`/A` holds 5 units that are not under notice yet"),
    ],
)
def test_a_notice_for_too_many_is_told_how_many_there_are(old: str, new: str, what: str) -> None:
    (fault,) = faults_of(FULL.replace(old, new), HOST_PLAN)
    assert fault.what == f"{what}, and this notice is for {new.split('units: ')[1][0]}"


def test_a_reason_that_is_none_is_said_with_its_key() -> None:
    (fault,) = faults_of(FULL.replace("reason: limit", "reason: bored"), HOST_PLAN)
    assert fault.what == "`bored` is not a value of `reason`"
    assert fault.mend == "write one of `quota`, `limit`, `window`, `lost`, `consolidation`"


def test_two_notices_are_counted_together() -> None:
    notice = "{consumer: /Research, units: 2, deadline: 2026-01-05T09:00:01Z}"
    text = f"{HEAD}allocated: {{/Research: {{compute: 3}}}}\nreclaims:\n- {notice}\n- {notice}\n"
    (fault,) = faults_of(text, PLAN)
    assert (fault.code, fault.line) == ("notice-above-held", 6)
    assert fault.what == "`/Research` holds 1 unit that is not under notice yet, and this notice is for 2"
    parse_state(text.replace("compute: 3", "compute: 4"), PLAN, "f")


def test_an_idle_group_of_no_entry_has_no_demand() -> None:
    plan, _ = parse_plan(SMALL.replace("{slots: 100}", "{slots: 100}\n  idle: {slots: 5}"), "f")
    (fault,) = faults_of(f"{HEAD}demand: {{/Research: {{idle: 1}}}}\n", plan)
    assert fault.code == "group-without-policy"


def test_a_host_belongs_to_the_group_of_the_request() -> None:
    plan, _ = parse_plan(HOSTS.replace("cpu: {slots: 50}", "cpu: {hosts: [{name: c, slots: 50}]}"), "f")
    text = FULL.replace("{cpu: {slots: 40}}", "{}").replace("host: g02", "host: c")
    (fault,) = faults_of(text, plan)
    assert (fault.code, fault.line) == ("wrong-host", 12)


@pytest.mark.parametrize("victims", ["oldest", "lowest_priority"])
def test_an_order_of_victims_needs_requests(victims: str) -> None:
    plan, _ = parse_plan(SMALL.replace("policy: hybrid", f"policy: hybrid\n    settings: {{victims: {victims}}}"), "f")
    (fault,) = faults_of(f"{HEAD}demand: {{/Research: {{compute: 1}}}}\n", plan)
    assert (fault.code, fault.line) == ("victims-need-requests", 3)
    parse_state(f"{HEAD}requests: [{{id: a, consumer: /Research, count: 1}}]\n", plan, "f")
    parse_state(HEAD, plan, "f")


def test_more_units_than_wanted_may_be_held() -> None:
    text = f"{HEAD}requests: [{{id: a, consumer: /Research, count: 1}}]\n"
    text += "allocations: [{request: a, units: 3, started: 2026-01-05T08:00:00Z}]\n"
    assert parse_state(text, PLAN, "f").allocations[0].units == 3


def test_a_notice_may_be_for_nobody() -> None:
    text = f"{HEAD}allocated: {{/Research: {{compute: 3}}}}\nreclaims:\n"
    text += "- {consumer: /Research, units: 1, for: null, deadline: 2026-01-05T09:00:01Z}\n"
    state = parse_state(text, PLAN, "f")
    assert state.notices[0].taker == -1
    assert "for" not in state_document(PLAN, state)["reclaims"][0]


def test_a_state_is_read_from_a_file(tmp_path: Any) -> None:
    path = tmp_path / "state.yaml"
    path.write_text(FULL)
    assert read_state(path, HOST_PLAN) == parse_state(FULL, HOST_PLAN, "x")


LEAVES = [row for row in range(len(PLAN.tree)) if PLAN.tree.is_leaf(row)]


@given(
    demand=st.dictionaries(st.sampled_from(LEAVES), st.integers(0, 10**12)),
    allocated=st.dictionaries(st.sampled_from(LEAVES), st.integers(1, 10**12)),
    now=st.integers(0, 10**17),
    slots=st.none() | st.integers(0, 10**12),
    reason=st.sampled_from(["quota", "limit", "window", "lost"]),
)
def test_any_state_of_counts_survives_the_way_out_and_in(
    demand: dict[int, int],
    allocated: dict[int, int],
    now: int,
    slots: int | None,
    reason: str,
) -> None:
    state = State(
        now=now,
        slots={} if slots is None else {"compute": slots},
        demand={(row, "compute"): units for row, units in demand.items()},
        allocated={(row, "compute"): units for row, units in allocated.items()},
        notices=tuple(Notice(row, "compute", 1, -1, now + row, reason) for row in allocated),
        previous_cycle=now // 2,
    )
    assert parse_state(json.dumps(state_document(PLAN, state)), PLAN, "f") == state
