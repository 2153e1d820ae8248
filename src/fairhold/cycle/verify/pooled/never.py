"""Requests that could not start on the hosts that are up even if they were empty, by level (R-POOL-3, R-GANG-2)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.cycle.verify.pooled.amounts import excess, fits, how_many, summed
from fairhold.cycle.verify.pooled.lending import is_lendable, may_use
from fairhold.cycle.verify.pooled.siting import packs, will_do
from fairhold.cycle.verify.pooled.terms import OWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.verify.pooled.stock import Asked, Host, Parcel, Stock

Json = dict[str, Any]
Fit = tuple[int, int]
"""Units that fit on a host: on what its leaf owns, and beside them on what others own or nobody."""


def stop_never(stock: Stock) -> None:
    """Set the reason of every gang that can never start, and bound it by what it holds."""
    for asked in stock.asked.values():
        if asked.short:
            asked.never = _reason(stock, asked)
        if asked.never:
            asked.cap = asked.held


def _reason(stock: Stock, asked: Asked) -> Json:
    """Why a gang can never start: the first bound that is too small; empty where it could start."""
    terms, misses = stock.terms, asked.short
    up = _at_once(asked, [(0, how_many(asked.unit, host.total)) for host in _stands(asked, stock.hosts)], None)
    if up < misses:
        every = stock.hosts | stock.down
        all_ = _at_once(asked, [(0, how_many(asked.unit, host.total)) for host in _stands(asked, every)], None)
        return {"because": "hosts" if all_ < misses else "down", "units": misses, "room": up}
    most = terms.user_limit[asked.leaf]
    if asked.model.user and most is not None and most < asked.model.min_count:
        return {"because": "user limit", "units": misses, "room": max(0, most - asked.held)}
    levels = list(_levels(stock, asked))
    left = _left_of_limits(stock, asked)
    room, without = (max((_at_once(asked, level, most) for level in levels), default=0) for most in (left, None))
    if room >= misses:
        return {}
    return {"because": "reach" if without < misses else "share limit", "units": misses, "room": room}


def _stands(asked: Asked, hosts: dict[str, Host]) -> list[Host]:
    """Suitable hosts; for a gang that packs and holds units, its host."""
    found = [host for host in hosts.values() if will_do(asked, host)]
    if packs(asked) and asked.held:
        return [host for host in found if not asked.away and any(unit.host is host for unit in asked.units)]
    return found


def _at_once(asked: Asked, fitting: list[Fit], most: int | None) -> int:
    """Units that fit together, with at most a number of them outside the parcels of its leaf; None: any number."""

    def bounded(own: int, others: int) -> int:
        return own + (others if most is None else min(most, others))

    if packs(asked):
        return max((bounded(*fit) for fit in fitting), default=0)
    return bounded(sum(own for own, _ in fitting), sum(others for _, others in fitting))


def _left_of_limits(stock: Stock, asked: Asked) -> int | None:
    """Units in share pools that share limits allow if no other units were there."""
    terms, shared = stock.terms, len([unit for unit in asked.units if unit.pool != OWN])
    shared += asked.away.total() - asked.away[OWN]
    limits = [pair for path in terms.up[asked.leaf] for pair in terms.limit.get(path, {}).items()]
    fit = [max(0, most - shared * asked.unit[at]) // asked.unit[at] for at, most in limits if asked.unit[at]]
    return min(fit) if fit else None


def _levels(stock: Stock, asked: Asked) -> Iterator[list[Fit]]:
    """Units that fit on each host at each level if all were empty: own parcels by preference, then pool by pool."""
    terms, leaf = stock.terms, asked.leaf
    hosts = _stands(asked, stock.hosts)
    own = {host.name: [parcel for parcel in host.parcels if parcel.owner == leaf] for host in hosts}
    for preference in {parcel.preference for mine in own.values() for parcel in mine}:
        alike = [[each for each in mine if each.preference == preference] for mine in own.values()]
        yield [(_fit(stock, asked, mine), 0) for mine in alike]
    for pool in terms.up[leaf][1:]:
        if terms.takes_part(pool, leaf):
            fitting = []
            for host in hosts:
                lent = [each for each in host.parcels if is_lendable(each, pool) and may_use(terms, each, leaf, pool)]
                mine = _fit(stock, asked, [each for each in lent if each.owner == leaf])
                fitting.append((mine, _fit(stock, asked, lent) - mine))
            yield fitting


def _fit(stock: Stock, asked: Asked, parcels: list[Parcel]) -> int:
    return how_many(asked.unit, summed((parcel.amounts for parcel in parcels), stock.terms.width))


def _nearest(stock: Stock, asked: Asked) -> Json:
    """Where the least of a unit is missing, the most of any resource counted first, and what; in base units."""
    found: list[tuple[Fraction, Fraction, int]] = []
    hosts = [host for host in stock.hosts.values() if will_do(asked, host)]
    for at, host in enumerate(hosts):
        missing = excess(asked.unit, host.total)
        parts = [Fraction(miss, need) for miss, need in zip(missing, asked.unit, strict=True) if need]
        found.append((max(parts), sum(parts, Fraction(0)), at))
    if not found:
        return {}
    host = hosts[min(found)[2]]
    return {"nearest": {"host": host.name, "missing": excess(asked.unit, host.total)}}


def refusal(stock: Stock, asked: Asked) -> Json:
    """The `refused` row of a request that gets nothing on these hosts even if they were empty; else empty."""
    if asked.unmet and not any(fits(asked.unit, host.total) for host in stock.hosts.values() if will_do(asked, host)):
        large = [host for host in [*stock.hosts.values(), *stock.down.values()] if fits(asked.unit, host.total)]
        because = "down" if any(will_do(asked, host) for host in large) else "labels"
        found = {"request": asked.id, "reason": "unplaceable"} | ({"because": because} if large else {})
        return found if large and because == "down" else found | _nearest(stock, asked)
    return {"request": asked.id, "reason": "never-fits"} | asked.never if asked.never else {}
