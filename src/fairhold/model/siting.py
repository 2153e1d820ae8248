"""On which hosts the units of a request may stand, and next to which others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MOST_LABELS = 64
"""How many labels a host may have, or a request may name under one key."""
_WORD = r"[A-Za-z0-9][A-Za-z0-9._/-]{0,62}"
_LABEL = re.compile(rf"{_WORD}(?:={_WORD})?")
SPREAD, PACK = "spread", "pack"
PLACES = (SPREAD, PACK)


class Siting(NamedTuple):
    """What a request says of hosts; each label is `name=value`, or `name` alone for any value.

    need   : labels that a host must have, all of them
    prefer : labels of which a host should have as many as can be; they decide only the order of hosts
    avoid  : labels of which a host must have none
    place  : one of PLACES; empty = as the packing of the group says
    """

    need: tuple[str, ...] = ()
    prefer: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    place: str = ""

    def fits(self, labels: frozenset[str]) -> bool:
        """Whether a host with these labels will do; `labels` as `label_set` gives them."""
        return labels.issuperset(self.need) and labels.isdisjoint(self.avoid)

    def liking(self, labels: frozenset[str]) -> int:
        """How many of the labels that are preferred a host has."""
        return len(labels.intersection(self.prefer))


ANYWHERE = Siting()


def words_of(siting: Siting) -> str:
    """Which hosts will do: `with zone=a, ssd and without gpu`; empty = all."""
    parts = (("with", siting.need), ("without", siting.avoid))
    return " and ".join(f"{word} {', '.join(labels)}" for word, labels in parts if labels)


def siting_of(said: Sequence[Any]) -> Siting:
    """A siting as it is written down: its fields in their order, or nothing."""
    return Siting._make(said) if said else ANYWHERE


def is_label(text: str) -> bool:
    """Whether a text is a label: a name, or a name with its value."""
    return _LABEL.fullmatch(text) is not None


def label_set(labels: Mapping[str, str] | Iterable[tuple[str, str]]) -> frozenset[str]:
    """What labels of a host can be asked for: `name=value`, and `name`."""
    pairs = dict(labels)
    return frozenset((*pairs, *(f"{name}={value}" for name, value in pairs.items() if value)))


def shown_labels(labels: Iterable[str]) -> list[str]:
    """The labels that make up a `label_set`: names that have a value only with it."""
    found = set(labels)
    valued = {label.partition("=")[0] for label in found if "=" in label}
    return sorted(found - valued)
