"""What is withdrawn and given anew in a cycle of queues, and what holds where the bound on rounds ends it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import fairhold.cycle.verify.queued.cycle as verified
from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.state import parse_state, state_document
from fairhold.rules.pools.sweeps import MOST_ROUNDS
from fairhold.units import SECOND
from tests.pools.truths import second_cycle
from tests.queues.small import Cluster

if TYPE_CHECKING:
    import pytest


def moving() -> Cluster:
    """A unit of V goes for x by :10, which finds room on h1 by now; y wants both places of V on h0."""
    queues = {
        "/A": {"deserved": {"gpu": 1}},
        "/B": {"deserved": {"gpu": 2}},
        "/V": {"reclaim_grace": "30s"},
    }
    cluster = Cluster([2, 1], queues).ask("v", "/V", 2, on={"h0": 2}).ask("x", "/A").ask("y", "/B", gpu=2)
    notice = {"request": "v", "host": "h0", "units": 1, "for": "x", "deadline": "2026-01-05T09:00:10Z"}
    cluster.document |= {"reclaims": [notice], "held": [{"request": "x", "host": "h0", "units": 1}]}
    return cluster


def test_r_notice_2_what_is_withdrawn_and_given_anew_keeps_its_deadline() -> None:
    cluster = moving()
    document = cluster.cycle().document
    assert [(row["request"], row["host"]) for row in document["grants"]] == [("x", "h1")]
    told = sorted((row["units"], row["for"], row["deadline"]) for row in document["reclaims"])
    assert told == [(1, "y", "2026-01-05T09:00:10Z"), (1, "y", "2026-01-05T09:00:30Z")]


def test_r_sweep_2_where_the_bound_ends_a_cycle_of_queues_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once is too few here: the fourth place goes to v, and then to t, which needs two (R-SWEEP-3)."""
    queues = {"/T": {"deserved": {"gpu": 2}}, "/V": {"reclaim_grace": "30s"}}
    for most, is_over in ((1, True), (MOST_ROUNDS, False)):
        monkeypatch.setattr("fairhold.rules.queues.round.MOST_ROUNDS", most)
        monkeypatch.setattr(verified, "MOST_ROUNDS", most)
        cluster = Cluster([4], queues).ask("v", "/V", 4, on={"h0": 3}).ask("t", "/T", gpu=2)
        state = parse_state(json.dumps(cluster.document), cluster.plan, "state.json")
        cycle = run_cycle(cluster.plan, state, check=True)
        assert cycle.untrue == ()
        told = [row["code"] for row in cycle.document["warnings"]]
        assert (told == ["unsettled"]) is is_over
        ((_, entry),) = cycle.pooled
        assert (entry.due == state.now + SECOND) is is_over
        result = json.loads(json.dumps(cycle.document | {"state": state_document(cluster.plan, cycle.after)}))
        assert verify(cluster.plan, state, result) == ()
        if not is_over:
            assert list(second_cycle(cluster.plan, cycle)) == []
