"""Text of a file → plain values: YAML 1.2 core schema or JSON, strictly.

A text that starts with `{` or `[` is JSON, any other is YAML. Both give dict, list, str, int, float, bool and None.
Positions are not kept for every value: when something is at fault, `Document.locate` walks the text again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError
from fairhold.planio.jsontext import load_json, mark_json
from fairhold.planio.values import MEND_EMPTY, Value, Wanted
from fairhold.planio.yamlmarks import mark_yaml
from fairhold.planio.yamltext import load_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

MEND_UNREAD = "name an existing file that you may read"
LARGEST_FILE = 256 * 2**20
"""The largest file that is read, in bytes."""


@dataclass(frozen=True, slots=True)
class Document:
    """One file's text with its values.

    value   : the whole content
    text    : what it was read from
    name    : name of the file, as faults show it
    is_json : whether the text is JSON
    """

    value: Value
    text: str
    name: str
    is_json: bool

    def locate(self, faults: Iterable[Fault]) -> tuple[Fault, ...]:
        """Return the faults with file, line and column, in the order of the file.

        A place that is not in the text (a missing key) gets the line of the nearest place above it.
        """
        faults = tuple(faults)
        root = Wanted()
        for fault in faults:
            root.add(fault.place)
        if faults:
            (mark_json if self.is_json else mark_yaml)(self.text, root)
        located = [self._located(fault, root) for fault in faults]
        return tuple(sorted(located, key=lambda fault: (fault.line, fault.column)))

    def _located(self, fault: Fault, root: Wanted) -> Fault:
        if fault.line:
            return replace(fault, file=self.name)
        line, column = root.nearest(fault.place)
        return replace(fault, file=self.name, line=line, column=column)


def parse_document(text: str, name: str) -> Document:
    """Read the values of a text; raises InputError with all faults of its syntax."""
    text = text.removeprefix("\ufeff")
    start = text.lstrip(" \t\r\n")[:1]
    if not start:
        raise InputError([Fault("empty", "the file is empty", MEND_EMPTY, file=name)])
    fault = _bad_character(text)
    if fault:
        raise InputError([replace(fault, file=name)])
    is_json = start in "{["
    try:
        value, faults = load_json(text) if is_json else load_yaml(text)
    except InputError as error:
        raise InputError([replace(fault, file=name) for fault in error.faults]) from error
    document = Document(value, text, name, is_json)
    if faults:
        raise InputError(document.locate(faults))
    return document


def _bad_character(text: str) -> Fault | None:
    """Return the fault of a text that is no text: NUL characters, halves of surrogate pairs."""
    at = text.find("\0")
    what = "there is a NUL character, so this is not a text file"
    if at < 0:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            at, what = error.start, "there is half of a surrogate pair, which is not a character"
        else:
            return None
    return Fault("not-text", what, "save the file as plain UTF-8 text", line=text.count("\n", 0, at) + 1)


def read_text(path: str | Path) -> str:
    """Read the text of a file; raises InputError where it cannot be read, is too large or is not UTF-8."""
    path, name = Path(path), str(path)
    try:
        size = path.stat().st_size
        # The size of a pipe is 0; reading one byte more than allowed keeps the promise there, too.
        data = b""
        if size <= LARGEST_FILE:
            with path.open("rb") as file:
                data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        what = f"the file cannot be read: {error.strerror}"
        raise InputError([Fault("cannot-read", what, MEND_UNREAD, file=name)]) from error
    except ValueError as error:
        raise InputError([Fault("cannot-read", "the name of the file holds a NUL character", file=name)]) from error
    if max(size, len(data)) > LARGEST_FILE:
        what = f"the file has more than {LARGEST_FILE:,} bytes"
        raise InputError([Fault("file-too-large", what, "split the plan", file=name)])
    return _decode(data, name)


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"byte {error.start + 1} is not UTF-8"
        fault = Fault("not-utf-8", what, "save the file as plain UTF-8 text", file=name, line=line)
        raise InputError([fault]) from error
