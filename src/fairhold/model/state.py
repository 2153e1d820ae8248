"""A state: what is wanted and held at one instant, as a state file says it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from fairhold.model.siting import ANYWHERE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from fairhold.model.adjusted import Adjusted
    from fairhold.model.siting import Siting
    from fairhold.model.vector import OwnEntry, Parcel, Vector

    Parts = tuple[tuple[int, Vector], ...]

REASONS = ("quota", "limit", "window", "lost", "consolidation")
CONSOLIDATION = REASONS[4]
"""Units go to another host, where a place is held for them (`fair_share`)."""


@dataclass(frozen=True, slots=True)
class Request:
    """A leaf's wish for units of one size: of one slot each, or of a vector.

    consumer  : row of the leaf
    count     : units wanted now, running ones included
    min_count : a gang runs with at least so many or not at all; 0 = no gang
    priority  : inside the leaf, larger first
    submitted : instant
    user      : who asks, may be empty
    time_limit : microseconds that a unit runs at most, 0 = any time
    since     : instant since which it could be served, None = since it was submitted
    siting    : what it says of hosts
    unit      : base units of every resource that a unit needs; empty = one slot. Then `resource_group` is empty, too:
                any group of its consumer's policy entry will do
    preemptible : of `fair_share`, whether it may be taken back for others; None = by its priority
    """

    id: str
    consumer: int
    resource_group: str
    count: int
    min_count: int = 0
    priority: int = 0
    submitted: int = 0
    user: str = ""
    time_limit: int = 0
    since: int | None = None
    siting: Siting = ANYWHERE
    unit: Vector = ()
    preemptible: bool | None = None


class Allocation(NamedTuple):
    """Units that a request holds on one host, started together.

    host : empty where the group is a plain number of slots
    pool : of vectors, what they were placed in: `own`, `/` or the path of a private pool; empty = slots
    parts   : (row of an owner, 0 = nobody, base units), by row: what each unit uses of whose parcel, where that is of
              several; empty = of one, or unknown
    attempt : of one unit of a vector, by what number a live cluster knows it; 0 = by none
    """

    request: str
    host: str
    units: int
    started: int
    pool: str = ""
    lenders: tuple[tuple[int, int], ...] = ()
    parts: Parts = ()
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Notice:
    """Units under notice: still held, to be given back by the deadline.

    consumer    : row of the holder
    request     : id of the request that holds them, empty where the state has only counts
    host        : empty where the state has only counts or the group no hosts
    taker       : row of the consumer they are on their way to, -1 = none
    reason      : one of REASONS
    taker_request : of vectors, the request that they are on their way to; empty = none
    started, pool, lenders, parts : of vectors, as the allocation says of which they are; started None = of any there
    attempt     : of one unit of a vector, by what number a live cluster knows it; 0 = by none
    """

    consumer: int
    resource_group: str
    units: int
    taker: int
    deadline: int
    reason: str = "quota"
    request: str = ""
    host: str = ""
    taker_request: str = ""
    started: int | None = None
    pool: str = ""
    lenders: tuple[tuple[int, int], ...] = ()
    parts: Parts = ()
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Loan:
    """Units that a leaf has borrowed of what another one owns (`ownership`).

    borrower, lender : rows of leaves
    """

    borrower: int
    lender: int
    resource_group: str
    units: int


@dataclass(frozen=True, slots=True)
class Shortage:
    """A leaf with a deficit, where the plan says when it reclaims.

    consumer  : row of the leaf
    since     : instant of the cycle since which it has had a deficit without a break
    is_taking : it reclaims, until it has no deficit
    """

    consumer: int
    resource_group: str
    since: int
    is_taking: bool = False


@dataclass(frozen=True, slots=True)
class HeldUnits:
    """Freed units on a host that are kept for one request."""

    request: str
    host: str
    units: int


@dataclass(frozen=True, slots=True)
class State:
    """What is wanted and held at one instant.

    Either counts (`demand`, `allocated`), or amounts (`wanted`, `held_amounts`), or `requests` and `allocations`, per
    resource group.

    slots          : resource group → slots it has now, where it differs from the plan
    hosts_down     : names of hosts that are down
    hosts_never_seen : which of them were never up: answers say so, and nothing else depends on it
    hosts_closed   : names of hosts that start nothing: their units stay, and nothing idle there can be used
    labels         : of a live cluster, host → its labels as `label_set` gives them, agents' and the plan's; None = the
                     plan's
    freed          : of a live cluster, (request, host) where units under notice for it went since the cycle before
    demand         : (row, resource group) → units wanted now, running ones included
    allocated      : (row, resource group) → units held
    capacity       : resource group → base units of every resource that it has now, where it differs from the plan
    wanted         : (row, resource group) → base units wanted now, what is held included (`fair_share`)
    held_amounts   : (row, resource group) → base units held
    borrowed       : who uses whose slots, as the cycle before has left it
    shortages      : which leaves have a deficit since when, as the cycle before has left it
    spent          : (row, resource group) → unit-seconds that a consumer has used since the period of its budget began
    spent_amounts  : row → (place in `model.budget.counted`, base units times seconds) of who has a budget of vectors
    previous_cycle : instant of the cycle before, None = unknown
    is_settled     : units past their deadlines are being stopped, and hold until their end is proven
    ownership      : parcels as adjusted so far, None = assigned afresh
    own_entries    : of consumers with several entries of a group, what of it is whose, as adjusted so far
    adjusted       : resource group → its last adjustment, where the plan says how often
    usage          : row → decayed history by resource, parts of the cluster's capacity (`fair_share`)
    """

    now: int
    slots: Mapping[str, int] = field(default_factory=dict)
    hosts_down: frozenset[str] = frozenset()
    hosts_never_seen: frozenset[str] = frozenset()
    hosts_closed: frozenset[str] = frozenset()
    labels: Mapping[str, frozenset[str]] | None = None
    freed: tuple[tuple[str, str], ...] = ()
    demand: Mapping[tuple[int, str], int] = field(default_factory=dict)
    allocated: Mapping[tuple[int, str], int] = field(default_factory=dict)
    requests: tuple[Request, ...] = ()
    allocations: tuple[Allocation, ...] = ()
    notices: tuple[Notice, ...] = ()
    held: tuple[HeldUnits, ...] = ()
    borrowed: tuple[Loan, ...] = ()
    shortages: tuple[Shortage, ...] = ()
    spent: Mapping[tuple[int, str], int] = field(default_factory=dict)
    spent_amounts: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    previous_cycle: int | None = None
    is_settled: bool = False
    ownership: tuple[Parcel, ...] | None = None
    own_entries: tuple[OwnEntry, ...] = ()
    adjusted: Mapping[str, Adjusted] = field(default_factory=dict)
    usage: Mapping[int, tuple[Fraction, ...]] = field(default_factory=dict)
    capacity: Mapping[str, Vector] = field(default_factory=dict)
    wanted: Mapping[tuple[int, str], Vector] = field(default_factory=dict)
    held_amounts: Mapping[tuple[int, str], Vector] = field(default_factory=dict)

    @property
    def has_amounts(self) -> bool:
        """Whether it says amounts that no request is named for: enough for fair shares, and nothing can be placed."""
        return bool(self.wanted or self.held_amounts)
