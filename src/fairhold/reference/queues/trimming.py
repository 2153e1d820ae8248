"""What is on its way, and notices that are not needed any more (R-HELD-1, R-NOTICE-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.reference.vectors import beyond, times, total_of, units_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.reference.queues.cluster import Ask, Cluster, Unit
    from fairhold.reference.queues.table import Table

Row = tuple[str, str, int]
"""A request, a host and units that are held for it there."""


def open_ways(cluster: Cluster, held: Iterable[Row], freed: Iterable[tuple[str, str]]) -> None:
    """R-HELD-1: what is on its way by what is held and by notices.

    freed : (request, host) where units under notice for it have gone since the cycle before
    """
    rows = [(cluster.asks[name], host, units) for name, host, units in held if name in cluster.asks]
    named = {ask for ask, _, _ in rows}
    cluster.coming = {ask: {} for ask, _, _ in rows}
    for ask, host, units in rows:
        _open_way(cluster, ask, host, units)
    notices = [
        (unit.told.taker, unit.host)
        for unit in sorted(cluster.units, key=lambda each: each.told.serial if each.told else 0)
        if unit.told is not None and unit.told.taker is not None
    ]
    gone = [(cluster.asks[name], host) for name, host in freed if name in cluster.asks]
    for ask, host in dict.fromkeys([*notices, *gone]):
        if ask not in named:
            _open_way(cluster, ask, host, cluster.waiting(ask))


def _open_way(cluster: Cluster, ask: Ask, host: str, units: int) -> None:
    """As many as are wanted, and fit in what is freed for it there and idle."""
    if host not in cluster.suitable(ask) or cluster.is_taken(ask, host):
        return
    if ask.packs and any(number for name, number in cluster.coming.get(ask, {}).items() if name != host):
        return  # all of it will stand on one host (R-SITE-3)
    room = total_of([cluster.freed(ask, host), cluster.idle(host)], cluster.width)
    units = min(units, units_in(ask.unit, room), cluster.wanted_on_way(ask) - cluster.on_way(ask))
    if units > 0:
        cluster.bring(ask, host, units)


def trim(cluster: Cluster, table: Table) -> bool:
    """R-NOTICE-2: withdraws notices beyond what takers wait for, and that bring them nothing; whether there are any."""
    is_any = False
    for ask in [*cluster.asks.values(), None]:
        noticed = [unit for unit in cluster.units if unit.told is not None and unit.told.taker is ask]
        for block in _blocks(cluster, noticed):
            if ask is None or (_is_needless(cluster, ask, block) and not _is_for_limit(cluster, table, block)):
                is_any = True
                for unit in block:
                    unit.told = None
                _fit(cluster)
        if ask is not None:
            _lessen(cluster, ask)
    _keep_limits(cluster, table)
    for ask, ways in cluster.coming.items():
        cluster.coming[ask] = {host: units for host, units in ways.items() if units or cluster.going(ask, host)}
    for ask in cluster.asks.values():
        stuck = [unit for unit in cluster.of(ask) if unit.told is not None and not unit.goes]
        for unit in stuck[::-1]:  # its place is gone: it stays where it is (R-CONTEST-6)
            if cluster.on_way(ask) < cluster.moving(ask):
                unit.told, is_any = None, True
    return is_any


def _keep_limits(cluster: Cluster, table: Table) -> None:
    """What is on its way beyond a limit is given up, first for who got units now, then for the last listed."""
    got = {unit.ask for unit in cluster.units if unit.is_new}
    for ask in sorted(cluster.coming, key=lambda each: (each not in got, -each.place)):
        for host in reversed(cluster.coming[ask]):
            while cluster.coming[ask][host] and is_beyond_limit(cluster, table, ask):
                cluster.coming[ask][host] -= 1


def is_beyond_limit(cluster: Cluster, table: Table, ask: Ask) -> bool:
    """Whether its queue, or one above it, is above a limit of what it asks for, as moved."""
    count_as_moved(cluster, table)
    return any(table.holds[path][at] > table.limit(path, at) for path in table.up(ask.leaf) for at in ask.asked)


def breaks_limit(cluster: Cluster, table: Table, block: list[Unit]) -> bool:
    """Whether a limit would be broken if some that are under notice stay, with what is on its way there."""
    stays = {unit.ask.leaf: unit.ask for unit in block}
    count_as_moved(cluster, table)
    for unit in block:
        table.came(unit.ask, 1)
    return any(
        table.holds[path][at] > table.limit(path, at)
        for leaf, ask in stays.items()
        for path in table.up(leaf)
        for at in ask.asked
    )


def _is_for_limit(cluster: Cluster, table: Table, block: list[Unit]) -> bool:
    """Whether a holder that is within a limit would be above it without the notice, with what is on its way there."""
    count_as_moved(cluster, table)
    paths = {path for unit in block for path in table.up(unit.ask.leaf)}
    before = {path: table.holds[path] for path in paths}
    for unit in block:
        table.came(unit.ask, 1)
    every = range(table.width)
    return any(before[path][at] <= table.limit(path, at) < table.holds[path][at] for path in paths for at in every)


def count_as_moved(cluster: Cluster, table: Table) -> None:
    """What everybody holds when those under notice are gone, and what is on its way is there."""
    table.clear(
        (ask, cluster.held(ask) - sum(unit.told is not None for unit in cluster.of(ask)) + cluster.on_way(ask))
        for ask in table.asks
    )


def _blocks(cluster: Cluster, noticed: list[Unit]) -> list[list[Unit]]:
    """Units that are withdrawn together, the latest deadline first, then the last listed.

    A gang that stops whole stays so, or goes on: where it stops for several, maybe none may be withdrawn.
    """
    found: list[list[Unit]] = []
    order = sorted(noticed, key=lambda u: (u.told.deadline, u.told.serial) if u.told else (0, 0), reverse=True)
    for unit in order:
        stays = sum(each.told is None for each in cluster.of(unit.ask)) + cluster.away[unit.ask]
        if not unit.ask.minimum or stays >= unit.ask.minimum:
            found.append([unit])
            continue
        block = [each for each in order if each.ask is unit.ask]
        if stays + len(block) >= unit.ask.minimum and block[0] is unit:
            found.append(block)
    return found


def _is_needless(cluster: Cluster, ask: Ask, block: list[Unit]) -> bool:
    """Whether as much is on its way without it as is wanted."""
    wanted = min(cluster.wanted_on_way(ask), cluster.on_way(ask))
    if cluster.is_exclusive and wanted and any(cluster.coming[ask].get(unit.host) for unit in block):
        return False
    return sum(_without(cluster, ask, host, block) for host in cluster.coming.get(ask, {})) >= wanted


def _without(cluster: Cluster, ask: Ask, host: str, block: list[Unit]) -> int:
    """Units on their way to a host if some there stay, with what is held for it now."""
    stays = [unit.ask.unit for unit in block if unit.host == host]
    freed = total_of([cluster.freed(ask, host), times(total_of(stays, cluster.width), -1)], cluster.width)
    room = total_of([freed, cluster.kept(ask, host)], cluster.width)
    return min(cluster.coming[ask][host], units_in(ask.unit, room))


def _fit(cluster: Cluster) -> None:
    """What was brought by a notice that is withdrawn does not come."""
    for ask, ways in cluster.coming.items():
        for host, units in ways.items():
            room = beyond(cluster.hosts[host].total, cluster.used(host))
            lack = units_in(ask.unit, total_of([room, cluster.freed(ask, host)], cluster.width))
            ways[host] = min(units, lack)


def _lessen(cluster: Cluster, ask: Ask) -> None:
    """What is on its way beyond what is wanted is given up, the last first."""
    ways = cluster.coming.get(ask, {})
    for host in reversed(ways):
        more = cluster.on_way(ask) - cluster.wanted_on_way(ask)
        ways[host] -= max(0, min(more, ways[host]))
