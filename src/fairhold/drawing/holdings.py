"""What owners and users have of hosts and of pools, ready to be drawn (SPEC §6.1, R-POOL-1 to R-POOL-3, R-LEND-5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from fairhold.kernels.vectors import add, total
from fairhold.ledger.pools import PUBLIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Parcel, PendingRequest, PoolBooks, Unit

Use = tuple[int, str]
"""Who uses it, and how: `own`, `lent`, `notice`, or `kept` for it."""


class Told(NamedTuple):
    """Units of a request that are alike.

    deadline : of their notice, -1 = there is none
    taker    : request that the notice is for, empty = nobody's
    """

    request: str
    leaf: int
    lenders: tuple[int, ...]
    deadline: int
    taker: str


@dataclass(slots=True)
class Share:
    """What one owner has of something.

    bound : how far it is lent: anywhere, `reserved` = nowhere, or `inside` a mid-level consumer above
    uses  : of it
    """

    owner: int
    bound: str
    amounts: Vector
    uses: dict[Use, Vector] = field(default_factory=dict)


@dataclass(slots=True)
class Stock:
    """One host or several, or a pool, with all who own and use it.

    group  : resource group, empty of a pool
    names  : of the hosts
    total  : of all of them
    shares : by (owner, bound)
    units  : what stands there → how many units
    """

    group: str
    names: list[str]
    total: Vector
    shares: dict[tuple[int, str], Share] = field(default_factory=dict)
    units: dict[Told, int] = field(default_factory=dict)
    is_down: bool = False
    is_row: bool = True
    """The hosts are neighbours in the inventory."""

    @property
    def owned(self) -> Vector:
        """What all who own any of it own together."""
        return total((share.amounts for share in self.shares.values()), len(self.total))

    @property
    def owners(self) -> tuple[object, ...]:
        """Who owns any of it."""
        return self.group, self.is_down, *sorted(self.shares)

    @property
    def likeness(self) -> tuple[object, ...]:
        """What hosts that are told as one have in common."""
        shares = tuple((key, share.amounts, *share.uses.items()) for key, share in self.shares.items())
        return self.group, self.is_down, self.total, shares, *self.units.items()

    def take_in(self, other: Stock, *, is_next: bool) -> None:
        """Tell another one together with this; is_next: it follows in the inventory."""
        self.is_row = self.is_row and is_next
        self.names += other.names
        self.total = add(self.total, other.total)
        for (owner, bound), share in other.shares.items():
            self.add(owner, bound, share.amounts, share.uses.items())
        for told, units in other.units.items():
            self.units[told] = self.units.get(told, 0) + units

    def add(self, owner: int, bound: str, amounts: Vector, uses: Iterable[tuple[Use, Vector]]) -> None:
        """What somebody owns of it, more than before."""
        mine = self.shares.get((owner, bound))
        if mine is None:
            mine = self.shares[owner, bound] = Share(owner, bound, (0,) * len(amounts))
        mine.amounts = add(mine.amounts, amounts)
        for use, amount in uses:
            mine.uses[use] = add(mine.uses[use], amount) if use in mine.uses else amount


def bound_of(parcel: Parcel) -> str:
    """How far a parcel is lent."""
    if parcel.chain and parcel.chain[0][1].reserved:
        return "reserved"
    return "inside" if any(entry.reserved for _, entry in parcel.chain) else ""


def of_hosts(books: PoolBooks, down: Iterable[tuple[str, str, Vector]]) -> list[Stock]:
    """All hosts in inventory order; down: (group, name, amounts) of those that are in no pool."""
    found = []
    for host in books.hosts:
        stock = Stock(host.group, [host.name], host.total)
        for parcel in host.parcels:
            if any(parcel.amounts):
                stock.add(parcel.owner, bound_of(parcel), parcel.amounts, _uses(host.units, parcel))
        for unit in host.units:
            told = _told(books, unit)
            stock.units[told] = stock.units.get(told, 0) + 1
        found.append(stock)
    return found + [Stock(group, [name], amounts, is_down=True) for group, name, amounts in down]


def _uses(units: Iterable[Unit], parcel: Parcel) -> Iterator[tuple[Use, Vector]]:
    for unit in units:
        if parcel in unit.books:
            yield (unit.asked.leaf, kind_of(unit, parcel)), unit.books[parcel]
    for asked, amount in parcel.kept.items():
        yield (asked.leaf, "kept"), amount


def kind_of(unit: Unit, parcel: Parcel) -> str:
    """How a unit uses a parcel: under notice, on what another one lent, or on its own or the pool's."""
    if unit.notice is not None:
        return "notice"
    return "own" if parcel.owner in {PUBLIC, unit.pool, unit.asked.leaf} else "lent"


def _told(books: PoolBooks, unit: Unit) -> Told:
    notice = unit.notice
    deadline, taker = (-1, "") if notice is None else (notice.deadline, _name(notice.taker))
    return Told(unit.asked.model.id, unit.asked.leaf, unit.lenders(books.terms), deadline, taker)


def _name(asked: PendingRequest | None) -> str:
    return asked.model.id if asked else ""


def of_pools(books: PoolBooks, pools: Iterable[int], *, as_now: bool) -> dict[int, Stock]:
    """What pools have; as_now: with what is lent into them, and used, else what is their owner's or nobody's alone."""
    all_ = total((host.total for host in books.hosts), books.terms.dimensions)
    found = {pool: Stock("", [], all_) for pool in pools}
    for host in books.hosts:
        inside: dict[int, list[Unit]] = {}
        for unit in host.units:
            inside.setdefault(unit.pool, []).append(unit)
        for parcel in host.parcels:
            if as_now:
                for pool in dict.fromkeys((parcel.level, *inside)):
                    if pool in found:
                        _add_content(found[pool], inside.get(pool, ()), parcel, pool)
            elif parcel.owner in found and any(parcel.amounts):
                found[parcel.owner].add(parcel.owner, bound_of(parcel), parcel.amounts, ())
    return found


def _add_content(stock: Stock, inside: Iterable[Unit], parcel: Parcel, pool: int) -> None:
    """What a pool has of a parcel: what is idle in it or kept for somebody, and what its units use of it."""
    is_here = parcel.level == pool
    uses = [(use, amount) for use, amount in _uses(inside, parcel) if use[1] != "kept" or is_here]
    amounts = parcel.idle if is_here else (0,) * len(parcel.idle)
    for _, amount in uses:
        amounts = add(amounts, amount)
    if any(amounts):
        stock.add(parcel.owner, bound_of(parcel), amounts, uses)


MOST = 40
"""Boxes of hosts in one picture, where alike ones can be told together."""


def folded(stocks: list[Stock], most: int = MOST) -> list[Stock]:
    """Hosts, where there are many the alike ones told as one.

    First neighbours that are alike in everything, then wherever they stand, then all that the same consumers own.
    """
    if len(stocks) <= most:
        return stocks
    neighbours = _neighbours(stocks)
    if len(neighbours) <= most:
        return neighbours
    alike = _together(neighbours, lambda stock: stock.likeness)
    return alike if len(alike) <= most else _together(alike, lambda stock: stock.owners)


def _neighbours(stocks: list[Stock]) -> list[Stock]:
    found: list[Stock] = []
    likeness = None
    for stock in stocks:
        mine = stock.likeness
        if mine == likeness:
            found[-1].take_in(stock, is_next=True)
        else:
            found.append(stock)
        likeness = mine
    return found


def _together(stocks: list[Stock], key: Callable[[Stock], tuple[object, ...]]) -> list[Stock]:
    found: dict[tuple[object, ...], Stock] = {}
    for stock in stocks:
        mine = key(stock)
        if mine in found:
            found[mine].take_in(stock, is_next=False)
        else:
            found[mine] = stock
    return list(found.values())
