"""How many units each leaf gives back (SPEC §8.4)."""

from __future__ import annotations

from array import array
from operator import add, sub
from typing import TYPE_CHECKING

from fairhold.kernels.columns import zeros
from fairhold.kernels.reclaim import Balance, Holdings, balance, divide, divide_flat
from fairhold.kernels.select import is_at_rest
from fairhold.rules.aging import spared_units, young
from fairhold.rules.lacking import settle_lack
from fairhold.rules.stopping import take_units
from fairhold.rules.victims import stranded

if TYPE_CHECKING:
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot


def reclaim(snapshot: Snapshot, draft: CycleContext) -> None:
    """Decide how many units every leaf gives, and give notice to them (R-RECLAIM-1 to R-RECLAIM-5)."""
    have = holdings(snapshot, draft)
    if is_quiet(snapshot, draft, have):
        return
    weigh(snapshot, draft, have)
    asked = draft.balance.gives[0]
    take_units(snapshot, draft, have.bound, lambda: _divide(snapshot, draft, have, asked))


def weigh(snapshot: Snapshot, draft: CycleContext, have: Holdings | None = None) -> None:
    """Compute what every consumer misses, can give, must give and gives, also if nothing moves; chooses no units."""
    have = holdings(snapshot, draft) if have is None else have
    keep_for_themselves(snapshot, draft, have)
    _divide(snapshot, draft, have, -1)


def keep_for_themselves(snapshot: Snapshot, draft: CycleContext, have: Holdings) -> None:
    """Find the units that are not reclaimed for others, and protected leaves; `kernels.reclaim` handles limits."""
    have.keep[:] = keep_own(snapshot, draft)
    keep_spared(snapshot, have)
    have.protected[:] = protect_rounded(snapshot, draft)


def keep_below_limits(snapshot: Snapshot, draft: CycleContext) -> Holdings:
    """The holdings, with nothing kept where a limit allows nothing to be kept (R-RECLAIM-2)."""
    rows, have = snapshot.rows, holdings(snapshot, draft)
    keep_for_themselves(snapshot, draft, have)
    scratch = Balance(*(zeros(len(rows)) for _ in Balance._fields))
    balance.run(snapshot.compiled, rows.tree, rows.position, rows.size, have, rows.is_flat, scratch)
    return have


def is_quiet(snapshot: Snapshot, draft: CycleContext, have: Holdings) -> bool:
    """Quick check that no unit has to be reclaimed."""
    columns = (have.entitled, have.reserve, have.limit, have.whole, have.noticed)
    is_calm = is_at_rest.run(snapshot.compiled, snapshot.rows.tree, *columns)
    return is_calm and not snapshot.lost and not draft.switched[0]


def holdings(snapshot: Snapshot, draft: CycleContext) -> Holdings:
    """What every consumer holds and is entitled to."""
    whole = array("q", map(add, draft.held, draft.inside)) if draft.inside[0] else draft.held[:]
    return Holdings(
        quota=draft.quota,
        entitled=draft.entitled,
        limit=snapshot.rows.plan.limit,
        reserve=_reserves(snapshot, draft),
        held=draft.held,
        whole=whole,
        keep=zeros(len(whole)),
        protected=zeros(len(whole)),
        noticed=snapshot.noticed,
        bound=draft.bound[:],
    )


def _reserves(snapshot: Snapshot, draft: CycleContext) -> array[int]:
    """Reserves that are reclaimed for; under `ownership` without what a branch reserves itself (R-OWN-2)."""
    rows, reserve = snapshot.rows, draft.needs.reserve
    if draft.waived[0]:  # what leaves below do not take back yet, nobody above takes back for them (R-CONTROL-2)
        reserve = array("q", map(sub, reserve, draft.waived))
    if not any(policy.owns_exactly for policy in rows.policies):
        return reserve
    return array("q", (0 if rows.is_owner[row] and not rows.is_leaf(row) else reserve[row] for row in range(len(rows))))


def _divide(snapshot: Snapshot, draft: CycleContext, have: Holdings, asked: int) -> None:
    rows, compiled, room = snapshot.rows, snapshot.compiled, zeros(len(snapshot.rows))
    places = (rows.tree, rows.position, rows.size)
    # Where a gang gives more than it was asked, a limit may be met without units that are kept: that is asked anew.
    have = have._replace(keep=have.keep[:], protected=have.protected[:])
    draft.keep, draft.protected = have.keep, have.protected
    flat = rows.is_flat
    balance.run(compiled, *places, have, flat, draft.balance)
    if flat:
        line = Balance(*(zeros(len(rows)) for _ in Balance._fields))
        divide_flat.run(compiled, rows.tree, rows.leaf_columns, have, snapshot.lost, asked, draft.balance, room, line)
    else:
        divide.run(compiled, rows.tree, have, snapshot.lost, asked, draft.balance, room)
    settle_lack(snapshot, draft.firm, have, draft.balance)


def keep_own(snapshot: Snapshot, draft: CycleContext) -> array[int]:
    """Units not reclaimed for others: the quota; with `disable_reclaim_own` at least the owned slots (R-KEEP-1).

    Holds at every level for a node whose owned was scaled down; the seed's own words: uses 12, quota 9, owned 10 at 90
    of 100 slots, so 2 are reclaimed (S1.63).
    """
    keep = draft.quota[:]
    if draft.entitled is not draft.quota:
        tree = snapshot.rows.tree
        for row in range(len(keep)):
            if tree.first[row] < tree.end[row]:
                keep[row] = draft.entitled[row]
    scale_num, scale_den = snapshot.scale
    if snapshot.rows.entry.settings.disable_reclaim_own and scale_num < scale_den:
        for row, owned in enumerate(snapshot.rows.scaled.owned):
            keep[row] = max(keep[row], owned)
    return keep


def keep_spared(snapshot: Snapshot, have: Holdings) -> None:
    """Units on closed hosts, or too young ones, are not reclaimed for others; notices in force there stay."""
    books = snapshot.books
    if books.hosts.closed or snapshot.rows.spares_young:
        for leaf in snapshot.leaves_where_more(have.held, have.keep):
            spared = young(snapshot, leaf) | (stranded(books, leaf) if books.hosts.closed else set())
            have.keep[leaf] = max(have.keep[leaf], spared_units(books, spared))


def protect_rounded(snapshot: Snapshot, draft: CycleContext) -> array[int]:
    """Leaves above their quota that hold no more, at every level, than rounding could give them (R-PROTECT-1).

    Where all leaves share as one list (R-SHARE-9), or own exactly, only the leaf counts. The reason: a host that joins
    must not stop work of equal rank because of rounding alone. Every level moves the number by less than two units from
    what its parent's quota would give, and passes on at most the parent's move. A leaf that holds more than that above
    its quota is not protected.
    """
    rows, held, quota, need = snapshot.rows, draft.held, draft.quota, draft.needs.need
    within: dict[int, bool] = {0: True}

    def holds_no_more(row: int) -> bool:
        if row not in within:
            within[row] = held[row] <= need[row] and held[row] <= draft.most(row)
        return within[row]

    protected = zeros(len(rows))
    for leaf in snapshot.leaves_where_more(held, quota):
        if held[leaf] <= quota[leaf] + 2 * rows.depth:
            row = leaf
            while row > 0 and holds_no_more(row):
                row = 0 if rows.is_flat or rows.is_owner[row] else rows.tree.parent[row]
            protected[leaf] = int(row == 0)
    return protected
