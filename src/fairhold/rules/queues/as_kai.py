"""One resource among siblings as KAI-Scheduler divides it, in doubles (`division: kai`, R-QUEUE-5).

To predict a KAI cluster, not to share one: what floors leave goes to lower bands before it comes back, and the last
step looks at no limit and no request. Siblings are taken in plan order, where KAI's is another in every run.
Amounts are in steps, as KAI counts: GPUs, millicores, bytes.
"""

from __future__ import annotations

from math import floor, inf
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class KaiSiblings(NamedTuple):
    """Queues below one parent, in plan order; one number for each in every list.

    deserved : inf = all that there is
    wanted   : what it holds and waits for, within its own limit; a parent's children's limits are not looked at
    usage    : decayed history as a part of the cluster's
    """

    deserved: Sequence[float]
    wanted: Sequence[float]
    weight: Sequence[float]
    priority: Sequence[int]
    usage: Sequence[float]


def divide_as_kai(total: float, siblings: KaiSiblings, k: float = 0.0) -> list[float]:
    """Fair share of each, in steps."""
    share = [
        min(total if deserved == inf else deserved, most)
        for deserved, most in zip(siblings.deserved, siblings.wanted, strict=True)
    ]
    left = total
    for each in share:
        left -= each
    denied: dict[int, dict[int, float]] = {}
    bands = sorted(set(siblings.priority), reverse=True)
    for band in bands if left > 0 else ():
        denied[band], left = _band(left, share, siblings, band, k)
    for band in bands if left > 0 else ():
        for at, _ in sorted(denied[band].items(), key=lambda each: (-each[1], each[0])):
            more = min(1.0, left)
            share[at] += more
            left -= more
            if left <= 0:
                return share
    return share


def _band(
    left: float, share: list[float], siblings: KaiSiblings, band: int, k: float
) -> tuple[dict[int, float], float]:
    """Rounds until nobody wants less than its part; what of each was denied by a floor, and what is left."""
    denied: dict[int, float] = {}
    members = [at for at, priority in enumerate(siblings.priority) if priority == band]
    goes_on = True
    while goes_on and left > 0:
        goes_on = False
        begin = left
        is_open = [at for at in members if siblings.wanted[at] > share[at]]
        parts = _parts(is_open, siblings, k)
        sum_ = sum(parts)
        if sum_ <= 0:
            break
        for at, part in zip(is_open, parts, strict=True):
            if not siblings.weight[at]:
                continue
            want, mine = siblings.wanted[at] - share[at], begin * (part / sum_)
            if want <= mine:
                given = want
                denied.pop(at, None)
            else:
                given = float(floor(mine))
                if mine - given > 0:
                    denied[at] = mine - given
            share[at] += given
            left -= given
            goes_on = goes_on or want < mine
            if left <= 0:
                break
    return denied, left


def _parts(is_open: list[int], siblings: KaiSiblings, k: float) -> list[float]:
    sum_ = sum(siblings.weight[at] for at in is_open)
    if not sum_:
        return []
    weights = [siblings.weight[at] / sum_ for at in is_open]
    return [max(0.0, part + k * (part - siblings.usage[at])) for part, at in zip(weights, is_open, strict=True)]
