"""The Standard Workload Format of the Parallel Workloads Archive: 18 numbers a line, -1 for what is not known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fairhold.traces.findings import HEADER, Findings, refuse
from fairhold.traces.tables import Table, rectangle
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMNS = (
    *("job", "submit", "wait", "run", "processors", "cpu_time", "memory", "requested_processors", "requested_time"),
    *("requested_memory", "status", "user", "group", "executable", "queue", "partition", "preceding", "think"),
)
_START = re.compile(r"^;\s*UnixStartTime:\s*([0-9]{1,11})\s*$", re.MULTILINE)
_PARTS = frozenset("234")
"""States of lines that tell only of a part of a job, whose whole stands in a line of its own."""
_CANCELLED = "5"
_NEVER = frozenset(("", "0"))


def swf_table(text: str, name: str) -> Table:
    """Read the jobs of a log; raises InputError where no line of it is one.

    Parts of jobs that were stopped in between, and jobs that were cancelled before they began, are passed over.
    """
    findings = Findings(name)
    rows, lines = [], []
    for line, each in enumerate(text.split("\n"), 1):
        values = each.split()
        if values and values[0][0] != ";":
            rows.append(values)
            lines.append(line)
    table = rectangle(list(COLUMNS), rows, lines, findings)
    if not len(table):
        what = f"no line has the {len(COLUMNS)} numbers of the Standard Workload Format"
        raise refuse(HEADER, name, what, "name a file of this format, or another `kind:`")
    table.columns = {key: _known(cells) for key, cells in table.columns.items()}
    table.columns["tasks"] = [
        used or wanted
        for used, wanted in zip(table.columns["processors"], table.columns["requested_processors"], strict=True)
    ]
    states = table.columns["status"]
    table = table.kept([state not in _PARTS for state in states], "part of a job")
    states, run = table.columns["status"], table.columns["run"]
    began = [state != _CANCELLED or each not in _NEVER for state, each in zip(states, run, strict=True)]
    table = table.kept(began, "cancelled before it began")
    start = _START.search(text)
    table.origin = int(start[1]) * SECOND if start else 0
    return table


def _known(cells: Sequence[str]) -> Sequence[str]:
    """A column with nothing where a number is not known."""
    if "-1" not in cells:
        return cells
    return ["" if each == "-1" else each for each in cells] if set(cells) != {"-1"} else [""] * len(cells)
