"""Pairs leaves that miss units with victims, in path order (R-FOR-1)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fairhold.cycle.verify.books import Books, Place
    from fairhold.cycle.verify.reclaiming import Reclaim


class NewNotice(NamedTuple):
    """A notice of this cycle. taker: the leaf that it is for; None: no leaf misses the units."""

    place: Place
    deadline: int
    units: int
    taker: str | None
    is_switch: bool = False


def pair(
    case: Reclaim, books: Books, chosen: Mapping[Place, int], now: int, switched: Mapping[str, int]
) -> list[NewNotice]:
    """Make new notices for the chosen units, leaf by leaf in path order, for the first leaf that misses units.

    books  : after the withdrawals; units on their way to a leaf are no longer missing
    switched : leaf → units that are new because of a switch of windows, and for no taker
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
    """Leaves that miss units, in path order, with the number that is not on its way."""
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
    """Units of new notices by group, holder and taker. Which units of a holder go to which taker is not fixed."""
    units: Counter[tuple[object, ...]] = Counter()
    for row in rows:
        count = row["units"]
        assert isinstance(count, int)
        taker = "a switch" if row["reason"] == "window" else row["for"] or "nobody"
        units[row["resource_group"], row["consumer"], "for", taker] += count
    return dict(units)
