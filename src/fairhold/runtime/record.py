"""Writes down a run: `record.jsonl`, and for every cycle that took slots back the state it started from.

A line has the instant and its kind: the name of an event, with the instructions that came of it, or `cycle`, with what
it decided; a cycle follows the event that caused it. `cycles/NNNN.state.json` is a state file: `fairhold cycle` and
`fairhold explain` come to the same decision from it. The lists of a record are in the terms of `fairhold cycle --json`.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict
from enum import Enum
from typing import TYPE_CHECKING, Any, TextIO

from fairhold.cycle.moves import grants, merged, observed, reclaims, withdrawn
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.as_file import decided, whole_as_file
from fairhold.orchestrator.instructions import WakeAt
from fairhold.planio.state import state_document
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.ledger.books import Books
    from fairhold.model.plan import Plan
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.instructions import Instruction
    from fairhold.orchestrator.pooling import VectorCycle

RECORD = "record.jsonl"
Line = dict[str, Any]


class Record:
    """The record of one run.

    plan, cluster : of the run
    directory     : output directory, exists
    complain      : is told, once, why the record cannot be written; the run goes on without it

    failure : why the record ends before the run, empty where it does not

    Raises FileExistsError where there is a record already: another run has the directory, or had it.
    """

    def __init__(self, plan: Plan, cluster: Cluster, directory: Path, complain: Callable[[str], None]) -> None:
        self._plan = plan
        self._cluster = cluster
        self._directory = directory
        self._complain = complain
        self._cycles = 0
        self._waiting: list[Line] = []
        self._shown: dict[str, tuple[tuple[int, ...], ...]] = {}
        self._observed: list[Line] = []
        self._file: TextIO | None = None
        self._size = 0
        self.failure = ""
        try:
            self._file = (directory / RECORD).open("x", encoding="utf-8", buffering=1)
        except FileExistsError:
            raise
        except OSError as error:
            self._give_up(error)
            return
        try:
            (directory / "cycles").mkdir(exist_ok=True)
        except OSError as error:
            self._give_up(error)

    def note(self, event: Event, instructions: Iterable[Instruction], now: int) -> None:
        """Write down an event, its instructions and the cycles that it caused."""
        line: Line = {"now": format_instant(now), "kind": type(event).__name__} | _plain(asdict(event))
        orders = [order for order in instructions if not isinstance(order, WakeAt)]
        if orders:
            line["instructions"] = [_instruction(order) for order in orders]
        lines, self._waiting = [line, *self._waiting], []
        if self._file is None:
            return
        text = "".join(json.dumps(each) + "\n" for each in lines)
        try:
            self._file.write(text)
        except OSError as error:
            self._give_up(error)
        else:
            self._size += len(text)  # bytes: what `dumps` gives is ASCII

    def cycle(self, result: SlotCycle, cause: str) -> None:
        """Keep a cycle's decision, before it is applied, for the next `note`; `on_cycle` of the orchestrator."""
        decision = result.decision
        group = result.books.rows.group.name
        is_new = decision.shown != self._shown.get(group, ())
        self._shown[group] = decision.shown
        if self._file is None or not (any(decision[:3]) or is_new):
            return
        self._cycles += 1
        line: Line = {
            "now": format_instant(result.now),
            "kind": "cycle",
            "cycle": self._cycles,
            "cause": cause,
            "resource_group": group,
            "grants": merged(grants(result)),
            "reclaims": merged(reclaims(result)),
            "withdrawn": merged(withdrawn(result)),
        }
        if decision.observed:
            line["observed"] = merged(observed(result))
        if decision.notices or is_new:
            line["state"] = self._save_state(result.now, result.books)
        self._waiting.append(line)

    def cycle_of_vectors(self, cycle: VectorCycle, cause: str) -> None:
        """The same of a cycle of all that is shared in vectors; `on_vectors` of the orchestrator."""
        moves = decided(cycle)
        observed = moves.pop("observed")
        is_new = observed != self._observed
        self._observed = observed
        if self._file is None or not (any(moves.values()) or is_new):
            return
        self._cycles += 1
        head = {"now": format_instant(cycle.now), "kind": "cycle", "cycle": self._cycles, "cause": cause}
        line: Line = head | {"resource_group": self._cluster.books[POOLED].rows.group.name} | moves
        if observed:
            line["observed"] = observed
        if moves["reclaims"] or is_new:
            line["state"] = self._save_state(cycle.now)
        self._waiting.append(line)

    def close(self) -> None:
        """No more is written."""
        try:
            if self._file is not None:
                self._file.close()
        except OSError as error:  # what some file systems say only now
            self._give_up(error)
        self._file = None

    def _save_state(self, now: int, books: Books | None = None) -> str:
        """Write the state before a cycle; returns the file's name in the output directory.

        books : of slots, whose cycle it is; None = it is one of vectors

        """
        name = f"cycles/{self._cycles:04d}.state.json"
        path = self._directory / name
        state = whole_as_file(self._cluster, now, books)
        text = json.dumps(state_document(self._plan, state), indent=1)
        try:
            path.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            with suppress(OSError):
                path.unlink()  # half of it
            self._give_up(error)
        return name

    def _give_up(self, error: OSError) -> None:
        """Write no more; what is there ends with a whole line."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None
            with suppress(OSError):
                os.truncate(self._directory / RECORD, self._size)
        self.failure = f"{error.filename or RECORD}: {error.strerror}"
        self._complain(f"the run cannot be recorded: {self.failure}")


def _plain(fields: Line) -> Line:
    return {name: value.value if isinstance(value, Enum) else value for name, value in fields.items()}


def _instruction(instruction: Instruction) -> Line:
    line: Line = {"kind": type(instruction).__name__} | instruction._asdict()
    if "deadline" in line:
        line["deadline"] = format_instant(line["deadline"])
    return line
