"""Which requests of a leaf are served with the slots that it is handed (R-GRANT-3, R-USER-1)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.model.siting import ANYWHERE
from fairhold.reference.slots.holding import collect, is_overdue, lend, may_start_at
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.reference.situation import Wish
    from fairhold.reference.slots.placing import Places


def serve(places: Places, leaf: str, amount: int, quota: int) -> int:
    """Place units of a leaf's requests; the slots that are left over.

    Turns decide how many units each request gets; then each places its units together, in the order of
    the first turns. On which hosts requests of one leaf stand is open where it makes no difference for others. Where
    hosts are given whole, or requests name labels, every turn places its own.
    """
    before, wishes = places.marked(), places.situation.wishes
    turns = Turns(places, leaf, quota)
    left = turns.count_out(amount)
    if places.packing != "exclusive" and all(wish.siting == ANYWHERE for wish in wishes.values()):
        places.back(before)
        for name, units in turns.given.items():
            if turns.gang is not None and name == turns.gang.id:
                collect(places, turns.gang, units)
            else:
                serve_one(places, wishes[name], units, units, is_overdue=turns.is_overdue(wishes[name]))
    if turns.gang is not None:
        turns.lend_held(turns.gang)
    return left


class Turns:
    """Who of a leaf is served, turn by turn.

    given : request → units, in the order of the first turns; what the gang collects, too
    gang  : the overdue gang that collects
    in_vain : requests that have been asked and could not be served
    """

    def __init__(self, places: Places, leaf: str, quota: int) -> None:
        """Nobody has been served."""
        self.places, self.leaf, self.quota, self.situation = places, leaf, quota, places.situation
        self.given: Counter[str] = Counter()
        self.gang: Wish | None = None
        self.in_vain: set[str] = set()
        self.in_turn = self.situation.consumers[leaf].entry.settings.within == "users"

    def is_overdue(self, wish: Wish) -> bool:
        """Whether a gang waits too long (R-HOLD-1)."""
        return is_overdue(self.situation, wish, self.quota)

    def count_out(self, amount: int) -> int:
        """Turn by turn, on the hosts as they are then; the slots that are left over."""
        while amount:
            wish = self._next()
            if wish is None:
                break
            step, overdue = self._step(wish), self.is_overdue(wish)
            may_use = amount if overdue else amount - self._kept_for_others(wish)
            if step <= may_use and self._serve(wish, step, amount, is_overdue=overdue):
                amount -= step
                self.given[wish.id] += step
                continue
            self.in_vain.add(wish.id)
            if overdue and self.gang is None:
                self.gang = wish
                self.given[wish.id] = collect(self.places, wish, amount)
                amount -= self.given[wish.id]
        return amount

    def _step(self, wish: Wish) -> int:
        """Units of one turn: a gang gets all that it misses to its minimum at once."""
        return max(1, wish.minimum - _held(self.places, wish) + self.places.leaving[wish.id])

    def _serve(self, wish: Wish, step: int, amount: int, *, is_overdue: bool) -> bool:
        """One step; a gang that packs looks for a host for all that it gets in this cycle (R-SITE-3)."""
        amount = min(amount, wish.count - _held(self.places, wish)) if self._is_alone(wish) else step
        if serve_one(self.places, wish, step, amount, is_overdue=is_overdue):
            return True
        before = self.places.marked()
        if not wish.packs or not self.given[wish.id] or self.situation.held_by(wish.id):
            return False
        self.places.take_back(wish)
        if serve_one(self.places, wish, self.given[wish.id] + step, amount, is_overdue=is_overdue):
            return True
        self.places.back(before)
        return False

    def _kept_for_others(self, wish: Wish) -> int:
        """Slots of the leaf that are kept for other requests; an overdue gang takes what is left at its turn."""
        wishes = self.situation.wishes
        others = {whose for _, whose in self.places.kept if whose != wish.id and wishes[whose].leaf == wish.leaf}
        blocked = {whose for whose in others if not self.is_overdue(wishes[whose])}
        return sum(units for (_, whose), units in self.places.kept.items() if whose in blocked)

    def _waiting(self) -> list[Wish]:
        return [
            wish
            for wish in self.situation.wishes_of(self.leaf)
            if _held(self.places, wish) < wish.count and wish.id not in self.in_vain and self._room_of_user(wish) > 0
        ]

    def _is_alone(self, wish: Wish) -> bool:
        """Whether no other user waits whose turn could be next."""
        others = (each for each in self._waiting() if each.priority == wish.priority and each.user != wish.user)
        return self.is_overdue(wish) or not self.in_turn or not any(others)

    def _next(self) -> Wish | None:
        """Whose turn it is: by priority, overdue gangs first; who holds the fewest of the leaf; then submitted, id."""

        def key(wish: Wish) -> tuple[int, bool, int, tuple[int, int, str]]:
            if self.is_overdue(wish):
                return -wish.priority, False, 0, wish.turn
            return -wish.priority, True, _held_by_user(self.places, wish) if self.in_turn else 0, wish.turn

        return min(self._waiting(), key=key, default=None)

    def _room_of_user(self, wish: Wish) -> int:
        """R-USER-1; what a gang that collects needs counts as if it were granted."""
        room = _room_of_user(self.places, wish)
        if wish.user and self.gang is not None and self.gang.user == wish.user and self.gang.id != wish.id:
            room -= self.gang.minimum - _held(self.places, self.gang)
        return room

    def lend_held(self, gang: Wish) -> None:
        """R-HOLD-2: requests that end before the gang can start use what is held."""
        at = may_start_at(self.places, gang, self.quota)
        self.in_vain = {gang.id}
        while at is not None and (wish := self._next()):
            step = self._step(wish)
            is_short = wish.time_limit and self.situation.now + wish.time_limit <= at
            if not is_short or step > self._room_of_user(wish) or not lend(self.places, gang, wish, step):
                self.in_vain.add(wish.id)


def serve_one(places: Places, wish: Wish, units: int, waits: int = 1, *, is_overdue: bool = False) -> bool:
    """Place all of these units of a request, or none."""
    if units > _room_of_user(places, wish):
        return False
    before = places.marked()
    for number in range(units):
        together = units - number if wish.packs else 1
        stands = {unit.host for unit in places.units if unit.wish == wish.id} if wish.packs else set()
        host = places.best(wish, together, waits - number, among=stands, is_overdue=is_overdue)
        if host is None:
            places.back(before)
            return False
        places.place(wish, host)
    return True


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
