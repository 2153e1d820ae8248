"""The controls of a plan: when to reclaim, and how much per cycle (R-CONTROL-1 to R-CONTROL-5)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from fairhold.cycle.verify.sheet import TOP

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from fairhold.cycle.verify.books import Batch, Place
    from fairhold.cycle.verify.quotas import Quotas
    from fairhold.cycle.verify.reclaiming import Reclaim
    from fairhold.cycle.verify.sheet import Sheet

Parts = list[tuple["Place", int]]
"""Units that go, in the order in which they were chosen."""


class Piece(NamedTuple):
    """Chosen units. The units of a gang that stops go together or not at all."""

    parts: Parts
    is_gang: bool

    @property
    def units(self) -> int:
        """The number of units."""
        return sum(units for _, units in self.parts)


def units_of(pieces: Iterable[Piece]) -> Counter[Place]:
    """Units of some pieces by place."""
    units_at: Counter[Place] = Counter()
    for piece in pieces:
        for place, units in piece.parts:
            units_at[place] += units
    return units_at


class Missed(NamedTuple):
    """Missing units of leaves with controls on when to reclaim.

    shortages : leaf → (since when, whether it takes them back)
    waived    : path → units missed that are not taken back in this cycle
    """

    shortages: dict[str, tuple[int, bool]]
    waived: dict[str, int]


def missed(sheet: Sheet, quotas: Quotas, whole: Mapping[str, int]) -> Missed:
    """Leaves that miss units, and those of them that do not reclaim yet (R-CONTROL-2, R-CONTROL-3).

    whole : by path, held and set aside
    """
    shortages: dict[str, tuple[int, bool]] = {}
    waived: Counter[str] = Counter()
    for leaf in sheet.leaves:
        rules, units = sheet.switches[leaf], quotas.entitled[leaf] - whole[leaf]
        if units > 0 and (rules.dead_zone > 0 or rules.await_ends > 0):
            since, had_begun = sheet.shortages.get(leaf, (sheet.now, False))
            begins = units > rules.dead_zone and sheet.now - since >= rules.await_ends
            shortages[leaf] = (since, had_begun or begins)
            waived[leaf] = 0 if shortages[leaf][1] else units
    return Missed(shortages, sheet.summed(waived))


def kept_young(sheet: Sheet, leaf: str, free: Mapping[Batch, int], stranded: Collection[Batch] = ()) -> int:
    """Units of a leaf that stay because they, or other units of their gang, have not run long enough.

    free     : units under no notice
    stranded : units that stay, too, since their slots would be of no use
    """
    running: Counter[str] = Counter()
    old: Counter[str] = Counter()
    spared: set[str] = set()
    for batch, units in free.items():
        running[batch.request] += units
        if batch in stranded or sheet.is_young(leaf, batch.started):
            spared.add(batch.request)
        else:
            old[batch.request] += units
    stay = 0
    for key in spared:
        core = sheet.requests[key].min_count
        may_go = running[key] - core if core <= running[key] else running[key]
        stay += running[key] - min(old[key], may_go)
    return stay


def make_pieces(sheet: Sheet, free: Mapping[Batch, int], parts: Parts) -> list[Piece]:
    """The chosen units of a leaf as pieces. A gang that stops is one piece, at the place of its first unit."""
    running: Counter[str] = Counter()
    for batch, units in free.items():
        running[batch.request] += units
    going: Counter[str] = Counter()
    for place, units in parts:
        going[place.request] += units
    pieces: dict[object, Piece] = {}
    for number, (place, units) in enumerate(parts):
        key = place.request
        core = sheet.requests[key].min_count if key else 0
        stops = core > 0 and running[key] >= core > running[key] - going[key]
        mine = pieces.setdefault(key if stops else number, Piece([], stops))
        mine.parts.append((place, units))
    return list(pieces.values())


def hold_back(
    sheet: Sheet, case: Reclaim, pieces: Mapping[str, list[Piece]], switched: Mapping[str, int], *, is_again: bool
) -> Counter[Place]:
    """The chosen units that go in this cycle (R-CONTROL-1).

    pieces   : leaf → what was chosen, in path order
    is_again : the cycle before ran at the same instant
    """
    forced = _forced(sheet, case, pieces, switched)
    chosen: dict[str, Parts] = {leaf: [] for leaf in pieces}
    left = {leaf: list(mine) for leaf, mine in pieces.items()}
    gone: Counter[int] = Counter()
    for leaf in pieces:
        units, number = 0, id(sheet.switches[leaf])
        while left[leaf] and (units < forced[leaf] or sheet.switches[leaf].max_reclaims is None):
            piece = left[leaf].pop(0)
            is_whole = piece.is_gang or sheet.switches[leaf].max_reclaims is None
            first, rest = (piece, None) if is_whole else _cut(piece, forced[leaf] - units)
            left[leaf][:0] = [rest] if rest else []
            chosen[leaf] += first.parts
            units += first.units
        gone[number] += units
    for leaf in reversed(list(pieces)):
        number, most = id(sheet.switches[leaf]), sheet.switches[leaf].max_reclaims or 0
        most = 0 if is_again else most
        for piece in left[leaf]:
            room = most - gone[number]
            if room <= 0 or (piece.is_gang and piece.units > room and gone[number]):
                break
            first = piece if piece.is_gang else _cut(piece, room)[0]
            chosen[leaf] += first.parts
            gone[number] += first.units
    return units_of(Piece(parts, is_gang=False) for parts in chosen.values())


def _cut(piece: Piece, units: int) -> tuple[Piece, Piece | None]:
    """The first units of a piece without a gang, and the rest of it."""
    ((place, count),) = piece.parts
    if count <= units:
        return piece, None
    return Piece([(place, units)], is_gang=False), Piece([(place, count - units)], is_gang=False)


def _forced(
    sheet: Sheet, case: Reclaim, pieces: Mapping[str, list[Piece]], switched: Mapping[str, int]
) -> dict[str, int]:
    """Leaf → chosen units that must go because of a switch, a limit or lost slots; the worst path first."""
    new = {leaf: sum(piece.units for piece in pieces.get(leaf, ())) for leaf in sheet.leaves}
    forced: dict[str, int] = {}
    for leaf in sheet.leaves:
        wanted = max(case.held[leaf] - sheet.limit[leaf], switched.get(leaf, 0)) - case.noticed.get(leaf, 0)
        forced[leaf] = min(new[leaf], max(0, wanted))
    for path in reversed(sheet.paths):
        above = case.held[path] - (sheet.slots if path == TOP else sheet.limit[path])
        if above <= 0 or not sheet.children[path]:
            continue
        here = set(sheet.inside(path))
        inside = [leaf for leaf in sheet.leaves if leaf in here]
        above -= sum(case.noticed.get(leaf, 0) + forced[leaf] for leaf in inside)
        for leaf in reversed(inside):
            more = max(0, min(above, new[leaf] - forced[leaf]))
            forced[leaf] += more
            above -= more
    return forced
