"""Which units pools reclaim now and which later: controls of a policy entry (SPEC §8; R-CONTROL-6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairhold.ledger.pools import PoolBooks, Unit


def may_take(books: PoolBooks, leaf: int) -> bool:
    """Whether a leaf may take anything back in this cycle, as far as its plan holds it back."""
    restraint = books.restraint
    if restraint.is_still or restraint.is_full:
        return False
    if restraint.most == 0:
        restraint.not_after(books.now + SECOND)
        return False
    return restraint.takers is None or leaf in restraint.takers


def go_now(books: PoolBooks, units: Sequence[Unit]) -> bool:
    """Whether units that are reclaimed together go in this cycle (R-CONTROL-1); if so, they are counted.

    They go together or not at all: more than the limit of a cycle go only first and alone. After the first that do not
    go, no others go, so that no later turn overtakes an earlier one.
    """
    restraint = books.restraint
    gone = restraint.gone + len(units)
    if restraint.most is not None and gone > restraint.most and restraint.gone:
        restraint.is_full = True
        restraint.not_after(books.now + SECOND)
        return False
    restraint.gone = gone
    return True


def were_granted_now(books: PoolBooks, units: Iterable[Unit]) -> bool:
    """Whether some were granted at this instant on what was held for them, so that they stay for now (R-SERVE-3)."""
    if books.restraint.is_trial or not books.sure or books.sure.isdisjoint(units):
        return False
    books.restraint.not_after(books.now + SECOND)
    return True


def is_young(books: PoolBooks, unit: Unit) -> bool:
    """Whether a unit has run for less than the `min_runtime` of its leaf (R-CONTROL-5)."""
    least = books.terms.min_runtime[unit.asked.leaf]
    return least > 0 and unit.started + least > books.now


def are_spared(books: PoolBooks, units: Sequence[Unit]) -> bool:
    """Whether units that go together stay, as one of them has not run long enough; it is noted when all have."""
    young = [unit for unit in units if is_young(books, unit)]
    if young:
        books.restraint.not_after(max(unit.started + books.terms.min_runtime[unit.asked.leaf] for unit in young))
    return bool(young)
