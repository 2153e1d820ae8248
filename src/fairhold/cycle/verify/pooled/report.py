"""Rows and tables of a result, as `quota --json` and `cycle --json` print them (SPEC §11)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.cycle.verify.pooled.lending import is_lendable
from fairhold.cycle.verify.pooled.never import refusal
from fairhold.model.vector import amount_text, amounts_document
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from fairhold.cycle.verify.pooled.coming import Coming
    from fairhold.cycle.verify.pooled.stock import Stock, Unit
    from fairhold.cycle.verify.pooled.usage import Pool
    from fairhold.model.plan import Plan
    from fairhold.model.state import Shortage

Json = dict[str, Any]


def pool_table(plan: Plan, pool: Pool, top: Collection[str]) -> Json:
    """The content and the usage of a pool.

    top : first-level consumers that take part
    """

    def in_units(amounts: Iterable[Fraction | int]) -> Json:
        pairs = zip(plan.resources, amounts, strict=True)
        return {resource.name: str(Fraction(each) / resource.base) for resource, each in pairs}

    has = pool.has
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
    """The consumer, request and host of units."""
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


def refused_rows(plan: Plan, stock: Stock) -> list[Json]:
    """Requests that could get nothing on these hosts even if they were empty."""
    rows = [row for asked in stock.asked.values() if (row := refusal(stock, asked))]
    for row in rows:
        if "nearest" in row:
            row["nearest"]["missing"] = amounts_document(plan.resources, row["nearest"]["missing"])
    return rows


def unmet_rows(plan: Plan, stock: Stock) -> list[Json]:
    """Consumers that own less than the plan says."""
    rows = []
    for path, entry, has, asks in stock.unmet:
        said = f"owns {'its part of ' if entry.per_host else ''}{has[0]} of {asks[0]} hosts"
        if entry.total:
            parts = zip(plan.resources, has, asks, strict=True)
            said = "owns " + ", ".join(
                f"{each.name} {amount_text(each, mine)} of {amount_text(each, most)}"
                for each, mine, most in parts
                if most
            )
        message = f"{said} planned of {entry.resource_group}"
        rows.append({"consumer": path, "code": "own-unmet", "message": message})
    return rows


def unsettled_rows(*, is_over: bool) -> list[Json]:
    """A warning where the bound on rounds ended a cycle (R-SWEEP-2)."""
    message = "the cycle stopped after 20 rounds of sweeps with decisions still open: the next cycle continues"
    return [] if is_over else [{"consumer": "/", "code": "unsettled", "message": message}]


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


def _entry_rows(plan: Plan, stock: Stock) -> list[Json]:
    """Parts that belong to one of several entries of `own`, in the same order."""
    order = stock.terms.order
    return [
        {"host": host.name, "consumer": path, "entry": at, "amounts": amounts_document(plan.resources, amounts)}
        for path, host, at, amounts in sorted(stock.entries, key=lambda each: (order[each[0]], each[1].place, each[2]))
    ]


def state_rows(plan: Plan, stock: Stock, coming: Coming) -> dict[str, list[Json]]:
    """Sections of the state after the cycle."""
    return {
        "allocations": _allocations(plan, stock),
        "reclaims": _notices(plan, stock),
        "held": [
            {"request": asked.id, "host": host.name, "units": way.units}
            for asked, ways in coming.to.items()
            for host, way in ways.items()
            if way.units
        ],
        "ownership": ownership_rows(plan, stock),
        "own_entries": _entry_rows(plan, stock),
    }


def shortage_rows(plan: Plan, shortages: Iterable[Shortage]) -> list[Json]:
    """Leaves that miss units, with the instant since which they do (R-CONTROL-3)."""
    return [
        {
            "consumer": plan.tree.paths[each.consumer],
            "resource_group": each.resource_group,
            "since": format_instant(each.since),
        }
        | ({"taking": True} if each.is_taking else {})
        for each in shortages
    ]


def _parcels(stock: Stock, unit: Unit) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """What a unit uses of whose parcel, in plan order; nothing where it is of one, and that is known without it."""
    owners = {parcel.owner for parcel in unit.books}
    mine = [parcel for parcel in unit.host.parcels if parcel.owner == unit.asked.leaf]
    is_doubtful = owners == {unit.pool} and any(is_lendable(parcel, unit.pool) for parcel in mine)
    if len(owners) < 2 and not is_doubtful:
        return ()
    width = stock.terms.width
    parts = {path: [parcel for parcel in unit.books if parcel.owner == path] for path in owners}
    place = stock.terms.place
    return tuple((path, unit.on(parts[path], width)) for path in sorted(owners, key=lambda path: place.get(path, -1)))


def _kind(stock: Stock, unit: Unit) -> tuple[object, ...]:
    """What tells units of a request on a host from one another."""
    return unit.started, unit.pool, tuple(unit.lenders(stock.terms)), _parcels(stock, unit)


def _kind_row(plan: Plan, stock: Stock, unit: Unit, units: int) -> Json:
    row: Json = {"started": format_instant(unit.started), "pool": unit.pool}
    lenders = sorted(unit.lenders(stock.terms), key=stock.terms.place.__getitem__)
    parts = {path: amounts_document(plan.resources, amounts) for path, amounts in _parcels(stock, unit)}
    row |= {"lenders": dict.fromkeys(lenders, units)} if lenders else {}
    return row | ({"stands_on": parts} if parts else {})


def _allocations(plan: Plan, stock: Stock) -> list[Json]:
    found: dict[tuple[object, ...], list[Unit]] = {}
    for asked in stock.asked.values():
        for unit in asked.units:
            found.setdefault((asked.id, unit.host.name, _kind(stock, unit)), []).append(unit)
    return [
        {"request": units[0].asked.id, "host": units[0].host.name, "units": len(units)}
        | _kind_row(plan, stock, units[0], len(units))
        for units in found.values()
    ]


def _notices(plan: Plan, stock: Stock) -> list[Json]:
    """Units under notice in the order given; which they are is said where those of the holder there are not alike."""
    kinds: dict[tuple[str, str], set[tuple[object, ...]]] = {}
    for unit in stock.units():
        kinds.setdefault((unit.asked.id, unit.host.name), set()).add(_kind(stock, unit))
    found: dict[tuple[object, ...], list[Unit]] = {}
    noticed = [unit for unit in stock.units() if unit.notice is not None]
    for unit in sorted(noticed, key=lambda unit: unit.notice.at if unit.notice else 0):
        (about,) = _by_notice([unit])
        found.setdefault((about, _kind(stock, unit)), []).append(unit)
    rows = []
    for units in found.values():
        ((request, host, taker, deadline, reason),) = _by_notice(units[:1])
        row: Json = {"request": request, "consumer": units[0].asked.leaf, "host": host, "units": len(units)}
        row |= ({"for": taker} if taker else {}) | {"deadline": format_instant(deadline)}
        row |= {} if reason == "quota" else {"reason": reason}
        is_alike = len(kinds[request, host]) == 1
        rows.append(row if is_alike else row | _kind_row(plan, stock, units[0], len(units)))
    return rows
