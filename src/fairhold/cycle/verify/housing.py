"""Packing `exclusive`: the leaf of each host, and what each leaf can use (R-HOSTS-1, R-HOSTS-2)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.verify.books import Books
    from fairhold.cycle.verify.sheet import Sheet


def move_in(sheet: Sheet, books: Books) -> Sheet:
    """The sheet with the leaf that each host belongs to (R-HOSTS-1)."""
    if not sheet.is_exclusive:
        return sheet
    tenants: dict[str, Counter[str]] = {name: Counter() for name in sheet.inventory}
    for batch, units in books.batches.items():
        if units:
            tenants[batch.host][sheet.holder[batch.request]] += units
    place = {leaf: at for at, leaf in enumerate(sheet.leaves)}
    lives = {name: min(there, key=lambda leaf: (-there[leaf], place[leaf])) for name, there in tenants.items() if there}
    return replace(sheet, tenants=tenants, lives=lives)


def most_on_hosts(sheet: Sheet, quota: Mapping[str, int]) -> tuple[dict[str, int], int]:
    """Leaf → slots of its whole hosts, for leaves with a larger quota; and the slots beyond all quotas.

    Leaves come in path order, hosts in that of the inventory: first every leaf takes the hosts that it fills, then
    those that lack most take one for the rest (R-HOSTS-2).
    """
    is_open = [slots for name, slots in sheet.hosts if slots and name not in sheet.closed]
    lack = {leaf: quota[leaf] for leaf in sheet.leaves}
    for leaf in sheet.leaves:
        stay = []
        for slots in is_open:
            if slots <= lack[leaf]:
                lack[leaf] -= slots
            else:
                stay.append(slots)
        is_open = stay
    beyond = 0
    for leaf in sorted(sheet.leaves, key=lambda leaf: -lack[leaf]):
        while lack[leaf] and is_open:
            large = [slots for slots in is_open if slots >= lack[leaf]]
            slots = (large or is_open)[0]
            is_open.remove(slots)
            beyond += max(0, slots - lack[leaf])
            lack[leaf] = max(0, lack[leaf] - slots)
    return {leaf: quota[leaf] - units for leaf, units in lack.items() if units}, beyond
