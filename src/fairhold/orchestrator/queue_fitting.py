"""Jobs of queues that are not preemptible: whether they fit in the deserved amounts (SPEC §7, R-SERVE-2)."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from fairhold.cycle.pooled.active_entries import groups_of_members, tops_of_queues
from fairhold.errors import Fault, InputError
from fairhold.ledger.queue_terms import queue_terms_of
from fairhold.ledger.queues import BORDER
from fairhold.ledger.vectors import POOLED
from fairhold.model.vector import amount_text
from fairhold.orchestrator.events import JobSubmitted

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.ledger.queues import QueueTerms
    from fairhold.model.plan import Plan
    from fairhold.model.vector import Vector
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.tasks import JobRecord


def shares_queues(books: Books, leaf: str) -> bool:
    """Whether the units of a leaf, a path, are shared by `fair_share`, at whatever time."""
    vectors, rows = books.vectors, books.rows
    if vectors is None:
        return False
    if vectors.queues is None:
        vectors.queues = tops_of_queues(rows.source)
    return rows.source.tree.first_level[rows.by_path[leaf]] in vectors.queues


def is_fixed(job: JobRecord | JobSubmitted) -> bool:
    """Whether units of a queue are never taken back: as the job says, else by its priority."""
    said = job.preemptible if isinstance(job, JobSubmitted) else job.terms.preemptible
    return job.priority >= BORDER if said is None else not said


def is_preemptible(cluster: Cluster, job: JobRecord) -> bool:
    """Whether the units of a job may be taken back for others: of all but the fixed jobs of queues."""
    is_queue = job.resource_group == POOLED and shares_queues(cluster.books[POOLED], job.consumer)
    return not (is_queue and is_fixed(job))


def not_of_queue(event: JobSubmitted) -> InputError:
    """`preemptible` is said of a job that is in no queue."""
    what = f"`preemptible` is {str(event.preemptible).lower()}, and its consumer is not a queue of `fair_share`"
    mend = "leave it out; `min_runtime` guarantees a minimum run time"
    return InputError([Fault("no-queue", what, mend)])


def check_deserved(books: Books, consumer: str, unit: Vector, min_count: int) -> None:
    """Refuse non-preemptible units that start together if the leaf and its ancestors never deserve as much.

    Raises InputError `never-fits`.
    """
    plan, together = books.rows.source, max(1, min_count)
    row = plan.tree.rows[consumer]
    groups = groups_of_members(plan)[plan.tree.first_level[row]]
    entries = [each for each in plan.policies if groups & set(each.resource_groups)]
    if any(not each.policy.has_queues for each in entries):  # in another window nothing has to be deserved
        return
    most, told = max((_room(plan, queue_terms_of(plan, each), row, unit) for each in entries), key=itemgetter(0))
    if most < together:
        many = f"{together} units at once" if together > 1 else "one unit"
        what = f"{many} can never start: {told}, and non-preemptible work runs only within what is deserved"
        mend = "submit it as preemptible, ask for less, or let the queue deserve more in the plan"
        raise InputError([Fault("never-fits", what, mend)])


def _room(plan: Plan, terms: QueueTerms, row: int, unit: Vector) -> tuple[int, str]:
    """Units that a queue and those above it deserve, and the words for which of them deserves the least."""
    found = [
        (terms.deserved[at][above] // need, at, above)
        for above in terms.above[row][:-1]
        for at, need in enumerate(unit)
        if need
    ]
    most, at, above = min(found, key=itemgetter(0))
    resource = plan.resources[at]
    has = amount_text(resource, terms.deserved[at][above])
    return most, f"`{plan.tree.paths[above]}` deserves {has} of `{resource.name}`"
