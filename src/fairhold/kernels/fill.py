"""Filling: an amount over siblings by weight, between floors and caps (R-FILL-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels._jit import part

if TYPE_CHECKING:
    from collections.abc import Sequence


@part
def level(
    rows: Sequence[int],
    amount: int,
    weight: Sequence[int],
    floor: Sequence[int],
    cap: Sequence[int],
) -> tuple[int, int]:
    """Water level λ = num/den at which Σ max(floor, min(cap, λ·weight)) = amount over `rows`.

    Rows of weight 0 stand at their floor. `amount` ≥ Σ floor; den = 0 where every row is at its cap.
    A bracketed search: steps by the slope where they stay inside the bracket, else by a kink in its middle, because
    with floors the slope alone can run in a circle.
    """
    total_weight = 0
    total_cap = 0
    for row in rows:
        total_weight += weight[row]
        total_cap += cap[row] if weight[row] > 0 else floor[row]
    if total_cap <= amount:
        return 0, 0
    # No row rises above the amount itself, so caps beyond it need not be told apart (and products stay small).
    low_num, low_den = 0, 1
    high_num, high_den = 1, 0
    num, den = amount, total_weight
    steps = 0
    while True:
        fixed = 0
        free = 0
        for row in rows:
            if weight[row] == 0:
                fixed += floor[row]
            elif num * weight[row] >= min(cap[row], amount) * den:
                fixed += min(cap[row], amount)
            elif num * weight[row] < floor[row] * den:
                fixed += floor[row]
            else:  # also who is just at its floor: it rises from here on, where the sum is too small yet
                free += weight[row]
        if fixed <= amount and fixed * den + free * num == amount * den:
            return num, den
        if fixed <= amount and fixed * den + free * num < amount * den:
            low_num, low_den = num, den
        else:
            high_num, high_den = num, den
        steps += 1
        num, den = amount - fixed, free
        if steps % 3 == 0 or not (
            free > 0 and num > 0 and low_num * den < num * low_den and num * high_den < high_num * den
        ):
            num, den = _middle_kink(rows, amount, weight, floor, cap, low_num, low_den, high_num, high_den)


@part
def _middle_kink(
    rows: Sequence[int],
    amount: int,
    weight: Sequence[int],
    floor: Sequence[int],
    cap: Sequence[int],
    low_num: int,
    low_den: int,
    high_num: int,
    high_den: int,
) -> tuple[int, int]:
    """The middle one, by row, of the floor/weight and cap/weight inside the bracket; without any, the solution."""
    inside = 0
    fixed = 0
    free = 0
    for row in rows:
        if weight[row] == 0:
            fixed += floor[row]
            continue
        top = min(cap[row], amount)
        floor_is_past = floor[row] * low_den <= low_num * weight[row]
        floor_is_ahead = floor[row] * high_den >= high_num * weight[row]
        cap_is_past = top * low_den <= low_num * weight[row]
        cap_is_ahead = top * high_den >= high_num * weight[row]
        inside += not (floor_is_past or floor_is_ahead)
        inside += not (cap_is_past or cap_is_ahead)
        if cap_is_past:
            fixed += top
        elif floor_is_ahead:
            fixed += floor[row]
        else:
            free += weight[row]
    if inside == 0:
        return amount - fixed, free
    wanted = inside // 2
    for row in rows:
        if weight[row] == 0:
            continue
        for kink in (floor[row], min(cap[row], amount)):
            if kink * low_den > low_num * weight[row] and kink * high_den < high_num * weight[row]:
                if wanted == 0:
                    return kink, weight[row]
                wanted -= 1
    return high_num, high_den


@part
def filled(num: int, den: int, weight: int, floor: int, cap: int) -> int:
    """A row's filling at level num/den, times max(den, 1)."""
    if weight == 0:
        return floor * max(den, 1)
    if den == 0:
        return cap
    return max(floor * den, min(cap * den, num * weight))
