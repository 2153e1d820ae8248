"""Uses the quotas of an earlier division again where demand has changed only above a quota.

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

from copy import copy
from typing import TYPE_CHECKING

from fairhold.kernels.reclaim import Balance
from fairhold.kernels.select import needs_beyond
from fairhold.ledger.lately import Division, Rest

if TYPE_CHECKING:
    from array import array

    from fairhold.kernels.reclaim import Holdings
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.rows import Rows
    from fairhold.ledger.snapshot import Snapshot

MOST = 16
"""Divisions that are remembered: a cycle with gangs that give way makes a few of them."""


def remembered(snapshot: Snapshot) -> array[int] | None:
    """The quotas of an earlier division that are those of this one, None where there is none."""
    rows, usable, most, slots = snapshot.rows, snapshot.usable, snapshot.most, snapshot.slots
    for then, wanted, fixed, quota in rows.lately.divisions:
        if then == slots and (wanted == usable or _is_beyond(rows, usable, wanted, quota)):
            if rows.is_fixed and fixed != most:
                continue
            return quota
    return None


def remember(snapshot: Snapshot, draft: CycleContext) -> None:
    """Keep a division for later ones."""
    lately = snapshot.rows.lately
    known = Division(snapshot.slots, snapshot.usable[:], snapshot.most[:], draft.quota[:])
    others = [each for each in lately.divisions if each.quota != known.quota]
    lately.divisions = (known, *others[: MOST - 1])


def _is_beyond(rows: Rows, usable: array[int], wanted: array[int], quota: array[int]) -> bool:
    """Whether every leaf wants the same as then, or wants more than its quota, then and now, and all that it owns."""
    if not (rows.is_filled or rows.is_listed):
        return False
    owned = rows.plan.owned if rows.is_listed else None
    for leaf in rows.leaves:
        if usable[leaf] != wanted[leaf]:
            least = min(usable[leaf], wanted[leaf])
            if least <= quota[leaf] or (owned is not None and least < owned[leaf]):
                return False
    return True


def is_as_before(snapshot: Snapshot, draft: CycleContext, have: Holdings) -> bool:
    """Whether an earlier cycle, which differs only by needs that do not matter, left all notices unchanged.

    What has to move follows from quotas, held and noticed units, and needs. A need matters in two ways: whether it is
    at least what is held, and as a cap of the quota with every level rounded up, which exceeds the quota by less than
    two units a level (R-PROTECT-1). A need beyond both, before and now, has no effect.
    """
    rest = snapshot.rows.lately.rest
    if rest is None or rest.slots != snapshot.slots or not _may_rest(snapshot, draft):
        return False
    *columns, needs = rest.seen
    if columns != [have.quota, have.entitled, have.held, have.noticed]:
        return False
    margin, need = 2 * snapshot.rows.depth, draft.needs.need
    if needs != need and not needs_beyond.run(snapshot.compiled, need, needs, have.held, have.quota, margin):
        return False
    draft.balance, draft.keep, draft.protected = Balance(*map(copy, rest.balance)), rest.keep[:], rest.protected[:]
    return True


def remember_rest(snapshot: Snapshot, draft: CycleContext, have: Holdings) -> None:
    """Keep the input of a cycle in which every leaf gives exactly what is under notice already."""
    of_leaves = snapshot.rows.of_leaves
    if of_leaves(draft.balance.gives) == of_leaves(have.noticed) and _may_rest(snapshot, draft):
        columns = (have.quota, have.entitled, have.held, have.noticed, draft.needs.need)
        seen, balance = tuple(map(copy, columns)), Balance(*map(copy, draft.balance))
        snapshot.rows.lately.rest = Rest(snapshot.slots, seen, balance, draft.keep[:], draft.protected[:])


def _may_rest(snapshot: Snapshot, draft: CycleContext) -> bool:
    """Whether no other input decides what has to move, such as hosts, ages, switches or other limits."""
    rows, books = snapshot.rows, snapshot.books
    is_moved = snapshot.lost or draft.switched[0] or draft.waived[0] or draft.inside[0] or any(draft.bound)
    is_choosy = books.hosts.closed or books.requests.siting or rows.spares_young
    is_scaled = rows.entry.policy.scales_owned and not rows.is_mixed
    return is_scaled and not (is_moved or is_choosy or rows.entry.settings.disable_reclaim_own)
