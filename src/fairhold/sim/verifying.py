"""Recomputes every decision of a run with the independent check (`fairhold verify`, SPEC §10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.cycle.document import decision_document, run_cycle
from fairhold.cycle.verify import verify
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.as_file import as_file, is_sayable, slots_as_file, together
from fairhold.planio.statewrite import state_document
from fairhold.sim.checking import Watcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.model.plan import Plan
    from fairhold.model.state import State
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.pooling import VectorCycle

Document = dict[str, Any]
_MOVES = ("grants", "reclaims", "withdrawn")


class Recomputed(Watcher):
    """Raises BrokenRuleError at the first cycle of a cluster that the independent check finds wrong.

    Only cycles that decided something are computed again, and only where a state file can say which hosts there are.
    """

    def __init__(self, plan: Plan, cluster: Cluster) -> None:
        super().__init__(plan)
        self._cluster = cluster

    def replan(self, plan: Plan, cluster: Cluster) -> None:
        """Another plan is in force, with another cluster."""
        super().replan(plan, cluster)
        self._cluster = cluster

    def cycled(self, now: int, result: SlotCycle) -> None:
        """Compute a cycle of slots again; other groups as they would decide at this instant."""
        mine = result.books
        if not any(result.decision[:3]):
            return
        state = slots_as_file(self._cluster, now, mine)
        if is_sayable(mine):
            group = mine.rows.group.name
            decided = {kind: rows for kind, rows in decision_document(result).items() if kind in _MOVES}
            self._verify(now, decided, lambda row: row["resource_group"] == group, state)

    def cycled_vectors(self, now: int, result: VectorCycle) -> None:
        """Compute a cycle of vectors again."""
        decided = {kind: [row for each in result.done for row in getattr(each, kind)] for kind in _MOVES}
        if any(decided.values()) and is_sayable(self._cluster.books[POOLED]):
            mine = {request.id for request in result.state.requests}
            state = together(slots_as_file(self._cluster, now), as_file(result.state))
            self._verify(now, decided, lambda row: row["request"] in mine, state)

    def _verify(self, now: int, decided: Document, is_mine: Callable[[Document], bool], state: State) -> None:
        """The cycle from a state as a file holds it: decides the same, and obeys the rules.

        decided : moves of the cycle; is_mine : whether a move is one of what the cycle was for
        """
        cycle = run_cycle(self._plan, state)
        wrong = []
        for kind in _MOVES:
            found = [row for row in cycle.document[kind] if is_mine(row)]
            if found != decided[kind]:
                wrong.append(f"{kind}: {decided[kind]} were decided, {found} come of the state as a file")
        result = cycle.document | {"state": state_document(self._plan, cycle.after)}
        wrong += (f"{each.where}: {each.text} [{each.rule}]" for each in verify(self._plan, state, result))
        self._settle(now, wrong)
