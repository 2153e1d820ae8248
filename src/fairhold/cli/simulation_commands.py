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
    typer.Option("--ignore-never-run", help="Let what is expected hold although jobs of the consumer can never run."),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Plans played at once, each by a process.")]


def compare(
    scenario: ScenarioFile,
    *,
    draws: Annotated[
        int, typer.Option("--draws", min=2, max=1000, help="How often chance is asked anew; all plans meet the same.")
    ] = 5,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Play the plans of a scenario on several draws of chance, and show what differs by more than that."""
    from fairhold.cli.comparing import compare_plans  # noqa: PLC0415

    raise typer.Exit(compare_plans(scenario, draws=draws, processes=jobs, as_json=json))


def sweep(
    scenario: ScenarioFile,
    *,
    vary: Annotated[
        list[str],
        typer.Option("--vary", metavar="PLACE=VALUES", help="What is varied: `/Trading:owned=8..12:2`. Repeatable."),
    ],
    show: Annotated[
        list[str] | None,
        typer.Option("--show", metavar="NUMBER", help="A number of every run, `wait.p95(/Trading)`; the first sorts."),
    ] = None,
    plan: Annotated[str, typer.Option("--plan", metavar="NAME", help="The one of the scenario's plans.")] = "",
    random: Annotated[int, typer.Option("--random", min=0, help="So many combinations by chance; 0 = all.")] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="What chance draws from.")] = 0,
    ignore_never_run: NeverRun = False,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Play a scenario under many plans that differ in some values, and show what comes of which."""
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
            "--assert", metavar="EXPR", help="Exit 1 unless it is so: `wait.p95(/Trading) < 60s`. Repeatable."
        ),
    ] = None,
    ignore_never_run: NeverRun = False,
    check: Annotated[
        bool, typer.Option("--check", help="Look at every cycle whether what must hold of it does; much slower.")
    ] = False,
    report: Annotated[bool, typer.Option(help="Write report.html into the folder, or not.")] = True,
    plots: Annotated[bool, typer.Option("--plots", help="Also write its plots there, as SVG and PNG.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with what an earlier run left in the folder.")
    ] = False,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Play a workload under one plan or several, and show who waited, held, lent and lost how much."""
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
            help="State directory of the service, which may run or not; else the service that runs is asked.",
        ),
    ] = None,
    since: Annotated[str, typer.Option("--since", metavar="INSTANT", help="Begin then; else with the log.")] = "",
    until: Annotated[str, typer.Option("--until", metavar="INSTANT", help="End then; else with the log.")] = "",
    service: Service = "",
    json: Json = False,
) -> None:
    """Make a scenario of what a service did, to be played again, or under another plan."""
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
            help="State directory to read instead of a service; of --backtest, where to leave what came of it.",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option("--record", metavar="RECORD", click_type=DIRECTORY, help="Folder of a record to read instead."),
    ] = None,
    at: Annotated[str, typer.Option("--at", metavar="INSTANT", help="Of a record: then; else at its end.")] = "",
    backtest: Annotated[
        Path | None,
        typer.Option(
            "--backtest", metavar="RECORD", click_type=DIRECTORY, help="How many forecasts came true in a record."
        ),
    ] = None,
    instants: Annotated[int, typer.Option("--instants", min=1, max=1000, help="Of --backtest.")] = 20,
    draws: Annotated[int, typer.Option("--draws", min=1, max=1000, help="How often run times are drawn.")] = 100,
    seed: Annotated[int, typer.Option("--seed", min=0, help="What chance draws from.")] = 0,
    ahead: Annotated[
        str, typer.Option("--ahead", metavar="DURATION", help="How far is looked.", click_type=Duration())
    ] = "7d",
    service: Service = "",
    json: Json = False,
) -> None:
    """Say when a waiting job will start, with run times drawn from finished tasks; or how often that came true."""
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
