"""The order of givers in a pool: lowest share priority first, then largest usage / ratio (SPEC §6.6, R-VICTIM-2)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from fairhold.ledger.pool_terms import Terms
    from fairhold.ledger.pools import PendingRequest, Unit
    from fairhold.rules.pools.pool_usage import Standing

Over = tuple[tuple[int, Fraction], ...]
"""How over-used a leaf is, level by level from the pool down: (share priority, minus usage / ratio); least first."""
_UNBOUND = Fraction(-(10**30))


def over_use(terms: Terms, standing: Standing, leaf: int) -> Over:
    """How over-used a leaf is in a pool, as moved."""
    return tuple([(terms.priority[row], _used(terms, standing, row)) for row in _way(terms, standing, leaf)])


def _way(terms: Terms, standing: Standing, leaf: int) -> tuple[int, ...]:
    """Rows from below the owner of a pool down to a leaf."""
    way = terms.above[leaf]
    return way[: way.index(standing.pool)][::-1]


def _used(terms: Terms, standing: Standing, row: int) -> Fraction:
    if terms.ratio[row]:
        return standing.weighed(row)
    return _UNBOUND if standing.moved.get(row, 0) else Fraction(0)


def giving_key(terms: Terms, standing: Standing, leaf: int) -> tuple[tuple[int, Fraction, int], ...]:
    """Place of a leaf among those that give, the first gives; ties: last in plan order, level by level."""
    rows = _way(terms, standing, leaf)
    return tuple([(terms.priority[row], _used(terms, standing, row), -row) for row in rows])


def bundle_of(unit: Unit, gone: Iterable[Unit]) -> list[Unit]:
    """A unit, or its whole gang where that falls below its minimum without it.

    gone : units that go as well
    """
    asked = unit.asked
    if not asked.model.min_count:
        return [unit]
    stays = [each for each in asked.units if each.notice is None and each not in set(gone)]
    return stays if len(stays) - 1 < asked.model.min_count else [unit]


def breaks_gang(unit: Unit, gone: Collection[Unit]) -> bool:
    """Whether a gang falls below its minimum without a unit.

    gone : units that go as well
    """
    if not unit.asked.model.min_count:
        return False
    stays = sum(each.notice is None and each not in gone for each in unit.asked.units)
    return stays - 1 < unit.asked.model.min_count


def giving_order(terms: Terms, unit: Unit, *, breaks: bool) -> tuple[object, ...]:
    """Place of a unit inside its leaf: the fewest gangs broken, then by `victims` (SPEC §8); ties: the last listed."""
    asked, victims = unit.asked, terms.settings.victims
    age: tuple[int, ...] = (-asked.model.submitted, -unit.started)
    if victims == "oldest":
        age = (asked.model.submitted, unit.started)
    elif victims == "lowest_priority":
        age = (asked.model.priority, *age)
    return breaks, *age, -asked.place, -unit.serial


def stays_in_part(units: list[Unit]) -> bool:
    """Whether too few of a gang that is stopped whole would stay: the others go for somebody else."""
    asked = units[0].asked
    return is_stopped_whole(asked) and len(units) < min(asked.model.min_count, len(asked.units))


def is_stopped_whole(asked: PendingRequest) -> bool:
    """Whether a gang is stopped whole."""
    return asked.model.min_count > 0 and all(unit.notice is not None for unit in asked.units)
