"""The derivation of one consumer's quota, level by level from the root, and of what the cycle moves for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cycle.explain.whatif import Counterfactual, one_more
from fairhold.kernels.columns import PHASE_REST
from fairhold.ledger.tables import NOBODY
from fairhold.model.state import REASONS
from fairhold.rules.exact import Filling, fill_children
from fairhold.rules.reclaiming import weigh

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.run import CycleResult
    from fairhold.model.plan import Plan


class Bound(Enum):
    """What holds a consumer's quota where it is; the value is the rule that says so."""

    DEMAND = "demand"
    """It gets all that it wants (R-NEED-1)."""
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


RULE_OF = {
    Bound.DEMAND: "R-NEED-1",
    Bound.LIMIT: "R-NEED-1",
    Bound.RESERVE: "R-NEED-1",
    Bound.GUARANTEE: "R-QUOTA-3",
    Bound.RATIO: "R-QUOTA-2",
    Bound.EQUAL: "R-FILL-2",
    Bound.EVEN: "R-QUOTA-4",
    Bound.NOTHING_LEFT: "R-FILL-2",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """One consumer in the division among its siblings.

    owned, reserve, limit, demand, need, floor : slots; `floor` is what it gets for sure
    exact   : what filling gives before rounding
    rounded : 1 rounded up, -1 rounded down, 0 whole
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
    bound: Bound


@dataclass(frozen=True, slots=True)
class Level:
    """The division of one parent's quota among its children.

    amount : slots divided
    water  : λ, slots for each slot owned (phase `owners`) or for each child (phase `rest`)
    phase  : `owners` while owners share by what they own, `rest` when what they leave is shared equally, `enough`
        when every child has all that it needs
    """

    parent: str
    amount: int
    water: Fraction
    phase: str
    siblings: tuple[Standing, ...]


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
class Explanation:
    """Why a consumer's numbers in one resource group are what they are.

    slots, scale_num, scale_den : slots now; owned slots count scale_num / scale_den of what is configured (R-SCALE-1)
    levels   : from the root down to the consumer's own siblings; empty at the root
    missing, can_give, must_give, gives, lacks : the consumer's numbers in the reclaim (R-RECLAIM)
    protected: above its quota by rounding alone (R-PROTECT-1)
    set_aside: idle slots set aside in its subtree for reserves (R-ASIDE-1)
    moves    : those that it, or a consumer below it, gets, holds or waits for
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
    counterfactual: Counterfactual | None


def explain(plan: Plan, result: CycleResult, path: str, *, what_if: bool = True) -> Explanation:
    """Explain one consumer of a cycle's result; raises KeyError for an unknown path.

    what_if : also search for the smallest change that gives one slot more, which takes the longest
    """
    snapshot, draft, rows = result.snapshot, result.draft, result.snapshot.rows
    row = rows.by_path[path]
    if not any(result.decision):  # where nothing had to move, the cycle did not weigh who could give what
        weigh(snapshot, draft)
    balance = draft.balance
    return Explanation(
        path=path,
        resource_group=rows.group.name,
        slots=snapshot.slots,
        scale_num=snapshot.scale[0],
        scale_den=snapshot.scale[1],
        quota=draft.quota[row] if row else sum(draft.quota[rows.tree.first[0] : rows.tree.end[0]]),
        demand=snapshot.demand[row],
        held=snapshot.held[row],
        levels=tuple(_levels(result, row)),
        missing=balance.missing[row],
        can_give=balance.can[row],
        must_give=balance.must[row],
        gives=balance.gives[row],
        lacks=balance.lack[row],
        protected=draft.protected[row] == 1,
        set_aside=draft.inside[row],
        moves=tuple(_moves(result, row)),
        counterfactual=one_more(plan, snapshot.books, row) if row and what_if else None,
    )


def _levels(result: CycleResult, row: int) -> Iterator[Level]:
    tree = result.snapshot.rows.tree
    above = []
    while row > 0:
        row = tree.parent[row]
        above.append(row)
    for parent in reversed(above):
        yield derive_level(result, parent)


def derive_level(result: CycleResult, parent: int) -> Level:
    """The division of one parent's quota, derived again exactly."""
    snapshot, draft, rows = result.snapshot, result.draft, result.snapshot.rows
    amount = draft.quota[parent]
    filling = fill_children(snapshot, draft.needs, parent, Fraction(amount))
    first, end = rows.tree.first[parent], rows.tree.end[parent]
    phase = "enough" if filling.den == 0 else "rest" if filling.phase == PHASE_REST else "owners"
    water = _water(filling)
    return Level(
        parent=rows.path(parent),
        amount=amount,
        water=water,
        phase=phase,
        siblings=tuple(_standing(result, filling, water, child, child - first) for child in range(first, end)),
    )


def derive_standing(result: CycleResult, row: int) -> Standing:
    """One consumer's place in the division of its parent's quota, without those of its siblings; not of the root."""
    tree = result.snapshot.rows.tree
    parent = tree.parent[row]
    filling = fill_children(result.snapshot, result.draft.needs, parent, Fraction(result.draft.quota[parent]))
    return _standing(result, filling, _water(filling), row, row - tree.first[parent])


def _water(filling: Filling) -> Fraction:
    """The λ that gives these amounts: of several the largest, at which most children stand by their ratio.

    It is the smallest of amount / weight among the children that are not at their cap; where all are, the largest.
    """
    open_ones: list[Fraction] = []
    full_ones = [Fraction(0)]
    for child, weight in enumerate(filling.weight):
        if weight:
            top = filling.share(child) * filling.unit - filling.base[child]
            (open_ones if top < filling.cap[child] else full_ones).append(top / (weight * filling.unit))
    return min(open_ones, default=max(full_ones))


def _standing(result: CycleResult, filling: Filling, water: Fraction, row: int, child: int) -> Standing:
    snapshot, draft, rows = result.snapshot, result.draft, result.snapshot.rows
    exact, quota = filling.share(child), draft.quota[row]
    return Standing(
        path=rows.path(row),
        owned=rows.plan.owned[row],
        reserve=draft.needs.reserve[row],
        limit=rows.plan.limit[row],
        demand=snapshot.demand[row],
        need=draft.needs.need[row],
        floor=draft.needs.sure[row],
        rank=rows.tree.rank[row],
        exact=exact,
        quota=quota,
        rounded=(quota > exact) - (quota < exact),
        held=snapshot.held[row],
        bound=_bound(result, filling, water, row, exact),
    )


def _bound(result: CycleResult, filling: Filling, water: Fraction, row: int, exact: Fraction) -> Bound:
    snapshot, draft, rows = result.snapshot, result.draft, result.snapshot.rows
    need, owned = draft.needs.need[row], rows.plan.owned[row]
    if exact >= need:
        if need == 0 and snapshot.demand[row] > 0:
            return Bound.LIMIT
        wanted = snapshot.demand[row] if rows.is_leaf(row) else _wanted_below(result, row)
        if need < wanted:
            return Bound.LIMIT
        return Bound.DEMAND if need <= snapshot.demand[row] else Bound.RESERVE
    if owned == 0 and filling.phase != PHASE_REST:
        return Bound.NOTHING_LEFT
    if filling.phase == PHASE_REST:
        return Bound.EVEN if rows.entry.settings.distribute_evenly else Bound.EQUAL
    return Bound.GUARANTEE if exact > water * owned else Bound.RATIO


def _wanted_below(result: CycleResult, row: int) -> int:
    tree = result.snapshot.rows.tree
    return sum(result.draft.needs.need[tree.first[row] : tree.end[row]])


def _moves(result: CycleResult, row: int) -> Iterator[Move]:
    """What the cycle moves for the subtree of a row, and what was on its way there before."""
    rows = result.snapshot.rows
    start = rows.position[row]
    inside = range(start, start + rows.size[row])

    def concerns(leaf: int) -> bool:
        return leaf != NOBODY and rows.position[leaf] in inside

    units: dict[Move, int] = {}
    for move, leaf, taker, count in _all_moves(result):
        if concerns(leaf) or concerns(taker):
            units[move] = units.get(move, 0) + count
    for move, count in units.items():
        yield Move(move.kind, move.consumer, count, move.taker, move.deadline, move.reason)


def _all_moves(result: CycleResult) -> Iterator[tuple[Move, int, int, int]]:
    """Every move without its units, its holder's and its taker's row, its units."""
    books, rows = result.snapshot.books, result.snapshot.rows
    notices = books.notices

    def holder(allocation: int) -> int:
        return books.requests.leaf[books.allocations.request[allocation]]

    def taker_path(taker: int) -> str:
        return "" if taker == NOBODY else rows.path(taker)

    for grant in result.decision.grants:
        leaf = books.requests.leaf[grant.request]
        yield Move("grant", rows.path(leaf), 0), leaf, NOBODY, grant.units
    for allocation, mine in notices.by_allocation.items():
        leaf = holder(allocation)
        for row in mine:
            taker = notices.taker[row]
            reason = REASONS[notices.reason[row]]
            move = Move("on the way", rows.path(leaf), 0, taker_path(taker), notices.deadline[row], reason)
            yield move, leaf, taker, notices.units[row]
    for withdrawal in result.decision.withdrawals:
        leaf = holder(notices.allocation[withdrawal.notice])
        taker = notices.taker[withdrawal.notice]
        yield Move("withdrawn", rows.path(leaf), 0, taker_path(taker)), leaf, taker, withdrawal.units
    for notice in result.decision.notices:
        leaf = holder(notice.allocation)
        reason = REASONS[notice.reason]
        move = Move("notice", rows.path(leaf), 0, taker_path(notice.taker), notice.deadline, reason)
        yield move, leaf, notice.taker, notice.units
