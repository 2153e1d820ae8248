"""All inputs of one resource group from the plan and the state, as dicts by path."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.cycle.verify.counting import LAST, spent_now, user_limits, without_budgets
from fairhold.cycle.verify.windows import earliest_deadline, entries_now
from fairhold.model.plan import ConsumerSettings, PolicySettings

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping

    from fairhold.model.plan import Plan, PolicyEntry, ResourceGroup
    from fairhold.model.policy import Policy
    from fairhold.model.state import Request, State
    from fairhold.model.tree import ConsumerTree

TOP = "/"


@dataclass(frozen=True)
class Sheet:
    """The inputs of one resource group (SPEC §3, R-SET-1).

    slots      : slots that the group has now, S
    configured : slots that the plan was written for, C
    paths      : all consumers, parents before their children, siblings in plan order
    parent     : path → path above, absent at the root
    children   : path → paths below in the order of (rank, plan order)
    leaves     : in path order
    grace      : path → reclaim grace in microseconds, inheritance resolved
    demand     : leaf → units wanted now
    requests   : the requests of this group by id; empty where the state has counts
    hosts      : (name, slots) of the hosts, in inventory order; of closed ones, once shut, those in use; of one that is
        down, where the state has only counts, nothing
    inventory  : names of all hosts, up or down
    down       : names of the hosts that are down; closed: of those that start nothing, those that are down too
    policy     : the policy
    ratio      : path → share ratio; 1 where none is stated
    policies, switches : path → policy and settings of the entry that it is under; the root: those of the group
    was        : path → policy at the previous cycle, where other entries were in force then; else empty
    lend_to, borrow_from : path → the other side → slots at most, in the order of the list
    stated_ratio : path → share ratio, of those that state one
    stated_owned : path → what the entry says that it owns, be its budget used up or not
    more       : path → key → settings that only policies of other packages read
    loans      : (borrower, lender) → units before the cycle
    now        : instant
    labels     : host → its labels
    claims     : leaf → hosts, and units of it that go there before others (R-SITE-4)
    tenants    : host → leaf → units there; lives: host → the leaf that it belongs to; where hosts go to one consumer
    min_runtime : path → microseconds that a unit runs before others can take it back, inheritance resolved
    shortages  : leaf → (since when it misses units, whether it takes them back) before the cycle
    previous   : instant of the cycle before, None = unknown
    opens      : instant before which no notice runs out (R-WINDOW-3)
    counted    : leaf → of the demand, what users and budgets allow (R-USER-1, R-BUDGET-2)
    never      : request → wanted units that hosts or its user's room do not allow (R-SITE-2, R-USER-1)
    together   : request → units that it and those that share hosts with it count for together (R-SITE-2)
    older      : request → units that it holds since before this instant
    spent      : path → what follows, of those whose budgets are used up (R-BUDGET-1)
    user_limit : path → units that one user may hold
    max_run_time : path → microseconds that an attempt may run, 0 = any time; inheritance resolved
    usable     : leaf → units wanted now that it could use: its need is made of them (R-GANG-1)
    most       : leaf → units of a fixed share that it could use (R-GANG-1)
    """

    group: str
    slots: int
    configured: int
    paths: tuple[str, ...]
    parent: Mapping[str, str]
    children: Mapping[str, tuple[str, ...]]
    leaves: tuple[str, ...]
    rank: Mapping[str, int]
    owned: Mapping[str, int]
    reserved: Mapping[str, int]
    limit: Mapping[str, int]
    grace: Mapping[str, int]
    demand: Mapping[str, int]
    settings: PolicySettings
    requests: Mapping[str, Request]
    holder: Mapping[str, str]
    hosts: tuple[tuple[str, int], ...]
    inventory: tuple[str, ...]
    down: frozenset[str]
    closed: frozenset[str]
    opens: int
    policy: Policy
    ratio: Mapping[str, int]
    policies: Mapping[str, Policy]
    switches: Mapping[str, PolicySettings]
    was: Mapping[str, Policy]
    lend_to: Mapping[str, Mapping[str, int]]
    borrow_from: Mapping[str, Mapping[str, int]]
    stated_ratio: Mapping[str, int]
    stated_owned: Mapping[str, int]
    more: Mapping[str, Mapping[str, Any]]
    loans: Mapping[tuple[str, str], int]
    now: int
    counted: Mapping[str, int]
    spent: Mapping[str, str]
    user_limit: Mapping[str, int]
    max_run_time: Mapping[str, int]
    usable: Mapping[str, int]
    most: Mapping[str, int]
    min_runtime: Mapping[str, int]
    shortages: Mapping[str, tuple[int, bool]]
    previous: int | None
    never: Mapping[str, int] = field(default_factory=dict)
    together: Mapping[str, int] = field(default_factory=dict)
    older: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, dict[str, str]] = field(default_factory=dict)
    tenants: Mapping[str, Counter[str]] = field(default_factory=dict)
    lives: Mapping[str, str] = field(default_factory=dict)
    claims: Mapping[str, list[tuple[tuple[str, ...], int]]] = field(default_factory=dict)

    @property
    def is_sited(self) -> bool:
        """Whether some unit does not accept every host (R-SITE-1, R-HOSTS-1)."""
        return self.is_exclusive or any(any(request.siting) for request in self.requests.values())

    @property
    def is_exclusive(self) -> bool:
        """Whether a whole host goes to one consumer (R-HOSTS-1)."""
        return self.settings.packing == "exclusive"

    def is_young(self, leaf: str, started: int) -> bool:
        """Whether units of a leaf have run for less than its `min_runtime` (R-CONTROL-5)."""
        return self.now - started < self.min_runtime[leaf]

    @property
    def is_mixed(self) -> bool:
        """Whether the group has `ownership` and `hybrid` together (R-MIX-1)."""
        return len({self.policies[top] for top in self.children[TOP]}) > 1

    @property
    def owns_exactly(self) -> bool:
        """Whether some consumers are under `ownership`."""
        return any(self.policies[top].owns_exactly for top in self.children[TOP])

    @property
    def apart(self) -> int:
        """Slots that `ownership` owns."""
        return sum(self.owned[top] for top in self.children[TOP] if self.policies[top].owns_exactly)

    def is_bounded(self, path: str) -> bool:
        """Whether a consumer shares only what `ownership` leaves in a mixed group (R-MIX-3)."""
        return self.is_mixed and not self.policies[path].owns_exactly

    def budget(self, held: Mapping[str, int]) -> int:
        """Idle units that consumers of `hybrid` may have beside `ownership`."""
        mine = sum(held[top] for top in self.children[TOP] if not self.policies[top].owns_exactly)
        return max(0, max(0, self.slots - self.apart) - mine)

    @property
    def is_flat(self) -> bool:
        """Whether all leaves are divided in one list (R-SHARE-4, R-SHARE-9)."""
        return self.policy.divides_by_ratio and self.settings.enforce == "leaf"

    @property
    def is_fixed(self) -> bool:
        """Whether planned shares are all that the quotas give (R-SHARE-7)."""
        return self.policy.divides_by_ratio and self.settings.entitlement == "fixed"

    @property
    def holds(self) -> bool:
        """Whether units are held for gangs that have waited too long (R-HOLD-1)."""
        return any(settings.hold_after is not None for settings in self.switches.values())

    def chain(self, path: str) -> Iterator[str]:
        """Yield a consumer, then everything above it up to the root."""
        yield path
        while path in self.parent:
            path = self.parent[path]
            yield path

    def inside(self, path: str) -> list[str]:
        """List a consumer and everything below it, parents before their children."""
        found = [path]
        for each in found:
            found.extend(self.children[each])
        return found

    def summed(self, leaf_values: Mapping[str, int]) -> dict[str, int]:
        """For every consumer the sum over its leaves."""
        sums = {path: leaf_values.get(path, 0) for path in self.paths}
        for path in reversed(self.paths):
            if path in self.parent:
                sums[self.parent[path]] += sums[path]
        return sums


def planned_groups(plan: Plan) -> list[str]:
    """List the resource groups of slots that a policy entry names, in plan order."""
    named = {group for entry in plan.policies for group in entry.resource_groups if not entry.policy.shares_vectors}
    return [group for group in plan.resource_groups if group in named]


def slots_now(group: ResourceGroup, state: State) -> int:
    """Slots of a group now: those of the state, else of its hosts, before closed hosts are reduced (SPEC §11)."""
    if group.name in state.slots:
        return state.slots[group.name]
    return sum(slots for _, slots in _there(group, state)) if group.hosts else group.slots


def _is_counted(group: ResourceGroup, state: State) -> bool:
    """Whether a state has only counts of a group, and not what runs on which host."""
    return any(name == group.name for _, name in (*state.demand, *state.allocated))


def _there(group: ResourceGroup, state: State) -> list[tuple[str, int]]:
    """The hosts with slots; hosts that are down only where the state has their bookings (R-UP-1)."""
    gone = state.hosts_down if _is_counted(group, state) else frozenset()
    return [(host.name, host.slots) for host in group.hosts if host.name not in gone]


def make_sheet(plan: Plan, state: State, group: str) -> Sheet:
    """Collect one group's inputs; SPEC §2 "Settings" says who inherits what (R-SET-1)."""
    tree, pool = plan.tree, plan.resource_groups[group]
    by_top = entries_now(plan, group, state.now)
    one, *others = by_top.values()
    group_entry = next((entry for entry in (one, *others) if not entry.policy.owns_exactly), one)
    entry = {path: by_top.get(tree.first_level[row], group_entry) for row, path in enumerate(tree.paths)}
    stated = {path: entry[path].consumers.get(row, ConsumerSettings()) for row, path in enumerate(tree.paths)}
    spent = spent_now(plan, state, group, stated)
    of = without_budgets(stated, spent, {path for path, each in entry.items() if each.policy.owns_exactly})
    line = _inherit(plan, of, spent)
    children = _ordered_children(tree.paths, line.parent, line.rank)
    requests = {request.id: request for request in state.requests if request.resource_group == group}
    demand = _demand(plan, state, group, requests)
    return Sheet(
        group=group,
        slots=slots_now(pool, state),
        configured=_configured(pool, stated, children[TOP]),
        paths=tree.paths,
        **line._asdict(),
        children=children,
        leaves=_leaves_in_path_order(children),
        demand=demand,
        counted=demand,
        spent=spent,
        user_limit=user_limits(of),
        max_run_time=_run_limits(tree, of),
        now=state.now,
        usable=demand,
        most=demand,
        settings=group_entry.settings,
        requests=requests,
        holder={key: tree.paths[request.consumer] for key, request in requests.items()},
        opens=earliest_deadline(plan, group, state.now),
        policy=group_entry.policy,
        policies={path: each.policy for path, each in entry.items()},
        switches={path: each.settings for path, each in entry.items()},
        was=_policies_before(plan, state, group, by_top),
        **_stated(tree.paths, of, stated),
        **_hosts(pool, state),
        **_before(plan, state, group),
    )


def _configured(pool: ResourceGroup, stated: Mapping[str, ConsumerSettings], first_level: tuple[str, ...]) -> int:
    owned = sum(stated[path].owned for path in first_level)
    return owned if pool.configured_slots is None else pool.configured_slots


def _stated(
    paths: tuple[str, ...], of: Mapping[str, ConsumerSettings], stated: Mapping[str, ConsumerSettings]
) -> dict[str, Any]:
    """The settings of every consumer that count, and those that the policy entries state."""
    return {
        "stated_owned": {path: settings.owned for path, settings in stated.items()},
        "more": {path: settings.more for path, settings in stated.items()},
        "owned": {path: settings.owned for path, settings in of.items()},
        "reserved": {path: settings.reserved for path, settings in of.items()},
        "limit": {path: settings.limit for path, settings in of.items()},
        "ratio": {path: 1 if each.share_ratio is None else each.share_ratio for path, each in of.items()},
        "lend_to": {path: {paths[peer.consumer]: peer.limit for peer in each.lend_to} for path, each in of.items()},
        "borrow_from": {
            path: {paths[peer.consumer]: peer.limit for peer in each.borrow_from} for path, each in of.items()
        },
        "stated_ratio": {path: each.share_ratio for path, each in of.items() if each.share_ratio is not None},
    }


def _hosts(pool: ResourceGroup, state: State) -> dict[str, Any]:
    """The hosts of the group."""
    return {
        "hosts": tuple(_there(pool, state)),
        "inventory": tuple(host.name for host in pool.hosts),
        "labels": {host.name: dict(host.labels) for host in pool.hosts if host.labels},
        "down": state.hosts_down,
        "closed": state.hosts_closed | (frozenset() if _is_counted(pool, state) else state.hosts_down),
    }


def _before(plan: Plan, state: State, group: str) -> dict[str, Any]:
    """What the previous cycle left."""
    paths = plan.tree.paths
    return {
        "previous": state.previous_cycle,
        "shortages": {
            paths[short.consumer]: (short.since, short.is_taking)
            for short in state.shortages
            if short.resource_group == group
        },
        "loans": {
            (paths[loan.borrower], paths[loan.lender]): loan.units
            for loan in state.borrowed
            if loan.resource_group == group
        },
    }


class Line(NamedTuple):
    """Values that consumers inherit, by path; see `Sheet`."""

    parent: dict[str, str]
    rank: dict[str, int]
    grace: dict[str, int]
    min_runtime: dict[str, int]


def _inherit(plan: Plan, of: Mapping[str, ConsumerSettings], spent: Mapping[str, str]) -> Line:
    tree = plan.tree
    rank: dict[str, int] = {}
    grace: dict[str, int] = {}
    runtime: dict[str, int] = {}
    parent: dict[str, str] = {}
    for row, path in enumerate(tree.paths):
        ranks = (of[path].rank, tree.rank[row], plan.default_rank)
        last = LAST if spent.get(path) == "lowest_rank" else 0
        rank[path] = next(value for value in ranks if value is not None) + last
        if row:
            parent[path] = tree.paths[tree.parent[row]]
        graces = (of[path].grace, tree.grace[row], grace[parent[path]] if row else 0)
        grace[path] = next(value for value in graces if value is not None)
        runtimes = (of[path].min_runtime, runtime[parent[path]] if row else 0)
        runtime[path] = next(value for value in runtimes if value is not None)
    return Line(parent, rank, grace, runtime)


def _run_limits(tree: ConsumerTree, of: Mapping[str, ConsumerSettings]) -> dict[str, int]:
    limits: dict[str, int] = {}
    for row, path in enumerate(tree.paths):
        stated = of[path].max_run_time
        limits[path] = (limits[tree.paths[tree.parent[row]]] if row else 0) if stated is None else stated
    return limits


def _policies_before(plan: Plan, state: State, group: str, now: Mapping[int, PolicyEntry]) -> dict[str, Policy]:
    """Path → policy at the previous cycle; empty where the same entries are in force."""
    before = {} if state.previous_cycle is None else entries_now(plan, group, state.previous_cycle)
    if not before or all(before[top] is now[top] for top in now):
        return {}
    top = plan.tree.first_level
    return {path: before[top[row]].policy for row, path in enumerate(plan.tree.paths) if row}


def _ordered_children(
    paths: tuple[str, ...], parent: Mapping[str, str], rank: Mapping[str, int]
) -> dict[str, tuple[str, ...]]:
    lists: dict[str, list[str]] = {path: [] for path in paths}
    for path in paths:
        if path in parent:
            lists[parent[path]].append(path)
    return {path: tuple(sorted(below, key=rank.__getitem__)) for path, below in lists.items()}


def _leaves_in_path_order(children: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    leaves: list[str] = []
    open_paths = list(reversed(children[TOP]))
    while open_paths:
        path = open_paths.pop()
        if children[path]:
            open_paths.extend(reversed(children[path]))
        else:
            leaves.append(path)
    return tuple(leaves)


def _demand(plan: Plan, state: State, group: str, requests: Mapping[str, Request]) -> dict[str, int]:
    paths = plan.tree.paths
    demand = {path: 0 for row, path in enumerate(paths) if plan.tree.is_leaf(row)}
    for (row, name), units in state.demand.items():
        if name == group:
            demand[paths[row]] += units
    for request in requests.values():
        demand[paths[request.consumer]] += request.count
    return demand
