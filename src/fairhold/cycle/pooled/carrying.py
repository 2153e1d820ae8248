"""Carries the ownership of parcels from one plan to the next."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.model.tree import moved_path
from fairhold.model.vector import OwnEntry, Parcel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fairhold.model.plan import Plan
    from fairhold.model.state import State


def with_owned(state: State, plan: Plan, before: State, old: Plan, moved: Mapping[str, str] | None = None) -> State:
    """A state without parcels, completed with the parcels of another state, which belongs to the plan before.

    So adjusting under a new plan starts from what the plan in force has assigned, as in a live cluster. Parcels of
    consumers and hosts that the new plan does not have are left out.

    moved : old path → new path of consumers that the new plan renames
    """
    if state.ownership is not None or before.ownership is None:
        return state
    owned = tuple(_carried(before.ownership, plan, old, moved or {}))
    entries = tuple(_entries_carried(before.own_entries, plan, old, moved or {}))
    return replace(state, ownership=owned, own_entries=entries, adjusted=state.adjusted or before.adjusted)


def _entries_carried(
    entries: Iterable[OwnEntry], plan: Plan, old: Plan, moved: Mapping[str, str]
) -> Iterator[OwnEntry]:
    for each in entries:
        parcels = _carried([Parcel(each.host, each.consumer, each.amounts)], plan, old, moved)
        yield from (OwnEntry(new.host, new.consumer, each.entry, new.amounts) for new in parcels)


def _carried(parcels: Iterable[Parcel], plan: Plan, old: Plan, moved: Mapping[str, str]) -> Iterator[Parcel]:
    at = {resource.name: place for place, resource in enumerate(old.resources)}
    hosts = {host.name for group in plan.resource_groups.values() for host in group.hosts if host.amounts}
    for parcel in parcels:
        consumer = plan.tree.rows.get(moved_path(old.tree.paths[parcel.consumer], moved))
        amounts = tuple(
            parcel.amounts[at[each.name]] * each.base // old.resources[at[each.name]].base if each.name in at else 0
            for each in plan.resources
        )
        if consumer is not None and parcel.host in hosts and any(amounts):
            yield Parcel(parcel.host, consumer, amounts)
