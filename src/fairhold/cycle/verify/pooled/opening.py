"""A plan's hosts and a state's units as a stock, ownership adjusted, and what has run out (R-ADJUST-1, R-SETTLE-1)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import excess, how_many, plus, scaled
from fairhold.cycle.verify.pooled.booking import Lenders, book, share_out
from fairhold.cycle.verify.pooled.owners import Adjusting, Owned
from fairhold.cycle.verify.pooled.stock import Asked, Host, Notice, Parcel, Stock, Unit, gone, keep
from fairhold.cycle.verify.pooled.terms import OWN, TOP, make_terms
from fairhold.model.vector import Owning

if TYPE_CHECKING:
    from fairhold.cycle.verify.pooled.force import Share
    from fairhold.model.plan import Plan
    from fairhold.model.state import State


def open_stock(plan: Plan, share: Share, state: State) -> Stock:
    """The stock of one entry at the instant of a state, every unit booked."""
    terms, paths = make_terms(plan, share.entry), plan.tree.paths
    stock = Stock(terms, {}, {}, state.now)
    for group in share.groups:
        for noun in plan.resource_groups[group].hosts:
            if noun.name not in state.hosts_down:
                sizes = zip(noun.amounts, plan.resources, strict=True)
                total = tuple(
                    amount * each.overcommit.numerator // each.overcommit.denominator for amount, each in sizes
                )
                stock.hosts[noun.name] = Host(noun.name, group, len(stock.hosts), noun.amounts, total)
    for request in state.requests:
        if request.unit and plan.tree.first_level[request.consumer] in share.members:
            stock.asked[request.id] = Asked(request, paths[request.consumer], len(stock.asked))
    lenders = _stand(plan, stock, state)
    owned, busy = _before(plan, stock, state, lenders)
    Adjusting(terms, owned, busy, tuple(each.step for each in plan.resources)).divide(stock.hosts)
    for host in stock.hosts.values():
        book(terms, host, lenders)
    _notices(stock, state)
    _kept(stock, state)
    return stock


def _stand(plan: Plan, stock: Stock, state: State) -> Lenders:
    """Units where the state says that they stand; unit → lenders that it names."""
    lenders: Lenders = {}
    for row in state.allocations:
        asked, host = stock.asked.get(row.request), stock.hosts.get(row.host)
        if asked is not None and host is None:
            asked.away += row.units
        if asked is None or host is None:
            continue
        pool = row.pool if row.pool == OWN or row.pool in plan.tree.rows else TOP
        for said in share_out(row.units, {plan.tree.paths[at]: units for at, units in row.lenders}):
            unit = Unit(asked, host, row.started, stock.next(), pool)
            asked.units.append(unit)
            host.units.append(unit)
            lenders[unit] = said
    return lenders


def _before(plan: Plan, stock: Stock, state: State, lenders: Lenders) -> tuple[Owned, set[tuple[str, str]]]:
    """What consumers owned, and on what of it somebody's units stood."""
    owned: Owned = {}
    busy: set[tuple[str, str]] = set()
    nothing = (0,) * stock.terms.width
    for row in state.ownership or ():
        if row.host in stock.hosts:
            host, owner = stock.hosts[row.host], plan.tree.paths[row.consumer]
            chain = tuple((path, Owning(host.group)) for path in stock.terms.up[owner][:-1])
            host.parcels.append(Parcel(owner, chain, row.amounts))
            for path, _ in chain:
                mine = owned.setdefault(row.host, {})
                mine[path] = plus(mine.get(path, nothing), row.amounts)
    for name in owned:
        host = stock.hosts[name]
        left = excess(host.total, plus(nothing, *(parcel.amounts for parcel in host.parcels)))
        host.parcels.append(Parcel(TOP, (), left))
        pools = {unit: unit.pool for unit in host.units}
        book(stock.terms, host, lenders)
        for unit, pool in pools.items():
            busy |= {(path, name) for parcel in unit.books for path in parcel.owners()}
            unit.pool = pool
    return owned, busy


def is_against_reserve(stock: Stock, unit: Unit) -> bool:
    """Whether a unit stands on what is reserved for others (R-ADJUST-4)."""
    above = stock.terms.up[unit.asked.leaf]
    return any(entry.reserved and path not in above for parcel in unit.books for path, entry in parcel.chain)


def _notices(stock: Stock, state: State) -> None:
    """Give the notices of the state to units of their holder: those on what they are for, then the youngest."""
    for row in state.notices:
        asked, taker = stock.asked.get(row.request), stock.asked.get(row.taker_request)
        if asked is None:
            continue

        def key(unit: Unit, taker: Asked | None = taker) -> tuple[bool, int, int]:
            owners = {parcel.owner for parcel in unit.books}
            is_meant = taker.leaf in owners if taker else is_against_reserve(stock, unit)
            return not is_meant, -unit.started, -unit.at

        able = [unit for unit in asked.units if unit.host.name == row.host and unit.notice is None]
        for unit in sorted(able, key=key)[: row.units]:
            unit.notice = Notice(taker, row.deadline, row.reason, stock.next(), is_new=False)


def _kept(stock: Stock, state: State) -> None:
    """Keep what was freed for a request, as long as it waits (R-HELD-1)."""
    kept: Counter[str] = Counter()
    for row in state.held:
        asked, host = stock.asked.get(row.request), stock.hosts.get(row.host)
        if asked is not None and host is not None:
            idle = plus(*(parcel.idle for parcel in host.parcels))
            units = min(row.units, asked.waiting - kept[asked.id], how_many(asked.unit, idle))
            if units:
                kept[asked.id] += units
                stock.keeps[asked.id, host.name] = units
                keep(asked.id, host.parcels, scaled(asked.unit, units))


def stop_due(stock: Stock, state: State) -> Counter[tuple[str, str]]:
    """Stop what has run out; what it frees is kept for the taker. (Request, host) → units (R-SETTLE-1, R-HELD-1)."""
    stopped: Counter[tuple[str, str]] = Counter()
    if state.previous_cycle is not None and state.previous_cycle >= state.now:
        return stopped
    freed: dict[tuple[str, str], None] = {}
    for unit in list(stock.units()):
        if unit.notice is not None and unit.notice.deadline <= state.now:
            stopped[unit.asked.id, unit.host.name] += 1
            if unit.notice.taker is not None:
                freed[unit.notice.taker.id, unit.host.name] = None
            gone(unit)
    for request, name in freed:
        asked, parcels = stock.asked[request], stock.hosts[name].parcels
        elsewhere = sum(units for (other, at), units in stock.keeps.items() if other == request and at != name)
        room = plus(*(parcel.room(request) for parcel in parcels))
        units = min(asked.waiting - elsewhere, how_many(asked.unit, room))
        if units > 0:
            stock.keeps[request, name] = units
            keep(request, parcels, scaled(asked.unit, units))
    return stopped
