"""`workload` and the commands below it; what they do stands in `cli/workload.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairhold.cli.arguments import AFTER, INPUT
from fairhold.cli.live.options import Json  # noqa: TC001 - likewise

workload_app = typer.Typer(
    no_args_is_help=True, help="Show workloads, convert them to tables, describe tenants like them."
)
_File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", click_type=INPUT, help="A scenario, a section `workload:`, tenants, or a trace with --kind."
    ),
]
_Kind = Annotated[
    str, typer.Option("--kind", metavar="KIND", help="Format of a trace: swf, sacct, philly, openb, pods or fairhold.")
]
_Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", click_type=AFTER, help="File to write; default: standard output."),
]
_Skip = Annotated[bool, typer.Option("--skip", help="Skip faulty rows with a warning instead of failing.")]


@workload_app.command("show")
def workload_show(file: _File, *, kind: _Kind = "", json: Json = False) -> None:
    """Show a workload: jobs, faults, consumers, load over time; exit 1 if faults are fatal."""
    from fairhold.cli.workload import show_workload  # noqa: PLC0415

    raise typer.Exit(show_workload(file, kind, as_json=json))


@workload_app.command("fit")
def workload_fit(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", click_type=INPUT, help="As for `show`; several files are counted together."),
    ],
    *,
    kind: _Kind = "",
    time_zone: Annotated[
        str, typer.Option("--time-zone", metavar="ZONE", help="Time zone of hours and weekdays; default: UTC.")
    ] = "UTC",
    output: _Output = None,
    skip: _Skip = False,
) -> None:
    """Describe tenants that submit like the consumers of a trace, for `kind: tenants`."""
    from fairhold.cli.workload import fit_workload  # noqa: PLC0415

    fit_workload(files, kind, time_zone, output, skip=skip)


@workload_app.command("convert")
def workload_convert(file: _File, *, kind: _Kind = "", output: _Output = None, skip: _Skip = False) -> None:
    """Write a workload as a table that `kind: fairhold` reads."""
    from fairhold.cli.workload import convert_workload  # noqa: PLC0415

    convert_workload(file, kind, output, skip=skip)
