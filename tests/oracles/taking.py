"""The second sweep of vector plans: who takes from whom (SPEC §6.2, §6.6), slow."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tests.oracles.coming import Coming, Notice
from tests.oracles.giving import Giving
from tests.oracles.parcels import OWN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.oracles.giving import Take
    from tests.oracles.parcels import Unit, Wish

Json = dict[str, Any]


class SecondSweep(Giving):
    """Begins where nothing is under notice.

    `granted` : units placed on what was held for them, or by an earlier cycle of this instant: nobody takes them in
    this cycle (R-SERVE-3)
    """

    is_in_vain = False
    """Whether something was to go that the first sweep had placed: it is not placed then (R-SWEEP-3)."""

    def __init__(self, plan: Json, state: Json, ownership: list[Json]) -> None:
        super().__init__(plan, state, ownership)
        is_again = state.get("previous_cycle") == self.now
        self.granted = {unit for unit in self.units() if is_again and unit.started == self.now}

    def reclaim(self) -> None:
        """All levels until nobody takes anything; then what is needless is withdrawn, and all of it again."""
        self.notices: list[Notice] = []
        self.coming: list[Coming] = []
        before: list[Notice] | None = None
        while before != self.notices:
            before = [*self.notices]
            self.take_all()
            self.withdraw()
            self.look_again()

    def take_all(self) -> None:
        """Owners, private pools from below, the public pool; again, until nobody takes anything."""
        before = -1
        while before != len(self.notices):
            before = len(self.notices)
            for leaf in sorted(self.leaves(), key=self.place):
                while self.take_for(leaf, OWN):
                    pass
            for pool in self.pools():
                self.retaking = True
                self.in_turns(pool)
                self.retaking = False
                self.quota = self.quotas(pool)
                self.in_turns(pool)
                self.quota = {}

    def in_turns(self, pool: str) -> None:
        """After every take all that wait are asked again."""
        open_: list[str] = []
        while True:
            open_ = open_ or [leaf for leaf in self.leaves(pool) if self.takes_part(leaf, pool) and self.waits(leaf)]
            leaf = self.turn(pool, open_, self.moved)
            if not leaf:
                return
            if self.take_for(leaf, pool):
                open_ = []
            else:
                open_.remove(leaf)
                if not open_:
                    return

    def waits(self, leaf: str) -> bool:
        return any(self.wanted(wish) for wish in self.wishes_of(leaf))

    def is_fair(self, wish: Wish, pool: str, take: Take) -> bool:
        """After the take, of equal priority, no giver has less than the taker, by ratio; ratio 0 has too much.

        The unit counts in the pool; so it must be, too, where all that is on its way to the host counts elsewhere.
        """
        noticed, coming = len(self.notices), len(self.coming)
        more = self.part(1, wish, pool)
        mine = [unit for unit in take.victims if unit.pool == pool]
        counted = [self.moved(self.siblings(wish, unit)[0], pool, take.victims) + more for unit in mine]
        self.give_notice(wish, pool, take, 1)
        found = all(self.has_as_much(wish, unit, then) for unit, then in zip(mine, counted, strict=True))
        del self.notices[noticed:], self.coming[coming:]
        return found

    def has_as_much(self, wish: Wish, unit: Unit, then: Fraction) -> bool:
        """Whether who gave has no less than who took, or than that will have then, by ratio."""
        taker, giver, *_ = self.siblings(wish, unit)
        if self.priority(taker) > self.priority(giver) or not self.ratio(giver):
            return True
        mine = max(then, self.moved(taker, unit.pool)) / self.ratio(taker)
        return self.moved(giver, unit.pool) / self.ratio(giver) >= mine

    def keeps_limits(self, wish: Wish, pool: str, take: Take) -> bool:
        """Whether no share limit is broken when the victims are gone and one unit comes."""
        noticed, coming = len(self.notices), len(self.coming)
        self.give_notice(wish, pool, take, 1)
        found = len(self.coming) > coming
        del self.notices[noticed:], self.coming[coming:]
        return found

    def take_for(self, leaf: str, pool: str) -> bool:
        """One unit of the first request that may take it, on the best part; all that a gang misses of its minimum."""
        return any(
            self.take_gang(wish, pool) if len(wish.units) < wish.least else self.take_one(wish, pool)
            for wish in self.wishes_of(leaf)
            if self.wanted(wish)
        )

    def take_one(self, wish: Wish, pool: str) -> bool:
        found = [take for take in self.takes(wish, pool, self.hosts) if take.victims]
        found = [take for take in found if not self.quota or self.is_fair(wish, pool, take)]
        best = self.best([take for take in found if self.keeps_limits(wish, pool, take)])
        if best is None or not self.granted.isdisjoint(best.victims):
            return False
        self.is_in_vain |= any(unit in self.placed for unit in best.victims)
        self.give_notice(wish, pool, best, self.waiting(wish))
        self.bring_elsewhere(wish, best)
        return True

    def take_gang(self, wish: Wish, pool: str) -> bool:
        """All or nothing, unit by unit; what is idle is held for it; compared when all is taken."""
        if self.wanted(wish) > 1:
            return bool(self.take_whole(wish, pool, self.hosts))
        hosts = dict(self.hosts)
        while hosts:
            found = self.take_whole(wish, pool, hosts)
            if found is not False:
                return bool(found)
            best = self.best(self.takes(wish, pool, hosts))
            if best is None:
                return False
            del hosts[best.host]
        return False

    def take_whole(self, wish: Wish, pool: str, hosts: Iterable[str]) -> bool | None:
        """All that a gang misses, or nothing; None = it would be right, but what was just granted would go."""
        before = [*self.notices], [*self.coming]
        found: bool | None = False
        done: list[Take] = []
        for _ in range(self.wanted(wish)):
            best = self.best(self.takes(wish, pool, hosts))
            if best is None:
                break
            done.append(best)
            self.give_notice(wish, pool, best, 1, is_gang=True)
        else:
            victims = [unit for take in done for unit in take.victims]
            there = [unit for unit in victims if unit.pool == pool] if self.quota else []
            if self.is_within_limits(wish) and all(self.has_as_much(wish, unit, Fraction(0)) for unit in there):
                if self.granted.isdisjoint(victims):
                    self.is_in_vain |= any(unit in self.placed for unit in victims)
                    for take in done:
                        self.bring_elsewhere(wish, take)
                    return True
                found = None
        self.notices, self.coming = before
        return found

    def give_notice(self, wish: Wish, pool: str, take: Take, most: int, *, is_gang: bool = False) -> None:
        """The victims go; what they free and what is idle brings as many units as fit, of a gang one (limits later)."""
        for unit in take.victims:
            bounds = [most for parcel in unit.books for most in self.bounds(parcel, unit.wish.leaf, unit.pool)]
            due = [self.due[unit]] if unit in self.due else []
            self.notices.append(Notice(unit, wish, min([self.grace(unit.wish.leaf), *bounds, *due])))
        most += len(self.coming)
        while len(self.coming) < most and (books := self.stands_on(wish, pool, take.host, [], more=True)) is not None:
            if not is_gang and not self.has_room_under_limits(wish, books, take.host):
                return
            self.coming.append(Coming(wish, take.host, books))

    def bring_elsewhere(self, wish: Wish, take: Take) -> None:
        """What a gang that stops whole frees on other hosts brings units, too."""
        for host in dict.fromkeys(unit.host for unit in take.victims if unit.host != take.host):
            while self.wanted(wish):
                before = [(each, each.books) for each in self.coming_to(wish, host)]
                self.coming.append(Coming(wish, host, {}))
                if not self.book_again(wish, host) or not self.is_within_limits(wish):
                    self.coming.pop()
                    for each, books in before:
                        each.books = books
                    break
