"""The same storm on a cluster that shares vectors: no host holds more than it has, no GPU is two attempts'."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import total
from fairhold.ledger.history import CAPACITY
from fairhold.ledger.vectors import POOLED
from fairhold.model.siting import ANYWHERE, Siting
from fairhold.orchestrator.events import (
    GroupPaused,
    HostJoined,
    HostLost,
    JobSubmitted,
    MachineClosed,
    MachineGone,
    MachineOpened,
    MachineSilent,
)
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.hosts import what_there_is
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.planio.plan import parse_plan
from tests.orchestrator.storm import OWN, SECOND, Storm

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.instructions import Start
    from fairhold.orchestrator.pooling import VectorCycle

LEAVES = ("/A/a1", "/A/a2", "/B", "/C")
PLAN = {
    "fairhold": 1,
    "resources": {"cpu": {}, "gpu": {}},
    "resource_groups": {
        "all": {
            "hosts": [{"name": OWN, "cpu": 4, "gpu": 2}, {"name": "h2", "cpu": 4, "gpu": 2, "labels": {"zone": "a"}}]
        },
        "more": {"hosts": [{"name": "h3", "cpu": 6, "labels": ["ssd"]}, {"name": "g1", "cpu": 2, "gpu": 4}]},
    },
    "consumers": {
        "A": {"reclaim_grace": "2s", "consumers": {"a1": {"rank": 1}, "a2": {}}},
        "B": {"reclaim_grace": "0s"},
        "C": {"reclaim_grace": "1s"},
    },
    "policies": [
        {
            "resource_groups": ["all", "more"],
            "policy": "multidimensional",
            "consumers": {
                "/A": {"own": [{"resource_group": "all", "hosts": 1}], "share_ratio": 2},
                "/A/a2": {"own": [{"resource_group": "all", "per_host": {"cpu": 2}}]},
                "/B": {"own": [{"resource_group": "more", "total": {"gpu": 2}, "lend_grace": "5s"}]},
                "/C": {"share_limit": {"cpu": 5}},
            },
        }
    ],
}
UNITS = (
    (("cpu", "1"),),
    (("cpu", "1"), ("gpu", "1")),
    (("cpu", "2"),),
    (("gpu", "0.5"),),
    (("cpu", "3"), ("gpu", "2")),
    (("cpu", "9"),),
    (),
)


SITINGS = (
    Siting(need=("ssd",)),
    Siting(prefer=("zone=a",), avoid=("ssd",)),
    Siting(place="pack"),
    Siting(place="spread"),
    Siting(need=("big",)),
)
"""No host is `big`: such a job is refused."""


_TROUBLES = (HostLost, MachineSilent, MachineClosed, MachineGone)
_GPUS = {OWN: 2, "h2": 2, "h3": 0, "g1": 4}


class VectorStorm(Storm):
    """See the module; settings are top-level keys of the plan."""

    def fresh(self) -> dict[str, Books]:
        return open_cluster_books(parse_plan(json.dumps(PLAN | self.settings), "plan")[0], 0)

    def _orchestrator(self, cluster: Cluster) -> Orchestrator:
        """Every second one, the twin, goes on in the books of the cycle before; the others open them anew."""
        self.reopens = not getattr(self, "reopens", False)
        return Orchestrator(cluster, on_vectors=self._count, reopens=self.reopens)

    def _count(self, cycle: VectorCycle, cause: str) -> None:
        assert cause
        self.cycles += 1
        for each in cycle.done:
            for host in each.books.hosts:
                used = [sum(unit.asked.unit[at] for unit in host.units) for at in range(2)]
                assert all(one <= most for one, most in zip(used, host.total, strict=True))
            assert not any(unit.host.is_closed for unit in each.sweeps.placed)

    def draw(self) -> Event:
        if self.random.random() < 0.2:
            return self._submit()
        event = super().draw()
        if isinstance(event, (*_TROUBLES, GroupPaused)) and self.random.random() < 0.8:
            return MachineOpened(self.random.choice(("", "h2", "h3", "g1")))
        if isinstance(event, HostJoined):
            return HostJoined(POOLED, self.random.choice((OWN, "h2", "h3", "g1")), 0)
        if isinstance(event, HostLost):
            return HostLost(POOLED, self.random.choice(("h2", "g1")))
        return GroupPaused(POOLED, event.grants, event.reclaims) if isinstance(event, GroupPaused) else event

    def _submit(self) -> Event:
        random = self.random
        self.jobs += 1
        count = random.choice((1, 1, 2, 5, 12, 0))
        return JobSubmitted(
            f"j{self.jobs}",
            random.choice(LEAVES),
            POOLED,
            count,
            priority=random.choice((0, 0, 0, 1, -1)),
            user=random.choice(("", "ann", "bob")),
            throttle=random.choice((0, 0, 0, 2)),
            retries=random.choice((0, 1)),
            backoff=random.choice((0, SECOND)),
            unit=random.choice(UNITS),
            min_count=random.choice((0, 0, 0, 2, 3)),
            siting=random.choice((ANYWHERE, ANYWHERE, *SITINGS)),
        )

    def _check_start(self, start: Start) -> None:
        attempts = [each for each in self.live.attempts.values() if each.places[0][0] == start.host]
        numbers = [number for each in attempts for number in each.devices]
        assert len(numbers) == len(set(numbers))
        assert (start.devices or ()) == self.live.attempts[start.attempt].devices
        assert all(0 <= number < _GPUS[start.host] for number in numbers)
        self._check_capacity()

    def _check_capacity(self) -> None:
        """What counts as there, kept host by host, is the sum over all hosts (R-UP-1)."""
        vectors, plan = self.live.books[POOLED].vectors, self.live.books[POOLED].rows.source
        assert vectors is not None
        for history in vectors.histories:
            hosts = [host for name in history.groups for host in plan.resource_groups[name].hosts]
            there = total((what_there_is(self.live.cluster, host, plan.resources) for host in hosts), 2)
            assert tuple(history.meters[CAPACITY].rate) == there
