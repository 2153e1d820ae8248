"""What the plan says of when to reclaim, and how much, where it binds (R-CONTROL-1 to R-CONTROL-5, R-SITE-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.nouns import Control
from fairhold.cycle.explain.sites import hosts_bound_to, hosts_waited_for
from fairhold.rules.aging import by_age, spared_units, young

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.run import CycleResult


def controls_of(result: CycleResult, row: int) -> Iterator[Control]:
    """The controls that bind for the leaves of a subtree, in path order; each leaf as one that misses, or that gives.

    Where the subtree misses units and others would give them but for a control, theirs are named, too.
    """
    rows = result.snapshot.rows
    start = rows.position[row]
    inside = [leaf for leaf in rows.tree.path[start : start + rows.size[row]] if rows.is_leaf(leaf)]
    misses = any(result.draft.balance.missing[leaf] for leaf in inside)
    spared: set[str] = set()
    for leaf in inside:
        for control in _waits(result, leaf):
            if control.name != "min_runtime":
                yield control
            elif control.consumer not in spared:
                spared.add(control.consumer)
                yield control
    for leaf in rows.leaves if misses else inside:
        yield from (each for each in _keeps(result, leaf) if each.name != "min_runtime" or each.consumer not in spared)


def _waits(result: CycleResult, leaf: int) -> Iterator[Control]:
    """Of a leaf with a deficit and takes none back yet."""
    draft, rows = result.draft, result.snapshot.rows
    units, settings, path = draft.waived[leaf], rows.settings(leaf), rows.path(leaf)
    if not units:
        return
    books, decision = result.snapshot.books, result.decision
    shortage = (books.shortages if decision.shortages is None else decision.shortages).get(leaf)
    if shortage is None or shortage.is_taking:
        where = hosts_waited_for(books, leaf)
        for holder, kept, until in _too_young(result, leaf):
            given = min(units, kept)
            units -= given
            if given:
                yield Control("min_runtime", rows.path(holder), given, until, hosts=where)
        if units:
            yield Control("site.now", path, units, hosts=where)
    elif units <= settings.dead_zone:
        yield Control("dead_zone", path, units)
    else:
        yield Control("await_ends", path, units, shortage.since + settings.await_ends)


def _too_young(result: CycleResult, leaf: int) -> Iterator[tuple[int, int, int]]:
    """Who holds more than its quota on hosts that a leaf waits for, and keeps it there for want of run time.

    (leaf, units, instant from which the first may go), the worst path first, in which they would be asked.
    """
    snapshot, draft = result.snapshot, result.draft
    books, rows = snapshot.books, snapshot.rows
    if rows.is_exclusive:  # whole hosts go to one consumer: nobody would give any
        return
    hosts = hosts_bound_to(books, leaf)
    allocations = books.allocations
    for holder in reversed(rows.leaves):
        above = draft.held[holder] - draft.quota[holder] - draft.balance.gives[holder]
        if holder == leaf or above <= 0:
            continue
        kept, first = 0, 0
        for request in {allocations.request[row] for row in young(snapshot, holder)}:
            mine = allocations.by_request[request]
            there = {
                row: spared
                for row, (_, spared) in by_age(books, mine, snapshot.now)
                if spared and allocations.host[row] in hosts
            }
            if there:
                kept += sum(there.values())
                # A gang goes when the youngest of its units may.
                gang = books.requests.minimum[request]
                began = [allocations.started[row] for row in (mine if gang else there)]
                since = max(began) if gang else min(began)
                first = min(first or since, since)
        if kept:
            yield holder, min(above, kept), first + rows.min_runtime[holder]


def _keeps(result: CycleResult, leaf: int) -> Iterator[Control]:
    """Of a leaf that holds more than its quota and keeps it for now."""
    snapshot, draft, books = result.snapshot, result.draft, result.snapshot.books
    path, above = snapshot.rows.path(leaf), draft.held[leaf] - draft.quota[leaf]
    unmet = sum(draft.balance.missing[each] - draft.balance.gives[each] for each in snapshot.rows.leaves)
    spared = young(snapshot, leaf) if above > 0 and unmet + snapshot.lost > 0 else set()
    kept = min(above - draft.balance.gives[leaf], spared_units(books, spared))
    if kept > 0:
        least = snapshot.rows.min_runtime[leaf]
        yield Control("min_runtime", path, kept, min(books.allocations.started[each] for each in spared) + least)
    if later := draft.later.get(leaf, 0):
        yield Control("max_reclaims", path, later)
    shown = sum(
        notice.units
        for notice in result.decision.observed
        if books.requests.leaf[books.allocations.request[notice.allocation]] == leaf
    )
    if shown:
        yield Control("observe_only", path, shown)
