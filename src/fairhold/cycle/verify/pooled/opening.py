"""Builds the stock of a plan and a state: adjusts ownership and stops expired units (R-ADJUST-1, R-SETTLE-1)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import excess, plus
from fairhold.cycle.verify.pooled.booking import Kinds, book, share_out
from fairhold.cycle.verify.pooled.never import stop_never
from fairhold.cycle.verify.pooled.owners import Adjusting, Owned, Stood
from fairhold.cycle.verify.pooled.siting import labels_of, will_do
from fairhold.cycle.verify.pooled.stock import Asked, Host, Notice, Parcel, Stock, Unit, gone
from fairhold.cycle.verify.pooled.terms import OWN, TOP, make_terms
from fairhold.cycle.verify.pooled.users import cap_users
from fairhold.cycle.verify.pooled.victims import age, is_young
from fairhold.model.adjusted import Adjusted, print_of
from fairhold.model.vector import Owning

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.cycle.verify.pooled.amounts import Amounts
    from fairhold.cycle.verify.pooled.force import Share
    from fairhold.model.plan import Plan
    from fairhold.model.state import Notice as NoticeNoun
    from fairhold.model.state import Parts, State


def open_stock(plan: Plan, share: Share, state: State) -> Stock:
    """The stock of one entry at the instant of a state, with every unit booked."""
    stock = _empty(plan, share, state)
    _settle_down(plan, share, stock, state, _stand(plan, stock, state))
    return stock


def open_settled(plan: Plan, share: Share, state: State) -> tuple[Stock, Counter[tuple[str, str]]]:
    """The same after expired units are stopped; and (request, host) → stopped units (R-SETTLE-1)."""
    stock = _empty(plan, share, state)
    kinds = _stand(plan, stock, state)
    stopped: Counter[tuple[str, str]] = Counter()
    if state.previous_cycle is None or state.previous_cycle < state.now:
        _before(plan, stock, state, kinds)
        due = tuple(row for row in state.notices if row.deadline <= state.now)
        _notices(plan, stock, due, kinds)
        for unit in [unit for unit in stock.units() if unit.notice is not None]:
            assert unit.notice is not None
            stopped[unit.asked.id, unit.host.name] += 1
            if unit.notice.taker is not None and not unit.host.is_closed:
                stock.keeps[unit.notice.taker.id, unit.host.name] = None
            gone(unit)
        for host in stock.hosts.values():
            host.parcels = []
        state = replace(state, notices=tuple(row for row in state.notices if row.deadline > state.now))
    _settle_down(plan, share, stock, state, kinds)
    return stock, stopped


def _empty(plan: Plan, share: Share, state: State) -> Stock:
    """Hosts and requests."""
    terms, paths = make_terms(plan, share.entry), plan.tree.paths
    stock = Stock(terms, {}, {}, state.now)
    for group in share.groups:
        for noun in plan.resource_groups[group].hosts:
            sizes = zip(noun.amounts, plan.resources, strict=True)
            total = tuple(amount * each.overcommit.numerator // each.overcommit.denominator for amount, each in sizes)
            into = stock.down if noun.name in state.hosts_down else stock.hosts
            is_closed = noun.name in state.hosts_closed
            into[noun.name] = Host(noun.name, group, len(into), noun.amounts, total, labels_of(noun.labels), is_closed)
    for request in state.requests:
        if request.unit and plan.tree.first_level[request.consumer] in share.members:
            stock.asked[request.id] = Asked(request, paths[request.consumer], len(stock.asked))
    return stock


def _settle_down(plan: Plan, share: Share, stock: Stock, state: State, kinds: Kinds) -> None:
    """Adjust ownership, book every unit, give the notices of the state, and hold space."""
    owned, stood = _before(plan, stock, state, kinds)
    parts: dict[tuple[str, str], dict[int, Amounts]] = {}
    for each in state.own_entries:
        parts.setdefault((plan.tree.paths[each.consumer], each.host), {})[each.entry] = each.amounts
    adjusting = Adjusting(stock.terms, owned, stood, parts, tuple(each.step for each in plan.resources))
    kept = _kept_adjustment(plan, share, state)
    adjusting.divide(stock.hosts, is_due=kept is None)
    if share.entry.settings.rebalance_interval:
        name = print_of(plan, share.entry, share.groups, state.hosts_down)
        stock.adjusted = Adjusted(state.now, name) if kept is None else kept
    stock.entries = adjusting.entries
    stock.unmet = [(claim.path, claim.entry, has, asks) for claim, has, asks in adjusting.unmet]
    for host in stock.hosts.values():
        book(stock.terms, host, kinds)
    _notices(plan, stock, state.notices, kinds)
    said: Counter[tuple[str, str]] = Counter()
    for row in state.held:
        is_here = row.request in stock.asked and row.host in stock.hosts and not stock.hosts[row.host].is_closed
        if is_here and will_do(stock.asked[row.request], stock.hosts[row.host]):
            said[row.request, row.host] += row.units
    stock.keeps = said | {place: None for place in stock.keeps if place not in said}
    stop_never(stock)
    cap_users(stock, share.waiting)


def _kept_adjustment(plan: Plan, share: Share, state: State) -> Adjusted | None:
    """The last adjustment if it is still valid; None: ownership must be adjusted (R-ADJUST-5)."""
    before = [state.adjusted[group] for group in share.groups if group in state.adjusted]
    if state.ownership is None or len(before) < len(share.groups):
        return None
    oldest = min(before, key=lambda each: each.at)
    if state.now - oldest.at >= share.entry.settings.rebalance_interval:
        return None
    name = print_of(plan, share.entry, share.groups, state.hosts_down)
    return oldest if {each.of for each in before} == {name} else None


def _stand(plan: Plan, stock: Stock, state: State) -> Kinds:
    """Place units where the state has them; unit → what the state says about it."""
    kinds: Kinds = {}
    for row in state.allocations:
        asked, host = stock.asked.get(row.request), stock.hosts.get(row.host)
        pool = _pool(plan, row.pool)
        if asked is not None and host is None:
            pool = pool if pool in {OWN, *stock.terms.up[asked.leaf][1:]} else TOP
            asked.away[pool] += row.units
            units = tuple(need * row.units for need in asked.unit)
            stock.booked[pool, row.host] = plus(units, *filter(None, [stock.booked.get((pool, row.host))]))
        if asked is None or host is None:
            continue
        for said in share_out(row.units, {plan.tree.paths[at]: units for at, units in row.lenders}):
            unit = Unit(asked, host, row.started, stock.next(), pool)
            asked.units.append(unit)
            host.units.append(unit)
            kinds[unit] = row.started, pool, said, _parts(plan, row.parts)
    return kinds


def _pool(plan: Plan, name: str) -> str:
    return name if name == OWN or name in plan.tree.rows else TOP


def _parts(plan: Plan, parts: Parts) -> tuple[tuple[str, Amounts], ...]:
    return tuple((plan.tree.paths[at], amounts) for at, amounts in parts)


def _before(plan: Plan, stock: Stock, state: State, kinds: Kinds) -> tuple[Owned, Stood]:
    """What consumers owned, and on what of it somebody's units stood, and on what those of others."""
    owned: Owned = {}
    busy: set[tuple[str, str]] = set()
    lent: set[tuple[str, str]] = set()
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
        book(stock.terms, host, kinds)
        for unit, pool in pools.items():
            there = {(path, name) for parcel in unit.books for path in parcel.owners()}
            busy |= there
            lent |= {place for place in there if place[0] not in stock.terms.up[unit.asked.leaf]}
            unit.pool = pool
    return owned, (busy, lent)


def is_against_reserve(stock: Stock, unit: Unit) -> bool:
    """Whether a unit is on parcels that are reserved for others (R-ADJUST-4)."""
    above = stock.terms.up[unit.asked.leaf]
    return any(entry.reserved and path not in above for parcel in unit.books for path, entry in parcel.chain)


def _notices(plan: Plan, stock: Stock, notices: Iterable[NoticeNoun], kinds: Kinds) -> None:
    """Give notices to units of their holder: those that they name, those on what they are for, then by `victims`."""
    for row in notices:
        asked, taker = stock.asked.get(row.request), stock.asked.get(row.taker_request)
        if asked is None:
            continue
        lenders = frozenset(plan.tree.paths[at] for at, _ in row.lenders)
        named = row.started, _pool(plan, row.pool), lenders, _parts(plan, row.parts)

        def key(unit: Unit, taker: Asked | None = taker, named: tuple[object, ...] = named) -> tuple[object, ...]:
            owners = {parcel.owner for parcel in unit.books}
            is_meant = taker.leaf in owners if taker else is_against_reserve(stock, unit)
            return kinds[unit] != named, not is_meant, is_young(stock.terms, unit, stock.now), age(stock.terms, unit)

        able = [unit for unit in asked.units if unit.host.name == row.host and unit.notice is None]
        for unit in sorted(able, key=key)[: row.units]:
            unit.notice = Notice(taker, row.deadline, row.reason, stock.next(), is_new=False)
