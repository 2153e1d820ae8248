"""Hosts used by one consumer at a time: slots that a leaf can use; which host is emptied first (R-HOSTS-2)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Mapping

    from fairhold.ledger.books import Books
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot


def bound_by_hosts(snapshot: Snapshot, draft: CycleContext, usable: array[int]) -> Snapshot | None:
    """The snapshot with less usable demand if the quotas do not fit on whole hosts; None if they fit.

    A leaf whose hosts have fewer slots than its quota can use no more than these slots (R-HOSTS-2).

    usable : (rows,) what leaves could use, before gangs that never fit were left out
    """
    if not snapshot.rows.is_exclusive:
        return None
    hosts = snapshot.books.hosts
    sizes = [slots for host, slots in enumerate(hosts.slots) if hosts.up[host] and host not in hosts.closed and slots]
    wanted = {leaf: draft.quota[leaf] for leaf in snapshot.rows.leaves if draft.quota[leaf]}
    lack, draft.blocked = house(wanted, sizes)
    fewer = usable[:]
    for leaf, units in lack.items():
        fewer[leaf] = min(fewer[leaf], wanted[leaf] - units)
    return None if fewer == usable else replace(snapshot, usable=fewer)


def house(quota: Mapping[int, int], sizes: Iterable[int]) -> tuple[dict[int, int], int]:
    """Assign whole hosts to leaves for their quotas: first hosts that a quota fills, then one host for each rest.

    Leaves come in the order given, hosts in inventory order. For the rests, the leaf that lacks most comes first; it
    gets the first host that is large enough, else the first host.

    quota : leaf → slots
    sizes : slots of the hosts, in inventory order

    Returns what leaves lack in the end, and how many slots they have beyond their quotas.
    """
    lack, free, beyond = dict(quota), dict(enumerate(sizes)), 0
    for leaf in quota:
        left = quota[leaf]
        for host, slots in [*free.items()]:
            if slots <= left:
                left -= free.pop(host)
        lack[leaf] = left
    for leaf in sorted(lack, key=lambda leaf: -lack[leaf]):
        while lack[leaf] and free:
            enough = (host for host, slots in free.items() if slots >= lack[leaf])
            slots = free.pop(next(enough, next(iter(free))))
            beyond += max(0, slots - lack[leaf])
            lack[leaf] = max(0, lack[leaf] - slots)
    return {leaf: units for leaf, units in lack.items() if units}, beyond


def emptying_first(books: Books, leaf: int, order: list[int]) -> list[int]:
    """Allocations of a leaf, ordered to empty hosts: hosts with the fewest units first, without those under notice.

    order : as `victims` says, which decides on one host
    """
    if not books.rows.is_exclusive:
        return order
    allocations = books.allocations
    stay: dict[int, int] = {}
    for request in books.requests.holders.get(leaf, ()):
        for row in allocations.by_request.get(request, ()):
            host = allocations.host[row]
            stay[host] = stay.get(host, 0) + allocations.units[row] - allocations.noticed[row]
    return sorted(order, key=lambda row: (stay[allocations.host[row]], -allocations.host[row]))
