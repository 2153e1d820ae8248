"""Keeps count of a run: what happened to every task, what every leaf got, lent, borrowed and waited for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from fairhold.errors import count
from fairhold.kernels.vectors import add, largest, total
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.events import JobSubmitted, Outcome, TaskEnded
from fairhold.orchestrator.instructions import Notify, Start, Stop, Withdraw
from fairhold.orchestrator.lending import GroupLenders
from fairhold.runtime.holdings import holdings_now, owners

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.model.vector import Vector
    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.handle import Orchestrator
    from fairhold.orchestrator.instructions import Instruction
    from fairhold.orchestrator.lending import Lending

LeafKey = tuple[str, str]
"""Resource group and path of a leaf; its row in the books may be another in another window."""


class News(NamedTuple):
    """Something that people are told.

    kind     : submitted, started, notice, withdrawn, finished, failed, cancelled; of an attempt that ends without its
               work done and waits again, reclaimed: it is under notice, or stopped: its notice was withdrawn
    at       : instant
    task     : index, -1 where it is about the whole job
    attempt  : which attempt of the task
    consumer : path of the leaf
    note     : details in words, may be empty
    deadline : of a `notice`, when the attempt will be stopped
    noun     : what an attempt holds: `slot`, or `unit` of a vector
    """

    kind: str
    at: int
    job: str
    task: int
    attempt: int
    consumer: str
    note: str = ""
    deadline: int = 0
    noun: str = "slot"


@dataclass(slots=True)
class LeafTally:
    """What a leaf got of a resource group so far. Waits are microseconds.

    started   : attempts; finished, failed : tasks
    reclaimed : slots taken back: attempts that were under notice when they ended, in time or not
    waited    : from the submission, or from the end of the attempt before, to the start; summed over attempts
    amounts   : of units of vectors `borrowed`, `lent` (the most at once) and `reclaimed`, in place of slots
    """

    path: str
    resource_group: str
    started: int = 0
    finished: int = 0
    failed: int = 0
    reclaimed: int = 0
    peak_borrowed: int = 0
    peak_lent: int = 0
    waited: int = 0
    longest_wait: int = 0
    amounts: dict[str, Vector] = field(default_factory=dict)


@dataclass(slots=True)
class _Running:
    start: Start
    leaf: LeafTally
    is_noticed: bool = False
    is_stopped: bool = False

    @property
    def noun(self) -> str:
        """What it holds."""
        return "unit" if self.leaf.resource_group == POOLED else "slot"


class Tally:
    """Keeps count of what goes into and comes out of an orchestrator.

    leaves : in the order of the plan's resource groups and paths
    peak_borrowed, peak_lent : slots, of the whole run, all leaves together; units_borrowed: amounts likewise
    """

    def __init__(self, orchestrator: Orchestrator) -> None:
        self._orchestrator = orchestrator
        self.leaves: dict[LeafKey, LeafTally] = {
            (group, books.rows.path(row)): LeafTally(books.rows.path(row), group)
            for group, books in orchestrator.books.items()
            for row in books.rows.leaves
        }
        self._lenders = {group: GroupLenders(books) for group, books in orchestrator.books.items() if group != POOLED}
        self.units_borrowed: Vector = ()
        if POOLED in orchestrator.books:
            books = orchestrator.books[POOLED]
            self.units_borrowed = (0,) * len(books.rows.source.resources)
            for path in owners(books):  # branches own hosts and lend them, too
                self.leaves.setdefault((POOLED, path), LeafTally(path, POOLED))
            for (group, _), leaf in self.leaves.items():
                if group == POOLED:
                    leaf.amounts = dict.fromkeys(("borrowed", "lent", "reclaimed"), self.units_borrowed)
        self.peak_borrowed = 0
        self.peak_lent = 0
        self._together: dict[str, tuple[int, int]] = {}
        self._touched: set[LeafKey] = set()
        self._running: dict[int, _Running] = {}
        self._submitted: dict[str, int] = {}
        self._requeued: dict[tuple[str, int], int] = {}
        self._reclaimed: dict[str, int] = {}

    def lending(self, group: str) -> Lending:
        """Who borrows and who lends slots of a resource group now."""
        return self._lenders[group].now()

    def note(self, event: Event, instructions: Iterable[Instruction], now: int, how: str = "") -> list[News]:
        """Count an event with the instructions that came of it.

        how : how a failed attempt ended
        """
        news: list[News] = []
        if isinstance(event, JobSubmitted):
            self._submitted[event.job] = now
            tasks = count(event.count, "task")
            news.append(News("submitted", now, event.job, -1, 0, event.consumer, tasks))
        elif isinstance(event, TaskEnded) and event.attempt in self._running:
            news.append(self._end(event, now, how))
        for instruction in instructions:
            if isinstance(instruction, Start):
                news.append(self._start(instruction, now))
            elif isinstance(instruction, (Notify, Withdraw)):
                news.append(self._notice(instruction, now))
            elif isinstance(instruction, Stop):
                self._running[instruction.attempt].is_stopped = True
        self._measure()
        return news

    def _start(self, start: Start, now: int) -> News:
        record = self._orchestrator.jobs[start.job]
        path = record.consumer
        leaf = self.leaves[record.resource_group, path]
        self._running[start.attempt] = _Running(start, leaf)
        self._touched.add((leaf.resource_group, leaf.path))
        since = self._requeued.pop((start.job, start.index), self._submitted[start.job])
        leaf.started += 1
        leaf.waited += now - since
        leaf.longest_wait = max(leaf.longest_wait, now - since)
        return News("started", now, start.job, start.index, start.number, leaf.path, start.host and f"on {start.host}")

    def _notice(self, instruction: Notify | Withdraw, now: int) -> News:
        running = self._running[instruction.attempt]
        start, path = running.start, running.leaf.path
        running.is_noticed = isinstance(instruction, Notify)
        if isinstance(instruction, Withdraw):
            note = f"may keep its {running.noun}"
            return News("withdrawn", now, start.job, start.index, start.number, path, note)
        why = f"for {instruction.taker}" if instruction.taker else f"reason: {instruction.reason}"
        about = (start.job, start.index, start.number, path, why, instruction.deadline)
        return News("notice", now, *about, running.noun)

    def _end(self, event: TaskEnded, now: int, how: str) -> News:
        running = self._running.pop(event.attempt)
        start, leaf = running.start, running.leaf
        self._touched.add((leaf.resource_group, leaf.path))
        record = self._orchestrator.jobs[start.job]
        waits_again = record.reclaimed > self._reclaimed.get(start.job, 0)
        self._reclaimed[start.job] = record.reclaimed
        was_taken = running.is_noticed and not record.is_cancelled
        leaf.reclaimed += was_taken
        if was_taken and (vectors := self._orchestrator.books[record.resource_group].vectors):
            unit = vectors.unit(record.terms.unit)
            assert unit is not None, "the plan of a run is always the same"
            leaf.amounts["reclaimed"] = add(leaf.amounts["reclaimed"], unit)
        kind, note = "cancelled", ""
        if event.outcome is Outcome.FINISHED:
            kind, note = "finished", f"in time before its {running.noun} was reclaimed" if was_taken else ""
            leaf.finished += 1
        elif waits_again:
            kind, note = _word_of(running)
            self._requeued[start.job, start.index] = now
        elif event.outcome is Outcome.FAILED:
            kind, note = "failed", how
            leaf.failed += 1
        return News(kind, now, start.job, start.index, start.number, leaf.path, note)

    def _measure(self) -> None:
        """Keep the most that was borrowed and lent at once, where somebody got something or gave it back."""
        touched, self._touched = self._touched, set()
        if any(group == POOLED for group, _ in touched):
            self._measure_units()
            touched = {each for each in touched if each[0] != POOLED}
        rows_of = {group: books.rows for group, books in self._orchestrator.books.items()}
        for group, path in touched:
            self._lenders[group].changed(rows_of[group].by_path[path])
        for group in {group for group, _ in touched}:
            found, rows = self._lenders[group].now(), rows_of[group]
            borrowed, lent = (
                {row: slots for row, slots in each.items() if rows.is_leaf(row)}
                for each in (found.borrowed, found.lent)
            )
            for row, slots in borrowed.items():
                leaf = self.leaves[group, rows.path(row)]
                leaf.peak_borrowed = max(leaf.peak_borrowed, slots)
            for row, slots in lent.items():
                leaf = self.leaves[group, rows.path(row)]
                leaf.peak_lent = max(leaf.peak_lent, slots)
            self._together[group] = (sum(borrowed.values()), sum(lent.values()))
        self.peak_borrowed = max(self.peak_borrowed, sum(slots for slots, _ in self._together.values()))
        self.peak_lent = max(self.peak_lent, sum(slots for _, slots in self._together.values()))

    def _measure_units(self) -> None:
        """The same of units of vectors, in amounts."""
        columns, rows = (
            holdings_now(self._orchestrator.cluster, self._orchestrator.now),
            self._orchestrator.books[POOLED].rows,
        )
        for what in ("borrowed", "lent"):
            for (group, path), leaf in self.leaves.items():
                if group == POOLED:
                    leaf.amounts[what] = largest(leaf.amounts[what], tuple(columns[what][path]))
        leaves = (tuple(columns["borrowed"][rows.path(leaf)]) for leaf in rows.leaves)
        self.units_borrowed = largest(self.units_borrowed, total(leaves, len(self.units_borrowed)))


def _word_of(running: _Running) -> tuple[str, str]:
    """Kind and note of an attempt whose task waits again."""
    if not running.is_noticed:
        return "stopped", "back at the front of the queue"
    how = "stopped" if running.is_stopped else "in time"
    return "reclaimed", f"{how}; back at the front of the queue"
