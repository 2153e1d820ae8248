"""Plans side by side: what is different, the differences that matter first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Document = Mapping[str, Any]

WEIGHTS = {"due": 1, "lost": 1, "use": 1, "longest": 0, "stopped": 0, "left_waiting": 0}
"""Number of a consumer → what a difference of one of it weighs."""


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
    """What comes out differently for whom, the weightiest first; only consumers and resources that both have."""
    found: list[Difference] = []
    of = {(each["resource_group"], each["resource"]): each for each in after["shared"]}
    for one in before["shared"]:
        other = of.get((one["resource_group"], one["resource"]))
        if other is not None:
            found += _of_resource(one, other)
    return sorted(found, key=lambda each: (-each.weight, each.resource_group, each.consumer, each.what))


def _of_resource(one: Document, other: Document) -> Iterator[Difference]:
    where = one["resource_group"], one["resource"]
    for path, before in one["consumers"].items():
        after = other["consumers"].get(path)
        if after is None:
            continue
        tasks = max(before["wait"]["count"], after["wait"]["count"])
        weights = {"mean": tasks, "p95": 1, "max": 1}
        numbers = [(f"wait.{name}", before["wait"][name], after["wait"][name], weights[name]) for name in weights]
        numbers += [(name, before[name], after[name], weight) for name, weight in WEIGHTS.items()]
        for what, first, second, weight in numbers:
            if first != second:
                yield Difference(*where, path, what, first, second, abs(second - first) * weight)
