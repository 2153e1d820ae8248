"""Quotas that whole hosts can cover, where each belongs to one leaf (R-HOSTS-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.reference.quotas.level import Entitlement
    from fairhold.reference.situation import Situation


def covered(situation: Situation, quota: Mapping[str, int]) -> dict[str, list[str]]:
    """Leaf → hosts that it takes for its quota, in the order of taking."""
    room = {host: slots for host, slots in situation.room.items() if slots and host not in situation.away}
    leaves = situation.consumers.leaves
    hosts: dict[str, list[str]] = {leaf: [] for leaf in leaves}
    lacks = {leaf: quota[leaf] for leaf in leaves}

    def take(leaf: str, host: str) -> None:
        hosts[leaf].append(host)
        lacks[leaf] -= room.pop(host)

    for leaf in leaves:
        for host in list(room):
            if room[host] <= lacks[leaf]:
                take(leaf, host)
    while room and max(lacks.values(), default=0) > 0:
        leaf = max(leaves, key=lambda path: lacks[path])
        take(leaf, next((host for host, slots in room.items() if slots >= lacks[leaf]), next(iter(room))))
    return hosts


def fit_to_hosts(situation: Situation, divide: Callable[[Mapping[str, int]], Entitlement]) -> Entitlement:
    """Everything is divided again, with less need where a quota is not covered, until all are.

    What is reserved is a leaf's also where no host is left for it.

    divide : leaf → the most that it may need; who is left out needs what it needs
    """
    bounds: dict[str, int] = {}
    while True:
        found = divide(bounds)
        hosts = covered(situation, found.quota)
        slots = {leaf: sum(situation.room[host] for host in mine) for leaf, mine in hosts.items()}
        short = [leaf for leaf in slots if slots[leaf] < min(found.quota[leaf], bounds.get(leaf, UNLIMITED))]
        if not short:
            found.blocked = sum(max(0, slots[leaf] - found.quota[leaf]) for leaf in slots)
            return found
        bounds |= {leaf: slots[leaf] for leaf in short}
