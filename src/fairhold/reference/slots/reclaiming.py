"""Which units are to go after a cycle: one leaf after another, gangs whole (R-VICTIM-1, R-NOTICE-1)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.reference.quotas import is_mixed
from fairhold.reference.slots.claiming import Claims
from fairhold.reference.slots.deficits import Deficits, deficits
from fairhold.reference.slots.dividing import divide
from fairhold.reference.slots.owners import give_exactly, lenders_take, loans_after
from fairhold.reference.slots.victims import choose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.reference.quotas.level import Entitlement
    from fairhold.reference.situation import Situation


class Reclaim:
    """All that decides what goes; `asked` works it out from the start each time.

    situation : after the grants
    aside     : path → slots set aside there
    waived    : leaf → what counts as not missed in this cycle
    """

    def __init__(
        self,
        situation: Situation,
        entitled: Entitlement,
        aside: Mapping[str, int],
        waived: Mapping[str, int],
        *,
        switched: Mapping[str, int] | None = None,
        claims: Claims | None = None,
    ) -> None:
        """Nothing is worked out yet.

        switched : leaf → units that a switch of windows takes at least
        claims   : what goes on which hosts (R-SITE-4)
        """
        self.claims = claims or Claims()
        self.situation, self.entitled, self.aside = situation, entitled, aside
        self.waived = Counter(waived) + self.claims.waived
        self.at_least = Counter(switched or {}) | Counter({leaf: self.claims.units(leaf) for leaf in self.claims.of})

    def asked(self, must: Mapping[str, int]) -> tuple[dict[str, int], Deficits]:
        """Leaf → units to go, those under notice included. must : leaf → at least, for its gangs."""
        situation, entitled, consumers = self.situation, self.entitled, self.situation.consumers
        must = Counter(must)
        found = deficits(situation, entitled, self.aside, must, self.waived)
        if not any(consumers[path].owns_exactly for path in consumers["/"].children):
            return divide(situation, entitled, found), found
        if not is_mixed(consumers):
            return give_exactly(situation, entitled, found), found
        plain = deficits(situation, entitled, self.aside, {}, self.waived)
        missing = {leaf: plain.missing[leaf] for leaf in consumers.leaves if consumers[leaf].owns_exactly}
        loans = Counter(loans_after(situation, entitled))
        gives, _ = lenders_take(situation, loans, missing, {leaf: plain.can[leaf] for leaf in consumers.leaves})
        both = Counter({leaf: max(gives[leaf], must[leaf]) for leaf in consumers.leaves})
        found = deficits(situation, entitled, self.aside, both, self.waived)
        return divide(situation, entitled, found), found

    def goes(self) -> tuple[list[int], Deficits]:
        """Places of all units that are to go, and the deficits that it rests on."""
        consumers = self.situation.consumers
        must = dict(self.at_least)
        asked, first = self.asked(must)
        in_any_case = {leaf for leaf in consumers.leaves if any(first.must[path] > 0 for path in consumers.above(leaf))}
        order = sorted(consumers.leaves, key=lambda leaf: leaf not in in_any_case)
        for leaf in order:
            units = choose(self.situation, leaf, asked[leaf], self.claims.of.get(leaf, ()))
            if len(units) > asked[leaf]:
                must[leaf] = len(units)
                asked, _ = self.asked(must)
        return self._spare_gangs(must), first

    def _spare_gangs(self, must: dict[str, int]) -> list[int]:
        """R-VICTIM-3: every leaf that gives a whole gang is asked again, with what others must give for theirs."""
        goes = self._places(must)
        again = True
        while again:
            again = False
            for leaf in [leaf for leaf in self.situation.consumers.leaves if must.get(leaf, 0) > 0]:
                trial = must | {leaf: self.at_least[leaf]}
                asked, _ = self.asked(trial)
                units = choose(self.situation, leaf, asked[leaf], self.claims.of.get(leaf, ()))
                trial[leaf] = len(units) if len(units) > asked[leaf] else trial[leaf]
                fewer = self._places(trial)
                if len(fewer) < len(goes):
                    must, goes, again = trial, fewer, True
        return goes

    def _places(self, must: Mapping[str, int]) -> list[int]:
        """Places of the units that go."""
        asked, _ = self.asked(must)
        leaves = self.situation.consumers.leaves
        return sorted(
            at for leaf in leaves for at in choose(self.situation, leaf, asked[leaf], self.claims.of.get(leaf, ()))
        )
