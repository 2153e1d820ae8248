"""Divisions that are known: one is used again where demand has changed only above a quota.

A leaf that wants more than its quota gets the same quota however much more it wants. So a division has the quotas of
an earlier one with the same number of slots, if every leaf either wants what it wanted then, or wanted more than its
quota then and does so now. With a backlog this holds in most cycles: one more waiting job changes no share.

Proof for `hybrid` in its default mode. Let Q be the quota of a leaf and N > Q its need, both before and after the
change. Among its siblings

- its floor is the same: the floor is min(need, owned) or the reserve, and at most Q, so the need does not set it;
- the group that shares is the same. While owners share, the quotas sum to the amount, no quota exceeds its need, and
  the leaf's quota is at least one unit below its need. So owners need more than the amount, before and after. Once all
  owners have their need, a leaf with N > Q owns nothing, and the need of owners does not depend on it;
- the level is the same: the leaf's share is below Q + 1, so it does not reach its cap, before and after. The shares of
  the others, and so the sum at this level, do not depend on the need.

The parent needs min(limit, sum of needs). The quotas of its children sum to its own quota P, because not all are at
their cap. So the children need at least P + 1, before and after. If the limit is P, the parent needs P, before and
after, and nothing changes above it. If the limit is larger, the parent needs more than P, before and after: then the
same argument holds for the parent, and so on up to the root, whose quota does not depend on a need.

Under `share_ratio` the same holds with ratios in place of owned slots and planned shares as floors; there all siblings
share at once. Where all leaves share in one list, the level rises until all is shared; a need only matters as the cap
of a leaf, which lies above the final level.

Under `ownership` a leaf that wants more than its quota has used up its own slots, the balances above it and its
lenders, so its need did not bound what it got from any of them. It offers nothing itself if it wants all that it owns,
before and after. In even mode, with fixed shares, with used-up budgets and with mixed policies, a division is used
again only if every leaf wants exactly what it wanted then; so is one of another package, unless it sets `keeps_quotas`.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from array import array

    from fairhold.ledger.rows import Rows
    from fairhold.ledger.snapshot import Snapshot

MOST = 16
"""Divisions that are known at once: a cycle with gangs that give way makes a few of them."""


class Division:
    """A division of slots.

    slots  : that there were
    usable, most : (rows,) what leaves could use, also of a fixed share, as in the snapshot
    quota  : (rows,) what came out
    other  : the leaf that told it from what was asked last: it often does so again, and is looked at first
    """

    __slots__ = ("most", "other", "quota", "slots", "usable")

    def __init__(self, slots: int, usable: array[int], most: array[int], quota: array[int]) -> None:
        self.slots, self.usable, self.most, self.quota = slots, usable, most, quota
        self.other: tuple[int, ...] = ()


class Divisions:
    """The latest divisions of the books of one group, under the columns that they have now."""

    __slots__ = ("_latest",)

    def __init__(self) -> None:
        self._latest: tuple[Division, ...] = ()

    def known(self, snapshot: Snapshot) -> array[int] | None:
        """(rows,) the quotas of an earlier division that are those of this one, None where there is none."""
        rows, usable = snapshot.rows, snapshot.usable
        for each in self._latest:
            is_same = each.slots == snapshot.slots and (usable == each.usable or _is_beyond(rows, usable, each))
            if is_same and not (rows.is_fixed and each.most != snapshot.most):
                return each.quota
        return None

    def keep(self, snapshot: Snapshot, quota: array[int]) -> None:
        """Keep a division for later ones."""
        one = Division(snapshot.slots, snapshot.usable[:], snapshot.most[:], quota[:])
        others = [each for each in self._latest if each.quota != one.quota]
        self._latest = (one, *others[: MOST - 1])


def _is_beyond(rows: Rows, usable: array[int], then: Division) -> bool:
    """Whether every leaf wants the same as then, or wants more than its quota, then and now, and all that it owns."""
    if not (rows.is_filled or rows.is_listed):
        return False
    owned = rows.plan.owned if rows.is_listed else None
    before, quota = then.usable, then.quota
    for leaf in chain(then.other, rows.leaves):
        if usable[leaf] != before[leaf]:
            least = min(usable[leaf], before[leaf])
            if least <= quota[leaf] or (owned is not None and least < owned[leaf]):
                then.other = (leaf,)
                return False
    return True
