"""What is to be written in the next transaction, kept until it is durable."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from fairhold.errors import count
from fairhold.orchestrator.changes import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.orchestrator.changes import Change
    from fairhold.ports import Batch, CycleNote, FinishedJob, FinishedTask, Store

    Write = Callable[[Batch], object]


_ENCODED = json.JSONEncoder(separators=(",", ":")).encode
"""The body of an entry, without the encoder that `json.dumps` makes for every call that asks for separators."""
PLAN_APPLIED = "PlanApplied"
CLOSING = "Closing"
LABELLED = "JobLabelled"
NUMBERED = "JobNumbersTaken"
NODES = "NodesChanged"
"""Kinds of entries that are not changes of the cluster."""
_TOLD = {"JobAdded": "new job", "Started": "new attempt", "Ended": "ended attempt", PLAN_APPLIED: "new plan"}
_ORDER = (*_TOLD.values(), "other change")


class Journal:
    """Collects what one round of the desk decides; `commit` writes all of it or keeps all of it.

    entries : bodies of the log entries of the round with their instants, for who follows the log
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._writes: list[Write] = []
        self.entries: list[tuple[int, str]] = []
        self._tried = (0, 0)
        self.keys: dict[tuple[str, str], str] = {}
        self.specs: dict[str, str] = {}
        self.jobs: dict[str, FinishedJob] = {}
        self.tasks: dict[str, list[FinishedTask]] = {}

    def __len__(self) -> int:
        """How much is to be written."""
        return len(self._writes) + len(self.entries)

    def told(self) -> str:
        """What is to be written, for people: `1 new job, 2 ended attempts, 5 other changes`; empty = nothing."""
        kinds = Counter(_TOLD.get(body.split('"', 2)[1], "other change") for _, body in self.entries)
        return ", ".join(count(kinds[kind], kind) for kind in sorted(kinds, key=_ORDER.index))

    def note(self, change: Change, now: int) -> None:
        """Add a change of the cluster."""
        self.note_entry([type(change).__name__, *change], now)

    def note_entry(self, fields: list[Any], now: int) -> None:
        """An entry of the log: its kind and its fields."""
        self.entries.append((now, _ENCODED(fields)))

    def write(self, write: Write) -> None:
        """Something beside the log."""
        self._writes.append(write)

    def put_spec(self, job: str, body: str) -> None:
        """Add the command of a new job."""
        self.specs[job] = body
        self.write(lambda batch: batch.put_spec(job, body))

    def change_spec(self, job: str, body: str) -> None:
        """What is different of a job now."""
        self.specs[job] = body
        self.write(lambda batch: batch.change_spec(job, body))

    def put_key(self, user: str, key: str, job: str, at: int) -> None:
        """With which key a user submitted a job; empty = with none."""
        self.keys[user, key] = job
        self.write(lambda batch: batch.put_key(user, key, job, at))

    def put_task(self, task: FinishedTask) -> None:
        """Add an attempt that has ended."""
        self.tasks.setdefault(task.job, []).append(task)
        self.write(lambda batch: batch.put_task(task))

    def put_job(self, job: FinishedJob) -> None:
        """Add a job that has ended."""
        self.jobs[job.job] = job
        self.write(lambda batch: batch.put_job(job))

    def put_cycle(self, cycle: CycleNote, document: str) -> None:
        """That a cycle ran."""
        self.write(lambda batch: batch.put_cycle(cycle, document))

    def put_notification(self, kind: str, name: str, body: object) -> None:
        """What people want to be told, or are to be told, of a kind and a name; None = nothing any more."""
        text = "" if body is None else _ENCODED(body)
        self.write(lambda batch: batch.put_notification(kind, name, text))

    def commit(self) -> None:
        """Write everything in one transaction; raises StoreWaits or StoreError with everything still here.

        What was tried before is left out where the store finds that it is durable after all.
        """
        if not self:
            return
        with self._store.transaction() as batch:
            if batch.settled:
                del self.entries[: self._tried[0]], self._writes[: self._tried[1]]
            self._tried = len(self.entries), len(self._writes)
            for at, body in self.entries:
                batch.append(at, body)
            for write in self._writes:
                write(batch)
        self._writes, self.entries, self._tried = [], [], (0, 0)
        self.keys, self.specs, self.jobs, self.tasks = {}, {}, {}, {}


def change_of(word: str, fields: list[Any]) -> Change | None:
    """The change of an entry of the log, by its word and fields; None where the entry is none of the cluster.

    fields : as they come out of JSON; the caller needs them no more
    """
    kind = KINDS.get(word)
    return None if kind is None else kind(*_plain(fields))


def _plain(values: list[Any]) -> list[Any]:
    """JSON has lists where changes have tuples; changed in its place, as a replay does this for every entry."""
    for place, value in enumerate(values):
        if type(value) is list:
            values[place] = tuple(_plain(value))
    return values
