"""The command of the explorer."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads annotations
from typing import Annotated

import typer

from fairhold.cli.arguments import AFTER, INPUT, PlanFile
from fairhold.cli.live.options import Json  # noqa: TC001 - likewise
from fairhold.errors import UsageError


def explore(
    plan: PlanFile,
    state: Annotated[
        Path | None,
        typer.Argument(metavar="[STATE]", click_type=INPUT, help="State file; without one there is no demand."),
    ] = None,
    *,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="PLACE:KEY=VALUE", help="A change, `/Trading:owned=8`, `/Trading/FX:demand=5`. Repeatable."
        ),
    ] = None,
    consumer: Annotated[
        list[str] | None,
        typer.Option(
            "--consumer",
            metavar="PATH",
            help="Explain this consumer before and after; `changed`: all that change. Repeatable.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", click_type=AFTER, help="Write the changed plan, as JSON."),
    ] = None,
    state_output: Annotated[
        Path | None,
        typer.Option("--state-output", metavar="FILE", click_type=AFTER, help="Write the changed state, as JSON."),
    ] = None,
    begin: Annotated[
        str, typer.Option("--from", metavar="INSTANT", help="The instant, without a STATE; default: now.")
    ] = "",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port of the page on this machine; 0 = any free port.")
    ] = 0,
    json: Json = False,
) -> None:
    """Change values of a plan or the demand, and see all quotas and why; without `--set`, in a browser."""
    from fairhold.cli.exploring import open_explorer, print_explored  # noqa: PLC0415

    if not set_ and (consumer or output or state_output or json):
        raise UsageError("`--consumer`, `--output`, `--state-output` and `--json` go with `--set`")
    if set_ and port:
        raise UsageError("`--port` is for the page, and `--set` opens no page")
    explorer = open_explorer(plan, state, begin)
    inputs = [each for each in (plan, state) if each is not None]
    if not set_:
        from fairhold.cli.serving_explorer import serve_explorer  # noqa: PLC0415

        serve_explorer(explorer, inputs, port)
        return
    print_explored(
        *(explorer, set_, consumer or ()), inputs=inputs, output=output, state_output=state_output, as_json=json
    )
