"""Checks the invariants of every cycle of a run (SPEC §10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.invariants import check
from fairhold.cycle.pooled.invariants import untrue
from fairhold.cycle.run import CycleResult, run
from fairhold.errors import BrokenRuleError
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.model.plan import Plan
    from fairhold.orchestrator.changes import Change
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.pooling import VectorCycle


class Watcher:
    """Checks cycles under a plan before they are carried out, and nothing else.

    count : cycles that were looked at
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.count = 0

    def replan(self, plan: Plan, cluster: Cluster) -> None:  # noqa: ARG002 - others look at the cluster
        """Another plan is in force, with another cluster."""
        self._plan = plan

    def note(self, now: int, changes: Sequence[Change]) -> None:
        """Nothing: cycles are looked at before they are carried out."""

    def lost(self, now: int, attempt: int, work: int) -> None:
        """Nothing, likewise."""

    def _settle(self, now: int, found: Iterable[str]) -> None:
        """Raise BrokenRuleError with the lines of what was found in a cycle, if there are any."""
        self.count += 1
        lines = [f"{format_instant(now)}: {each} [{BrokenRuleError.code}]" for each in found]
        if lines:
            raise BrokenRuleError("\n".join(lines))


class Truths(Watcher):
    """Raises BrokenRuleError at the first cycle that breaks an invariant."""

    def cycled(self, now: int, result: SlotCycle) -> None:
        """Look at a cycle of slots; one that looked at marks alone has to decide what a whole one does."""
        whole = result if isinstance(result, CycleResult) else run(result.books, now)
        of_leaves = result.books.rows.of_leaves
        found = [str(each) for each in check(whole)]
        if (result.decision, of_leaves(result.quota)) != (whole.decision, of_leaves(whole.quota)):
            found.append(f"{result.decision} was decided by marks, a whole cycle decides {whole.decision}")
        self._settle(now, found)

    def cycled_vectors(self, now: int, result: VectorCycle) -> None:
        """Look at a cycle of vectors."""
        state, plan = result.state, self._plan
        self._settle(now, (str(each) for force, cycle in result.cycles for each in untrue(plan, force, state, cycle)))
