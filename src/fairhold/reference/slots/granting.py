"""What is granted: slots are handed out until everybody uses what it is handed (R-GRANT-3)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.reference.slots.handing import alone, hand_out
from fairhold.reference.slots.holding import is_overdue
from fairhold.reference.slots.placing import Places
from fairhold.reference.slots.serving import serve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.reference.quotas.level import Entitlement
    from fairhold.reference.situation import Situation
    from fairhold.reference.slots.handing import Handing


class Granted:
    """The outcome: who was handed what, and where units were placed.

    is_open : whether something is kept for who is no overdue gang, or more than its leaf may come to hold: who of
        the leaf uses it, and who gets the hosts of the rest, is not said
    """

    def __init__(self, handing: Handing, places: Places, *, is_open: bool) -> None:
        """Of one round of handing out."""
        self.handing, self.places, self.is_open = handing, places, is_open


def kept_slots(situation: Situation, may_hold: Mapping[str, int], most: Mapping[str, int]) -> Counter[tuple[str, str]]:
    """(host, request) → idle slots that are kept for it, up to what its leaf may come to hold (R-HOLD-1).

    may_hold : of leaves with an overdue gang; for others nothing is kept
    most     : leaf → no more of what was kept
    """
    found: Counter[tuple[str, str]] = Counter()
    idle, left = dict(situation.idle), {leaf: min(may, most.get(leaf, may)) for leaf, may in may_hold.items()}
    for row in situation.state.held:
        wish = situation.wishes.get(row.request)
        if wish is None or wish.leaf not in left or row.host not in idle or row.host in situation.away:
            continue
        waits = wish.count - situation.held_by(wish.id) - sum(n for (_, whose), n in found.items() if whose == wish.id)
        units = max(0, min(row.units, idle[row.host], waits, left[wish.leaf]))
        found[row.host, wish.id] += units
        idle[row.host] -= units
        left[wish.leaf] -= units
    return +found


def grant(situation: Situation, entitled: Entitlement, leaving: Mapping[str, int]) -> Granted:
    """Idle slots are handed out again and again, each time with less to those who could not use all.

    leaving : gang → units of it that leave for a switch of windows (R-SWITCH-1)
    """
    leaves = situation.consumers.leaves
    idle = sum(situation.idle.values())
    most: dict[str, int] = {}
    most_kept: dict[str, int] = {}
    ever = {leaf: max(0, min(entitled.quota[leaf], entitled.demand[leaf]) - situation.held[leaf]) for leaf in leaves}
    waits = {wish.leaf for wish in situation.wishes.values() if is_overdue(situation, wish, entitled.quota[wish.leaf])}
    while True:
        kept = kept_slots(situation, {leaf: ever[leaf] for leaf in waits}, most_kept)
        of_leaf: Counter[str] = Counter()
        for (_, whose), units in kept.items():
            of_leaf[situation.wishes[whose].leaf] += units
        handing = hand_out(situation, entitled, idle, of_leaf, most)
        places = Places(situation, kept, leaving)
        unused = Counter({leaf: serve(places, leaf, handing.handed[leaf], entitled.quota[leaf]) for leaf in leaves})
        used = {leaf: handing.handed[leaf] - unused[leaf] for leaf in leaves}
        short = [leaf for leaf in leaves if unused[leaf]]
        in_vain = {
            leaf: sum(n for (_, whose), n in places.kept.items() if situation.wishes[whose].leaf == leaf)
            for leaf in leaves
        }
        in_use = {leaf: min(used[leaf], of_leaf[leaf] - in_vain[leaf]) for leaf in leaves}
        idle_kept = [leaf for leaf in leaves if of_leaf[leaf] > in_use[leaf]]
        if not short and not idle_kept:
            break
        if idle_kept:  # the leaf's others may use what is not kept any more
            most_kept |= {leaf: in_use[leaf] for leaf in idle_kept}
            continue
        full = [
            leaf for leaf in short if handing.handed[leaf] >= alone(situation, entitled, of_leaf, leaf, most.get(leaf))
        ]
        most |= {leaf: used[leaf] for leaf in full or short[:1]}
    for (_, whose), units in places.collected.items():  # R-HOLD-1: what is held is the leaf's own
        leaf = situation.wishes[whose].leaf
        handing.aside[leaf] += units
    return Granted(handing, places, is_open=_is_open(situation, entitled, sum(kept.values())))


def _is_open(situation: Situation, entitled: Entitlement, kept: int) -> bool:
    rows = [row for row in situation.state.held if row.request in situation.wishes]
    wishes = [situation.wishes[row.request] for row in rows]
    stated = sum(min(row.units, situation.idle.get(row.host, 0)) for row in rows)
    return stated > kept or not all(is_overdue(situation, wish, entitled.quota[wish.leaf]) for wish in wishes)
