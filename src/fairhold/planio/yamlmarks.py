"""Lines and columns of YAML, found by a second walk over libyaml's events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yaml.cyaml import CParser  # type: ignore[attr-defined] # its stubs forget the name
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import (
    AliasEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.reader import ReaderError

from fairhold.errors import Fault
from fairhold.planio.values import MEND_DEEP, TOO_DEEP

if TYPE_CHECKING:
    from fairhold.planio.values import Mark, Wanted

LONGEST_KEY = 1024
"""libyaml's limit for a key that is written before its `:`, in characters."""
_KEY_PROBLEMS = ("could not find expected ':'", "mapping values are not allowed in this context")
_NODES = (ScalarEvent, MappingStartEvent, SequenceStartEvent, AliasEvent)
_STARTS = (MappingStartEvent, SequenceStartEvent)
_ENDS = (MappingEndEvent, SequenceEndEvent)


def event_mark(event: Event) -> Mark:
    """1-based line and column of an event."""
    start: Any = event.start_mark
    return start.line + 1, start.column + 1


def mark_yaml(text: str, root: Wanted) -> None:
    """Set the marks of all wanted places of a text; a place inside an alias stays unmarked.

    The place of a mapping's value is its key; of keys that stand twice the first counts.
    """
    walk = _Walk(root)
    get: Any = CParser(text).get_event
    try:
        while walk.left:
            event = get()
            if isinstance(event, StreamEndEvent):
                return
            walk.step(event)
    except YAMLError:
        # The text was read before; where it breaks, the reader has said so already.
        return


class _Walk:
    """Where a walk over events stands in the trie of wanted places.

    node  : what is wanted in the container at hand, None = nothing
    at    : position in a list, -1 in a mapping before a key, -2 before a value
    child : what is wanted of the value that comes next, where `at` is -2
    left  : how many places are to be found
    """

    def __init__(self, root: Wanted) -> None:
        self.left = root.count() + 1
        self.node: Wanted | None = None
        self.at = -2
        self.child: Wanted | None = root
        self.stack: list[tuple[Wanted | None, int]] = []

    def step(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, _ENDS):
            self.node, self.at = self.stack.pop()
        elif isinstance(event, _NODES):
            self.take(event)

    def take(self, event: Event) -> None:
        """Take the start of a key or a value."""
        if self.at == -1:
            self.child = self.node.children.get(event.value) if self.node and isinstance(event, ScalarEvent) else None
            self.mark(self.child, event)
            self.at = -2
            return
        child = self.child
        if self.at >= 0:
            child = self.node.children.get(self.at) if self.node else None
            self.at += 1
        else:
            self.at = -1
        self.mark(child, event)
        if isinstance(event, _STARTS):
            self.stack.append((self.node, self.at))
            self.node, self.at = child, -1 if isinstance(event, MappingStartEvent) else 0

    def mark(self, child: Wanted | None, event: Event) -> None:
        """Note where a wanted place stands."""
        if child is not None and child.mark is None:
            child.mark = event_mark(event)
            self.left -= 1


def syntax_fault(error: YAMLError, text: str) -> Fault:
    """Say what libyaml could not read, as a fault."""
    if isinstance(error, ReaderError):
        what = f"the character {error.character!r} is not allowed in YAML"
        at = -1
        if isinstance(error.character, int):
            what = f"the character U+{error.character:04X} is not allowed in YAML"
            at = text.find(chr(error.character))
        return Fault("not-text", what, "remove it", line=text.count("\n", 0, at) + 1 if at >= 0 else 0)
    if not isinstance(error, MarkedYAMLError) or error.problem_mark is None:
        return Fault("yaml-syntax", f"this is not valid YAML: {error}", "write it as YAML or JSON")
    line, column = error.problem_mark.line + 1, error.problem_mark.column + 1
    if "nesting depth" in (error.problem or ""):  # newer ones of libyaml count for themselves
        return Fault("nested-too-deep", TOO_DEEP, MEND_DEEP, line=line)
    before = _line(text, line)[: column - 1]
    key = error.context_mark.line + 1 if error.context_mark else line
    if error.problem in _KEY_PROBLEMS and max(len(before), len(_line(text, key))) > LONGEST_KEY:
        what = f"a key is longer than the {LONGEST_KEY} characters that YAML allows before a colon"
        mend = "write it as `? /long/path` with `: {…}` in the next line, or write the file as JSON"
        return Fault("key-too-long", what, mend, line=key, column=column if key == line else 1)
    what = f"this is not valid YAML: {error.problem}" + (f" {error.context}" if error.context else "")
    mend = "check indentation, colons and quotes here and in the line above"
    if "\t" in _line(text, line)[:column]:
        mend = "indent with spaces, not with tabs"
    return Fault("yaml-syntax", what, mend, line=line, column=column)


def _line(text: str, line: int) -> str:
    """One line of a text, 1-based; empty where there is none."""
    lines = text.splitlines()
    return lines[line - 1] if line <= len(lines) else ""
