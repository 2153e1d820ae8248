"""`serve --limit NAME=N`: how much the service accepts, in all and in one request."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from fairhold.errors import UsageError, printable
from fairhold.runtime.live.submitting import Limits
from fairhold.service.settings import RequestLimits

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_DIGITS = 15
_LONGEST_WORD = RequestLimits().argument
"""Bytes: Linux starts no command with a longer one."""


def the_limits(pairs: Sequence[str]) -> tuple[Limits, RequestLimits]:
    """The defaults with what `NAME=N` sets: a whole number from 1 on, of bytes where it is a size.

    Raises UsageError for an unknown limit, an invalid number, or a limit that is set twice.
    """
    of_all, of_one = Limits(), RequestLimits()
    known = [*of_all._asdict(), *asdict(of_one)]
    found: dict[str, int] = {}
    for pair in pairs:
        name, _, text = pair.partition("=")
        if name not in known:
            raise UsageError(f"--limit {printable(pair)}: there is no such limit; write one of {', '.join(known)}")
        if name in found:
            raise UsageError(f"--limit {name} is given twice")
        if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS and int(text)):
            raise UsageError(f"--limit {printable(pair)}: write a whole number from 1 on, as {name}=1000")
        found[name] = int(text)
    if found.get("argument", 0) > _LONGEST_WORD:
        raise UsageError(
            f"--limit argument: the system starts no command that has an argument of more than {_LONGEST_WORD} bytes"
        )
    here = {name: number for name, number in found.items() if name in of_all._fields}
    rest = {name: number for name, number in found.items() if name not in here}
    return of_all._replace(**here), replace(of_one, **rest)
