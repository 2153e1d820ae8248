"""Results of rules in earlier cycles, kept together with their inputs: with equal inputs they are used again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from array import array

    from fairhold.kernels.reclaim import Balance


class Division(NamedTuple):
    """A division of slots.

    slots  : that there were
    usable, most : (rows,) what leaves could use, also of a fixed share, as in the snapshot
    quota  : (rows,) what came out
    """

    slots: int
    usable: array[int]
    most: array[int]
    quota: array[int]


class Rest(NamedTuple):
    """The input of a cycle in which every leaf gave exactly what was under notice already.

    seen    : (rows,) each: quotas, what is entitled, held, under notice, needed
    balance, keep, protected : as in its draft
    """

    slots: int
    seen: tuple[array[int], ...]
    balance: Balance
    keep: array[int]
    protected: array[int]


class Lately:
    """Results of earlier cycles. An entry is never changed, only replaced, so that several threads may read."""

    __slots__ = ("divisions", "rest")

    def __init__(self) -> None:
        self.divisions: tuple[Division, ...] = ()
        self.rest: Rest | None = None
