"""Notices of a cycle that are not needed in the end (R-CONTEST-7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.reference.queues.contest import keeps_order
from fairhold.reference.queues.trimming import breaks_limit, count_as_moved
from fairhold.reference.vectors import beyond, times, total_of

if TYPE_CHECKING:
    from fairhold.reference.queues.cluster import Ask, Cluster, Unit
    from fairhold.reference.queues.table import Table
    from fairhold.reference.queues.taking import Taking


def spare(cluster: Cluster, table: Table, taking: Taking) -> bool:
    """Look at each notice that the cycle gives once more, the last first; whether some stay after all."""
    is_any = False
    new = [unit for unit in cluster.units if is_new(unit)]
    for unit in sorted(new, key=lambda each: -each.told.serial if each.told else 0):
        if unit.told is None:
            continue
        block = _block(cluster, unit)
        if block and _may_stay(cluster, table, taking, block):
            is_any = True
            for each in block:
                each.told = None
                taking.asked_for.pop(each, None)
    return is_any


def is_new(unit: Unit) -> bool:
    """Whether the cycle gives it notice, for a taker."""
    told = unit.told
    return told is not None and told.taker is not None and told.reason == "quota" and not told.is_as(unit.before)


def _block(cluster: Cluster, unit: Unit) -> list[Unit]:
    """What stays with it: of a gang that stops whole, all; nothing where some of it was to go before."""
    mine = cluster.of(unit.ask)
    stays = sum(each.told is None for each in mine)
    if not unit.ask.minimum or stays + 1 >= unit.ask.minimum:
        return [unit]
    gone = [each for each in mine if each.told is not None]
    return gone if all(is_new(each) for each in gone) else []


def _may_stay(cluster: Cluster, table: Table, taking: Taking, block: list[Unit]) -> bool:
    takers = {(unit.told.taker, unit.host) for unit in block if unit.told is not None}
    if not all(_fits_without(cluster, ask, host, block) for ask, host in takers if ask is not None):
        return False
    if breaks_limit(cluster, table, block):
        return False
    count_as_moved(cluster, table)
    for unit in block:
        table.came(unit.ask, 1)
    for unit, (quest, pair) in taking.asked_for.items():
        if unit in block or not is_new(unit):
            continue
        leaf = quest.ask.leaf
        if any(table.holds[leaf][at] > table.fair[leaf][at] for at in quest.ask.asked):
            return False
        if not keeps_order(table, quest.ended(), pair, {unit.ask.leaf}):
            return False
    return True


def _fits_without(cluster: Cluster, ask: Ask, host: str, block: list[Unit]) -> bool:
    """Whether all that is on its way to a host fits there without some of those that go for it.

    R-HOSTS-3: of other leaves none may stay on a host that is given whole.
    """
    others = any(unit.host == host and unit.ask.leaf != ask.leaf for unit in block)
    if cluster.is_exclusive and others and cluster.coming.get(ask, {}).get(host, 0):
        return False
    stays = total_of(
        (unit.ask.unit for unit in block if unit.host == host and unit.told is not None and unit.told.taker is ask),
        cluster.width,
    )
    freed = total_of([cluster.freed(ask, host), times(stays, -1)], cluster.width)
    need = beyond(times(ask.unit, cluster.coming.get(ask, {}).get(host, 0)), freed)
    room = total_of([cluster.idle(host), cluster.kept(ask, host)], cluster.width)
    return not any(beyond(need, room))
