"""Units that have not run long enough to be reclaimed for others (SPEC §8; R-CONTROL-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from fairhold.ledger.books import Books
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot


def is_young(books: Books, row: int, now: int) -> bool:
    """Whether an allocation has run for less than the `min_runtime` of its leaf."""
    leaf = books.requests.leaf[books.allocations.request[row]]
    return books.rows.spares_young and books.allocations.started[row] + books.rows.min_runtime[leaf] > now


def young(snapshot: Snapshot, leaf: int) -> set[int]:
    """Allocations of a leaf that have run for less than its `min_runtime`."""
    requests, allocations = snapshot.books.requests, snapshot.books.allocations
    least = snapshot.rows.min_runtime[leaf] if snapshot.rows.spares_young else 0
    if not least:
        return set()
    return {
        row
        for request in requests.holders.get(leaf, ())
        for row in allocations.by_request.get(request, ())
        if allocations.started[row] + least > snapshot.now
    }


def by_age(books: Books, rows: Iterable[int], now: int) -> Iterator[tuple[int, tuple[int, int]]]:
    """Allocations of one request, each with its units that are old enough or under notice, and its other units.

    A gang is as young as the youngest of its units.
    """
    requests, allocations = books.requests, books.allocations
    young = {row for row in rows if is_young(books, row, now)}
    for row in rows:
        is_spared = bool(young) if requests.minimum[allocations.request[row]] else row in young
        spared = allocations.units[row] - allocations.noticed[row] if is_spared else 0
        yield row, (allocations.units[row] - spared, spared)


def spared_units(books: Books, spared: Collection[int], among: Collection[int] | None = None) -> int:
    """Units without notice that must stay: those of `spared` allocations, and of gangs that could only go as a whole.

    among : only these allocations count, all or none of a gang; None = all
    """
    requests, allocations, stay = books.requests, books.allocations, 0
    for request in {allocations.request[row] for row in spared}:
        mine = [row for row in allocations.by_request[request] if among is None or row in among]
        running = sum(allocations.units[row] - allocations.noticed[row] for row in mine)
        free = sum(allocations.units[row] - allocations.noticed[row] for row in mine if row not in spared)
        core = requests.minimum[request] if requests.minimum[request] <= running else 0
        stay += running - min(free, running - core)
    return stay


def old_ones(books: Books, rows: list[int], spared: Collection[int], units: int) -> tuple[list[int], set[int]]:
    """Allocations in the order of reclaim, those that have run long enough first; and gangs that must not be stopped.

    Young ones are included only if the others are not enough: then a limit, a loss or a switch needs them.
    """
    mine = [row for row in rows if row in spared]
    old = [row for row in rows if row not in spared]
    allocations = books.allocations
    running = sum(allocations.units[row] - allocations.noticed[row] for row in rows)
    if mine and running - spared_units(books, mine, {*rows}) >= units:
        return old, {allocations.request[row] for row in mine}
    return [*old, *mine], set()


def await_ages(snapshot: Snapshot, draft: CycleContext) -> None:
    """If units are missing that no leaf gives, ask for another cycle when the next unit has run long enough."""
    rows, balance = snapshot.rows, draft.balance
    wanted = (
        draft.waived[0] + snapshot.lost
    )  # what nobody gives on certain hosts yet is waived, and missed all the same
    if not rows.spares_young or not balance.missing[0] + wanted:
        return
    if sum(balance.missing[leaf] - balance.gives[leaf] for leaf in rows.leaves) + wanted <= 0:
        return
    started = snapshot.books.allocations.started
    for leaf in snapshot.leaves_where_more(draft.held, draft.quota):
        for row in young(snapshot, leaf):
            draft.decision = draft.decision.not_after(started[row] + rows.min_runtime[leaf])
