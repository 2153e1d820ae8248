"""Consumers that own less than the plan states: too few hosts, or others own them (SPEC §6.7, S2.25-27, R-ADJUST-2)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import fits, total
from fairhold.ledger.unmet import Unmet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.model.vector import Owning
    from fairhold.rules.pools.adjusting import Level


def unmet(level: Level) -> Iterator[Unmet]:
    """The entries of one level, adjusted, that have less than they ask for."""
    nothing = (0,) * level.books.terms.dimensions
    for key, holding in level.holds.items():
        row, entry = key.row, key.entry
        hosts = level.hosts.get(entry.resource_group, [])
        if entry.total:
            if level.is_short(key):
                planned = dict(entry.total)
                asked = tuple(planned.get(at, 0) for at in range(len(nothing)))
                yield Unmet(row, entry, asked, total(holding.values(), len(nothing)))
        elif entry.per_host:
            got = sum(fits(level.part_of(entry, host), holding.get(host, nothing)) for host in hosts)
            if got < len(hosts):
                yield Unmet(row, entry, len(hosts), got)
        elif len(holding) < (most := _asked(entry, len(hosts))):
            yield Unmet(row, entry, most, len(holding))


def _asked(entry: Owning, there: int) -> int:
    """Whole hosts that an entry asks for of so many, named ones also where they are down; 0 of what remains."""
    if entry.names:
        return len(entry.names)
    return entry.hosts if entry.hosts is not None else int((entry.percent or Fraction(0)) * there)
