"""An engine with an invented clock, to drive an orchestrator without processes."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from fairhold.cycle.pacing import MAX_INTERVAL
from fairhold.orchestrator.events import Event, JobSubmitted, Outcome, TaskEnded, Woken
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.instructions import Instruction, Start, Stop, WakeAt
from tests.orchestrator.batch import END, SUBMIT, WAKE

if TYPE_CHECKING:
    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.ledger.books import Books
    from fairhold.ledger.decision import Decision
    from tests.orchestrator.batch import Demands


class InventedEngine:
    """Plays demands through `Orchestrator.handle`, one event at a time; a stopped task ends at once.

    decisions : every cycle's instant and decision
    log       : every event with the instructions that it led to
    """

    def __init__(self, books: Books, demands: Demands) -> None:
        self.now = 0
        self.decisions: list[tuple[int, Decision]] = []
        self.log: list[tuple[int, Event, tuple[Instruction, ...]]] = []
        group = books.rows.group.name
        self.orchestrator = Orchestrator({group: books}, on_cycle=self._note)
        self.duration = dict(zip(demands.name, demands.duration, strict=True))
        self.heap: list[tuple[int, int, int, Event]] = []
        self.ended: set[int] = set()
        self.wake: int | None = None
        for job, instant in enumerate(demands.submit):
            path = books.rows.path(demands.leaf[job])
            submitted = JobSubmitted(
                demands.name[job],
                path,
                group,
                demands.tasks[job],
                priority=demands.priority[job] if demands.priority else 0,
                user=demands.user[job] if demands.user else "",
            )
            self._push(instant, SUBMIT, submitted)

    def _note(self, result: SlotCycle, cause: str) -> None:
        assert cause
        self.decisions.append((self.now, result.decision))

    def _push(self, instant: int, phase: int, event: Event) -> None:
        heappush(self.heap, (instant, phase, len(self.log) * 1_000_000 + len(self.heap), event))

    def run(self) -> None:
        """Until nothing is left to happen."""
        while self.heap:
            self.now, _, _, event = heappop(self.heap)
            if isinstance(event, TaskEnded):
                if event.attempt in self.ended:
                    continue
                self.ended.add(event.attempt)
            if isinstance(event, Woken) and self.now == self.wake:
                self.wake = None
            self._carry_out(event)

    def _is_done(self) -> bool:
        """Whether nothing is left to happen but switches of windows, which never end."""
        return not any(job.waiting or job.running for job in self.orchestrator.jobs.values())

    def _carry_out(self, event: Event) -> None:
        instructions = self.orchestrator.handle(event, self.now)
        self.log.append((self.now, event, instructions))
        wake = None
        for instruction in instructions:
            match instruction:
                case Start():
                    end = TaskEnded(instruction.attempt, Outcome.FINISHED)
                    self._push(self.now + self.duration[instruction.job], END, end)
                case Stop():
                    self._push(self.now, END, TaskEnded(instruction.attempt, Outcome.STOPPED))
                case WakeAt():
                    wake = instruction.instant
                case _:
                    pass
        if wake is not None and wake > self.now + MAX_INTERVAL and self._is_done():
            wake = None
        if wake is not None and wake != self.wake:
            self._push(wake, WAKE, Woken())
        self.wake = wake
