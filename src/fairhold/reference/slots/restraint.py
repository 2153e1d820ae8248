"""Controls that hold back what is taken (R-CONTROL-1 to R-CONTROL-3)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.reference.slots.victims import gangs_broken, order_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.model.state import Shortage
    from fairhold.reference.situation import Situation


def waived(situation: Situation, missing: Mapping[str, int]) -> dict[str, int]:
    """R-CONTROL-2, R-CONTROL-3: leaf → units that it misses and does not take back in this cycle."""
    found = {}
    known = shortages(situation)
    for leaf in situation.consumers.leaves:
        settings = situation.consumers[leaf].entry.settings
        row = known.get(leaf)
        since = row.since if row else situation.now
        goes_on = row is not None and row.is_taking
        is_small = missing[leaf] <= settings.dead_zone and not goes_on
        is_early = since + settings.await_ends > situation.now and not goes_on
        if missing[leaf] and (is_small or is_early):
            found[leaf] = missing[leaf]
    return found


def shortages(situation: Situation) -> dict[str, Shortage]:
    """Leaf → since when it misses units, as the cycle before has left it."""
    paths = situation.consumers.plan.tree.paths
    return {paths[row.consumer]: row for row in situation.state.shortages if row.resource_group == situation.group}


def shortages_after(
    situation: Situation, missing: Mapping[str, int], late: Mapping[str, int]
) -> dict[str, tuple[int, bool]]:
    """Leaf → since when it misses units, and whether it takes them back, where the plan says when it does.

    late : leaf → what it does not take back in this cycle
    """
    found, known = {}, shortages(situation)
    for leaf in situation.consumers.leaves:
        settings = situation.consumers[leaf].entry.settings
        if missing[leaf] and (settings.dead_zone or settings.await_ends):
            since = known[leaf].since if leaf in known else situation.now
            found[leaf] = since, leaf not in late
    return found


def at_most(situation: Situation, new: Iterable[int], in_any_case: Iterable[int]) -> list[int]:
    """R-CONTROL-1: of the units that would newly get notice those that do in this cycle.

    Units of the worst path go first. What limits and lost hosts want goes in any case and counts. A gang goes whole:
    if it is more than may go, it goes first and alone.
    in_any_case : places of units that would go if nobody missed any
    """
    places, goes, sure = list(new), [], set(in_any_case)
    for entry in {id(each.entry): each.entry for each in situation.consumers.by_path.values()}.values():
        mine = [at for at in places if situation.consumers[situation.units[at].leaf].entry is entry]
        most = entry.settings.max_reclaims
        if most is not None and situation.state.previous_cycle == situation.now:
            goes += [at for at in mine if at in sure]  # the cycle before at this instant has told as many as may go
            continue
        bound = len(mine) if most is None else max(most, sum(at in sure for at in mine))
        goes += mine if len(mine) <= bound else _worst_first(situation, mine, bound)
    return sorted(goes)


def _worst_first(situation: Situation, mine: list[int], most: int) -> list[int]:
    """What is above a leaf's own limit, then above that of a branch, then units of the worst path."""
    consumers, order = situation.consumers, situation.consumers.leaves
    found: list[int] = []
    over = Counter({path: situation.held[path] - consumers[path].limit for path in consumers.order})
    for unit in situation.units:
        over.subtract(consumers.above(unit.leaf) if unit.notice else ())
    pieces = {leaf: _pieces(situation, mine, leaf) for leaf in order}

    def take(leaf: str, path: str) -> None:
        for piece in list(pieces[leaf]):
            if over[path] > 0 if path else len(found) + len(piece) <= most or not found:
                found.extend(piece)
                pieces[leaf].remove(piece)
                over.subtract({each: len(piece) for each in consumers.above(leaf)})

    for leaf in order:
        take(leaf, leaf)
    for branch in consumers.deepest_first:
        for leaf in reversed(consumers.inside(branch)):
            take(leaf, branch)
    for leaf in reversed(order):
        take(leaf, "")
    return found


def _pieces(situation: Situation, mine: list[int], leaf: str) -> list[list[int]]:
    """The units of a leaf that go, those of a gang that stops together: most units first, then by `victims`."""
    broken = gangs_broken(situation, [at for at, unit in enumerate(situation.units) if unit.notice or at in mine])
    of: dict[object, list[int]] = {}
    for at in [at for at in mine if situation.units[at].leaf == leaf]:
        name = situation.units[at].wish
        of.setdefault(name if name in broken else at, []).append(at)
    return sorted(of.values(), key=lambda piece: (-len(piece), min(order_of(situation, at) for at in piece)))
