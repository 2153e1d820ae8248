"""The derivation of one consumer's quota, level by level from the root, and of what the cycle moves for it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from fairhold.cycle.explain.budgets import bound_of_demand, bounds_of
from fairhold.cycle.explain.gangs import gangs_of, is_bound_by_gangs
from fairhold.cycle.explain.loans import loans_of
from fairhold.cycle.explain.nouns import Bound, Explanation, Level, Move, Standing
from fairhold.cycle.explain.owning import derive_owned
from fairhold.cycle.explain.restraint import controls_of
from fairhold.cycle.explain.sites import sites_of
from fairhold.cycle.explain.standing import standing
from fairhold.cycle.explain.whatif import one_more
from fairhold.kernels.columns import PHASE_REST
from fairhold.ledger.tables import NOBODY
from fairhold.model.state import REASONS
from fairhold.policies.registry import rules_of
from fairhold.rules.exact import Filling, fill_children
from fairhold.rules.granting import is_fixed
from fairhold.rules.ratios import fill_sharers
from fairhold.rules.sharing import needs_of_sharers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from fairhold.cycle.run import CycleResult
    from fairhold.kernels.amounts import Amounts
    from fairhold.ledger.draft import CycleContext
    from fairhold.model.plan import Plan


def explain(
    plan: Plan,
    result: CycleResult,
    path: str,
    *,
    what_if: bool = True,
    unseen: Collection[str] = (),
    wants_more: bool = True,
) -> Explanation:
    """Explain one consumer of a cycle's result; raises KeyError for an unknown path.

    what_if    : also search for the smallest change that gives one slot more, which takes the longest
    unseen     : hosts that are down and were never up
    wants_more : as in `one_more`
    """
    snapshot, draft, rows = result.snapshot, result.draft, result.snapshot.rows
    row = rows.by_path[path]
    if not any(result.decision[:3]):  # where nothing had to move, the cycle did not weigh who could give what
        rules_of(rows).weigh(snapshot, draft)
    balance = draft.balance
    return Explanation(
        path=path,
        resource_group=rows.group.name,
        slots=snapshot.slots,
        scale_num=snapshot.scale[0],
        scale_den=snapshot.scale[1] if rows.is_scaled(row) else snapshot.scale[0],
        quota=draft.quota[row] if row else rows.tree.total(draft.quota, 0),
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
        what_if=one_more(plan, snapshot.books, row, snapshot.now, unseen, wants_more=wants_more)
        if row and what_if
        else None,
        controls=(*controls_of(result, row), *bounds_of(result, row), *sites_of(result, row), *gangs_of(result, row)),
        loans=tuple(loans_of(result, row)),
    )


def _levels(result: CycleResult, row: int) -> Iterator[Level]:
    tree = result.snapshot.rows.tree
    line = []
    while row > 0:
        line.append(row)
        row = tree.parent[row]
    for child in reversed(line):
        yield level_of(result, child)


def level_of(result: CycleResult, row: int) -> Level:
    """The division in which a row has its part: among the siblings that are under its policy."""
    return _divider(result, row)(result, result.snapshot.rows.tree.parent[row])


def _divider(result: CycleResult, row: int) -> Callable[[CycleResult, int], Level]:
    rows = result.snapshot.rows
    if (division := rows.entry.policy.division) is not None:
        return cast("Callable[[CycleResult, int], Level]", division.explain)
    if rows.is_owner[row]:
        return derive_owned
    return derive_level if result.draft.planned is None else derive_shares


def derive_level(result: CycleResult, parent: int) -> Level:
    """The division of one parent's quota, derived again exactly."""
    rows = result.snapshot.rows
    filling = _filling(result, parent)
    phase = "enough" if filling.den == 0 else "rest" if filling.phase == PHASE_REST else "owners"
    water = _water(filling)
    return Level(
        parent=rows.path(parent),
        amount=result.draft.quota[parent],
        water=water,
        phase=phase,
        siblings=tuple(
            _standing(result, filling, water, child, place)
            for place, child in enumerate(rows.tree.children(parent))
            if not rows.is_owner[child]
        ),
    )


def _filling(result: CycleResult, parent: int) -> Filling:
    snapshot, draft = result.snapshot, result.draft
    return fill_children(snapshot, needs_of_sharers(snapshot, draft), parent, Fraction(draft.quota[parent]))


def derive_shares(result: CycleResult, parent: int) -> Level:
    """The division of one parent's quota by share ratio."""
    snapshot, draft, rows = result.snapshot, result.draft, result.snapshot.rows
    amount, planned = draft.quota[parent], _planned(draft)
    children = rows.tree.children(parent)
    if is_fixed(snapshot):
        phase, exact = "fixed", [draft.exact(row) for row in children]
        water = planned.level(children[0]) or Fraction(0)
    elif draft.filled is not None:
        level = draft.filled.level(parent)
        phase, exact = "enough" if level is None else "leaves", [draft.exact(row) for row in children]
        water = level or Fraction(0)
    else:
        filling = fill_sharers(rows, draft.needs, parent, Fraction(amount))
        phase, exact = "ratio" if filling.den else "enough", [filling.share(place) for place in range(len(children))]
        water = _water(filling)
    return Level(
        parent=rows.path(parent),
        amount=amount,
        water=water,
        phase=phase,
        siblings=tuple(_sharer(result, row, own, water) for row, own in zip(children, exact, strict=True)),
    )


def _planned(draft: CycleContext) -> Amounts:
    assert draft.planned is not None
    return draft.planned


def _sharer(result: CycleResult, row: int, exact: Fraction, water: Fraction) -> Standing:
    draft, bound = result.draft, _bound_of_sharer(result, row, exact, water)
    return replace(
        standing(result, row, floor=draft.needs.sure[row], exact=exact, bound=bound),
        ratio=result.snapshot.rows.ratio[row],
        planned=_planned(draft).exact(row),
    )


def _bound_of_sharer(result: CycleResult, row: int, exact: Fraction, water: Fraction) -> Bound:
    snapshot, draft, rows = result.snapshot, result.draft, result.snapshot.rows
    need = draft.needs.need[row]
    at = row
    while at > 0 and rows.ratio[at] > 0:
        at = rows.tree.parent[at]
    if at > 0:
        return Bound.NO_PART
    if exact >= need:
        return Bound.LIMIT if need < _wanted(result, row) else bound_of_demand(result, row)
    if is_fixed(snapshot):
        return Bound.GANGS if rows.is_leaf(row) and is_bound_by_gangs(result, row) else Bound.PLANNED
    if draft.filled is not None:
        return Bound.SHARE if draft.filled.level(row) == draft.filled.level(0) else Bound.LIMIT_ABOVE
    return Bound.PLANNED if exact > water * rows.ratio[row] else Bound.SHARE


def derive_standing(result: CycleResult, row: int) -> Standing:
    """One consumer's place in the division in which it has its part; not of the root."""
    rows = result.snapshot.rows
    parent = rows.tree.parent[row]
    if _divider(result, row) is derive_level:  # the others are not asked for, they may be many
        filling = _filling(result, parent)
        return _standing(result, filling, _water(filling), row, rows.tree.children(parent).index(row))
    path = rows.path(row)
    return next(each for each in level_of(result, row).siblings if each.path == path)


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
    exact = filling.share(child)
    bound = _bound(result, filling, water, row, exact)
    return standing(result, row, floor=result.draft.needs.sure[row], exact=exact, bound=bound)


def _bound(result: CycleResult, filling: Filling, water: Fraction, row: int, exact: Fraction) -> Bound:
    rows = result.snapshot.rows
    owned = rows.plan.owned[row]
    if exact >= result.draft.needs.need[row]:
        return bound_by_need(result, row)
    if rows.controls.owns_nothing[row] and rows.stated(row).owned:
        return Bound.BORROWS
    if owned == 0 and filling.phase != PHASE_REST:
        return Bound.NOTHING_LEFT
    if filling.phase == PHASE_REST:
        return Bound.EVEN if rows.entry.settings.distribute_evenly else Bound.EQUAL
    return Bound.GUARANTEE if exact > water * owned else Bound.RATIO


def bound_by_need(result: CycleResult, row: int) -> Bound:
    """What bounds the need of a consumer that gets all that it needs (R-NEED-1)."""
    need = result.draft.needs.need[row]
    if need < _wanted(result, row):
        return Bound.LIMIT
    return bound_of_demand(result, row) if need <= result.snapshot.demand[row] else Bound.RESERVE


def _wanted(result: CycleResult, row: int) -> int:
    """What it needs without its limit."""
    tree = result.snapshot.rows.tree
    if result.snapshot.rows.is_leaf(row):
        return result.snapshot.usable[row]
    return tree.total(result.draft.needs.need, row)


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
