"""The assignment loop: idle resource of a pool goes out unit by unit (SPEC §6.5, S0.40-47, R-TURN-1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.ledger.pools import OWN, PUBLIC
from fairhold.rules.pools.content import is_within
from fairhold.rules.pools.placing import Placing
from fairhold.rules.pools.pool_usage import Standing
from fairhold.rules.pools.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.ledger.pools import Parcel, PendingRequest, PoolBooks, Unit
    from fairhold.rules.pools.limits import Limits

    Waits = Callable[[PendingRequest], int]


def fill_pool(books: PoolBooks, pool: int, waits: Waits, limits: Limits) -> list[Unit]:
    """Give away what is idle in a pool; units in the order of placing.

    waits : units that a request still wants of this pool
    """
    if not _is_any_idle(books, pool):
        return []
    above = books.terms.above
    open_ = [each for each in books.wanting if each.count > len(each.units) and pool in above[each.leaf]]
    waiting = [each for each in open_ if waits(each) > 0]
    if not waiting:
        return []
    if all(each.leaf == waiting[0].leaf for each in waiting):
        return _fill_alone(books, pool, waiting, waits, limits)
    standing = Standing(books, pool)
    lines: dict[int, list[_Want]] = {}
    for asked in waiting:
        if standing.size[asked]:
            lines.setdefault(asked.leaf, []).append(_Want(asked, waits(asked)))
    for line in lines.values():
        line.sort(key=lambda want: want.asked.order, reverse=True)
    turns = Turns(books.terms, pool, lines, standing.usage)
    placing, size = Placing(books, pool, limits, books.hosts_in(pool)), standing.size
    placed: list[Unit] = []
    while (leaf := turns.next()) is not None:
        new = _place_one(lines[leaf], placing)
        if not new:
            turns.drop(leaf)
        elif parts := sum([size[unit.asked] for unit in new if unit.pool != OWN]):
            turns.took(leaf, parts)
        placed += new
    return placed


def _is_any_idle(books: PoolBooks, level: int) -> bool:
    """Whether anything is idle, or held for somebody, at a level; else nothing can be placed."""
    if level == PUBLIC and books.free is not None:
        return any(books.free.room)
    parcels = (parcel for host in books.hosts_in(level) for parcel in host.parcels)
    return any((each.kept or any(each.idle)) and is_within(books.terms, each, level) for each in parcels)


def _fill_alone(books: PoolBooks, pool: int, waiting: list[PendingRequest], waits: Waits, limits: Limits) -> list[Unit]:
    """The same where one leaf alone waits: it is always its turn, if a ratio of 0 does not keep it out (R-SHARE-2).

    Of whom no unit fits into the pool, none is placed on what is idle of it, so that its size need not be asked.
    """
    above = books.terms.above[waiting[0].leaf]
    if not all(books.terms.ratio[row] for row in above[: above.index(pool)]):
        return []
    line = [_Want(asked, waits(asked)) for asked in waiting]
    line.sort(key=lambda want: want.asked.order, reverse=True)
    placing = Placing(books, pool, limits, books.hosts_in(pool))
    placed: list[Unit] = []
    while new := _place_one(line, placing):
        placed += new
    return placed


@dataclass(slots=True)
class _Want:
    """A request, and how many units it still wants of what is given away; in a line the first stands last."""

    asked: PendingRequest
    units: int


def _place_one(line: list[_Want], placing: Placing) -> list[Unit]:
    """One unit of the first request of a line that fits, of a gang all that it misses; the others wait no longer."""
    while line:
        want = line[-1]
        asked = want.asked
        units = (asked.missing or 1) if asked.min_count else 1
        if units <= want.units and not placing.has_failed(asked):
            if new := placing.put(asked, units):
                want.units -= len(new)
                return new
            placing.fails(asked)
        line.pop()
    return []


def fill_own(books: PoolBooks, parcel: Parcel, waits: Waits, limits: Limits) -> list[Unit]:
    """A leaf fills what it owns of the preference of one of its parcels (S2.2)."""
    leaf = parcel.owner
    if not _is_any_idle(books, leaf):
        return []
    placing = Placing(books, leaf, limits, books.hosts_in(leaf), parcel.preference)
    mine = [asked for asked in books.by_leaf[leaf] if asked.count > len(asked.units)]
    line = [_Want(asked, units) for asked in mine if (units := waits(asked)) > 0]
    line.sort(key=lambda want: want.asked.order, reverse=True)
    placed: list[Unit] = []
    while new := _place_one(line, placing):
        placed += new
    return placed
