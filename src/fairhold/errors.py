"""Every error that a user can meet, each with a stable code.

    FairholdError                 code, message
    ├── InputError                a file is at fault: one or many `Fault`s (exit 1)
    │   └── ArgumentError         an argument names what the files do not have (exit 2)
    ├── UsageError                a command was called wrongly (exit 2)
    └── BrokenRuleError           a computation is wrong: fairhold itself is at fault (exit 3)

A fault says what is wrong, where, and how to mend it. `docs/reference/errors.md` explains every code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Step = str | int
Place = tuple[Step, ...]
"""Where a value stands in a file: keys and list positions from the top."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong in an input.

    code   : stable, `kebab-case`; tests and scripts may rely on it
    what   : what is wrong, a sentence without full stop
    mend   : how to mend it, imperative; empty where `what` says it already
    place  : keys and list positions from the top of the document
    file   : name of the file, empty until the reader knows it
    line   : 1-based line, 0 where unknown
    column : 1-based column, 0 where unknown
    """

    code: str
    what: str
    mend: str = ""
    place: Place = ()
    file: str = ""
    line: int = 0
    column: int = 0

    def where(self) -> str:
        """File, line and place as one readable prefix: `plan.yaml:12: policies[0].consumers./A.owned`."""
        head = f"{self.file}:{self.line}" if self.line else self.file
        path = place_text(self.place)
        return f"{head}: {path}" if head and path else head or path

    def __str__(self) -> str:
        where = self.where()
        text = printable(f"{where}: {self.what}" if where else self.what)
        return f"{text} [{self.code}]" + (f"\n    {printable(self.mend)}" if self.mend else "")


def printable(text: str) -> str:
    """One line of a text for people: what steers a terminal, breaks the line or cannot be seen is shown as an escape.

    Names and keys of files, paths and arguments can contain any character; none of them may reach a terminal unchanged.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def count(number: int, what: str) -> str:
    """`1 task`, `2,000 tasks`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def place_text(place: Place) -> str:
    """A place as text: `policies[0].consumers./A.owned`."""
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


class FairholdError(Exception):
    """The root of all errors that a user can meet.

    code : stable name of the kind of error
    """

    code = "fairhold"
    exit_code = 3


class InputError(FairholdError):
    """A file is at fault; nothing of it was applied.

    faults : all faults found, in the order of the file
    """

    code = "input"
    exit_code = 1

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Fault, ...]]]:
        """As another process is told it."""
        return type(self), (self.faults,)


class ArgumentError(InputError):
    """An argument names something that the files do not have; said like a fault of a file."""

    exit_code = 2


class UsageError(FairholdError):
    """A command was called in a way that cannot be carried out."""

    code = "usage"
    exit_code = 2


class BrokenRuleError(FairholdError):
    """What must hold of every cycle does not: a mistake in fairhold, not in a file."""

    code = "broken-rule"
    exit_code = 3
