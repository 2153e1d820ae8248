"""What must hold of the service's state: after every cycle, and of the whole of it now and then."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from fairhold.cycle import invariants
from fairhold.cycle.document import run_cycle
from fairhold.cycle.pooled.invariants import untrue
from fairhold.cycle.run import run
from fairhold.cycle.slot_ledger import MarkedCycle
from fairhold.cycle.verify import verify
from fairhold.errors import InputError
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.freeze import freeze
from fairhold.planio.state import parse_state
from fairhold.planio.statewrite import state_document
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.recovery import follow
from fairhold.runtime.live.views.state import live_state
from tests.orchestrator.storm import check_cluster
from tests.storms.disk import MemoryStore
from tests.storms.kernel import SECOND
from tests.storms.plans import OWN

if TYPE_CHECKING:
    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.orchestrator.pooling import VectorCycle
    from tests.storms.judge import Judge

PATIENCE = 60 * SECOND
"""For which all has to go well before something overdue is nobody's fault but the service's."""


class Truths:
    """Looks at the core of one start of the service."""

    def __init__(self, judge: Judge, core: Core) -> None:
        self.judge, self.core = judge, core
        notes = core.cycle_notes
        notes.take = partial(self._of_slots, notes.take)  # type: ignore[method-assign]
        notes.take_vectors = partial(self._of_vectors, notes.take_vectors)  # type: ignore[method-assign]

    def _of_slots(self, take: Any, result: SlotCycle, cause: str) -> None:
        """SPEC §10, after a cycle of slots; one that went on from the last also equals one from the start."""
        whole = result
        if isinstance(result, MarkedCycle):
            whole = run(result.books, result.now)
            self.judge.demand(
                (whole.decision, whole.idle) == (result.decision, result.idle), "a cycle from marks decides otherwise"
            )
        self.judge.counts["cycles checked"] += 1
        broken = invariants.check(whole)  # type: ignore[arg-type]  # a whole one by now
        self.judge.demand(not broken, f"after a cycle: {broken}")
        take(result, cause)

    def _of_vectors(self, take: Any, cycle: VectorCycle, cause: str) -> None:
        """SPEC §10, after a cycle of vectors."""
        state = cycle.state
        plan = self.core.cluster.books[POOLED].rows.source
        broken = [each for force, done in cycle.cycles for each in untrue(plan, force, state, done)]
        self.judge.counts["cycles checked"] += 1
        self.judge.demand(not broken, f"after a cycle: {broken}")
        take(cycle, cause)

    def look(self) -> None:
        """The state as a whole, between two steps."""
        core, judge = self.core, self.judge
        check_cluster(core.cluster)
        there = {number: (each.job.name, each.index, each.number) for number, each in core.cluster.attempts.items()}
        if not len(core.journal):
            on_record = {number: each.task for number, each in judge.running.items()}
            judge.demand(there == on_record, f"{there} run, and on record {on_record}")
        self._deadlines()

    def _deadlines(self) -> None:
        """Who is to be gone by an instant is gone, or told to stop, where nothing was in the way for long enough."""
        storm, core = self.judge.storm, self.core
        now = storm.kernel.now
        if now < max(storm.troubles.until, storm.service.began) + PATIENCE:
            return
        for attempt in core.cluster.attempts.values():
            machine = core.cluster.machines.get(attempt.machine)
            if attempt.notice is None or machine is None or machine.is_silent:
                continue
            late = core.orchestrator.now - attempt.notice.deadline
            self.judge.demand(late < PATIENCE, f"attempt {attempt.name} was to be gone {late / SECOND:.0f} s ago")

    def look_closely(self) -> None:
        """A start from the store, and the independent check of a cycle from a state file."""
        core, judge = self.core, self.judge
        if not len(core.journal):
            other = Core(MemoryStore(judge.storm.disk), core.orchestrator.now.__int__, own=OWN)
            follow(other)
            is_same = freeze(other.cluster) == freeze(core.cluster)
            judge.demand(is_same, "the log gives another state than the service has")
        self._verify()

    def _verify(self) -> None:
        plan, now = self.core.plan, self.core.orchestrator.now
        told = live_state(plan, self.core.cluster, now)
        if told["unsaid"]:
            return
        try:
            state = parse_state(json.dumps(told["state"]), plan, "the live state")
        except InputError as error:
            if {fault.code for fault in error.faults} == {"used-above-host"}:
                return  # a plan has made a host smaller than what runs there: no file can say that
            self.judge.demand(holds=False, what=f"the live state is no state file: {error}")
            return
        cycle = run_cycle(plan, state, check=True)
        document = cycle.document | {"state": state_document(plan, cycle.after)}
        findings = verify(plan, state, json.loads(json.dumps(document)))
        self.judge.counts["verified"] += 1
        self.judge.demand(not cycle.untrue, f"of the live state: {cycle.untrue}")
        self.judge.demand(not findings, f"verify finds {findings}")
