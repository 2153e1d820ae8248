"""Withdraws notices of a cycle that other notices make unnecessary, one by one after all takes (R-NOTICE-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import how_many, plus, summed
from fairhold.cycle.verify.pooled.coming import is_stopping
from fairhold.cycle.verify.pooled.lending import is_lendable, reachable
from fairhold.cycle.verify.pooled.siting import able_hosts
from fairhold.cycle.verify.pooled.terms import OWN

if TYPE_CHECKING:
    from fairhold.cycle.verify.pooled.coming import Coming
    from fairhold.cycle.verify.pooled.stock import Asked, Host, Notice, Unit


def stay_after_all(coming: Coming, noticed: list[Unit]) -> list[Unit]:
    """Withdraw new notices of units that can stay without loss to any taker, the last first; returns the units."""
    spared: list[Unit] = []
    seen: set[Unit] = set()
    coming.staying = []
    for unit in sorted(noticed, key=lambda each: each.notice.at if each.notice else 0, reverse=True):
        taker = unit.notice.taker if unit.notice else None
        if taker is None or unit in seen:
            continue
        told = {each: each.notice for each in _with_gang(unit) if each.notice and each.notice.taker is taker}
        bundle = [*told]
        seen.update(bundle)
        is_part = is_stopping(unit.asked) and len(unit.asked.units) > len(bundle) < unit.asked.model.min_count
        if is_part or (coming.may_stay is not None and not coming.may_stay(bundle)):
            continue
        for each in bundle:
            each.notice = None
        if _is_enough_without(coming, taker, bundle):
            spared += bundle
        else:
            _tell(told)
    return spared


def _with_gang(unit: Unit) -> list[Unit]:
    """A unit, or all units of its gang that got notice in this cycle where the gang stops whole."""
    if not is_stopping(unit.asked):
        return [unit]
    return [each for each in unit.asked.units if each.notice is not None and each.notice.is_new]


def _tell(notices: dict[Unit, Notice]) -> None:
    for unit, notice in notices.items():
        unit.notice = notice


def _is_enough_without(coming: Coming, taker: Asked, stay: list[Unit]) -> bool:
    """Whether a taker gets as much if some of its victims stay; if not, nothing changes."""
    ways = coming.to[taker]
    before = {host: (way.pool, list(way.goes), way.units) for host, way in ways.items()}
    rooms = [(parcel, parcel.idle, dict(parcel.kept)) for host in ways for parcel in host.parcels]
    needed = coming.units(taker)
    hosts = able_hosts(taker, sorted(ways, key=lambda host: host.place), [host for host in ways if ways[host].units])
    depths = {OWN: 0} | {pool: depth for depth, pool in enumerate(coming.stock.terms.up[taker.leaf]) if depth}
    left = {host: coming.without(taker, host, stay) for host in {unit.host: None for unit in stay}}
    lost = [depths[ways[host].pool] for host, units in left.items() if units < ways[host].units]
    for unit in stay:
        ways[unit.host].goes.remove(unit)
    for host, units in left.items():
        ways[host].units = units
    for host in hosts if lost else ():
        most = min(lost) if not ways[host].units else min(*lost, depths[ways[host].pool])
        near = {pool for pool, depth in depths.items() if depth <= most}
        while coming.units(taker) < needed and _brings_one_more(coming, taker, host, near):
            pass
    is_alone = not coming.is_exclusive or not any(coming.comers(unit.host) - {unit.asked.leaf} for unit in stay)
    if coming.units(taker) == needed and is_alone:
        for host in ways:
            coming.keep_no_more(taker, host)
        coming.to[taker] = {host: way for host, way in ways.items() if way.units or way.goes}
        return True
    for host, (pool, goes, units) in before.items():
        ways[host].pool, ways[host].goes, ways[host].units = pool, goes, units
    for parcel, idle, kept in rooms:
        parcel.idle, parcel.kept = idle, kept
    return False


def _brings_one_more(coming: Coming, taker: Asked, host: Host, pools: set[str]) -> bool:
    """Let one more unit come to a host, if all units there will be in given pools; else nothing changes."""
    way = coming.to[taker][host]
    units, most = way.units, way.units + 1
    for number in (most, units):
        for parcel in host.parcels:
            if taker.id in parcel.kept:
                parcel.idle = plus(parcel.idle, parcel.kept.pop(taker.id))
        coming.bring(taker, host, number, None)
        if number == most and way.units == most and way.pool in pools and _is_within_part(coming, taker, host):
            return True
    return False


def _is_within_part(coming: Coming, taker: Asked, host: Host) -> bool:
    """Whether all units that come to a host fit in the pool in which they count, without reserved parcels inside it."""
    way, terms = coming.to[taker][host], coming.stock.terms
    mine = [
        parcel
        for parcel in reachable(terms, taker.leaf, host)
        if (parcel.owner == taker.leaf if way.pool == OWN else is_lendable(parcel, way.pool))
    ]
    leave = (unit.on(mine, terms.width) for unit in way.goes)
    return how_many(taker.unit, summed([*leave, *(parcel.room(taker.id) for parcel in mine)], terms.width)) >= way.units
