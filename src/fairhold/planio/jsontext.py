"""JSON → plain values with the standard library's decoder, and places in it found by a second walk."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from json.decoder import scanstring  # type: ignore[attr-defined] # public in CPython, not in its stubs
from typing import TYPE_CHECKING, Any, NoReturn

from fairhold.errors import Fault, InputError
from fairhold.planio.report import shown
from fairhold.planio.scalars import Written
from fairhold.planio.values import MEND_DEEP, MEND_TWICE, TOO_DEEP, Wanted

if TYPE_CHECKING:
    from fairhold.errors import Place, Step
    from fairhold.planio.values import Mark, Value

_BLANK = re.compile(r"[ \t\r\n]*")
_LONG_NUMBER = re.compile(r"[0-9]{4301,}")
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


class _NotFiniteError(ValueError):
    """NaN or an infinity, which JSON does not have."""


def load_json(text: str) -> tuple[Value, list[Fault]]:
    """Read the value of a JSON text and the faults that do not stop the reading.

    Raises InputError (without file name) where reading stops.
    """
    has_twice = False

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal has_twice
        result = dict(items)
        has_twice = has_twice or len(result) != len(items)
        return result

    try:
        decoder = json.JSONDecoder(object_pairs_hook=pairs, parse_constant=_refuse, parse_float=Written)
        value: Value = decoder.decode(text)
    except RecursionError as error:
        raise InputError([Fault("nested-too-deep", TOO_DEEP, MEND_DEEP)]) from error
    except json.JSONDecodeError as error:
        what = f"this is not valid JSON: {error.msg}"
        mend = "a text that starts with `{` or `[` is read as JSON; start YAML with a key"
        raise InputError([Fault("json-syntax", what, mend, line=error.lineno, column=error.colno)]) from error
    except _NotFiniteError as error:
        line = _line_of(text, re.search(rf"(?<![\w\"]){error}", text))
        raise InputError([Fault("bad-number", f"`{error}` is not a number", "write a number", line=line)]) from error
    except ValueError as error:
        line = _line_of(text, _LONG_NUMBER.search(text))
        raise InputError([Fault("bad-number", "a number is too long", "write a smaller number", line=line)]) from error
    faults = _twice(text) if has_twice else []
    if _HALF_PAIR.search(text) and not _is_text(value):
        line = _line_of(text, _HALF_PAIR.search(text))
        what = "there is half of a surrogate pair, which is not a character"
        faults.append(Fault("not-text", what, "write the character itself", line=line))
    return value, faults


def _refuse(name: str) -> NoReturn:
    raise _NotFiniteError(name)


def _is_text(value: Value) -> bool:
    """Whether all strings of a value can be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _line_of(text: str, match: re.Match[str] | None) -> int:
    return text.count("\n", 0, match.start()) + 1 if match else 0


def _twice(text: str) -> list[Fault]:
    """Return the faults of all keys that stand twice in one object."""
    walk = _Walk(text, Wanted(), everything=True)
    walk.run()
    faults = []
    offsets = sorted({at for _, *both in walk.twice for at in both})
    marks = dict(zip(offsets, _marks(text, offsets), strict=True))
    for place, first, second in walk.twice:
        what = f"the key `{shown(place[-1])}` appears twice, first in line {marks[first][0]}"
        line, column = marks[second]
        faults.append(Fault("duplicate-key", what, MEND_TWICE, place, line=line, column=column))
    return faults


def mark_json(text: str, root: Wanted) -> None:
    """Set the marks of all wanted places of a JSON text that was read before."""
    walk = _Walk(text, root, everything=False)
    # The text was read before, perhaps with a few frames less on the stack; without lines the faults still stand.
    with suppress(RecursionError):
        walk.run()
    found = sorted(walk.found, key=lambda each: each[1])
    for (node, _), mark in zip(found, _marks(text, [at for _, at in found]), strict=True):
        node.mark = mark


def _marks(text: str, offsets: list[int]) -> list[Mark]:
    """Lines and columns of ascending offsets; each piece of the text is looked at once, however long its lines are."""
    marks, line, start, last = [], 1, 0, 0
    for at in offsets:
        line += text.count("\n", last, at)
        start = max(start, text.rfind("\n", last, at) + 1)
        last = at
        marks.append((line, at - start + 1))
    return marks


class _Walk:
    """A walk over a valid JSON text that looks closely only where something is wanted.

    everything : look into every container, to find keys that stand twice
    found      : wanted place and offset of its key, or of the list's member
    twice      : place, first and second offset of every key that stands twice
    frames     : containers around: what is wanted there, keys seen with their offsets (None in a list), step at hand
    """

    def __init__(self, text: str, root: Wanted, *, everything: bool) -> None:
        self.text = text
        self.root = root
        self.everything = everything
        self.found: list[tuple[Wanted, int]] = []
        self.twice: list[tuple[Place, int, int]] = []
        self.frames: list[tuple[Wanted | None, dict[str, int] | None, Step]] = []
        self.skip = json.JSONDecoder().raw_decode

    def run(self) -> None:
        """Walk the whole text."""
        at = self.blank(0)
        self.found.append((self.root, at))
        at = self.value(at, self.root)
        while self.frames:
            at = self.blank(at)
            character = self.text[at]
            if character in "]}":
                self.frames.pop()
                at += 1
            elif character == ",":
                at = self.blank(at + 1)
                at = self.member(at)
            else:
                at = self.member(at)

    def blank(self, at: int) -> int:
        """Return the offset after blanks."""
        match = _BLANK.match(self.text, at)
        return match.end() if match else at

    def around(self) -> Place:
        """Return the place of the container at hand."""
        return tuple(frame[2] for frame in self.frames[:-1])

    def value(self, at: int, node: Wanted | None) -> int:
        """Enter a container worth a look, or pass over a value; returns the offset after what was read."""
        character = self.text[at]
        if character in "{[" and (self.everything or (node is not None and node.children)):
            self.frames.append((node, {} if character == "{" else None, -1))
            return at + 1
        return self.skip(self.text, at)[1]

    def member(self, at: int) -> int:
        """Read one member of the container at hand."""
        node, seen, step = self.frames[-1]
        start = at
        if seen is None:
            step = int(step) + 1
        else:
            step, at = scanstring(self.text, at + 1)
            at = self.blank(self.blank(at) + 1)
            if self.everything and seen.setdefault(step, start) != start:
                self.twice.append(((*self.around(), step), seen[step], start))
        self.frames[-1] = node, seen, step
        child = node.children.get(step) if node is not None else None
        if child is not None and child.mark is None:
            child.mark = 0, 0
            self.found.append((child, start))
        return self.value(at, child)
