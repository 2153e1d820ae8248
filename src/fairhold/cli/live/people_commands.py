"""Commands on people: who I am, tokens, the access document, and the record of what was done."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairhold.cli.arguments import INPUT
from fairhold.cli.live.options import Duration, Instant, Json, Seen, Service

token_app = typer.Typer(no_args_is_help=True, help="Create, list and revoke tokens.")
access_app = typer.Typer(no_args_is_help=True, help="Show, compare and change who may do what.")
audit_app = typer.Typer(help="Show who did what, and what was refused; check that nothing was changed.")
File = Annotated[
    Path, typer.Argument(metavar="FILE", click_type=INPUT, help="Access document, YAML or JSON; `-` is standard input.")
]
User = Annotated[str | None, typer.Option("--user", metavar="NAME", help="Of this user or service account.")]
_WHEN = Instant()


def whoami(*, service: Service = "", json: Json = False) -> None:
    """Show who the service takes you for, and what you may do."""
    from fairhold.cli.live.people import show_me  # noqa: PLC0415

    show_me(service, as_json=json)


def login(*, service: Service = "", json: Json = False) -> None:
    """Sign in at the service's provider: shows an address and a code to open and enter in a browser."""
    from fairhold.cli.live.signing_in import log_in  # noqa: PLC0415

    log_in(service, as_json=json)


def logout(*, service: Service = "") -> None:
    """Sign out: the service, the provider and this machine forget what `login` has got."""
    from fairhold.cli.live.signing_in import log_out  # noqa: PLC0415

    log_out(service)


@token_app.command("create")
def token_create(
    *,
    user: Annotated[str | None, typer.Option("--user", metavar="NAME", help="Whose; default: yours.")] = None,
    name: Annotated[str, typer.Option("--name", metavar="TEXT", help="What it is for.")] = "",
    expires: Annotated[
        str | None,
        typer.Option(
            "--expires",
            metavar="DURATION",
            help="How long it is good; 0: until revoked. Default: 90d.",
            click_type=Duration(),
        ),
    ] = None,
    service: Service = "",
    json: Json = False,
) -> None:
    """Make a token and print it, this once."""
    from fairhold.cli.live.people import create_token  # noqa: PLC0415

    create_token(service, user, name, expires, as_json=json)


@token_app.command("list")
def token_list(*, user: User = None, service: Service = "", json: Json = False) -> None:
    """List tokens: yours, or those of all whom you may see."""
    from fairhold.cli.live.people import list_tokens  # noqa: PLC0415

    list_tokens(service, user, as_json=json)


@token_app.command("revoke")
def token_revoke(
    token: Annotated[int, typer.Argument(metavar="TOKEN", help="Its number.", min=1)],
    *,
    service: Service = "",
    json: Json = False,
) -> None:
    """Let a token count no more, at once."""
    from fairhold.cli.live.people import revoke_token  # noqa: PLC0415

    revoke_token(service, token, as_json=json)


@access_app.command("show")
def access_show(
    *,
    version: Annotated[
        int | None, typer.Option("--version", metavar="N", help="Default: the one in force.", min=1)
    ] = None,
    service: Service = "",
    json: Json = False,
) -> None:
    """Print the access document in force; what in it gives nobody anything is a warning."""
    from fairhold.cli.live.people import show_access  # noqa: PLC0415

    show_access(service, version, as_json=json)


@access_app.command("versions")
def access_list(*, service: Service = "", json: Json = False) -> None:
    """List the versions of the access document, with author and comment."""
    from fairhold.cli.live.people import list_access  # noqa: PLC0415

    list_access(service, as_json=json)


@access_app.command("diff")
def access_diff(file: File, *, service: Service = "", json: Json = False) -> None:
    """Show what an access document would change."""
    from fairhold.cli.live.people import apply_access  # noqa: PLC0415

    apply_access(service, file, "", None, is_dry=True, as_json=json)


@access_app.command("apply")
def access_apply(
    file: File,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    comment: Annotated[str, typer.Option("--comment", metavar="TEXT", help="Why.")] = "",
    seen: Annotated[
        int | None,
        typer.Option(
            "--from-version", metavar="N", help="Apply only if this version is in force; 0: if there is none.", min=0
        ),
    ] = None,
    service: Service = "",
    json: Json = False,
) -> None:
    """Put an access document in force, whole or not at all."""
    from fairhold.cli.live.people import apply_access  # noqa: PLC0415

    apply_access(service, file, comment, seen, is_dry=dry_run, as_json=json)


@audit_app.callback(invoke_without_command=True)
def audit(
    context: typer.Context,
    *,
    user: User = None,
    action: Annotated[
        str | None, typer.Option("--action", metavar="NAME", help="As the API calls it: submit_job, apply, ….")
    ] = None,
    target: Annotated[str | None, typer.Option("--target", metavar="NAME", help="A job, host, plan or token.")] = None,
    outcome: Annotated[
        str | None, typer.Option("--outcome", metavar="CODE", help="done, or the code of an error.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--from", metavar="INSTANT", help="From then on.", click_type=_WHEN)
    ] = None,
    until: Annotated[str | None, typer.Option("--to", metavar="INSTANT", help="Before then.", click_type=_WHEN)] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="How many.", min=1, max=5000)] = 100,
    everything: Annotated[bool, typer.Option("--all", help="All that is kept, not only the last ones.")] = False,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as more is done.")] = False,
    service: Service = "",
    json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Show who did what, and what was refused; check that nothing was changed."""
    if context.invoked_subcommand is not None:
        return
    from fairhold.cli.live.people import show_audit  # noqa: PLC0415

    query = {"user": user, "action": action, "target": target, "outcome": outcome, "from": since, "to": until}
    show_audit(service, query, limit, everything=everything, follow=follow, as_json=json)


@audit_app.command("check")
def audit_check(
    *,
    seen: Annotated[
        str,
        typer.Option(
            "--seen",
            metavar="NUMBER:HASH",
            help="What an earlier check printed; it has to be there.",
            click_type=Seen(),
        ),
    ] = "",
    service: Service = "",
    json: Json = False,
) -> None:
    """Check that every record follows from the one before; exit 1 where one does not."""
    from fairhold.cli.live.people import check_audit  # noqa: PLC0415

    raise typer.Exit(check_audit(service, seen, as_json=json))
