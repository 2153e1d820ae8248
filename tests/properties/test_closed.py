"""Hosts that start nothing, of any policy of slots, with gangs, labels, packings and controls (SPEC §11)."""

from __future__ import annotations

import json
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.explain import explain
from fairhold.cycle.open import open_books
from fairhold.cycle.run import run
from fairhold.planio.statewrite import state_document
from tests.examples import FEWER
from tests.gangs.crossed import crossed
from tests.gangs.test_verified_on_hosts import LATER, verified
from tests.properties.strategies import Case
from tests.restraint.strategies import restrained

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn


def stands_on_hosts(case: Case) -> bool:
    return "hosts" in case.plan_document["resource_groups"]["g"] and "requests" in case.state_document


@st.composite
def closed(draw: DrawFn) -> Case:
    """A case of requests on hosts, of which some are closed and others may be down."""
    case = draw(st.one_of(crossed(), restrained()).filter(stands_on_hosts))
    state = deepcopy(case.state_document)
    names = [host["name"] for host in case.plan_document["resource_groups"]["g"]["hosts"]]
    able = [name for name in names if name not in state.get("hosts_down", [])]
    if able:
        state["hosts_closed"] = draw(st.lists(st.sampled_from(able), min_size=1, max_size=3, unique=True))
    return Case(case.plan_document, state)


@FEWER
@given(closed())
def test_every_cycle_with_closed_hosts_is_verified(case: Case) -> None:
    cycle = verified(case)
    shut = set(case.state_document.get("hosts_closed", ()))
    assert not [row for row in cycle.document["grants"] if row.get("host") in shut]
    after = json.loads(json.dumps(state_document(case.plan, cycle.after)))
    assert set(after.get("hosts_closed", ())) == shut
    later = state_document(case.plan, replace(cycle.after, now=cycle.after.now + LATER))
    verified(Case(case.plan_document, json.loads(json.dumps(later))))


def cluster(*closed: str, **settings: Any) -> Case:
    """A holds eight of twelve slots on two of three hosts, B waits for six; each owns six."""
    plan = {
        "fairhold": 1,
        "resource_groups": {"g": {"hosts": [{"name": "h[1-3]", "slots": 4}]}},
        "consumers": {"A": {}, "B": {}},
        "policies": [
            {
                "resource_groups": ["g"],
                "policy": "hybrid",
                "consumers": {"/A": {"owned": 6, **settings}, "/B": {"owned": 6}},
            }
        ],
    }
    state = {
        "fairhold_state": 1,
        "now": "2026-01-05T09:00:00Z",
        "requests": [{"id": "a", "consumer": "/A", "count": 12}, {"id": "b", "consumer": "/B", "count": 6}],
        "allocations": [
            {"request": "a", "host": host, "units": 4, "started": "2026-01-05T08:00:00Z"} for host in ("h1", "h2")
        ],
        "hosts_closed": closed,
    }
    return Case(plan, state)


def moves(case: Case, kind: str) -> dict[str, int]:
    """Host → units."""
    found: Counter[str] = Counter()
    for row in verified(case).document[kind]:
        found[row["host"]] += row["units"]
    return dict(found)


def test_r_reclaim_1_what_stands_on_a_closed_host_is_not_taken_for_others() -> None:
    assert moves(cluster("h2", "h3"), "reclaims") == {"h1": 4}
    assert moves(cluster("h1", "h3"), "reclaims") == {"h2": 4}
    assert moves(cluster("h1", "h2", "h3"), "reclaims") == {}


def test_r_live_2_idle_slots_of_a_closed_host_are_nobodys() -> None:
    assert moves(cluster("h3"), "grants") == {}
    assert moves(cluster("h1"), "grants") == {"h3": 4}


def test_a_limit_is_kept_on_closed_hosts_too() -> None:
    assert moves(cluster("h1", limit=6), "reclaims") == {"h2": 2}
    assert moves(cluster("h1", "h2", limit=6), "reclaims") == {"h2": 2}


def test_what_would_help_is_a_host_opened_or_more_slots_of_an_open_one() -> None:
    case = cluster("h1", "h3")
    found = explain(case.plan, run(open_books(case.plan, case.state)["g"], case.state.now), "/B").what_if
    assert found is not None
    told = [[(change.what, change.host) for change in each.changes] for each in found.helps]
    assert told == [[("hosts_closed", "h3")], [("slots", "h2")]]
