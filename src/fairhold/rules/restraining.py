"""Reclaims that a cycle leaves for later, or only reports (SPEC §8; R-CONTROL-1, R-CONTROL-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.columns import zeros
from fairhold.units import SECOND

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator, Mapping

    from fairhold.ledger.books import Books
    from fairhold.ledger.decision import Withdrawal
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot

Chosen = list[tuple[int, int]]
"""Allocations with the units of each that get notice."""
Piece = tuple[Chosen, bool]
"""Units that go together or not at all, and whether they are more than one because a gang stops with them."""


def hold_back(
    snapshot: Snapshot, draft: CycleContext, victims: dict[int, Chosen], withdrawals: Iterable[Withdrawal]
) -> dict[int, Chosen]:
    """The chosen units that get notice in this cycle: at most `max_reclaims` of an entry, the worst path first.

    Units that go because of a limit, a lost host or a switch count, and get notice in any case. A gang that stops goes
    as a whole; one larger than `max_reclaims` goes alone. A second cycle at the same instant takes no more.

    victims     : leaf → units chosen, in path order
    withdrawals : notices that no longer hold
    """
    rows = snapshot.rows
    most: list[int | None] = [entry.settings.max_reclaims for entry in rows.entries]
    if not victims or all(units is None for units in most):
        return victims
    forced = _forced(snapshot, draft, victims, _still_noticed(snapshot, withdrawals))
    kept: dict[int, Chosen] = {}
    rest: dict[int, list[Piece]] = {}
    gone = [0] * len(most)
    for leaf, chosen in victims.items():
        at = rows.chosen[leaf]
        wanted = forced[leaf] if most[at] is not None else _units(chosen)
        kept[leaf], rest[leaf] = _split(_pieces(snapshot.books, chosen), wanted)
        gone[at] += _units(kept[leaf])
    if snapshot.books.ran == snapshot.now:
        most = [None if units is None else 0 for units in most]
    for leaf in reversed(victims):
        at = rows.chosen[leaf]
        room = most[at]
        if room is not None:
            gone[at] += _fill(kept[leaf], rest[leaf], room, gone[at])
    draft.later = {leaf: sum(_units(piece) for piece, _ in left) for leaf, left in rest.items() if left}
    if any(not rows.settings(leaf).observe_only for leaf in draft.later):
        draft.decision = draft.decision.not_after(snapshot.now + SECOND)
    return {leaf: chosen for leaf, chosen in kept.items() if chosen}


def _fill(kept: Chosen, rest: list[Piece], most: int, gone: int) -> int:
    """Move pieces from `rest` to `kept` while they fit; returns their units. One that does not fit ends it."""
    moved = 0
    while rest and gone + moved < most:
        piece, is_gang = rest[0]
        room, size = most - gone - moved, _units(piece)
        if is_gang and size > room and gone + moved > 0:
            break
        taken = size if is_gang else min(size, room)
        kept += piece if taken == size else [(piece[0][0], taken)]
        rest[:1] = [] if taken == size else [([(piece[0][0], size - taken)], False)]
        moved += taken
    return moved


def _split(pieces: list[Piece], units: int) -> tuple[Chosen, list[Piece]]:
    """The first pieces that make up so many units, a gang whole; and the rest."""
    kept: Chosen = []
    left = units
    while pieces and left > 0:
        left -= _fill(kept, pieces, max(left, _units(pieces[0][0])) if pieces[0][1] else left, 0)
    return kept, pieces


def _units(chosen: Chosen) -> int:
    return sum(units for _, units in chosen)


def _pieces(books: Books, chosen: Chosen) -> list[Piece]:
    """Chosen units in their order; those of a gang that stops stand together, at the place of the first."""
    requests, request_of = books.requests, books.allocations.request
    of_request: dict[int, Chosen] = {}
    for row, units in chosen:
        of_request.setdefault(request_of[row], []).append((row, units))
    pieces: list[Piece] = []
    for row, units in chosen:
        request = request_of[row]
        running, mine = requests.held[request] - requests.noticed[request], of_request[request]
        stops = running - _units(mine) < requests.minimum[request] <= running
        if not stops:
            pieces.append(([(row, units)], False))
        elif row == mine[0][0]:
            pieces.append((mine, True))
    return pieces


def _still_noticed(snapshot: Snapshot, withdrawals: Iterable[Withdrawal]) -> array[int]:
    """(rows,) units of a leaf that were noticed before and still are."""
    books, noticed = snapshot.books, snapshot.noticed[:]
    for notice, units in withdrawals:
        noticed[books.requests.leaf[books.allocations.request[books.notices.allocation[notice]]]] -= units
    return noticed


def _forced(snapshot: Snapshot, draft: CycleContext, victims: Mapping[int, Chosen], noticed: array[int]) -> array[int]:
    """(rows,) chosen units of a leaf that a switch, a limit or a loss needs, the worst path first.

    noticed : (rows,) units of a leaf that are under notice in any case
    """
    rows, held, limit = snapshot.rows, draft.held, snapshot.rows.plan.limit
    forced = zeros(len(rows))
    new = {leaf: _units(chosen) for leaf, chosen in victims.items()}
    for leaf, units in new.items():
        wanted = max(held[leaf] - limit[leaf], draft.switched[leaf]) - noticed[leaf]
        forced[leaf] = max(0, min(units, wanted))

    def raise_inside(row: int, units: int) -> None:
        inside = list(_leaves_below(snapshot, row))
        units -= sum(noticed[leaf] + forced[leaf] for leaf in inside)
        for leaf in reversed(inside):
            more = max(0, min(units, new.get(leaf, 0) - forced[leaf]))
            forced[leaf] += more
            units -= more

    for row in range(len(rows) - 1, 0, -1):
        if not rows.is_leaf(row) and held[row] > limit[row]:
            raise_inside(row, held[row] - limit[row])
    if held[0] > snapshot.slots:
        raise_inside(0, held[0] - snapshot.slots)
    return forced


def _leaves_below(snapshot: Snapshot, row: int) -> Iterator[int]:
    """Leaves of a subtree in path order."""
    rows = snapshot.rows
    first = rows.position[row]
    return (each for each in rows.tree.path[first : first + rows.size[row]] if rows.is_leaf(each))


def only_observe(snapshot: Snapshot, draft: CycleContext) -> None:
    """Move notices of consumers with `observe_only` to `observed`: they are shown but not given (R-CONTROL-4)."""
    rows, books, decision = snapshot.rows, snapshot.books, draft.decision
    if not any(entry.settings.observe_only for entry in rows.entries):
        return

    def is_observed(allocation: int) -> bool:
        return rows.settings(books.requests.leaf[books.allocations.request[allocation]]).observe_only

    draft.decision = decision._replace(
        notices=tuple(notice for notice in decision.notices if not is_observed(notice.allocation)),
        observed=tuple(notice for notice in decision.notices if is_observed(notice.allocation)),
    )
