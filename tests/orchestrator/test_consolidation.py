"""Units move to other hosts of a live cluster (R-CONTEST-6)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.events import GroupPaused, JobCancelled, JobSubmitted
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.planio.plan import parse_plan
from tests.orchestrator.house import SECOND, House, notices, places, starts, stops, withdrawn

if TYPE_CHECKING:
    from fairhold.orchestrator.instructions import Instruction

PLAN: dict[str, Any] = {
    "fairhold": 1,
    "resources": {"gpu": {}},
    "resource_groups": {"g": {"hosts": [{"name": "h1", "gpu": 2}, {"name": "h2", "gpu": 2}]}},
    "consumers": {"A": {"reclaim_grace": "5s"}, "B": {}},
    "policies": [
        {
            "resource_groups": ["g"],
            "policy": "fair_share",
            "settings": {"consolidation": True, "packing": "balanced"},
            "consumers": {},
        }
    ],
}


class TwoHosts(House):
    """Two hosts of two GPUs, one of each in use."""

    def __init__(self) -> None:
        super().__init__(plan=parse_plan(json.dumps(PLAN), "plan")[0], forgets=True)
        assert places(self.ask("/A", 2, 1)) == [{"h1": 1}, {"h2": 1}]

    def ask(self, consumer: str, count: int, gpus: int) -> list[Instruction]:
        self.jobs += 1
        unit = (("gpu", str(gpus)),)
        return self.take(JobSubmitted(f"j{self.jobs}", consumer, POOLED, count, unit=unit))


def test_a_task_moves_and_the_large_one_starts_where_it_stood() -> None:
    house = TwoHosts()
    out = house.ask("/B", 1, 2)
    assert notices(out) == [(1, house.now + 5 * SECOND, "consolidation")]
    held = house.live.books[POOLED].vectors
    assert held is not None
    assert held.held == {("j2", "h1"): 1, ("j1", "h2"): 1}
    thawed = thaw(freeze(house.live.cluster), open_cluster_books(house.plan, 0), forgets=True, own="")
    assert freeze(thawed) == freeze(house.live.cluster)
    assert starts(house.ask("/B", 2, 1)) == []  # the places are held
    assert stops(house.wait(5 * SECOND)) == [(1, "reclaim")]
    out = house.end(1, "reclaim")
    assert sorted(zip(starts(out), places(out), strict=True)) == [(("j1", 0, 2), {"h2": 1}), (("j2", 0, 1), {"h1": 1})]
    assert [each for step in range(3) for each in notices(house.wait((step + 1) * SECOND))] == []


def test_who_yields_at_once_goes_on_at_once() -> None:
    house = TwoHosts()
    house.ask("/B", 1, 2)
    out = house.end(1, "yielded")
    assert sorted(job for job, _, _ in starts(out)) == ["j1", "j2"]


def test_if_the_large_one_is_cancelled_all_stay() -> None:
    house = TwoHosts()
    house.ask("/B", 1, 2)
    assert withdrawn(house.take(JobCancelled("j2"))) == [1]
    held = house.live.books[POOLED].vectors
    assert held is not None
    assert held.held == {}


def test_while_nothing_is_granted_nothing_moves() -> None:
    house = TwoHosts()
    house.take(GroupPaused(POOLED, grants=True, reclaims=False))
    assert [*notices(house.ask("/B", 1, 2)), *notices(house.wait(SECOND))] == []
    assert len(notices(house.take(GroupPaused(POOLED, grants=False, reclaims=False)))) == 1
