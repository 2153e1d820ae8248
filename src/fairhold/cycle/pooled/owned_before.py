"""Owners of parcels before this cycle, and the units booked on these parcels (SPEC §6.7, R-ADJUST-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, common, less
from fairhold.ledger.pools import PUBLIC, Parcel
from fairhold.model.vector import Owning
from fairhold.rules.pools.booking import book_before

if TYPE_CHECKING:
    from fairhold.cycle.pooled.open import Opening
    from fairhold.ledger.pools import Chain, Machine
    from fairhold.model.state import State
    from fairhold.model.vector import Parcel as ParcelNoun
    from fairhold.rules.pools.holdings import Parts


def see_before(opened: Opening, state: State, dirty: dict[Machine, None]) -> None:
    """Read the owners of parcels before this cycle and the units on them; hosts with other owners are added to `dirty`.

    dirty : hosts where bookings of units may differ
    """
    books, before = opened.books, opened.before
    if state.ownership is not opened.ownership:
        nouns: dict[str, list[ParcelNoun]] = {}
        for noun in state.ownership or ():
            nouns.setdefault(noun.host, []).append(noun)
        was = opened.nouns
        for name in {**was, **nouns}:
            if name in books.host_of and was.get(name) != nouns.get(name):
                dirty[books.host_of[name]] = None
        opened.nouns, opened.ownership = nouns, state.ownership
    _see_entries(opened, state)
    chains: dict[tuple[int, str], Chain] = {}
    for host in dirty:
        for row in before.owned.pop(host, ()):
            before.busy.discard((row, host))
            before.lent.discard((row, host))
        if host.name in opened.nouns:
            _see_host_before(opened, host, chains)


def _see_entries(opened: Opening, state: State) -> None:
    """What of what was owned was of which entry."""
    if state.own_entries is opened.own_entries:
        return
    parts: dict[Machine, dict[int, Parts]] = {}
    for each in state.own_entries:
        if (host := opened.books.host_of.get(each.host)) is not None:
            mine = parts.setdefault(host, {})
            mine[each.consumer] = (*mine.get(each.consumer, ()), (each.entry, each.amounts))
    opened.before.parts, opened.own_entries = parts, state.own_entries


def _see_host_before(opened: Opening, host: Machine, chains: dict[tuple[int, str], Chain]) -> None:
    """The same of one host; chains: those that are known, added to."""
    books, stated, before = opened.books, opened.stated, opened.before
    host.parcels = []
    owned = before.owned[host] = {}
    for noun in opened.nouns[host.name]:
        key = noun.consumer, host.group
        if key not in chains:
            chains[key] = tuple((row, Owning(host.group)) for row in books.terms.above[noun.consumer][:-1])
        host.parcels.append(Parcel(host, noun.consumer, chains[key], noun.amounts))
        for row, _ in chains[key]:
            owned[row] = add(owned[row], noun.amounts) if row in owned else noun.amounts
    left = host.total
    for parcel in host.parcels:
        left = less(left, common(left, parcel.amounts)) if parcel.amounts != left else (0,) * len(left)
    if any(left):
        host.parcels.append(Parcel(host, PUBLIC, (), left))
    for unit in host.units:
        unit.pool = stated[unit][1]
    book_before(books, host, stated, opened.pools)
    there = {parcel for unit in host.units for parcel in unit.books} if host.units else ()
    before.busy.update((row, host) for parcel in there for row, _ in parcel.chain)
    above = books.terms.above
    before.lent.update(
        (row, host)
        for unit in host.units
        for parcel in unit.books
        for row, _ in parcel.chain
        if row not in above[unit.asked.leaf]
    )
