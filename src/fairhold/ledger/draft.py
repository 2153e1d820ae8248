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
    """What the quotas of `ownership` are made of, beside the shares of what nobody owns.

    own     : (rows,) of a leaf, what it uses of its own (R-OWN-1)
    balance : (rows,) of a leaf, what it uses of balances above it (R-OWN-2)
    lent    : (pairs of the lists,) what it uses of others' (R-LEND-2)
    """

    own: array[int]
    balance: array[int]
    lent: array[int]


@dataclass
class CycleContext:
    """Everything that one cycle computes on the way to its decision; rows as in the snapshot.

    known     : quotas that are known already, as an earlier division came to them; None = none are
    needs     : reserve now, sure slots, need (R-SCALE, R-NEED)
    quota     : (rows,) whole slots (R-QUOTA, R-ROUND)
    entitled  : (rows,) of a leaf, up to where it takes back what it misses; of a branch, what it may hold before others
        take from it; the quota, where a policy says nothing else
    firm      : (rows,) of a leaf, what it may hold for sure, whatever rounding says (R-RECLAIM-5)
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
    waived    : (rows,) units that are missed and not taken back in this cycle, summed up the tree (R-CONTROL-2)
    blocked   : slots beyond the quotas on whole hosts that consumers have for these (R-HOSTS-2)
    claims    : leaf → hosts on which it gives units first, and how many there, one claim after another (R-SITE-4)
    switched  : (rows,) units of a leaf that go because a switch has put it under another policy (R-SWITCH-1)
    bound     : (rows,) units of a leaf that go whatever is missing
    protected : (rows,) 1 for a leaf above its quota by rounding alone (R-PROTECT-1)
    keep      : (rows,) what is not taken for others (R-KEEP-1)
    later     : leaf → units that it is to give, left for a later cycle (R-CONTROL-1)
    balance   : who misses, can give, must give, lacks and gives what (R-RECLAIM)
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
        bound=snapshot.pinned[:],
        protected=zeros(rows),
        keep=zeros(rows),
        later={},
        balance=Balance(*(zeros(rows) for _ in Balance._fields)),
        decision=Decision(),
    )


def _nothing(row: int) -> NoReturn:
    raise AssertionError(f"no rule has said what row {row} shares exactly")
