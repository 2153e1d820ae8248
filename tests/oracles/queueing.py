"""Fair shares of queues, slowly: fractions, one rule after the other as the specification says them (SPEC §7)."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

UNLIMITED = None


class Queue(NamedTuple):
    """A queue of one resource; amounts in steps; children by name; usage that is not given is that of its children."""

    name: str
    deserved: Fraction | None
    limit: Fraction | None
    weight: Fraction
    priority: int
    requested: Fraction
    usage: Fraction | None = None
    children: tuple[Queue, ...] = ()


def requestable(queue: Queue) -> Fraction:
    wanted = sum((requestable(child) for child in queue.children), Fraction(0)) if queue.children else queue.requested
    return wanted if queue.limit is None else min(queue.limit, wanted)


def used(queue: Queue) -> Fraction:
    below = sum((used(child) for child in queue.children), Fraction(0))
    return below if queue.usage is None else queue.usage


def shares(total: Fraction, queues: tuple[Queue, ...], k: Fraction, capacity: Fraction) -> dict[str, Fraction]:
    """Fair share of every queue, those below too."""
    found = divided(total, queues, k, capacity)
    for queue in queues:
        found |= shares(found[queue.name], queue.children, k, capacity) if queue.children else {}
    return found


def divided(total: Fraction, queues: tuple[Queue, ...], k: Fraction, capacity: Fraction) -> dict[str, Fraction]:
    wanted = {queue.name: requestable(queue) for queue in queues}
    share = {
        queue.name: min(total if queue.deserved is None else queue.deserved, wanted[queue.name]) for queue in queues
    }
    left = total - sum(share.values())
    for priority in sorted({queue.priority for queue in queues}, reverse=True):
        band = [
            each
            for each in queues
            if each.priority == priority and each.weight and wanted[each.name] > share[each.name]
        ]
        weights = sum((each.weight for each in band), Fraction(0))
        parts = {}
        for each in band:
            weight = each.weight / weights
            part = total / capacity if capacity else Fraction(0)
            history = used(each) / part if part else Fraction(0)
            parts[each.name] = max(Fraction(0), weight + k * (weight - history))
        first = [each for each in band if parts[each.name]]
        rest = [each for each in band if not parts[each.name]]
        for some, of in ((first, parts), (rest, {each.name: each.weight for each in rest})):
            if left > 0 and some:
                caps = {each.name: wanted[each.name] - share[each.name] for each in some}
                for name, more in in_steps(left, caps, of).items():
                    share[name] += more
                    left -= more
    return share


def in_steps(left: Fraction, caps: dict[str, Fraction], weights: dict[str, Fraction]) -> dict[str, Fraction]:
    """The fill, floored to whole steps but for those that get all; what that leaves one step at a time."""
    level = filled(left, caps, weights)
    exact = {name: min(cap, level * weights[name]) for name, cap in caps.items()}
    given = {name: each if each == caps[name] else Fraction(each // 1) for name, each in exact.items()}
    left -= sum(given.values())
    order = sorted((name for name in caps if exact[name] < caps[name]), key=lambda name: -(exact[name] - given[name]))
    while left > 0 and any(given[name] < caps[name] for name in caps):
        for name in order:
            more = min(Fraction(1), caps[name] - given[name], left)
            given[name] += more
            left -= more
    return given


def filled(left: Fraction, caps: dict[str, Fraction], weights: dict[str, Fraction]) -> Fraction:
    """The common level at which all is given, or everybody has its cap."""
    ends = sorted(caps[name] / weights[name] for name in caps)
    for end in ends:
        if sum(min(caps[name], end * weights[name]) for name in caps) >= left:
            break
    else:
        return ends[-1]
    full = [name for name in caps if caps[name] / weights[name] < end]
    rest = [name for name in caps if name not in full]
    return (left - sum(caps[name] for name in full)) / sum(weights[name] for name in rest)
