"""Other values in the text of a plan, and everything else as somebody wrote it: comments, order, layout."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from fairhold.errors import InputError
from fairhold.planio.document import parse_document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Edit(NamedTuple):
    """Put a text in the place of the characters from `begin` to `end`."""

    begin: int
    end: int
    text: str


def rewritten(text: str, wanted: Mapping[str, Any]) -> str:
    """The text with the values of a wanted document; as a new text where that cannot be said by single edits."""
    before = _value(text)
    if before == wanted:
        return text
    is_json = text.lstrip()[:1] == "{"
    said = partial(json.dumps, ensure_ascii=False) if is_json else _said
    try:
        root = yaml.compose(text, Loader=_LOADER)
        edits = [*_Edits(said).of(root, before, wanted)] if root is not None else []
    except _WholeError:
        edits = []
    found = text
    for edit in sorted(edits, reverse=True):
        found = found[: edit.begin] + edit.text + found[edit.end :]
    if _value(found) == wanted:
        return found
    return json.dumps(wanted, indent=2, ensure_ascii=False) if is_json else _anew(wanted)


class _WholeError(Exception):
    """There is no single edit for it."""


def _value(text: str) -> object:
    try:
        return parse_document(text, "").value
    except InputError:
        return None


def _anew(wanted: Mapping[str, Any]) -> str:
    return yaml.safe_dump(dict(wanted), sort_keys=False, allow_unicode=True, width=120)


class _Edits:
    """Edits of a text; said : a value in one line."""

    def __init__(self, said: Callable[[Any], str]) -> None:
        self._said = said

    def of(self, node: yaml.Node, before: Any, after: Any) -> Iterator[Edit]:  # noqa: ANN401 - any values
        """What to edit in a node so that its value is another one."""
        if before == after:
            return
        if isinstance(node, yaml.MappingNode) and isinstance(after, dict) and before:
            yield from self._of_mapping(node, before, after)
        elif isinstance(node, yaml.SequenceNode) and isinstance(after, list) and len(node.value) == len(after):
            for child, old, new in zip(node.value, before, after, strict=True):
                yield from self.of(child, old, new)
        else:
            begin, end = node.start_mark.index, node.end_mark.index
            if begin < end and isinstance(node, yaml.CollectionNode) and not node.flow_style:
                raise _WholeError
            yield Edit(begin, end, self._said(after) if begin < end else f" {self._said(after)}")

    def _of_mapping(
        self, node: yaml.MappingNode, before: Mapping[str, Any], after: Mapping[str, Any]
    ) -> Iterator[Edit]:
        children = {key.value: child for key, child in node.value}
        if not before.keys() <= after.keys() or not before.keys() <= children.keys():
            raise _WholeError
        for key, old in before.items():
            yield from self.of(children[key], old, after[key])
        more = [f"{self._said(key)}: {self._said(value)}" for key, value in after.items() if key not in before]
        if more and node.flow_style:
            last = node.value[-1][1].end_mark.index
            yield Edit(last, last, f", {', '.join(more)}")
        elif more:
            begin = node.start_mark
            yield Edit(begin.index, begin.index, "".join(f"{each}\n{' ' * begin.column}" for each in more))


def _said(value: Any) -> str:  # noqa: ANN401 - any value
    """A value in one line."""
    if isinstance(value, str):
        plain = value.replace("_", "").replace("-", "").replace("/", "")
        if plain.isalnum() and _value(f"a: {value}") == {"a": value}:
            return value
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_said(key)}: {_said(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_said, value)) + "]"
    return json.dumps(value)
