"""The command `report`: what was used, as tables, data and a page."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads annotations
from typing import Annotated

import typer

from fairhold.cli.arguments import AFTER
from fairhold.cli.live.options import Instant, Service, complete_keys

report_app = typer.Typer(no_args_is_help=True, help="Report what was used, and what it cost.")


@report_app.command("usage")
def report_usage(
    *,
    month: Annotated[
        str | None, typer.Option("--month", metavar="MONTH", help="A month of UTC, as 2026-01; default: this one.")
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="INSTANT", help="First instant, in place of a month.", click_type=Instant()),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option("--to", metavar="INSTANT", help="First instant after; default: now.", click_type=Instant()),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            metavar="KEYS",
            help="Keys to group by: consumer, user, job, label:NAME, hour, day, month; separated by commas.",
            autocompletion=complete_keys,
        ),
    ] = "consumer",
    top: Annotated[
        int, typer.Option("--top", metavar="N", help="Only the N rows that held most of each resource.", min=0)
    ] = 0,
    resource: Annotated[
        list[str] | None,
        typer.Option("--resource", metavar="NAME", help="Resource to show, or `slots`; repeatable; default: all."),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", metavar="FORM", help="table, csv, json or html; html has plots.")
    ] = "table",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", click_type=AFTER, help="File to write; default: standard output."
        ),
    ] = None,
    service: Service = "",
) -> None:
    """Report usage of a month or any span: hours, costs, utilisation; as table, CSV, JSON or HTML."""
    from fairhold.cli.live.reporting import Wanted, report  # noqa: PLC0415

    report(service, Wanted(month, start, end, by, top, tuple(resource or ()), form), output)
