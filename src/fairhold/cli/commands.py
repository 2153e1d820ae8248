"""Every command with its arguments; what it does stands in the module that it calls."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairhold import __version__

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Share a cluster between the parts of an organisation by a plan.",
)

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="Plan file, YAML or JSON.")]
StateFile = Annotated[Path, typer.Argument(metavar="STATE", help="State file, YAML or JSON.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.callback()
def common(
    *, version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False
) -> None:
    """Share a cluster between the parts of an organisation by a plan."""
    if version:
        typer.echo(f"fairhold {__version__}")
        raise typer.Exit


@app.command()
def check(plan: PlanFile, *, json: Json = False) -> None:
    """Check a plan: every fault with its place and mend; the balance of every parent."""
    from fairhold.cli.files import check_plan  # noqa: PLC0415

    check_plan(plan, as_json=json)


@app.command()
def quota(plan: PlanFile, state: StateFile, *, json: Json = False) -> None:
    """Print what every consumer is entitled to now."""
    from fairhold.cli.files import print_quota  # noqa: PLC0415

    print_quota(plan, state, as_json=json)


@app.command()
def cycle(
    plan: PlanFile,
    state: StateFile,
    *,
    after: Annotated[Path | None, typer.Option("--after", help="File to write the state after the cycle to.")] = None,
    json: Json = False,
) -> None:
    """Run one whole cycle: quotas, grants, reclaims, and the state after it."""
    from fairhold.cli.files import print_cycle  # noqa: PLC0415

    print_cycle(plan, state, after, as_json=json)


@app.command()
def explain(
    plan: PlanFile,
    state: StateFile,
    consumer: Annotated[str, typer.Argument(metavar="CONSUMER", help="Full path, as /Trading/Risk.")],
    *,
    group: Annotated[str, typer.Option("--group", help="Resource group; all where the option is left out.")] = "",
    json: Json = False,
) -> None:
    """Say why a consumer's numbers are what they are, and what would give it one slot more."""
    from fairhold.cli.files import print_explanation  # noqa: PLC0415

    print_explanation(plan, state, consumer, group, as_json=json)


@app.command()
def verify(
    plan: PlanFile,
    state: StateFile,
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="What `quota --json` or `cycle --json` printed.")],
    *,
    json: Json = False,
) -> None:
    """Check a result independently: it is computed again another way; exit 1 where anything differs."""
    from fairhold.cli.files import verify_result  # noqa: PLC0415

    verify_result(plan, state, result, as_json=json)


@app.command()
def diff(
    plan: PlanFile,
    newplan: Annotated[Path, typer.Argument(metavar="NEWPLAN", help="The plan to compare with.")],
    state: StateFile,
    *,
    json: Json = False,
) -> None:
    """Show what a new plan would do: who gains, who loses, what would be reclaimed, by when."""
    from fairhold.cli.files import print_diff  # noqa: PLC0415

    print_diff(plan, newplan, state, as_json=json)


@app.command()
def schema(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="plan, state or jobs.")],
) -> None:
    """Print the JSON Schema of a file format, for editors."""
    from fairhold.cli.files import print_schema  # noqa: PLC0415

    print_schema(kind)


@app.command()
def run(
    plan: PlanFile,
    jobs: Annotated[Path, typer.Argument(metavar="JOBS", help="Job file, YAML or JSON.")],
    *,
    output: Annotated[
        Path | None, typer.Option("--output", help="Directory for outputs and record; default: a new one.")
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Plain lines instead of the live table.")] = False,
) -> None:
    """Run a file of real commands on this machine under a plan, in the foreground."""
    from fairhold.cli.run import run_jobs  # noqa: PLC0415

    raise typer.Exit(run_jobs(plan, jobs, output, plain=plain))
