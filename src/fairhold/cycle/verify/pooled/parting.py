"""Splits results and states of plans with slots and vectors into the parts of slots and of pools."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from fairhold.model.state import State

Json = dict[str, Any]
OF_POOLS = ("pools", "ownership", "refused")
OF_STATE = ("ownership", "own_entries", "adjusted", "usage", "spent_resources")
LISTS = ("stops", "grants", "reclaims", "withdrawn", "observed")
STATE_LISTS = ("requests", "allocations", "reclaims", "held", "shortages")
OF_VECTORS = frozenset({"own-unmet", "oversubscribed", "unsettled"})
"""Codes of warnings about pools and queues."""
MAY_BE_GONE = ("observed", "shortages")


def slots_of(state: State) -> State:
    """A state without its requests of vectors."""
    mine = vectors_of(state)
    return replace(
        state,
        requests=tuple(each for each in state.requests if each.id not in mine),
        allocations=tuple(each for each in state.allocations if each.request not in mine),
        notices=tuple(each for each in state.notices if each.request not in mine),
        held=tuple(each for each in state.held if each.request not in mine),
        ownership=None,
        own_entries=(),
        adjusted={},
    )


def vectors_of(state: State) -> set[str]:
    """Requests of vectors, by id."""
    return {request.id for request in state.requests if request.unit}


def part(
    result: Json, mine: Collection[str], groups: Collection[str], queues: Collection[str] = ()
) -> tuple[Json, Json]:
    """The parts of slots and of pools; values without the agreed form stay with the slots.

    mine   : requests of vectors
    groups : resource groups that are shared in vectors
    queues : names of entries whose consumers are queues
    """

    def is_of(row: object) -> bool:
        if not isinstance(row, dict):
            return False
        name = row.get("request", row.get("id"))
        if name is None and "since" in row:
            return isinstance(row.get("resource_group"), str) and row["resource_group"] in groups
        return isinstance(name, str) and name in mine

    slots, pools = _part(result, is_of, LISTS, OF_POOLS)
    tables = result.get("resource_groups")
    if queues and isinstance(tables, dict):
        pools["queues"] = {name: table for name, table in tables.items() if name in queues}
        slots["resource_groups"] = {name: table for name, table in tables.items() if name not in queues}
    if isinstance(result.get("warnings"), list):
        told = [isinstance(row, dict) and row.get("code") in OF_VECTORS for row in result["warnings"]]
        for is_unmet, side in ((False, slots), (True, pools)):
            side["warnings"] = [row for row, each in zip(result["warnings"], told, strict=True) if each is is_unmet]
    if isinstance(result.get("state"), dict):
        slots["state"], pools["state"] = _part(result["state"], is_of, STATE_LISTS, OF_STATE)
    return slots, pools


def _part(
    document: Json, is_of: Callable[[object], bool], lists: Collection[str], whole: Collection[str]
) -> tuple[Json, Json]:
    slots = {key: value for key, value in document.items() if key not in whole}
    pools = {key: value for key, value in document.items() if key in whole}
    for key in lists:
        if isinstance(document.get(key), list):
            pools[key] = [row for row in document[key] if is_of(row)]
            slots[key] = [row for row in document[key] if not is_of(row)]
            if key in MAY_BE_GONE and pools[key] and not slots[key]:
                del slots[key]
    return slots, pools
