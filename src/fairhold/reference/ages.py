"""In which order units of a leaf go: by `victims`, and who has run long enough (R-VICTIM-1, R-CONTROL-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairhold.reference.situation import Situation, Unit, Wish

Age = tuple[int, ...]


def by_victims(situation: Situation, wish: Wish, started: int) -> Age:
    """R-VICTIM-1: smaller goes first. Age is submitted, then started; ties of `lowest_priority` are the youngest."""
    order = situation.consumers[wish.leaf].entry.settings.victims
    if order == "oldest":
        return wish.submitted, started
    if order == "lowest_priority":
        return wish.priority, -wish.submitted, -started
    return -wish.submitted, -started


def is_young(situation: Situation, unit: Unit) -> bool:
    """R-CONTROL-5: a unit that has run for less than the `min_runtime` of its leaf."""
    least = situation.consumers[unit.leaf].min_runtime
    return situation.now - unit.started < least and not situation.wishes[unit.wish].is_count


def first_to_go(situation: Situation, units: Sequence[Unit], places: Iterable[int]) -> list[int]:
    """Places of units of one request on one host: those that have run long enough first, then by `victims`."""

    def key(at: int) -> tuple[bool, Age, int]:
        unit = units[at]
        wish = situation.wishes[unit.wish]
        return is_young(situation, unit), by_victims(situation, wish, unit.started), at

    return sorted(places, key=key)


def kept_places(situation: Situation, leaf: str) -> set[int]:
    """Places of units that stay whatever the quota is, but for those under notice.

    These are stranded ones (R-RECLAIM-1), young ones (R-CONTROL-5), and all units of a gang that has one of them.
    """
    mine = {at: unit for at, unit in enumerate(situation.units) if unit.leaf == leaf and unit.notice is None}
    marked = {at for at, unit in mine.items() if unit.host in situation.away or is_young(situation, unit)}
    gangs = {mine[at].wish for at in marked if situation.wishes[mine[at].wish].is_gang}
    return marked | {at for at, unit in mine.items() if unit.wish in gangs}
