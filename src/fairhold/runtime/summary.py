"""What is said at the end of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.pooled.document import explain_pools
from fairhold.kernels.vectors import total
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.owned import owned_slots
from fairhold.orchestrator.vectors import state_of
from fairhold.runtime.cells import padded, width
from fairhold.runtime.explaining_pools import why
from fairhold.runtime.holdings import amounts_text, holdings_now
from fairhold.runtime.loop import Ending
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from fairhold.ledger.books import Books
    from fairhold.model.job import Job
    from fairhold.orchestrator.handle import Orchestrator
    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.runtime.tally import LeafTally, Tally

_HEAD = ("consumer", "owned", "finished", "failed", "peak borrowed", "peak lent", "reclaimed", "mean wait", "max wait")


def summary(orchestrator: Orchestrator, tally: Tally, elapsed: int, output: Path) -> Iterator[str]:
    """The lines of the summary: a row a leaf, then the totals and where the output is.

    Leaves that had no task and lent nothing are counted, not shown, where there is something to show.
    """
    several = len(orchestrator.books) > 1
    jobs = orchestrator.jobs.values()
    had_tasks = {(job.resource_group, job.consumer) for job in jobs}
    shown = [
        leaf
        for key, leaf in tally.leaves.items()
        if key in had_tasks or leaf.peak_lent or any(leaf.amounts.get("lent", ()))
    ]
    shown.sort(key=lambda leaf: _place(orchestrator.books[leaf.resource_group], leaf.path))
    owned = holdings_now(orchestrator.cluster, orchestrator.now)["owned"] if POOLED in orchestrator.books else {}
    rows: list[tuple[str, ...]] = [_HEAD]
    for leaf in shown:
        books = orchestrator.books[leaf.resource_group]
        name = f"{leaf.path} ({books.rows.group.name})" if several else leaf.path
        rows.append((name, *_cells(books, leaf, owned)))
    yield ""
    if shown:
        yield from _aligned(rows)
    others = len(tally.leaves) - len(shown)
    if shown and others:
        yield f"({others} more without tasks)"
    finished, failed = sum(job.finished for job in jobs), sum(job.failed for job in jobs)
    stopped = sum(job.reclaimed for job in jobs)
    ended = f"{_counted(finished, 'task')} finished, {failed} failed in {elapsed / SECOND:.1f}s"
    totals = "; ".join((ended, *_totals(orchestrator, tally)))
    yield f"{totals}, {_counted(stopped, 'attempt')} stopped and run again"
    yield f"output in {output}"


def _totals(orchestrator: Orchestrator, tally: Tally) -> Iterator[str]:
    """What was borrowed, lent and reclaimed: slots, and amounts of resources."""
    if any(group != POOLED for group in orchestrator.books):
        taken = sum(leaf.reclaimed for leaf in tally.leaves.values() if leaf.resource_group != POOLED)
        yield f"at most {_counted(tally.peak_borrowed, 'slot')} borrowed and {tally.peak_lent} lent at once"
        yield f"{_counted(taken, 'slot')} reclaimed"
    if POOLED in orchestrator.books:
        books = orchestrator.books[POOLED]
        parts = (leaf.amounts["reclaimed"] for leaf in tally.leaves.values() if leaf.amounts)
        yield f"at most {amounts_text(books, tally.units_borrowed)} borrowed at once"
        yield f"{amounts_text(books, total(parts, len(tally.units_borrowed)))} reclaimed"


def _place(books: Books, path: str) -> tuple[int, ...]:
    """Where a consumer stands in the plan: it comes after those above it and before its later siblings' own."""
    tree = books.rows.source.tree
    row, line = tree.rows[path], []
    while row:
        line.append(row)  # siblings count up in plan order
        row = tree.parent[row]
    return tuple(reversed(line))


def _counted(number: int, noun: str) -> str:
    """A number with its noun: `1 slot`, `2 slots`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _cells(books: Books, leaf: LeafTally, owned: Mapping[str, Sequence[int]]) -> tuple[str, ...]:
    """Those of a row behind its name; owned: amounts of resources, by path."""
    if books.vectors is None:
        slots = owned_slots(books.rows, books.slots)[books.rows.by_path[leaf.path]]
        has, *rest = (str(each) for each in (slots, leaf.peak_borrowed, leaf.peak_lent, leaf.reclaimed))
    else:
        rows = (owned[leaf.path], *(leaf.amounts[what] for what in ("borrowed", "lent", "reclaimed")))
        has, *rest = (amounts_text(books, row) for row in rows)
    mean = leaf.waited / leaf.started if leaf.started else 0
    return (
        has,
        str(leaf.finished),
        str(leaf.failed),
        *rest,
        f"{mean / SECOND:.2f}s",
        f"{leaf.longest_wait / SECOND:.2f}s",
    )


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows as text: the first column to the left, the others to the right."""
    widths = [max(width(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        cells = (padded(cell, most, right=True) for cell, most in zip(row[1:], widths[1:], strict=True))
        yield "  ".join((padded(row[0], widths[0]), *cells))


def not_done(jobs: Iterable[Job], orchestrator: Orchestrator, ending: Ending) -> Iterator[tuple[Job, str]]:
    """Jobs of which tasks neither finished nor failed, each with how many and why not."""
    for job in jobs:
        record = orchestrator.jobs.get(job.name)
        if record is None:
            yield job, f"{job.count} of {_counted(job.count, 'task')}, not submitted yet"
            continue
        left = job.count - record.finished - record.failed
        if left:
            stopped = f", {record.cancelled} stopped while running" if record.cancelled else ""
            why = f": {_why_stuck(orchestrator, record)}" if ending is Ending.STUCK else ""
            yield job, f"{left} of {_counted(job.count, 'task')}{stopped}{why}"


def _why_stuck(orchestrator: Orchestrator, job: JobRecord) -> str:
    """Why a leaf that wants slots can never get one, when nothing runs."""
    books, row = orchestrator.books[job.resource_group], orchestrator.cluster.leaf_of(job)
    rows = books.rows
    if books.vectors is not None:
        return _why_unplaced(orchestrator, job, job.consumer)
    if books.slots == 0:
        return f"the resource group {rows.group.name} has no slots"
    while row > 0:
        if rows.plan.limit[row] == 0:
            return f"the limit of {rows.path(row)} is 0"
        row = rows.tree.parent[row]
    slots = _counted(books.slots, "slot")
    return f"what others reserve leaves nothing of the {slots} of {rows.group.name} to {job.consumer}"


def _why_unplaced(orchestrator: Orchestrator, job: JobRecord, leaf: str) -> str:
    """The same of units of a vector."""
    plan = orchestrator.books[POOLED].rows.source
    state = state_of(orchestrator.cluster, orchestrator.now)
    for told in explain_pools(plan, state, leaf, what_if=False):
        for request in told["requests"]:
            if request["request"] == job.name and request["waits"] is not None:
                return why(request["waits"])
    return f"no policy entry in force shares resources with {leaf}"
