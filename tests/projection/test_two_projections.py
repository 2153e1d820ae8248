"""The course of a state file and that of a live cluster are computed apart, and tell the same of the same work."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.document import run_cycle
from fairhold.cycle.open import close_books
from fairhold.cycle.projection import course_of
from fairhold.model.state import State
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.sim.experiment import Experiment
from fairhold.sim.live_projection import live_course
from fairhold.sim.play import Simulation
from tests.sim.scenes import SECOND, plan_of, random_jobs

if TYPE_CHECKING:
    from fairhold.cycle.projection import Course

HALF, HOUR = 45 * SECOND, 3_600 * SECOND


def stops(course: Course) -> list[tuple[Any, ...]]:
    """Who loses what first, request by request; afterwards the paces of cycles make instants differ."""
    first = min((each.deadline for each in course.stops), default=0)
    units: dict[tuple[Any, ...], int] = {}
    for each in course.stops:
        if each.deadline == first:
            key = each.consumer, each.request, each.since, each.deadline, each.reason, each.taker
            units[key] = units.get(key, 0) + each.units
    return sorted((*key, count) for key, count in units.items())


@pytest.mark.parametrize("seed", range(8))
def test_both_say_the_same(seed: int) -> None:
    paths = {"/A": 8, "/B": 6, "/C": 6}
    was = plan_of({path: {"owned": owned} for path, owned in paths.items()})
    will = plan_of({"/A": {"owned": 3 + seed}, "/B": {"owned": 15 - seed}, "/C": {"owned": 2}})
    experiment = Experiment(was, random_jobs(seed, list(paths), jobs=60), 0, HALF)
    played = Simulation(experiment)
    played.run()
    cluster = thaw(freeze(played.live.cluster), open_cluster_books(will, HALF), forgets=True, own="")
    state = close_books(cluster.books, State(now=HALF))
    held: Counter[str] = Counter()
    for each in state.allocations:
        held[each.request] += each.units
    one = course_of(will, state, run_cycle(will, state), [HALF + HOUR])
    other = live_course(will, cluster, HALF, [HALF + HOUR])
    assert stops(one) == stops(other)
    assert one.held == other.held
    before: Counter[str] = Counter()
    for request in state.requests:
        before[will.tree.paths[request.consumer]] += request.count - held[request.id]
    ends = [Counter[str](), before]
    for course, end in zip((one, other), ends, strict=True):
        for _, path, units in course.waiting:
            end[path] += units
    assert +ends[0] == +ends[1]
