"""Divides every parent's quota among its children, from the root down (R-QUOTA-2, R-QUOTA-4, R-ROUND-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels._jit import kernel, part
from fairhold.kernels.columns import PHASE_OWNERS, PHASE_REST
from fairhold.kernels.fill import filled, level

if TYPE_CHECKING:
    from array import array
    from collections.abc import MutableSequence, Sequence

    from fairhold.kernels.columns import Needs, PlanColumns, TreeColumns


@part
def lay_out_by_owned(
    rows: Sequence[int],
    amount: int,
    unit: int,
    owned: Sequence[int],
    sure: Sequence[int],
    need: Sequence[int],
    base: MutableSequence[int],
    weight: MutableSequence[int],
    floor: MutableSequence[int],
    cap: MutableSequence[int],
) -> int:
    """Lay out one sibling group for filling, default mode; amounts in 1/unit slots. Returns the phase.

    While owners can use the amount they share it by what they own (R-QUOTA-2); only when all of them have their
    fill do those who own nothing share the rest equally (R-FILL-2).
    """
    wanted = 0
    for row in rows:
        wanted += need[row] if owned[row] > 0 else sure[row]
    phase = PHASE_OWNERS if amount < wanted * unit else PHASE_REST
    for row in rows:
        base[row] = 0
        floor[row] = sure[row] * unit
        cap[row] = need[row] * unit
        weight[row] = owned[row] if phase == PHASE_OWNERS else 1
        if phase == PHASE_REST and owned[row] > 0:
            weight[row] = 0
            floor[row] = cap[row]
    return phase


@part
def lay_out_evenly(
    rows: Sequence[int],
    amount: int,
    unit: int,
    scale_num: int,
    scale_den: int,
    owned: Sequence[int],
    sure: Sequence[int],
    need: Sequence[int],
    base: MutableSequence[int],
    weight: MutableSequence[int],
    floor: MutableSequence[int],
    cap: MutableSequence[int],
) -> int:
    """Lay out one sibling group for filling, even mode (R-QUOTA-4, S1.72-77). Returns the phase.

    amount is in 1/unit slots, `unit` a multiple of scale_den. First owners up to max(owned, owned now); what they
    leave is added in equal amounts to whoever has need left.
    """
    total = 0
    for row in rows:
        top = sure[row] * unit
        if owned[row] > 0:
            own = max(owned[row] * unit, owned[row] * scale_num * (unit // scale_den))
            top = max(top, min(need[row] * unit, own))
        cap[row] = top
        total += top
    phase = PHASE_OWNERS if amount < total else PHASE_REST
    for row in rows:
        if phase == PHASE_OWNERS:
            base[row] = 0
            weight[row] = owned[row]
            floor[row] = sure[row] * unit
        else:
            base[row] = cap[row]
            weight[row] = 1
            floor[row] = 0
            cap[row] = need[row] * unit - base[row]
    return phase


@part
def round_off(
    rows: Sequence[int],
    amount: int,
    unit: int,
    num: int,
    den: int,
    base: Sequence[int],
    weight: Sequence[int],
    floor: Sequence[int],
    cap: Sequence[int],
    quota: MutableSequence[int],
) -> None:
    """Whole parts, then one unit each to rows with a fractional part, in the rows' order (R-ROUND-1).

    amount : whole slots to reach, less where every row is at its cap
    """
    scale = max(den, 1)
    left = amount
    for row in rows:
        quota[row] = (base[row] * scale + filled(num, den, weight[row], floor[row], cap[row])) // (unit * scale)
        left -= quota[row]
    if den == 0 and unit == 1:
        return
    for row in rows:
        if left == 0:
            return
        if (base[row] * scale + filled(num, den, weight[row], floor[row], cap[row])) % (unit * scale) > 0:
            quota[row] += 1
            left -= 1


@part
def round_up(
    rows: Sequence[int],
    unit: int,
    num: int,
    den: int,
    base: Sequence[int],
    weight: Sequence[int],
    floor: Sequence[int],
    cap: Sequence[int],
    quota: MutableSequence[int],
) -> None:
    """Whole parts, and one unit more to every row with a fractional part."""
    scale = max(den, 1)
    for row in rows:
        units = base[row] * scale + filled(num, den, weight[row], floor[row], cap[row])
        quota[row] = (units + unit * scale - 1) // (unit * scale)


@part
def lay_out(
    rows: Sequence[int],
    amount: int,
    unit: int,
    evenly: bool,  # noqa: FBT001  # columns and numbers only: kernels are called by position
    scale_num: int,
    scale_den: int,
    owned: Sequence[int],
    sure: Sequence[int],
    need: Sequence[int],
    base: MutableSequence[int],
    weight: MutableSequence[int],
    floor: MutableSequence[int],
    cap: MutableSequence[int],
) -> tuple[int, int, int]:
    """Lay out and fill one sibling group with `amount` 1/unit slots: phase, and water level num/den."""
    if evenly:
        phase = lay_out_evenly(rows, amount, unit, scale_num, scale_den, owned, sure, need, base, weight, floor, cap)
    else:
        phase = lay_out_by_owned(rows, amount, unit, owned, sure, need, base, weight, floor, cap)
    left = amount
    for row in rows:
        left -= base[row]
    num, den = level(rows, left, weight, floor, cap)
    return phase, num, den


@kernel
def fill_group(
    amount: int,
    unit: int,
    evenly: bool,  # noqa: FBT001
    scale_num: int,
    scale_den: int,
    owned: Sequence[int],
    sure: Sequence[int],
    need: Sequence[int],
    base: MutableSequence[int],
    weight: MutableSequence[int],
    floor: MutableSequence[int],
    cap: MutableSequence[int],
) -> tuple[int, int, int]:
    """Lay out and fill one sibling group that stands by itself, see `lay_out`."""
    return lay_out(
        range(len(owned)), amount, unit, evenly, scale_num, scale_den, owned, sure, need, base, weight, floor, cap
    )


@kernel
def share(
    tree: TreeColumns,
    plan: PlanColumns,
    need: Needs,
    evenly: bool,  # noqa: FBT001
    up: bool,  # noqa: FBT001
    scale_num: int,
    scale_den: int,
    base: MutableSequence[int],
    weight: MutableSequence[int],
    floor: MutableSequence[int],
    cap: MutableSequence[int],
    quota: array[int],
) -> None:
    """Divide every parent's quota over its children, top-down.

    up    : every amount is rounded up before it is divided over the children below (R-PROTECT-1)

    base, weight, floor, cap : (rows,) room for the layout of the groups, wide enough for slots times the unit
    quota : in and out, (rows,) whole slots; the root's is given
    """
    unit = scale_den if evenly and scale_den > 0 else 1
    for row in range(len(tree.parent)):
        if tree.first[row] == tree.end[row]:
            continue
        rows, amount = tree.child[tree.first[row] : tree.end[row]], quota[row]
        _, num, den = lay_out(
            rows, amount * unit, unit, evenly, scale_num, unit, plan.owned, need.sure, need.need,
            base, weight, floor, cap,
        )  # fmt: skip
        if up:
            round_up(rows, unit, num, den, base, weight, floor, cap, quota)
        else:
            round_off(rows, amount, unit, num, den, base, weight, floor, cap, quota)
