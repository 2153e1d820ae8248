"""Share quotas of a pool as amounts of resources (SPEC §6.4, S0.14-19, R-USAGE-4)."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import total
from fairhold.rules.pools.content import parts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pool_terms import Terms
    from fairhold.ledger.pools import PoolBooks
    from fairhold.model.vector import Resource

Amounts = tuple[Fraction, ...]
"""Base units, one for every resource of the plan."""


def total_of(books: PoolBooks, pool: int) -> Vector:
    """What a pool has on all hosts."""
    return total(parts(books, pool), books.terms.dimensions)


def planned(terms: Terms, pool: int, has: Vector, members: Collection[int]) -> dict[int, Amounts]:
    """Row → its part of a pool by share ratios alone, at most the share limits of those on its way.

    Priorities and demand play no part in it: it says what is planned, and nothing is decided by it.

    members : first-level consumers that take part
    """
    found: dict[int, Amounts] = {pool: _under(terms, pool, tuple(Fraction(each) for each in has))}
    part = {pool: Fraction(1)}
    open_ = [pool]
    while open_:
        above = open_.pop()
        children = [row for row in terms.tree.children[above] if above or row in members]
        ratios = sum(terms.ratio[row] for row in children)
        alike: dict[int, tuple[Fraction, Amounts]] = {}
        for row in children:
            ratio = terms.ratio[row]
            if ratio not in alike:  # siblings of one ratio have the same
                mine = part[above] * ratio / ratios if ratios else Fraction(0)
                most = tuple(min(mine * each, limit) for each, limit in zip(has, found[above], strict=True))
                alike[ratio] = mine, most
            part[row], amounts = alike[ratio]
            found[row] = _under(terms, row, amounts)
        open_ += children
    return found


def _under(terms: Terms, row: int, amounts: Amounts) -> Amounts:
    limit = dict(terms.limit.get(row, ()))
    if not limit:
        return amounts
    return tuple(min(each, Fraction(limit[at])) if at in limit else each for at, each in enumerate(amounts))


def in_units(
    resources: Iterable[Resource], amounts: Iterable[Fraction | int], part: Fraction = Fraction(1)
) -> dict[str, str]:
    """Resource → amount, or a part of it, in the declared unit, an exact fraction."""
    over, under = part.numerator, part.denominator
    return {
        resource.name: part_text(each.numerator * over, each.denominator * under * resource.base)
        for resource, each in zip(resources, amounts, strict=True)
    }


def part_text(amount: int, of: int) -> str:
    """A fraction as text, reduced."""
    common = gcd(amount, of)
    return str(amount // common) if of == common else f"{amount // common}/{of // common}"
