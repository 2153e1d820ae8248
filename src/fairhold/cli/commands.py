"""Every command with its arguments; the module that it calls does the work."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads annotations
from typing import Annotated

import typer

from fairhold import __version__
from fairhold.cli.arguments import AFTER, DIRECTORY, INPUT, PlanFile, StateFile
from fairhold.cli.explore_command import explore
from fairhold.cli.import_commands import import_app
from fairhold.cli.live.careful import Careful
from fairhold.cli.live.options import Json, Pair, Service, by_name, complete_group, complete_job_or_consumer
from fairhold.cli.live.register import register
from fairhold.cli.ondemand import made_on_demand
from fairhold.cli.simulation_commands import compare, forecast, record, simulate, sweep
from fairhold.cli.workload_commands import workload_app
from fairhold.errors import UsageError

commands = typer.Typer(pretty_exceptions_enable=False)
"""What there is to call."""
_FILES, _SIMULATION = "Plans and states, as files", "Simulation"
"""Headings of the help, beside that of the live service."""
app = typer.Typer(
    cls=made_on_demand(commands),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Share a cluster between the parts of an organisation by a plan.",
)


@app.callback()
def common(
    *, version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False
) -> None:
    """Share a cluster between the parts of an organisation by a plan."""
    if version:
        typer.echo(f"fairhold {__version__}")
        raise typer.Exit


@commands.command(rich_help_panel=_FILES)
def check(plan: PlanFile, *, json: Json = False) -> None:
    """Check a plan, a scenario or tenants: every fault, where it is and how to mend it."""
    from fairhold.cli.files import check_plan  # noqa: PLC0415

    check_plan(plan, as_json=json)


@commands.command(rich_help_panel=_FILES)
def lint(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILES...", help="Files of KAI-Scheduler's objects: queues, shards, pod groups."),
    ],
    *,
    json: Json = False,
) -> None:
    """Find likely mistakes in KAI's queue files, where values that are left out count as 0."""
    from fairhold.cli.linting import lint_files  # noqa: PLC0415

    raise typer.Exit(lint_files(files, as_json=json))


@commands.command(rich_help_panel=_FILES)
def quota(plan: PlanFile, state: StateFile, *, json: Json = False) -> None:
    """Print what every consumer is entitled to now."""
    from fairhold.cli.files import print_quota  # noqa: PLC0415

    print_quota(plan, state, as_json=json)


@commands.command(rich_help_panel=_FILES)
def cycle(
    plan: PlanFile,
    state: StateFile,
    *,
    after: Annotated[
        Path | None,
        typer.Option(
            "--after",
            metavar="FILE",
            click_type=AFTER,
            help="File to write the state after the cycle to.",
        ),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Check the invariants of the cycle, too; slow.")] = False,
    json: Json = False,
) -> None:
    """Run one whole cycle: quotas, grants, reclaims, and the state after it."""
    from fairhold.cli.files import print_cycle  # noqa: PLC0415

    print_cycle(plan, state, after, check=check, as_json=json)


@commands.command(rich_help_panel=_FILES)
def explain(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[PLAN STATE] CONSUMER|JOB|POD",
            help="Full path, as /Trading/Risk; id of a request in STATE; number of a job; NAMESPACE/NAME of a pod.",
            autocompletion=complete_job_or_consumer,
        ),
    ],
    *,
    group: Annotated[
        str,
        typer.Option("--group", help="Resource group; default: all.", autocompletion=complete_group),
    ] = "",
    service: Service = "",
    json: Json = False,
) -> None:
    """Explain a consumer's numbers and what would give it one slot more, or why a job waits.

    Of the files PLAN and STATE, or of the live service.
    """
    if len(words) == 1:
        from fairhold.cli.live.explaining import explain_consumer, explain_job  # noqa: PLC0415

        if words[0].isdecimal():
            explain_job(service, words[0], as_json=json)
        elif (parts := words[0].split("/"))[0] and len(parts) == 2:
            from fairhold.cli.live.pods import explain_pod  # noqa: PLC0415

            explain_pod(service, *parts, as_json=json)
        else:
            explain_consumer(service, words[0], group, as_json=json)
        return
    if len(words) != 3:
        raise UsageError("explain takes PLAN STATE CONSUMER, or a CONSUMER or JOB of the live service")
    from fairhold.cli.explaining import print_explanation  # noqa: PLC0415

    plan, state = (INPUT.convert(word, None, None) for word in words[:2])
    print_explanation(plan, state, words[2], group, as_json=json)


@commands.command(rich_help_panel=_FILES)
def verify(
    plan: PlanFile,
    state: StateFile,
    result: Annotated[
        Path, typer.Argument(metavar="RESULT", click_type=INPUT, help="What `quota --json` or `cycle --json` printed.")
    ],
    *,
    json: Json = False,
) -> None:
    """Check a result with an independent computation; exit 1 if anything differs."""
    from fairhold.cli.files import verify_result  # noqa: PLC0415

    verify_result(plan, state, result, as_json=json)


@commands.command(rich_help_panel=_FILES)
def diff(
    plan: PlanFile,
    newplan: Annotated[Path, typer.Argument(metavar="NEWPLAN", click_type=INPUT, help="The plan to compare with.")],
    state: Annotated[
        Path,
        typer.Argument(metavar="STATE", click_type=INPUT, help="State file; or a scenario, or its folder, with --at."),
    ],
    *,
    next_: Annotated[str, typer.Option("--next", metavar="DURATION", help="How far to look ahead.")] = "7d",
    at: Annotated[
        str, typer.Option("--at", metavar="TIME", help="How far a scenario is played first: 3d, or an instant.")
    ] = "",
    checkpoint: Annotated[
        str,
        typer.Option(
            "--checkpoint",
            metavar="DURATION",
            help="How often tasks save their state; default: a stopped task loses all its work.",
        ),
    ] = "",
    was: Annotated[
        list[str] | None,
        typer.Option(
            "--was", metavar="NEW=OLD", help="A consumer that was renamed, with its old path.", click_type=Pair()
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Show every place, switch, notice and task, not only what matters.")
    ] = False,
    json: Json = False,
) -> None:
    """Show what a new plan would do: who gains, who loses, what is stopped by when, now and over time."""
    from fairhold.cli.differing import Look, print_diff  # noqa: PLC0415

    print_diff(plan, newplan, state, Look(next_, checkpoint, at), as_json=json, is_full=full, was=by_name(was))


commands.command(rich_help_panel=_FILES)(explore)


@commands.command(rich_help_panel=_FILES)
def windows(
    plan: PlanFile,
    state: Annotated[
        Path | None,
        typer.Argument(
            metavar="[STATE]", click_type=INPUT, help="State file; with it, what each switch would reclaim."
        ),
    ] = None,
    *,
    next_: Annotated[str, typer.Option("--next", metavar="DURATION", help="How far to look ahead.")] = "7d",
    begin: Annotated[
        str,
        typer.Option("--from", metavar="INSTANT", help="First instant; default: `now` of the state, or now."),
    ] = "",
    json: Json = False,
) -> None:
    """Print the calendar of a plan: every switch of windows and what it changes."""
    from fairhold.cli.windows import print_windows  # noqa: PLC0415

    print_windows(plan, state, next_, begin, as_json=json)


@commands.command(rich_help_panel=_FILES)
def schema(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="plan, state, jobs or access.")],
) -> None:
    """Print the JSON Schema of a file format, for editors."""
    from fairhold.cli.files import print_schema  # noqa: PLC0415

    print_schema(kind)


@commands.command(rich_help_panel=_FILES)
def run(
    plan: PlanFile,
    jobs: Annotated[Path, typer.Argument(metavar="JOBS", click_type=INPUT, help="Job file, YAML or JSON.")],
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="DIRECTORY",
            click_type=DIRECTORY,
            help="Directory for outputs and record; default: a new one.",
        ),
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Plain lines instead of the live table.")] = False,
) -> None:
    """Run the commands of a job file on this machine under a plan, in the foreground."""
    from fairhold.cli.run import run_jobs  # noqa: PLC0415

    raise typer.Exit(run_jobs(plan, jobs, output, plain=plain))


for each in (simulate, compare, sweep, record, forecast):
    commands.command(cls=Careful, rich_help_panel=_SIMULATION)(each)
register(commands)
commands.add_typer(workload_app, name="workload", rich_help_panel=_SIMULATION)
commands.add_typer(import_app, name="import", rich_help_panel=_FILES)
