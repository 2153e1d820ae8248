"""Ownership of a whole plan entry: level by level, to parcels (SPEC §6.7, R-ADJUST-0 to R-ADJUST-5)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, fits, less, total
from fairhold.ledger.pools import PUBLIC, Parcel, PoolBooks
from fairhold.ledger.unmet import Unmet
from fairhold.rules.pools.adjusting import Level
from fairhold.rules.pools.loads import places_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import Chain, Machine
    from fairhold.model.vector import Owning
    from fairhold.rules.pools.holdings import Parts, Target


class Before:
    """What consumers owned before, and which of it was in use.

    owned : host → row → amounts of it and its descendants
    parts : host → row → amounts by entry, where it has several entries
    busy  : (row, host) with any units on it; lent: with units of others on it
    """

    def __init__(self) -> None:
        self.owned: dict[Machine, dict[int, Vector]] = {}
        self.parts: dict[Machine, dict[int, Parts]] = {}
        self.busy: set[tuple[int, Machine]] = set()
        self.lent: set[tuple[int, Machine]] = set()


def adjust(books: PoolBooks, before: Before, steps: Vector, *, keeps: bool = False) -> None:
    """Compute the owners, and divide every host into parcels.

    keeps : owners stay the same as before (R-ADJUST-5)
    """
    books.hosts_of, books.own_entries = {}, []
    if not books.terms.own:  # nobody owns anything
        for host in books.hosts:
            host.parcels = [Parcel(host, PUBLIC, (), host.total)]
        return
    load = places_of(books.hosts)
    space = {host: host.plain for host in books.hosts}
    for host in books.hosts:
        host.parcels = []
    _divide(books, PUBLIC, dict.fromkeys(books.hosts, ()), space, _Context(before, load, steps, keeps=keeps))
    for host in books.hosts:
        _overcommit(host)
        for row in dict.fromkeys(row for parcel in host.parcels for row, _ in parcel.chain):
            books.hosts_of.setdefault(row, []).append(host)


class _Context:
    def __init__(self, before: Before, load: dict[Machine, int], steps: Vector, *, keeps: bool) -> None:
        self.before, self.load, self.steps, self.keeps = before, load, steps, keeps


def _divide(
    books: PoolBooks, parent: int, chains: dict[Machine, Chain], space: dict[Machine, Vector], context: _Context
) -> None:
    """Adjust the children of one consumer inside what it owns; what they do not own is its own parcel."""
    level = Level(books, parent, space, chains, load=context.load.__getitem__, steps=context.steps)
    if level.rows:
        _adjust_level(books, level, context)
        books.owns_exactly = books.owns_exactly and is_exact(level)
        books.unmet += unmet(level)
        _note_entries(books, level)
    for row in level.rows:
        inside: dict[Machine, Vector] = {}
        below: dict[Machine, Chain] = {}
        for key in level.entries[row]:
            link, is_alike = (row, key.entry), key.entry.preference is not None
            for host, amounts in level.holds[key].items():
                below.setdefault(host, (link if is_alike else (row, level.preferred(key, host)), *chains[host]))
                inside[host] = add(inside[host], amounts) if host in inside else amounts
        if books.terms.tree.children[row]:
            in_order = {host: inside[host] for host in sorted(inside, key=lambda host: host.place)}
            _divide(books, row, below, in_order, context)
        else:
            for host in [host for host, amounts in inside.items() if any(amounts)]:
                host.parcels.append(Parcel(host, row, below[host], inside[host]))
    for host, amounts in level.left.items():
        if any(amounts) or parent == PUBLIC:
            host.parcels.append(Parcel(host, parent, chains[host], amounts))


def _adjust_level(books: PoolBooks, level: Level, context: _Context) -> None:
    """From what the children owned before to what they own now."""
    level.set_targets()
    for host in level.space:
        owned = context.before.owned.get(host, {})
        parts = context.before.parts.get(host, {})
        mine = [row for row in owned if row in level.entries]
        if len(mine) > 1:
            mine.sort(key=books.terms.position.__getitem__)
        for row in mine:
            level.assign(row, host, owned[row], parts.get(row, ()))
    if not context.keeps:
        level.release_unused(partial(_is_busy, context.before))
        level.trim()
        level.give_short()
    if not any(unmet(level)):  # who is short takes from one entry otherwise than from another
        level.place_entries(partial(_has_strangers, books, context.before))


def _note_entries(books: PoolBooks, level: Level) -> None:
    """What of a row is whose, where several of its entries are of one group: the next cycle is to know it."""
    for row, keys in level.entries.items():
        groups = Counter(key.entry.resource_group for key in keys)
        for at, key in enumerate(keys):
            if groups[key.entry.resource_group] > 1:
                books.own_entries += [(host, row, at, amounts) for host, amounts in level.holds[key].items()]


def _has_strangers(books: PoolBooks, before: Before, row: int, host: Machine, now: Vector) -> bool:
    """Whether units of others stand on what a row has of a host; on more than it had any of the host's may."""
    if before.owned.get(host, {}).get(row) == now:
        return (row, host) in before.lent
    return any(row not in books.terms.above[unit.asked.leaf] for unit in host.units)


def _is_busy(before: Before, row: int, host: Machine) -> bool:
    return (row, host) in before.busy


def _overcommit(host: Machine) -> None:
    """Parcels as they count for placing: what is beyond the amounts of parcels is nobody's (SPEC §6.1)."""
    if host.plain == host.total:
        for parcel in host.parcels:
            parcel.level = parcel.owner
            parcel.idle = parcel.amounts
        return
    left = host.total
    for parcel in host.parcels:
        parcel.level = parcel.owner
        if parcel.owner != PUBLIC:
            parcel.amounts = tuple(
                amount * all_ // plain if plain else 0
                for amount, all_, plain in zip(parcel.amounts, host.total, host.plain, strict=True)
            )
            left = less(left, parcel.amounts)
    for parcel in host.parcels:
        if parcel.owner == PUBLIC:
            parcel.amounts = left
        parcel.idle = parcel.amounts


def is_exact(level: Level) -> bool:
    """Whether every consumer owns exactly its target, and each of its hosts can only belong to one entry.

    Then adjusting gives the same owners again, wherever units are placed: no consumer has too much. One that releases
    hosts takes the same ones back first, as they were its own, and then has its target, so that it takes nothing that
    others release. Entries by host name are not checked.
    """
    if level.named or level.named_below:
        return False
    if any(len({key.entry.resource_group for key in keys}) < len(keys) for keys in level.entries.values()):
        return False
    return all(_has_just(level, key) for key in level.holds)


def _has_just(level: Level, key: Target) -> bool:
    holding, entry = level.holds[key], key.entry
    if key in level.target:
        return len(holding) == level.target[key] and all(level.space[host] == holding[host] for host in holding)
    if entry.per_host:
        nothing = (0,) * level.books.terms.dimensions
        hosts = level.hosts.get(entry.resource_group, ())
        return all(holding.get(host, nothing) == level.part_of(entry, host) for host in hosts)
    has_some = all(any(amounts[at] for at, _ in entry.total) for amounts in holding.values())
    return has_some and all(sum(each[at] for each in holding.values()) == most for at, most in entry.total)


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
