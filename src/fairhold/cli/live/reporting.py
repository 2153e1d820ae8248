"""`report usage`: a month or any span as a table, CSV, JSON, or a page with plots."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from fairhold.cli.live.connection import connect
from fairhold.cli.live.printing import say
from fairhold.cli.live.usage import check_span, hours, keys_of, money, percent, remarks
from fairhold.cli.table import table
from fairhold.cli.writing import write_whole
from fairhold.client import steps
from fairhold.errors import UsageError, printable
from fairhold.lab.report.usage_rows import (
    ALL,
    ITSELF,
    KINDS,
    OTHERS,
    STATES,
    dominant_rows,
    is_known,
    number,
    report_document,
    report_rows,
    utilisations,
)
from fairhold.units import SECOND, format_instant, parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction
    from pathlib import Path

    from fairhold.cli.live.connection import Connection
    from fairhold.client.exchange import Document
    from fairhold.lab.report.usage_rows import ReportRow

FORMS = ("table", "csv", "json", "html")
_MONTH = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])")
_DAY = 24 * 3600 * SECOND
_SHORT, _LONG = 3 * _DAY, 100 * _DAY
"""Up to which span a page shows hours, and up to which days."""


class Wanted(NamedTuple):
    """What is asked for, as the options say it."""

    month: str | None
    start: str | None
    end: str | None
    by: str
    top: int
    resources: tuple[str, ...]
    form: str


def report(service: str, wanted: Wanted, output: Path | None) -> None:
    """Ask for usage, and write the report. Raises UsageError where options say what cannot be."""
    keys = keys_of(wanted.by)
    if "kind" in keys:
        raise UsageError("--by kind: every report tells the kinds apart, leave it out")
    if wanted.form not in FORMS:
        raise UsageError(f"--format {printable(wanted.form)}: write one of {', '.join(FORMS)}")
    start, end = _span(wanted)
    connection = connect(service)
    answer = _ask(connection, wanted, keys, (start, end))
    rows = report_rows(answer, keys, wanted.top)
    if wanted.form == "json":
        text = json.dumps(report_document(answer, keys, rows), indent=1) + "\n"
    elif wanted.form == "csv":
        text = _csv(report_document(answer, keys, rows), keys)
    elif wanted.form == "html":
        text = _page(connection, wanted, (answer, keys, rows))
    else:
        text = _tables(answer, keys, rows, wanted.top) + "\n"
    if output is None:
        say(text.removesuffix("\n"))
    else:
        write_whole(output, text)


def _span(wanted: Wanted) -> tuple[str, str | None]:
    """First instant, and first after; None = now."""
    if wanted.month is not None and (wanted.start or wanted.end):
        raise UsageError("--month beside --from or --to: name a month, or a span")
    if wanted.start or wanted.end:
        check_span(wanted.start, wanted.end)
        return wanted.start or format_instant(0), wanted.end
    month = wanted.month or datetime.now(UTC).strftime("%Y-%m")
    match = _MONTH.fullmatch(month)
    if match is None or int(match[1]) < 1970:
        raise UsageError(f"--month {printable(month)}: write it as 2026-01")
    year, number_of = int(match[1]), int(match[2])
    following = (year + number_of // 12, number_of % 12 + 1)
    return f"{month}-01T00:00:00Z", f"{following[0]:04}-{following[1]:02}-01T00:00:00Z"


def _ask(connection: Connection, wanted: Wanted, keys: Sequence[str], span: tuple[str, str | None]) -> Document:
    resources = ",".join(wanted.resources) or None
    query = {"from": span[0], "to": span[1], "by": ",".join((*keys, "kind")), "resource": resources}
    return connection.run(steps.listing("usage", query))


# Tables


def _tables(answer: Document, keys: Sequence[str], rows: Sequence[ReportRow], top: int) -> str:
    parts = [f"usage from {answer['from']} to {answer['to']}, in hours"]
    for resource in dict.fromkeys(row.resource for row in rows):
        mine = [row for row in rows if row.resource == resource]
        parts.append(_table(answer, keys, mine))
    if not rows:
        parts.append("nothing was used")
    if shares := dominant_rows(rows, keys, top) if len({row.resource for row in rows}) > 1 else []:
        lines = [
            [percent(number(most.share, 9)), most.resource, _hours(most.hours), *_names(row, keys)]
            for row, most in shares
        ]
        parts.append(table(("dominant share", "of", "cluster hours", *keys), lines))
    if used := _utilisation(answer):
        parts.append(used)
    return "\n\n".join([*parts, *remarks(answer)])


def _table(answer: Document, keys: Sequence[str], rows: Sequence[ReportRow]) -> str:
    resource, unit = rows[0].resource, rows[0].unit
    totals = {each.resource: each.total for each in utilisations(answer).values()} if is_known(answer) else {}
    currency = answer.get("currency")
    head = [f"{resource or 'unsized'} {unit}".rstrip(), *KINDS]
    head += ["share"] if totals.get(resource) else []
    head += [currency] if currency else []
    lines: list[list[object]] = []
    for row in rows:
        cells: list[object] = [_hours(row.held), *(_hours(row.hours[kind]) for kind in KINDS)]
        cells += [percent(number(row.held / totals[resource], 9))] if totals.get(resource) else []
        cells += [None if row.cost is None else money(row.cost)] if currency else []
        lines.append([*cells, *_names(row, keys)])
    return table([*head, *keys], lines)


def _names(row: ReportRow, keys: Sequence[str]) -> list[object]:
    if row.of in {ALL, OTHERS}:
        return [row.of, *(None for _ in keys[1:])]
    names: list[object] = [name or None for name in row.names]
    return [f"{names[0]} {row.of}", *names[1:]] if row.of == ITSELF else names


def _hours(value: Fraction) -> str:
    return hours(number(value * 3600, 9))


def _utilisation(answer: Document) -> str:
    """What became of all there was."""
    if not is_known(answer):
        since = answer["capacity_from"]
        return f"utilisation is not known before {since}: ask for a span that begins later" if since else ""
    lines = [
        [each.resource, _hours(each.total), *(percent(number(part, 9)) for part in each.parts().values())]
        for each in utilisations(answer).values()
    ]
    return table(("resource", "hours there", *STATES), lines) if lines else ""


# Files


def _csv(document: Document, keys: Sequence[str]) -> str:
    """A line a row, with all that JSON has of it."""
    columns = [*keys, "of", "resource", "unit", *(f"{kind}_hours" for kind in KINDS), "share"]
    columns += ["dominant_share", "dominant_resource", "dominant_hours", "cost"]
    text = io.StringIO()
    writer = csv.DictWriter(text, [*columns, "currency"], lineterminator="\n")
    writer.writeheader()
    for row in document["rows"]:
        priced = {"currency": document["currency"]} if "cost" in row else {}
        writer.writerow({name: _cell(value) for name, value in (row | priced).items()})
    return text.getvalue()


def _cell(value: str | None) -> str:
    """A spreadsheet takes no name for a formula."""
    text = value or ""
    return f"'{text}" if text[:1] in {"=", "+", "@", "\t", "\r"} or re.match(r"-(?![0-9.]+$)", text) else text


def _page(connection: Connection, wanted: Wanted, found: tuple[Document, Sequence[str], Iterable[ReportRow]]) -> str:
    """The page, with plots over time by consumer. UsageError without the extra that it needs."""
    from fairhold.lab.report import usage_page  # noqa: PLC0415 - an extra

    answer, keys, rows = found
    begin, end = (parse_instant(answer[name]) or 0 for name in ("from", "to"))
    if is_known(answer) and answer["capacity_from"]:
        begin = max(begin, parse_instant(answer["capacity_from"]) or 0)
    time = "hour" if end - begin <= _SHORT else "day" if end - begin <= _LONG else "month"
    over_time = _ask(connection, wanted, ["consumer", time], (answer["from"], answer["to"]))
    return usage_page(answer, over_time, (keys, list(rows), time, wanted.top))
