"""One change of a plan, by a whole number of steps: what it sets, how large it is, and the plan that comes of it."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.errors import place_text
from fairhold.model.vector import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Document = dict[str, Any]
Key = tuple[str | int, ...]
KINDS = (
    *("reclaim_grace", "min_runtime", "reserved", "loans", "share_ratio", "over_quota_weight", "weight", "limit"),
    *("share_limit", "owned", "deserved", "own", "rank", "share_priority", "priority", "hosts"),
)
"""What is changed; of changes of equal size those that come first here are told first."""


class Part(NamedTuple):
    """One place of the plan that a change sets to `start + step · value`, over `base`.

    place : keys from the top; what is not there is made
    most  : at most so much, None = any; unit: behind the number, as `s`
    said  : in place of a number: what stands there, `{}` in a text being the value
    """

    place: Key
    start: int = 0
    step: int = 0
    base: int = 1
    most: int | None = None
    unit: str = ""
    said: Any = None

    def at(self, value: int) -> Any:  # noqa: ANN401 - what a plan may say
        """What stands there."""
        if self.said is not None:
            return self.said.replace("{}", str(value)) if isinstance(self.said, str) else self.said
        found = self.start + self.step * value
        found = found if self.most is None else min(found, self.most)
        return f"{found}{self.unit}" if self.unit else number(Fraction(found, self.base))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change of one thing, by 1 to `most`.

    kind  : one of KINDS
    words : what is changed, in words: of whom, and from whom it is taken
    whole : a change by so much has size 1,000
    """

    kind: str
    words: str
    most: int
    whole: int
    parts: tuple[Part, ...]

    def size(self, value: int) -> int:
        """Thousandths: of what is shared, of what siblings weigh together, of a grace; a class or rank is 1,000."""
        return -(-1000 * value // max(1, self.whole))

    def apply(self, document: Document, value: int) -> None:
        """Make the change in the document of a plan."""
        for part in self.parts:
            _put(document, part.place, part.at(value))

    def settings(self, document: Mapping[str, Any], value: int) -> list[Document]:
        """Every setting that is changed, as `{place, old, new}`; None = nothing was said."""
        return [
            {"place": place_text(part.place), "old": _get(document, part.place), "new": part.at(value)}
            for part in self.parts
        ]


def changed(document: Mapping[str, Any], changes: Sequence[tuple[Candidate, int]]) -> str:
    """The text of a plan with changes, as JSON."""
    other = deepcopy(dict(document))
    for candidate, value in changes:
        candidate.apply(other, value)
    return json.dumps(other)


def _put(document: Document, place: Key, value: object) -> None:
    node: Any = document
    for key, following in pairwise(place):
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(key, int):
            while len(node) <= key:
                node.append(deepcopy(empty))
        elif not node.get(key):
            node[key] = empty
        node = node[key]
    last = place[-1]
    if isinstance(last, int):
        while len(node) <= last:
            node.append(None)
    node[last] = value


def _get(document: Mapping[str, Any], place: Key) -> Any:  # noqa: ANN401 - what a plan says
    node: Any = document
    for key in place:
        if isinstance(node, list) and isinstance(key, int):
            node = node[key] if key < len(node) else None
        else:
            node = node.get(key) if isinstance(node, dict) else None
    return node
