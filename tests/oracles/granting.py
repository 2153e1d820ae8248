"""Slow twin of the hand-out of idle slots: of leaves that cannot use what they are handed, one gives way at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.columns import zeros
from fairhold.rules.granting import _all_passes
from fairhold.rules.leftover import Trial
from fairhold.rules.placing import placement
from fairhold.rules.serving import serve_leaf

if TYPE_CHECKING:
    from fairhold.ledger.decision import Grant
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot


def grant_one_by_one(snapshot: Snapshot, draft: CycleContext) -> list[Grant]:
    """Both passes, again for every single leaf that is stuck; `draft` as it is after the reserves are set aside."""
    wanted = snapshot.demand[:]
    while snapshot.idle:
        granted = _all_passes(snapshot, draft, wanted, Trial(draft.held[:], draft.inside[:], draft.own[:]))
        places = placement(snapshot.books)
        grants: list[Grant] = []
        for leaf in snapshot.leaves_where_more(granted, zeros(len(granted))):
            served = serve_leaf(snapshot.books, leaf, granted[leaf], places)
            used = sum(grant.units for grant in served)
            if used < granted[leaf]:
                wanted[leaf] = draft.held[leaf] + used
                break
            grants.extend(served)
        else:
            return grants
    return []
