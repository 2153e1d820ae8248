"""A plan's consumers in the columns of one resource group: names ↔ row numbers, parents before children."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fairhold.kernels.columns import PlanColumns, TreeColumns, zeros
from fairhold.model.plan import ConsumerSettings
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.model.plan import Plan, PolicyEntry, ResourceGroup

_DEFAULTS = ConsumerSettings()


@dataclass(frozen=True)
class Rows:
    """One resource group of a plan in columns; made once a plan, used by every cycle.

    group  : the resource group
    entry  : the policy entry in force
    tree, plan : columns, see there; settings that the policy entry does not state have their defaults
    node   : (rows,) the consumer's row in the plan's tree
    grace  : (rows,) reclaim grace in force in microseconds: the nearest node's, a policy entry's before the tree's
    configured : slots that the policy's consumers were planned for (S1.37)
    """

    group: ResourceGroup
    entry: PolicyEntry
    tree: TreeColumns
    plan: PlanColumns
    node: array[int]
    grace: array[int]
    configured: int
    paths: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.node)

    @cached_property
    def row(self) -> array[int]:
        """(consumers,) row here of every row of the plan's tree."""
        back = zeros(len(self.node))
        for row, node in enumerate(self.node):
            back[node] = row
        return back

    @cached_property
    def position(self) -> array[int]:
        """(rows,) place of every row in path order."""
        place = zeros(len(self.node))
        for position, row in enumerate(self.tree.path):
            place[row] = position
        return place

    @cached_property
    def size(self) -> array[int]:
        """(rows,) rows in the subtree, the row itself included; in path order they stand side by side."""
        size = array("q", [1]) * len(self.node)
        for row in range(len(self.node) - 1, 0, -1):
            size[self.tree.parent[row]] += size[row]
        return size

    @cached_property
    def depth(self) -> int:
        """Levels below the root."""
        depth = zeros(len(self.node))
        for row in range(1, len(self.node)):
            depth[row] = depth[self.tree.parent[row]] + 1
        return max(depth)

    @cached_property
    def has_worse(self) -> array[int]:
        """(rows,) 1 where the row, or one above it, has a sibling of worse rank."""
        tree, worse = self.tree, zeros(len(self.node))
        for row in range(1, len(self.node)):
            above = tree.parent[row]
            worse[row] = int(worse[above] == 1 or tree.rank[tree.end[above] - 1] > tree.rank[row])
        return worse

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """Leaf rows in path order."""
        return tuple(row for row in self.tree.path if self.is_leaf(row))

    @cached_property
    def by_path(self) -> dict[str, int]:
        """Row of every path."""
        return {self.paths[node]: row for row, node in enumerate(self.node)}

    def is_leaf(self, row: int) -> bool:
        """Whether a row has demand of its own."""
        return row > 0 and self.tree.first[row] == self.tree.end[row]

    def path(self, row: int) -> str:
        """Full path of a row."""
        return self.paths[self.node[row]]


def entry_for(plan: Plan, group: str) -> PolicyEntry | None:
    """The policy entry that shares a resource group, None where none does."""
    return next((entry for entry in plan.policies if group in entry.resource_groups), None)


def lay_out(plan: Plan, group: str) -> Rows:
    """The columns of one resource group; raises KeyError where no policy shares it."""
    entry = entry_for(plan, group)
    if entry is None:
        raise KeyError(group)
    tree = plan.tree
    settings = [entry.consumers.get(node, _DEFAULTS) for node in range(len(tree))]

    def rank_of(node: int) -> int:
        stated = settings[node].rank if settings[node].rank is not None else tree.rank[node]
        return plan.default_rank if stated is None else stated

    node = array("q", [0])
    columns = TreeColumns(array("q", [-1]), array("q"), array("q"), array("q", [0]), array("q"))
    for row, at in enumerate(node):  # grows while it is read: breadth first
        children = sorted(tree.children[at], key=rank_of)  # stable: plan order among equal ranks
        columns.first.append(len(node))
        columns.end.append(len(node) + len(children))
        node.extend(children)
        columns.parent.extend([row] * len(children))
        columns.rank.extend(map(rank_of, children))
    columns.path.extend(_depth_first(columns))

    grace = zeros(len(node))
    for row in range(1, len(node)):
        stated = settings[node[row]].grace
        if stated is None:
            stated = tree.grace[node[row]]
        grace[row] = grace[columns.parent[row]] if stated is None else stated
    resource_group = plan.resource_groups[group]
    planned = PlanColumns(
        owned=array("q", [settings[at].owned for at in node]),
        reserved=array("q", [settings[at].reserved for at in node]),
        limit=array("q", [settings[at].limit for at in node]),
    )
    planned.owned[0], planned.reserved[0], planned.limit[0] = 0, 0, UNLIMITED
    configured = resource_group.configured_slots
    if configured is None:
        configured = sum(planned.owned[row] for row in range(columns.first[0], columns.end[0]))
    return Rows(resource_group, entry, columns, planned, node, grace, configured, tree.paths)


def _depth_first(tree: TreeColumns) -> list[int]:
    """Rows in path order; a stack of our own, because a path may be thousands of levels deep."""
    order = []
    stack = [0]
    while stack:
        row = stack.pop()
        order.append(row)
        stack.extend(range(tree.end[row] - 1, tree.first[row] - 1, -1))
    return order
