"""Small plans and workloads for tests of the simulator."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

from fairhold.model.workload import Workload
from fairhold.planio.plan import parse_plan
from fairhold.sim.play import Simulation

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.orchestrator import changes as said
    from fairhold.sim.experiment import Experiment

SECOND = 1_000_000


def plan_of(
    consumers: dict[str, Any],
    slots: int = 20,
    *,
    policy: str = "hybrid",
    tree: dict[str, Any] | None = None,
    group: dict[str, Any] | None = None,
    **settings: Any,
) -> Plan:
    names = {path: {"reclaim_grace": "2s"} for path in consumers} if tree is None else tree
    document = {
        "fairhold": 1,
        "resource_groups": {"compute": group or {"slots": slots}},
        "consumers": names,
        "policies": [
            {"resource_groups": ["compute"], "policy": policy, "settings": settings, "consumers": consumers},
        ],
    }
    return parse_plan(json.dumps(document), "plan")[0]


def jobs_of(*rows: tuple[float, str, int, float], gang: bool = False) -> Workload:
    """(seconds of the submission, consumer, tasks, seconds that each runs)."""
    ordered = sorted(rows, key=lambda row: row[0])
    paths = tuple(dict.fromkeys(row[1] for row in ordered))
    return Workload(
        [f"j{at}" for at in range(len(ordered))],
        [round(row[0] * SECOND) for row in ordered],
        [paths.index(row[1]) for row in ordered],
        [row[2] for row in ordered],
        [round(row[3] * SECOND) for row in ordered],
        min_count=[row[2] for row in ordered] if gang else [],
        consumers=paths,
    )


def random_jobs(seed: int, paths: list[str], jobs: int = 40, most: int = 8, *, gangs: bool = False) -> Workload:
    random = Random(seed)
    tasks = [random.randint(1, most) for _ in range(jobs)]
    return Workload(
        [f"j{at}" for at in range(jobs)],
        sorted(random.randrange(60 * SECOND) for _ in range(jobs)),
        [random.randrange(len(paths)) for _ in range(jobs)],
        tasks,
        [random.randint(10_000, 15 * SECOND) for _ in range(jobs)],
        min_count=[count if random.random() < 0.4 else 0 for count in tasks] if gangs else [],
        priority=[random.choice((0, 0, 5)) for _ in range(jobs)],
        consumers=tuple(paths),
    )


class EventTrace:
    """Remembers all that happened."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, said.Change]] = []
        self.losses: dict[int, int] = {}

    def note(self, now: int, changes: Any) -> None:
        self.lines += [(now, change) for change in changes]

    def lost(self, now: int, attempt: int, work: int) -> None:  # noqa: ARG002 - as a watch is called
        self.losses[attempt] = self.losses.get(attempt, 0) + work

    def cycled(self, now: int, result: Any) -> None: ...

    def cycled_vectors(self, now: int, result: Any) -> None: ...

    def of(self, kind: type) -> list[tuple[int, Any]]:
        return [line for line in self.lines if isinstance(line[1], kind)]


def played(experiment: Experiment, **options: Any) -> EventTrace:
    story = EventTrace()
    Simulation(experiment, [story], **options).run()
    return story
