"""Which parcels a leaf may use in a pool, what is lent up, and the content of a pool (R-POOL-2, R-LEND-5, R-LEND-6)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import Amounts, how_many, minus, plus
from fairhold.cycle.verify.pooled.terms import OWN, TOP, Terms, bound
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.cycle.verify.pooled.stock import Host, Parcel, Stock, Unit


def bound_on(terms: Terms, parcel: Parcel, leaf: str, pool: str) -> int:
    """The bound in microseconds within which a leaf must give a parcel back that it uses in a pool (R-LEND-6)."""
    if parcel.owner == leaf:
        return UNLIMITED
    if parcel.owner == TOP:
        return bound(terms.settings.public_pool_grace)
    lent_by = []
    for path, entry in parcel.chain:
        if path == pool:
            break
        lent_by.append(bound(entry.lend_grace))
    is_below = parcel.owner in terms.up[leaf]
    return min([*lent_by, terms.pool_grace[parcel.owner] if is_below else UNLIMITED])


def may_use(terms: Terms, parcel: Parcel, leaf: str, pool: str) -> bool:
    """Whether the grace of a leaf is within the bound of a parcel."""
    return parcel.owner == leaf or terms.grace[leaf] <= bound_on(terms, parcel, leaf, pool)


def grace_of(terms: Terms, unit: Unit) -> int:
    """Microseconds from a notice to the stop: the smallest of the holder's and all bounds."""
    leaf = unit.asked.leaf
    return min([terms.grace[leaf], *(bound_on(terms, parcel, leaf, unit.pool) for parcel in unit.books)])


def deadline_of(stock: Stock, unit: Unit) -> int:
    """The deadline of a new notice; not later than that of a notice withdrawn in this cycle (R-NOTICE-2)."""
    found = stock.now + grace_of(stock.terms, unit)
    return min(found, stock.before[unit].deadline) if unit in stock.before else found


def booked_first(terms: Terms, parcel: Parcel, leaf: str, pool: str) -> tuple[int, ...]:
    """Key: own parcels, the pool's, then lent ones of the worst preference, the worst rank, in plan order."""
    if parcel.owner == leaf:
        return 0, parcel.preference
    if parcel.owner == pool:
        return (1,)
    return 2, -parcel.preference, -terms.rank[parcel.owner], terms.place[parcel.owner]


def usable(terms: Terms, host: Host, leaf: str, pool: str) -> list[Parcel]:
    """Parcels of a host whose idle content a leaf may use in a pool, in booking order."""
    found = [each for each in host.parcels if is_at(terms, each, pool) and may_use(terms, each, leaf, pool)]
    return sorted(found, key=lambda parcel: booked_first(terms, parcel, leaf, pool))


def is_lendable(parcel: Parcel, pool: str) -> bool:
    """Whether the idle part of a parcel may reach a pool: no owner below the pool reserves it (R-LEND-5)."""
    below = []
    for path, entry in parcel.chain:
        if path == pool:
            break
        below.append(entry.reserved)
    else:
        if pool != TOP:
            return False
    return not any(below)


def is_at(terms: Terms, parcel: Parcel, level: str) -> bool:
    """Whether the idle part of a parcel is available at a level: its own, or lent up by a private pool (R-LEND-5)."""
    if parcel.level == level or not terms.children[level]:
        return parcel.level == level
    return level != TOP and parcel.level in terms.up[level] and is_lendable(parcel, level)


def reachable(terms: Terms, leaf: str, host: Host) -> list[Parcel]:
    """Parcels of a host that a leaf could use in some pool, the nearest first, in booking order."""
    keys = {}
    for parcel in host.parcels:
        for depth, pool in enumerate(terms.up[leaf]):
            is_there = parcel.owner == leaf if pool == leaf else is_lendable(parcel, pool)
            if is_there and may_use(terms, parcel, leaf, pool) and (pool == leaf or terms.takes_part(pool, leaf)):
                keys[parcel] = depth, booked_first(terms, parcel, leaf, pool)
                break
    return sorted(keys, key=keys.__getitem__)


def lend_up(parcels: Iterable[Parcel], owner: str, above: str) -> None:
    """Move the idle content of one level to the next."""
    for parcel in parcels:
        if parcel.level == owner and is_lendable(parcel, above):
            parcel.level = above


def parts(stock: Stock, pool: str) -> list[Amounts]:
    """The content of a pool on each host: used by its units there, idle in it, or held (R-POOL-3).

    Hosts that are closed or down count only with what its units there use (R-UP-1).
    """
    found = [booked for (where, _), booked in stock.booked.items() if where == pool]
    is_in_demand = is_wanted(stock, pool)
    return found + [part_on(stock, host, pool, is_wanted=is_in_demand) for host in stock.hosts.values()]


def part_on(stock: Stock, host: Host, pool: str, *, is_wanted: bool) -> Amounts:
    """The same for one host; without what the pool lent up, unless it is wanted inside."""
    open_ = [] if host.is_closed else host.parcels
    mine = [each for each in open_ if each.level == pool or (is_wanted and is_at(stock.terms, each, pool))]
    return plus(
        (0,) * stock.terms.width,
        *(plus(parcel.idle, *parcel.kept.values()) for parcel in mine),
        *(unit.asked.unit for unit in host.units if unit.pool == pool),
    )


def is_wanted(stock: Stock, pool: str) -> bool:
    """Whether a leaf below the owner of a private pool has fewer units than it wants and may have."""
    return pool != TOP and any(each.allowed for each in stock.asked.values() if pool in stock.terms.up[each.leaf])


def own_parts(stock: Stock, pool: str) -> list[Amounts]:
    """Parcels of the owner of a private pool on each host that no leaf below it uses, including those lent up."""
    terms = stock.terms
    found = [booked for (where, _), booked in stock.booked.items() if where == pool]
    for host in stock.hosts.values():
        have = (0,) * terms.width
        mine = [
            each for each in host.parcels if any(path == pool for path, _ in each.chain) and is_lendable(each, pool)
        ]
        for parcel in mine:
            there = [unit for unit in host.units if parcel in unit.books]
            below = [unit for unit in there if unit.pool == OWN or pool in terms.up[unit.pool][1:]]
            if host.is_closed:
                have = plus(have, *(unit.books[parcel] for unit in there if unit not in below))
            else:
                have = plus(have, minus(parcel.amounts, plus((0,) * terms.width, *(u.books[parcel] for u in below))))
        found.append(have)
    return found


def capacities(stock: Stock, pool: str, sizes: Iterable[Amounts], *, takes_back: bool = False) -> dict[Amounts, int]:
    """Unit size → units that fit into the pool if it were free.

    takes_back : while it takes back what it lent up, that counts as its own
    """
    alike = Counter(own_parts(stock, pool) if takes_back else parts(stock, pool))
    return {size: sum(how_many(size, part) * hosts for part, hosts in alike.items()) for size in set(sizes)}
