"""The commands of the simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairhold.cli.arguments import DIRECTORY, INPUT
from fairhold.cli.live.options import Duration, Json, Service, complete_job

ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO", click_type=INPUT, help="Scenario file, `-` for standard input.")
]
NeverRun = Annotated[
    bool,
    typer.Option("--ignore-never-run", help="Do not fail an expectation because some jobs can never run."),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Number of plans played in parallel processes.")]


def compare(
    scenario: ScenarioFile,
    *,
    draws: Annotated[
        int, typer.Option("--draws", min=2, max=1000, help="Number of random draws; all plans get the same ones.")
    ] = 5,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Simulate the plans of a scenario with several random draws, and show the differences beyond chance."""
    from fairhold.cli.comparing import compare_plans  # noqa: PLC0415

    raise typer.Exit(compare_plans(scenario, draws=draws, processes=jobs, as_json=json))


def sweep(
    scenario: ScenarioFile,
    *,
    vary: Annotated[
        list[str],
        typer.Option("--vary", metavar="PLACE=VALUES", help="A value to vary: `/Trading:owned=8..12:2`. Repeatable."),
    ],
    show: Annotated[
        list[str] | None,
        typer.Option(
            "--show", metavar="NUMBER", help="A measure to show, `wait.p95(/Trading)`; rows are sorted by the first."
        ),
    ] = None,
    plan: Annotated[str, typer.Option("--plan", metavar="NAME", help="Which plan of the scenario.")] = "",
    random: Annotated[
        int, typer.Option("--random", min=0, help="Number of random combinations; 0 = all combinations.")
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random numbers.")] = 0,
    ignore_never_run: NeverRun = False,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Simulate a scenario under many plans that differ in some values, and compare the results."""
    from fairhold.cli.sweeping import run_sweep  # noqa: PLC0415

    found = run_sweep(
        scenario,
        plan,
        vary,
        show or (),
        count=random,
        seed=seed,
        processes=jobs,
        as_json=json,
        ignores_never_run=ignore_never_run,
    )
    raise typer.Exit(found)


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
            help="Folder for event logs, summary and report.",
        ),
    ] = None,
    plan: Annotated[
        str, typer.Option("--plan", metavar="NAME", help="Only this one of the scenario's plans, or a plan file.")
    ] = "",
    expect: Annotated[
        list[str] | None,
        typer.Option(
            "--assert", metavar="EXPR", help="Exit 1 unless this holds: `wait.p95(/Trading) < 60s`. Repeatable."
        ),
    ] = None,
    ignore_never_run: NeverRun = False,
    check: Annotated[bool, typer.Option("--check", help="Check the invariants of every cycle; much slower.")] = False,
    report: Annotated[bool, typer.Option(help="Write report.html into the folder.")] = True,
    plots: Annotated[bool, typer.Option("--plots", help="Also write the plots of the report, as SVG and PNG.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted run that left results in the folder.")
    ] = False,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Simulate a workload under one or several plans: waits, allocations, borrowing and lost work."""
    from fairhold.cli.simulating import run_scenario  # noqa: PLC0415

    raise typer.Exit(
        run_scenario(
            scenario,
            plan,
            output,
            expect or (),
            as_json=json,
            processes=jobs,
            report=report,
            plots=plots,
            check=check,
            resume=resume,
            ignores_never_run=ignore_never_run,
        )
    )


def record(
    folder: Annotated[
        Path, typer.Argument(metavar="DIRECTORY", click_type=DIRECTORY, help="New folder for the scenario.")
    ],
    *,
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            metavar="DIRECTORY",
            click_type=DIRECTORY,
            help="State directory of a service, running or not; default: ask the running service.",
        ),
    ] = None,
    since: Annotated[
        str, typer.Option("--since", metavar="INSTANT", help="First instant; default: the beginning of the log.")
    ] = "",
    until: Annotated[
        str, typer.Option("--until", metavar="INSTANT", help="Last instant; default: the end of the log.")
    ] = "",
    service: Service = "",
    json: Json = False,
) -> None:
    """Make a scenario from the log of a service, to replay it as it was or under another plan."""
    from fairhold.cli.recording import run_record  # noqa: PLC0415

    raise typer.Exit(run_record(folder, state, service, since, until, as_json=json))


def forecast(
    job: Annotated[
        str, typer.Argument(metavar="JOB", help="Number of a job that waits.", autocompletion=complete_job)
    ] = "",
    *,
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            metavar="DIRECTORY",
            click_type=DIRECTORY,
            help="State directory to read instead of asking a service; with --backtest, where to save the result.",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option("--record", metavar="RECORD", click_type=DIRECTORY, help="Folder of a record to read instead."),
    ] = None,
    at: Annotated[str, typer.Option("--at", metavar="INSTANT", help="Instant in the record; default: its end.")] = "",
    backtest: Annotated[
        Path | None,
        typer.Option(
            "--backtest",
            metavar="RECORD",
            click_type=DIRECTORY,
            help="Check how many forecasts would have been right in this record.",
        ),
    ] = None,
    instants: Annotated[
        int, typer.Option("--instants", min=1, max=1000, help="Number of instants for --backtest.")
    ] = 20,
    draws: Annotated[int, typer.Option("--draws", min=1, max=1000, help="Number of random draws of run times.")] = 100,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random numbers.")] = 0,
    ahead: Annotated[
        str, typer.Option("--ahead", metavar="DURATION", help="How far to look ahead.", click_type=Duration())
    ] = "7d",
    service: Service = "",
    json: Json = False,
) -> None:
    """Forecast when a waiting job will start, from the run times of finished tasks."""
    from fairhold.cli.forecasting import (  # noqa: PLC0415
        Wanted,
        forecast_from_record,
        forecast_from_store,
        run_backtest,
        run_forecast,
    )
    from fairhold.errors import UsageError  # noqa: PLC0415
    from fairhold.units import parse_duration  # noqa: PLC0415

    wanted = Wanted(draws, seed, max(1, parse_duration(str(ahead)) or 0))
    if at and record is None:
        raise UsageError("--at is an instant of a record; name it by --record")
    named = [name for name, value in (("--service", service), ("--state", state), ("--record", record)) if value]
    if backtest is not None and (job or set(named) - {"--state"}):
        raise UsageError("--backtest tries forecasts on its record: leave JOB, --service and --record out")
    if backtest is None and len(named) > 1:
        raise UsageError(f"{' and '.join(named)} exclude each other: a forecast is made from one of them")
    if backtest is not None:
        raise typer.Exit(run_backtest(backtest, state, instants, wanted, as_json=json))
    if not job:
        raise UsageError("name a JOB, or a record with --backtest")
    if record is not None:
        raise typer.Exit(forecast_from_record(record, job, at, wanted, as_json=json))
    if state is not None:
        raise typer.Exit(forecast_from_store(job, state, wanted, as_json=json))
    raise typer.Exit(run_forecast(job, service, wanted, as_json=json))
