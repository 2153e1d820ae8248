"""Commands on the plan of a service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairhold.cli.arguments import AFTER, INPUT, PlanFile
from fairhold.cli.live.options import Json, Pair, Service, Span, by_name

plan_app = typer.Typer(
    no_args_is_help=True,
    help="Show, compare, change and revert the plan of the service; draw a plan, suggest a change.",
)
File = Annotated[Path, typer.Argument(metavar="FILE", help="Plan file, YAML or JSON; `-` is standard input.")]
Was = Annotated[
    list[str] | None,
    typer.Option("--was", metavar="NEW=OLD", help="A consumer that was renamed, with its old path.", click_type=Pair()),
]
Next = Annotated[
    str | None,
    typer.Option(
        "--next",
        metavar="DURATION",
        help="How far to look ahead; default: 7d.",
        click_type=Span(),
    ),
]
Checkpoint = Annotated[
    str | None,
    typer.Option(
        "--checkpoint",
        metavar="DURATION",
        help="How often tasks save their state; default: a stopped task loses all its work.",
        click_type=Span(),
    ),
]
Full = Annotated[bool, typer.Option("--full", help="Show every place, switch, notice and task, not only what matters.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would happen.")]
Comment = Annotated[str, typer.Option("--comment", metavar="TEXT", help="Why.")]


@plan_app.command("show")
def plan_show(
    *,
    version: Annotated[
        int | None, typer.Option("--version", metavar="N", help="Default: the plan in force.", min=1)
    ] = None,
    service: Service = "",
    json: Json = False,
) -> None:
    """Print the plan in force."""
    from fairhold.cli.live.plans import show_plan  # noqa: PLC0415

    show_plan(service, version, as_json=json)


@plan_app.command("apply")
def plan_apply(
    file: File,
    *,
    dry_run: DryRun = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    comment: Comment = "",
    duration: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="DURATION",
            help="How long the plan stays in force; then the previous plan is restored.",
            click_type=Span(),
        ),
    ] = None,
    was: Was = None,
    ahead: Next = None,
    checkpoint: Checkpoint = None,
    seen: Annotated[
        int | None, typer.Option("--from-version", metavar="N", help="Apply only if this version is in force.", min=1)
    ] = None,
    full: Full = False,
    service: Service = "",
    json: Json = False,
) -> None:
    """Put a plan in force, whole or not at all; on a terminal, ask first."""
    from fairhold.cli.live.plans import Shown, apply_plan, ask_and_apply, can_ask  # noqa: PLC0415

    given = {"comment": comment or None, "for": duration, "was": by_name(was) or None, "next": ahead}
    given["checkpoint"] = checkpoint
    body = {name: value for name, value in given.items() if value is not None}
    if not (dry_run or yes or json) and can_ask():
        raise typer.Exit(ask_and_apply(service, file, body, seen, Shown(is_full=full)))
    apply_plan(service, file, body, seen, Shown(is_full=full, as_json=json), is_dry=dry_run)


@plan_app.command("versions")
def plan_versions(*, service: Service = "", json: Json = False) -> None:
    """List the versions of the plan, with author and comment."""
    from fairhold.cli.live.plans import list_versions  # noqa: PLC0415

    list_versions(service, as_json=json)


@plan_app.command("revert")
def plan_revert(
    version: Annotated[
        int | None, typer.Argument(metavar="[VERSION]", help="Default: the version before the one in force.", min=1)
    ] = None,
    *,
    dry_run: DryRun = False,
    comment: Comment = "",
    was: Was = None,
    full: Full = False,
    service: Service = "",
    json: Json = False,
) -> None:
    """Put an earlier version of the plan in force again."""
    from fairhold.cli.live.plans import Shown, revert_plan  # noqa: PLC0415

    revert_plan(service, version, comment, by_name(was), Shown(is_full=full, as_json=json), is_dry=dry_run)


@plan_app.command("diff")
def plan_diff(
    file: File,
    *,
    was: Was = None,
    ahead: Next = None,
    checkpoint: Checkpoint = None,
    full: Full = False,
    service: Service = "",
    json: Json = False,
) -> None:
    """Show what a plan would change now, at the coming windows and over time."""
    from fairhold.cli.live.plans import Shown, show_difference  # noqa: PLC0415

    show_difference(service, file, by_name(was), (ahead, checkpoint), Shown(is_full=full, as_json=json))


@plan_app.command("draw")
def plan_draw(
    plan: PlanFile,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", click_type=AFTER, help="SVG file to write; default: standard output."),
    ] = None,
    group: Annotated[
        str, typer.Option("--resource-group", metavar="GROUP", help="Draw only this resource group; default: all.")
    ] = "",
    state: Annotated[
        Path | None,
        typer.Option("--state", metavar="STATE", click_type=INPUT, help="State file; allocations are drawn, too."),
    ] = None,
) -> None:
    """Draw a plan file as SVG: who owns what, who may lend to whom, hosts and pools; needs no service."""
    from fairhold.cli.drawing import draw_plan  # noqa: PLC0415

    draw_plan(plan, state, group, output)


@plan_app.command("suggest")
def plan_suggest(
    scenario: Annotated[
        Path, typer.Argument(metavar="SCENARIO", click_type=INPUT, help="Scenario file, `-` for standard input.")
    ],
    *,
    consumer: Annotated[str, typer.Option("--consumer", metavar="PATH", help="The consumer that waits too long.")],
    wait: Annotated[str, typer.Option("--wait", metavar="BOUND", help="The wait to reach: `p95 < 60s`.")],
    plan: Annotated[str, typer.Option("--plan", metavar="NAME", help="Which plan of the scenario.")] = "",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", click_type=AFTER, help="File for the plan with the change."),
    ] = None,
    draws: Annotated[
        int,
        typer.Option("--draws", min=1, max=100, help="Number of random draws; the change must suffice in all of them."),
    ] = 1,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, help="Number of changes tried in parallel processes.")
    ] = 1,
    json: Json = False,
) -> None:
    """Find the smallest change of a plan under which a consumer waits no longer than asked; needs no service."""
    from fairhold.cli.suggesting import suggest_plan  # noqa: PLC0415

    raise typer.Exit(suggest_plan(scenario, consumer, wait, plan, output, draws=draws, processes=jobs, as_json=json))
