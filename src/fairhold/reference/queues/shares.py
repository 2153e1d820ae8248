"""Fair shares of queues, resource by resource (R-QUEUE-1 to R-QUEUE-5)."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from fairhold.model.tree import ROOT
from fairhold.reference.filling import fill
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.model.queue import FairShareSettings, QueueSettings


class Queues:
    """The queues of one entry and one resource, by row; base units.

    total : what is divided (R-UP-1)
    requested : row → what a leaf holds and waits for, and the sum of a parent's children; limits play no part
    usage : row → decayed history of those that state it, as a part of the cluster
    """

    def __init__(  # noqa: PLR0917 - what there is of one resource
        self,
        queues: Mapping[int, QueueSettings],
        children: Mapping[int, Sequence[int]],
        settings: FairShareSettings,
        at: int,
        step: int,
        total: int,
        requested: Mapping[int, int],
        usage: Mapping[int, Fraction],
    ) -> None:
        """Of numbers that are told. at : the place of the resource in the plan; queues : of all but `/`."""
        self.queues, self.children, self.settings, self.at, self.step = queues, children, settings, at, step
        self.total, self.requested, self.stated_usage = total, requested, usage

    def deserved(self, row: int) -> int:
        """What a queue gets before any surplus; UNLIMITED: all that its parent has."""
        return dict(self.queues[row].deserved).get(self.at, 0)

    def limit(self, row: int) -> int:
        """The most that a queue may hold."""
        return dict(self.queues[row].limit).get(self.at, UNLIMITED)

    def weight(self, row: int) -> Fraction:
        """The over-quota weight, 1 where nothing is stated."""
        return dict(self.queues[row].weight).get(self.at, Fraction(1))

    def usable(self, row: int) -> int:
        """R-QUEUE-1: what a queue can use, within its limit."""
        below = sum(self.usable(child) for child in self.children[row]) if self.children[row] else self.requested[row]
        return below if row == ROOT else min(self.limit(row), below)

    def usage(self, row: int) -> Fraction:
        """R-QUEUE-4: decayed history; of a parent that states none its children's sum."""
        if row in self.stated_usage:
            return self.stated_usage[row]
        return sum((self.usage(child) for child in self.children[row]), Fraction(0))


def fair_shares(queues: Queues) -> dict[int, Fraction]:
    """Row → fair share; from the top down every queue divides what it is entitled to among its children."""
    found = {ROOT: Fraction(queues.total)}
    divide = divide_as_kai if queues.settings.division == "kai" else _among
    for row in queues.children:
        found |= divide(queues, found[row], queues.children[row])
    return found


def _among(queues: Queues, amount: Fraction, children: Sequence[int]) -> dict[int, Fraction]:
    """R-QUEUE-2, then R-QUEUE-3 band by band."""
    usable = {row: Fraction(queues.usable(row)) for row in children}
    found = {}
    for row in children:
        deserved = queues.deserved(row)
        found[row] = min(amount if deserved == UNLIMITED else Fraction(deserved), usable[row])
    left = max(Fraction(0), amount - sum(found.values()))
    for priority in sorted({queues.queues[row].priority for row in children}, reverse=True):
        band = [row for row in children if queues.queues[row].priority == priority and usable[row] > found[row]]
        for weights in _parts(queues, amount, band):
            caps = {row: usable[row] - found[row] for row in weights}
            for row, part in in_steps(left, weights, caps, queues.step).items():
                found[row] += part
                left -= part
    return found


def _parts(queues: Queues, amount: Fraction, band: Sequence[int]) -> list[dict[int, Fraction]]:
    """R-QUEUE-4: by what a band is filled, and then by what those of it who have used too much."""
    weights = {row: queues.weight(row) for row in band if queues.weight(row)}
    k = queues.settings.k
    every = sum(weights.values())
    if not k or not every:
        return [weights]
    of_cluster = amount / queues.total if queues.total else Fraction(0)
    parts = {}
    for row, weight in weights.items():
        part = weight / every
        used = queues.usage(row) / of_cluster if of_cluster else Fraction(0)
        parts[row] = max(Fraction(0), part + k * (part - used))
    late = {row: weights[row] for row, part in parts.items() if not part}
    return [{row: part for row, part in parts.items() if part}, late]


def in_steps(
    amount: Fraction, weights: Mapping[int, Fraction], caps: Mapping[int, Fraction], step: int
) -> dict[int, Fraction]:
    """R-QUEUE-3: filled by weights, then in whole steps: the largest fraction first, then plan order."""
    named = fill(
        amount, {str(row): weight for row, weight in weights.items()}, {}, {str(r): c for r, c in caps.items()}
    )
    exact = {row: named[str(row)] for row in weights}
    found = {row: part if part == caps[row] else Fraction(part // step * step) for row, part in exact.items()}
    left = sum(exact.values()) - sum(found.values())
    order = sorted(weights, key=lambda row: (-(exact[row] - found[row]), row))
    while left > 0 and any(found[row] < caps[row] for row in order):
        for row in order:
            more = min(Fraction(step), caps[row] - found[row], left)
            found[row] += more
            left -= more
    return found


def divide_as_kai(queues: Queues, amount: Fraction, children: Sequence[int]) -> dict[int, Fraction]:
    """R-QUEUE-5: in doubles, in steps; what is rounded off goes to lower bands first."""
    step = queues.step
    total = float(amount / step)
    usable = {row: min(queues.limit(row), queues.requested[row]) / step for row in children}
    found = {row: min(_all_or(queues.deserved(row), total, step), usable[row]) for row in children}
    left = total
    for row in children:
        left -= found[row]
    denied: dict[int, dict[int, float]] = {}
    bands = sorted({queues.queues[row].priority for row in children}, reverse=True)
    for priority in bands if left > 0 else ():
        band = [row for row in children if queues.queues[row].priority == priority]
        denied[priority], left = _rounds_of_kai(queues, band, found, usable, left)
    for parts in denied.values():
        for row in sorted(parts, key=lambda each: (-parts[each], each)):
            more = min(1.0, left)
            found[row], left = found[row] + more, left - more
    return {row: Fraction(part) * step for row, part in found.items()}


def _all_or(deserved: int, total: float, step: int) -> float:
    return total if deserved == UNLIMITED else deserved / step


def _rounds_of_kai(
    queues: Queues, band: Sequence[int], found: dict[int, float], usable: Mapping[int, float], left: float
) -> tuple[dict[int, float], float]:
    """Surplus of one band, round by round: the fractions that were cut off by row, and what is left."""
    denied: dict[int, float] = {}
    k, again = float(queues.settings.k), True
    while again and left > 0:
        again, start = False, left
        open_ones = [row for row in band if usable[row] > found[row] and queues.weight(row)]
        every = sum(float(queues.weight(row)) for row in open_ones)
        parts = {}
        for row in open_ones:
            mine = float(queues.weight(row)) / every
            parts[row] = max(0.0, mine + k * (mine - float(queues.usage(row))))
        whole = sum(parts.values())
        for row in open_ones if whole else ():
            if left <= 0:
                break
            want, share = usable[row] - found[row], start * (parts[row] / whole)
            give = want if want <= share else float(floor(share))
            if want <= share:
                denied.pop(row, None)
            elif share > give:
                denied[row] = share - give
            found[row], left = found[row] + give, left - give
            again = again or (give > 0 and want < share)
    return denied, left
