"""A whole cycle of vector plans where something is under notice or held before it (SPEC §6.2, §6.6, §8.1), slow."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from tests.oracles.coming import Coming, Notice, bound
from tests.oracles.giving import instant
from tests.oracles.parcels import add, less
from tests.oracles.taking import SecondSweep

if TYPE_CHECKING:
    from tests.oracles.parcels import Parcel, Unit, Vector, Wish

Json = dict[str, Any]
MOST = 20
"""Times that both sweeps are gone through at most."""


class WholeCycle(SecondSweep):
    """`told`: what is under notice when it begins, and goes later; `notices`: what is when it ends.

    No share limits.
    """

    is_released = False
    """Whether something was held that is idle again."""

    def __init__(self, plan: Json, state: Json, ownership: list[Json]) -> None:
        super().__init__(plan, state, ownership)
        self.notices, self.coming, self.placed = [], [], []
        self.spare: dict[tuple[Wish, Parcel], Vector] = {}
        """What is held of a parcel for a request beyond what its units on their way need, until that is looked at."""
        self.due: dict[Unit, int] = {}
        self.kept: list[tuple[Wish, str]] = []
        self.seen: dict[Wish, None] = {}
        for row in state.get("reclaims", []):
            seconds = round(instant(row["deadline"]) - instant(self.now))
            self.notices += [Notice(unit, self.wishes[row["for"]], seconds) for unit in self.meant(row, state)]
        over = [each for each in self.notices if each.seconds <= 0 and state.get("previous_cycle", "") < self.now]
        self.notices = [each for each in self.notices if each not in over]
        self.told = [*self.notices]
        for notice in over:
            notice.unit.wish.units.remove(notice.unit)
        self.read(state.get("held", []), [(each.taker, each.unit.host) for each in over])

    def meant(self, row: Json, state: Json) -> list[Unit]:
        """Units that a notice names: of one kind of allocation on a host."""
        taken = {each.unit for each in self.notices}
        free = [
            unit for unit in self.wishes[row["request"]].units[::-1] if unit.host == row["host"] and unit not in taken
        ]
        if len({unit.place for unit in free}) > 1:
            rows = state["allocations"]
            free.sort(key=lambda unit: kind_of(rows[unit.place]) != kind_of(row))
        return free[: row["units"]]

    def read(self, held: list[Json], freed: list[tuple[Wish, str]]) -> None:
        """Space that is held, some of it maybe under notice; of a request of which nothing is said all that fits."""
        said = {(self.wishes[row["request"]], row["host"]): row["units"] for row in held}
        self.kept = [*said, *freed]
        counted = {wish for wish, _ in said}
        places = dict.fromkeys([*said, *freed, *((each.taker, each.unit.host) for each in self.notices)])
        self.seen = dict.fromkeys(wish for wish, _ in places)
        ways = [
            (wish, host)
            for wish in self.seen
            for host in sorted((host for each, host in places if each is wish), key=partial(self.last_for, wish))
        ]
        for wish, host in ways:
            if wish in counted or (wish, host) in said:
                self.bring(wish, host, said.get((wish, host), 0))
        for wish, host in ways:
            if wish not in counted:
                self.bring(wish, host, wish.count)

    def last_for(self, wish: Wish, host: str) -> tuple[float, int]:
        """When the last of those goes who are to go for a request on a host, nobody first; then as they are listed."""
        mine = [
            (each.seconds, at) for at, each in enumerate(self.notices) if each.taker is wish and each.unit.host == host
        ]
        return max(mine, default=(-inf, 0))

    def bring(self, wish: Wish, host: str, most: int) -> None:
        """So many units are on their way to a host, as far as they fit."""
        for _ in range(min(most, self.wanted(wish))):
            before = [(each, each.books) for each in self.coming_to(wish, host)]
            self.coming.append(Coming(wish, host, {}))
            if not self.book_again(wish, host):
                self.coming.pop()
                for each, books in before:
                    each.books = books
                return

    # Both sweeps, until nothing moves

    def run(self) -> None:
        for _ in range(MOST):
            before = self.shown()
            self.fill_all()
            self.bring_more()
            self.take_all()
            self.withdraw()
            self.look_again()
            self.hold_again()
            self.bring_more()
            if self.shown() == before:
                return
        raise AssertionError("it does not end")

    def shown(self) -> object:
        comes = [(each.wish, each.host, each.books) for each in self.coming]
        return len(self.placed), [(each.unit, each.taker) for each in self.notices], comes

    def fill_all(self) -> None:
        """What is idle goes out; what is needless then is withdrawn, and what that leaves idle goes out, too."""
        before = -1
        while before != len(self.placed) or self.is_released:
            before, placed = len(self.placed), self.placed
            self.sweep()
            self.placed = placed + self.placed
            self.withdraw()

    def bring_more(self) -> None:
        """What is under notice and brings nothing may bring something by now."""
        for wish, host in dict.fromkeys((each.taker, each.unit.host) for each in self.notices):
            if not self.coming_to(wish, host):
                self.bring(wish, host, wish.count)

    def hold_again(self) -> None:
        """All is held where the next cycle will hold it."""
        self.seen |= dict.fromkeys(each.wish for each in self.coming)
        for wish in self.seen:
            come = [each for each in self.coming if each.wish is wish]
            for each in come:
                each.books = {}
        for wish in self.seen:
            for host in dict.fromkeys(each.host for each in self.coming if each.wish is wish):
                assert self.book_again(wish, host)

    # What is held is idle for its taker alone, and goes with what is placed on it

    def books_for(self, wish: Wish, pool: str, host: str) -> dict[Parcel, Vector] | None:
        parcels = self.usable(wish.leaf, pool, host)
        return self.booked(wish.unit, [(each, self.idle_or_held(wish, each)) for each in parcels])

    def idle_or_held(self, wish: Wish, parcel: Parcel) -> Vector:
        others = [self.held_for(other, parcel) for other in self.wishes.values() if other is not wish]
        return bound(less(self.idle(parcel), *others))

    def held_for(self, wish: Wish, parcel: Parcel) -> Vector:
        claimed = tuple(max(0, -each) for each in self.left_of(wish, parcel))
        return add(self.resources, claimed, self.spare.get((wish, parcel), (0,) * len(claimed)))

    def serve(self, wish: Wish, pool: str) -> bool:
        if self.waits_for_nothing(wish):
            return False
        coming, spare = [(each, each.books) for each in self.coming], dict(self.spare)
        count, held = len(wish.units), self.kept_before(wish)
        if super().serve(wish, pool):
            if self.kept_before(wish) != held:
                self.granted |= {*wish.units[count:]}
            return True
        self.coming, self.spare = [each for each, _ in coming], spare
        for each, books in coming:
            each.books = books
        return False

    def kept_before(self, wish: Wish) -> list[Vector]:
        """What is held for a request where the cycle before has left something for it, or it was freed just now."""
        hosts = [host for each, host in self.kept if each is wish]
        return [self.held_for(wish, parcel) for parcel in self.parcels if parcel.host in hosts]

    def put(self, wish: Wish, pool: str) -> bool:
        held = {parcel: self.held_for(wish, parcel) for parcel in self.parcels}
        if not super().put(wish, pool):
            return False
        self.use_held(wish, wish.units[-1], held)
        return True

    def use_held(self, wish: Wish, unit: Unit, held: dict[Parcel, Vector]) -> None:
        """A unit stands on what was held for it first: fewer are on their way there, if the rest is not enough."""
        come, level = self.coming_to(wish, unit.host), self.goes_to(wish, unit.host)
        if not come:
            return
        left = {}
        for parcel in self.on(unit.host):
            nothing = (0,) * len(self.resources)
            left[parcel] = bound(less(held[parcel], unit.books.get(parcel, nothing)))
        self.coming = [each for each in self.coming if each not in come]
        for parcel in left:
            self.spare.pop((wish, parcel), None)
        for _ in come:
            ready = {parcel: bound(self.left_of(wish, parcel)) for parcel in self.reach(wish, unit.host, level)}
            books = self.booked_twice(wish.unit, ready, left)
            if books is None:
                break
            for parcel in books:
                more = bound(less(books[parcel], ready.get(parcel, (0,) * len(self.resources))))
                left[parcel] = less(left[parcel], more)
            self.coming.append(Coming(wish, unit.host, books))
        self.spare |= {(wish, parcel): some for parcel, some in left.items() if any(some)}

    # What is needless

    def withdraw(self) -> None:
        """Notices that bring nothing which their takers still wait for, then what stands ready for nobody."""
        self.seen |= dict.fromkeys([*(each.wish for each in self.coming), *(each.taker for each in self.notices)])
        held = self.all_held()
        self.spare.clear()
        for wish in self.seen:
            self.withdraw_of(wish)
            needs = max(0, (wish.least if len(wish.units) < wish.least else wish.count) - len(wish.units))
            if self.waits_for_nothing(wish):
                needs = 0
            hosts = list(dict.fromkeys(each.host for each in self.coming if each.wish is wish))[::-1]
            for host in sorted(
                hosts, key=lambda host: any((each.taker, each.unit.host) == (wish, host) for each in self.notices)
            ):
                while self.coming_to(wish, host) and sum(each.wish is wish for each in self.coming) > needs:
                    self.coming.remove(self.coming_to(wish, host)[-1])
                    self.book_again(wish, host)
        self.is_released = any(have < some for have, some in zip(self.all_held(), held, strict=True))

    def withdraw_of(self, wish: Wish) -> None:
        needs = max(0, (wish.least if len(wish.units) < wish.least else wish.count) - len(wish.units))
        if self.waits_for_nothing(wish):
            needs = 0
        done: set[Unit] = set()
        for notice in sorted((each for each in self.notices if each.taker is wish), key=self.latest, reverse=True):
            if notice.unit in done or notice not in self.notices:
                continue
            mine = self.together(notice)
            units = [each.unit for each in mine]
            done.update(units)
            fewer = {host: self.comes_without(wish, host, units) for host in {unit.host for unit in units}}
            total = sum(each.wish is wish for each in self.coming)
            others = sum(each.wish is wish and each.host not in fewer for each in self.coming)
            if self.stays_in_part(units) or others + sum(fewer.values()) < min(needs, total):
                continue
            self.notices = [each for each in self.notices if each not in mine]
            self.due |= {each.unit: each.seconds for each in mine if each in self.told}
            for host, left in fewer.items():
                for each in self.coming_to(wish, host)[left:]:
                    self.coming.remove(each)
                self.book_again(wish, host)

    def all_held(self) -> list[int]:
        return [
            some for parcel in self.parcels for wish in self.wishes.values() for some in self.held_for(wish, parcel)
        ]


def kind_of(row: Json) -> Json:
    """What is the same of units of one allocation and of notices for some of them."""
    return {key: row.get(key) for key in ("started", "pool", "stands_on")} | {"lenders": sorted(row.get("lenders", {}))}
