"""What a plan says of vectors that changes nothing, or hardly what was meant (SPEC §6.1, §6.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.vector import amount_text, decimal_text, part_of, steps_of
from fairhold.planio.reach import count_of
from fairhold.planio.report import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.model.plan import Plan
    from fairhold.model.vector import Owning, Resource
    from fairhold.planio.reach import Reach
    from fairhold.planio.report import Report


def check_overcommit(report: Report, plan: Plan) -> None:
    """Warn of an `overcommit` that makes nothing of any host, or less than what it has, or changes nothing."""
    hosts = [host.amounts for group in plan.resource_groups.values() for host in group.hosts if host.amounts]
    for at, resource in enumerate(plan.resources):
        has = {amounts[at] for amounts in hosts} - {0}
        if resource.overcommit == 1 or not has:
            continue
        most = max(int(each * resource.overcommit) for each in has)
        times = decimal_text(resource.overcommit) if 10**9 % resource.overcommit.denominator == 0 else "this"
        of = f"of `{shown(resource.name)}`"
        if not most:
            what, mend = f"{times} times what any host has {of} rounds down to nothing", "write 1 or more"
        elif resource.overcommit < 1:
            what = f"at most {times} times what a host has {of} is used; the rest stays idle"
            mend = "write 1 or more, or lower the amounts of the hosts to what may be used"
        elif all(int(each * resource.overcommit) == each for each in has):
            what = f"{times} times what a host has {of} rounds down to what it has"
            mend = "write more, or leave it out"
        else:
            continue
        report.warn("odd-overcommit", what, mend, ("resources", resource.name, "overcommit"))


def check_private_pools(report: Report, plan: Plan, at: int) -> None:
    """Refuse a `private_pool_grace` of a leaf, which has no private pool; warn where nothing is owned (SPEC §6.3)."""
    for row, stated in sorted(plan.policies[at].consumers.items()):
        if stated.private_pool_grace is None:
            continue
        path = plan.tree.paths[row]
        place = ("policies", at, "consumers", path, "private_pool_grace")
        if plan.tree.is_leaf(row):
            what = f"`{shown(path)}` is a leaf, and a leaf has no private pool"
            mend = "leave it out; to limit who borrows, write `lend_grace` in an entry of `own`"
            report.fault("no-private-pool", what, mend, place)
        elif not stated.own:
            what = f"`{shown(path)}` owns nothing, so it has no private pool"
            report.warn("private-pool-empty", what, "write `own` with what it owns, or leave this out", place)


def check_lend_graces(report: Report, plan: Plan, at: int) -> None:
    """Warn of a `lend_grace` on what a leaf reserves, which is lent to nobody (SPEC §6.1)."""
    for row, stated in sorted(plan.policies[at].consumers.items()):
        for number, own in enumerate(stated.own if plan.tree.is_leaf(row) else ()):
            if own.reserved and own.lend_grace is not None:
                place = ("policies", at, "consumers", plan.tree.paths[row], "own", number, "lend_grace")
                what = "what a leaf reserves is never lent, so nobody has to give it back"
                report.warn("no-effect", what, "leave it out, or leave `reserved` out", place)


def owns_nothing(own: Owning, reach: Reach, resources: Sequence[Resource], others: int) -> str:
    """Why an entry of `own` gives nothing of what its parent can have; empty where it gives something.

    others : whole hosts that other entries ask for
    """
    if own.percent is not None and count_of(own, reach.number) == 0:
        text = decimal_text(own.percent * 100)
        return f"{text}% of {reach.number} {'host' if reach.number == 1 else 'hosts'} is rounded down to none"
    if own.remaining and reach.number is not None and others >= reach.number:
        return f"nothing is left of {reach.number} {'host' if reach.number == 1 else 'hosts'}: other entries have all"
    for at, _ in own.per_host:
        has = [vector for vector, _ in reach.kinds if vector[at]]
        if not any(part_of(own, vector, steps_of(resources))[at] for vector in has):
            why = f", rounded down to the step of {amount_text(resources[at], resources[at].step)}" if has else ""
            return f"its part of `{shown(resources[at].name)}` is nothing on any host{why}"
    for at, units in own.total:
        step = resources[at].step
        if units < step and not any(0 < vector[at] <= units for vector, _ in reach.kinds):
            said, text = amount_text(resources[at], units), amount_text(resources[at], step)
            return f"{said} of `{shown(resources[at].name)}` is rounded down to nothing: the step is {text}"
    return ""
