"""What a request may get without further victims, recomputed (R-CONTEST-1, R-CONTEST-4, R-SERVE-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import how_many, minus, plus, scaled
from fairhold.cycle.verify.pooled.stock import kept_on
from fairhold.cycle.verify.queued.table import is_preemptible

if TYPE_CHECKING:
    from fairhold.cycle.verify.pooled.amounts import Amounts
    from fairhold.cycle.verify.pooled.coming import Coming
    from fairhold.cycle.verify.pooled.stock import Asked, Host
    from fairhold.cycle.verify.queued.table import Table


def exceeds_share(table: Table, asked: Asked, need: tuple[int, ...]) -> bool:
    """Whether its queue would be above its fair share of a requested resource (R-CONTEST-1)."""
    return any(need[at] and table.held[at][asked.leaf] + need[at] > table.fair[at][asked.leaf] for at in table.width)


def is_barred(table: Table, asked: Asked, need: tuple[int, ...]) -> bool:
    """Whether it is not preemptible, and exceeds what its queue, or one above, deserves for that (R-SERVE-2)."""
    return not is_preemptible(asked) and any(
        need[at] and table.fixed[at][path] + need[at] > table.deserves(path, at)
        for path in table.queues[asked.leaf].up[:-1]
        for at in table.width
    )


def rooms_beside(coming: Coming, asked: Asked, hosts: list[Host]) -> dict[Host, int]:
    """How many more come to where units leave for it already, beside those that are to come (R-CONTEST-4)."""
    rooms = {}
    for host, way in coming.to.get(asked, {}).items():
        if way.goes and host in hosts:
            idle = (parcel.idle for parcel in host.parcels)
            rooms[host] = how_many(asked.unit, plus(rest_beside(coming, asked, host), *idle))
    return rooms


def rest_beside(coming: Coming, asked: Asked, host: Host) -> Amounts:
    """What those who leave for it on a host leave, with what is kept for it, beside what its units to come need."""
    way = coming.to.get(asked, {}).get(host)
    if way is None or not way.goes:
        return scaled(asked.unit, 0)
    there = plus(coming.freed(asked, host), kept_on(asked.id, host, len(asked.unit)))
    return minus(there, scaled(asked.unit, way.units))
