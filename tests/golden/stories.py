"""The golden stories. Each writes its lines, and is told by a name; the same on every machine, in every order."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

from fairhold.model.workload import ENDLESS, Workload
from fairhold.planio.plan import parse_plan
from fairhold.sim.experiment import Experiment, Outage, Work
from fairhold.sim.log import Log
from fairhold.sim.play import Simulation
from tests.golden import plans

if TYPE_CHECKING:
    from fairhold.model.plan import Plan

Json = dict[str, Any]
Write = Callable[[str], object]
EventTrace = Callable[[Write], None]

SECOND = 1_000_000
HOUR = 3_600 * SECOND
MONDAY = 1_767_598_200 * SECOND  # 2026-01-05T07:30:00Z
SLOT = (("cpu", "2"), ("memory", "4"), ("gpu", "1"))
UNITS = (
    (),
    (("cpu", "1"), ("memory", "2")),
    (("cpu", "2"), ("memory", "4"), ("gpu", "1")),
    (("gpu", "0.5"), ("cpu", "1")),
    (("cpu", "4"), ("memory", "32"), ("gpu", "2")),
)
GRADUAL = Work(start_delay=200_000, restart=SECOND, stop_delay=300_000, checkpoint=120 * SECOND)
POLITE = replace(GRADUAL, yields=True)


def plan_of(document: Json) -> Plan:
    """A document, read."""
    return parse_plan(json.dumps(document), "plan")[0]


def work_of(seed: int, jobs: int, hours: float, *, gangs: float = 0, vectors: bool = False) -> Workload:
    """Bursts of jobs of all leaves, more than there is room for; two in a hundred are services.

    gangs : the part of jobs whose tasks begin together
    """
    random = Random(seed)
    length = round(hours * HOUR)
    bursts = [random.randrange(length) for _ in range(max(1, jobs // 12))]
    tasks = [random.choice((1, 1, 1, 2, 3, 4, 8, 12)) for _ in range(jobs)]
    runs = [round(random.lognormvariate(5, 1.4) * SECOND) + 10_000 for _ in range(jobs)]
    return Workload(
        [f"j{at}" for at in range(jobs)],
        sorted(MONDAY + random.choice(bursts) + random.randrange(300 * SECOND) for _ in range(jobs)),
        random.choices(range(len(plans.LEAVES)), (4, 3, 2, 4, 3, 5), k=jobs),
        tasks,
        [ENDLESS if random.random() < 0.02 else each for each in runs],
        unit=random.choices(range(len(UNITS)), (0, 3, 4, 2, 1), k=jobs) if vectors else (),
        min_count=[min(count, random.choice((count, 2))) if random.random() < gangs else 0 for count in tasks],
        priority=[random.choice((0, 0, 0, 5, -5)) for _ in range(jobs)],
        user=[random.randrange(4) for _ in range(jobs)],
        preemptible=[int(random.random() < 0.9) for _ in range(jobs)],
        consumers=plans.LEAVES,
        units=UNITS if vectors else ((),),
        users=("", "ann", "bob", "cid"),
    )


def scene_of(document: Json, seed: int, jobs: int, hours: float, **more: Any) -> Experiment:
    """An experiment of a plan and invented work; see `work_of`, other options are of the experiment."""
    shape = {key: more.pop(key) for key in ("gangs", "vectors") if key in more}
    workload = work_of(seed, jobs, hours, **shape)
    return Experiment(plan_of(document), workload, MONDAY, MONDAY + round(2 * hours * HOUR), slot=SLOT, **more)


def outages(*names: str, hours: float) -> tuple[Outage, ...]:
    """Each of some hosts fails, every second one as announced ten minutes before."""
    step = round(hours * HOUR) // (len(names) + 1)
    return tuple(
        Outage(name, MONDAY + step * at, MONDAY + step * at + step, 600 * SECOND * (at % 2))
        for at, name in enumerate(names, 1)
    )


def played(make: Callable[[], Experiment]) -> EventTrace:
    """A simulation of an experiment, with its log."""

    def story(write: Write) -> None:
        simulation = Simulation(make(), [Log(write)])
        simulation.run()
        for key, refused in sorted(simulation.refused.items()):
            write(json.dumps([*key, refused.job, refused.jobs]) + "\n")

    return story
