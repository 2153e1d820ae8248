"""The settings of every consumer in the policy entry in force, by path (SPEC §2, §6.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairhold.model.plan import ConsumerSettings
from fairhold.model.vector import DEFAULT_PREFERENCE
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.model.plan import Plan, PolicyEntry, PolicySettings
    from fairhold.model.vector import Owning

TOP = "/"
"""The root: the public pool; as an owner: nobody."""
OWN = "own"
"""Used in place of a pool for units on parcels of their own leaf."""


@dataclass(frozen=True)
class Terms:
    """Settings by path, with defaults filled in.

    children : in plan order
    up       : path → it and those above it, the root last
    rank, ratio, priority : among siblings; grace: microseconds in which a leaf lets go
    min_runtime : microseconds that a unit runs before others may have its place
    user_limit : units that one user may hold in a leaf, None = any number
    limit    : path → place of the resource → base units at most in all share pools
    pool_grace : path → bound on its private pool
    own      : path → entries, preferences resolved
    order    : path → place in path order, by (rank, plan order) level by level; place: in plan order
    leaves   : in path order
    width    : resources of the plan
    """

    settings: PolicySettings
    children: dict[str, tuple[str, ...]]
    up: dict[str, tuple[str, ...]]
    rank: dict[str, int]
    ratio: dict[str, int]
    priority: dict[str, int]
    grace: dict[str, int]
    min_runtime: dict[str, int]
    user_limit: dict[str, int | None]
    limit: dict[str, dict[int, int]]
    pool_grace: dict[str, int]
    own: dict[str, tuple[Owning, ...]]
    order: dict[str, int]
    place: dict[str, int]
    leaves: tuple[str, ...]
    width: int

    def down(self, pool: str, leaf: str) -> list[str]:
        """The way from below a pool down to a leaf."""
        way = self.up[leaf]
        return [*reversed(way[: way.index(pool)])]

    def siblings(self, one: str, other: str) -> tuple[str, str]:
        """The ancestors of two leaves directly below their lowest common ancestor."""
        pairs = zip(reversed(self.up[one]), reversed(self.up[other]), strict=False)
        return next((mine, theirs) for mine, theirs in pairs if mine != theirs)

    def takes_part(self, pool: str, leaf: str) -> bool:
        """Whether a leaf takes part in a pool: no ratio on its way is 0 (R-SHARE-2)."""
        return all(self.ratio[path] for path in self.down(pool, leaf))


def bound(stated: int | None) -> int:
    """A bound in microseconds; unlimited where it is not stated."""
    return UNLIMITED if stated is None else stated


def make_terms(plan: Plan, entry: PolicyEntry) -> Terms:
    """The terms of an entry."""
    tree, paths = plan.tree, plan.tree.paths
    children = {path: tuple(paths[row] for row in tree.children[at]) for at, path in enumerate(paths)}
    up: dict[str, tuple[str, ...]] = {TOP: (TOP,)}
    rank, grace, runtime = {TOP: 0}, {TOP: 0}, {TOP: 0}
    users: dict[str, int | None] = {TOP: None}
    own: dict[str, tuple[Owning, ...]] = {}
    stated = {path: entry.consumers.get(at, ConsumerSettings()) for at, path in enumerate(paths)}
    for at, path in enumerate(paths):
        if path == TOP:
            continue
        above = paths[tree.parent[at]]
        up[path] = (path, *up[above])
        own_grace = [each for each in (stated[path].grace, tree.grace[at]) if each is not None]
        grace[path] = own_grace[0] if own_grace else grace[above]
        mine = stated[path].min_runtime
        runtime[path] = runtime[above] if mine is None else mine
        of_users = stated[path].user_limit
        users[path] = users[above] if of_users is None else None if of_users == UNLIMITED else of_users
        own_rank = [each for each in (stated[path].rank, tree.rank[at]) if each is not None]
        rank[path] = own_rank[0] if own_rank else plan.default_rank
        own[path] = tuple(_preferred(each, own.get(above, ())) for each in stated[path].own)
    order = {path: at for at, path in enumerate(_in_path_order(children, rank))}
    return Terms(
        settings=entry.settings,
        children=children,
        up=up,
        rank=rank,
        ratio={path: 1 if each.share_ratio is None else each.share_ratio for path, each in stated.items()},
        priority={path: each.share_priority for path, each in stated.items()},
        grace=grace,
        min_runtime=runtime,
        user_limit=users,
        limit={path: limit for path, each in stated.items() if (limit := _limit(each))},
        pool_grace={path: bound(each.private_pool_grace) for path, each in stated.items()},
        own=own,
        order=order,
        place={path: at for at, path in enumerate(paths)},
        leaves=tuple(path for path in order if path != TOP and not children[path]),
        width=len(plan.resources),
    )


def _limit(stated: ConsumerSettings) -> dict[int, int]:
    """The limit by resource: in all share pools, or of a queue."""
    return {at: most for at, most in (*stated.share_limit, *stated.queue.limit) if most < UNLIMITED}


def _preferred(entry: Owning, above: tuple[Owning, ...]) -> Owning:
    """An entry of `own` with its preference: its own, else the parent's for the group, else the default.

    None where the parent has several: on each host it is then that of the parent's entry that has the host.
    """
    parents = {each.preference for each in above if each.resource_group == entry.resource_group}
    if entry.preference is not None or len(parents) > 1:
        return entry
    return replace(entry, preference=next(iter(parents), DEFAULT_PREFERENCE))


def _in_path_order(children: dict[str, tuple[str, ...]], rank: dict[str, int], path: str = TOP) -> list[str]:
    found = [path]
    for child in sorted(children[path], key=rank.__getitem__):
        found += _in_path_order(children, rank, child)
    return found
