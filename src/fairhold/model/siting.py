"""Which hosts a request accepts, and whether its units share a host."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MOST_LABELS = 64
"""The largest number of labels of a host, and of labels that a request names under one key."""
_WORD = r"[A-Za-z0-9][A-Za-z0-9._/-]{0,62}"
_LABEL = re.compile(rf"{_WORD}(?:={_WORD})?")
SPREAD, PACK = "spread", "pack"
PLACES = (SPREAD, PACK)


class Siting(NamedTuple):
    """What a request asks of hosts. A label is `name=value`, or `name` alone for any value.

    need   : labels that a host must have, all of them
    prefer : labels that a host should have; hosts with more of them come first
    avoid  : labels of which a host must have none
    place  : one of PLACES; empty: the packing of the group decides
    """

    need: tuple[str, ...] = ()
    prefer: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    place: str = ""

    def fits(self, labels: frozenset[str]) -> bool:
        """Whether a host with these labels is suitable. labels: as `label_set` returns them."""
        return labels.issuperset(self.need) and labels.isdisjoint(self.avoid)

    def liking(self, labels: frozenset[str]) -> int:
        """The number of preferred labels that a host has."""
        return len(labels.intersection(self.prefer))


ANYWHERE = Siting()


def words_of(siting: Siting) -> str:
    """The suitable hosts in words: `with zone=a, ssd and without gpu`; empty: all hosts."""
    parts = (("with", siting.need), ("without", siting.avoid))
    return " and ".join(f"{word} {', '.join(labels)}" for word, labels in parts if labels)


def siting_of(said: Sequence[Any]) -> Siting:
    """The siting of a stored record: its fields in order, or an empty sequence."""
    return Siting._make(said) if said else ANYWHERE


def is_label(text: str) -> bool:
    """Whether a text is a valid label: `name` or `name=value`."""
    return _LABEL.fullmatch(text) is not None


def label_set(labels: Mapping[str, str] | Iterable[tuple[str, str]]) -> frozenset[str]:
    """The labels that a host matches: each `name=value`, and each `name` alone."""
    pairs = dict(labels)
    return frozenset((*pairs, *(f"{name}={value}" for name, value in pairs.items() if value)))


def shown_labels(labels: Iterable[str]) -> list[str]:
    """The labels of a `label_set` in order, without the bare names of labels that have a value."""
    found = set(labels)
    valued = {label.partition("=")[0] for label in found if "=" in label}
    return sorted(found - valued)
