"""`own_entries:` of a state: what of the parcels is of which of several entries of `own` (SPEC §6.7; R-ADJUST-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.vector import OwnEntry
from fairhold.planio.report import shown
from fairhold.planio.vectors import PARCEL_KEYS, read_parcel

if TYPE_CHECKING:
    from fairhold.planio.stateview import StateView
    from fairhold.planio.values import Value

KEYS = ("host", "consumer", "entry", "amounts")


def read_own_entries(view: StateView, value: Value) -> tuple[OwnEntry, ...]:
    """Read them; what is said of entries that the plan has no more is passed over by who adjusts."""
    report, found = view.report, []
    seen: set[tuple[str, int, int]] = set()
    for at, item in enumerate(report.sequence(value, ("own_entries",), what="parts of entries") if value else ()):
        place = ("own_entries", at)
        node = report.mapping(item, place, what="a part of an entry")
        report.keys(node, KEYS, place, {})
        report.missing(node, KEYS, place, "a part of an entry")
        if any(isinstance(name := node.get(key), str) and name in view.gone for key in PARCEL_KEYS[:2]):
            continue
        entry = report.whole(node["entry"], (*place, "entry")) if "entry" in node else 0
        parcel = read_parcel(view, node, place)
        if parcel is None:
            continue
        key = parcel.host, parcel.consumer, entry
        if key in seen:
            path = view.tree.paths[parcel.consumer]
            what = f"entry {entry} of `{shown(path)}` is listed twice with `{shown(parcel.host)}`"
            report.fault("listed-twice", what, "merge them into one row", place)
        seen.add(key)
        found.append(OwnEntry(parcel.host, parcel.consumer, entry, parcel.amounts))
    return tuple(found)
