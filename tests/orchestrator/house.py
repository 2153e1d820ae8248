"""A small house for tests of the orchestrator: hosts, leaves, and a driver that carries nothing out."""

from __future__ import annotations

import json
from typing import Any

from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.ending import OUTCOMES
from fairhold.orchestrator.events import Event, Exit, JobSubmitted, TaskEnded, TaskRunning, Woken
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.instructions import Instruction, Notify, Start, Stop, WakeAt, Withdraw
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.planio.plan import parse_plan

SECOND = 1_000_000


def plan_of(hosts: dict[str, int], consumers: dict[str, Any] | None = None, **settings: object) -> Any:
    document = {
        "fairhold": 1,
        "resource_groups": {"c": {"hosts": [{"name": name, "slots": slots} for name, slots in hosts.items()]}},
        "consumers": consumers or {"A": {"reclaim_grace": "5s"}, "B": {"reclaim_grace": "2s"}},
        "policies": [
            {
                "resource_groups": ["c"],
                "policy": "hybrid",
                "settings": settings,
                "consumers": {"/A": {"owned": 2}, "/B": {"owned": 2}} if consumers is None else {},
            }
        ],
    }
    return parse_plan(json.dumps(document), "plan")[0]


class House:
    """An orchestrator and its clock; every step wakes it as long as something is due."""

    def __init__(self, *, own: str = "", forgets: bool = False, plan: Any = None, **hosts: int) -> None:
        self.plan = plan or plan_of(hosts or {"h1": 4})
        cluster = Cluster(open_cluster_books(self.plan, 0), forgets=forgets, own=own)
        self.live = Orchestrator(cluster)
        self.now = 0
        self.jobs = 0

    def take(self, event: Event, after: int = SECOND) -> list[Instruction]:
        """An event so many microseconds later, with the cycles that it asks for."""
        self.now += after
        out = list(self.live.handle(event, self.now))
        while out and isinstance(out[-1], WakeAt) and out[-1].instant <= self.now:
            out[-1:] = self.live.handle(Woken(), self.now)
        return out

    def wait(self, after: int) -> list[Instruction]:
        return self.take(Woken(), after)

    def submit(self, consumer: str = "/B", count: int = 1, **terms: Any) -> list[Instruction]:
        """A job with the next name: j1, j2, …"""
        self.jobs += 1
        return self.take(JobSubmitted(f"j{self.jobs}", consumer, "c", count, **terms))

    def run(self, attempt: int) -> list[Instruction]:
        return self.take(TaskRunning(attempt))

    def end(self, attempt: int, reason: str = "finished") -> list[Instruction]:
        return self.take(TaskEnded(attempt, OUTCOMES[reason], Exit(reason)))


def starts(out: list[Instruction]) -> list[tuple[str, int, int]]:
    """(job, index, number) of what is started."""
    return [(each.job, each.index, each.number) for each in out if isinstance(each, Start)]


def places(out: list[Instruction]) -> list[dict[str, int]]:
    """Host → units of what is started."""
    return [dict(each.places or ((each.host, each.units),)) for each in out if isinstance(each, Start)]


def stops(out: list[Instruction]) -> list[tuple[int, str]]:
    return sorted((each.attempt, each.reason) for each in out if isinstance(each, Stop))


def notices(out: list[Instruction]) -> list[tuple[int, int, str]]:
    return [(each.attempt, each.deadline, each.reason) for each in out if isinstance(each, Notify)]


def withdrawn(out: list[Instruction]) -> list[int]:
    return [each.attempt for each in out if isinstance(each, Withdraw)]
