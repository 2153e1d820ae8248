"""What is kept of every cycle: its number, cause, duration and counts, and its quotas where it took something back."""

from __future__ import annotations

import json
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from fairhold.cycle.document import decision_document, group_document
from fairhold.cycle.run import CycleResult
from fairhold.ports import CycleNote

if TYPE_CHECKING:
    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.orchestrator.pooling import VectorCycle
    from fairhold.runtime.live.journal import Journal

MOST_ROWS = 2_000
"""Consumers of a plan of which the quotas of a cycle are kept."""


class CycleNotes:
    """Takes what the orchestrator tells of its cycles, and writes it to the journal.

    micros  : resource group → duration of its latest cycle, up to its decision
    stages  : name → nanoseconds that all cycles spent in it
    """

    def __init__(self) -> None:
        self.micros: dict[str, int] = {}
        self.stages: dict[str, int] = {}
        self._waiting: list[tuple[CycleNote, str]] = []
        self._shown: dict[str, tuple[tuple[int, ...], ...]] = {}
        self._stage, self._stage_began = "", 0
        self._began = 0

    def begin(self, stage: str) -> None:
        """A stage of a cycle begins and the one before ends; empty: the cycle is over (`Orchestrator.on_stage`)."""
        now = perf_counter_ns()
        if self._stage:
            self.stages[self._stage] = self.stages.get(self._stage, 0) + now - self._stage_began
        else:
            self._began = now
        self._stage, self._stage_began = stage, now

    def take(self, result: SlotCycle, cause: str) -> None:
        """A cycle ran; `on_cycle` of the orchestrator, called before the decision is applied."""
        group = result.books.rows.group.name
        self.begin("note")
        micros = self.micros[group] = (perf_counter_ns() - self._began) // 1000
        document: dict[str, Any] = {}
        shown = result.decision.shown
        is_new = shown != self._shown.get(group, ())
        self._shown[group] = shown
        is_told = bool(result.decision.notices) or is_new
        if is_told and isinstance(result, CycleResult) and len(result.books.rows) <= MOST_ROWS:
            document = group_document(result) | decision_document(result)
        decision = result.decision
        counts = {
            "granted": sum(grant.units for grant in decision.grants),
            "reclaimed": sum(notice.units for notice in decision.notices),
            "withdrawn": sum(withdrawal.units for withdrawal in decision.withdrawals),
            "idle": result.idle,
        }
        if decision.observed:
            counts["observed"] = sum(notice.units for notice in decision.observed)
        self._note(CycleNote(0, result.now, group, cause, micros, json.dumps(counts)), document)

    def take_vectors(self, cycle: VectorCycle, cause: str) -> None:
        """A cycle of vectors ran; `on_vectors` of the orchestrator. What it takes back stands in its document."""
        self.begin("note")
        group = ", ".join(name for force, _ in cycle.cycles for name in force.entry.resource_groups)
        micros = self.micros[group] = (perf_counter_ns() - self._began) // 1000
        counts = {
            "granted": sum(len(each.sweeps.placed) for each in cycle.done),
            "reclaimed": sum(len(each.sweeps.noticed) for each in cycle.done),
            "withdrawn": sum(len(each.sweeps.withdrawn) for each in cycle.done),
        }
        moves = ("grants", "reclaims", "withdrawn", "observed")
        document: dict[str, Any] = {}
        if any(each.reclaims or each.observed for each in cycle.done):
            document = {move: [row for each in cycle.done for row in getattr(each, move)] for move in moves}
        self._note(CycleNote(0, cycle.now, group, cause, micros, json.dumps(counts)), document)

    def _note(self, note: CycleNote, document: dict[str, Any]) -> None:
        """Keep a note until its number is known."""
        self._waiting.append((note, json.dumps(document) if document else ""))

    def write(self, journal: Journal, last: int) -> None:
        """Note the cycles of a round; `last` is the number of the latest."""
        waiting, self._waiting = self._waiting, []
        for number, (note, document) in enumerate(waiting, last - len(waiting) + 1):
            journal.put_cycle(note._replace(number=number), document)
