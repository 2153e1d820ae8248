"""What is true of every cycle of a slot policy, whatever the plan and the state (SPEC §10).

Each truth is a function that yields what breaks it. They count again from the tables of the books and from the
decision, and trust no column that the rules have computed on the way, but for quotas and needs, which they judge.
Tests run `check` after every cycle; in production it runs on demand (`fairhold cycle --check`), before the decision is
applied to the books.
"""

from __future__ import annotations

from copy import deepcopy
from math import floor
from typing import TYPE_CHECKING

from fairhold.cycle.misplaced import misplaced
from fairhold.cycle.owners import OF_OWNERS
from fairhold.cycle.run import quotas, run
from fairhold.cycle.violation import Violation
from fairhold.kernels.columns import zeros
from fairhold.ledger.decision import apply
from fairhold.rules.granting import is_fixed

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterable, Iterator

    from fairhold.cycle.run import CycleResult
    from fairhold.kernels.columns import TreeColumns
    from fairhold.ledger.books import Books

    Truth = Callable[[CycleResult], Iterator[Violation]]


def check(result: CycleResult) -> tuple[Violation, ...]:
    """Everything that is untrue of one cycle; empty as it should be."""
    broken = tuple(violation for truth in TRUTHS for violation in truth(result))
    return broken or tuple(a_second_cycle_changes_nothing(result))


def books_after(result: CycleResult) -> Books:
    """A copy of the books with the decision applied."""
    books = copy_books(result.snapshot.books)
    apply(books, result.decision, result.snapshot.now)
    return books


def copy_books(books: Books) -> Books:
    """A copy that shares only the plan's side."""
    return deepcopy(books, {id(books.rows): books.rows})


def sums_are_those_of_the_tables(books: Books) -> Iterator[Violation]:
    """The sums that every transition keeps up to date are what a recount of the tables gives."""
    name = "sums_are_those_of_the_tables"
    requests, allocations, notices, keeps = books.requests, books.allocations, books.notices, books.keeps
    demand, held, noticed, kept = (zeros(len(books.rows)) for _ in range(4))
    used, kept_on = zeros(len(books.hosts.name)), zeros(len(books.hosts.name))
    for leaf, mine in books.requests.by_leaf.items():
        for request in mine:
            holds = gives = 0
            for allocation in allocations.by_request.get(request, ()):
                under = sum(notices.units[notice] for notice in notices.by_allocation.get(allocation, ()))
                units = allocations.units[allocation]
                if not (under == allocations.noticed[allocation] <= units and units > 0):
                    text = f"an allocation of {units} has {under} under notice, says {allocations.noticed[allocation]}"
                    yield Violation(name, books.rows.path(leaf), text)
                used[allocations.host[allocation]] += units
                holds += units
                gives += under
            if (holds, gives, leaf) != (requests.held[request], requests.noticed[request], requests.leaf[request]):
                said = (requests.held[request], requests.noticed[request])
                yield Violation(name, books.rows.path(leaf), f"a request holds {holds, gives}, says {said}")
            demand[leaf] += requests.count[request]
            held[leaf] += holds
            noticed[leaf] += gives
    for row in (row for row in keeps.live if books.hosts.up[keeps.host[row]]):
        kept[requests.leaf[keeps.request[row]]] += keeps.units[row]
        kept_on[keeps.host[row]] += keeps.units[row]
    for column, counted in (("demand", demand), ("held", held), ("noticed", noticed), ("kept", kept)):
        for row, units in enumerate(counted):
            if units != getattr(books, column)[row]:
                text = f"{column} is {getattr(books, column)[row]}, the tables say {units}"
                yield Violation(name, books.rows.path(row), text)
    for host, counts in enumerate(zip(used, kept_on, strict=True)):
        if counts != (books.hosts.used[host], books.hosts.kept[host]):
            text = f"used and kept are {books.hosts.used[host], books.hosts.kept[host]}, the tables say {counts}"
            yield Violation(name, books.hosts.name[host], text)


def units_are_conserved(result: CycleResult) -> Iterator[Violation]:
    """Nothing comes from nowhere: grants come from idle units, notices are on units held."""
    name = "units_are_conserved"
    snapshot, books = result.snapshot, result.snapshot.books
    yield from sums_are_those_of_the_tables(books)
    granted = sum(_granted(result))
    if granted > snapshot.idle:
        yield Violation(name, "", f"{granted} granted of {snapshot.idle} idle")
    moved = (*(grant.units for grant in result.decision.grants), *(notice.units for notice in result.decision.notices))
    if min(moved, default=1) <= 0:
        yield Violation(name, "", "a step moves nothing")
    if result.draft.idle != snapshot.idle - granted:
        yield Violation(name, "", f"{result.draft.idle} idle after {granted} of {snapshot.idle} were granted")
    given: dict[int, int] = {}
    for notice in result.decision.notices:
        given[notice.allocation] = given.get(notice.allocation, 0) + notice.units
    for withdrawal in result.decision.withdrawals:
        allocation = books.notices.allocation[withdrawal.notice]
        if not 0 < withdrawal.units <= books.notices.units[withdrawal.notice]:
            yield Violation(name, "", f"{withdrawal} of {books.notices.units[withdrawal.notice]} under notice")
        given[allocation] = given.get(allocation, 0) - withdrawal.units
    for allocation, units in given.items():
        under = books.allocations.noticed[allocation] + units
        if not 0 <= under <= books.allocations.units[allocation]:
            text = f"{under} of {books.allocations.units[allocation]} units are under notice"
            yield Violation(name, books.rows.path(books.requests.leaf[books.allocations.request[allocation]]), text)


def hosts_hold_what_they_have(result: CycleResult) -> Iterator[Violation]:
    """Units are granted only on hosts that are up, in slots that are idle."""
    hosts = result.snapshot.books.hosts
    granted: dict[int, int] = {}
    for grant in result.decision.grants:
        granted[grant.host] = granted.get(grant.host, 0) + grant.units
    for host, units in granted.items():
        if not hosts.up[host] or hosts.used[host] + units > hosts.slots[host]:
            text = f"{hosts.used[host]} + {units} of {hosts.slots[host]} slots, up: {hosts.up[host]}"
            yield Violation("hosts_hold_what_they_have", hosts.name[host], text)


def units_stand_where_they_may(result: CycleResult) -> Iterator[Violation]:
    """Whole hosts go to one consumer, labels are kept to, and who packs stays together."""
    for where, text in misplaced(result):
        yield Violation("units_stand_where_they_may", where, text)


def children_sum_to_their_parent(result: CycleResult) -> Iterator[Violation]:
    """Children sum to their parent's quota, or to their needs where that is less; not where they own exactly."""
    tree, quota, need = result.snapshot.rows.tree, result.draft.quota, result.draft.needs.need
    is_owner = result.snapshot.rows.is_owner
    for row in range(len(quota)):
        below = [child for child in tree.children(row) if not is_owner[child]]
        if not below:
            continue
        whole = result.snapshot.slots if is_shared(result) else result.snapshot.scale[0]
        amount = quota[row] if row or is_fixed(result.snapshot) else whole
        total, wanted = sum(quota[child] for child in below), sum(need[child] for child in below)
        if total != min(amount, wanted):
            text = f"children have {total} of {amount}, need {wanted}"
            yield Violation("children_sum_to_their_parent", result.snapshot.rows.path(row), text)


def quota_is_between_reserve_and_need(result: CycleResult) -> Iterator[Violation]:
    """Reserve now ≤ quota ≤ need ≤ limit; and no more is reserved than owned now.

    Who owns exactly has no scaled reserve: with too few slots its quota is below it.
    """
    rows, needs, quota = result.snapshot.rows, result.draft.needs, result.draft.quota
    for row in range(1, len(rows)):
        least = 0 if rows.is_owner[row] else needs.reserve[row]
        chain = (least, quota[row], needs.need[row], rows.plan.limit[row])
        if list(chain) != sorted(chain):
            text = "reserve {}, quota {}, need {}, limit {}".format(*chain)
            yield Violation("quota_is_between_reserve_and_need", rows.path(row), text)


def owned_is_sure(result: CycleResult) -> Iterator[Violation]:
    """A leaf's quota is at least min(need, owned, whole slots owned now)."""
    rows, quota, need = result.snapshot.rows, result.draft.quota, result.draft.needs.need
    slots, configured = result.snapshot.scale
    for leaf in rows.leaves:
        if rows.is_owner[leaf]:
            continue
        owned = rows.plan.owned[leaf]
        sure = min(need[leaf], owned, owned * slots // configured if configured else 0)
        if quota[leaf] < sure:
            yield Violation("owned_is_sure", rows.path(leaf), f"quota {quota[leaf]}, sure of {sure}")


def equal_siblings_differ_by_one(result: CycleResult) -> Iterator[Violation]:
    """Siblings of equal settings, reserve and need differ by one unit at most, the better placed having more.

    A policy of another package may divide otherwise.
    """
    rows, needs, quota = result.snapshot.rows, result.draft.needs, result.draft.quota
    plan, tree = rows.plan, rows.tree
    if rows.entry.policy.division:
        return
    for parent in range(len(rows)):
        alike: dict[tuple[int, ...], list[int]] = {}
        for row in tree.children(parent):
            # Of all leaves as one list only leaves are alike; and a fixed branch reports what its children have.
            if rows.is_owner[row] or ((rows.is_flat or is_fixed(result.snapshot)) and not rows.is_leaf(row)):
                continue
            settings = (plan.owned[row], plan.reserved[row], plan.limit[row], rows.ratio[row])
            # What gangs cannot use of a fixed share is no part of a leaf's need, but of what it could use (R-GANG-1).
            most = result.snapshot.most[row] if is_fixed(result.snapshot) else 0
            key = (*settings, needs.reserve[row], needs.need[row], most)
            alike.setdefault(key, []).append(row)
        for same in alike.values():
            found = [quota[row] for row in same]
            if found != sorted(found, reverse=True) or found[0] - found[-1] > 1:
                yield Violation("equal_siblings_differ_by_one", rows.path(same[0]), f"quotas {found}")


def a_reserved_unit_goes_to_nobody_else(result: CycleResult) -> Iterator[Violation]:
    """Whoever is granted idle units, enough stay idle for what others reserve or is kept for them (S1.12-13)."""
    snapshot, tree, reserve = result.snapshot, result.snapshot.rows.tree, result.draft.needs.reserve
    aside, budget = zeros(len(snapshot.rows)), snapshot.budget
    for row in range(len(aside) - 1, 0, -1):
        inside = tree.total(aside, row)
        aside[row] = max(reserve[row] - snapshot.held[row], result.draft.kept[row], inside)
    aside[0] = min(snapshot.idle, tree.total(aside, 0))
    for row in range(len(aside)):
        left = aside[row]
        for child in tree.children(row):
            aside[child] = min(aside[child], left)
            if row == 0 and snapshot.rows.bounded[child]:
                aside[child] = min(aside[child], budget)
                budget -= aside[child]
            left -= aside[child]
    granted = _summed(tree, _granted(result))
    for row in range(1, len(aside)):
        if granted[0] - granted[row] > snapshot.idle - aside[row]:
            text = f"{granted[0] - granted[row]} of {snapshot.idle} idle went to others, {aside[row]} were set aside"
            yield Violation("a_reserved_unit_goes_to_nobody_else", snapshot.rows.path(row), text)


def grants_lead_above_no_quota_or_limit(result: CycleResult) -> Iterator[Violation]:
    """No leaf is granted more than quota and demand allow, no branch more than its limit."""
    rows, held, quota = result.snapshot.rows, result.snapshot.held, result.draft.quota
    granted = _summed(rows.tree, _granted(result))
    for row in range(1, len(rows)):
        # What fixed shares leave idle is given beyond them (R-SHARE-7).
        top = result.draft.needs.need[row] if is_fixed(result.snapshot) else quota[row]
        most = min(top, result.snapshot.counted[row]) if rows.is_leaf(row) else rows.plan.limit[row]
        if granted[row] and held[row] + granted[row] > most:
            text = f"{held[row]} + {granted[row]} granted, at most {most}"
            yield Violation("grants_lead_above_no_quota_or_limit", rows.path(row), text)


def nobody_at_or_under_quota_loses_a_unit(result: CycleResult) -> Iterator[Violation]:
    """What a leaf keeps is at least its quota, but for notices of a switch of windows and gangs stopped whole."""
    snapshot, rows = result.snapshot, result.snapshot.rows
    granted, (noticed, broken) = _granted(result), _under_notice(result)
    for leaf in rows.leaves:
        excess = snapshot.held[leaf] + granted[leaf] - result.draft.quota[leaf]
        above = max(0, excess, snapshot.pinned[leaf], result.draft.switched[leaf])
        if noticed[leaf] > above and noticed[leaf] - above >= broken.get(leaf, 1):
            text = f"{noticed[leaf]} under notice, {above} above its quota"
            yield Violation("nobody_at_or_under_quota_loses_a_unit", rows.path(leaf), text)


def a_second_cycle_changes_nothing(result: CycleResult) -> Iterator[Violation]:
    """With nothing released and no deadline reached, a cycle on the books after the first decides nothing.

    Where labels meet fixed shares or user limits it may grant what the first left idle (docs/no-thrash.md).
    """
    second, rows = run(books_after(result), result.snapshot.now).decision, result.snapshot.rows
    if result.snapshot.books.requests.siting and (rows.is_fixed or rows.controls.with_user_limit):
        second = second._replace(grants=())
    if not second.changes_nothing:
        yield Violation("a_second_cycle_changes_nothing", "", f"it decides {second}")


def is_shared(result: CycleResult) -> bool:
    """Whether everything is shared by ratio, so that nobody owns anything."""
    return result.draft.planned is not None


def a_planned_share_is_within_reach(result: CycleResult) -> Iterator[Violation]:
    """A leaf's quota is at least min(need, whole slots of its planned share), within the limits above it (S3.3)."""
    planned, rows = result.draft.planned, result.snapshot.rows
    if planned is None:
        return
    for leaf in rows.leaves:
        need = min(result.draft.needs.need[leaf], result.snapshot.most[leaf])
        sure = min(need, floor(planned.exact(leaf)))
        if result.draft.quota[leaf] < sure:
            text = f"quota {result.draft.quota[leaf]}, planned {sure}"
            yield Violation("a_planned_share_is_within_reach", rows.path(leaf), text)


def equal_leaves_share_alike(result: CycleResult) -> Iterator[Violation]:
    """Where all leaves share as one list, rounding moves each by less than a unit: equal ones differ by one at most."""
    rows, draft = result.snapshot.rows, result.draft
    if draft.filled is None:
        return
    for leaf in rows.leaves:
        if abs(draft.quota[leaf] - draft.filled.exact(leaf)) >= 1:
            text = f"quota {draft.quota[leaf]}, exact share {draft.filled.exact(leaf)}"
            yield Violation("equal_leaves_share_alike", rows.path(leaf), text)


def more_demand_never_lowers_a_quota(result: CycleResult, leaf: int, units: int) -> Iterator[Violation]:
    """Who wants `units` more has no smaller quota for it; one more computation for every leaf asked about."""
    books = copy_books(result.snapshot.books)
    books.demand[leaf] += units
    if (after := quotas(books, result.snapshot.now).draft.quota[leaf]) < (before := result.draft.quota[leaf]):
        text = f"wants {units} more, and its quota falls from {before} to {after}"
        yield Violation("more_demand_never_lowers_a_quota", books.rows.path(leaf), text)


TRUTHS: tuple[Truth, ...] = (
    units_are_conserved,
    hosts_hold_what_they_have,
    units_stand_where_they_may,
    children_sum_to_their_parent,
    quota_is_between_reserve_and_need,
    owned_is_sure,
    a_planned_share_is_within_reach,
    equal_leaves_share_alike,
    equal_siblings_differ_by_one,
    a_reserved_unit_goes_to_nobody_else,
    grants_lead_above_no_quota_or_limit,
    nobody_at_or_under_quota_loses_a_unit,
    *OF_OWNERS,
)
"""Truths of one cycle alone; `a_second_cycle_changes_nothing` is looked at where all of these hold."""


def _granted(result: CycleResult) -> array[int]:
    """Units that every leaf is granted."""
    granted = zeros(len(result.snapshot.rows))
    for grant in result.decision.grants:
        granted[result.snapshot.books.requests.leaf[grant.request]] += grant.units
    return granted


def _summed(tree: TreeColumns, leaves: Iterable[int]) -> list[int]:
    """A column of the leaves, summed up the tree."""
    column = list(leaves)
    for row in range(len(column) - 1, 0, -1):
        column[tree.parent[row]] += column[row]
    return column


def _under_notice(result: CycleResult) -> tuple[array[int], dict[int, int]]:
    """Units of every leaf under notice after the decision; leaf → size of the largest gang that they stop whole."""
    books = result.snapshot.books
    requests, allocations = books.requests, books.allocations
    by_request = list(requests.noticed)
    for notice in result.decision.notices:
        by_request[allocations.request[notice.allocation]] += notice.units
    for withdrawal in result.decision.withdrawals:
        by_request[allocations.request[books.notices.allocation[withdrawal.notice]]] -= withdrawal.units
    noticed = zeros(len(books.rows))
    broken: dict[int, int] = {}
    for leaf, mine in requests.by_leaf.items():
        for request in mine:
            noticed[leaf] += by_request[request]
            if by_request[request] and requests.held[request] - by_request[request] < requests.minimum[request]:
                broken[leaf] = max(broken.get(leaf, 0), requests.held[request])
    return noticed, broken
