"""Who gives how much against the words of SPEC §8.4 (R-RECLAIM-1 to R-RECLAIM-5)."""

from __future__ import annotations

from array import array
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from fairhold.kernels.columns import TreeColumns, leaves_of, zeros
from fairhold.kernels.reclaim import Balance, Holdings, balance, divide, divide_flat
from fairhold.ledger import transitions
from fairhold.ledger.books import Books
from fairhold.ledger.rows import lay_out
from fairhold.ledger.snapshot import Snapshot, take_snapshot
from fairhold.model.plan import ConsumerSettings, Plan, PolicyEntry, ResourceGroup
from fairhold.model.tree import ConsumerTree
from fairhold.policies.hybrid.policy import HYBRID
from fairhold.rules.lacking import settle_lack
from tests.kernels.trees import columns, is_leaf, numbers, place_in_path, sizes, summed, trees
from tests.oracles import reclaiming as oracle

if TYPE_CHECKING:
    from hypothesis.strategies import DataObject


def snapshot_of(tree: TreeColumns, owned: array[int], held: array[int], slots: int, more: int) -> Snapshot:
    """A snapshot of a plan with that tree, whose leaves hold what `held` says; `more` is configured than is owned."""
    rows = len(tree.parent)
    names = ["", *(f"c{row}" for row in range(1, rows))]
    consumers = ConsumerTree(names, list(tree.parent), list(tree.rank), [None] * rows)
    settings = {row: ConsumerSettings(owned=owned[row]) for row in range(1, rows)}
    configured = more + tree.total(owned, 0)
    group = ResourceGroup("g", slots, configured)
    plan = Plan("c", "UTC", 0, consumers, {"g": group}, (PolicyEntry(("g",), HYBRID, consumers=settings),))
    books = Books(lay_out(plan, "g"))
    assert list(books.rows.tree.path) == list(tree.path)
    host = transitions.add_host(books, "", slots)
    for leaf in books.rows.leaves:
        transitions.grant(books, transitions.submit(books, leaf, held[leaf]), host, held[leaf], 0)
    return take_snapshot(books, 0)


def draw_holdings(data: DataObject, tree: TreeColumns) -> Holdings:
    """Any numbers, as far as the kernels are promised: sums of branches, protection of leaves above their quota."""
    few = data.draw(st.sampled_from([3, 12]), "largest number")
    drawn = {name: data.draw(columns(tree, numbers(few)), name) for name in Holdings._fields}
    held = drawn["held"] = summed(tree, drawn["held"])
    for row in range(len(held)):
        leaf = is_leaf(tree, row)
        drawn["whole"][row] = held[row] + drawn["whole"][row] // 3
        drawn["keep"][row] = drawn["quota"][row] + max(0, drawn["keep"][row] - few * 3 // 4)
        drawn["limit"][row] = drawn["quota"][row] + drawn["limit"][row]
        drawn["protected"][row] = int(leaf and held[row] > drawn["quota"][row] and drawn["protected"][row] > few // 3)
        drawn["noticed"][row] = min(held[row], drawn["noticed"][row]) if leaf else 0
        drawn["bound"][row] = drawn["noticed"][row] if leaf and drawn["bound"][row] * 6 > few * 5 else 0
    return Holdings(**drawn)


def nodes(tree: TreeColumns, have: Holdings) -> list[oracle.Node]:
    found = []
    for row in range(len(tree.parent)):
        numbers_of: dict[str, Any] = {name: getattr(have, name)[row] for name in Holdings._fields}
        found.append(oracle.Node(row, **numbers_of, rank=tree.rank[row]))
    for row in tree.child[1:]:
        node = found[row]
        node.above = found[tree.parent[row]]
        node.above.children.append(node)
    return found


def compute(tree: TreeColumns, have: Holdings, lost: int, asked: int = -1, *, flat: bool = False) -> Balance:
    rows = len(tree.parent)
    out = Balance(*(zeros(rows) for _ in Balance._fields))
    places = (place_in_path(tree), sizes(tree))
    balance(tree, *places, have, flat, out)
    if flat:
        line = Balance(*(zeros(rows) for _ in Balance._fields))
        divide_flat(tree, leaves_of(tree), have, lost, asked, out, zeros(rows), line)
    else:
        divide(tree, have, lost, asked, out, zeros(rows))
    return out


def of_row(out: Balance, row: int) -> tuple[int, ...]:
    return tuple(getattr(out, name)[row] for name in Balance._fields)


@given(trees(), st.sampled_from([0, 0, 1, 5, 30]), st.sampled_from([-1, -1, 0, 3, 20]), st.data())
def test_claims_and_their_division_are_those_of_the_oracle(
    tree: TreeColumns, lost: int, asked: int, data: DataObject
) -> None:
    have = draw_holdings(data, tree)
    expected = nodes(tree, have)
    out = compute(tree, have, lost, asked)
    oracle.claims(expected[0])
    oracle.divide(expected[0], lost, asked)
    for row, node in enumerate(expected):
        numbers_of = (node.missing, node.can, node.must, node.lack, node.gives)
        assert of_row(out, row) == numbers_of, row


@given(trees(), st.sampled_from([0, 0, 1, 5, 30]), st.data())
def test_what_still_lacks_is_taken_as_the_oracle_takes_it(tree: TreeColumns, lost: int, data: DataObject) -> None:
    have = draw_holdings(data, tree)
    owned, need = data.draw(columns(tree, numbers()), "owned"), data.draw(columns(tree, numbers(20)), "need")
    slots = max(0, have.held[0] - lost) if lost else have.held[0] + data.draw(numbers(), "idle")
    snapshot = snapshot_of(tree, owned, have.held, slots, data.draw(numbers(), "configured beyond what is owned"))
    expected = nodes(tree, have)
    for row, node in enumerate(expected):
        configured = snapshot.scale[1]
        now = Fraction(owned[row] * slots, configured) if configured else 0
        node.firm = min(need[row], owned[row], int(now))
    out = compute(tree, have, snapshot.lost)
    settle_lack(snapshot, array("q", (node.firm for node in expected)), have, out)
    oracle.claims(expected[0])
    oracle.divide(expected[0], snapshot.lost)
    oracle.settle_lack(expected[0], snapshot.lost)
    assert [out.gives[leaf.row] for leaf in expected[0].leaves()] == [leaf.gives for leaf in expected[0].leaves()]


@given(trees(), st.sampled_from([0, 0, 1, 5, 30]), st.sampled_from([-1, -1, 0, 3, 20]), st.data())
def test_claims_and_division_over_one_list_of_leaves_are_those_of_the_oracle(
    tree: TreeColumns, lost: int, asked: int, data: DataObject
) -> None:
    have = draw_holdings(data, tree)
    expected = nodes(tree, have)
    out = compute(tree, have, lost, asked, flat=True)
    oracle.claims(expected[0], flat=True)
    oracle.divide_over_leaves(expected[0], lost, asked)
    for row, node in enumerate(expected):
        if row == 0 or not node.children:  # the oracle raises what leaves must give on the way
            found = (out.missing[row], out.can[row], out.lack[row], out.gives[row])
            assert found == (node.missing, node.can, node.lack, node.gives), row


@given(trees(), st.sampled_from([0, 0, 1, 5, 30]), st.data())
def test_a_division_loses_nothing_and_stays_within_bounds(tree: TreeColumns, lost: int, data: DataObject) -> None:
    have = draw_holdings(data, tree)
    out = compute(tree, have, lost)
    for row in range(len(tree.parent)):
        assert out.must[row] <= out.can[row]
        assert out.must[row] <= out.gives[row] <= out.can[row]
        if tree.children(row):
            assert out.gives[row] == tree.total(out.gives, row)
