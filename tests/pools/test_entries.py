"""Several entries of `own` of one consumer for one group: what each has stays its own (R-ADJUST-1 to R-ADJUST-3)."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.errors import InputError
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from tests.examples import FEWER
from tests.pools.small import NOW, inputs, of, on
from tests.pools.strategies import made_right
from tests.pools.test_oracle_adjusting import changed, owning, planned, wanted
from tests.pools.truths import second_cycle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.document import Cycle
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Json = dict[str, Any]
HOSTS = {"h0": 4, "h1": 4, "h2": 4}
MIXED = [
    {"resource_group": "all", "total": {"cpu": 6}},
    {"resource_group": "all", "hosts": 1, "preference": 1},
]


def of_all(*entries: Json) -> Json:
    return {"own": [{"resource_group": "all", **entry} for entry in entries]}


def of_entries(cycle: Cycle) -> list[tuple[int, str, int]]:
    """(Entry, host, CPUs) after a cycle."""
    return [(each.entry, each.host, each.amounts[0] // 1000) for each in cycle.after.own_entries]


def stories(seed: int) -> Iterator[tuple[Plan, State, Cycle]]:
    """Some cycles of consumers that own in several ways at once, while plans, hosts and demands change."""
    rng = Random(seed)
    hosts = [
        {"name": f"h{at}", "cpu": rng.choice((4, 4, 6)), "gpu": rng.choice((2, 2, 3))}
        for at in range(rng.randint(2, 5))
    ]
    document, names = planned(rng, hosts), [str(host["name"]) for host in hosts]
    document["policies"][0].pop("settings", None)
    for word in document["policies"][0]["consumers"].values():
        if "own" in word and rng.randrange(2):
            word["own"] = [owning(rng, names) for _ in range(3)]
        for entry in word.get("own", ()):
            entry.update({"reserved": True} if rng.randrange(4) == 0 else {})
    document = made_right(document)
    state: Json = {"fairhold_state": 1, "now": NOW, "requests": wanted(rng, document), "allocations": []}
    for _ in range(3):
        plan = parse_plan(json.dumps(document), "plan.json")[0]
        try:
            parsed = parse_state(json.dumps(state), plan, "state.json")
        except InputError:
            return
        cycle = run_cycle(plan, parsed)
        yield plan, parsed, cycle
        told = state_document(plan, cycle.after)
        document = changed(rng, document) if rng.randrange(2) else document
        told["hosts_down"] = [name for name in names if rng.randrange(5) == 0]
        told["allocations"] = [row for row in told.get("allocations", []) if rng.randrange(2)]
        state = {key: each for key, each in told.items() if key not in {"reclaims", "held"}}


@FEWER
@given(st.integers(0, 10**9))
def test_r_adjust_1_a_second_run_leaves_every_host_with_its_entry_s2_19(seed: int) -> None:
    for plan, _, cycle in stories(seed):
        assert list(second_cycle(plan, cycle)) == []
        again = run_cycle(plan, parse_state(json.dumps(state_document(plan, cycle.after)), plan, "state.json"))
        assert again.after.own_entries == cycle.after.own_entries


@FEWER
@given(st.integers(0, 10**9))
def test_r_adjust_1_the_independent_check_finds_the_same_entries(seed: int) -> None:
    for plan, state, cycle in stories(seed):
        result = json.loads(json.dumps(cycle.document | {"state": state_document(plan, cycle.after)}))
        assert list(map(str, verify(plan, state, result))) == []
        row = next(iter(result["state"].get("own_entries", ())), None)
        if row:
            row["entry"] += 9
            assert [finding.rule for finding in verify(plan, state, result)][:1] == ["R-ADJUST-1"]


def test_r_adjust_1_what_an_entry_has_stays_with_it() -> None:
    plan, state = inputs({"/A": {"own": MIXED}}, [of("/A", 1)], hosts=HOSTS)
    cycle = run_cycle(plan, state)
    assert of_entries(cycle) == [(0, "h0", 4), (0, "h1", 2), (1, "h2", 4)]
    said = [{"host": "h0", "consumer": "/A", "entry": 1, "amounts": {"cpu": 4}}]
    parcels = [("h0", "/A", 4)]
    held = [on("h0", "A", 1, "own")]
    other = inputs({"/A": {"own": MIXED}}, [of("/A", 1)], held, hosts=HOSTS, own_entries=said, ownership=parcels)
    assert of_entries(run_cycle(*other)) == [(1, "h0", 4), (0, "h1", 4), (0, "h2", 2)]


def test_r_adjust_1_an_entry_that_names_a_host_by_now_has_it() -> None:
    entries = of_all({"hosts": 1}, {"hosts": ["h0"]})
    said = [{"host": "h0", "consumer": "/A", "entry": 0, "amounts": {"cpu": 4}}]
    cycle = run_cycle(
        *inputs({"/A": entries}, [of("/A", 1)], hosts=HOSTS, own_entries=said, ownership=[("h0", "/A", 4)])
    )
    assert of_entries(cycle) == [(1, "h0", 4), (0, "h1", 4)]


def test_r_adjust_1_what_is_said_of_entries_that_are_gone_is_worked_out() -> None:
    said = [{"host": "h1", "consumer": "/A", "entry": 7, "amounts": {"cpu": 4}}]
    parcels = [("h1", "/A", 4)]
    held = [on("h1", "A", 1, "own")]
    cycle = run_cycle(
        *inputs({"/A": {"own": MIXED}}, [of("/A", 1)], held, hosts=HOSTS, own_entries=said, ownership=parcels)
    )
    assert (1, "h1", 4) in of_entries(cycle)


@pytest.mark.parametrize(
    ("others", "is_said", "host"), [({}, False, "h0"), ({}, True, "h0"), ({"hosts": 3}, False, "h2")]
)
def test_r_adjust_3_a_reserved_entry_changes_hosts_with_others_units(others: Json, host: str, *, is_said: bool) -> None:
    """Only where everybody has what the plan says: who is short takes of one entry what it could not of another."""
    consumers: Json = {"/A": of_all({"hosts": 1, "reserved": True}, {"hosts": "remaining"}), "/B": {}}
    consumers |= {"/C": of_all(others) | {"rank": 9}} if others else {}
    said = [{"host": "h2", "consumer": "/A", "entry": 0, "amounts": {"cpu": 4}}] if is_said else []
    plan, state = inputs(
        consumers, [of("/B", 2)], [on("h2", "B", 2, A=2)], hosts=HOSTS, own_entries=said, ownership=[("h2", "/A", 4)]
    )
    assert [name for entry, name, _ in of_entries(run_cycle(plan, state)) if entry == 0] == [host]


def test_r_adjust_3_entries_written_in_another_order_stop_nobody_s2_17() -> None:
    """C borrows h1, of the entry that lends; h0, of the reserved one, is idle: so it is with either order."""
    entries: list[Json] = [{"hosts": 1, "reserved": True, "preference": 1}, {"hosts": 1, "preference": 9}]
    said = [{"host": f"h{at}", "consumer": "/A", "entry": at, "amounts": {"cpu": 4}} for at in range(2)]
    for turned, reserved in ((entries, 0), (entries[::-1], 1), ([{"hosts": 1}, entries[1], entries[0]], 2)):
        plan, state = inputs(
            {"/A": of_all(*turned), "/C": {}},
            [of("/C", 8)],
            [on("h1", "C", 4, A=4), on("h2", "C", 4)],
            hosts=HOSTS | {"h3": 4},
            own_entries=said,
            ownership=[("h0", "/A", 4), ("h1", "/A", 4)],
        )
        cycle = run_cycle(plan, state)
        assert (cycle.document["reclaims"], list(second_cycle(plan, cycle))) == ([], [])
        assert "h1" not in [host for entry, host, _ in of_entries(cycle) if entry == reserved]
    both = [{**each, "reserved": True, "lend_grace": "7s"} for each in entries]
    plan, state = inputs(
        {"/A": of_all(*both), "/C": {}},
        [of("/C", 4)],
        [on("h1", "C", 4, A=4)],
        own_entries=said,
        ownership=[("h0", "/A", 4), ("h1", "/A", 4)],
    )
    rows = run_cycle(plan, state).document["reclaims"]
    assert [(row["host"], row["units"], row["for"]) for row in rows] == [("h1", 4, None)]


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ({"host": "h0", "consumer": "/A", "amounts": {"cpu": 1}}, "missing-key"),
        ({"host": "h0", "consumer": "/A", "entry": -1, "amounts": {"cpu": 1}}, "negative"),
        ({"host": "h9", "consumer": "/A", "entry": 0, "amounts": {"cpu": 1}}, "unknown-host"),
        ({"host": "h0", "consumer": "/Z", "entry": 0, "amounts": {"cpu": 1}}, "unknown-consumer"),
        ({"host": "h0", "consumer": "/A", "entry": 0, "amounts": {}}, "out-of-range"),
        ({"host": "h0", "consumer": "/A", "entry": 0, "amounts": {"cpu": 1}, "of": 1}, "unknown-key"),
    ],
)
def test_what_entries_have_is_told_where_it_is_at_fault(row: Json, code: str) -> None:
    with pytest.raises(InputError) as told:
        inputs({"/A": {"own": MIXED}}, [of("/A", 1)], hosts=HOSTS, own_entries=[row])
    assert [fault.code for fault in told.value.faults] == [code]


def test_an_entry_stands_once_with_a_host() -> None:
    row = {"host": "h0", "consumer": "/A", "entry": 0, "amounts": {"cpu": 1}}
    with pytest.raises(InputError) as told:
        inputs({"/A": {"own": MIXED}}, [of("/A", 1)], hosts=HOSTS, own_entries=[row, row])
    assert [fault.code for fault in told.value.faults] == ["listed-twice"]
