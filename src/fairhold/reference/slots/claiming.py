"""What requests that name labels, or need one host, claim of other leaves on their hosts (R-SITE-4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairhold.reference.ages import kept_places
from fairhold.reference.needs import parts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.reference.situation import Situation, Wish
    from fairhold.reference.slots.deficits import Deficits

Claim = tuple[frozenset[str], int]
"""Hosts, and units that have to go there."""


@dataclass
class Claims:
    """What is claimed.

    of     : leaf → its claims, in the order of their takers
    waived : leaf → units that count as not missed, as nothing can be claimed for them
    """

    of: dict[str, list[Claim]] = field(default_factory=dict)
    waived: Counter[str] = field(default_factory=Counter)

    def units(self, leaf: str) -> int:
        """All that is claimed of a leaf."""
        return sum(number for _, number in self.of.get(leaf, ()))


def claims_of(situation: Situation, found: Deficits) -> Claims:
    """Claims of all leaves, in path order. found : with all that is missed and not waived already."""
    claiming = _Claiming(situation, found)
    for leaf in situation.consumers.leaves:
        claiming.serve(leaf, found.missing[leaf])
    return claiming.claims


class _Claiming:
    """What is claimed so far. taken : (leaf, host) → claimed there."""

    def __init__(self, situation: Situation, found: Deficits) -> None:
        self.situation, self.found, self.claims = situation, found, Claims()
        self.taken: Counter[tuple[str, str]] = Counter()
        self.from_outside: Counter[str] = Counter()
        self.idle = dict(situation.idle)

    def serve(self, leaf: str, missing: int) -> None:
        """What the leaf misses beyond what is served anywhere is claimed, request by request."""
        parts = parts_of(self.situation, leaf)
        waits = {wish.id: parts[wish.id] - self.situation.held_by(wish.id) for wish in self.situation.wishes_of(leaf)}
        bound = [wish for wish in self.situation.wishes_of(leaf) if wish.is_bound]
        anywhere = sum(max(0, more) for name, more in waits.items() if name not in {wish.id for wish in bound})
        rest = min(max(0, missing - anywhere), sum(max(0, waits[wish.id]) for wish in bound))  # else for its reserve
        for wish in bound:
            rest -= self._claim(wish, min(waits[wish.id], rest))
        if rest:
            self.claims.waived[leaf] = rest

    def _claim(self, wish: Wish, units: int) -> int:
        """Units claimed for a request, at most so many."""
        packing = self.situation.consumers[wish.leaf].entry.settings.packing
        if units <= 0 or packing == "exclusive":
            return 0
        hosts = self.situation.suitable_up(wish)
        if not wish.packs:
            return self._claim_on(wish, hosts, units)
        stands = [host for host in hosts if self.situation.held_by(wish.id, host)]
        return next((given for host in stands or hosts if (given := self._claim_on(wish, [host], units))), 0)

    def _claim_on(self, wish: Wish, hosts: Sequence[str], units: int) -> int:
        """From the worst path first; for a gang only if it can run then."""
        parts: dict[str, int] = {}
        for giver in reversed(self.situation.consumers.leaves):
            if giver == wish.leaf:
                continue
            room = self._room(wish.leaf, giver, parts)
            number = min(units - sum(parts.values()), self._can_give(giver, hosts), room)
            if number > 0:
                parts[giver] = number
        total = sum(parts.values())
        least = wish.minimum - self.situation.held_by(wish.id)
        if not total or units < least or least - total > sum(self.idle[host] for host in hosts):
            return 0
        self._use_idle(hosts, least - total)
        for giver, number in parts.items():
            self.claims.of.setdefault(giver, []).append((frozenset(hosts), number))
            for branch in self._outside(wish.leaf, giver):
                self.from_outside[branch] += number
        return total

    def _use_idle(self, hosts: Sequence[str], units: int) -> None:
        """What a gang needs of what is idle is not there for the next one."""
        for host in hosts:
            used = max(0, min(units, self.idle[host]))
            self.idle[host] -= used
            units -= used

    def _outside(self, taker: str, giver: str) -> list[str]:
        """Consumers above a taker that a giver is not below."""
        above = self.situation.consumers.above(giver)
        return [path for path in self.situation.consumers.above(taker) if path not in above]

    def _room(self, taker: str, giver: str, parts: Mapping[str, int]) -> int:
        """Units that a taker may have of a giver within the limits above it."""
        rooms = []
        for path in self._outside(taker, giver):
            now = sum(number for other, number in parts.items() if path in self._outside(taker, other))
            used = self.found.whole[path] + self.from_outside[path] + now
            rooms.append(self.situation.consumers[path].limit - used)
        return min(rooms)

    def _can_give(self, leaf: str, hosts: Sequence[str]) -> int:
        """What it can give in all and has not been claimed, as far as it stands on these hosts."""
        situation = self.situation
        mine = {at: unit for at, unit in enumerate(situation.units) if unit.leaf == leaf}
        give = max(self.found.must[leaf], len(mine) - self.found.keep[leaf])
        kept = kept_places(situation, leaf)
        there = [at for at, unit in mine.items() if unit.host in hosts]
        late = min(sum(at in kept for at in there), max(0, give - sum(at not in kept for at in mine)))
        free = sum(at not in kept for at in there) + late - self._claimed_on(leaf, hosts)
        return max(0, min(give - self.claims.units(leaf), free))

    def _claimed_on(self, leaf: str, hosts: Sequence[str]) -> int:
        """At most so much of other claims has to stand on these hosts."""
        found = 0
        for others, number in self.claims.of.get(leaf, ()):
            elsewhere = sum(
                unit.leaf == leaf and unit.host in others and unit.host not in hosts for unit in self.situation.units
            )
            found += max(0, number - elsewhere)
        return found
