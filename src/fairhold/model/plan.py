"""The plan: who owns what, who may borrow, and how fast borrowed units come back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.model.tree import ConsumerTree

VICTIM_ORDERS = ("youngest", "oldest", "lowest_priority")
WITHIN = ("users", "fifo")


@dataclass(frozen=True, slots=True)
class Host:
    """A machine of a resource group with its number of slots."""

    name: str
    slots: int


@dataclass(frozen=True, slots=True)
class ResourceGroup:
    """A set of hosts that is planned together.

    slots            : slots of the group when all hosts are up
    configured_slots : slots that the plan was written for, None = the sum of what first-level consumers own (S1.37)
    hosts            : in inventory order; empty where the group is a plain number of slots
    """

    name: str
    slots: int
    configured_slots: int | None = None
    hosts: tuple[Host, ...] = ()


@dataclass(frozen=True, slots=True)
class ConsumerSettings:
    """What a policy entry states for one consumer (SPEC §3).

    owned    : slots guaranteed, may be reclaimed at any time (S1.6-8)
    reserved : part of `owned` that is never lent (S1.9-13)
    limit    : cap of owned and borrowed together, UNLIMITED = none (S1.16-17)
    rank     : overrides the tree's, None = the tree's
    grace    : reclaim grace in microseconds, overrides the tree's, None = the tree's
    """

    owned: int = 0
    reserved: int = 0
    limit: int = UNLIMITED
    rank: int | None = None
    grace: int | None = None


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """Switches of one policy entry.

    distribute_evenly   : EGO_HYBRID_EVENLY_DISTRIBUTE_SLOTS (S1.81)
    disable_reclaim_own : EGO_DISABLE_RECLAIM_HYBRID_OWN (S1.65)
    packing             : which host a unit is put on
    victims             : who inside a leaf gives first, one of VICTIM_ORDERS
    within              : whose turn it is inside a leaf among requests of one priority, one of WITHIN
    """

    distribute_evenly: bool = False
    disable_reclaim_own: bool = False
    packing: str = "stacked"
    victims: str = "youngest"
    within: str = "users"


@dataclass(frozen=True, slots=True)
class PolicyEntry:
    """One entry under `policies:`: a policy for some resource groups.

    consumers : row of the consumer → its settings; who is not listed has the defaults
    """

    resource_groups: tuple[str, ...]
    policy: str
    settings: PolicySettings = field(default_factory=PolicySettings)
    consumers: Mapping[int, ConsumerSettings] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole plan, checked: it obeys every rule of SPEC §3.6 and §11 or it does not exist.

    cluster      : name of the cluster
    time_zone    : IANA name
    default_rank : rank of consumers that state none (EGO_CONSUMER_PRIORITY_DEFAULT, S1.24)
    tree         : the consumers
    resource_groups : by name, in plan order
    policies     : in plan order
    """

    cluster: str
    time_zone: str
    default_rank: int
    tree: ConsumerTree
    resource_groups: Mapping[str, ResourceGroup]
    policies: tuple[PolicyEntry, ...]
