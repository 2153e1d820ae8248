"""Whether a gang could find all that it misses, were everybody to go who may (R-TAKE-4): if not, nobody is looked for.

It is a bound from above, and nothing is decided by it but that a search would be in vain. Units that come to a host
stand on what is idle there for the taker and on what its victims free, so that no more of them fit than into both
together. Victims are units that may go for it, and the rest of their gangs. In a pool these are of leaves above their
quota: of what a leaf that gives has, and all between it and its nearest row above the taker, nothing becomes more
while a gang takes, so that nobody comes to give who could not when it began.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, count, fits, total
from fairhold.rules.pools.giving import is_above_quota

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.ledger.pools import Machine, PendingRequest
    from fairhold.rules.pools.picking import Picker, Source


def may_be_enough(picker: Picker, asked: PendingRequest, source: Source, hosts: Iterable[Machine], units: int) -> bool:
    """Whether so many units of a request may be found on some hosts; only where nothing is on its way to it.

    Where units are spared for a while the search itself says when another cycle is due, so that it has to be made.
    """
    books = picker.books
    if asked in picker.ways.of or books.restraint.spares_young:
        return True
    hosts, dimensions = list(hosts), books.terms.dimensions
    going = _of_leaves_above(picker, asked, source) if source.is_compared else _of_hosts(asked, source, hosts)
    for host in hosts:
        parcels = source.parcels(host)
        if not parcels or not fits(asked.unit, total((parcel.amounts for parcel in parcels), dimensions)):
            continue
        room = total((parcel.idle for parcel in parcels if source.is_idle(parcel)), dimensions)
        for unit in host.units:
            if unit.notice is None and unit.asked in going:
                room = add(room, unit.asked.unit)
        units -= count(asked.unit, room)
        if units <= 0:
            return True
    return False


def _of_leaves_above(picker: Picker, asked: PendingRequest, source: Source) -> set[PendingRequest]:
    """Requests of leaves that may give in a pool, whatever the taker's own quota says."""
    standing = picker.standing(source.pool)
    leaves = (leaf for leaf in standing.holders if leaf != asked.leaf and is_above_quota(standing, asked.leaf, leaf))
    return {each for leaf in leaves for each in standing.holders[leaf]}


def _of_hosts(asked: PendingRequest, source: Source, hosts: Iterable[Machine]) -> set[PendingRequest]:
    """Requests of which a unit may go on some hosts, where no quotas decide."""
    found: set[PendingRequest] = set()
    for host in hosts:
        among = set(source.parcels(host))
        for unit in host.units:
            may_go = unit.notice is None and unit.asked.leaf != asked.leaf and source.gives(unit)
            if may_go and (host.is_plain or not among.isdisjoint(unit.books)):
                found.add(unit.asked)
    return found
