"""An entry of `own` and what it has, of vectors, slow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.oracles.parcels import Json, Vector

Space = dict[str, "Vector"]


@dataclass(eq=False)
class Claim:
    """An entry of a consumer, and what it has."""

    row: str
    entry: Json
    has: Space = field(default_factory=dict)

    @property
    def way(self) -> str:
        """How it says what is owned: names, a count (numbers and percentages), remaining, per_host or total."""
        hosts = self.entry.get("hosts")
        if hosts is None:
            return "per_host" if "per_host" in self.entry else "total"
        return "names" if isinstance(hosts, list) else "remaining" if hosts == "remaining" else "count"

    @property
    def names(self) -> list[str]:
        return list(self.entry["hosts"]) if self.way == "names" else []


def lower(one: Vector, other: Vector) -> Vector:
    return tuple(min(pair) for pair in zip(one, other, strict=True))


def bound(amounts: Vector) -> Vector:
    return tuple(max(0, each) for each in amounts)
