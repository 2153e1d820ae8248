"""The command `notify`."""

from __future__ import annotations

from typing import Annotated

import typer

from fairhold.cli.live.options import Json, Service, complete_job
from fairhold.errors import UsageError


def notify(
    job: Annotated[
        str, typer.Argument(metavar="JOB", help="Its number; default: all your jobs.", autocompletion=complete_job)
    ] = "",
    *,
    events: Annotated[
        str | None, typer.Option("--on", metavar="EVENTS", help="Of what: start,reclaim,withdrawn,end, or none.")
    ] = None,
    mail: Annotated[bool | None, typer.Option("--mail/--no-mail", help="Whether you want mail.")] = None,
    webhook: Annotated[
        str | None,
        typer.Option("--webhook", metavar="URL", help="Where messages are sent; `-` reads it; none: nowhere."),
    ] = None,
    new_secret: Annotated[bool, typer.Option("--new-secret", help="Make another secret for the webhook.")] = False,
    test: Annotated[bool, typer.Option("--test", help="Send yourself a message.")] = False,
    service: Service = "",
    json: Json = False,
) -> None:
    """Be told when jobs start, have to give back, and end: by webhook and by mail."""
    from fairhold.cli.live.notifying import Wanted, notify_always, notify_job  # noqa: PLC0415

    wanted = Wanted(events, mail, webhook, new_secret)
    if not job:
        notify_always(service, wanted, is_test=test, as_json=json)
        return
    if wanted != Wanted(events) or test:
        raise UsageError("with JOB goes --on; how you are reached is the same for all jobs")
    notify_job(service, job, events, as_json=json)
