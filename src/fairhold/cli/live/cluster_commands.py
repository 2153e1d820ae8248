"""Commands on consumers, hosts, groups and usage."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads annotations
from typing import Annotated

import typer

from fairhold.cli.arguments import AFTER
from fairhold.cli.live.options import Instant, Json, Service, complete_group, complete_host, complete_keys

hosts_app = typer.Typer(help="List hosts; close, drain or open one; certificates of their agents.")
Host = Annotated[
    str,
    typer.Argument(
        metavar="HOST", help="Name of the host; `-` is the host of the service.", autocompletion=complete_host
    ),
]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Reason, shown to everybody.")]
At = Annotated[
    str | None,
    typer.Option(
        "--at", metavar="INSTANT", help="When it closes, as 2026-01-05T18:00:00Z; default: now.", click_type=Instant()
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        metavar="INSTANT",
        help="When it opens again; default: when it is opened by hand.",
        click_type=Instant(),
    ),
]
Group = Annotated[
    str | None,
    typer.Argument(metavar="[GROUP]", help="Resource group; default: all.", autocompletion=complete_group),
]


def status(*, service: Service = "", json: Json = False) -> None:
    """Show the service on one screen: plan, hosts, usage, waiting tasks, notices, the last cycle."""
    from fairhold.cli.live.status import show_status  # noqa: PLC0415

    show_status(service, as_json=json)


def state(
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", click_type=AFTER, help="File to write; default: standard output."
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="FILE", click_type=AFTER, help="Also write the plan in force to this file."),
    ] = None,
    service: Service = "",
) -> None:
    """Write the live state as a state file, for the commands on plans and states."""
    from fairhold.cli.live.status import write_state  # noqa: PLC0415

    write_state(service, output, plan)


def top(
    *,
    once: Annotated[bool, typer.Option("--once", help="Print once, as text.")] = False,
    service: Service = "",
    json: Json = False,
) -> None:
    """Show allocations, borrowing and waiting tasks live; `q` quits."""
    from fairhold.cli.live.top import show_top  # noqa: PLC0415

    show_top(service, once=once, as_json=json)


@hosts_app.callback(invoke_without_command=True)
def hosts(
    context: typer.Context,
    *,
    full: Annotated[
        bool, typer.Option("--full", help="Show each host in its own row, also hosts that are alike.")
    ] = False,
    service: Service = "",
    json: Json = False,
) -> None:
    """List hosts; close, drain or open one."""
    if context.invoked_subcommand is not None:
        context.obj = (service, json)
        return
    from fairhold.cli.live.machines import list_hosts  # noqa: PLC0415

    list_hosts(service, as_json=json, is_full=full)


@hosts_app.command("close")
def hosts_close(
    context: typer.Context,
    host: Host,
    *,
    reason: Reason,
    at: At = None,
    until: Until = None,
    service: Service = "",
    json: Json = False,
) -> None:
    """Close a host: nothing more starts there; running tasks continue."""
    _close(context, host, {"reason": reason, "at": at, "until": until}, service, json=json)


@hosts_app.command("drain")
def hosts_drain(
    context: typer.Context,
    host: Host,
    *,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Reason; default: the one given when the host was closed.")
    ] = "",
    at: At = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="INSTANT",
            help="When the tasks that still run there are stopped; default: after their graces.",
            click_type=Instant(),
        ),
    ] = None,
    until: Until = None,
    service: Service = "",
    json: Json = False,
) -> None:
    """Close a host and reclaim its units, with the graces of the plan."""
    _close(context, host, {"reason": reason, "drain": True, "at": at, "by": by, "until": until}, service, json=json)


@hosts_app.command("open")
def hosts_open(context: typer.Context, host: Host, *, service: Service = "", json: Json = False) -> None:
    """Open a host again, and drop a planned closing."""
    from fairhold.cli.live.machines import open_host  # noqa: PLC0415

    before, as_json = context.obj
    open_host(service or before, host, as_json=json or as_json)


@hosts_app.command("enrol")
def hosts_enrol(context: typer.Context, host: Host, *, service: Service = "", json: Json = False) -> None:
    """Print a code with which the agent of a host gets its certificate, once and within an hour."""
    from fairhold.cli.live.machines import enrol_host  # noqa: PLC0415

    before, as_json = context.obj
    enrol_host(service or before, host, as_json=json or as_json)


@hosts_app.command("revoke")
def hosts_revoke(context: typer.Context, host: Host, *, service: Service = "", json: Json = False) -> None:
    """Let the certificates of a host count no more, and cut its agent off."""
    from fairhold.cli.live.machines import revoke_host  # noqa: PLC0415

    before, as_json = context.obj
    revoke_host(service or before, host, as_json=json or as_json)


def _close(context: typer.Context, host: str, body: dict[str, object], service: str, *, json: bool) -> None:
    from fairhold.cli.live.machines import close_host  # noqa: PLC0415

    before, as_json = context.obj
    sent = {name: value for name, value in body.items() if value not in {"", None}}
    close_host(service or before, host, sent, as_json=json or as_json)


def pause(
    group: Group = None,
    *,
    grants: Annotated[bool, typer.Option("--grants", help="Pause grants only.")] = False,
    reclaims: Annotated[bool, typer.Option("--reclaims", help="Pause reclaims only.")] = False,
    service: Service = "",
    json: Json = False,
) -> None:
    """Pause the grants, the reclaims, or both of a resource group."""
    _pause(service, group, "pause", grants=grants, reclaims=reclaims, json=json)


def resume(
    group: Group = None,
    *,
    grants: Annotated[bool, typer.Option("--grants", help="Resume grants only.")] = False,
    reclaims: Annotated[bool, typer.Option("--reclaims", help="Resume reclaims only.")] = False,
    service: Service = "",
    json: Json = False,
) -> None:
    """Resume the grants, the reclaims, or both of a resource group."""
    _pause(service, group, "resume", grants=grants, reclaims=reclaims, json=json)


def _pause(service: str, group: str | None, verb: str, *, grants: bool, reclaims: bool, json: bool) -> None:
    from fairhold.cli.live.machines import set_paused  # noqa: PLC0415

    both = grants == reclaims
    set_paused(service, group, verb, {"grants": both or grants, "reclaims": both or reclaims}, as_json=json)


def budgets(*, service: Service = "", json: Json = False) -> None:
    """List budgets: how much of each is used, and when its period ends."""
    from fairhold.cli.live.budgets import print_budgets  # noqa: PLC0415

    print_budgets(service, as_json=json)


def usage(
    *,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="INSTANT",
            help="First instant, as 2026-01-05T00:00:00Z; default: the start.",
            click_type=Instant(),
        ),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="INSTANT", help="Last instant; default: now.", click_type=Instant())
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            metavar="KEYS",
            help="Keys to group by: consumer, user, job, kind, label:NAME, hour, day, month; separated by commas.",
            autocompletion=complete_keys,
        ),
    ] = "consumer",
    resource: Annotated[
        list[str] | None,
        typer.Option("--resource", metavar="NAME", help="Resource to show, or `slots`; repeatable; default: all."),
    ] = None,
    service: Service = "",
    json: Json = False,
) -> None:
    """Print how much was used of slots and resources, by consumer, user, job and kind."""
    from fairhold.cli.live.usage import print_usage  # noqa: PLC0415

    print_usage(service, start, end, by, resource or (), as_json=json)
