"""How tasks ended, in words."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from fairhold.client import steps
from fairhold.errors import count

if TYPE_CHECKING:
    from fairhold.cli.live.connection import Connection
    from fairhold.client.exchange import Document

_LOOKED_AT, _MOST = 1_000, 5
"""Tasks of a job among which those that failed are looked for, and of how many is told."""
_ITSELF = ("finished", "failed")


def how_ended(attempt: Document) -> str:
    """How an attempt ended: `exit code 3`, `time_limit: it ran longer than 1 s`, `signal 11 (SIGSEGV)`."""
    code, number, reason = attempt.get("code"), attempt.get("signal"), attempt.get("reason") or ""
    if reason not in _ITSELF:
        return f"{reason}: {attempt['detail']}" if attempt.get("detail") else reason
    if number:
        return f"signal {number} ({_signal(number)})"
    return attempt.get("detail") or (reason if code is None else f"exit code {code}")


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "no name"


def bad_endings(connection: Connection, name: str) -> list[str]:
    """How the tasks of a job ended that did not end well; of the first of them."""
    rows = connection.run(steps.tasks(name, _LOOKED_AT))["tasks"]
    bad = [row for row in rows if row["state"] == "failed" and row.get("attempts")]
    told = [f"task {row['task']}: {how_ended(row['attempts'][-1])}" for row in bad[:_MOST]]
    return [*told, *([f"and {count(len(bad) - _MOST, 'more task')}"] if len(bad) > _MOST else [])]


def is_own_exit(connection: Connection, job: Document) -> bool:
    """Whether a job's exit code says all: it has one task, which ended itself with that code."""
    rows = connection.run(steps.tasks(job["job"], 2))["tasks"]
    if len(rows) != 1 or not rows[0].get("attempts"):
        return False
    last = rows[0]["attempts"][-1]
    return last.get("reason") in _ITSELF and not last.get("signal") and not last.get("detail")
