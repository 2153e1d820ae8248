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
        for lender in leaves:
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
    given, excess = _in_any_case(situation, found)
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


def _in_any_case(situation: Situation, found: Deficits) -> tuple[dict[str, int], dict[str, int]]:
    """Leaf → what goes in any case: what is under notice (R-OWN-5), and what is above limits; and what it could give.

    Above the limit of a branch units go from the worst path inside. Of notices that are more than is missing as many
    are withdrawn, in path order, as limits allow.
    """
    consumers, leaves = situation.consumers, situation.consumers.leaves
    noticed = Counter(unit.leaf for unit in situation.units if unit.notice is not None)
    above = {leaf: max(0, situation.held[leaf] - found.keep[leaf]) for leaf in leaves}
    given = {leaf: max(found.must[leaf], min(noticed[leaf], above[leaf])) for leaf in leaves}
    excess = {leaf: max(given[leaf], 0 if leaf in found.protected else above[leaf]) for leaf in leaves}

    def goes(path: str) -> int:
        return sum(given[leaf] for leaf in consumers.inside(path))

    least = {leaf: found.must[leaf] for leaf in leaves}
    for branch in consumers.deepest_first:
        over = found.whole[branch] + found.missing[branch] - consumers[branch].limit  # R-RECLAIM-2
        for leaf in reversed(consumers.inside(branch)):
            given[leaf] += max(0, min(over - goes(branch), excess[leaf] - given[leaf]))
        least[branch] = min(over, goes(branch))
    wanted = sum(found.missing[leaf] for leaf in leaves) + found.lost
    for leaf in leaves:
        rooms = [goes(path) - least[path] for path in consumers.above(leaf)]
        given[leaf] -= max(0, min(goes("/") - wanted, *rooms))
    return given, excess
