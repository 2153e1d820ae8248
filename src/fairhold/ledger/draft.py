"""The columns that the rules of one cycle fill, one after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from fairhold.kernels.columns import Needs, zeros
from fairhold.kernels.reclaim import Balance
from fairhold.ledger.decision import Decision

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable
    from fractions import Fraction

    from fairhold.kernels.amounts import Amounts
    from fairhold.ledger.snapshot import Snapshot


class UnitsHeld(NamedTuple):
    """Units that a leaf holds for a gang that has waited too long (R-HOLD-1).

    until : instant by which the gang has all that it misses, None = not known
    """

    leaf: int
    gang: int
    units: int
    until: int | None


class Owning(NamedTuple):
    """The parts of the quotas of `ownership`, except shares of unowned slots.

    own     : (rows,) slots of its own that a leaf uses (R-OWN-1)
    balance : (rows,) slots that a leaf uses of the balances of its ancestors (R-OWN-2)
    lent    : (pairs of the lists,) slots that a leaf uses of a lender (R-LEND-2)
    """

    own: array[int]
    balance: array[int]
    lent: array[int]


@dataclass
class CycleContext:
    """Everything that one cycle computes on the way to its decision; rows as in the snapshot.

    known     : quotas of an earlier division that still hold; None = none do
    needs     : reserve now, sure slots, need (R-SCALE, R-NEED)
    quota     : (rows,) whole slots (R-QUOTA, R-ROUND)
    entitled  : (rows,) units up to which a leaf reclaims what it misses, and that a branch may hold before others
        reclaim from it; the quota, unless a policy sets another value
    firm      : (rows,) units that a leaf may hold in any case, whatever rounding gives (R-RECLAIM-5)
    owning    : parts of the quotas of `ownership`, None elsewhere
    exact     : row → exact share (R-EXACT-1); asked for only where rounding matters
    most      : row → its share where every level is rounded up, likewise (R-PROTECT-1)
    planned   : planned shares of `share_ratio` (R-SHARE-3), None elsewhere
    planned_slots : (rows,) these rounded, where they are fixed (R-SHARE-7)
    filled    : exact amounts of one filling over all leaves (R-SHARE-4), None elsewhere
    held      : (rows,) units held, after the grants
    inside    : (rows,) idle units set aside in the subtree, after the grants
    own       : (rows,) of these, for the row itself
    kept      : (rows,) of a leaf, units that are kept for its requests
    collecting : leaf → its gangs for which units may be held, in order (R-HOLD-1); holds : how many, and until when
    idle      : idle units after the grants
    waived    : (rows,) missing units that are not reclaimed in this cycle, summed up the tree (R-CONTROL-2)
    blocked   : slots beyond the quotas on hosts used by one consumer at a time (R-HOSTS-2)
    claims    : leaf → hosts on which it gives units first, and how many there, one claim after another (R-SITE-4)
    switched  : (rows,) units of a leaf that are reclaimed because its policy has changed at a switch (R-SWITCH-1)
    leaving   : request → units of a gang that leave at this switch
    bound     : (rows,) units of a leaf that are reclaimed even if no unit is missing
    protected : (rows,) 1 for a leaf above its quota by rounding alone (R-PROTECT-1)
    keep      : (rows,) units that are not reclaimed for others (R-KEEP-1)
    later     : leaf → units to reclaim from it that are left for a later cycle (R-CONTROL-1)
    balance   : units that each row misses, can give, must give, lacks and gives (R-RECLAIM)
    """

    known: array[int] | None
    needs: Needs
    quota: array[int]
    entitled: array[int]
    firm: array[int]
    owning: Owning | None
    exact: Callable[[int], Fraction]
    most: Callable[[int], int]
    planned: Amounts | None
    planned_slots: array[int]
    filled: Amounts | None
    held: array[int]
    inside: array[int]
    own: array[int]
    kept: array[int]
    collecting: dict[int, list[int]]
    holds: tuple[UnitsHeld, ...]
    idle: int
    waived: array[int]
    blocked: int
    claims: dict[int, list[tuple[tuple[int, ...], int]]]
    switched: array[int]
    leaving: dict[int, int]
    bound: array[int]
    protected: array[int]
    keep: array[int]
    later: dict[int, int]
    balance: Balance
    decision: Decision


def new_draft(snapshot: Snapshot, known: array[int] | None = None) -> CycleContext:
    """An empty draft."""
    rows = len(snapshot.rows)
    quota = zeros(rows)
    return CycleContext(
        known=known,
        needs=Needs(*(zeros(rows) for _ in Needs._fields)),
        quota=quota,
        entitled=quota,
        firm=zeros(rows),
        owning=None,
        exact=_nothing,
        most=_nothing,
        planned=None,
        planned_slots=zeros(rows),
        filled=None,
        held=snapshot.held[:],
        inside=zeros(rows),
        own=zeros(rows),
        kept=snapshot.kept,
        collecting={},
        holds=(),
        idle=snapshot.idle,
        waived=zeros(rows),
        blocked=0,
        claims={},
        switched=zeros(rows),
        leaving={},
        bound=snapshot.pinned[:],
        protected=zeros(rows),
        keep=zeros(rows),
        later={},
        balance=Balance(*(zeros(rows) for _ in Balance._fields)),
        decision=Decision(),
    )


def _nothing(row: int) -> NoReturn:
    raise AssertionError(f"no rule has said what row {row} shares exactly")
