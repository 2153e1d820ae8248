"""When a leaf reclaims what it misses: a dead zone, and a wait for natural ends (SPEC §8; R-CONTROL-2, R-CONTROL-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.decision import Shortage

if TYPE_CHECKING:
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot


def await_ends(snapshot: Snapshot, draft: CycleContext) -> None:
    """Leaves that miss few units, or have not missed them for long, do not reclaim in this cycle.

    Their missing units then count as held, for them and their ancestors. Once a leaf reclaims, it does so until it
    misses none.
    """
    rows, before = snapshot.rows, snapshot.books.shortages
    if not (before or any(entry.settings.dead_zone or entry.settings.await_ends for entry in rows.entries)):
        return
    found: dict[int, Shortage] = {}
    entitled = draft.entitled[:]
    for leaf in rows.leaves:
        settings = rows.settings(leaf)
        missing = draft.entitled[leaf] - draft.held[leaf] - draft.inside[leaf]
        if missing <= 0 or not (settings.dead_zone or settings.await_ends):
            continue
        since, is_taking = before.get(leaf, (snapshot.now, False))
        ripe = since + settings.await_ends
        is_large = missing > settings.dead_zone
        is_taking = is_taking or (is_large and ripe <= snapshot.now)
        found[leaf] = Shortage(since, is_taking)
        if is_taking:
            continue
        if is_large:
            draft.decision = draft.decision.not_after(ripe)
        entitled[leaf] -= missing
        row = leaf
        while row >= 0:
            draft.waived[row] += missing
            row = rows.tree.parent[row]
    draft.entitled = entitled
    if found != before:
        draft.decision = draft.decision._replace(shortages=found)
