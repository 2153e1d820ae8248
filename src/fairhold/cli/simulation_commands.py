"""The commands of the simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairhold.cli.arguments import DIRECTORY, INPUT
from fairhold.cli.live.options import Json  # noqa: TC001 - Typer reads annotations

ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO", click_type=INPUT, help="Scenario file, `-` for standard input.")
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Plans played at once, each by a process.")]


def simulate(
    scenario: ScenarioFile,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIRECTORY",
            click_type=DIRECTORY,
            help="Folder for the event logs and the summary.",
        ),
    ] = None,
    plan: Annotated[str, typer.Option("--plan", metavar="NAME", help="Only this one of the scenario's plans.")] = "",
    expect: Annotated[
        list[str] | None,
        typer.Option(
            "--assert", metavar="EXPR", help="Exit 1 unless it is so: `wait.p95(/Trading) < 60s`. Repeatable."
        ),
    ] = None,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Play a workload under one plan or several, and show who waited, held, lent and lost how much."""
    from fairhold.cli.simulating import run_scenario  # noqa: PLC0415

    raise typer.Exit(run_scenario(scenario, plan, output, expect or (), as_json=json, processes=jobs))
