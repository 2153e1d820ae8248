"""What an explanation is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from fairhold.cycle.explain.whatif import Counterfactual, WhatIf


class Bound(Enum):
    """What holds a consumer's quota where it is; the value is the rule that says so."""

    DEMAND = "demand"
    """It gets all that it wants (R-NEED-1)."""
    BELOW = "below"
    """What consumers below it want beyond that is bound further down (R-NEED-1)."""
    LIMIT = "limit"
    """It wants more than its limit (R-NEED-1)."""
    RESERVE = "reserve"
    """It wants less than its reserve, which idles for it (R-NEED-1)."""
    GUARANTEE = "guarantee"
    """It gets what it owns and wants, more than its share by ratio (R-QUOTA-3)."""
    RATIO = "ratio"
    """It shares by what it owns with siblings that want more, too (R-QUOTA-2)."""
    EQUAL = "equal"
    """It owns nothing and shares what owners leave in equal amounts (R-FILL-2)."""
    EVEN = "even"
    """Even mode: what owners leave is added in equal amounts (R-QUOTA-4)."""
    NOTHING_LEFT = "nothing left"
    """It owns nothing and owners use everything (R-FILL-2)."""
    SHARE = "share ratio"
    """It shares by ratio with others that want more, too (R-SHARE-1)."""
    PLANNED = "planned share"
    """It gets its planned share, which is sure, or all that is fixed for it (R-SHARE-3)."""
    LIMIT_ABOVE = "limit above"
    """A branch above it is at its limit, so that its leaves get no more (R-SHARE-4)."""
    NO_PART = "ratio 0"
    """It, or a consumer above it, has ratio 0 and takes no part (R-SHARE-2)."""
    OWNED = "owned"
    """It owns no more and borrows of nobody (R-OWN-1)."""
    SLOTS = "slots"
    """Fewer slots are there than are owned, and others come first (R-OWN-1)."""
    LENDERS = "lenders"
    """Those of whom it may borrow have no more to lend, or the lists allow no more (R-LEND-2)."""
    UNOWNED = "unowned"
    """It has its share of what nobody owns (R-OWN-3)."""
    LIMIT_OF_BRANCH = "limit of a branch"
    """A branch above it is at its limit (R-SCALE-3)."""

    BUDGET = "budget"
    """A budget, its own or one above it, is used up: it is granted nothing more (R-BUDGET-2)."""
    BORROWS = "only borrows"
    """A budget, its own or one above it, is used up: it owns nothing, and others leave no more (R-BUDGET-3)."""
    HOSTS = "whole hosts"
    """A host goes to one consumer, and those that it can have for its quota have no more (R-HOSTS-2)."""
    GANGS = "gangs"
    """What it wants beyond that are gangs that are larger than its quota could be (R-GANG-1)."""
    SITE = "hosts that will do"
    """What it wants beyond that must stand on certain hosts, or on one, and these have no more slots (R-SITE-2)."""
    USER_LIMIT = "user limit"
    """Its users hold as much as one may, or cannot start what they want in the room left to them (R-USER-1)."""


@dataclass(frozen=True, slots=True)
class OwnBound:
    """What holds a quota where it is by a rule of another package.

    value : short, as those of `Bound`
    rule  : its id
    why   : words that can follow `quota 3, holds 2, wants 9: `
    """

    value: str
    rule: str
    why: str


RULE_OF = {
    Bound.DEMAND: "R-NEED-1",
    Bound.BELOW: "R-NEED-1",
    Bound.LIMIT: "R-NEED-1",
    Bound.RESERVE: "R-NEED-1",
    Bound.GUARANTEE: "R-QUOTA-3",
    Bound.RATIO: "R-QUOTA-2",
    Bound.EQUAL: "R-FILL-2",
    Bound.EVEN: "R-QUOTA-4",
    Bound.NOTHING_LEFT: "R-FILL-2",
    Bound.SHARE: "R-SHARE-1",
    Bound.PLANNED: "R-SHARE-3",
    Bound.LIMIT_ABOVE: "R-SHARE-4",
    Bound.NO_PART: "R-SHARE-2",
    Bound.OWNED: "R-OWN-1",
    Bound.SLOTS: "R-OWN-1",
    Bound.LENDERS: "R-LEND-2",
    Bound.UNOWNED: "R-OWN-3",
    Bound.LIMIT_OF_BRANCH: "R-SCALE-3",
    Bound.HOSTS: "R-HOSTS-2",
    Bound.GANGS: "R-GANG-1",
    Bound.SITE: "R-SITE-2",
    Bound.BUDGET: "R-BUDGET-2",
    Bound.BORROWS: "R-BUDGET-3",
    Bound.USER_LIMIT: "R-USER-1",
}


def rule_of(bound: Bound | OwnBound) -> str:
    """The rule that says why a quota is no larger."""
    return bound.rule if isinstance(bound, OwnBound) else RULE_OF[bound]


@dataclass(frozen=True, slots=True)
class Parts:
    """What the quota of who owns exactly is made of; of a branch its leaves' sums.

    own, balance, shared : slots of its own, of balances above it, of what nobody owns (R-OWN-1, R-OWN-2, R-OWN-3)
    borrowed, lent       : path of the other side → slots (R-LEND-2); of a branch those inside, too
    """

    own: int
    balance: int
    shared: int
    borrowed: dict[str, int]
    lent: dict[str, int]


@dataclass(frozen=True, slots=True)
class Standing:
    """One consumer in the division among its siblings.

    owned, reserve, limit, demand, need, floor : slots; `floor` is what it gets for sure
    exact   : what filling gives before rounding
    rounded : 1 rounded up, -1 rounded down, 0 whole
    ratio, planned : share ratio and planned share, where slots are shared by ratio
    parts   : of what the quota is made, where slots are owned exactly
    more    : numbers of its policy alone, by the columns of the level
    """

    path: str
    owned: int
    reserve: int
    limit: int
    demand: int
    need: int
    floor: int
    rank: int
    exact: Fraction
    quota: int
    rounded: int
    held: int
    bound: Bound | OwnBound
    ratio: int = 0
    planned: Fraction | None = None
    parts: Parts | None = None
    more: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Level:
    """The division of one parent's quota among its children.

    amount : slots divided
    water  : λ, slots for each slot owned (phase `owners`) or for each child (phase `rest`)
    phase  : `owners` while owners share by what they own, `rest` when what they leave is shared equally, `enough`
        when every child has all that it needs; by share ratio `ratio` (λ for each unit of ratio), `leaves` (one λ over
        all leaves, for the weight of the whole cluster) or `fixed` (as planned)
    words   : of a phase that another package names, what follows `/ divides 10`
    columns : numbers of its siblings that only another package knows → what each means
    """

    parent: str
    amount: int
    water: Fraction
    phase: str
    siblings: tuple[Standing, ...]
    words: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Move:
    """Units that the cycle grants, or that are or come under notice.

    kind     : `grant`, `notice` (given by this cycle), `on the way` (given before), `withdrawn`
    consumer : who gets or holds them
    taker    : path they are on their way to, empty = nobody
    """

    kind: str
    consumer: str
    units: int
    taker: str = ""
    deadline: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Control:
    """A control that binds, of the plan or what requests say of hosts: without it more would be moved or be sure now.

    name     : key of the plan or of requests, one of RULE_OF_CONTROL
    consumer : path of the leaf that takes none back (`dead_zone`, `await_ends`), or that keeps what it holds
    units    : that are left where they are
    until    : instant from which the control binds no more for the first of them, 0 = not known
    hosts    : the hosts that the units would have to be on, in words; empty where it is not about hosts
    away     : names of such hosts that are not up, or closed, and would have room
    """

    name: str
    consumer: str
    units: int
    until: int = 0
    hosts: str = ""
    away: tuple[str, ...] = ()


RULE_OF_CONTROL = {
    "max_reclaims": "R-CONTROL-1",
    "dead_zone": "R-CONTROL-2",
    "await_ends": "R-CONTROL-3",
    "observe_only": "R-CONTROL-4",
    "min_runtime": "R-CONTROL-5",
    "budget.wait": "R-BUDGET-2",
    "budget.borrow_only": "R-BUDGET-3",
    "budget.lowest_rank": "R-BUDGET-4",
    "user_limit": "R-USER-1",
    "site.never": "R-SITE-2",
    "site.now": "R-SITE-4",
    "gang": "R-GANG-1",
    "hold_after": "R-HOLD-1",
}
"""The rule behind every control."""


@dataclass(frozen=True, slots=True)
class Loan:
    """What a leaf may borrow of another by the lists of both (R-LEND-1, R-LEND-2).

    most  : slots that the lists allow
    units : slots by the quotas; held: slots that are lent after the cycle (R-LEND-4)
    bound : why it is no more by the quotas: `demand` (the borrower needs no more), `lists` (they allow no more),
        `needed` (the lender needs all that it owns), `lent` (it lends all that it does not need), `limit` (of a branch
        above the borrower), `slots` (fewer are there than are owned, and none is left)
    """

    borrower: str
    lender: str
    most: int
    units: int
    held: int
    bound: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a consumer's numbers in one resource group are what they are.

    slots, scale_num, scale_den : slots now; owned slots count scale_num / scale_den of what is configured (R-SCALE-1)
    levels   : from the root down to the consumer's own siblings; empty at the root
    missing, can_give, must_give, gives, lacks : the consumer's numbers in the reclaim (R-RECLAIM)
    protected: above its quota by rounding alone (R-PROTECT-1)
    set_aside: idle slots set aside in its subtree for reserves (R-ASIDE-1)
    moves    : those that it, or a consumer below it, gets, holds or waits for
    controls : those that bind for it, a consumer below it, or one that could give it what it misses
    what_if  : what would give one slot more; None of the root, and where it was not sought
    loans    : of a leaf that owns exactly, of whom it may borrow and to whom it may lend
    """

    path: str
    resource_group: str
    slots: int
    scale_num: int
    scale_den: int
    quota: int
    demand: int
    held: int
    levels: tuple[Level, ...]
    missing: int
    can_give: int
    must_give: int
    gives: int
    lacks: int
    protected: bool
    set_aside: int
    moves: tuple[Move, ...]
    what_if: WhatIf | None
    controls: tuple[Control, ...] = ()
    loans: tuple[Loan, ...] = ()

    @property
    def counterfactual(self) -> Counterfactual | None:
        """The first of the changes that would give one slot more; None where none does or none was sought."""
        return next(iter(self.what_if.helps), None) if self.what_if else None
