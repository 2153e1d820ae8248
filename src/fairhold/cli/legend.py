"""What the columns of tables mean: a legend is printed below tables whose columns are not self-evident."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ROOM = 100
"""Characters of a line."""
_MEANINGS = {
    "need": "demand within the limit, at least the reserve",
    "owned": "guaranteed by the plan",
    "reserve": "owned and never lent",
    "sure of": "comes before all that is divided",
    "share_ratio": "weight among siblings",
    "planned": "its part by ratios alone",
    "exact": "quota before rounding",
    "quota": "entitled to now",
    "entitled": "quota or fair share now",
    "allocated": "has now, units under notice included",
    "free": "idle slots that are counted for it",
    "balance": "owned beyond what the children own",
    "own": "used of what it owns",
    "lent": "owned and used by others",
    "borrowed": "allocated and not its own",
    "dominant": "largest part that it held of all there is of a resource",
    "unsized": "units whose size is not known any more",
    "bound by": "what keeps the quota from being larger",
    "fair share": "entitled to now",
    "deserved": "guaranteed by the plan",
    "requested": "demand within the limits",
    "usable": "demand within the limits",
    "saturation": "allocated / fair share",
    "usage": "part of the pool in use",
    "usage demand": "part of the pool in use or wanted",
    "usage quota": "part of the pool entitled to now",
    "class": "share priority; a higher class is served first",
    "moved": "usage after all reclaims",
    "next": "part of what becomes free",
    "~": "approximate amount of the resource",
    "history": "decayed usage, part of the capacity",
    "deficit h": "hours of slots or of the resource, owned, wanted and not allocated",
    "used h": "hours of slots or of the resource, allocated",
    "borrowed h": "the same, allocated and not its own",
    "longest": "how long the deficit of a unit lasted at most",
    "lost h": "the same, of work that was lost",
    "lost": "work that was lost",
}
"""Column → its meaning, the same in every table."""


def legend(columns: Iterable[str], room: int = _ROOM, own: Mapping[str, str] = MappingProxyType({})) -> str:
    """The meanings of those columns that have one, in lines; nothing where none has.

    own : column → its meaning, of those that only a policy of another package has
    """
    meanings = {**_MEANINGS, **own}
    found = dict.fromkeys(column for column in columns if column in meanings)
    lines: list[str] = []
    for column in found:
        entry = f"{column}: {meanings[column]}"
        if lines and len(lines[-1]) + len(entry) + 2 <= min(room, _ROOM):
            lines[-1] += f"; {entry}"
        else:
            lines.append(entry)
    return "\n".join(lines)
