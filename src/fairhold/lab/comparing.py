"""Plans side by side: what is different, the differences that matter first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    Document = Mapping[str, Any]

Key = tuple[str, str, str, str]
"""Resource group, resource, consumer, what."""
WEIGHTS = {"deficit": 1, "lost": 1, "use": 1, "longest": 0, "stopped": 0, "left_waiting": 0, "borrowed": 0}
"""Number of a consumer → what a difference of one of it weighs."""
AMOUNTS = ("use", "demand", "owned", "own", "borrowed", "unused", "deficit", "lost", "left_waiting")
"""Numbers of a consumer that are in base units, or in products of them and microseconds."""


def in_units(shared: Document, what: str, value: int) -> int:
    """A number of a consumer with amounts in slots or declared units instead of base units, rounded down."""
    base: int = shared["base"]
    return value // base if what in AMOUNTS else value


class Difference(NamedTuple):
    """One number under two plans.

    weight : unit-microseconds, or microseconds of waits times tasks, that are behind it: what is sorted by
    """

    resource_group: str
    resource: str
    consumer: str
    what: str
    before: int
    after: int
    weight: int


def differences(before: Document, after: Document) -> list[Difference]:
    """What comes out differently for whom, the weightiest first; only consumers and resources that both have.

    Where both plans share one thing alone, it is the same thing: slots under one are what `slot` says under the other.
    """
    others = numbers_of(after, before)
    found = [
        Difference(*key, value, others[key][0], abs(others[key][0] - value) * max(weight, others[key][1]))
        for key, (value, weight) in numbers_of(before).items()
        if key in others and others[key][0] != value
    ]
    return sorted(found, key=lambda each: (-each.weight, each[:4]))


def numbers_of(document: Document, like: Document | None = None) -> dict[Key, tuple[int, int]]:
    """Resource group, resource, consumer, what → the number, and what a difference of one weighs.

    Amounts are in slots or declared units, rounded down.

    like : of which a document that shares one thing, as this one does, takes the names of group and resource
    """
    found: dict[Key, tuple[int, int]] = {}
    is_alike = like is not None and len(like["shared"]) == len(document["shared"]) == 1
    for shared in document["shared"]:
        named = like["shared"][0] if like is not None and is_alike else shared
        where = named["resource_group"], named["resource"]
        for path, one in shared["consumers"].items():
            wait = one["wait"]
            for name, weight in {"mean": wait["count"], "p95": 1, "max": 1}.items():
                found[*where, path, f"wait.{name}"] = wait[name], weight
            for name, weight in WEIGHTS.items():
                found[*where, path, name] = in_units(shared, name, one[name]), weight
    return found
