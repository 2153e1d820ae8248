"""The plan: who owns what, who may borrow, and how fast borrowed units come back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairhold.model.kubernetes import NO_KUBERNETES
from fairhold.model.price import NO_PRICES
from fairhold.model.queue import NO_QUEUE
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.model.budget import Budget
    from fairhold.model.calendar import Calendar
    from fairhold.model.kubernetes import Amounts, KubernetesSettings
    from fairhold.model.policy import Policy
    from fairhold.model.price import PriceList
    from fairhold.model.queue import FairShareSettings, QueueSettings
    from fairhold.model.tree import ConsumerTree
    from fairhold.model.vector import Owning, Resource, Vector
    from fairhold.model.window import Span, Zone

VICTIM_ORDERS = ("youngest", "oldest", "lowest_priority")
WITHIN = ("users", "fifo")
PACKINGS = ("stacked", "balanced", "exclusive")
AUTO = -1
"""A lead as long as the longest grace."""
ENFORCED = ("leaf", "parent")
ENTITLEMENTS = ("planned", "workload", "fixed")


@dataclass(frozen=True, slots=True)
class Host:
    """A machine of a resource group with its number of slots, and labels that requests can ask for.

    amounts : what it has of every resource, in base units, where the group is shared in vectors; then no slots
    """

    name: str
    slots: int
    labels: tuple[tuple[str, str], ...] = ()
    amounts: Vector = ()


@dataclass(frozen=True, slots=True)
class ResourceGroup:
    """A set of hosts that is planned together.

    slots            : slots of the group when all hosts are up
    configured_slots : slots that the plan was written for, None = the sum of what first-level consumers own (S1.37)
    hosts            : in inventory order; empty where the group is a plain number of slots
    capacity         : base units of every resource that there are in all, where hosts are not told; then no hosts
    selector         : labels of the nodes of a Kubernetes cluster that are the hosts; None = the plan says the hosts
    slot             : what a slot of such a node is made of, where the group is shared in slots
    """

    name: str
    slots: int
    configured_slots: int | None = None
    hosts: tuple[Host, ...] = ()
    capacity: Vector = ()
    selector: tuple[tuple[str, str], ...] | None = None
    slot: Amounts = ()

    @property
    def has_nodes_of_vectors(self) -> bool:
        """Whether its hosts are nodes of a cluster that are shared in resources, also while there are none."""
        return self.selector is not None and not self.slot

    @property
    def shares_vectors(self) -> bool:
        """Whether it is shared in vectors, at whatever time; else in slots."""
        return bool(self.capacity) or self.has_nodes_of_vectors or any(host.amounts for host in self.hosts)

    @property
    def has_unknown_hosts(self) -> bool:
        """Whether its hosts are nodes of a cluster that nobody has looked at, or that has none for it."""
        return self.selector is not None and not self.hosts


@dataclass(frozen=True, slots=True)
class Peer:
    """A consumer on a lend or borrow list.

    consumer : row of a leaf
    limit    : slots at most, UNLIMITED = none
    """

    consumer: int
    limit: int = UNLIMITED


@dataclass(frozen=True, slots=True)
class ConsumerSettings:
    """What a policy entry states for one consumer; the folder of a policy says which of it the policy reads.

    owned    : slots guaranteed, may be reclaimed at any time (S1.6-8)
    reserved : part of `owned` that is never lent (S1.9-13)
    limit    : cap of owned and borrowed together, UNLIMITED = none (S1.16-17)
    rank     : overrides the tree's, None = the tree's
    grace    : reclaim grace in microseconds, overrides the tree's, None = the tree's
    share_ratio : weight in a share pool, None = what the policy takes for it (SPEC §5)
    lend_to     : who may use what is owned and not needed (`ownership`, SPEC §4)
    borrow_from : whose slots may be used, in the order in which they are asked (`ownership`, SPEC §4)
    budget      : what may be used in every period, None = any amount
    max_run_time : microseconds that an attempt may run, 0 = any time, None = as the nearest consumer above says
    user_limit  : units that one user may hold in a leaf, None = as the nearest consumer above says
    min_runtime : microseconds that a unit runs before it is reclaimed for others, None = the nearest node's above
    own         : what is owned of hosts, in the order of the file (`multidimensional`, SPEC §6.1)
    share_priority : class in a share pool, larger first (`multidimensional`)
    share_limit : (place of the resource, base units) at most in all share pools together (`multidimensional`)
    private_pool_grace : microseconds within which its descendants let go of what it owns and they do not,
                         None = no bound (`multidimensional`)
    queue       : what is deserved, at most used, and of what weight and priority (`fair_share`, SPEC §7)
    more        : key → value of what only policies of other packages read
    """

    owned: int = 0
    reserved: int = 0
    limit: int = UNLIMITED
    rank: int | None = None
    grace: int | None = None
    share_ratio: int | None = None
    lend_to: tuple[Peer, ...] = ()
    borrow_from: tuple[Peer, ...] = ()
    budget: Budget | None = None
    max_run_time: int | None = None
    user_limit: int | None = None
    min_runtime: int | None = None
    own: tuple[Owning, ...] = ()
    share_priority: int = 0
    share_limit: tuple[tuple[int, int], ...] = ()
    private_pool_grace: int | None = None
    queue: QueueSettings = NO_QUEUE
    more: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """Switches of one policy entry.

    distribute_evenly   : EGO_HYBRID_EVENLY_DISTRIBUTE_SLOTS (S1.81)
    disable_reclaim_own : EGO_DISABLE_RECLAIM_HYBRID_OWN (S1.65)
    packing             : which host a unit is put on, one of PACKINGS; the same for the whole group
    victims             : who inside a leaf gives first, one of VICTIM_ORDERS
    within              : whose turn it is inside a leaf among requests of one priority, one of WITHIN
    enforce             : at which level share ratios hold, one of ENFORCED (`share_ratio`, S3.2, S3.10)
    entitlement         : what a leaf can take back, one of ENTITLEMENTS (`share_ratio`, S3.7)
    lead                : microseconds before its window opens from which units are reclaimed for it, or AUTO (SPEC §9)
    max_reclaims        : most units that newly get notice in one cycle, None = no bound
    dead_zone           : a leaf with a deficit of at most so many units does not reclaim
    await_ends          : microseconds for which a leaf has a deficit before it reclaims
    hold_after          : microseconds for which a gang waits before units are held for it, None = none ever are
    observe_only        : its consumers' reclaims are decided and shown, but no notice is given
    public_pool_grace   : microseconds for borrowers to give back what is not owned, None = any (`multidimensional`)
    rebalance_interval  : microseconds after which ownership is adjusted to workloads again, 0 = each cycle
                          (`multidimensional`)
    fair_share          : how surplus is divided and taken back, None = another policy
    more                : key → value of what only policies of other packages read
    """

    distribute_evenly: bool = False
    disable_reclaim_own: bool = False
    packing: str = "stacked"
    victims: str = "youngest"
    within: str = "users"
    enforce: str = "leaf"
    entitlement: str = "planned"
    lead: int = 0
    max_reclaims: int | None = None
    dead_zone: int = 0
    await_ends: int = 0
    observe_only: bool = False
    hold_after: int | None = None
    public_pool_grace: int | None = None
    rebalance_interval: int = 0
    fair_share: FairShareSettings | None = None
    more: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class PolicyEntry:
    """One entry under `policies:`: a policy for some resource groups.

    consumers : row of the consumer → its settings; who is not listed has the defaults
    window    : when it is in force, as the plan says it; empty = whenever no other entry is (SPEC §9)
    spans     : the same in numbers
    waiting   : rows that are granted nothing, as a budget of vectors is used up (R-BUDGET-7); none in a plan itself
    """

    resource_groups: tuple[str, ...]
    policy: Policy
    settings: PolicySettings = field(default_factory=PolicySettings)
    consumers: Mapping[int, ConsumerSettings] = field(default_factory=dict)
    window: str = ""
    spans: tuple[Span, ...] = ()
    waiting: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole plan, checked: it obeys every rule of SPEC §3.6 and §11 or it does not exist.

    cluster      : name of the cluster
    time_zone    : IANA name
    default_rank : rank of consumers that state none (EGO_CONSUMER_PRIORITY_DEFAULT, S1.24)
    tree         : the consumers
    resource_groups : by name, in plan order
    policies     : in plan order
    calendar     : which entries are in force when; None = no entry has a window, all are in force always
    zone         : the time zone in numbers, where a consumer has a budget
    resources    : dimensions of vectors, in plan order; empty where only slots are shared
    kubernetes   : whose a pod is, and how resources are called in Kubernetes
    prices       : what an hour of a resource costs
    """

    cluster: str
    time_zone: str
    default_rank: int
    tree: ConsumerTree
    resource_groups: Mapping[str, ResourceGroup]
    policies: tuple[PolicyEntry, ...]
    calendar: Calendar | None = None
    zone: Zone | None = None
    resources: tuple[Resource, ...] = ()
    kubernetes: KubernetesSettings = NO_KUBERNETES
    prices: PriceList = NO_PRICES
    known: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def entries_of(self, group: str, force: tuple[int, ...]) -> list[int]:
        """(consumers,) the position under `policies:` of the entry that each is under, its first-level ancestor's.

        group : resource group
        force : positions of its entries in force
        """
        of_node = [force[0]] * len(self.tree)
        if len(force) == 1:
            return of_node
        top = self.tree.first_level
        if self.calendar is not None and group in self.calendar.windows.tracks:
            for track, at in zip(self.calendar.windows.tracks[group], force, strict=True):
                for node in track.consumers:
                    of_node[node] = at
        else:
            for at in force:
                for node in self.policies[at].consumers:
                    of_node[top[node]] = at
        for node in range(1, len(of_node)):
            of_node[node] = of_node[top[node]]
        return of_node
