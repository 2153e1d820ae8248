"""A gang that never fits counts for nothing (R-GANG-1)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.model.siting import ANYWHERE
from fairhold.reference.needs import counted, parts_of, shared_slots
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairhold.reference.quotas.level import Entitlement
    from fairhold.reference.situation import Situation, Wish

MOST_ALONE = 50
"""So many leaves are looked at one after another; then all that are left at once."""


def usable(situation: Situation, leaf: str, quota: int) -> int:
    """U(q): so many units of a quota the requests of a leaf could use, counted in two ways."""
    wishes = sorted(situation.wishes_of(leaf), key=lambda wish: wish.gangs_first)
    if all(wish.is_count for wish in wishes):
        return quota
    old = Counter(unit.wish for unit in situation.units if unit.started < situation.now)
    first = [(wish, old[wish.id], wish.minimum) for wish in wishes if 0 < wish.minimum <= old[wish.id]]
    every = [(wish, wish.count, wish.minimum) for wish in wishes]
    return max(_taken(situation, leaf, quota, every), _taken(situation, leaf, quota, [*first, *every]))


def _taken(situation: Situation, leaf: str, quota: int, steps: Iterable[tuple[Wish, int, int]]) -> int:
    """What requests take of a quota, step by step.

    steps : (request, how much of it at most after this step, its minimum)
    """
    together = counted(situation, leaf)
    room = {
        wish.user: max(situation.consumers[leaf].user_limit, _held_by_user(situation, wish)) if wish.user else UNLIMITED
        for wish in situation.wishes_of(leaf)
    }
    parts = parts_of(situation, leaf)
    has: Counter[str] = Counter()
    left = quota
    for wish, asked, least in steps:
        is_cut = parts[wish.id] < wish.minimum
        # R-SITE-2, R-USER-1: a gang that is cut counts for what it holds, and nobody for more than hosts can take.
        most = min(asked, situation.held_by(wish.id)) if is_cut else min(asked, _reach(situation, wish))
        more = min(most - has[wish.id], left, together[shared_slots(wish)], room[wish.user])
        if more <= 0 or has[wish.id] + more < (most if is_cut else least):
            continue
        has[wish.id] += more
        left -= more
        together[shared_slots(wish)] -= more
        room[wish.user] -= more
    return quota - left


def _reach(situation: Situation, wish: Wish) -> int:
    """Units that it holds elsewhere, and that its hosts could take."""
    if wish.siting == ANYWHERE:
        return UNLIMITED
    hosts = situation.suitable_up(wish)
    inside = sum(situation.held_by(wish.id, host) for host in hosts)
    return situation.held_by(wish.id) - inside + sum(situation.room[host] for host in hosts)


def _held_by_user(situation: Situation, wish: Wish) -> int:
    same = [each.id for each in situation.wishes_of(wish.leaf) if each.user == wish.user]
    return sum(situation.held_by(each) for each in same)


def divide_again(situation: Situation, divide: Callable[[dict[str, int]], Entitlement]) -> Entitlement:
    """Quotas at which no leaf has more than it could use.

    divide : leaf → the most units that count of its demand; who is left out counts in full
    """
    bounds: dict[str, int] = {}
    found = divide(bounds)

    def too_much(division: Entitlement) -> list[str]:
        return [
            leaf
            for leaf in reversed(situation.consumers.leaves)
            if _demanded(division, leaf) > usable(situation, leaf, division.quota[leaf])
        ]

    def _demanded(division: Entitlement, leaf: str) -> int:
        """Of a quota what its reserve does not idle for it."""
        return min(division.quota[leaf], division.demand[leaf])

    moved: list[str] = []
    while more := too_much(found):
        now = more[:1] if len(moved) < MOST_ALONE else more
        bounds |= {leaf: usable(situation, leaf, found.quota[leaf]) for leaf in now}
        moved += now
        found = divide(bounds)
    for leaf in [path for path in situation.consumers.leaves if path in moved[:MOST_ALONE]]:
        fewer = {path: most for path, most in bounds.items() if path != leaf}
        again = divide(fewer)
        if not too_much(again):
            bounds, found = fewer, again
    return found


def has_gangs_that_move(situation: Situation) -> bool:
    """Whether a gang waits for units, or got some at this instant."""
    return any(
        wish.is_gang
        and (
            situation.held_by(wish.id) < wish.count
            or any(unit.wish == wish.id and unit.started == situation.now for unit in situation.units)
        )
        for wish in situation.wishes.values()
    )
