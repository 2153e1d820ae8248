"""On which host a unit goes (R-PLACE-1, R-PLACE-2, R-SITE-1, R-SITE-3, R-HOSTS-1)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.reference.situation import Unit

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from fairhold.reference.situation import Situation, Wish

    Rows = Counter[tuple[str, str]]
    Mark = tuple[tuple[Unit, ...], Rows, Rows, Rows]


class Places:
    """Hosts as they fill up.

    units     : what is held, with what has been placed
    kept      : (host, request) → idle slots that nobody else gets
    told      : (host, request) → slots that were held for it before and that nobody has used: others use them last
    collected : (host, gang) → those that this cycle holds for a gang (R-HOLD-1)
    """

    def __init__(
        self, situation: Situation, kept: Counter[tuple[str, str]], leaving: Mapping[str, int] | None = None
    ) -> None:
        """As the situation is. leaving : gang → units of it that do not count for its minimum (R-SWITCH-1)."""
        self.situation, self.kept = situation, Counter(kept)
        self.leaving = Counter(leaving)
        self.units = list(situation.units)
        self.told: Counter[tuple[str, str]] = Counter()
        for row in situation.state.held:
            if row.request in situation.wishes and row.host not in situation.away:
                self.told[row.host, row.request] += row.units
        self.collected: Counter[tuple[str, str]] = Counter()
        self.room = situation.room
        self.packing = situation.consumers["/"].entry.settings.packing

    def marked(self) -> Mark:
        """What `back` returns to."""
        return tuple(self.units), self.kept.copy(), self.told.copy(), self.collected.copy()

    def back(self, mark: Mark) -> None:
        """Everything since a mark is undone."""
        self.units = list(mark[0])
        self.kept, self.told, self.collected = (of.copy() for of in mark[1:])

    def take_back(self, wish: Wish) -> None:
        """What has been placed of a request is placed nowhere."""
        self.units = [unit for unit in self.units if unit.wish != wish.id]

    def idle(self, host: str, wish: Wish, *, is_overdue: bool = False) -> int:
        """Slots of a host that a request may use; what is kept for others of its leaf does not stop an overdue gang."""
        if host in self.situation.away:
            return 0
        wishes = self.situation.wishes
        others = sum(
            count
            for (at, whose), count in (*self.kept.items(), *self.collected.items())
            if at == host and whose != wish.id and not (is_overdue and wishes[whose].leaf == wish.leaf)
        )
        left = self.room[host] - sum(unit.host == host for unit in self.units) - others
        if self.packing == "exclusive" and self.owner(host) not in ("", wish.leaf):
            return 0
        return max(0, left)

    def owner(self, host: str) -> str:
        """R-HOSTS-1: the leaf that holds most on a host, on a tie the first in path order; nobody's is empty."""
        there = Counter(unit.leaf for unit in self.units if unit.host == host)
        for at, whose in self.kept:
            if at == host and self.kept[at, whose]:
                there[self.situation.wishes[whose].leaf] += 0
        order = self.situation.consumers.leaves
        return max(there, key=lambda leaf: (there[leaf], -order.index(leaf)), default="")

    def best(
        self, wish: Wish, together: int, waits: int, *, among: Collection[str] = (), is_overdue: bool = False
    ) -> str | None:
        """The host for the next unit of a request.

        together : units that have to find room there at once
        waits    : units that its leaf is still to place, for empty hosts that they fill (R-HOSTS-1)
        among    : hosts of which it has to be one; empty = any
        """
        hosts = [host for host in self.situation.suitable(wish) if not among or host in among]
        fit = [host for host in hosts if self.idle(host, wish, is_overdue=is_overdue) >= max(1, together)]
        return min(fit, key=lambda host: self.order(host, wish, waits), default=None)

    def order(self, host: str, wish: Wish, waits: int) -> tuple[object, ...]:
        """Where a host comes among those that have room, the first is the smallest."""
        mine = sum(unit.host == host and unit.wish == wish.id for unit in self.units)
        place = {"spread": mine, "pack": -mine}.get(wish.siting.place, 0)
        likes = wish.siting.liking(self.situation.labels[host])
        inventory = self.situation.hosts.index(host)
        used = sum(unit.host == host for unit in self.units)
        told = sum(units for (at, _), units in self.told.items() if at == host)
        turn = 0 if self.told[host, wish.id] else 1 if used + told < self.room[host] else 2
        liking = turn, -likes
        if self.packing == "balanced":
            return liking, place, Fraction(used, self.room[host]), inventory
        if self.packing != "exclusive":
            return liking, place, inventory
        of_leaf = sum(unit.host == host and unit.leaf == wish.leaf for unit in self.units)
        is_empty, is_filled = self.owner(host) == "", waits >= self.room[host]
        return turn, is_empty, -likes, place, -of_leaf, is_empty and not is_filled, inventory

    def place(self, wish: Wish, host: str) -> None:
        """One unit more; it stands on what is kept for it first."""
        self.units.append(Unit(wish.id, wish.leaf, host, self.situation.now))
        self._uses(wish, host)

    def hold(self, gang: Wish, host: str) -> None:
        """One slot is held for a gang."""
        self.collected[host, gang.id] += 1
        self._uses(gang, host)

    def lend(self, gang: Wish, wish: Wish, host: str) -> None:
        """One unit more, on a slot that is held for a gang (R-HOLD-2)."""
        self.collected[host, gang.id] -= 1
        self.units.append(Unit(wish.id, wish.leaf, host, self.situation.now))

    def _uses(self, wish: Wish, host: str) -> None:
        """What is kept for it comes first; where nothing else is idle it uses what is kept for others of its leaf."""
        self.told[host, wish.id] -= self.told[host, wish.id] > 0
        if self.kept[host, wish.id]:
            self.kept[host, wish.id] -= 1
            return
        kept = [key for key, units in self.kept.items() if key[0] == host and units]
        taken = sum(self.kept[key] for key in kept) + sum(n for (at, _), n in self.collected.items() if at == host)
        if taken + sum(unit.host == host for unit in self.units) > self.room[host]:
            self.kept[next(key for key in kept if self.situation.wishes[key[1]].leaf == wish.leaf)] -= 1

    def idle_again(self, gang: Wish) -> None:
        """Nothing is kept for a gang any more."""
        self.kept = Counter({key: units for key, units in self.kept.items() if key[1] != gang.id})
