"""YAML → plain values in one pass over libyaml's events; no node graph is built.

Aliases share the value they name. How many nodes they stand for is bounded, so that a small file cannot grow huge.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count as counting
from typing import TYPE_CHECKING, Any, NoReturn

from yaml.cyaml import CParser  # type: ignore[attr-defined] # its stubs forget the name
from yaml.error import YAMLError
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from fairhold.errors import Fault, InputError
from fairhold.planio.report import shown
from fairhold.planio.scalars import FIRST, resolve
from fairhold.planio.values import DEEPEST, MEND_DEEP, MEND_EMPTY, MEND_TWICE, TOO_DEEP, Value, Wanted
from fairhold.planio.yamlmarks import event_mark, mark_yaml, syntax_fault

if TYPE_CHECKING:
    from fairhold.errors import Place

ALIAS_NODES = 100_000
"""How many nodes all aliases of a file may stand for together."""
_STRING_TAG = "tag:yaml.org,2002:str"
_PLAIN_TAGS = frozenset((_STRING_TAG, "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"))
_IN_LIST = object()
_NO_KEY = object()
_DROPPED = object()


def load_yaml(text: str) -> tuple[Value, list[Fault]]:
    """Read the value of a YAML text and the faults that do not stop the reading (place or line is set).

    Raises InputError (without file name) where reading stops.
    """
    loader = _Loader(text)
    try:
        value = loader.load()
    except YAMLError as error:
        raise InputError([*loader.faults, syntax_fault(error, text)]) from error
    _say_first_lines(loader.faults, text)
    return value, loader.faults


def _say_first_lines(faults: list[Fault], text: str) -> None:
    """Name in each fault of a key that stands twice the line where it stands first."""
    twice = [at for at, fault in enumerate(faults) if fault.code == "duplicate-key"]
    if not twice:
        return
    root = Wanted()
    for at in twice:
        root.add(faults[at].place)
    mark_yaml(text, root)
    for at in twice:
        line, _ = root.nearest(faults[at].place)
        faults[at] = replace(faults[at], what=f"{faults[at].what}, first in line {line}", mend=MEND_TWICE)


class _Loader:
    """The state of one reading.

    known : plain scalars that are not strings, or might not be, with their values
    stack : containers around the current one, each with its pending key, the anchor and the event count of what is
            now read inside it
    """

    def __init__(self, text: str) -> None:
        self.next: Any = CParser(text).get_event
        self.faults: list[Fault] = []
        self.stack: list[tuple[Any, Any, str | None, int]] = []
        self.anchors: dict[str, tuple[Value, int]] = {}
        self.known: dict[str, Value] = {}
        self.expanded = 0
        self.count = 0

    def load(self) -> Value:
        """Read the one document of the text."""
        self.next()
        start = self.next()
        if not isinstance(start, DocumentStartEvent):
            self.stop(start, "empty", "the file holds no values", MEND_EMPTY)
        value = self.read()
        self.next()
        end = self.next()
        if not isinstance(end, StreamEndEvent):
            self.stop(end, "several-documents", "a second document starts here", "keep one document in a file")
        if value is None:
            self.stop(start, "empty", "the file holds no values", MEND_EMPTY)
        return value

    def read(self) -> Value:  # noqa: PLR0912 - the hot loop: a call per event would cost as much as libyaml
        """Read one value with all it contains."""
        stack, get, known = self.stack, self.next, self.known
        intern = dict[str, str]().setdefault
        root: list[Any] = []
        container: Any = root
        key: Any = _IN_LIST
        for count in counting(1):
            event = get()
            kind = event.__class__
            if kind is ScalarEvent:
                node = event.value
                if event.anchor is not None or event.tag is not None:
                    node = self.special(event)
                elif event.implicit[0] and (not node or node[0] in FIRST):
                    # Numbers repeat: one look-up instead of a few patterns.
                    node = known[node] if node in known else self.plain(event)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if key is _NO_KEY or event.tag is not None or len(stack) >= DEEPEST:
                    self.odd_container(event, key is _NO_KEY)
                stack.append((container, key, event.anchor, count + self.expanded))
                container, key = ({}, _NO_KEY) if kind is MappingStartEvent else ([], _IN_LIST)
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                node = container
                container, key, anchor, start = stack.pop()
                if anchor is not None:
                    self.anchors[anchor] = node, count + self.expanded - start + 1
            else:
                node = self.alias(event)
            if key is _IN_LIST:
                container.append(node)
                if container is root:
                    break
            elif key is _NO_KEY:
                key = intern(node, node) if node.__class__ is str and node not in container else None
                if key is None or key == "<<":
                    key = self.odd_key(event, node, container)
            else:
                if key is not _DROPPED:
                    container[key] = node
                key = _NO_KEY
        return root[0]  # type: ignore[no-any-return] # the events are not typed

    def special(self, event: Any) -> Value:  # noqa: ANN401 - as check_tag
        """Return a scalar with an anchor or a tag."""
        self.check_tag(event)
        node: Value = event.value
        if event.tag is None and event.implicit[0]:
            node = self.plain(event)
        if event.anchor is not None:
            self.anchors[event.anchor] = node, 1
        return node

    def plain(self, event: Any) -> Value:  # noqa: ANN401 - as check_tag
        """Return a plain scalar that may be something else than a string."""
        try:
            value = resolve(event.value)
        except ValueError as error:
            self.note(event, "bad-number", str(error), "write a number")
            return 0
        self.known[event.value] = value
        return value

    def odd_container(self, event: Event, is_key: bool) -> None:  # noqa: FBT001 - the loop's own question
        """Check a container that is a key, has a tag or is nested too deep."""
        if is_key:
            self.stop(event, "key-not-text", "expected a key, found a list or a mapping", "use a string as key")
        if len(self.stack) >= DEEPEST:
            self.stop(event, "nested-too-deep", TOO_DEEP, MEND_DEEP)
        self.check_tag(event)

    def check_tag(self, event: Any) -> None:  # noqa: ANN401 - libyaml's events share no typed base with a tag
        """Refuse tags that would make anything but plain values."""
        if event.tag is not None and event.tag not in _PLAIN_TAGS:
            self.note(event, "tag", f"the tag `{shown(event.tag)}` is not supported", "leave the tag out")

    def alias(self, event: Event) -> Value:
        """Return the value that an alias names."""
        if not isinstance(event, AliasEvent):  # pragma: no cover - libyaml has no other events inside a document
            self.stop(event, "yaml-syntax", "unexpected content", "leave it out")
        name = event.anchor
        if any(frame[2] == name for frame in self.stack):
            self.stop(event, "alias", f"the alias `*{name}` is inside its own anchor", "write the value itself")
        if name not in self.anchors:
            self.stop(event, "alias", f"the alias `*{name}` has no anchor above it", f"add `&{name}` to a value")
        value, size = self.anchors[name]
        self.expanded += size - 1
        if self.expanded > ALIAS_NODES:
            what = f"the aliases up to here expand to more than {ALIAS_NODES:,} values"
            self.stop(event, "alias", what, "write the values themselves")
        return value

    def odd_key(self, event: Any, node: Value, container: dict[str, Value]) -> object:  # noqa: ANN401 - as check_tag
        """Refuse a key that is not a string, appears twice or merges; its value is read and dropped."""
        if not isinstance(node, str):
            text = getattr(event, "value", "a key")
            self.note(event, "key-not-text", f"the key `{shown(text)}` is not a string", f'quote it: `"{shown(text)}"`')
        elif node in container:
            self.note(event, "duplicate-key", f"the key `{shown(node)}` appears twice", place=(*self.place(), node))
        elif isinstance(event, ScalarEvent) and event.implicit[0]:
            self.note(event, "merge-key", "merge keys (`<<`) are not supported", "write the values themselves")
        else:
            return node
        return _DROPPED

    def place(self) -> Place:
        """Where the container that is being read stands."""
        steps = (len(outer) if key is _IN_LIST else key for outer, key, _, _ in self.stack[1:])
        return tuple(step if step is not _DROPPED else "?" for step in steps)

    def note(self, event: Event, code: str, what: str, mend: str = "", place: Place = ()) -> None:
        """Keep a fault and read on."""
        line, column = event_mark(event)
        self.faults.append(Fault(code, what, mend, place, line=line, column=column))

    def stop(self, event: Event, code: str, what: str, mend: str) -> NoReturn:
        """Raise a fault after which nothing can be read."""
        self.note(event, code, what, mend)
        raise InputError(self.faults)
