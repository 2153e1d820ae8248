"""A slow twin of the orchestrator: demands are played through the books without orchestrator, jobs or engine.

It calls the same transitions, the same cycle and the same hand-over as `Orchestrator.handle`, so that both take the
same decisions; what differs is that nothing here is an object per task.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

from fairhold.cycle.pacing import MAX_INTERVAL, MIN_GAP, Pacing
from fairhold.cycle.run import run
from fairhold.ledger import transitions
from fairhold.ledger.decision import book_notices, book_rest, book_withdrawals
from fairhold.ledger.rows import in_other_window, with_spent
from fairhold.orchestrator.budgets import next_of_budgets, spent
from fairhold.orchestrator.windows import Openings
from fairhold.rules.handing import hand_over

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from fairhold.ledger.books import Books
    from fairhold.ledger.decision import Decision

SUBMIT, END, WAKE = range(3)
"""Order of what happens at the same instant."""


class Demands(NamedTuple):
    """Jobs in columns, one row a job, sorted by `submit`.

    name     : (jobs,) unique
    submit   : (jobs,) instant
    leaf     : (jobs,) row of the leaf in the books
    tasks    : (jobs,) tasks, one slot each
    duration : (jobs,) microseconds that each task runs, each time from its beginning
    priority : (jobs,) inside the leaf, larger first; empty = all the same
    user     : (jobs,) who asks; empty = nobody in particular
    """

    name: Sequence[str]
    submit: Sequence[int]
    leaf: Sequence[int]
    tasks: Sequence[int]
    duration: Sequence[int]
    priority: Sequence[int] = ()
    user: Sequence[str] = ()


def play(
    books: Books, demands: Demands, *, min_gap: int = MIN_GAP, max_interval: int = MAX_INTERVAL
) -> list[tuple[int, Decision]]:
    """Play demands to their end; returns every cycle's instant and decision."""
    loop = _Loop(books, demands, Pacing(min_gap, max_interval))
    for job, instant in enumerate(demands.submit):
        loop.push(instant, SUBMIT, job)
    while loop.heap:
        instant, phase, _, row, life = heappop(loop.heap)
        loop.step(instant, phase, row, life)
    return loop.decisions


class _Loop:
    """The event loop: a heap of (instant, phase, serial, row, life)."""

    def __init__(self, books: Books, demands: Demands, pacing: Pacing) -> None:
        self.books = books
        self.demands = demands
        self.pacing = pacing
        self.heap: list[tuple[int, int, int, int, int]] = []
        self.serial = 0
        self.decisions: list[tuple[int, Decision]] = []
        self.quota: array[int] | None = None
        self.job_of: dict[int, int] = {}  # request → job
        self.life: dict[int, int] = {}  # allocation → serial of its start; an older end event is void
        self.stopping: set[int] = set()
        self.next_wake: int | None = None
        self.openings = Openings({books.rows.group.name: books})

    def push(self, instant: int, phase: int, row: int, life: int = 0) -> None:
        heappush(self.heap, (instant, phase, self.serial, row, life))
        self.serial += 1

    def step(self, now: int, phase: int, row: int, life: int) -> None:
        if phase == SUBMIT:
            self.submit(row, now)
        elif phase == END and self.life.get(row) == life:
            self.end(row, now)
        elif phase == END:
            return
        self.stop_expired(now)
        if phase == WAKE and now == self.next_wake:
            self.next_wake = None  # a switch wants to be woken again at the same instant
        if phase == WAKE and (self.open_window(now) | self.count_budgets(now)):
            self.pacing.at_once(now)
        elif phase == WAKE and self.pacing.is_due(now):
            self.cycle(now)
            self.stop_expired(now)
        self.wake(now)

    def submit(self, job: int, now: int) -> None:
        demands = self.demands
        request = transitions.submit(
            self.books,
            demands.leaf[job],
            demands.tasks[job],
            name=demands.name[job],
            priority=demands.priority[job] if demands.priority else 0,
            submitted=now,
            user=demands.user[job] if demands.user else "",
        )
        self.job_of[request] = job
        self.pacing.changed(now)

    def end(self, allocation: int, now: int) -> None:
        """A task ended, by itself or because it was stopped; then it waits again."""
        books = self.books
        request, host = books.allocations.request[allocation], books.allocations.host[allocation]
        leaf = books.requests.leaf[request]
        was_noticed = books.allocations.noticed[allocation] > 0
        transitions.release(books, allocation, 1)
        _hold(books, leaf, -1, now)
        del self.life[allocation]
        if allocation in self.stopping:
            self.stopping.discard(allocation)
        else:
            transitions.want(books, request, books.requests.count[request] - 1)
        grant = None if was_noticed or self.quota is None else hand_over(books, leaf, host, self.quota)
        if grant is None:
            self.pacing.changed(now)
        else:
            self.start(grant.request, grant.host, now)
            self.pacing.handed_over(now)
        if books.requests.count[request] == 0:
            transitions.forget(books, request)
            del self.job_of[request]

    def start(self, request: int, host: int, now: int) -> None:
        allocation = transitions.grant(self.books, request, host, 1, now)
        _hold(self.books, self.books.requests.leaf[request], 1, now)
        self.life[allocation] = self.serial
        self.push(now + self.demands.duration[self.job_of[request]], END, allocation, self.serial)

    def cycle(self, now: int) -> None:
        result = run(self.books, now)
        self.quota = result.draft.quota
        book_withdrawals(self.books, result.decision)
        book_notices(self.books, result.decision)
        for grant in result.decision.grants:
            for _ in range(grant.units):
                self.start(grant.request, grant.host, now)
        book_rest(self.books, result.decision, now)
        self.decisions.append((now, result.decision))
        self.pacing.ran(now)
        if result.decision.due is not None:
            self.pacing.not_after(result.decision.due)

    def stop_expired(self, now: int) -> None:
        for notice in transitions.take_expired(self.books, now):
            allocation = self.books.notices.allocation[notice]
            if allocation not in self.stopping:
                self.stopping.add(allocation)
                self.life[allocation] = self.serial
                self.push(now, END, allocation, self.serial)

    def open_window(self, now: int) -> bool:
        """Let a switch happen that is due; its cycle runs at the same instant."""
        opened = self.openings.take(now)
        for _, force in opened:
            self.books.use(in_other_window(self.books.rows, force))
            self.quota = None
        return bool(opened)

    def count_budgets(self, now: int) -> bool:
        """Let budgets be used up, or begin again, whose instant has come; a cycle follows at the same instant."""
        consumers = spent(self.books, now)
        if consumers is None:
            return False
        rows = self.books.rows
        self.books.use(with_spent(rows, frozenset(rows.by_path[path] for path in consumers)))
        self.quota = None
        return True

    def wake(self, now: int) -> None:
        """Come back when a cycle is due, a grace ends or, while there is work, other entries come into force."""
        due = [self.pacing.due, transitions.next_deadline(self.books)]
        if self.job_of:
            due += [self.openings.next(now), next_of_budgets(self.books, now)]
        instant = min((each for each in due if each is not None), default=None)
        if instant is not None and instant != self.next_wake:
            self.push(instant, WAKE, 0)
        self.next_wake = instant


def _hold(books: Books, leaf: int, units: int, now: int) -> None:
    if books.spending is not None:
        books.spending.hold(leaf, units, now)
