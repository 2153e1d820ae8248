"""The picture of a resource group that is shared in slots: the tree with what each has, and who may lend to whom."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.drawing.bars import Bar, bar_legend
from fairhold.drawing.lending import MOST, draw_lendings, lendings, said
from fairhold.drawing.marks import EMPTY, Block, below, put
from fairhold.drawing.table import Row, draw_table, in_order
from fairhold.drawing.terms import BUDGET, NOTHING, budget_cells, slot_cells
from fairhold.units import SECOND

if TYPE_CHECKING:
    from fairhold.drawing.terms import Cells
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Numbers = dict[str, Any]
_COLUMNS = (
    *("policy", "owned", "reserved", "limit", "share_ratio", "planned", "rank", "reclaim_grace", BUDGET),
    *("wants", "holds", "quota", "may lend to"),
)
_WORDS = frozenset({"policy", BUDGET, "may lend to"})


def draw_slots(
    plan: Plan, group: str, force: tuple[int, ...], state: State, numbers: Numbers, *, has_state: bool
) -> Block:
    """The tree, a bar for each consumer, and arrows from lenders to borrowers.

    force     : positions of the entries in force
    numbers   : what `quota` says of the group in the state
    has_state : what is wanted, held and deserved is shown, too
    """
    chosen = plan.entries_of(group, force)
    policies = [plan.policies[at].policy for at in chosen]
    stated = {node: plan.policies[chosen[node]].consumers.get(node, NOTHING) for node in range(len(plan.tree))}
    lists = {node: each for node, each in stated.items() if policies[node].owns_exactly}
    lent = {(loan.lender, loan.borrower): loan.units for loan in state.borrowed if loan.resource_group == group}
    lends = lendings(lists, lent)
    is_drawn = len({each.lender for each in lends}) <= MOST
    to_whom = {} if is_drawn else said(plan.tree, lends)
    bars = _bars(plan, group, state, numbers, has_state=has_state)
    rows = []
    for node in in_order(plan.tree, plan.tree.children[0]):
        entry, several = plan.policies[chosen[node]], len({*force}) > 1
        cells: Cells = slot_cells(plan, entry, stated[node], node) if node else {}
        cells |= budget_cells(stated[node], {0: state.spent.get((node, group), 0) * SECOND})
        cells |= {"policy": (entry.policy.name,)} if node and several else {}
        numbers_of = _numbers(numbers["consumers"][plan.tree.paths[node]], has_state=has_state)
        cells |= numbers_of | ({"may lend to": to_whom[node]} if node in to_whom else {})
        rows.append(Row(node, cells, 0, bars[node].block()))
    table = draw_table(plan.tree, _COLUMNS, rows, _WORDS)
    arrows = draw_lendings(plan.tree, lends, table.middle) if is_drawn else EMPTY
    whole = Block(
        table.block.width + arrows.width,
        table.block.height,
        (put(table.block, 0, 0), put(arrows, table.block.width, 0)),
    )
    return below([whole, bar_legend(list(bars.values()), has_arrows=arrows is not EMPTY)], 12)


def _numbers(mine: Numbers, *, has_state: bool) -> Cells:
    """What the cycle makes of it."""
    cells: Cells = {"planned": (_rounded(mine["planned"]),)} if "planned" in mine else {}
    if not has_state:
        return cells
    told = (("wants", "demand"), ("holds", "allocated"), ("quota", "quota"))
    return cells | {name: (str(mine[key]),) for name, key in told}


def _rounded(exact: str) -> str:
    """An exact fraction with two decimals at most, marked where it is not all."""
    value = Fraction(exact)
    whole, rest = divmod(round(value * 100), 100)
    text = f"{whole}.{rest:02}".rstrip("0").rstrip(".")
    return text if Fraction(text) == value else f"~{text}"


def _bars(plan: Plan, group: str, state: State, numbers: Numbers, *, has_state: bool) -> dict[int, Bar]:
    """The bars of all consumers, on one scale."""
    consumers = numbers["consumers"]
    longest = max(numbers["slots"], 1, *(each[key] for each in consumers.values() for key in _LONG))
    noticed = _noticed(plan, group, state)
    keys = {first: key for key, first in enumerate(plan.tree.children[0], start=1)}
    found = {}
    for node, path in enumerate(plan.tree.paths):
        mine = consumers[path]
        limit = mine["limit"]
        found[node] = Bar(
            key=keys.get(plan.tree.first_level[node], 0),
            longest=longest,
            owned=mine["owned"] if node else numbers["slots"],
            reserved=mine["reserve"] if node else 0,
            planned=Fraction(mine.get("planned", 0)) if node else Fraction(0),
            limit=limit if limit is not None and limit <= longest else None,
            held=mine["allocated"] if has_state else None,
            noticed=noticed[node],
            wanted=mine["demand"],
            quota=mine["quota"],
            is_leaf=plan.tree.is_leaf(node),
        )
    return found


_LONG = ("owned", "allocated", "quota")


def _noticed(plan: Plan, group: str, state: State) -> list[int]:
    """(consumers,) units under notice, of a parent those of all below it."""
    group_of = {request.id: request.resource_group for request in state.requests}
    found = [0] * len(plan.tree)
    for notice in state.notices:
        if (notice.resource_group or group_of.get(notice.request)) == group:
            found[notice.consumer] += notice.units
    for node in range(len(plan.tree) - 1, 0, -1):
        found[plan.tree.parent[node]] += found[node]
    return found
