"""What a plan would do to a live cluster: now, at the coming windows, and over time. The cluster is not changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.cycle.diff import diff
from fairhold.cycle.document import cycle_on
from fairhold.cycle.plan_diff import changes
from fairhold.cycle.plan_timeline import Assumed, Compared, instants_of, over_time
from fairhold.cycle.pooled.merge_results import run_entries, with_pools, with_vectors
from fairhold.cycle.summary import Sides, summary
from fairhold.cycle.window_preview import Side, diff_windows
from fairhold.ledger.vectors import POOLED
from fairhold.model.state import State
from fairhold.orchestrator.budgets import count_budgets
from fairhold.orchestrator.events import Exit, JobCancelled, Outcome, TaskEnded
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.orchestrator.vectors import state_of
from fairhold.sim.live_projection import live_course
from fairhold.sim.projection import at_limit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.cycle.document import Cycle
    from fairhold.model.plan import Plan
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.sim.projection import EndOf

    Document = dict[str, Any]


class Standing(NamedTuple):
    """A cluster at one instant.

    plan     : that it is under
    document : as `freeze` gives it; own: name of the host that is the service's own machine
    """

    plan: Plan
    now: int
    document: Document
    own: str = ""

    def under(self, plan: Plan, moved: Mapping[str, str]) -> Cluster:
        """The cluster as it would be under a plan; InUseError where jobs keep it from being in force."""
        books = open_cluster_books(plan, self.now)
        cluster = thaw(self.document, books, forgets=True, own=self.own, moved=moved)
        count_budgets(cluster, self.now)
        return cluster

    def without(self, jobs: Iterable[str]) -> Standing:
        """What is left once these jobs, and what waits for their success, were cancelled and have ended."""
        live = Orchestrator(self.under(self.plan, {}))
        live.is_closing = True  # what that frees is for the next cycle to give
        for name in jobs:
            if name not in live.jobs:
                continue
            live.handle(JobCancelled(name), self.now)
            for number in [each.name for each in live.attempts.values() if each.job.name == name]:
                live.handle(TaskEnded(number, Outcome.STOPPED, Exit("cancel")), self.now)
        return self._replace(document=freeze(live.cluster))


def effect_of(
    standing: Standing, plan: Plan, moved: Mapping[str, str], ahead: int, *, left: Standing | None = None
) -> Document:
    """What the next cycle and those at the windows of so many microseconds would do otherwise under a plan.

    moved : old path → new path
    left  : what the plan meets, where not all of it can be under it
    """
    now = standing.now
    old, before, _ = _cycle(standing.plan, standing.under(standing.plan, {}), now)
    new, after, vectors = _cycle(plan, (left or standing).under(plan, moved), now)
    found = diff(before, after, moved)
    changed = changes(standing.plan, plan, moved)
    found["settings"] = [each.document() for each in changed]
    found["summary"] = summary(Sides((standing.plan, plan), (before, after), changed, moved, vectors), found)
    coming = diff_windows(old, new, now, now + ahead, moved)
    if coming is not None:
        found["windows"] = coming
    return found


def effect_over_time(
    standing: Standing,
    plan: Plan,
    moved: Mapping[str, str],
    ahead: int,
    *,
    left: Standing | None = None,
    assumed: Assumed | None = None,
    end_of: EndOf = at_limit,
) -> Document:
    """What differs in so many microseconds to come: see `cycle.plan_timeline.over_time`.

    left   : as in `effect_of`
    end_of : when attempts end by themselves
    """
    now = standing.now
    instants = instants_of(standing.plan, plan, now, now + ahead)
    one, other = (
        Compared(each, live_course(each, met.under(each, names), now, instants, end_of))
        for met, each, names in ((standing, standing.plan, {}), (left or standing, plan, moved))
    )
    return over_time(one, other, instants, moved, assumed)


def _cycle(plan: Plan, cluster: Cluster, now: int) -> tuple[Side, Cycle, State | None]:
    """The next cycle of a cluster that nobody else has, slots and vectors, and the side that goes on from it.

    Last the vectors before it, None = there are none.
    """
    slots = {group: books for group, books in cluster.books.items() if group != POOLED}
    cycle = cycle_on(slots, now)
    if POOLED not in cluster.books:
        return Side(plan, slots), cycle, None
    state = state_of(cluster, now)
    pooled = run_entries(plan, state)
    left = with_vectors(State(now=now, previous_cycle=now), state, pooled)
    whole = cycle._replace(document=with_pools(plan, cycle.document, pooled), pooled=pooled)
    return Side(plan, slots, left), whole, state
