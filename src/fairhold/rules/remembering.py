"""Uses the quotas of an earlier division again where demand has changed only above a quota.

A leaf that wants more than its quota gets the same quota however much more it wants. So a division has the quotas of
an earlier one with the same number of slots, if every leaf either wants what it wanted then, or wanted more than its
quota then and does so now. With a backlog this holds in most cycles: one more waiting job changes no share.

Why, under `hybrid` in its default mode. Let Q be the quota of a leaf, and N > Q what it needs, before and after. Among
its siblings

- its floor is the same: min(need, owned), or its reserve, is at most Q, so that it is not the need;
- who shares is the same. While owners share, all that there is goes to quotas, each no more than a need, and the leaf's
  own is at least a unit less: so owners need more than there is, after as before. Once owners have their fill, their
  quotas are their needs: a leaf with N > Q then owns nothing, and what owners need does not depend on it;
- the level is the same: the leaf's share is below Q + 1, so below its cap, after as before. The others' shares, and so
  the sum at this level, do not depend on it.

The parent needs min(limit, sum of needs). The quotas of its children sum to its own, P, as not all are at their cap. So
the children need P + 1 at least, after as before. Where the limit is P the parent needs P, after as before, and nothing
changes above it. Where it is more the parent needs more than P, after as before: what holds of the leaf holds of the
parent, up to the root, of which nothing depends on the need.

Under `share_ratio` the same holds with ratios for what is owned and planned shares for floors; nobody waits for others
to have their fill there. Where all leaves share at once the level rises until all is shared; what a leaf needs stops it
at its cap only, which lies beyond where the level ends.

Under `ownership` a leaf that wants more than its quota has used up its own, the balances above it and its lenders, so
that no wish bounded what it got of any of them; what it offers itself is nothing where it wants all that it owns,
before and now. Even mode, fixed shares, budgets used up and policies side by side know divisions again only where
everybody wants just what he wanted; so does a division of another package, unless it says `keeps_quotas`.
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
    """Whether every leaf wants what it wanted, or wanted more than its quota and does now, no less than it owns."""
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
    """Whether a cycle before, of which this one differs by needs that do not matter, left all notices as they were.

    What has to move follows from quotas, units held and under notice, and needs. Of needs it matters whether they are
    at least what is held, and what they cap of a quota of which every level is rounded up: that is below the quota by
    less than two units a level (R-PROTECT-1). A need beyond both, before and now, may be any.
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
    """Keep what a cycle saw in which everybody gives what is under notice already."""
    of_leaves = snapshot.rows.of_leaves
    if of_leaves(draft.balance.gives) == of_leaves(have.noticed) and _may_rest(snapshot, draft):
        columns = (have.quota, have.entitled, have.held, have.noticed, draft.needs.need)
        seen, balance = tuple(map(copy, columns)), Balance(*map(copy, draft.balance))
        snapshot.rows.lately.rest = Rest(snapshot.slots, seen, balance, draft.keep[:], draft.protected[:])


def _may_rest(snapshot: Snapshot, draft: CycleContext) -> bool:
    """Whether nothing else says what has to move, such as hosts, ages, switches or limits of a kind."""
    rows, books = snapshot.rows, snapshot.books
    is_moved = snapshot.lost or draft.switched[0] or draft.waived[0] or draft.inside[0] or any(draft.bound)
    is_choosy = books.hosts.closed or books.requests.siting or rows.spares_young
    is_scaled = rows.entry.policy.scales_owned and not rows.is_mixed
    return is_scaled and not (is_moved or is_choosy or rows.entry.settings.disable_reclaim_own)
