"""What becomes of the work of a live cluster over time, as `cycle.projection` tells it: a copy of it is played on."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cycle.projection import SLOTS, Course, Held, Stopped, groups_of_hosts
from fairhold.orchestrator import changes as said
from fairhold.orchestrator.changes import AGAIN
from fairhold.sim.projection import Projection, at_limit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairhold.model.plan import Plan
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.sim.projection import EndOf

MOST_WAKES = 5_000
"""Times that the clock alone calls for a cycle in one course: where it ends before its horizon, it says when."""


def live_course(plan: Plan, cluster: Cluster, now: int, instants: Sequence[int], end_of: EndOf = at_limit) -> Course:
    """The course of a cluster under its plan.

    cluster  : one of its own, which is changed
    instants : as for `course_of`
    end_of   : when attempts end by themselves
    """
    teller = _Teller(plan, cluster, now)
    projection = Projection(cluster, now, end_of, teller.note)
    course = teller.course
    for instant in instants:
        if not projection.run_until(instant, MOST_WAKES):
            course.until = projection.now
            break
        course.held.append(teller.held())
        course.until = instant
    return course


class _Teller:
    """Makes a course of changes."""

    def __init__(self, plan: Plan, cluster: Cluster, now: int) -> None:
        self.course = Course(now, now)
        self._cluster, self._group_of = cluster, groups_of_hosts(plan)
        self._bases = {each.name: each.base for each in plan.resources}
        self._later = cluster.next_attempt
        self._told: dict[int, tuple[int | None, tuple[int, str, str]]] = {
            name: (None, (told.deadline, told.reason, told.taker))
            for name, attempt in cluster.attempts.items()
            if (told := attempt.told) is not None
        }

    def note(self, now: int, changes: Sequence[said.Change]) -> None:
        """Take changes in; of what they end, the cluster still knows the attempts."""
        for change in changes:
            if isinstance(change, said.Noticed):
                self._told[change.attempt] = now, (change.deadline, change.reason, change.taker)
            elif isinstance(change, said.Withdrawn):
                self._told.pop(change.attempt, None)
            elif isinstance(change, said.Ended):
                told = self._told.pop(change.attempt, None)
                if change.then == AGAIN:
                    attempt = self._cluster.ended[change.attempt]
                    self._stop(now, attempt, told)
                    self.course.waiting.append((now, self._path(attempt), attempt.units))
            elif isinstance(change, said.Started) and change.attempt in self._cluster.attempts:
                attempt = self._cluster.attempts[change.attempt]
                self.course.waiting.append((now, self._path(attempt), -attempt.units))

    def _path(self, attempt: Attempt) -> str:
        return attempt.job.consumer

    def _stop(self, now: int, attempt: Attempt, told: tuple[int | None, tuple[int, str, str]] | None) -> None:
        since, (deadline, reason, taker) = told or (None, (now, attempt.stopping, ""))
        job = attempt.job
        host = attempt.places[0][0]
        self.course.stops.append(
            Stopped(
                now,
                self._path(attempt),
                job.resource_group or self._group_of.get(host, ""),
                *(job.name, attempt.index, attempt.name, host, attempt.units, attempt.started),
                *(since, deadline, reason, taker),
                is_now=attempt.name < self._later,
                unit=tuple(self._amounts(attempt)),
            )
        )

    def _amounts(self, attempt: Attempt) -> Iterator[tuple[str, int]]:
        """What a unit has of resources, in base units; nothing of slots."""
        return ((name, int(Fraction(amount) * self._bases[name])) for name, amount in attempt.job.terms.unit)

    def held(self) -> Held:
        """What every leaf holds."""
        found: Held = {}
        for attempt in self._cluster.attempts.values():
            job, (host, _) = attempt.job, attempt.places[0]
            group = job.resource_group or self._group_of.get(host, "")
            mine = found.setdefault((group, self._path(attempt)), {})
            for name, amount in (dict(self._amounts(attempt)) or {SLOTS: 1}).items():
                mine[name] = mine.get(name, 0) + amount * attempt.units
        return found
