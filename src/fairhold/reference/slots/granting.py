"""What is granted: slots are handed out until everybody uses what it is handed (R-GRANT-3)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.reference.slots.handing import hand_out
from fairhold.reference.slots.placing import Places
from fairhold.reference.slots.serving import serve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.reference.quotas.level import Entitlement
    from fairhold.reference.situation import Situation
    from fairhold.reference.slots.handing import Handing


class Granted:
    """The outcome: who was handed what, and where units were placed.

    unused : leaf → slots that it was handed and cannot use
    """

    def __init__(self, handing: Handing, places: Places, unused: Counter[str]) -> None:
        """Of one round of handing out."""
        self.handing, self.places, self.unused = handing, places, unused


def kept_slots(situation: Situation, may_hold: Mapping[str, int], most: Mapping[str, int]) -> Counter[tuple[str, str]]:
    """(host, request) → idle slots that are kept for it, up to what its leaf may come to hold (R-HOLD-1).

    most : leaf → no more of what was kept
    """
    found: Counter[tuple[str, str]] = Counter()
    idle, left = dict(situation.idle), {leaf: min(may, most.get(leaf, may)) for leaf, may in may_hold.items()}
    for row in situation.state.held:
        wish = situation.wishes.get(row.request)
        if wish is None or row.host not in idle or row.host in situation.away:
            continue
        waits = wish.count - situation.held_by(wish.id) - sum(n for (_, whose), n in found.items() if whose == wish.id)
        units = max(0, min(row.units, idle[row.host], waits, left[wish.leaf]))
        found[row.host, wish.id] += units
        idle[row.host] -= units
        left[wish.leaf] -= units
    return +found


def grant(situation: Situation, entitled: Entitlement) -> Granted:
    """Idle slots are handed out again and again, each time with less to those who could not use all."""
    leaves = situation.consumers.leaves
    idle = sum(situation.idle.values())
    most: dict[str, int] = {}
    most_kept: dict[str, int] = {}
    ever = {leaf: max(0, min(entitled.quota[leaf], entitled.demand[leaf]) - situation.held[leaf]) for leaf in leaves}
    while True:
        kept = kept_slots(situation, ever, most_kept)
        of_leaf: Counter[str] = Counter()
        for (_, whose), units in kept.items():
            of_leaf[situation.wishes[whose].leaf] += units
        handing = hand_out(situation, entitled, idle, of_leaf, most)
        places = Places(situation, kept)
        unused = Counter({leaf: serve(places, leaf, handing.handed[leaf]) for leaf in leaves})
        used = {leaf: handing.handed[leaf] - unused[leaf] for leaf in leaves}
        short = [leaf for leaf in leaves if unused[leaf]]
        idle_kept = [leaf for leaf in leaves if of_leaf[leaf] > used[leaf]]
        if not short and not idle_kept:
            break
        full = [leaf for leaf in short if handing.handed[leaf] >= ever[leaf]]
        most |= {leaf: used[leaf] for leaf in full or short[:1]}
        most_kept |= {leaf: used[leaf] for leaf in idle_kept}
    return Granted(handing, places, Counter({leaf: max(0, ever[leaf] - most[leaf]) for leaf in most}))
