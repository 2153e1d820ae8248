"""Divides one resource among siblings: deserved amounts, then surplus (SPEC §7, R-QUEUE-2, R-QUEUE-3, R-QUEUE-4).

All amounts are whole base units. They are rounded to steps only. Rounding moves nothing to another band: what rounding
down leaves in a band goes to its own queues before a lower priority gets anything (S4.4, S4.8, S4.11-12).
"""

from __future__ import annotations

from itertools import groupby
from operator import truediv
from typing import TYPE_CHECKING, NamedTuple

from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Siblings(NamedTuple):
    """Queues that share one resource below one parent, in plan order; one number for each in every list.

    deserved : base units; UNLIMITED = all that there is
    wanted   : base units that it can use: what it holds and waits for, within its limits
    weight   : of its surplus, whole numbers in proportion; 0 = it gets none
    priority : of its band, larger first
    usage    : decayed history in proportion to `used_whole`; empty = nobody has any
    """

    deserved: Sequence[int]
    wanted: Sequence[int]
    weight: Sequence[int]
    priority: Sequence[int]
    usage: Sequence[int] = ()


class Correction(NamedTuple):
    """How much history counts: a weight becomes `w + k · (w - u)`, all as parts of 1 (S4.10).

    k     : (numerator, denominator)
    whole : the usage that would be all of what the parent is entitled to, on the scale of `Siblings.usage`;
            0 = it is entitled to nothing, and no usage counts
    """

    k: tuple[int, int] = (0, 1)
    whole: int = 0


def divide(total: int, step: int, siblings: Siblings, correction: Correction | None = None) -> list[int]:
    """Fair share of each, in base units; together more than the total only where that much is deserved.

    step : base units that surplus is given in
    """
    stated = siblings.deserved
    if max(stated, default=0) >= UNLIMITED:
        stated = [total if deserved >= UNLIMITED else deserved for deserved in stated]
    pairs = zip(stated, siblings.wanted, strict=True)
    share = [mine if mine < most else most for mine, most in pairs]  # noqa: FURB136 - spares a call for every queue
    for each in surplus(total - sum(share), step, siblings, share, correction):
        for at, units in zip(each.members, each.given, strict=True):
            share[at] += units
    return share


class Round(NamedTuple):
    """What one band, or the part of it that is served together, gets of the surplus.

    members : who, by place; parts: by which weights; left: what there was; given: what each got
    """

    members: list[int]
    parts: list[int]
    left: int
    given: list[int]


def surplus(
    left: int, step: int, siblings: Siblings, share: Sequence[int], correction: Correction | None
) -> Iterator[Round]:
    """What is left beyond what is deserved, band by band; whoever is served has its share before it in `share`."""
    if left <= 0:
        return
    wanted, weight, priority = siblings.wanted, siblings.weight, siblings.priority
    is_open = [at for at, most in enumerate(wanted) if most > share[at] and weight[at]]
    is_open.sort(key=priority.__getitem__, reverse=True)  # it is stable: plan order inside a band
    has_history = bool(correction and correction.k[0] and correction.whole and siblings.usage)
    for _, band in groupby(is_open, key=priority.__getitem__):
        members = list(band)
        groups = [(members, [weight[at] for at in members])]
        if correction and has_history:
            groups = _corrected(*groups[0], siblings, correction)
        for some, parts in groups:
            if left > 0:
                given = pour(left, step, [wanted[at] - share[at] for at in some], parts)
                yield Round(some, parts, left, given)
                left -= sum(given)


def _corrected(
    members: list[int], weights: list[int], siblings: Siblings, correction: Correction
) -> list[tuple[list[int], list[int]]]:
    """Who of a band is served together, by which weights; first those whom their history leaves any."""
    (k, of), whole = correction
    sum_ = sum(weights)
    left = [
        weight * (of + k) * whole - k * siblings.usage[at] * sum_ for at, weight in zip(members, weights, strict=True)
    ]
    first = [(at, most) for at, most in zip(members, left, strict=True) if most > 0]
    rest = [(at, weight) for at, weight, most in zip(members, weights, left, strict=True) if most <= 0]
    return [([at for at, _ in some], [part for _, part in some]) for some in (first, rest) if some]


def pour(left: int, step: int, caps: Sequence[int], weights: Sequence[int]) -> list[int]:
    """Fill by weights up to caps, then round to whole steps; nobody above its cap, nothing left unless all have theirs.

    What those have that are not full is rounded down; what that leaves goes one step to each, by largest fraction, then
    plan order, round after round.
    """
    given, order, left, sum_ = fill(left, caps, weights)
    if not order:
        return given
    level, whole = left, sum_ * step
    fractions = []
    for at in order:
        steps, fraction = divmod(level * weights[at], whole)
        given[at] = steps * step
        left -= given[at]
        fractions.append((-fraction, at))
    fractions.sort()
    while left > 0:
        for _, at in fractions:
            more = min(step, caps[at] - given[at], left)
            given[at] += more
            left -= more
            if not left:
                break
    return given


def fill(left: int, caps: Sequence[int], weights: Sequence[int]) -> tuple[list[int], list[int], int, int]:
    """The exact fill (SPEC §2): whoever is full below the common level `left / weight` has its cap.

    (what the full ones have, who is not full, what is left for those, the sum of their weights). The order in which
    they are asked only saves rounds.
    """
    all_ = sum(caps)
    if all_ <= left:
        return list(caps), [], left - all_, 0
    given = [0] * len(caps)
    sum_ = sum(weights)
    order = sorted(range(len(caps)), key=list(map(truediv, caps, weights)).__getitem__)
    while order:
        above = []
        for at in order:
            if caps[at] * sum_ <= left * weights[at]:
                given[at] = caps[at]
                left -= caps[at]
                sum_ -= weights[at]
            else:
                above.append(at)
        if len(above) == len(order):
            break
        order = above
    return given, order, left, sum_
