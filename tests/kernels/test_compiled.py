"""Compiled kernels give what plain ones give, and are not asked where int64 does not hold the products."""

from __future__ import annotations

from array import array
from random import Random
from typing import TYPE_CHECKING

import pytest

from fairhold.cycle.open import open_books
from fairhold.kernels import _jit
from fairhold.kernels.columns import Needs, PlanColumns, TreeColumns, leaves_of, zeros
from fairhold.kernels.distribute import grant, set_aside
from fairhold.kernels.ratios import needs_by_ratio, share_by_ratio
from fairhold.kernels.reclaim import Balance, Holdings, balance, divide, divide_flat
from fairhold.kernels.rollup import exceeds, needs, roll_up
from fairhold.kernels.select import leaves_where_more, leaves_where_other
from fairhold.kernels.share import share
from fairhold.ledger import snapshot
from fairhold.model.plan import ConsumerSettings, PolicyEntry, PolicySettings, ResourceGroup
from fairhold.model.plan import Plan as WholePlan
from fairhold.model.state import State
from fairhold.model.tree import ConsumerTree
from fairhold.policies.hybrid.policy import HYBRID
from fairhold.units import LARGEST
from tests.kernels.trees import chain, is_leaf, place_in_path, sizes, summed, tree_of

if TYPE_CHECKING:
    from collections.abc import Callable

pytest.importorskip("numba")

Everything = list["array[int]"]


def shapes() -> dict[str, TreeColumns]:
    dice = Random(7)
    families, rows = [5], 6
    while len(families) < rows:
        size = dice.choice([0, 0, 1, 3]) if rows < 60 else 0
        families.append(size)
        rows += size
    return {
        "one leaf": tree_of([1, 0], [0, 0]),
        "flat": tree_of([40, *[0] * 40], [number % 3 for number in range(41)]),
        "deep": chain(30),
        "mixed": tree_of(families, [dice.randint(0, 2) for _ in range(rows)]),
    }


TREES = shapes()


def whole_cycle(tree: TreeColumns, seed: int, *, compiled: bool, evenly: bool, most: int) -> Everything:
    """All kernels one after another on random columns; every column that they write."""
    dice = Random(seed)
    rows = len(tree.parent)

    def column() -> array[int]:
        return array("q", [dice.randint(0, most) for _ in range(rows)])

    owned = summed(tree, column())
    plan = PlanColumns(owned, array("q", [dice.randint(0, each) for each in owned]), owned[:])
    for row in range(rows):
        plan.limit[row] = 2**53 if row == 0 or dice.random() < 0.5 else owned[row] + dice.randint(0, most)
    slots, configured = dice.randint(0, 2 * owned[0]), owned[0] + dice.randint(0, 3)
    demand, held = column(), summed(tree, column())
    roll_up.run(compiled, tree, demand)
    need = Needs(*(zeros(rows) for _ in Needs._fields))
    needs.run(compiled, tree, plan, slots, configured, demand, need)
    quota, most_of = zeros(rows), zeros(rows)
    quota[0] = most_of[0] = slots
    room = [zeros(rows) for _ in range(4)]
    for up, shares in ((True, most_of), (False, quota)):
        share.run(compiled, tree, plan, need, evenly, up, slots, configured, *room, shares)
    idle, (kept, inside, own, granted) = max(0, slots - held[0]), (zeros(rows) for _ in range(4))
    bounded, budget = array("q", [dice.randint(0, 1) for _ in range(rows)]), dice.randint(0, idle)
    common = set_aside.run(compiled, tree, idle, need.reserve, held, kept, inside, own, bounded, budget)
    rest = [zeros(rows) for _ in range(3)]
    left = grant.run(
        compiled, tree, common, quota, plan.limit, demand, held, inside, own, granted, *rest, bounded, budget
    )
    noticed = array("q", [dice.randint(0, held[row]) if is_leaf(tree, row) else 0 for row in range(rows)])
    whole = array("q", map(sum, zip(held, inside, strict=True)))
    have = Holdings(
        quota, quota, plan.limit, need.reserve, held, whole, quota[:], zeros(rows), noticed, zeros(rows)
    )  # fmt: skip
    books, flat, line = (Balance(*(zeros(rows) for _ in Balance._fields)) for _ in range(3))
    lost, places = max(0, held[0] - slots), (place_in_path(tree), sizes(tree))
    balance.run(compiled, tree, *places, have, False, books)  # noqa: FBT003
    divide.run(compiled, tree, have, lost, -1, books, zeros(rows))
    balance.run(compiled, tree, *places, have, True, flat)  # noqa: FBT003
    divide_flat.run(compiled, tree, leaves_of(tree), have, lost, -1, flat, zeros(rows), line)
    reclaimed = (*books, *flat, *divided_by_ratio(tree, plan, slots, demand, compiled=compiled))
    looked_at = selected(tree, demand, held, plan.limit, compiled=compiled)
    shared = (demand, *need, most_of, quota, granted, held, inside, own)
    return [*shared, *reclaimed, *looked_at, array("q", [common, left])]


def selected(
    tree: TreeColumns, one: array[int], other: array[int], limit: array[int], *, compiled: bool
) -> tuple[array[int], array[int], array[int]]:
    """Leaves where one column is larger, and where it differs; whether it exceeds limits."""
    more, others = zeros(len(one)), zeros(len(one))
    leaves_where_more.run(compiled, tree, one, other, more)
    leaves_where_other.run(compiled, tree, one, other, others)
    return more, others, array("q", [exceeds.run(compiled, tree, limit, one[:])])


def divided_by_ratio(
    tree: TreeColumns, plan: PlanColumns, slots: int, demand: array[int], *, compiled: bool
) -> tuple[array[int], array[int]]:
    """Needs and quotas by share ratio."""
    rows = len(tree.parent)
    ratio = array("q", [each % 4 for each in plan.owned])
    shared, wants, by_ratio = zeros(rows), zeros(rows), zeros(rows)
    needs_by_ratio.run(compiled, tree, ratio, plan.limit, demand, wants)
    by_ratio[0] = slots
    share_by_ratio.run(compiled, tree, ratio, shared, wants, zeros(rows), by_ratio)
    return wants, by_ratio


@pytest.mark.parametrize("evenly", [False, True], ids=["default", "even"])
@pytest.mark.parametrize("name", TREES)
def test_compiled_is_plain(name: str, evenly: bool) -> None:  # noqa: FBT001
    for seed in range(40):
        most = [3, 20, 1000][seed % 3]
        plain = whole_cycle(TREES[name], seed, compiled=False, evenly=evenly, most=most)
        assert whole_cycle(TREES[name], seed, compiled=True, evenly=evenly, most=most) == plain, seed


def test_what_does_not_fit_runs_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_jit._MODE, "few_rows", 0)
    monkeypatch.delenv("FAIRHOLD_JIT", raising=False)
    assert _jit.fits(3, _jit.SAFE - 1)
    assert not _jit.fits(3, _jit.SAFE)
    monkeypatch.setitem(_jit._MODE, "few_rows", 4)
    assert not _jit.fits(3, 1)
    assert _jit.fits(4, 1)
    monkeypatch.setenv("FAIRHOLD_JIT", "off")
    assert not _jit.fits(4, 1)


def test_prefer_compiled_lowers_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_jit._MODE, "few_rows", _jit.FEW_ROWS)
    monkeypatch.delenv("FAIRHOLD_JIT", raising=False)
    assert not _jit.fits(2, 1)
    _jit.prefer_compiled(2)
    assert _jit.fits(2, 1)


def small_plan(owned: int, slots: int, *, evenly: bool) -> WholePlan:
    tree = ConsumerTree(["", "a", "b"], [-1, 0, 0], [None] * 3, [None] * 3)
    settings = {1: ConsumerSettings(owned=owned), 2: ConsumerSettings(owned=1)}
    entry = PolicyEntry(("g",), HYBRID, PolicySettings(distribute_evenly=evenly), settings)
    return WholePlan("c", "UTC", 0, tree, {"g": ResourceGroup("g", slots)}, (entry,))


@pytest.mark.parametrize(
    ("owned", "slots", "evenly", "fits"),
    [
        pytest.param(50, 100, False, True, id="small"),
        pytest.param(50, 100, True, True, id="small, even"),
        pytest.param(10**8, 10**9, False, True, id="large, still safe"),
        pytest.param(10**8, 10**9, True, False, id="the even mode's unit makes it too large"),
        pytest.param(10**11, LARGEST, False, False, id="huge"),
    ],
)
def test_the_guard_looks_at_the_largest_product(
    owned: int,
    slots: int,
    evenly: bool,  # noqa: FBT001
    fits: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(_jit._MODE, "few_rows", 0)
    monkeypatch.delenv("FAIRHOLD_JIT", raising=False)
    books = open_books(small_plan(owned, slots, evenly=evenly), State(0, demand={(1, "g"): 5}))["g"]
    assert snapshot.take_snapshot(books, 0).compiled is fits


def test_a_kernel_is_its_plain_function_with_its_name() -> None:
    calls: list[int] = []

    def count(number: int) -> int:
        """Counts."""
        calls.append(number)
        return number

    wrapped: Callable[[int], int] = _jit.kernel(count)
    assert (wrapped(3), calls, wrapped.__doc__) == (3, [3], "Counts.")
