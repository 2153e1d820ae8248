"""Limits, deserved amounts, fair shares and allocations of queues, by resource (SPEC §7).

Amounts are base units. Every list of amounts is by resource first, then by row of the consumer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.kernels.queues import QueueColumns
    from fairhold.ledger.pools import PendingRequest
    from fairhold.model.queue import FairShareSettings

Amount = int | Fraction
"""Base units; a fraction of one only where KAI's doubles are reproduced."""


@dataclass(frozen=True, slots=True)
class QueueTerms:
    """Settings of a `fair_share` entry for every queue, by row; inheritance resolved.

    children : of every row, those that take part, in plan order
    above    : of every row the rows on the way up, itself first, the root last
    steps    : by resource, base units that surplus is given in
    deserved, limit : by resource and row; UNLIMITED = as much as there is
    weight   : by resource and row, whole numbers in proportion; 0 = no surplus
    weight_of_one : by resource, what stands for the weight 1
    priority : by row, of its band
    reclaim_min_runtime, preempt_min_runtime, delay : by row, microseconds
    """

    children: tuple[tuple[int, ...], ...]
    above: tuple[tuple[int, ...], ...]
    steps: tuple[int, ...]
    settings: FairShareSettings
    deserved: tuple[list[int], ...]
    limit: tuple[list[int], ...]
    weight: tuple[list[int], ...]
    weight_of_one: tuple[int, ...]
    priority: tuple[int, ...]
    reclaim_min_runtime: tuple[int, ...]
    preempt_min_runtime: tuple[int, ...]
    delay: tuple[int, ...]
    columns: dict[int, QueueColumns] = field(init=False, compare=False, repr=False, default_factory=dict)
    """Place of a resource → the same in columns, once they were asked for"""

    @property
    def resources(self) -> range:
        """Places of the resources."""
        return range(len(self.steps))


@dataclass(slots=True)
class Queues:
    """Amounts of queues in a cycle.

    total     : by resource, what the hosts have
    requested : by resource and row, held plus waiting amounts
    fair      : fair shares; the root's is the total
    held      : allocated amounts, without units under notice, with units on their way
    fixed     : the non-preemptible part of `held`
    stated    : held amounts of which a state names no request; they are never reclaimed
    before, fixed_before : amounts held when the cycle began, with units under notice; the non-preemptible part
    has_fixed : whether any request that holds or wants units is not preemptible
    usage     : by resource, row → decayed history as a part of the capacity; empty where history does not count
    """

    terms: QueueTerms
    total: tuple[int, ...]
    requested: tuple[list[int], ...]
    fair: tuple[list[Amount], ...]
    held: tuple[list[int], ...] = field(default=())
    fixed: tuple[list[int], ...] = field(default=())
    stated: tuple[list[int], ...] = field(default=())
    usage: tuple[Mapping[int, Fraction], ...] = field(default=())
    before: tuple[list[int], ...] = field(default=())
    fixed_before: tuple[list[int], ...] = field(default=())
    has_fixed: bool = False

    def __post_init__(self) -> None:
        nothing = [0] * len(self.terms.above)
        if not self.stated:
            self.stated = (nothing,) * len(self.total)
        if not self.before:
            self.before, self.fixed_before = self.stated, (nothing,) * len(self.total)
        if not self.held:
            self.begin()

    def anew(self) -> Queues:
        """The same queues as they stood when the cycle began, for a cycle to count on."""
        as_before = (), (), self.stated, self.usage, self.before, self.fixed_before, self.has_fixed
        return Queues(self.terms, self.total, self.requested, self.fair, *as_before)

    def begin(self) -> None:
        """Record that all that is held now was held when the cycle began."""
        self.held = tuple(each[:] for each in self.before)
        self.fixed = tuple(each[:] for each in self.fixed_before)

    def add(self, asked: PendingRequest, units: int) -> None:
        """Units of a request came, or went where the number is negative."""
        kinds = (self.held,) if is_preemptible(asked) else (self.held, self.fixed)
        for at, need in enumerate(asked.unit):
            if need:
                for kind in kinds:
                    of_rows = kind[at]
                    for row in self.terms.above[asked.leaf]:
                        of_rows[row] += need * units

    def threshold(self, at: int, row: int) -> Amount:
        """Amount of a resource that a queue may hold before others reclaim from it, in the fair share strategy."""
        most = min(self.terms.limit[at][row], max(self.terms.deserved[at][row], self.fair[at][row]))
        return self.total[at] if most >= UNLIMITED else most


BORDER = 100
"""From this priority on a request that does not say so is not preemptible."""


def is_preemptible(asked: PendingRequest) -> bool:
    """Whether the units of a request may be reclaimed for others: as the request states, else by its priority."""
    said = asked.model.preemptible
    return asked.model.priority < BORDER if said is None else said


def amounts_of(unit: Sequence[int], units: int) -> list[int]:
    """What some units need."""
    return [need * units for need in unit]
