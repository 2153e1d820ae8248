"""Graces of a policy entry of vectors that keep resources idle (SPEC §6.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.plan import ConsumerSettings
from fairhold.model.tree import ROOT
from fairhold.planio.report import shown
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.errors import Place
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.planio.report import Report

_DEFAULT = ConsumerSettings()
_NOTHING = -1
"""Bound on what there is nothing of."""


def check_graces(report: Report, plan: Plan, at: int) -> None:
    """Warn of graces that keep resources idle; `at` is the position of the entry under `policies:`."""
    entry, tree = plan.policies[at], plan.tree
    for row, stated in sorted(entry.consumers.items()):
        bound = stated.private_pool_grace
        lent = [own for own in stated.own if not own.reserved]
        if bound is None or not tree.children[row] or not lent:
            continue
        longer = [own.lend_grace for own in lent if own.lend_grace is None or own.lend_grace > bound]
        if longer:
            path = shown(tree.paths[row])
            why = "it lends without a `lend_grace`" if None in longer else "this is below its `lend_grace`"
            what = f"consumers outside `{path}` may borrow what its children may not: {why}"
            mend = "write a `lend_grace` that is no longer, or leave this out"
            report.warn(
                "private-grace-short", what, mend, ("policies", at, "consumers", tree.paths[row], "private_pool_grace")
            )
    _warn_of_long_graces(report, plan, at)


def _warn_of_long_graces(report: Report, plan: Plan, at: int) -> None:
    """Warn of leaves whose grace is above every bound, once for each consumer that states it."""
    entry, tree = plan.policies[at], plan.tree
    longest = _longest_bounds(plan, entry)
    told: set[int] = set()
    for leaf in range(1, len(tree)):
        if not tree.is_leaf(leaf):
            continue
        by, grace = _grace(entry, plan, leaf)
        if by in told or grace <= longest[leaf] or longest[leaf] == _NOTHING:
            continue
        told.add(by)
        path = shown(tree.paths[leaf])
        what = f"`{path}` can never borrow: its `reclaim_grace` is longer than any lender or pool allows"
        stated_here = entry.consumers.get(by, _DEFAULT).grace is not None
        place: Place = ("policies", at, "consumers", tree.paths[by], "reclaim_grace")
        report.warn("never-borrows", what, "shorten it, or allow a longer one", place if stated_here else place[:3])


def _longest_bounds(plan: Plan, entry: PolicyEntry) -> list[int]:
    """Row → the longest bound on anything that is not its own, in microseconds; _NOTHING = there is nothing at all.

    A consumer above that owns has a private pool, whose own content is bound by its `private_pool_grace`. Beside it
    there is what other branches lend into the nearest pool: the bound of the outermost of them that owns it. Whoever
    owns is taken to own something that its children do not: which hosts that are is not known before the first cycle.
    """
    tree = plan.tree
    lent: list[int] = [_NOTHING] * len(tree)
    for row in range(len(tree) - 1, 0, -1):
        stated = entry.consumers.get(row, _DEFAULT)
        if stated.own:
            bounds = [_within(own.lend_grace) for own in stated.own if not own.reserved]
        else:
            bounds = [lent[child] for child in tree.children[row]]
        lent[row] = max(bounds, default=_NOTHING)
    found = [_NOTHING] * len(tree)
    found[ROOT] = _NOTHING if _is_all_owned(plan, entry) else _within(entry.settings.public_pool_grace)
    for row in range(len(tree)):  # parents come before their children
        stated = entry.consumers.get(row, _DEFAULT)
        mine = _within(stated.private_pool_grace) if row != ROOT and stated.own else _NOTHING
        first, second = _largest_two([lent[child] for child in tree.children[row]])
        for child in tree.children[row]:
            others = second if lent[child] == first else first
            found[child] = max(found[row], mine, others)
    return found


def _within(bound: int | None) -> int:
    """Microseconds, UNLIMITED where no bound is stated."""
    return UNLIMITED if bound is None else bound


def _largest_two(bounds: list[int]) -> Sequence[int]:
    """The largest and the second, which may be equal; what is not there is _NOTHING."""
    return sorted([*bounds, _NOTHING, _NOTHING], reverse=True)[:2]


def _is_all_owned(plan: Plan, entry: PolicyEntry) -> bool:
    """Whether first-level consumers own all hosts as a whole, so that nobody's parcels are nowhere."""
    own = [each for row in plan.tree.children[ROOT] for each in entry.consumers.get(row, _DEFAULT).own]
    for group in entry.resource_groups:
        there = len(plan.resource_groups[group].hosts)
        mine = [each for each in own if each.resource_group == group]
        whole = sum((each.hosts or 0) + len(each.names) + int((each.percent or 0) * there) for each in mine)
        if whole < there and not any(each.remaining for each in mine):
            return False
    return True


def _grace(entry: PolicyEntry, plan: Plan, leaf: int) -> tuple[int, int]:
    """The consumer that states the grace of a leaf, and the grace; the leaf and 0 where none does."""
    row = leaf
    while row != ROOT:
        stated = entry.consumers.get(row, _DEFAULT).grace
        grace = plan.tree.grace[row] if stated is None else stated
        if grace is not None:
            return row, grace
        row = plan.tree.parent[row]
    return leaf, 0
