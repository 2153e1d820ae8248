"""Who in a pool could give a unit to a request, and which comparison keeps the others from it (R-TAKE-1)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import fits
from fairhold.rules.pools.victims import giving_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.cycle.explain.pooled.inquiry import Document, Inquiry
    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import PendingRequest
    from fairhold.model.siting import Siting
    from fairhold.rules.pools.pool_usage import Standing


@dataclass(frozen=True, slots=True)
class Comparison:
    """A leaf that holds units in a pool, compared with a request that wants one.

    leaf   : that holds them; its units there that are not under notice are `units`
    sides  : the two siblings that are compared, the request's first
    because: empty = it may give a unit; `own quota` = the request's sibling is not below its quota; `their quota` = a
             consumer on the holder's side is not above its quota; `order` = after the take it would have less
    row    : of whom usage and quota are told
    first, second : usage as moved and quota; for `order` usage / ratio after the take of the request's and of its side
    """

    leaf: int
    units: int
    sides: tuple[int, int]
    because: str = ""
    row: int = 0
    first: Fraction = Fraction(0)
    second: Fraction = Fraction(0)

    def document(self, inquiry: Inquiry) -> Document:
        """The comparison as data."""
        found: Document = {
            "consumer": inquiry.path(self.leaf),
            "units": self.units,
            "compared": [inquiry.path(row) for row in self.sides],
            "may_give": not self.because,
            "because": self.because or None,
            "rule": "R-TAKE-1",
        }
        if self.because == "order":
            return found | {"after": [str(self.first), str(self.second)]}
        if self.because:
            found["of"] = inquiry.path(self.row)
            return found | {"usage_as_moved": str(self.first), "usage_quota": str(self.second)}
        return found


@dataclass(frozen=True, slots=True)
class Holder:
    """A leaf with units in a pool that are not under notice.

    units    : how many
    smallest : what the smallest of them counts, in common parts
    """

    leaf: int
    units: int
    smallest: int


def holders_of(inquiry: Inquiry, standing: Standing, amounts: Vector, siting: Siting | None) -> list[Holder]:
    """All that hold units in a pool which could be asked for, in the order in which they give.

    amounts, siting : of a request's unit: what stands on a host that could never take one is of no use to it
    """
    units: dict[int, int] = {}
    sizes: dict[int, int] = {}
    hosts = {host for host in inquiry.books.hosts if fits(amounts, host.total)}
    if siting is not None:
        hosts = {host for host in hosts if siting.fits(host.labels)}
    for asked, size in standing.size.items():
        there = (unit for unit in asked.units if unit.pool == standing.pool and unit.notice is None)
        mine = sum(unit.host in hosts for unit in there)
        if mine:
            units[asked.leaf] = units.get(asked.leaf, 0) + mine
            sizes[asked.leaf] = min(size, sizes.get(asked.leaf, size))
    order = sorted(units, key=lambda leaf: giving_key(inquiry.terms, standing, leaf))
    return [Holder(leaf, units[leaf], sizes[leaf]) for leaf in order]


def comparisons(
    inquiry: Inquiry, asked: PendingRequest, standing: Standing, holders: Iterable[Holder]
) -> list[Comparison]:
    """A request compared with all others that hold units in a pool."""
    return [_compared(inquiry, asked, standing, holder) for holder in holders if holder.leaf != asked.leaf]


def _compared(inquiry: Inquiry, asked: PendingRequest, standing: Standing, holder: Holder) -> Comparison:
    terms, leaf = inquiry.terms, holder.leaf
    mine, theirs = sides = _sides(inquiry, asked.leaf, leaf)

    def moved(row: int) -> Fraction:
        return Fraction(standing.moved.get(row, 0), standing.whole)

    def kept(because: str, row: int, first: Fraction, second: Fraction) -> Comparison:
        return Comparison(leaf, holder.units, sides, because, row, first, second)

    if moved(mine) >= standing.quota[mine]:
        return kept("own quota", mine, moved(mine), standing.quota[mine])
    line = terms.above[leaf]
    for row in reversed(line[: line.index(theirs) + 1]):
        if moved(row) <= standing.quota[row]:
            return kept("their quota", row, moved(row), standing.quota[row])
    if terms.priority[mine] <= terms.priority[theirs] and terms.ratio[theirs]:
        ours = Fraction(standing.moved.get(mine, 0) + standing.size[asked], standing.whole * terms.ratio[mine])
        left = Fraction(standing.moved.get(theirs, 0) - holder.smallest, standing.whole * terms.ratio[theirs])
        if left < ours:
            return kept("order", theirs, ours, left)
    return Comparison(leaf, holder.units, sides)


def _sides(inquiry: Inquiry, one: int, other: int) -> tuple[int, int]:
    """The two rows below the lowest one that is above both leaves."""
    mine, theirs = (tuple(reversed(inquiry.terms.above[leaf])) for leaf in (one, other))
    at = next(at for at, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b)
    return mine[at], theirs[at]
