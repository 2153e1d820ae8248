"""Opens the file of a reading and makes its workload."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.traces.building import build
from fairhold.traces.openb import openb_table
from fairhold.traces.opening import read_bytes, read_trace
from fairhold.traces.parquet import parquet_table
from fairhold.traces.pods import pods_table
from fairhold.traces.reading import Field, Reading
from fairhold.traces.sacct import sacct_table
from fairhold.traces.swf import swf_table
from fairhold.traces.tables import csv_table, json_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.model.workload import Workload
    from fairhold.traces.findings import Findings
    from fairhold.traces.tables import Table

UNIT = "unit."
"""How columns of the project's own table begin that are amounts of a resource."""


def load(reading: Reading) -> tuple[Workload, Findings]:
    """Read a file; raises InputError where it cannot be used, or where rows are at fault and that is fatal."""
    table = open_table(reading)
    if reading.kind == "fairhold":
        amounts = [name for name in table.columns if name.startswith(UNIT)]
        unit = tuple((name.removeprefix(UNIT), Field(name, default="0")) for name in amounts)
        reading = replace(reading, unit=unit)
    findings = table.findings
    workload = build(table, reading)
    findings.settle(is_fatal=reading.is_fatal)
    return workload, findings


def open_table(reading: Reading) -> Table:
    """The table that a file holds, whatever its format."""
    name = str(reading.file)
    if reading.kind == "parquet":
        return parquet_table(read_bytes(reading.file), name)
    return _OPENERS.get(reading.kind, _OPENERS["csv"])(read_trace(reading.file), name, reading)


_OPENERS: dict[str, Callable[[str, str, Reading], Table]] = {
    "swf": lambda text, name, _: swf_table(text, name),
    "sacct": lambda text, name, reading: sacct_table(text, name, reading.fields),
    "openb": lambda text, name, _: openb_table(text, name),
    "pods": lambda text, name, reading: pods_table(text, name, reading.label),
    "jsonl": lambda text, name, _: json_table(text, name),
    "csv": lambda text, name, reading: csv_table(text, name, reading.separator, reading.fields),
}
