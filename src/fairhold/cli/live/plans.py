"""`plan`: the plan in force, shown, compared, replaced and taken back."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fairhold.cli.differing import diff_text
from fairhold.cli.live.connection import connect
from fairhold.cli.live.printing import clock, fitted, say, say_json
from fairhold.client import steps
from fairhold.client.errors import Refused
from fairhold.errors import Fault, InputError, printable
from fairhold.planio.document import read_text
from fairhold.runtime.outlet import warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairhold.client.exchange import Document, Steps

_HEAD = ("version", "at", "author", "until", "comment")


def show_plan(service: str, version: int | None, *, as_json: bool) -> None:
    """`plan show`: the text of the plan in force, or of a version."""
    found = connect(service).run(steps.plan(version))
    if as_json:
        say_json(found)
        return
    text = found["text"]
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def list_versions(service: str, *, as_json: bool) -> None:
    """`plan versions`: who changed the plan, when and why."""
    found = connect(service).run(steps.plan_versions())
    if as_json:
        say_json(found)
        return
    rows = [
        (row["version"], clock(row["at"]), row["author"], clock(row["until"]), row["comment"] or None)
        for row in found["versions"]
    ]
    say(fitted(_HEAD, rows, ("until",)))


def show_difference(
    service: str, path: Path, was: Mapping[str, str], ahead: str | None, checkpoint: str | None, *, as_json: bool
) -> None:
    """`plan diff`: what a plan would change now, at the coming windows and over time."""
    path, text = _read(path)
    found = _OfFile(path).run(service, steps.diff_plan(text, was, ahead, checkpoint))
    if as_json:
        say_json(found)
    else:
        say(diff_text(found))


def apply_plan(service: str, path: Path, body: Document, seen: int | None, *, is_dry: bool, as_json: bool) -> None:
    """`plan apply`: put a plan in force, whole or not at all; is_dry: only say what would happen.

    seen : version that it was made from, None = the one in force
    """
    path, text = _read(path)
    found = _OfFile(path).run(service, steps.apply_plan({"text": text, **body}, seen, is_dry=is_dry))
    _say_applied(found, str(path), is_dry=is_dry, as_json=as_json)


def revert_plan(service: str, version: int | None, comment: str, was: Mapping[str, str], *, as_json: bool) -> None:
    """`plan revert`: put an earlier plan in force again."""
    found = connect(service).run(steps.revert_plan(version, comment, was))
    _say_applied(found, "", is_dry=False, as_json=as_json)


def _read(path: Path) -> tuple[Path, str]:
    """A plan file and its text; `-` is standard input."""
    source = Path("/dev/stdin") if str(path) == "-" else path
    return source, read_text(source)


def _say_applied(found: Document, name: str, *, is_dry: bool, as_json: bool) -> None:
    if as_json:
        say_json(found)
        return
    for row in found.get("warnings", ()):
        place = (row["place"],) if row.get("place") else ()
        warn(str(Fault(row["code"], row["what"], row["mend"], place, name, row.get("line") or 0)))
    say(diff_text(found["diff"]))
    version = found["version"]
    say(f"\nnothing was changed; plan {version} is in force" if is_dry else f"\nplan {version} is in force")


class _OfFile:
    """Says the faults of a plan that was sent with the name of its file."""

    def __init__(self, path: Path) -> None:
        self._path = printable(str(path))

    def run(self, service: str, asked: Steps[Document]) -> Document:
        """Ask the service; raises InputError with the file's name."""
        try:
            return connect(service).run(asked)
        except Refused as error:
            if error.status in {409, 412, 428}:  # of the plan in force, and not of the file
                raise
            raise InputError(self._named(error.faults)) from None

    def _named(self, faults: tuple[Fault, ...]) -> Iterator[Fault]:
        return (replace(fault, file=self._path) for fault in faults)
