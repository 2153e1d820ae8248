"""`import kai` and `import kueue`, with their arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairhold.cli.arguments import AFTER, INPUT
from fairhold.cli.live.careful import all_careful

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILES...", click_type=INPUT, help="Files with objects, or folders of such files."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", click_type=AFTER, help="File to write the plan to; default: print it."
    ),
]

import_app = typer.Typer(
    no_args_is_help=True, help="Make a plan of another system's queues, and say what it cannot hold."
)


@import_app.command()
def kai(files: Files, *, output: Output = None) -> None:
    """Make a plan of KAI-Scheduler's queues."""
    _import("kai", files, output)


@import_app.command()
def kueue(files: Files, *, output: Output = None) -> None:
    """Make a plan of Kueue's ClusterQueues, Cohorts and ResourceFlavors."""
    _import("kueue", files, output)


def _import(system: str, files: list[Path], output: Path | None) -> None:
    from fairhold.cli.importing import import_files  # noqa: PLC0415 - every start of a command pays for imports

    import_files(system, files, output)


all_careful(import_app)
