"""Who gives where leaves own exactly (R-OWN-4, R-OWN-5, R-LEND-3, R-MIX-4)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.reference.quotas.owning import lenders_of
from fairhold.reference.slots.dividing import take_what_lacks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.reference.quotas.level import Entitlement
    from fairhold.reference.situation import Situation
    from fairhold.reference.slots.deficits import Deficits


def loans_of(situation: Situation) -> Counter[tuple[str, str]]:
    """(borrower, lender) → units, as the cycle before has left them."""
    paths = situation.consumers.plan.tree.paths
    return Counter(
        {
            (paths[loan.borrower], paths[loan.lender]): loan.units
            for loan in situation.state.borrowed
            if loan.resource_group == situation.group
        }
    )


def loans_after(situation: Situation, entitled: Entitlement) -> dict[tuple[str, str], int]:
    """R-LEND-4: what leaves hold above what they use of their own, the balance and their share, by lender.

    situation : after the grants
    """
    consumers, found = situation.consumers, Counter[tuple[str, str]]()
    before, lent = loans_of(situation), Counter[str]()
    leaves = [leaf for leaf in consumers.leaves if consumers[leaf].owns_exactly]
    rest = {}
    for leaf in leaves:
        borrowed = sum(units for (borrower, _), units in entitled.loans.items() if borrower == leaf)
        of_own = entitled.own[leaf] if consumers[leaf].only_borrows else consumers[leaf].owned  # R-BUDGET-3
        others = entitled.quota[leaf] - entitled.own[leaf] - borrowed
        rest[leaf] = max(0, situation.held[leaf] - of_own - others)

    def lend(leaf: str, lender: str, most: int) -> None:
        uses = entitled.own[lender] if consumers[lender].only_borrows else situation.held[lender]  # R-BUDGET-3
        left = consumers[lender].owned - uses - lent[lender]
        units = max(0, min(most, rest[leaf], left))
        found[leaf, lender] += units
        lent[lender] += units
        rest[leaf] -= units

    for leaf in leaves:
        asked = [lender for lender, _ in lenders_of(consumers, leaf)]
        for lender in [*asked, *(each for each in leaves if each not in asked)]:
            lend(leaf, lender, before[leaf, lender])
    for leaf in leaves:
        for lender, limit in lenders_of(consumers, leaf):
            lend(leaf, lender, limit - found[leaf, lender])
    return +found


def lenders_take(
    situation: Situation, loans: Counter[tuple[str, str]], missing: Mapping[str, int], excess: Mapping[str, int]
) -> tuple[Counter[str], Counter[str]]:
    """R-LEND-3: borrower → units that lenders take back; lender → units that it gets so.

    loans  : (borrower, lender) → units
    excess : leaf → what it can still give
    """
    order = situation.consumers.leaves
    gives: Counter[str] = Counter()
    gets: Counter[str] = Counter()
    for lender in order:
        for borrower in reversed(order):
            rooms = missing.get(lender, 0) - gets[lender], excess[borrower] - gives[borrower], loans[borrower, lender]
            units = max(0, min(rooms))
            gives[borrower] += units
            gets[lender] += units
    return gives, gets


def give_exactly(situation: Situation, entitled: Entitlement, found: Deficits) -> dict[str, int]:
    """R-OWN-4: leaf → units that are to go in a group of `ownership` alone, those under notice included."""
    leaves = situation.consumers.leaves
    must = _above_limits(situation, found)
    excess = {leaf: max(found.can[leaf], must[leaf]) for leaf in leaves}
    noticed = {leaf: sum(unit.leaf == leaf and unit.notice is not None for unit in situation.units) for leaf in leaves}
    given = {leaf: max(must[leaf], min(noticed[leaf], excess[leaf])) for leaf in leaves}
    wanted = sum(found.missing[leaf] for leaf in leaves) + found.lost
    for leaf in leaves:  # R-OWN-5: more are under notice than are missing
        less = max(0, min(sum(given.values()) - wanted, given[leaf] - must[leaf]))
        given[leaf] -= less
    left, supply = {}, sum(given.values())
    for leaf in leaves:
        left[leaf] = max(0, found.missing[leaf] - supply)
        supply = max(0, supply - found.missing[leaf])
    gives, gets = lenders_take(
        situation, loans_of(situation), left, {leaf: excess[leaf] - given[leaf] for leaf in leaves}
    )
    for leaf in leaves:
        given[leaf] += gives[leaf]
    rest = max(0, found.lost - supply) + sum(left.values()) - sum(gets.values())
    for leaf in reversed(leaves):
        units = max(0, min(rest, excess[leaf] - given[leaf]))
        given[leaf] += units
        rest -= units
    found.lack = {"/": rest}
    found.lost_lack = min(rest, found.lost_lack)
    take_what_lacks(situation, entitled, found, given)
    return given


def _above_limits(situation: Situation, found: Deficits) -> dict[str, int]:
    """Leaf → what goes because of limits; above that of a branch from the worst path inside."""
    consumers = situation.consumers
    must = {leaf: found.must[leaf] for leaf in consumers.leaves}
    for branch in consumers.deepest_first:
        inside = consumers.inside(branch)
        wanted = found.whole[branch] + found.missing[branch] - consumers[branch].limit  # R-RECLAIM-2
        over = wanted - sum(must[leaf] for leaf in inside)
        for leaf in reversed(inside):
            more = max(0, min(over, situation.held[leaf] - found.keep[leaf] - must[leaf]))
            must[leaf] += more
            over -= more
    return must
