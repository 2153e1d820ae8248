"""Gangs that stop as a whole: if one gives more than was asked, others give less (R-VICTIM-1, R-VICTIM-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.rules.victims import choose_units, stopping_beyond, tell

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable

    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot
    from fairhold.rules.victims import Units


def take_units(snapshot: Snapshot, draft: CycleContext, bound: array[int], divide: Callable[[], None]) -> None:
    """Turn what every leaf gives into notices, without stopping a gang that other units make unnecessary.

    If a gang stops as a whole, its leaf must give all its units; the total stays the same, so others give less. This is
    done leaf by leaf, first those with a gang that is under notice as a whole, beyond what the leaf can give. A later
    leaf may then give enough to make a gang of an earlier one unnecessary. So in path order each such leaf is tried
    again without its own gang; the result is used if it takes fewer units. If the units of the gang are under notice
    already, it is used only if no other leaf gets new notices for them (R-VICTIM-3).

    bound  : (rows,) units of a leaf that are reclaimed in any case; raised here for gangs
    divide : divides the units to give over the leaves by `bound`, into the draft
    """
    leaves, noticed, before = snapshot.rows.leaves, snapshot.noticed, bound[:]
    stopping = stopping_beyond(snapshot, draft)
    if stopping:
        for leaf, units in stopping.items():
            bound[leaf] = max(bound[leaf], units)
        divide()
    chosen = _agree(snapshot, draft, bound, divide)
    raised = [leaf for leaf in leaves if bound[leaf] > before[leaf]] if bound != before else []
    waiting = raised if stopping or len(raised) > 1 else []
    while waiting:
        leaf, *waiting = waiting
        known, gives = bound[:], draft.balance.gives[:]
        bound[leaf] = before[leaf]
        divide()
        other = _agree(snapshot, draft, bound, divide)
        now, is_new = draft.balance.gives, gives[leaf] > noticed[leaf]
        asks_more = any(now[each] > max(gives[each], noticed[each]) for each in leaves)
        if sum(gives[each] - now[each] for each in leaves) > 0 and (is_new or not asks_more):
            chosen, waiting = other, [each for each in leaves if bound[each] > before[each]]
        else:
            bound[:] = known
            divide()
    tell(snapshot, draft, chosen)


def _agree(snapshot: Snapshot, draft: CycleContext, bound: array[int], divide: Callable[[], None]) -> Units:
    """Raise what leaves must give until no stopping gang gives more than its leaf has to."""
    while (chosen := choose_units(snapshot, draft)).beyond:
        leaf, units = chosen.beyond
        bound[leaf] = max(bound[leaf], units)
        divide()
    return chosen
