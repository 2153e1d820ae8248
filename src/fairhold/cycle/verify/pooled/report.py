"""Rows and tables of a result, as `quota --json` and `cycle --json` print them (SPEC §11)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.cycle.verify.pooled.amounts import fits, how_many, summed
from fairhold.model.vector import amounts_document
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from fairhold.cycle.verify.pooled.stock import Stock, Unit
    from fairhold.cycle.verify.pooled.usage import Pool
    from fairhold.model.plan import Plan

Json = dict[str, Any]


def pool_table(plan: Plan, pool: Pool, top: Collection[str]) -> Json:
    """What a pool has and how it is used.

    top : first-level consumers that take part
    """

    def in_units(amounts: Iterable[Fraction | int]) -> Json:
        pairs = zip(plan.resources, amounts, strict=True)
        return {resource.name: str(Fraction(each) / resource.base) for resource, each in pairs}

    has = pool.amounts()
    consumers = {
        path: {
            "usage": str(pool.usage[path]),
            "usage_demand": str(pool.demand.get(path, Fraction(0))),
            "usage_quota": str(pool.quota.get(path, Fraction(0))),
            "share_quota": in_units(amounts),
            "approximate_share_quota": in_units([pool.quota.get(path, Fraction(0)) * each for each in has]),
        }
        for path, amounts in pool.planned(top).items()
    }
    return {"amounts": in_units(has), "consumers": consumers}


def where(stock: Stock, request: str, host: str) -> Json:
    """Who holds units of which request where."""
    group = stock.hosts[host].group
    return {"consumer": stock.asked[request].leaf, "resource_group": group, "request": request, "host": host}


def grant_rows(stock: Stock, placed: Iterable[Unit]) -> list[Json]:
    """Units in the order of placing, neighbours that are alike in one row."""
    runs: list[list[Unit]] = []
    for unit in placed:
        last = runs[-1][-1] if runs else None
        if last is None or (last.asked, last.host, last.pool) != (unit.asked, unit.host, unit.pool):
            runs.append([])
        runs[-1].append(unit)
    rows = []
    for run in runs:
        row = where(stock, run[0].asked.id, run[0].host.name) | {"units": len(run), "pool": run[0].pool}
        rows.append(row | _lenders(stock, run))
    return rows


def _lenders(stock: Stock, units: Iterable[Unit]) -> Json:
    found = Counter(path for unit in units for path in unit.lenders(stock.terms))
    lenders = {path: found[path] for path in sorted(found, key=stock.terms.order.__getitem__)}
    return {"lenders": lenders} if lenders else {}


def moved_rows(stock: Stock, moved: Counter[tuple[str, str]]) -> list[Json]:
    """(Request, host) → units as rows."""
    return [where(stock, *key) | {"units": units} for key, units in moved.items()]


def reclaim_rows(stock: Stock, noticed: Iterable[Unit]) -> list[Json]:
    """New notices."""
    return [
        where(stock, request, host)
        | {"units": units, "for": taker or None, "deadline": format_instant(deadline), "reason": reason}
        for (request, host, taker, deadline, reason), units in _by_notice(noticed).items()
    ]


def _by_notice(noticed: Iterable[Unit]) -> Counter[tuple[str, str, str, int, str]]:
    found: Counter[tuple[str, str, str, int, str]] = Counter()
    for unit in noticed:
        notice = unit.notice
        assert notice is not None
        taker = notice.taker.id if notice.taker else ""
        found[unit.asked.id, unit.host.name, taker, notice.deadline, notice.reason] += 1
    return found


def refused_rows(stock: Stock) -> list[Json]:
    """Requests of which a unit is too large for every host."""
    return [
        {"request": asked.id, "reason": "unplaceable"}
        for asked in stock.asked.values()
        if asked.waiting and not any(fits(asked.unit, host.total) for host in stock.hosts.values())
    ]


def ownership_rows(plan: Plan, stock: Stock) -> list[Json]:
    """What consumers own, by consumer in path order, then in inventory order."""
    mine = [
        (stock.terms.order[parcel.owner], host.place, host.name, parcel)
        for host in stock.hosts.values()
        for parcel in host.parcels
        if parcel.chain
    ]
    return [
        {"host": name, "consumer": parcel.owner, "amounts": amounts_document(plan.resources, parcel.plain)}
        for _, _, name, parcel in sorted(mine, key=lambda each: each[:2])
    ]


def state_rows(plan: Plan, stock: Stock) -> dict[str, list[Json]]:
    """Sections of the state after the cycle."""
    noticed = [unit for unit in stock.units() if unit.notice is not None]
    noticed.sort(key=lambda unit: unit.notice.at if unit.notice else 0)
    reclaims = [
        {"request": request, "consumer": stock.asked[request].leaf, "host": host, "units": units}
        | ({"for": taker} if taker else {})
        | {"deadline": format_instant(deadline)}
        | ({} if reason == "quota" else {"reason": reason})
        for (request, host, taker, deadline, reason), units in _by_notice(noticed).items()
    ]
    return {
        "allocations": _allocations(stock),
        "reclaims": reclaims,
        "held": _held(stock),
        "ownership": ownership_rows(plan, stock),
    }


def _allocations(stock: Stock) -> list[Json]:
    found: dict[tuple[str, str, int, str], list[Unit]] = {}
    for asked in stock.asked.values():
        for unit in asked.units:
            found.setdefault((asked.id, unit.host.name, unit.started, unit.pool), []).append(unit)
    return [
        {"request": request, "host": host, "units": len(units), "started": format_instant(started), "pool": pool}
        | _lenders(stock, units)
        for (request, host, started, pool), units in found.items()
    ]


def _held(stock: Stock) -> list[Json]:
    rows = []
    for (request, host), units in stock.keeps.items():
        asked = stock.asked[request]
        kept = (parcel.kept[request] for parcel in stock.hosts[host].parcels if request in parcel.kept)
        still = min(units, how_many(asked.unit, summed(kept, stock.terms.width)), asked.waiting)
        if still:
            rows.append({"request": request, "host": host, "units": still})
    return rows
