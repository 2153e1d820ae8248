"""Grants idle slots: first set aside for reserves, then up to the quotas, then to leaves that still miss units."""

from __future__ import annotations

from array import array
from operator import add
from typing import TYPE_CHECKING

from fairhold.kernels.columns import zeros
from fairhold.kernels.distribute import grant, set_aside
from fairhold.rules.holding import Hold, collect, keep_for_gangs
from fairhold.rules.leftover import Trial, share_leftover
from fairhold.rules.placing import placement
from fairhold.rules.serving import serve_leaf

if TYPE_CHECKING:
    from fairhold.ledger.decision import Grant
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot


def set_reserves_aside(snapshot: Snapshot, draft: CycleContext) -> None:
    """Idle slots are kept for reserves, and only their subtree may be granted them (R-ASIDE-1, R-HOLD-1)."""
    collect(snapshot, draft)
    if any(draft.needs.reserve) or any(draft.kept):
        _set_aside(snapshot, draft)


def _set_aside(snapshot: Snapshot, draft: CycleContext) -> None:
    set_aside.run(
        snapshot.compiled,
        snapshot.rows.tree,
        snapshot.idle,
        draft.needs.reserve,
        snapshot.held,
        draft.kept,
        draft.inside,
        draft.own,
        snapshot.rows.bounded,
        snapshot.budget,
    )


def grant_idle_slots(snapshot: Snapshot, draft: CycleContext) -> None:
    """Hand out idle slots in two passes (R-GRANT-1, R-GRANT-2), then inside every leaf (R-GRANT-3, R-PLACE-1).

    Under `share_ratio` both passes are made up to the planned shares first (R-SHARE-8), and what fixed shares leave
    goes to who asked first (R-SHARE-7).

    A leaf can be granted more than its requests can use, if a gang needs more at once. Then it keeps as much as it
    used, and the passes are run again for the others. Leaves that were granted their maximum are handled together;
    otherwise only the first one, because what it leaves may be enough for the next. The same applies where a leaf that
    collects units for a gang has more set aside than it uses (R-HOLD-1).
    """
    if snapshot.idle == 0 or not _may_grant_any(snapshot, draft):
        keep_for_gangs(snapshot, draft, ())
        return
    wanted = snapshot.counted[:]
    most = draft.needs.need if is_fixed(snapshot) else draft.quota
    while True:
        trial = Trial(draft.held[:], draft.inside[:], draft.own[:])
        granted = _all_passes(snapshot, draft, wanted, trial)
        grants, stuck, holds = _serve(snapshot, draft, granted)
        if _keeps_less(snapshot, draft, grants, holds):
            continue
        if not stuck:
            break
        had_all = [leaf for leaf in stuck if granted[leaf] == _most(snapshot, draft, wanted, most, leaf)]
        for leaf in had_all or [*stuck][:1]:
            wanted[leaf] = draft.held[leaf] + stuck[leaf]
    draft.held, draft.inside, draft.own = trial
    draft.decision = draft.decision._replace(grants=tuple(grants))
    keep_for_gangs(snapshot, draft, holds)
    draft.idle = max(0, snapshot.slots - draft.held[0])


def _may_grant_any(snapshot: Snapshot, draft: CycleContext) -> bool:
    """Whether any leaf may hold more and could use it; if not, both passes grant nothing.

    No leaf is granted more than is idle, or than its quota leaves room for. A gang may need more than that to start.
    """
    if is_fixed(snapshot) or draft.collecting or draft.inside[0]:
        return True
    held, wanted, quota, idle, books = snapshot.held, snapshot.counted, draft.quota, snapshot.idle, snapshot.books
    lines = books.requests.lines
    return any(
        quota[leaf] > held[leaf] < wanted[leaf]
        and (leaf not in lines.of or lines.least(leaf) <= min(idle, quota[leaf] - held[leaf]))
        for leaf in (snapshot.rows.leaves if books.is_trial else lines.of)
    )


def is_fixed(snapshot: Snapshot) -> bool:
    """Whether planned shares are all that the quotas give (R-SHARE-7)."""
    return snapshot.rows.is_fixed


def _serve(
    snapshot: Snapshot, draft: CycleContext, granted: array[int]
) -> tuple[list[Grant], dict[int, int], list[Hold]]:
    """Serve the requests of every leaf; returns leaf → units taken, if fewer than it was granted, and what is held.

    Units held for a gang count as taken.
    """
    places = placement(snapshot.books)
    grants: list[Grant] = []
    stuck: dict[int, int] = {}
    holds: list[Hold] = []
    for leaf in snapshot.leaves_where_more(granted, zeros(len(granted))):
        hold = None
        if leaf in draft.collecting:
            hold = Hold(snapshot.books, draft.collecting[leaf], snapshot.now, draft.quota[leaf], places)
            holds.append(hold)
        served = serve_leaf(snapshot.books, leaf, granted[leaf], places, hold, draft.leaving)
        used = sum(grant.units for grant in served) + (hold.units if hold else 0)
        if used < granted[leaf]:
            stuck[leaf] = used
        grants.extend(served)
    return grants, stuck, holds


def _keeps_less(snapshot: Snapshot, draft: CycleContext, grants: list[Grant], holds: list[Hold]) -> bool:
    """Set less aside for leaves that collect, where they use less than is kept for them; whether any does."""
    used = dict.fromkeys((leaf for leaf in draft.collecting if draft.kept[leaf]), 0)
    for given in grants if used else ():
        leaf = snapshot.books.requests.leaf[given.request]
        if leaf in used:
            used[leaf] += given.units
    for hold in holds:
        if hold.leaf in used:
            used[hold.leaf] += hold.units
    fewer = {leaf: units for leaf, units in used.items() if units < draft.kept[leaf]}
    for leaf, units in fewer.items():
        draft.kept[leaf] = units
    if fewer:
        _set_aside(snapshot, draft)
    return bool(fewer)


def _most(snapshot: Snapshot, draft: CycleContext, wanted: array[int], most: array[int], leaf: int) -> int:
    """Units that a leaf could be handed at most, were it the only one."""
    reach, row = snapshot.idle - draft.inside[0], leaf
    if snapshot.rows.bounded[leaf]:
        reach = min(reach, _budget(snapshot, draft.inside))
    while row > 0:
        reach += draft.own[row]
        row = snapshot.rows.tree.parent[row]
    return min(most[leaf] - draft.held[leaf], wanted[leaf] - draft.held[leaf], reach)


def _budget(snapshot: Snapshot, inside: array[int]) -> int:
    """Idle slots that `hybrid` may have beside `ownership`, beyond what is set aside for it (R-MIX-3)."""
    rows = snapshot.rows
    if not rows.is_mixed:
        return 0
    return snapshot.budget - sum(inside[row] for row in rows.tree.children(0) if rows.bounded[row])


def _all_passes(snapshot: Snapshot, draft: CycleContext, wanted: array[int], trial: Trial) -> array[int]:
    """Units granted to every leaf; `trial` is brought up to date."""
    first = draft.quota if draft.planned is None else draft.entitled
    granted, common = _two_passes(snapshot, first, wanted, trial, snapshot.idle - draft.inside[0])
    if first is draft.quota:
        return granted
    if is_fixed(snapshot):
        share_leftover(snapshot, draft, wanted, trial, granted=granted, common=common)
        return granted
    more, _ = _two_passes(snapshot, draft.quota, wanted, trial, common)
    return array("q", map(add, granted, more))


def _two_passes(
    snapshot: Snapshot, bound: array[int], wanted: array[int], trial: Trial, common: int
) -> tuple[array[int], int]:
    """Units granted to every leaf in both passes, up to `bound`; and what stays idle and is not set aside."""
    rows = snapshot.rows
    granted, usable, near, handed = (zeros(len(rows)) for _ in range(4))
    common = grant.run(
        snapshot.compiled,
        rows.tree,
        common,
        bound,
        rows.plan.limit,
        wanted,
        trial.held,
        trial.inside,
        trial.own,
        granted,
        usable,
        near,
        handed,
        rows.bounded,
        _budget(snapshot, trial.inside),
    )
    return granted, common
