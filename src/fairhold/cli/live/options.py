"""Arguments that several live commands have, and what a shell completes them with."""

from __future__ import annotations

import re
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Annotated, Any

import click
import typer

if TYPE_CHECKING:
    from fairhold.client.exchange import Returned, Steps

STATES = ("waiting", "blocked", "held", "running", "done", "failed", "cancelled")
KEYS = ("consumer", "user", "job", "kind", "hour", "day", "month")
"""What usage can be summed by, beside `label:NAME`."""
LABEL = "label:"
_COMPLETION = 0.5
"""Seconds that the service may take to help a shell."""


class Duration(click.ParamType):
    """Text such as `30s`, `10m` or `1h30m`; a plain 0 needs no unit."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - Click's
        """Return what is sent."""
        from fairhold.units import parse_duration  # noqa: PLC0415

        text = str(value)
        if text == "0":
            return 0
        if text.isascii() and text.isdecimal():
            self.fail(f"`{text}` has no unit of time; write {text}s for seconds, or {text}m for minutes", param, ctx)
        if parse_duration(text) is None:
            self.fail(f"`{text}` is not a duration; write it as 30s, 10m or 1h30m", param, ctx)
        return text


class Span(Duration):
    """A duration above 0 and up to 366 days, as the service takes it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - Click's
        """Return what is sent."""
        from fairhold.units import LONGEST, parse_duration  # noqa: PLC0415

        text = super().convert(value, param, ctx)
        if not 0 < (parse_duration(str(text)) or 0) <= LONGEST:
            self.fail(f"`{value}` is not above 0 and up to 366d", param, ctx)
        return text


class Instant(click.ParamType):
    """Text such as `2026-01-05T09:00:00Z`."""

    name = "instant"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - Click's
        """Return what is sent."""
        from fairhold.units import LAST_INSTANT, parse_instant  # noqa: PLC0415

        micros = parse_instant(value)
        if micros is None or not 0 <= micros <= LAST_INSTANT:
            from fairhold.planio.instants import instant_trouble  # noqa: PLC0415

            what, mend = instant_trouble(value)
            what, mend = what or f"`{value}` is not an instant", mend or "write it as 2026-01-05T09:00:00Z"
            self.fail(f"{what}; {mend}", param, ctx)
        return value


class Size(click.ParamType):
    """Bytes with their unit: `512M` and `512MiB` count 1024s, `512MB` counts 1000s; a plain 0 needs no unit."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - Click's
        """Return bytes."""
        from fairhold.units import parse_size  # noqa: PLC0415

        if isinstance(value, int):
            return value
        size = parse_size(value)
        if size is None and value.isascii() and value.isdecimal():
            self.fail(f"`{value}` has no unit; write {value}MiB or {value}GiB", param, ctx)
        if size is None:
            self.fail(f"`{value}` is not a size; write it as 512MiB or 2GiB", param, ctx)
        return size


class Seen(click.ParamType):
    """What a check of the record printed: `NUMBER:HASH`."""

    name = "seen"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - Click's
        """Return it as it is, once it is one."""
        if not re.fullmatch(r"([0-9]{1,12}:[0-9a-f]{64})?", str(value)):
            what = "write NUMBER:HASH as `fairhold audit check` printed it"
            self.fail(f"`{value}` is not what a check printed; {what}", param, ctx)
        return value


class Pair(click.ParamType):
    """`NAME=VALUE`."""

    name = "pair"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - Click's
        """Return it as it is, once it has a name."""
        if not str(value).partition("=")[0] or "=" not in str(value):
            self.fail(f"`{value}` is not a pair; write NAME=VALUE", param, ctx)
        return value


def by_name(pairs: list[str] | None) -> dict[str, str]:
    """`NAME=VALUE`s as a mapping."""
    return {name: value for name, _, value in (each.partition("=") for each in pairs or ())}


def _ask(steps: Steps[Returned]) -> Returned | None:
    """What the service knows, for a shell: nothing where it is slow or not there."""
    from fairhold.cli.live.connection import connect  # noqa: PLC0415
    from fairhold.errors import FairholdError  # noqa: PLC0415

    with suppress(FairholdError), closing(connect("", answer=_COMPLETION)) as connection:
        return connection.run(steps)
    return None


def complete_job(incomplete: str) -> list[tuple[str, str]]:
    """Jobs that have not ended, with their names."""
    from fairhold.client.steps import jobs  # noqa: PLC0415

    found = _ask(jobs({}, 200)) or {"jobs": []}
    return [
        (row["job"], f"{row['state']} {row['consumer']} {row.get('name') or ''}".strip())
        for row in found["jobs"]
        if row["job"].startswith(incomplete)
    ]


def complete_consumer(incomplete: str) -> list[str]:
    """Leaves of all resource groups."""
    from fairhold.client.steps import consumers  # noqa: PLC0415

    groups = (_ask(consumers()) or {"resource_groups": {}})["resource_groups"].values()
    paths = dict.fromkeys(row["path"] for found in groups for row in found["consumers"] if row["leaf"])
    return [path for path in paths if path.startswith(incomplete)]


def complete_host(incomplete: str) -> list[str]:
    """Hosts."""
    from fairhold.client.steps import hosts  # noqa: PLC0415

    found = _ask(hosts()) or {"hosts": []}
    return [row["host"] for row in found["hosts"] if row["host"].startswith(incomplete)]


def complete_job_or_consumer(incomplete: str) -> list[tuple[str, str]]:
    """What can be explained: jobs that have not ended, and leaves."""
    return [*complete_job(incomplete), *((path, "") for path in complete_consumer(incomplete))]


def complete_group(incomplete: str) -> list[str]:
    """Resource groups."""
    from fairhold.client.steps import consumers  # noqa: PLC0415

    groups = (_ask(consumers()) or {"resource_groups": {}})["resource_groups"]
    return [name for name in groups if name.startswith(incomplete)]


def complete_state(incomplete: str) -> list[str]:
    """States of jobs."""
    return [name for name in STATES if name.startswith(incomplete)]


def complete_keys(incomplete: str) -> list[str]:
    """What usage can be summed by; after a comma what has not been named."""
    before, comma, last = incomplete.rpartition(",")
    named = before.split(",")
    return [f"{before}{comma}{name}" for name in KEYS if name.startswith(last) and name not in named]


Service = Annotated[
    str,
    typer.Option(
        "--service",
        metavar="URL",
        help="http://…, https://… or unix:PATH, several with commas; default: FAIRHOLD_SERVICE, or the local one.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JobArgument = Annotated[
    str, typer.Argument(metavar="JOB", help="Number of the job.", autocompletion=complete_job, show_default=False)
]
JobArguments = Annotated[
    list[str], typer.Argument(metavar="JOB...", help="Numbers of jobs.", autocompletion=complete_job)
]
Consumer = Annotated[
    str, typer.Argument(metavar="CONSUMER", help="Full path of a leaf.", autocompletion=complete_consumer)
]
