"""The consumers of a resource group at an instant, by path: settings, ranks, budgets, windows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fairhold.model.plan import ConsumerSettings
from fairhold.model.tree import ROOT
from fairhold.reference.windows import entries_now
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import State

Rank = tuple[bool, int, int]
"""Whether the budget puts it last, the rank, plan order: smaller is better among siblings (R-SET-1, R-BUDGET-4)."""


@dataclass(frozen=True)
class Consumer:
    """What holds for one consumer now (R-SET-1, R-BUDGET-2 to R-BUDGET-4).

    always_owned : slots that it owns whatever its budget says (R-SWITCH-1)
    owned, reserved : 0 for what may only borrow now; nothing is reserved where it waits
    waits, only_borrows : its budget, or one above it, is used up
    """

    path: str
    parent: str
    children: tuple[str, ...]
    entry: PolicyEntry
    stated: ConsumerSettings
    rank: Rank
    grace: int
    always_owned: int
    owned: int
    reserved: int
    limit: int
    ratio: int | None
    waits: bool
    only_borrows: bool
    user_limit: int
    min_runtime: int

    @property
    def owns_exactly(self) -> bool:
        """Whether it is under `ownership`."""
        return self.entry.policy.owns_exactly


class Consumers:
    """All consumers of a resource group by path, with `/`, as the entries in force say.

    instant : that decides which entries are in force (R-WINDOW-1, R-WINDOW-3)
    """

    def __init__(self, plan: Plan, group: str, instant: int, state: State) -> None:
        """Read what is stated by row, and keep it by path."""
        self.plan, self.group = plan, group
        tree = plan.tree
        in_force = entries_now(plan, group, instant)
        of_root = next(entry for entry in plan.policies if any(entry is each for each in in_force.values()))
        self.by_path: dict[str, Consumer] = {}
        for row, path in enumerate(tree.paths):
            entry = of_root if row == ROOT else in_force[tree.first_level[row]]
            self.by_path[path] = _read(plan, row, entry, _used_up(row, entry, group, state), self.by_path)

    def __getitem__(self, path: str) -> Consumer:
        return self.by_path[path]

    @cached_property
    def depth(self) -> dict[str, int]:
        """0 for `/`."""
        return {path: 0 if path == "/" else path.count("/") for path in self.by_path}

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """In path order: level by level by rank, then plan order."""
        return tuple(path for path in self.order if path != "/" and not self.by_path[path].children)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """All consumers, each before those below it, siblings by rank."""
        found, left = [], ["/"]
        while left:
            found.append(left.pop())
            left += reversed(self.siblings(found[-1]))
        return tuple(found)

    @cached_property
    def deepest_first(self) -> tuple[str, ...]:
        """All branches but `/`, the deepest first, then in path order."""
        branches = [path for path in self.order if path != "/" and self.by_path[path].children]
        return tuple(sorted(branches, key=lambda path: -self.depth[path]))

    @cached_property
    def upward(self) -> tuple[str, ...]:
        """All consumers, children before their parents."""
        return tuple(reversed(self.order))

    def siblings(self, parent: str) -> list[str]:
        """The children of a consumer in rank order."""
        return sorted(self.by_path[parent].children, key=self.rank)

    def rank(self, path: str) -> Rank:
        """The rank among siblings."""
        return self.by_path[path].rank

    def above(self, path: str) -> list[str]:
        """The consumer and those above it, without `/`, from below."""
        found = []
        while path != "/":
            found.append(path)
            path = self.by_path[path].parent
        return found

    def inside(self, branch: str) -> list[str]:
        """The leaves below a consumer, itself if it is one, in path order."""
        return [leaf for leaf in self.leaves if branch in ("/", *self.above(leaf))]

    def parting(self, one: str, other: str) -> tuple[str, str]:
        """The two siblings at which two paths part."""
        mine, theirs = self.above(one)[::-1], self.above(other)[::-1]
        return next((here, there) for here, there in zip(mine, theirs, strict=False) if here != there)

    def is_worse(self, one: str, than: str) -> bool:
        """Whether a leaf has strictly worse rank than another where their paths first differ."""
        here, there = self.parting(one, than)
        return self.rank(here)[:2] > self.rank(there)[:2]


def _used_up(row: int, entry: PolicyEntry, group: str, state: State) -> str:
    """R-BUDGET-1: what its own budget makes of it: one of THEN, or nothing."""
    stated = entry.consumers.get(row)
    budget = stated.budget if stated else None
    spent = state.spent.get((row, group), 0)
    return budget.then if budget and spent >= budget.unit_hours * 3600 else ""


def _read(plan: Plan, row: int, entry: PolicyEntry, used_up: str, known: dict[str, Consumer]) -> Consumer:
    tree, path = plan.tree, plan.tree.paths[row]
    stated = entry.consumers.get(row, ConsumerSettings())
    above = None if row == ROOT else known[tree.paths[tree.parent[row]]]
    rank = next(each for each in (stated.rank, tree.rank[row], plan.default_rank) if each is not None)
    graces = (stated.grace, tree.grace[row], above.grace if above else 0)
    waits = used_up == "wait" or bool(above and above.waits)
    only_borrows = used_up == "borrow_only" or bool(above and above.only_borrows)
    no_ratio = 1 if entry.policy.divides_by_ratio else None
    return Consumer(
        path=path,
        parent=above.path if above else "",
        children=tuple(tree.paths[child] for child in tree.children[row]),
        entry=entry,
        stated=stated,
        rank=(used_up == "lowest_rank", rank, row),
        grace=next(each for each in graces if each is not None),
        always_owned=stated.owned,
        owned=0 if only_borrows and entry.policy.scales_owned else stated.owned,
        reserved=0 if waits or only_borrows else stated.reserved,
        limit=stated.limit,
        ratio=no_ratio if stated.share_ratio is None else stated.share_ratio,
        waits=waits,
        only_borrows=only_borrows,
        user_limit=_nearest(stated.user_limit, above.user_limit if above else UNLIMITED),
        min_runtime=_nearest(stated.min_runtime, above.min_runtime if above else 0),
    )


def _nearest(stated: int | None, above: int) -> int:
    return above if stated is None else stated
