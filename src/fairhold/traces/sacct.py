"""Accounting records as Slurm's `sacct --parsable2` prints them: one line a job, values between bars."""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from fairhold.model.vector import decimal_text
from fairhold.traces.findings import HEADER, refuse
from fairhold.traces.tables import Table, csv_table

if TYPE_CHECKING:
    from collections.abc import Sequence

TRES = "tres/"
"""Columns of this name are amounts of a node: `tres/cpu`, `tres/mem` in GiB, `tres/gres/gpu`."""
_BYTES = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)([KMGTP]?)")
_NEVER = frozenset(("Unknown", "None", ""))
_WAITS = frozenset(("PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "CONFIGURING"))
_FINEST = {"mem": 1024}
"""Parts of a GiB that memory is rounded up to; all else is rounded up to whole numbers."""


def sacct_table(text: str, name: str, fields: Sequence[str]) -> Table:
    """Read records; raises InputError where the columns that every job needs are not among them.

    Names of columns are in small letters. Steps, jobs that never began and earlier tries of a job are passed over.
    """
    lines = text.split("\n", 1)
    if not fields and lines[0].rstrip("\r").endswith("|"):  # of --parsable: a bar behind the last value, too
        text = re.sub(r"\|(?=\r?$)", "", text, flags=re.MULTILINE)
    table = csv_table(text.replace('"', "'"), name, "|", fields)
    table.columns = {column.lower(): cells for column, cells in table.columns.items()}
    job = next((key for key in ("jobid", "jobidraw") if key in table.columns), None)
    if job is None:
        what, mend = "there is no column `JobID`", "call sacct with --parsable2 and --format=JobID,Submit,Elapsed,…"
        raise refuse(HEADER, name, what, f"{mend}, or name the columns under `fields:`", 1)
    table = table.kept(["." not in each for each in table.columns[job]], "step of a job")
    table.columns["job"] = table.columns[job]
    table = _began(table)
    table = table.kept(_last(table.columns["job"]), "earlier attempt of a job")
    table.columns["elapsed_or_raw"] = table.cells("elapsed" if "elapsed" in table.columns else "elapsedraw")
    _count_nodes(table)
    return table


def _began(table: Table) -> Table:
    """Without the jobs that never began, as their state and their begin say."""
    count = len(table)
    states = table.columns.get("state", [""] * count)
    starts = table.columns.get("start", ["-"] * count)
    elapsed = table.columns.get("elapsed", table.columns.get("elapsedraw", ["-"] * count))
    keep = [
        state.partition(" ")[0] not in _WAITS
        and start not in _NEVER
        and not (state.startswith("CANCELLED") and start == "-" and elapsed_ in ("00:00:00", "0"))
        for state, start, elapsed_ in zip(states, starts, elapsed, strict=True)
    ]
    return table.kept(keep, "never began")


def _last(names: Sequence[str]) -> list[bool]:
    """Whether a record is the last one of its job."""
    last = {name: row for row, name in enumerate(names)}
    return [last[name] == row for row, name in enumerate(names)]


def _count_nodes(table: Table) -> None:
    """Add the columns `cpus`, `nodes` and those of single resources."""
    columns, count = table.columns, len(table)
    told = [columns[key] for key in ("alloctres", "reqtres") if key in columns]
    tres = [next((each for each in cells if each), "") for cells in zip(*told, strict=True)] if told else [""] * count
    read = {text: _resources(text) for text in set(tres)}
    names = dict.fromkeys(key for text in tres for key in read[text])
    nodes = [columns[key] for key in ("allocnodes", "nnodes", "reqnodes") if key in columns]
    columns["nodes"] = [
        read[text].get("node", "") or next((each for each in cells if each not in ("", "0")), "1")
        for text, *cells in zip(tres, *nodes, strict=True)
    ]
    cpus = [columns[key] for key in ("alloccpus", "ncpus", "reqcpus") if key in columns]
    if not cpus and "cpu" not in names:
        what = "no column has the CPUs of a job"
        raise refuse(HEADER, table.findings.name, what, "add AllocTRES or AllocCPUS to --format", 1)
    columns["cpus"] = [
        read[text].get("cpu", "") or next((each for each in cells if each not in ("", "0")), "")
        for text, *cells in zip(tres, *cpus, strict=True)
    ]
    for key in names:
        each_node = {
            (text, number): _part(read[text].get(key, ""), number, key)
            for text, number in set(zip(tres, columns["nodes"], strict=True))
        }
        columns[TRES + key] = [each_node[each] for each in zip(tres, columns["nodes"], strict=True)]


def _resources(text: str) -> dict[str, str]:
    """Resource → amount of `cpu=64,mem=62.50G,node=8`."""
    return {key: value for key, _, value in (each.partition("=") for each in text.split(",")) if value}


def _part(text: str, nodes: str, key: str) -> str:
    """What one of the nodes has of an amount, rounded up; what is not an amount stays as it is."""
    match = _AMOUNT.fullmatch(text)
    if not match or not nodes.isdecimal() or not int(nodes):
        return text
    amount = Fraction(match[1])
    if key == "mem":
        amount = amount * 1024 ** _BYTES[match[2]] / 1024**3 if match[2] else amount / 1024
    elif match[2]:
        amount *= 1024 ** _BYTES[match[2]]
    finest = _FINEST.get(key, 1)
    return decimal_text(Fraction(ceil(amount / int(nodes) * finest), finest))
