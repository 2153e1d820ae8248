"""The numbers of a result of `quota`, one by one, and which of them differ from those of another result."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Document = dict[str, Any]
RESULTS = ("quota", "usage_quota", "fair_share")
"""What everybody is entitled to: these are told before all else."""


class Where(NamedTuple):
    """Where a number stands; what does not apply is empty.

    resource_group : of pools only where several entries have some
    pool           : `/` or the path of a private pool
    consumer       : path; empty = of the group or pool itself
    key            : as `quota`, or with a resource as `fair_share.gpu`
    """

    resource_group: str
    pool: str
    consumer: str
    key: str


def numbers(quotas: Mapping[str, Any]) -> dict[Where, Any]:
    """Every number of a result, in its order."""
    found: dict[Where, Any] = {}
    for group, node in quotas["resource_groups"].items():
        found.update(_of(node, group, ""))
    for name, node in quotas.get("pools", {}).items():
        pools = {name: node} if name.startswith("/") else node
        for pool, inner in pools.items():
            found.update(_of(inner, "" if pools is not node else name, pool))
    return found


def _of(node: Mapping[str, Any], group: str, pool: str) -> Iterator[tuple[Where, Any]]:
    for key, value in _flat({key: value for key, value in node.items() if key != "consumers"}):
        yield Where(group, pool, "", key), value
    for path, values in node.get("consumers", {}).items():
        for key, value in _flat(values):
            yield Where(group, pool, path, key), value


def _flat(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Document]:
    """Every number that differs: what everybody is entitled to first, then the others, the largest change first.

    A change is as large as its part of the larger of the numbers of the same kind in the same group or pool; what is
    there only before, or only after, has no `after`, or no `before`.
    """
    old, new = numbers(before), numbers(after)
    changed = [where for where in {**old, **new} if where not in old or where not in new or old[where] != new[where]]
    kinds = {where._replace(consumer="") for where in changed}
    most: dict[Where, Fraction] = dict.fromkeys(kinds, Fraction(0))
    for found in (old, new):
        for where, value in found.items():
            kind = where._replace(consumer="")
            if kind in kinds:
                most[kind] = max(most[kind], abs(number(value) or Fraction(0)))

    def size(where: Where) -> tuple[bool, Fraction]:
        first, last = (number(found.get(where, 0)) for found in (old, new))
        whole = most[where._replace(consumer="")] or Fraction(1)
        change = Fraction(2) if first is None or last is None else abs(last - first) / whole
        return where.key.split(".")[0] not in RESULTS, -change

    return [_row(where, old, new) for where in sorted(changed, key=size)]


def _row(where: Where, old: Mapping[Where, Any], new: Mapping[Where, Any]) -> Document:
    row: Document = {name: value for name, value in where._asdict().items() if value}
    if where in old:
        row["before"] = old[where]
    if where in new:
        row["after"] = new[where]
    return row


def number(value: object) -> Fraction | None:
    """A value exactly; None where it has no bound or is none."""
    try:
        return Fraction(str(value))
    except ValueError:
        return None
