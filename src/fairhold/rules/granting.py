"""Idle slots: set aside for reserves, granted up to the quotas, then to whoever misses some."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.kernels.columns import zeros
from fairhold.kernels.distribute import grant, set_aside
from fairhold.rules.serving import Placement, serve_leaf

if TYPE_CHECKING:
    from array import array

    from fairhold.ledger.decision import Grant
    from fairhold.ledger.draft import Draft
    from fairhold.ledger.snapshot import Snapshot


def set_reserves_aside(snapshot: Snapshot, draft: Draft) -> None:
    """Idle slots are kept for reserves, and only their subtree may be granted them (R-ASIDE-1)."""
    set_aside.run(
        snapshot.compiled,
        snapshot.rows.tree,
        snapshot.idle,
        draft.needs.reserve,
        snapshot.held,
        snapshot.kept,
        draft.inside,
        draft.own,
    )


def grant_idle_slots(snapshot: Snapshot, draft: Draft) -> None:
    """Hand out idle slots in two passes (R-GRANT-1, R-GRANT-2), then inside every leaf (R-GRANT-3, R-PLACE-1).

    A leaf can be handed more than its requests can use, as a gang needs more at once. Then it is handed so much as it
    used, and both passes are made again for the others: all such leaves in one go that were handed all that they could
    ever be, otherwise the first one, as what it leaves may be enough for the next.
    """
    if snapshot.idle == 0:
        return
    wanted = snapshot.demand[:]
    while True:
        trial = Trial(draft.held[:], draft.inside[:], draft.own[:])
        granted = _two_passes(snapshot, draft, wanted, trial)
        grants, stuck = _serve(snapshot, granted)
        if not stuck:
            break
        for leaf in [leaf for leaf in stuck if granted[leaf] == _most(snapshot, draft, wanted, leaf)] or [*stuck][:1]:
            wanted[leaf] = draft.held[leaf] + stuck[leaf]
    draft.held, draft.inside, draft.own = trial
    draft.idle = max(0, snapshot.slots - draft.held[0])
    draft.decision = draft.decision._replace(grants=tuple(grants))


def _serve(snapshot: Snapshot, granted: array[int]) -> tuple[list[Grant], dict[int, int]]:
    """What the requests of every leaf take, and leaf → units taken where these are fewer than it was handed."""
    placement = Placement(snapshot.books)
    grants: list[Grant] = []
    stuck: dict[int, int] = {}
    for leaf in snapshot.leaves_where_more(granted, zeros(len(granted))):
        served = serve_leaf(snapshot.books, leaf, granted[leaf], placement)
        used = sum(grant.units for grant in served)
        if used < granted[leaf]:
            stuck[leaf] = used
        grants.extend(served)
    return grants, stuck


def _most(snapshot: Snapshot, draft: Draft, wanted: array[int], leaf: int) -> int:
    """Units that a leaf could be handed at most, were it the only one."""
    reach, row = snapshot.idle - draft.inside[0], leaf
    while row > 0:
        reach += draft.own[row]
        row = snapshot.rows.tree.parent[row]
    return min(draft.quota[leaf] - draft.held[leaf], wanted[leaf] - draft.held[leaf], reach)


class Trial(NamedTuple):
    """Columns that the passes change: units held, and what is set aside in the subtree and for the row itself."""

    held: array[int]
    inside: array[int]
    own: array[int]


def _two_passes(snapshot: Snapshot, draft: Draft, wanted: array[int], trial: Trial) -> array[int]:
    """Units granted to every leaf; `trial` is brought up to date."""
    rows = snapshot.rows
    granted, usable, near, handed = (zeros(len(rows)) for _ in range(4))
    grant.run(
        snapshot.compiled,
        rows.tree,
        snapshot.idle - draft.inside[0],
        draft.quota,
        rows.plan.limit,
        wanted,
        trial.held,
        trial.inside,
        trial.own,
        granted,
        usable,
        near,
        handed,
    )
    return granted
