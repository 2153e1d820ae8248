"""How often ownership is adjusted: `rebalance_interval` (R-ADJUST-5)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.errors import InputError
from fairhold.planio.state import parse_state, state_document
from tests.pools.small import NOW, inputs, of, on, own

if TYPE_CHECKING:
    from fairhold.model.plan import Plan

Json = dict[str, Any]
HOSTS = {f"h{at}": 4 for at in range(3)}
OWNERS = {"/A": own(hosts=1), "/B": {}}
LATER = "2026-01-05T09:05:00Z"
DUE = "2026-01-05T09:10:00Z"


def planned(consumers: Json = OWNERS, interval: object = "10m") -> tuple[Plan, Json]:
    """A plan, and the state after its first cycle, in which A has got h0 and nobody runs anything."""
    plan, state = inputs(consumers, [of("/B", 1)], hosts=HOSTS, settings={"rebalance_interval": interval})
    return plan, state_document(plan, run_cycle(plan, state).after)


def again(plan: Plan, state: Json, **more: Any) -> Json:
    """A cycle of the plan on a state with other sections; what it decides holds."""
    parsed = parse_state(json.dumps(state | more), plan, "state.json")
    cycle = run_cycle(plan, parsed)
    result: Json = json.loads(json.dumps(cycle.document | {"state": state_document(plan, cycle.after)}))
    assert not verify(plan, parsed, result)
    second = run_cycle(plan, cycle.after)
    assert second.document["ownership"] == cycle.document["ownership"]
    assert second.after.adjusted == cycle.after.adjusted
    return result


def owned(result: Json) -> list[tuple[str, str]]:
    return [(row["consumer"], row["host"]) for row in result["ownership"]]


def test_r_adjust_5_in_between_everybody_owns_what_it_did_s2_16_s2_25() -> None:
    plan, state = planned({"/A": own(hosts=1), "/B": own(hosts=1) | {"rank": 1}})
    assert state["adjusted"]["all"]["at"] == NOW
    swapped = [{"host": host, "consumer": path, "amounts": {"cpu": 4}} for host, path in (("h2", "/A"), ("h1", "/B"))]
    busy = {"requests": [of("/B", 4)], "allocations": [on("h1", "B", 4, "own")], "reclaims": [], "held": []}
    both = [*swapped, {"host": "h0", "consumer": "/B", "amounts": {"cpu": 4}}]  # one more than B is to own
    result = again(plan, state, now=LATER, ownership=both, **busy)
    assert owned(result) == [("/A", "h2"), ("/B", "h0"), ("/B", "h1")]
    assert result["state"]["adjusted"] == state["adjusted"]
    due = again(plan, state, now=DUE, ownership=both, **busy)
    assert owned(due) == [("/A", "h2"), ("/B", "h1")]
    assert due["state"]["adjusted"]["all"]["at"] == DUE


def test_r_adjust_5_a_change_of_hosts_or_plan_is_followed_at_once() -> None:
    plan, state = planned()
    down = again(plan, state, now=LATER, hosts_down=["h0"], requests=[], allocations=[], held=[])
    assert owned(down) == [("/A", "h1")]
    assert down["state"]["adjusted"]["all"]["at"] == LATER
    other, _ = planned({"/A": own(hosts=2), "/B": {}})
    assert len(owned(again(other, state, now=LATER))) == 2
    unknown = {key: each for key, each in state.items() if key != "adjusted"}
    assert again(plan, unknown, now=LATER)["state"]["adjusted"]["all"]["at"] == LATER
    assert again(plan, state, now=LATER)["state"]["adjusted"] == state["adjusted"]


@pytest.mark.parametrize("interval", ["none", 0, None])
def test_r_adjust_5_without_an_interval_in_each_cycle(interval: object) -> None:
    assert "adjusted" not in planned(interval=interval)[1]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"all": {"at": NOW}}, "missing-key"),
        ({"none": {"at": NOW, "of": "x"}}, "unknown-resource-group"),
        ({"all": {"at": DUE, "of": "x"}}, "later-than-now"),
        ({"all": {"at": NOW, "of": 3}}, "not-a-string"),
        ({"all": {"at": NOW, "of": "x", "by": "y"}}, "unknown-key"),
    ],
)
def test_an_adjustment_at_fault_is_told(said: Json, code: str) -> None:
    plan, state = planned()
    with pytest.raises(InputError) as told:
        parse_state(json.dumps(state | {"adjusted": said}), plan, "state.json")
    assert [fault.code for fault in told.value.faults] == [code]
