"""For whom units are taken: missing leaves paired with victims in path order (R-FOR-1)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fairhold.cycle.verify.books import Books, Place
    from fairhold.cycle.verify.reclaiming import Reclaim


class NewNotice(NamedTuple):
    """A notice that this cycle gives; `taker` is the leaf it is for, None where nobody misses the units."""

    place: Place
    deadline: int
    units: int
    taker: str | None
    is_switch: bool = False


def pair(
    case: Reclaim, books: Books, chosen: Mapping[Place, int], now: int, switched: Mapping[str, int]
) -> list[NewNotice]:
    """Make the new notices of the chosen units, leaf by leaf in path order, for who misses units first.

    books  : after the withdrawals: what is still on its way to a leaf is missed no more
    switched : leaf → units that are new for a switch of windows, and for nobody
    chosen : place → units, inside a leaf in the order in which they were chosen
    """
    takers = _takers(case, books)
    taker, wanted = next(takers, (None, 0))
    notices = []
    by_leaf: dict[str, list[tuple[Place, int]]] = {}
    for place, units in chosen.items():
        by_leaf.setdefault(place.consumer, []).append((place, units))
    for leaf in case.sheet.leaves:
        deadline = max(now + case.sheet.grace[leaf], case.sheet.opens)  # R-GRACE-1: the holder's grace
        switch = switched.get(leaf, 0)
        for place, units in by_leaf.get(leaf, ()):
            if first := min(units, switch):
                notices.append(NewNotice(place, deadline, first, None, is_switch=True))
                switch -= first
            left = units - first
            while left:
                part = left if taker is None else min(left, wanted)
                notices.append(NewNotice(place, deadline, part, taker))
                left -= part
                wanted -= part
                if taker is not None and not wanted:
                    taker, wanted = next(takers, (None, 0))
    return notices


def _takers(case: Reclaim, books: Books) -> Iterator[tuple[str, int]]:
    """Leaves that miss units, in path order, with how many of them are not on their way."""
    paths = books.plan.tree.paths
    coming: Counter[str] = Counter()
    for notice in books.notices:
        if notice.taker >= 0:
            coming[paths[notice.taker]] += notice.units
    for leaf in case.sheet.leaves:
        wanted = case.claims[leaf].missing - coming[leaf]
        if wanted > 0:
            yield leaf, wanted


def by_taker(rows: Iterable[Mapping[str, object]]) -> dict[tuple[object, ...], int]:
    """Units of new notices by resource group, holder and taker: what is free is which units of a holder go where."""
    units: Counter[tuple[object, ...]] = Counter()
    for row in rows:
        count = row["units"]
        assert isinstance(count, int)
        taker = "a switch" if row["reason"] == "window" else row["for"] or "nobody"
        units[row["resource_group"], row["consumer"], "for", taker] += count
    return dict(units)
