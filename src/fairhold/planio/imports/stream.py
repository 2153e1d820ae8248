"""The documents of a text, each with its own report: many objects stand in one file.

A text that starts with `{` or `[` is JSON and one document; any other is YAML, and `---` begins another document.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairhold.errors import InputError
from fairhold.planio.document import parse_document
from fairhold.planio.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.errors import Fault


@dataclass(frozen=True, slots=True)
class Part:
    """One document.

    report : its values, and what is said about them
    above  : lines of the file before it
    """

    report: Report
    above: int

    def faults(self) -> list[Fault]:
        """What is wrong with it, by line of the file."""
        return _moved(self.report.document.locate(self.report.faults), self.above)

    def notes(self) -> list[Fault]:
        """What is to be said about it, by line of the file."""
        return _moved(self.report.document.locate(self.report.warnings), self.above)


def read_parts(text: str, name: str) -> tuple[list[Part], list[Fault]]:
    """Read all documents of a text; those that cannot be read are faults."""
    parts: list[Part] = []
    faults: list[Fault] = []
    for part, above in split(text):
        try:
            parts.append(Part(Report(parse_document(part, name)), above))
        except InputError as error:
            faults += _moved(error.faults, above)
    return parts, faults


def split(text: str) -> Iterator[tuple[str, int]]:
    """The documents of a text with the lines before each; those without values are left out."""
    text = text.removeprefix("\ufeff")
    if text.lstrip(" \t\r\n")[:1] in {"{", "["}:
        yield text, 0
        return
    lines: list[str] = []
    above = 0
    for at, line in enumerate(text.split("\n")):
        begins = line.startswith("---") and (len(line) == 3 or line[3] in " \t\r")
        if begins or (line.startswith("...") and not line[3:].strip()):
            yield from _with_values(lines, above)
            lines, above = ["   " + line[3:]], at
        else:
            lines.append(line)
    yield from _with_values(lines, above)


def _with_values(lines: list[str], above: int) -> Iterator[tuple[str, int]]:
    if any(line.strip() and line.lstrip()[0] not in "#%" for line in lines):
        yield "\n".join(lines), above


def _moved(faults: Iterable[Fault], above: int) -> list[Fault]:
    return [replace(fault, line=fault.line + above) if fault.line else fault for fault in faults]
