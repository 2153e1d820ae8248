"""Settings of a policy entry for every consumer of a plan, with inheritance resolved (SPEC §2, §6.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from fairhold.model.plan import ConsumerSettings
from fairhold.model.vector import DEFAULT_PREFERENCE
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.model.plan import Plan, PolicyEntry, PolicySettings
    from fairhold.model.queue import Amounts
    from fairhold.model.tree import ConsumerTree
    from fairhold.model.vector import Owning

MOST_KNOWN = 16
"""Entries whose terms a plan remembers."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What the policy entry in force says of every consumer, by row; inheritance resolved.

    position : place in the order of (rank, plan order), level by level
    grace    : reclaim grace of a leaf, microseconds
    limit    : row → (place of the resource, base units) at most in all share pools
    pool_grace : row → bound on what it owns and its children do not; None = none
    own      : row → what it owns, in the order of the file, preferences resolved; None = from host to host, where
               entries of a parent differ
    """

    tree: ConsumerTree
    dimensions: int
    settings: PolicySettings
    rank: tuple[int, ...]
    position: tuple[int, ...]
    priority: tuple[int, ...]
    ratio: tuple[int, ...]
    grace: tuple[int, ...]
    limit: dict[int, tuple[tuple[int, int], ...]]
    pool_grace: dict[int, int]
    own: dict[int, tuple[Owning, ...]]
    leaves: tuple[int, ...]
    above: tuple[tuple[int, ...], ...]
    """(rows,) the rows on the way up, itself first, the root last"""
    min_runtime: tuple[int, ...]
    """(rows,) microseconds that a unit runs before it is taken back for others (R-CONTROL-5)"""
    user_limit: tuple[int, ...]
    """(rows,) units that one user may hold in a leaf; UNLIMITED = any number (R-USER-2)"""
    waiting: frozenset[int]
    """rows that are granted nothing, as a budget is used up (R-BUDGET-7)"""


def terms_of(plan: Plan, entry: PolicyEntry) -> Terms:
    """The terms of one entry, worked out once for a plan."""
    known = plan.known.get("terms", ())
    for consumers, settings, terms in known:
        if consumers is entry.consumers and settings is entry.settings:
            return cast("Terms", terms)
    found = _terms_of(plan, entry)
    plan.known["terms"] = (*known, (entry.consumers, entry.settings, found))[-MOST_KNOWN:]
    return found


def _terms_of(plan: Plan, entry: PolicyEntry) -> Terms:
    tree, nothing = plan.tree, ConsumerSettings()
    settings = [entry.consumers.get(row, nothing) for row in range(len(tree))]
    grace, rank, runtime = [0] * len(tree), [0] * len(tree), [0] * len(tree)
    users = [UNLIMITED] * len(tree)
    own: dict[int, tuple[Owning, ...]] = {}
    above: list[tuple[int, ...]] = [(0,)]
    for row in range(1, len(tree)):
        parent, stated = tree.parent[row], settings[row]
        mine = stated.grace if stated.grace is not None else tree.grace[row]
        grace[row] = grace[parent] if mine is None else mine
        runtime[row] = runtime[parent] if stated.min_runtime is None else stated.min_runtime
        users[row] = users[parent] if stated.user_limit is None else stated.user_limit
        ranked = stated.rank if stated.rank is not None else tree.rank[row]
        rank[row] = plan.default_rank if ranked is None else ranked
        if stated.own:
            own[row] = tuple(_with_preference(each, own.get(parent, ())) for each in stated.own)
        above.append((row, *above[parent]))
    position = [0] * len(tree)
    for place, row in enumerate(_in_order(plan, rank)):
        position[row] = place
    leaves = sorted((row for row in range(len(tree)) if tree.is_leaf(row)), key=position.__getitem__)
    return Terms(
        tree=tree,
        dimensions=len(plan.resources),
        settings=entry.settings,
        rank=tuple(rank),
        position=tuple(position),
        priority=tuple(each.share_priority for each in settings),
        ratio=tuple(1 if each.share_ratio is None else each.share_ratio for each in settings),
        grace=tuple(grace),
        limit=_limits(settings),
        pool_grace={row: bound for row, each in enumerate(settings) if (bound := each.private_pool_grace) is not None},
        own=own,
        leaves=tuple(leaves),
        above=tuple(above),
        min_runtime=tuple(runtime),
        user_limit=tuple(users),
        waiting=entry.waiting,
    )


def _limits(settings: Sequence[ConsumerSettings]) -> dict[int, Amounts]:
    """Row → what may be held at most of every resource that has a bound: in share pools, or by a queue."""
    found = {
        row: each.share_limit or tuple((at, most) for at, most in each.queue.limit if most < UNLIMITED)
        for row, each in enumerate(settings)
    }
    return {row: limit for row, limit in found.items() if limit}


def _with_preference(entry: Owning, parents: tuple[Owning, ...]) -> Owning:
    """An entry with the preference that it states, else its parent's for the group, else the default.

    Where a parent's entries differ, it is that of the one of which a host is, and so of no entry as a whole.
    """
    inherited = {each.preference for each in parents if each.resource_group == entry.resource_group}
    if entry.preference is not None or len(inherited) > 1:
        return entry
    return replace(entry, preference=next(iter(inherited), DEFAULT_PREFERENCE))


def _in_order(plan: Plan, rank: list[int]) -> list[int]:
    """Rows in path order: (rank, plan order), level by level."""
    found, open_ = [], [0]
    while open_:
        row = open_.pop()
        found.append(row)
        open_.extend(sorted(plan.tree.children[row], key=lambda child: (rank[child], child), reverse=True))
    return found
