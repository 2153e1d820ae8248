"""Which requests of a leaf are served with the slots that it is handed (R-GRANT-3, R-USER-1)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.reference.situation import Wish
    from fairhold.reference.slots.placing import Places


def serve(places: Places, leaf: str, amount: int) -> int:
    """Place units of a leaf's requests; the slots that are left over.

    Turns decide how many units each request gets; then each places its units together, in the order of
    the first turns. On which hosts requests of one leaf stand is open where it makes no difference for others.
    """
    before, kept = len(places.units), places.kept.copy()
    left = count_out(places, leaf, amount)
    counts = Counter(unit.wish for unit in places.units[before:])
    del places.units[before:]
    places.kept = kept
    wishes = places.situation.wishes
    for name, units in counts.items():
        serve_one(places, wishes[name], units, units)
    return left


def count_out(places: Places, leaf: str, amount: int) -> int:
    """Turn by turn, on the hosts as they are then; the slots that are left over."""
    in_vain: set[str] = set()
    while amount:
        wish = next_request(places, leaf, in_vain)
        if wish is None:
            break
        step = max(1, wish.minimum - _held(places, wish))
        if step > amount or not serve_one(places, wish, step, amount):
            in_vain.add(wish.id)
        else:
            amount -= step
    return amount


def next_request(places: Places, leaf: str, in_vain: Iterable[str]) -> Wish | None:
    """Whose turn it is: by priority; within one, who holds the fewest slots of the leaf; then submitted, id."""
    situation = places.situation
    waiting = [
        wish
        for wish in situation.wishes_of(leaf)
        if _held(places, wish) < wish.count and wish.id not in in_vain and _room_of_user(places, wish) > 0
    ]
    in_turn = situation.consumers[leaf].entry.settings.within == "users"

    def key(wish: Wish) -> tuple[int, int, tuple[int, int, str]]:
        return -wish.priority, _held_by_user(places, wish) if in_turn else 0, wish.turn

    return min(waiting, key=key, default=None)


def serve_one(places: Places, wish: Wish, units: int, waits: int = 1) -> bool:
    """Place all of these units of a request, or none."""
    if units > _room_of_user(places, wish):
        return False
    before, kept = len(places.units), places.kept.copy()
    for number in range(units):
        together = units - number if wish.packs else 1
        host = _host_of_gang(places, wish) if wish.packs else None
        if host is None:
            host = places.best(wish, together, waits - number)
        elif places.idle(host, wish) < together:
            host = None
        if host is None:
            del places.units[before:]
            places.kept = kept
            return False
        places.place(wish, host)
    return True


def _host_of_gang(places: Places, wish: Wish) -> str | None:
    """The host on which a gang that packs stands."""
    return next((unit.host for unit in places.units if unit.wish == wish.id), None)


def _held(places: Places, wish: Wish) -> int:
    return sum(unit.wish == wish.id for unit in places.units)


def _held_by_user(places: Places, wish: Wish) -> int:
    wishes = places.situation.wishes
    return sum(unit.leaf == wish.leaf and wishes[unit.wish].user == wish.user for unit in places.units)


def _room_of_user(places: Places, wish: Wish) -> int:
    """R-USER-1: units that its user may still have."""
    if not wish.user:
        return UNLIMITED
    return places.situation.consumers[wish.leaf].user_limit - _held_by_user(places, wish)
