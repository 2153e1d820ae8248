"""`plan`: the plan in force, shown, compared, replaced and taken back."""

from __future__ import annotations

import os
import select
import sys
import termios
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fairhold.cli.differing import diff_text
from fairhold.cli.live.connection import connect
from fairhold.cli.live.printing import clock, fitted, say, say_json
from fairhold.client import steps
from fairhold.client.errors import Refused
from fairhold.engines.kubernetes.custom_resources import is_plan, text_of
from fairhold.engines.kubernetes.names import DOMAIN
from fairhold.errors import Fault, InputError, printable
from fairhold.planio.document import parse_document, read_text
from fairhold.runtime.outlet import warn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fairhold.cli.live.connection import Asked
    from fairhold.client.exchange import Document, Steps

_HEAD = ("version", "at", "author", "until", "comment")
_LONGEST_LINE = 4096
"""Bytes of a line that a terminal hands over."""
_INTERRUPTED = 128 + 2


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


class Shown(NamedTuple):
    """How a difference is shown: with all details, or as JSON."""

    is_full: bool = False
    as_json: bool = False


def show_difference(
    service: Asked, path: Path, was: Mapping[str, str], look: tuple[str | None, str | None], shown: Shown
) -> None:
    """`plan diff`: what a plan would change now, at the coming windows and over time.

    look : how far ahead, and the time between two checkpoints; None = as the service does it
    """
    path, text = _read(path)
    found = OfFile(path).run(service, steps.diff_plan(text, was, *look))
    if shown.as_json:
        say_json(found)
        return
    warn_of(found.get("warnings"), str(path))
    say(diff_text(found, clock, is_full=shown.is_full))


def apply_plan(service: str, path: Path, body: Document, seen: int | None, shown: Shown, *, is_dry: bool) -> None:
    """`plan apply`: put a plan in force, whole or not at all; is_dry: only say what would happen.

    seen : version that it was made from, None = the one in force
    """
    path, text = _read(path)
    of_file, asked = OfFile(path), {"text": text, **body}
    found = of_file.run(service, steps.apply_plan(asked, seen, is_dry=is_dry, over_time=True))
    _say_applied(found, str(path), shown, is_dry=is_dry)


def can_ask() -> bool:
    """Whether somebody sits at a terminal who can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask_and_apply(service: str, path: Path, body: Document, seen: int | None, shown: Shown) -> int:
    """`plan apply` on a terminal: says what would happen, asks, and does just that; returns the exit status.

    It is refused where another plan was put in force while the question stood.
    """
    path, text = _read(path)
    of_file, asked = OfFile(path), {"text": text, **body}
    found = of_file.run(service, steps.apply_plan(asked, seen, is_dry=True))
    warn_of(found["warnings"], str(path))
    say(diff_text(found["diff"], clock, is_full=shown.is_full))
    status = _answer()
    if status:
        say(f"nothing was changed; plan {found['version']} is in force")
        return status
    found = of_file.run(service, steps.apply_plan(asked, found["version"]))
    say(f"plan {found['version']} is in force")
    return 0


def _answer() -> int:
    """Ask whether to apply: 0 = yes, 1 = no, which all other answers and the end of the input are, 130 = Ctrl-C.

    A line that was typed before the question counts as the answer. The start of one is dropped: nobody sees it there,
    and it would stand before the answer. One read takes an answer that ends with Ctrl-D instead of Enter, too.
    """
    stdin = sys.stdin.fileno()
    if not select.select([stdin], [], [], 0)[0]:
        termios.tcflush(stdin, termios.TCIFLUSH)
    try:
        sys.stdout.write("\nApply? [y/N] ")
        sys.stdout.flush()
        answer = os.read(stdin, _LONGEST_LINE)
    except KeyboardInterrupt:
        say("")
        return _INTERRUPTED
    if not answer.endswith(b"\n"):
        say("")
    return 0 if answer.strip().lower() in {b"y", b"yes"} else 1


def revert_plan(
    service: str, version: int | None, comment: str, was: Mapping[str, str], shown: Shown, *, is_dry: bool
) -> None:
    """`plan revert`: put an earlier plan in force again; is_dry: only say what would happen."""
    found = connect(service).run(steps.revert_plan(version, comment, was, is_dry=is_dry))
    _say_applied(found, "", shown, is_dry=is_dry)


def _read(path: Path) -> tuple[Path, str]:
    """A plan file and its text; `-` is standard input. Of the manifest of a Plan of a cluster, what it holds."""
    source = Path("/dev/stdin") if str(path) == "-" else path
    text = read_text(source)
    value = parse_document(text, str(source)).value if f"{DOMAIN}/" in text else None
    return source, text_of(value) if is_plan(value) and isinstance(value, dict) else text


def _say_applied(found: Document, name: str, shown: Shown, *, is_dry: bool) -> None:
    if shown.as_json:
        say_json(found)
        return
    warn_of(found.get("warnings"), name)
    say(diff_text(found["diff"], clock, is_full=shown.is_full))
    version = found["version"]
    say(f"\nnothing was changed; plan {version} is in force" if is_dry else f"\nplan {version} is in force")


def warn_of(warnings: Iterable[Document] | None, name: str) -> None:
    """Warnings about a document, with the name of its file."""
    for row in warnings or ():
        place = (row["place"],) if row.get("place") else ()
        warn(str(Fault(row["code"], row["what"], row["mend"], place, name, row.get("line") or 0)))


class OfFile:
    """Says the faults of a document that was sent with the name of its file."""

    def __init__(self, path: Path) -> None:
        self._path = printable(str(path))

    def run(self, service: Asked, asked: Steps[Document]) -> Document:
        """Ask the service; raises InputError with the file's name."""
        try:
            return connect(service).run(asked)
        except Refused as error:
            if error.status in {409, 412, 428}:  # of the plan in force, and not of the file
                raise
            raise InputError(self._named(error.faults)) from None

    def _named(self, faults: tuple[Fault, ...]) -> Iterator[Fault]:
        return (replace(fault, file=self._path) for fault in faults)
