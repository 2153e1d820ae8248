"""The first sweep of vector plans, unit by unit (SPEC §6.2, §6.5), slow."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tests.oracles.measuring import Pools
from tests.oracles.parcels import OWN, Unit, add

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracles.parcels import Parcel, Wish


class FirstSweep(Pools):
    """Idle resource goes out; what is placed stands in `placed`, in its order."""

    placed: list[Unit]
    is_lent = False
    """Whether what leaves own and leave idle has been lent up: private pools and the public one have it."""

    def usable(self, leaf: str, pool: str, host: str) -> list[Parcel]:
        found = super().usable(leaf, pool, host)
        return [each for each in found if pool != OWN or not self.is_lent or self.own(leaf).get("reserved")]

    def sweep(self) -> None:
        """Idle resource goes out until nothing does any more: a gang may have got its minimum."""
        self.placed, before = [], -1
        while before != len(self.placed):
            before = len(self.placed)
            self.fill_levels()
            self.is_lent, left = True, -1
            while left != len(self.placed):
                left = len(self.placed)
                self.fill_levels()
            self.is_lent = False

    def fill_levels(self) -> None:
        """Own parcels, private pools from below, the public pool."""
        for leaf in sorted(self.leaves(), key=self.place):
            while self.give(leaf, OWN):
                pass
        for pool in self.pools():
            self.filled = pool
            self.fill(pool)
        self.filled = ""

    def fill(self, pool: str) -> None:
        """All that is idle in a pool."""
        open_ = [leaf for leaf in self.leaves(pool) if self.takes_part(leaf, pool)]
        while leaf := self.turn(pool, open_):
            if not self.give(leaf, pool):
                open_.remove(leaf)

    def turn(self, pool: str, open_: list[str], usage: Callable[[str, str], Fraction] | None = None) -> str:
        """The leaf whose turn it is: best priority, smallest usage / ratio, plan order, from the pool's owner down."""
        path = pool
        while open_ and path not in open_:
            band = [each for each in self.children(path) if any(self.is_below(leaf, each) for leaf in open_)]
            best = max(self.priority(each) for each in band)
            band = [each for each in band if self.priority(each) == best]
            path = min(band, key=lambda each: (usage or self.usage)(each, pool) / self.ratio(each))
        return path if open_ else ""

    def give(self, leaf: str, pool: str) -> bool:
        """One unit of the first request of a leaf that fits, or all that a gang misses."""
        return any(self.serve(wish, pool) for wish in self.wishes_of(leaf) if len(wish.units) < wish.count)

    def serve(self, wish: Wish, pool: str) -> bool:
        held, placed = len(wish.units), len(self.placed)
        for _ in range(max(1, wish.least - held)):
            if not self.put_on_leftover(wish, pool) and not self.put(wish, pool):
                del wish.units[held:], self.placed[placed:]
                return False
        return True

    def put_on_leftover(self, wish: Wish, pool: str) -> bool:
        """What a gang's leaf has left of its own and lent up comes first, and counts as own."""
        mine = [each for each in self.parcels if each.owner == wish.leaf]
        if not wish.least or pool == OWN or not all(self.has(pool, each) for each in mine):
            return False
        is_lent, self.is_lent = self.is_lent, False
        found = self.put(wish, OWN)
        self.is_lent = is_lent
        return found

    def put(self, wish: Wish, pool: str) -> bool:
        """One unit on the host that the packing says."""
        fits = [host for host in self.hosts if self.books_for(wish, pool, host) is not None]
        if not fits or (pool != OWN and not self.limit_allows(wish)):
            return False
        host = min(fits, key=self.load) if self.settings.get("packing") == "balanced" else fits[0]
        books = self.books_for(wish, pool, host)
        assert books is not None
        wish.units.append(Unit(wish, host, pool, books))
        self.placed.append(wish.units[-1])
        return True

    def load(self, host: str) -> Fraction:
        used = add(self.resources, *(unit.wish.unit for unit in self.units() if unit.host == host))
        return max(Fraction(some, all_) for some, all_ in zip(used, self.hosts[host], strict=True) if all_)
