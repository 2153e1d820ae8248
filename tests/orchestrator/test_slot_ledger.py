"""Any events in any order: cycles on marks decide what whole ones do."""

from __future__ import annotations

import json
import os
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.open import open_books
from fairhold.cycle.slot_ledger import Settled
from fairhold.model.state import State
from fairhold.orchestrator.events import (
    Event,
    GroupPaused,
    HostLost,
    JobSubmitted,
    MachineClosed,
    MachineGone,
    MachineSilent,
    Woken,
)
from fairhold.orchestrator.handle import Orchestrator
from fairhold.planio.plan import parse_plan
from tests.orchestrator.storm import LEAVES, OWN, Storm, plan_document

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.orchestrator.cluster import Cluster

CONSUMERS: dict[str, dict[str, Any]] = {
    "hybrid": {"/A": {"owned": 4}, "/A/a1": {"owned": 2}, "/B": {"owned": 3}, "/C": {"limit": 6}},
    "share_ratio": {"/A": {"share_ratio": 4}, "/B": {"share_ratio": 3, "limit": 5}, "/C": {"share_ratio": 2}},
    "ownership": {
        "/A": {"owned": 5},
        "/A/a1": {"owned": 3, "lend_to": [{"consumer": "/B"}, {"consumer": "/C", "limit": 1}]},
        "/B": {"owned": 3, "limit": 5, "borrow_from": [{"consumer": "/A/a1"}]},
        "/C": {"owned": 1, "borrow_from": [{"consumer": "/A/a1"}], "share_ratio": 1},
    },
}
GROUPS = {"cpu": {"hosts": [{"name": OWN, "slots": 9}]}, "gpu": {"hosts": [{"name": "g1", "slots": 6}]}}
SEEDS = int(os.environ.get("SLOT_SEEDS", "4"))
_TROUBLES = (HostLost, MachineSilent, MachineClosed, MachineGone, GroupPaused)


class Crowd(Storm):
    """Few slots, few troubles, many jobs of few tasks; the twin makes every cycle whole."""

    def fresh(self) -> dict[str, Books]:
        settings = {**self.settings}
        policy = str(settings.pop("policy"))
        document = plan_document(**settings)
        document["policies"][0] |= {"policy": policy, "consumers": CONSUMERS[policy]}
        document["resource_groups"] = GROUPS
        if policy == "ownership":
            document["policies"][0]["resource_groups"] = ["cpu", "gpu"]
        return open_books(parse_plan(json.dumps(document), "plan")[0], State(now=0))

    def _orchestrator(self, cluster: Cluster) -> Orchestrator:
        self.reopens = not getattr(self, "reopens", True)
        return Orchestrator(cluster, reopens=self.reopens)

    def draw(self) -> Event:
        if self.random.random() < 0.35:
            random = self.random
            self.jobs += 1
            return JobSubmitted(
                f"j{self.jobs}",
                random.choice(LEAVES),
                random.choice(("cpu", "cpu", "gpu")),
                random.choice((1, 1, 2, 4)),
                priority=random.choice((0, 0, 0, 1)),
                user=random.choice(("", "ann", "bob")),
                units=random.choice((1, 1, 1, 2, 3, 5)),
                throttle=random.choice((0, 0, 0, 1)),
                min_count=random.choice((0, 0, 0, 0, 2, 3)),
            )
        event = super().draw()
        if isinstance(event, _TROUBLES) and self.random.random() < 0.97:
            return Woken() if self.random.random() < 0.5 else self._report("")
        return event


@pytest.mark.parametrize("policy", CONSUMERS)
def test_marks_say_what_a_whole_cycle_does(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {True: 0, False: 0}
    whole = Settled.holds

    def counted(settled: Settled, books: Books, now: int) -> bool:
        holds = whole(settled, books, now)
        found[holds] += 1
        return holds

    monkeypatch.setattr(Settled, "holds", counted)
    for seed in range(SEEDS):
        settings: dict[str, object] = {"within": "fifo"} if seed % 3 == 2 else {}
        Crowd(Random(seed), forgets=seed % 2 == 0, policy=policy, **settings).run(400)
    assert found[True] > 20 * SEEDS
    assert found[False] > 10 * SEEDS
