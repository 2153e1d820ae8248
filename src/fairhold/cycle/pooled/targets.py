"""Checks that no entry under `own` got more than it asks for, from the parcels of a cycle (SPEC §6.7, R-ADJUST-0)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.pooled.close import plain_of
from fairhold.kernels.vectors import add, fits, total
from fairhold.ledger.pools import PUBLIC
from fairhold.model.vector import part_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Machine, PoolBooks
    from fairhold.model.vector import Owning

Holding = dict["Machine", "Vector"]


def beyond_targets(books: PoolBooks, steps: Vector) -> Iterator[tuple[int, str]]:
    """Consumers that own more through an entry, with all below them, than it asks for; with what is too much."""
    by_entry: dict[tuple[int, Owning], Holding] = {}
    by_row: dict[int, Holding] = {PUBLIC: {host: host.plain for host in books.hosts}}
    for host in books.hosts:
        for parcel in host.parcels:
            plain = plain_of(host, parcel.amounts)
            for row, entry in parcel.chain:
                for mine in (by_entry.setdefault((row, entry), {}), by_row.setdefault(row, {})):
                    mine[host] = add(mine[host], plain) if host in mine else plain
    for (row, entry), mine in by_entry.items():
        space = by_row[books.terms.tree.parent[row]]
        there = {host: whole for host, whole in space.items() if host.group == entry.resource_group}
        yield from ((row, text) for text in _beyond(entry, mine, there, steps))


def _beyond(entry: Owning, mine: Holding, there: Holding, steps: Vector) -> Iterator[str]:
    """What is too much of one entry; there: all hosts of its group that it could have some of."""
    if entry.per_host:
        for host, amounts in mine.items():
            is_exact = fits(host.plain, host.total)  # an overcommitment below 1 does not tell what is owned
            if is_exact and not fits(amounts, part_of(entry, there[host], steps)):
                yield f"owns {amounts} of {host.name}, at most {part_of(entry, there[host], steps)}"
    elif entry.total:
        have = total(mine.values(), len(steps))
        yield from (f"owns {have[at]} in all, at most {most}" for at, most in entry.total if have[at] > most)
    elif entry.names:
        yield from (f"owns some of {host.name}, by name others" for host in mine if host.name not in entry.names)
    elif not entry.remaining:
        most = entry.hosts if entry.hosts is not None else int((entry.percent or 0) * len(there))
        if len(mine) > most:
            yield f"owns {len(mine)} hosts, at most {most}"
