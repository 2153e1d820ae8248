"""Tables: what every trace is before its columns become those of a workload. CSV and JSON lines are read here.

All cells are text, "" where there is nothing, so that numbers stay exactly as they were written.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import compress
from typing import TYPE_CHECKING, NoReturn

from fairhold.planio.report import listed, shown
from fairhold.traces.findings import FIELDS, HEADER, SYNTAX, Findings, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass
class Table:
    """Rows in columns.

    columns  : name → (rows,) cells
    lines    : (rows,) number of each row in its file, from 1
    findings : what was wrong with rows so far
    origin   : instant that numbers of time are counted from, as a header says it
    """

    columns: dict[str, Sequence[str]]
    lines: Sequence[int]
    findings: Findings
    origin: int | None = None

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.lines)

    def cells(self, name: str) -> Sequence[str]:
        """A column; raises InputError where there is none of that name."""
        if name not in self.columns:
            close = get_close_matches(name, self.columns, n=1)
            hint = f"did you mean `{shown(close[0])}`?" if close else f"it has {listed(list(self.columns)[:20])}"
            raise refuse(HEADER, self.findings.name, f"there is no column `{shown(name)}`", hint)
        return self.columns[name]

    def kept(self, keep: Sequence[bool], why: str) -> Table:
        """The rows that are to be kept; the others are counted as passed over."""
        if all(keep):
            return self
        self.findings.passed_over(why, len(keep) - sum(keep))
        columns: dict[str, Sequence[str]] = {name: list(compress(all_, keep)) for name, all_ in self.columns.items()}
        return Table(columns, list(compress(self.lines, keep)), self.findings, self.origin)


def csv_table(text: str, name: str, separator: str = ",", fields: Sequence[str] = ()) -> Table:
    """Read a table whose first row names the columns, unless `fields` does; raises InputError.

    Rows with another number of values are counted and left out; empty lines are nothing.
    """
    rows, lines = rows_of(text, name, separator)
    findings = Findings(name)
    first = next((at for at, row in enumerate(rows) if row), None)
    if first is None:
        raise refuse("empty", name, "the file is empty", "write its columns and rows")
    if fields:
        head, first = list(fields), first - 1
    else:
        head = [cell.strip() for cell in rows[first]]
    check_head(head, name, lines[max(first, 0)])
    rows, lines = rows[first + 1 :], lines[first + 1 :]
    return rectangle(head, rows, lines, findings)


def check_head(head: Sequence[str], name: str, line: int) -> None:
    """Refuse columns of one name, and a name that is empty."""
    twice = next((column for at, column in enumerate(head) if column in head[:at]), None)
    if twice == "" or (twice is None and "" in head and len(head) > 1):
        raise refuse(HEADER, name, "a column has no name", "name every column in the first line", line)
    if twice is not None:
        raise refuse(HEADER, name, f"there are two columns `{shown(twice)}`", "give each its own name", line)


def rectangle(head: Sequence[str], rows: list[list[str]], lines: Sequence[int], findings: Findings) -> Table:
    """The table of rows that have as many values as there are columns; the others are counted."""
    findings.rows += sum(map(bool, rows))
    width = len(head)
    if not all(len(row) == width for row in rows):
        for row, line in zip(rows, lines, strict=True):
            if row and len(row) != width:
                findings.add(FIELDS, f"there are not {width} values", line, str(len(row)))
        keep = [len(row) == width for row in rows]
        rows, lines = list(compress(rows, keep)), list(compress(lines, keep))
    columns = zip(*rows, strict=True) if rows else ([] for _ in head)
    return Table(dict(zip(head, columns, strict=True)), lines, findings)


def rows_of(text: str, name: str, separator: str) -> tuple[list[list[str]], Sequence[int]]:
    """All rows with the lines that they begin in."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        if '"' not in text and "\r" not in text.replace("\r\n", ""):
            rows.extend(reader)
            return rows, range(1, len(rows) + 1)
        begin = 1
        for row in reader:
            rows.append(row)
            lines.append(begin)
            begin = reader.line_num + 1
    except csv.Error as error:
        raise refuse(SYNTAX, name, f"the row cannot be read: {error}", "mend its quotes", reader.line_num) from error
    return rows, lines


def json_table(text: str, name: str) -> Table:
    """Read one object a line; what objects hold inside is named by points: `spec.cpu`. Raises InputError."""
    findings = Findings(name)
    found: list[dict[str, str]] = []
    lines: list[int] = []
    for line, each in enumerate(text.split("\n"), 1):
        if not each or each.isspace():
            continue
        findings.rows += 1
        flat: dict[str, str] = {}
        try:
            value = json.loads(each, parse_int=str, parse_float=str, parse_constant=_no_number, object_pairs_hook=_once)
            if not isinstance(value, dict):
                findings.add(FIELDS, "this is not a JSON object", line)
                continue
            _flatten(value, "", flat)
        except (ValueError, RecursionError) as error:
            findings.add(SYNTAX, "this is not JSON", line, _reason(error))
            continue
        found.append(flat)
        lines.append(line)
    names = dict.fromkeys(key for each in found for key in each)
    return Table({key: [each.get(key, "") for each in found] for key in names}, lines, findings)


def _reason(error: Exception) -> str:
    return str(error).split(":", maxsplit=1)[0]


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key appears twice")
    return found


def _flatten(value: Mapping[str, object], above: str, flat: dict[str, str]) -> None:
    for key, each in value.items():
        if isinstance(each, dict):
            _flatten(each, f"{above}{key}.", flat)
        elif isinstance(each, str):
            flat[above + key] = each
        elif each is None:
            flat[above + key] = ""
        else:
            flat[above + key] = json.dumps(each)
