"""The picture of a policy entry that shares vectors: the tree, the hosts with their parcels, and the pools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.pooled.open import open_pools
from fairhold.drawing.cards import CARD, GAP, Look, grid, host_card, label_width, pool_card
from fairhold.drawing.colours import key_mark, reserved, used
from fairhold.drawing.holdings import folded, of_hosts, of_pools
from fairhold.drawing.legend import heading, legend
from fairhold.drawing.marks import EMPTY, PAPER, RULE, Block, below, box, put
from fairhold.drawing.table import OWNS, Row, draw_table, in_order
from fairhold.drawing.terms import BUDGET, NOTHING, budget_cells, used_of, vector_cells
from fairhold.ledger.pools import PUBLIC
from fairhold.rules.pools.content import lend_up
from fairhold.rules.pools.reservations import Reservations
from fairhold.rules.pools.sweeps import private_pools
from fairhold.units import format_duration

if TYPE_CHECKING:
    from fairhold.cycle.pooled.active_entries import InForce
    from fairhold.drawing.holdings import Stock
    from fairhold.ledger.pool_terms import Terms
    from fairhold.ledger.pools import PoolBooks
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

_COLUMNS = (
    *("share_priority", "share_ratio", "share_limit", "rank", "reclaim_grace", "private_pool_grace", BUDGET, OWNS),
)
_WORDS = frozenset({OWNS, BUDGET, "share_limit"})
_USES = (
    ("own", "used, by whom"),
    ("lent", "lent, and used by whom"),
    ("notice", "under notice"),
    ("kept", "kept for whom it was freed"),
)
_BESIDE, _LEGEND = 24, 270
_WIDEST, _HIGH_ENOUGH = 1_400, 760
"""Of a picture in which the tree stands beside the hosts; else it stands above them."""
_LEAST, _MOST = 2, 5
"""Boxes in a row."""


def draw_vectors(plan: Plan, force: InForce, state: State, *, has_state: bool) -> Block:
    """Tree, hosts and pools; has_state: with the units of the state on them."""
    books = open_pools(plan, force.entry, force.part_of(plan, state))
    Reservations(books).read()  # what is held for whom
    down = [
        (group, host.name, host.amounts)
        for group in force.entry.resource_groups
        for host in plan.resource_groups[group].hosts
        if host.name in state.hosts_down
    ]
    hosts = of_hosts(books, down)
    keys = _keys(plan, force, hosts)
    tree = _tree(plan, force, keys, state)
    pools = _pools(books, as_now=has_state)
    groups = force.entry.resource_groups
    stocks = [each for name in groups for each in _of_group(hosts, name)]
    label = label_width(plan.resources, [*stocks, *(stock for _, stock in pools)])
    look = Look(plan.tree, plan.resources, keys, label, has_state, state.now)
    boxes = [(name, [host_card(look, each) for each in stocks if each.group == name]) for name in groups]
    cards = [pool_card(look, pool, stock, *_notes(books, pool)) for pool, stock in pools]
    room = _WIDEST - max(tree.width, _LEGEND) - _BESIDE
    most = (room + GAP) // (CARD + GAP)
    panels = (_panel(boxes, cards, columns) for columns in range(_LEAST, min(most, _MOST) + 1))
    high = max(tree.height, _HIGH_ENOUGH)
    found = None
    for found in panels:
        if found.height <= high:
            break
    if found is None:  # the tree is too wide
        return below([tree, _panel(boxes, cards, _MOST), _legend(hosts, _WIDEST)], 20)
    left = below([tree, _legend(hosts, max(tree.width, _LEGEND))], 20)
    x = left.width + _BESIDE
    return Block(x + found.width, max(left.height, found.height), (put(left, 0, 0), put(found, x, 0)))


def _panel(boxes: list[tuple[str, list[Block]]], pools: list[Block], columns: int) -> Block:
    """Hosts, by resource group where there are several, and pools."""
    several = len(boxes) > 1
    parts = [heading("Hosts and their parcels")]
    for name, cards in boxes:
        parts += [heading(name, is_small=True) if several else EMPTY, grid(cards, columns)]
    return below([*parts, heading("Pools"), grid(pools, columns)], 10)


def _of_group(hosts: list[Stock], name: str) -> list[Stock]:
    return folded([stock for stock in hosts if stock.group == name])


def _keys(plan: Plan, force: InForce, hosts: list[Stock]) -> dict[int, int]:
    """Owners and leaves have colours, in the order of the tree: the same ones with and without a state."""
    owners = {owner for stock in hosts for owner, _ in stock.shares}
    rows = in_order(plan.tree, [row for row in plan.tree.children[0] if row in force.members])
    found = [row for row in rows if row and (row in owners or plan.tree.is_leaf(row))]
    return {row: key for key, row in enumerate(found, start=1)}


def _tree(plan: Plan, force: InForce, keys: dict[int, int], state: State) -> Block:
    members = [row for row in plan.tree.children[0] if row in force.members]
    entry, rows = force.as_stated(plan), []
    for node in in_order(plan.tree, members):
        stated = entry.consumers.get(node, NOTHING) if node else NOTHING
        cells = vector_cells(plan, entry, stated, node) | budget_cells(stated, used_of(state, node))
        rows.append(Row(node, cells, keys.get(node, 0)))
    return below([heading("Consumers"), draw_table(plan.tree, _COLUMNS, rows, _WORDS).block], 4)


def _pools(books: PoolBooks, *, as_now: bool) -> list[tuple[int, Stock]]:
    """Private pools, the deepest first, then the public one; what is idle is lent up as far as it goes."""
    pools = private_pools(books)
    parent_of_leaf = {leaf: books.terms.tree.parent[leaf] for leaf in books.terms.leaves}
    if as_now:
        everything = [parcel for host in books.hosts for parcel in host.parcels]
        for parcel in everything:
            if parcel.owner in parent_of_leaf:
                lend_up([parcel], parcel.owner, parent_of_leaf[parcel.owner])
        for pool in pools:
            lend_up(everything, pool, books.terms.tree.parent[pool])
    return list(of_pools(books, (*pools, PUBLIC), as_now=as_now).items())


def _notes(books: PoolBooks, pool: int) -> tuple[list[str], str]:
    """Who shares the pool and who lets go how fast; where what is idle in it goes."""
    terms = books.terms
    grace = terms.settings.public_pool_grace if pool == PUBLIC else terms.pool_grace.get(pool)
    who = "for everybody" if pool == PUBLIC else f"for all below {terms.tree.paths[pool]}"
    owner = "nobody" if pool == PUBLIC else terms.tree.name[pool]
    said = [who] + ([] if grace is None else [f"what {owner} owns is given back within {format_duration(grace)}"])
    stays = [entry.reserved for entry in terms.own.get(pool, ())]
    if stays and all(stays):
        return [*said, "reserved: nothing goes to other pools"], ""
    return said, "" if pool == PUBLIC else _onwards(terms, pool, is_part=any(stays))


def _onwards(terms: Terms, pool: int, *, is_part: bool) -> str:
    """Where the idle part of a private pool goes; is_part: some of it is reserved."""
    above = terms.tree.paths[terms.tree.parent[pool]]
    where = "the public pool" if above == "/" else f"the pool of {above}"
    return f"what is idle{', but for what is reserved,' if is_part else ''} goes to {where}"


def _legend(hosts: list[Stock], room: int) -> Block:
    """What the marks mean that there are."""
    uses = {kind for stock in hosts for share in stock.shares.values() for _, kind in share.uses}
    signs = [(key_mark(1, 0, 0)[1], "who owns it, with the number of the tree")]
    if any(share.bound for stock in hosts for share in stock.shares.values()):
        signs.append(
            (box(0, 0, 22, 14, fill=PAPER, stroke=RULE) + reserved(0, 0, 22, 14), "reserved: not lent to others")
        )
    for kind, meaning in _USES:
        if kind in uses:
            signs.append(("".join(used(1, (0, 0, 22, 14), kind)), meaning))
    return legend(signs, room)
