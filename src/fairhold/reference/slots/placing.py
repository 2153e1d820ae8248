"""On which host a unit goes (R-PLACE-1, R-PLACE-2, R-SITE-1, R-SITE-3, R-HOSTS-1)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.reference.situation import Unit

if TYPE_CHECKING:
    from fairhold.reference.situation import Situation, Wish


class Places:
    """Hosts as they fill up.

    units : what is held, with what has been placed
    kept  : (host, request) → idle slots that nobody else gets
    """

    def __init__(self, situation: Situation, kept: Counter[tuple[str, str]]) -> None:
        """As the situation is."""
        self.situation, self.kept = situation, Counter(kept)
        self.units = list(situation.units)
        self.room = situation.room
        self.packing = situation.consumers["/"].entry.settings.packing

    def idle(self, host: str, wish: Wish) -> int:
        """Slots of a host that a request may use."""
        if host in self.situation.away:
            return 0
        others = sum(count for (at, whose), count in self.kept.items() if at == host and whose != wish.id)
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

    def best(self, wish: Wish, together: int, waits: int) -> str | None:
        """The host for the next unit of a request.

        together : units that have to find room there at once
        waits    : units that its leaf is still to place, for empty hosts that they fill (R-HOSTS-1)
        """
        hosts = [host for host in self.situation.suitable(wish) if self.idle(host, wish) >= max(1, together)]
        return min(hosts, key=lambda host: self._order(host, wish, waits), default=None)

    def _order(self, host: str, wish: Wish, waits: int) -> tuple[object, ...]:
        mine = sum(unit.host == host and unit.wish == wish.id for unit in self.units)
        place = {"spread": mine, "pack": -mine}.get(wish.siting.place, 0)
        likes = wish.siting.liking(self.situation.labels[host])
        liking = not self.kept[host, wish.id], -likes  # what is kept for it comes first
        inventory = self.situation.hosts.index(host)
        used = sum(unit.host == host for unit in self.units)
        if self.packing == "balanced":
            return liking, place, Fraction(used, self.room[host]), inventory
        if self.packing != "exclusive":
            return liking, place, inventory
        of_leaf = sum(unit.host == host and unit.leaf == wish.leaf for unit in self.units)
        is_empty, is_filled = self.owner(host) == "", waits >= self.room[host]
        return is_empty, liking, place, -of_leaf, is_empty and not is_filled, inventory

    def place(self, wish: Wish, host: str) -> None:
        """One unit more; it stands on what is kept for it first."""
        self.units.append(Unit(wish.id, wish.leaf, host, self.situation.now))
        if self.kept[host, wish.id]:
            self.kept[host, wish.id] -= 1
