"""A plan's consumers in the columns of one resource group; their rows are those of the plan's tree."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING

from fairhold.kernels.columns import PlanColumns, leaves_of, zeros
from fairhold.ledger.controls import Controls
from fairhold.ledger.layout import lay_tree
from fairhold.ledger.lists import make_lists
from fairhold.ledger.spent import LAST, weakened
from fairhold.model.plan import ConsumerSettings
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairhold.kernels.amounts import Amounts
    from fairhold.kernels.columns import LeafColumns, TreeColumns
    from fairhold.ledger.lists import Lists
    from fairhold.model.plan import Plan, PolicyEntry, PolicySettings, ResourceGroup
    from fairhold.model.policy import Policy

_DEFAULTS = ConsumerSettings()


@dataclass(frozen=True)
class Rows:
    """One resource group of a plan in columns; made once a plan and window, used by every cycle.

    A consumer's row is its row in the plan's tree, whatever entries are in force: a window changes columns, not rows.

    source : the plan
    force  : positions under `policies:` of the entries in force
    group  : the resource group
    entries : the policy entries in force, in plan order; several where policies are mixed in the group
    chosen : (rows,) the row's entry, a position in `entries`: that of its first-level ancestor; 0 at the root
    tree, plan : columns, see there; settings that the policy entry does not state have their defaults
    ratio  : (rows,) share ratio, 0 = takes no part in a share pool; 0 at the root
    grace  : (rows,) reclaim grace in force in microseconds: the nearest node's, a policy entry's before the tree's
    configured : slots that the policy's consumers were planned for (S1.37)
    spent  : rows of the plan's tree whose budgets are used up
    known  : entries in force → the columns then, of all windows that were seen; shared between them
    """

    source: Plan
    force: tuple[int, ...]
    group: ResourceGroup
    entries: tuple[PolicyEntry, ...]
    chosen: array[int]
    tree: TreeColumns
    plan: PlanColumns
    ratio: array[int]
    grace: array[int]
    configured: int
    paths: tuple[str, ...]
    spent: frozenset[int] = frozenset()
    known: dict[tuple[int, ...], Rows] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.paths)

    @cached_property
    def entry(self) -> PolicyEntry:
        """The first entry in force, the only one in most groups; where policies are mixed, that of `hybrid`."""
        return next((entry for entry in self.entries if not entry.policy.owns_exactly), self.entries[0])

    def settings(self, row: int) -> PolicySettings:
        """Switches of the entry that holds for a row."""
        return self.entries[self.chosen[row]].settings

    @property
    def is_pooled(self) -> bool:
        """Whether the columns are those of all that is shared in vectors (`ledger.vectors`)."""
        return self.entry.policy.shares_vectors

    @cached_property
    def policies(self) -> tuple[Policy, ...]:
        """The policies in force, each once: one, or two of them mixed."""
        return tuple({entry.policy.name: entry.policy for entry in self.entries}.values())

    def is_scaled(self, row: int) -> bool:
        """Whether what a row owns is scaled with the group (R-SCALE-1)."""
        return self.entries[self.chosen[row]].policy.scales_owned

    def owned_now(self, row: int, slots: int) -> int:
        """Whole slots that a consumer owns now, scaled to the group's slots; exact owners are not scaled (R-MIX-2)."""
        owned, configured = self.plan.owned[row], self.configured - self.apart
        if self.is_owner[row]:
            return owned
        return owned * max(0, slots - self.apart) // configured if configured else 0

    def all_owned_now(self, slots: int) -> list[int]:
        """(rows,) the same of every consumer."""
        room, configured = max(0, slots - self.apart), self.configured - self.apart
        return [
            owned if is_owner else owned * room // configured if configured else 0
            for owned, is_owner in zip(self.plan.owned, self.is_owner, strict=True)
        ]

    @property
    def is_mixed(self) -> bool:
        """Whether some consumers own exact numbers of slots and others scaled ones (R-MIX-1)."""
        return len(self.policies) > 1

    @cached_property
    def is_owner(self) -> array[int]:
        """(rows,) 1 where slots are owned exactly, by `ownership`; 0 at the root."""
        exact = [int(entry.policy.owns_exactly) for entry in self.entries]
        return array("q", [0, *(exact[at] for at in self.chosen[1:])])

    @cached_property
    def apart(self) -> int:
        """Slots that `ownership` owns beside `hybrid`; 0 where nothing is mixed (R-MIX-2)."""
        return sum(self.plan.owned[row] for row in self.tree.children(0) if self.is_owner[row]) if self.is_mixed else 0

    @cached_property
    def scaled(self) -> PlanColumns:
        """The columns of consumers of `hybrid`; the other consumers own nothing in them."""
        if not self.is_mixed:
            return self.plan
        owned = array("q", [0 if exact else units for exact, units in zip(self.is_owner, self.plan.owned, strict=True)])
        return self.plan._replace(owned=owned)

    @cached_property
    def bounded(self) -> array[int]:
        """(rows,) 1 for consumers of `hybrid` that must not use the slots of `ownership` (R-MIX-3)."""
        return array("q", (int(self.is_mixed and not exact) for exact in self.is_owner))

    @cached_property
    def lists(self) -> Lists:
        """The lend and borrow lists in force."""
        stated = {
            row: settings
            for row in range(len(self))
            if self.is_owner[row] and (settings := self.entries[self.chosen[row]].consumers.get(row)) is not None
        }
        return make_lists((leaf for leaf in self.leaves if self.is_owner[leaf]), stated)

    @cached_property
    def balances(self) -> tuple[array[int], array[int]]:
        """Branches of `ownership` that own more than their children, deepest first, then in path order; by how much."""
        tree, owned = self.tree, self.plan.owned
        found = [
            (-self.depths[row], self.position[row], row, balance)
            for row in range(1, len(self))
            if self.is_owner[row] and not self.is_leaf(row)
            if (balance := owned[row] - tree.total(owned, row)) > 0
        ]
        found.sort()
        return array("q", [each[2] for each in found]), array("q", [each[3] for each in found])

    @cached_property
    def spares_young(self) -> bool:
        """Whether some units may not be reclaimed for others before they have run for a while."""
        return any(each.min_runtime for entry in self.entries for each in entry.consumers.values())

    @cached_property
    def min_runtime(self) -> array[int]:
        """(rows,) microseconds that a unit runs before it is reclaimed for others: the nearest node's (R-CONTROL-5)."""
        least = zeros(len(self))
        for row in range(1, len(self)) if self.spares_young else ():
            own = self.stated(row).min_runtime
            least[row] = least[self.tree.parent[row]] if own is None else own
        return least

    @cached_property
    def controls(self) -> Controls:
        """What bounds single consumers and their users."""
        return Controls(self)

    def stated(self, row: int) -> ConsumerSettings:
        """What the policy entry states for a row."""
        return self.entries[self.chosen[row]].consumers.get(row, _DEFAULTS)

    def rank(self, row: int) -> int:
        """The rank of a row, also while it is last because its budget is used up."""
        return self.tree.rank[row] % LAST

    @property
    def packing(self) -> str:
        """On which host a unit is put, one of PACKINGS."""
        return self.entry.settings.packing

    @property
    def is_exclusive(self) -> bool:
        """Whether a whole host goes to one consumer (R-HOSTS-1)."""
        return self.packing == "exclusive"

    @property
    def is_flat(self) -> bool:
        """Whether all leaves share as one list, whatever their branches (R-SHARE-4, R-SHARE-9)."""
        return self.entry.policy.divides_by_ratio and self.entry.settings.enforce == "leaf"

    @property
    def is_fixed(self) -> bool:
        """Whether planned shares are all that the quotas give (R-SHARE-7)."""
        return self.entry.policy.divides_by_ratio and self.entry.settings.entitlement == "fixed"

    @cached_property
    def is_plain(self) -> bool:
        """Whether, with slots enough for all, only limits can keep a consumer from getting what it wants."""
        is_held = self.is_exclusive or any(
            each.settings.hold_after is not None or each.settings.observe_only for each in self.entries
        )
        controls = self.controls
        is_bound = any(self.plan.reserved) or controls.has_budgets or bool(controls.with_user_limit)
        is_out = (
            self.entry.policy.divides_by_ratio and 0 in self.ratio[1:]
        )  # who takes no part gets nothing (R-SHARE-2)
        is_other = self.is_mixed or self.is_fixed or self.entry.policy.owns_exactly or self.entry.policy.division
        return not (is_other or is_held or is_bound or is_out)

    @cached_property
    def is_filled(self) -> bool:
        """Whether quotas are computed like one filling, level by level or over all leaves, with needs as caps."""
        is_level, policy = self.is_fixed or self.entry.settings.distribute_evenly, self.entry.policy
        return policy.keeps_quotas and not (self.is_mixed or is_level or policy.owns_exactly)

    @cached_property
    def is_listed(self) -> bool:
        """Whether all consumers own exact numbers of slots, lend and borrow by lists, and no budget is used up."""
        return self.entry.policy.owns_exactly and not self.spent

    @cached_property
    def is_steady(self) -> bool:
        """Whether a cycle depends only on held and wanted numbers, and not on times, users or hosts."""
        controls, settings = self.controls, [each.settings for each in self.entries]
        is_bound = (
            any(self.plan.reserved) or controls.has_budgets or bool(controls.with_user_limit) or self.spares_young
        )
        is_slow = any(each.dead_zone or each.await_ends or each.hold_after is not None for each in settings)
        is_odd = any(each.observe_only or each.distribute_evenly or each.disable_reclaim_own for each in settings)
        is_windowed = self.source.calendar is not None
        is_other = self.is_mixed or self.is_fixed or self.is_exclusive or not self.entry.policy.keeps_quotas
        return not (is_bound or is_slow or is_odd or is_windowed or is_other)

    @cached_property
    def has_limits(self) -> bool:
        """Whether any consumer has a limit."""
        return any(limit < UNLIMITED for limit in self.plan.limit)

    @cached_property
    def planned(self) -> dict[int, Amounts]:
        """Slots of the group → planned shares, where they have been worked out: they do not depend on demand."""
        return {}

    @cached_property
    def position(self) -> array[int]:
        """(rows,) place of every row in path order."""
        place = zeros(len(self))
        for position, row in enumerate(self.tree.path):
            place[row] = position
        return place

    @cached_property
    def size(self) -> array[int]:
        """(rows,) rows in the subtree, the row itself included; in path order they stand side by side."""
        size = array("q", [1]) * len(self)
        for row in range(len(self) - 1, 0, -1):
            size[self.tree.parent[row]] += size[row]
        return size

    @cached_property
    def depths(self) -> array[int]:
        """(rows,) levels above every row; 0 at the root."""
        depth = zeros(len(self))
        for row in range(1, len(self)):
            depth[row] = depth[self.tree.parent[row]] + 1
        return depth

    @cached_property
    def depth(self) -> int:
        """Levels below the root."""
        return max(self.depths)

    @cached_property
    def has_worse(self) -> array[int]:
        """(rows,) 1 where the row, or one above it, has a sibling of worse rank."""
        tree, worse = self.tree, zeros(len(self))
        for row in range(1, len(self)):
            above = tree.parent[row]
            worse[row] = int(worse[above] == 1 or tree.rank[tree.child[tree.end[above] - 1]] > tree.rank[row])
        return worse

    @cached_property
    def largest_weight(self) -> int:
        """The largest sum of what slots can be shared by: owned, ratios, or one each."""
        return max(self.configured, len(self), sum(self.ratio), 1)

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """Leaf rows in path order."""
        return tuple(row for row in self.tree.path if self.is_leaf(row))

    @cached_property
    def leaf_columns(self) -> LeafColumns:
        """The leaves, and those of every subtree."""
        return leaves_of(self.tree)

    @cached_property
    def of_leaves(self) -> Callable[[Sequence[int]], object]:
        """What a column says of the leaves, to be compared with another column."""
        return itemgetter(*(self.leaves or (0,)))

    @cached_property
    def by_path(self) -> dict[str, int]:
        """Row of every path."""
        return self.source.tree.rows

    def is_leaf(self, row: int) -> bool:
        """Whether a row has demand of its own."""
        return row > 0 and self.tree.first[row] == self.tree.end[row]

    def path(self, row: int) -> str:
        """Full path of a row."""
        return self.paths[row]


def in_force(plan: Plan, group: str, instant: int | None = None) -> tuple[int, ...]:
    """Positions of the policy entries that share a resource group, in plan order; none where no policy does.

    instant : at which they are in force; None = the earliest ones of the plan, for what windows do not matter to
    """
    calendar = plan.calendar
    if calendar is not None and group in calendar.windows.tracks:
        return calendar.in_force(group, 0 if instant is None else instant)
    return tuple(at for at, entry in enumerate(plan.policies) if group in entry.resource_groups)


def in_other_window(rows: Rows, force: tuple[int, ...]) -> Rows:
    """The columns of the same group with other entries in force; made once, where no budget is used up."""
    if rows.spent:
        return replace(lay_out(rows.source, rows.group.name, force, rows.spent), known=rows.known)
    rows.known.setdefault(rows.force, rows)
    if force not in rows.known:
        rows.known[force] = replace(lay_out(rows.source, rows.group.name, force), known=rows.known)
    return rows.known[force]


def with_spent(rows: Rows, spent: frozenset[int]) -> Rows:
    """The columns of the same group with the budgets of other consumers used up."""
    if rows.is_pooled:  # nobody owns slots there: what follows is in the terms of the entry (`spent.entry_under`)
        return replace(rows, spent=spent)
    return replace(lay_out(rows.source, rows.group.name, rows.force, spent), known=rows.known)


def lay_out(plan: Plan, group: str, force: tuple[int, ...] = (), spent: frozenset[int] = frozenset()) -> Rows:
    """The columns of one resource group; raises KeyError where no policy shares it.

    force : positions under `policies:` of the entries in force; none = as `in_force` without an instant
    spent : rows of the plan's tree whose budgets, where they have one in force, are used up
    """
    force = force or in_force(plan, group)
    if not force:
        raise KeyError(group)
    places = tuple(sorted(set(force)))
    entries = tuple(plan.policies[at] for at in places)
    tree = plan.tree
    chosen = zeros(len(tree))
    if len(entries) > 1:
        chosen = array("q", map(places.index, plan.entries_of(group, force)))
    stated = [entries[chosen[row]].consumers.get(row, _DEFAULTS) for row in range(len(tree))]
    used_up = {row: budget for row in spent if (budget := stated[row].budget) is not None}
    settings = stated
    if used_up:
        settings = weakened(tree, stated, used_up, [entries[at].policy.owns_exactly for at in chosen])

    rank, grace = zeros(len(tree)), zeros(len(tree))
    for row in range(1, len(tree)):
        own = tree.rank[row] if settings[row].rank is None else settings[row].rank
        is_last = row in used_up and used_up[row].then == "lowest_rank"
        rank[row] = (plan.default_rank if own is None else own) + (LAST if is_last else 0)
        own = tree.grace[row] if settings[row].grace is None else settings[row].grace
        grace[row] = grace[tree.parent[row]] if own is None else own
    resource_group = plan.resource_groups[group]
    planned = PlanColumns(
        owned=array("q", [each.owned for each in settings]),
        reserved=array("q", [each.reserved for each in settings]),
        limit=array("q", [each.limit for each in settings]),
    )
    ratio = array("q", [_ratio(entries[at].policy, each) for at, each in zip(chosen, settings, strict=True)])
    planned.owned[0], planned.reserved[0], planned.limit[0], ratio[0] = 0, 0, UNLIMITED, 0
    configured = resource_group.configured_slots
    if configured is None:
        configured = sum(stated[at].owned for at in tree.children[0])
    same = (plan, force, resource_group, entries, chosen)
    return Rows(*same, lay_tree(tree, rank), planned, ratio, grace, configured, tree.paths, spent)


def _ratio(policy: Policy, stated: ConsumerSettings) -> int:
    """Default share ratio: 1 where everything is divided by ratios, else 0 (takes no part)."""
    return int(policy.divides_by_ratio) if stated.share_ratio is None else stated.share_ratio
