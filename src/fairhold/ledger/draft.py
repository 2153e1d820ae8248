"""The columns that the rules of one cycle fill, one after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.kernels.columns import Needs, zeros
from fairhold.kernels.reclaim import Balance
from fairhold.ledger.decision import Decision

if TYPE_CHECKING:
    from array import array

    from fairhold.ledger.snapshot import Snapshot


@dataclass
class Draft:
    """Everything that one cycle computes on the way to its decision; rows as in the snapshot.

    needs     : reserve now, sure slots, need (R-SCALE, R-NEED)
    quota     : (rows,) whole slots (R-QUOTA, R-ROUND)
    held      : (rows,) units held, after the grants
    inside    : (rows,) idle units set aside in the subtree, after the grants
    own       : (rows,) of these, for the row itself
    idle      : idle units after the grants
    protected : (rows,) 1 for a leaf above its quota by rounding alone (R-PROTECT-1)
    keep      : (rows,) what is not taken for others (R-KEEP-1)
    balance   : who misses, can give, must give, lacks and gives what (R-RECLAIM)
    """

    needs: Needs
    quota: array[int]
    held: array[int]
    inside: array[int]
    own: array[int]
    idle: int
    protected: array[int]
    keep: array[int]
    balance: Balance
    decision: Decision


def new_draft(snapshot: Snapshot) -> Draft:
    """An empty draft."""
    rows = len(snapshot.rows)
    return Draft(
        needs=Needs(*(zeros(rows) for _ in Needs._fields)),
        quota=zeros(rows),
        held=snapshot.held[:],
        inside=zeros(rows),
        own=zeros(rows),
        idle=snapshot.idle,
        protected=zeros(rows),
        keep=zeros(rows),
        balance=Balance(*(zeros(rows) for _ in Balance._fields)),
        decision=Decision(),
    )
