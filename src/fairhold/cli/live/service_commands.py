"""Commands that start, stop and look after a service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairhold.cli.arguments import DIRECTORY
from fairhold.cli.live.options import Duration, Json, Service, Size

State = Annotated[
    Path | None,
    typer.Option(
        "--state", metavar="DIRECTORY", help="State directory; default: FAIRHOLD_STATE, or one named after the cluster."
    ),
]
Store = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="ADDRESS",
        help="The store is in PostgreSQL: postgresql://USER@HOST:PORT/DATABASE, without a password.",
        show_default=False,
    ),
]
store_app = typer.Typer(no_args_is_help=True, help="Back up, restore, copy and check the store of a service.")


def serve(
    plan: Annotated[
        Path | None,
        typer.Argument(
            metavar="PLAN", click_type=DIRECTORY, help="Plan file; may be left out where the state has a plan."
        ),
    ] = None,
    *,
    state: State = None,
    port: Annotated[
        int, typer.Option("--port", metavar="N", help="Port to listen on; 0 = any free port.", min=0, max=65_535)
    ] = 7878,
    host: Annotated[
        str, typer.Option("--host", metavar="NAME", help="The host of the plan that is this machine.")
    ] = "",
    listen: Annotated[
        str, typer.Option("--listen", metavar="ADDRESS", help="Address to listen at; all but loopback need TLS.")
    ] = "127.0.0.1",
    certificate: Annotated[
        Path | None, typer.Option("--tls-cert", metavar="FILE", help="Certificate chain, PEM.")
    ] = None,
    key: Annotated[Path | None, typer.Option("--tls-key", metavar="FILE", help="Key of the certificate, PEM.")] = None,
    names: Annotated[
        list[str] | None, typer.Option("--name", metavar="NAME", help="Further host name that clients use. Repeatable.")
    ] = None,
    viewer_token: Annotated[
        Path | None,
        typer.Option("--viewer-token", metavar="FILE", help="Token of those who may look, and change nothing."),
    ] = None,
    oidc_secret: Annotated[
        Path | None,
        typer.Option("--oidc-secret", metavar="FILE", help="Secret by which the sign-in provider knows this service."),
    ] = None,
    smtp_secret: Annotated[
        Path | None,
        typer.Option("--smtp-secret", metavar="FILE", help="Password for the mail server of the access document."),
    ] = None,
    store: Store = "",
    socket: Annotated[
        Path | None,
        typer.Option("--socket", metavar="PATH", help="Further Unix socket, which all users of this machine may open."),
    ] = None,
    agents: Annotated[
        str, typer.Option("--agents", metavar="HOST:PORT", help="Address to listen at for agents of other machines.")
    ] = "",
    agents_tls: Annotated[
        str,
        typer.Option(
            "--agents-tls",
            metavar="HOST:PORT",
            help="The same for agents that have enrolled, by TLS with certificates.",
        ),
    ] = "",
    lease: Annotated[
        str,
        typer.Option(
            "--lease",
            metavar="DURATION",
            help="How long tasks on other machines run on without contact.",
            click_type=Duration(),
        ),
    ] = "10m",
    starts: Annotated[
        int, typer.Option("--starts", metavar="N", help="Most tasks started per second on one machine.", min=1)
    ] = 2000,
    output: Annotated[
        int,
        typer.Option(
            "--output-limit",
            metavar="SIZE",
            help="Most output kept of an attempt; 0 = all.",
            click_type=Size(),
            show_default="1GiB",
        ),
    ] = 1 << 30,
    keep_jobs: Annotated[
        str,
        typer.Option(
            "--keep-jobs",
            metavar="DURATION",
            help="How long ended jobs and their outputs are kept; 0 = for ever.",
            click_type=Duration(),
        ),
    ] = "30d",
    keep_log: Annotated[
        str,
        typer.Option(
            "--keep-log",
            metavar="DURATION",
            help="How long events and cycles are kept; 0 = for ever.",
            click_type=Duration(),
        ),
    ] = "7d",
    keep_usage: Annotated[
        str,
        typer.Option(
            "--keep-usage", metavar="DURATION", help="How long usage is kept; 0 = for ever.", click_type=Duration()
        ),
    ] = "400d",
    keep_audit: Annotated[
        str,
        typer.Option(
            "--keep-audit",
            metavar="DURATION",
            help="How long the record of who did what is kept; 0 = for ever.",
            click_type=Duration(),
        ),
    ] = "400d",
    gap: Annotated[
        str,
        typer.Option(
            "--cycle-gap", metavar="DURATION", help="Shortest time between two cycles.", click_type=Duration()
        ),
    ] = "50ms",
    interval: Annotated[
        str,
        typer.Option(
            "--cycle-interval", metavar="DURATION", help="Longest time without a cycle.", click_type=Duration()
        ),
    ] = "1s",
    limits: Annotated[
        list[str] | None,
        typer.Option("--limit", metavar="NAME=N", help="Limit of what is accepted, by its name. Repeatable."),
    ] = None,
    kubernetes: Annotated[
        bool, typer.Option("--kubernetes", help="Govern a Kubernetes cluster: its pods are the work.")
    ] = False,
    kubeconfig: Annotated[
        Path | None,
        typer.Option("--kubeconfig", metavar="FILE", help="How the cluster is reached; default: as kubectl does."),
    ] = None,
    context: Annotated[str, typer.Option("--context", metavar="NAME", help="Context of the kubeconfig.")] = "",
    no_lease: Annotated[
        bool, typer.Option("--no-lease", help="Govern without a lease: no other service may govern the cluster.")
    ] = False,
    lease_namespace: Annotated[
        str, typer.Option("--lease-namespace", metavar="NAME", help="Namespace of the lease; default: the service's.")
    ] = "",
    lease_duration: Annotated[
        str | None,
        typer.Option(
            "--lease-duration",
            metavar="DURATION",
            help="Silence of the service that leads after which another does.",
            click_type=Duration(),
            show_default="3s; 15s with --kubernetes",
        ),
    ] = None,
    standby: Annotated[
        bool, typer.Option("--standby", help="Where another service leads the same store, wait and follow it.")
    ] = False,
    plan_object: Annotated[
        str, typer.Option("--plan-object", metavar="NAME", help="Take the plan from this Plan of the cluster.")
    ] = "",
    observe_only: Annotated[
        bool, typer.Option("--observe-only", help="Decide nothing in the cluster, and tell what would be decided.")
    ] = False,
    level: Annotated[str, typer.Option("--log", metavar="LEVEL", help="debug, info, warning or error.")] = "info",
) -> None:
    """Run the live service, in the foreground, until it is stopped."""
    from fairhold.cli.live.serving import Wanted, WantedCluster  # noqa: PLC0415
    from fairhold.cli.live.serving import serve as run  # noqa: PLC0415
    from fairhold.errors import UsageError  # noqa: PLC0415

    if level.upper() not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
        raise UsageError("--log: write debug, info, warning or error")
    wanted = Wanted(
        plan, state, host, listen, port, certificate, key, agents, lease, output, names or [], level.upper()
    )._replace(keep_jobs=keep_jobs, keep_log=keep_log, starts=starts, gap=gap, interval=interval, limits=limits or [])
    wanted = wanted._replace(keep_usage=keep_usage, keep_audit=keep_audit)
    wanted = wanted._replace(viewer_token=viewer_token, oidc_secret=oidc_secret, smtp_secret=smtp_secret)
    wanted = wanted._replace(socket=socket, agents_tls=agents_tls)
    wanted = wanted._replace(store=store, standby=standby, failover=lease_duration or "3s")
    if standby and kubernetes:
        raise UsageError("--standby is not needed with --kubernetes: services of one cluster share a lease there")
    if not kubernetes and (kubeconfig or context or no_lease or lease_namespace or plan_object or observe_only):
        raise UsageError(
            "--kubeconfig, --context, --lease-namespace, --plan-object and --observe-only are of a cluster that is "
            "governed: add --kubernetes"
        )
    if (no_lease or observe_only) and lease_namespace:
        raise UsageError("--no-lease and --observe-only, which needs none, exclude --lease-namespace")
    lease_of_leader = "" if no_lease or observe_only else lease_duration or "15s"
    cluster = WantedCluster(kubeconfig, context, lease_of_leader, lease_namespace, plan_object, observe_only)
    run(wanted._replace(cluster=cluster if kubernetes else None))


def stop(
    *,
    drain: Annotated[bool, typer.Option("--drain", help="Start nothing more and wait for running tasks.")] = False,
    kill: Annotated[
        bool, typer.Option("--kill", help="Stop running tasks; they are queued again for the next start.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Return when the service has stopped.")] = True,
    service: Service = "",
    json: Json = False,
) -> None:
    """Stop the service; its tasks keep running unless an option says otherwise."""
    from fairhold.cli.live.stopping import stop_service  # noqa: PLC0415
    from fairhold.errors import UsageError  # noqa: PLC0415

    if drain and kill:
        raise UsageError("--drain and --kill exclude each other")
    how = "drain" if drain else "kill" if kill else "leave"
    raise typer.Exit(stop_service(service, how, wait=wait, as_json=json))


def failover(
    *,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Return when another service leads.")] = True,
    service: Service = "",
    json: Json = False,
) -> None:
    """Let a service that stands by take over; the one that led stands by."""
    from fairhold.cli.live.stopping import hand_over  # noqa: PLC0415

    raise typer.Exit(hand_over(service, wait=wait, as_json=json))


def console(
    *,
    only_print: Annotated[bool, typer.Option("--print", help="Print the address; open no browser.")] = False,
    service: Service = "",
    json: Json = False,
) -> None:
    """Open the web console of the service in a browser, signed in."""
    from fairhold.cli.live.console import open_console  # noqa: PLC0415

    open_console(service, only_print=only_print, as_json=json)


def agent(context: typer.Context) -> None:
    """Run the agent of another machine; its arguments are those of `python -m fairhold.agent`, or `enrol` and more."""
    from fairhold.cli.live.serving import run_agent  # noqa: PLC0415

    run_agent(context.args)


@store_app.command("backup")
def store_backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="New file.")],
    *,
    state: State = None,
    store: Store = "",
    json: Json = False,
) -> None:
    """Copy the store of a service, running or not, to a file."""
    from fairhold.cli.live.stores import backup  # noqa: PLC0415

    backup(file, state, store, as_json=json)


@store_app.command("restore")
def store_restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup.")],
    *,
    state: Annotated[
        Path | None,
        typer.Option("--state", metavar="DIRECTORY", help="State directory of a service that is not running."),
    ] = None,
    store: Store = "",
    replace: Annotated[bool, typer.Option("--replace", help="Move an existing store aside.")] = False,
    json: Json = False,
) -> None:
    """Restore the store of a service from a backup."""
    from fairhold.cli.live.stores import restore  # noqa: PLC0415

    restore(file, state, store, replace=replace, as_json=json)


@store_app.command("copy")
def store_copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="State directory or connection string.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The same, of a new store.")],
    *,
    json: Json = False,
) -> None:
    """Copy the store of a service that is not running into another database, and compare the two."""
    from fairhold.cli.live.stores import copy  # noqa: PLC0415

    copy(source, target, as_json=json)


@store_app.command("check")
def store_check(*, state: State = None, store: Store = "", json: Json = False) -> None:
    """Check a store for damage, while a service uses it or not."""
    from fairhold.cli.live.stores import check  # noqa: PLC0415

    check(state, store, as_json=json)
