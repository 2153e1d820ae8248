"""Random histories of a live core under budgets and user limits: users stay within, and a start reads it all back."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING

import pytest

from fairhold.runtime.live.core import Core
from fairhold.runtime.live.recovery import frozen, take_up
from fairhold.runtime.live.views.consumers import consumers_document
from fairhold.store import open_store
from tests.live.play import PLAIN, Play, plan_text

if TYPE_CHECKING:
    from pathlib import Path

THENS = ("wait", "borrow_only", "lowest_rank")
LIMIT = 3


def plan_with(then: str, hours: int) -> str:
    budget = {"unit_hours": hours, "period": "day", "then": then}
    owned = {
        "/A": {"owned": 4, "reserved": 1, "budget": budget},
        "/A/a1": {"owned": 2},
        "/B": {"owned": 3, "user_limit": LIMIT, "budget": budget | {"unit_hours": 1, "period": "week"}},
        "/C": {"limit": 3},
    }
    return plan_text(PLAIN, owned)  # type: ignore[arg-type]  # the numbers of a plan are not all


@pytest.mark.parametrize("then", THENS)
@pytest.mark.parametrize("seed", range(4))
def test_users_stay_within_their_limit_and_a_start_reads_everything_back(tmp_path: Path, seed: int, then: str) -> None:
    """R-BUDGET-1, R-USER-1."""
    random, used_up = Random(seed), 0
    plans = [plan_with(then, 1), plan_with(then, 2)]
    play = Play(tmp_path, plans[0], most=1_000)
    for _ in range(6):
        play.wander(random, 20, plans)
        consumers = consumers_document(play.core)["resource_groups"]["compute"]["consumers"]
        for each in consumers:
            used_up += bool(each["budget"] and each["budget"]["used_up"])
        play.pass_time(3_600_000_000)
        held: dict[str, int] = {}
        for attempt in play.core.cluster.attempts.values():
            if attempt.job.consumer == "/B" and attempt.job.units == 1:
                held[attempt.job.terms.user] = held.get(attempt.job.terms.user, 0) + 1
        assert max(held.values(), default=0) <= LIMIT
    assert used_up
    was = json.loads(frozen(play.core))["cluster"]
    play.commit()
    play.store.close()
    store = open_store(tmp_path / "state", cluster="", node="n1", now=play.clock())
    core = Core(store, play.clock, cycle_min_gap=10_000)
    take_up(core)
    assert json.loads(frozen(core))["cluster"] == was
    store.close()
