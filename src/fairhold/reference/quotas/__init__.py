"""What everybody in a group of slots is entitled to now.

`entitled` is what the policies give for the demand; `entitled_in` is what holds of a situation: gangs that never fit
and whole hosts are looked at, too.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from fairhold.reference.needs import demand_of, needs, reserves
from fairhold.reference.quotas.gangs import divide_again, has_gangs_that_move
from fairhold.reference.quotas.hybrid import divide_by_owned
from fairhold.reference.quotas.level import Entitlement
from fairhold.reference.quotas.owning import divide_owned
from fairhold.reference.quotas.ratio import divide_by_ratio
from fairhold.reference.quotas.whole_hosts import fit_to_hosts
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.reference.consumers import Consumers
    from fairhold.reference.situation import Situation


def owned_now(consumers: Consumers, slots: int, *, with_budgets: bool = True) -> dict[str, Fraction]:
    """R-SCALE-1, R-MIX-2: path → what it owns now, exact; what is owned exactly does not scale.

    with_budgets : whose budget is used up owns what R-BUDGET-3 says, else what it always owns
    """
    top = [consumers[path] for path in consumers["/"].children]
    exact = sum(each.always_owned for each in top if each.owns_exactly)
    stated = consumers.plan.resource_groups[consumers.group].configured_slots
    configured = sum(each.always_owned for each in top) if stated is None else stated
    rest = configured - exact
    scale = Fraction(max(0, slots - exact), rest) if rest else Fraction(0)
    owned = {path: each.owned if with_budgets else each.always_owned for path, each in consumers.by_path.items()}
    return {path: Fraction(units) if consumers[path].owns_exactly else units * scale for path, units in owned.items()}


def is_mixed(consumers: Consumers) -> bool:
    """R-MIX-1: whether some of its consumers own exactly and others share."""
    return len({consumers[path].owns_exactly for path in consumers["/"].children}) > 1


def of_owners(consumers: Consumers) -> int:
    """X of R-MIX-2: what first-level consumers of `ownership` own."""
    return sum(consumers[path].always_owned for path in consumers["/"].children if consumers[path].owns_exactly)


def entitled(
    consumers: Consumers, slots: int, demand: Mapping[str, int], most: Mapping[str, int] | None = None
) -> Entitlement:
    """Quotas by the policies in force.

    demand : leaf → units
    most   : leaf → slots that it may need at most, whatever it reserves (R-HOSTS-2)
    """
    division = consumers["/"].entry.policy.division
    if division is not None:  # of a policy of another package, which brings its own
        own: Entitlement = division.recompute(consumers, slots, demand)
        return own
    scale = owned_now(consumers, slots)
    reserve = reserves(consumers, {path: floor(each) for path, each in scale.items()})
    found = Entitlement(demand, needs(consumers, demand, reserve, most or {}), reserve, scale)
    policy = consumers["/"].entry.policy
    if policy.divides_by_ratio:
        divide_by_ratio(consumers, slots, found)
    else:
        exact = of_owners(consumers)
        if any(consumers[path].owns_exactly for path in consumers["/"].children):
            if is_mixed(consumers):
                divide_owned(consumers, min(slots, exact), found, unowned=0)
            else:
                divide_owned(consumers, slots, found, unowned=max(0, slots - exact))
        divide_by_owned(consumers, max(0, slots - exact), found)
    found.quota["/"] = sum(found.quota[path] for path in consumers["/"].children)
    return found


def entitled_in(situation: Situation) -> Entitlement:
    """What holds of a situation: gangs that never fit (R-GANG-1) and whole hosts (R-HOSTS-2) are looked at."""
    consumers = situation.consumers
    settings = consumers["/"].entry.settings
    full = {leaf: demand_of(situation, leaf) for leaf in consumers.leaves}

    is_fixed = consumers["/"].entry.policy.divides_by_ratio and settings.entitlement == "fixed"

    def divide(bounds: Mapping[str, int], most: Mapping[str, int]) -> Entitlement:
        if is_fixed:
            return _at_most(consumers, entitled(consumers, situation.slots, full, most), bounds)
        demand = {leaf: min(full[leaf], bounds.get(leaf, UNLIMITED)) for leaf in full}
        return entitled(consumers, situation.slots, demand, most)

    def without_vain_gangs(most: Mapping[str, int]) -> Entitlement:
        if not has_gangs_that_move(situation):
            return divide({}, most)
        return divide_again(situation, lambda bounds: divide(bounds, most))

    return fit_to_hosts(situation, without_vain_gangs) if settings.packing == "exclusive" else without_vain_gangs({})


def _at_most(consumers: Consumers, found: Entitlement, bounds: Mapping[str, int]) -> Entitlement:
    """With fixed shares a leaf that could use less has a smaller quota; nobody else's changes."""
    for path in consumers.upward:
        children = consumers[path].children
        below = sum(found.quota[child] for child in children)
        found.quota[path] = below if children else min(found.quota[path], bounds.get(path, UNLIMITED))
    return found
