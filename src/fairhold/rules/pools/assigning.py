"""The assignment loop: grants idle resources of a pool unit by unit (SPEC §6.5, S0.40-47, R-TURN-1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.ledger.pools import OWN, PUBLIC
from fairhold.rules.pools.content import is_within
from fairhold.rules.pools.placing import Placing
from fairhold.rules.pools.pool_usage import Standing
from fairhold.rules.pools.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairhold.ledger.pools import Parcel, PendingRequest, PoolBooks, Unit
    from fairhold.rules.pools.limits import Limits

    Waits = Callable[[PendingRequest], int]


def fill_pool(books: PoolBooks, pool: int, waits: Waits, limits: Limits) -> list[Unit]:
    """Grant what is idle in a pool; returns units in the order of placing.

    waits : units that a request still wants of this pool
    """
    above, hosts = books.terms.above, books.hosts_in(pool)
    wants = _wants([each for each in books.wanting if pool in above[each.leaf]], waits)
    if not wants or not _is_any_idle(books, pool):
        return []
    placing = Placing(books, pool, limits, hosts)
    wants = _with_room(wants, placing)
    if all(want.asked.leaf == wants[0].asked.leaf for want in wants):
        return _fill_alone(books, pool, wants, placing)
    standing, lines = Standing(books, pool), dict[int, list[_Want]]()
    for want in wants:
        if standing.size[want.asked]:
            lines.setdefault(want.asked.leaf, []).append(want)
    turns, size = Turns(books.terms, pool, lines, standing.usage), standing.size
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


def _fill_alone(books: PoolBooks, pool: int, line: list[_Want], placing: Placing) -> list[Unit]:
    """The same where one leaf alone waits: it is always its turn, if a ratio of 0 does not keep it out (R-SHARE-2).

    Of whom no unit fits into the pool, none is placed on what is idle of it, so that its size need not be asked.
    """
    above = books.terms.above[line[0].asked.leaf] if line else (pool,)
    if not all(books.terms.ratio[row] for row in above[: above.index(pool)]):
        return []
    return _place_all(line, placing)


def _place_all(line: list[_Want], placing: Placing) -> list[Unit]:
    """Units of one leaf's line as long as any fits."""
    placed: list[Unit] = []
    while new := _place_one(line, placing):
        placed += new
    return placed


@dataclass(slots=True)
class _Want:
    """A request and the units that it still wants of the pool; in a line the first request is the last element."""

    asked: PendingRequest
    units: int

    @property
    def at_once(self) -> int:
        """Units that are placed together: of a gang all that it misses."""
        return (self.asked.missing or 1) if self.asked.min_count else 1


def _wants(asked: Iterable[PendingRequest], waits: Waits) -> list[_Want]:
    """Requests that still want units, the last of them first."""
    found = [_Want(each, units) for each in asked if each.count > len(each.units) and (units := waits(each)) > 0]
    found.sort(key=lambda want: want.asked.order, reverse=True)
    return found


def _with_room(wants: list[_Want], placing: Placing) -> list[_Want]:
    """Those for which there may be room at all; the others would be passed over in their turn."""
    return [want for want in wants if placing.has_room(want.asked, want.at_once)]


def _place_one(line: list[_Want], placing: Placing) -> list[Unit]:
    """One unit of the first request of a line that fits, of a gang all that it misses; the others wait no longer."""
    while line:
        want = line[-1]
        asked = want.asked
        units = want.at_once if asked.min_count else 1
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
    line = _wants(books.by_leaf[leaf], waits)
    if not line or not _is_any_idle(books, leaf):
        return []
    placing = Placing(books, leaf, limits, books.hosts_in(leaf), parcel.preference)
    return _place_all(_with_room(line, placing), placing)
