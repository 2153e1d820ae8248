"""Which values the reason of a request of a queue that waits points at: what is tried first for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.pooled.budgets import larger_budgets
from fairhold.cycle.explain.pooled.candidates import each, hosts_brought_up, larger_hosts, of_request, smaller_units
from fairhold.cycle.explain.queued.parameters import TIMES
from fairhold.ledger.queues import amounts_of, is_preemptible
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain.parameter import Parameter, Settings
    from fairhold.cycle.explain.pooled.parameters import Parameters
    from fairhold.cycle.explain.queued.asking import Asking
    from fairhold.cycle.explain.queued.waiting import Waiting
    from fairhold.ledger.pools import PendingRequest

_WEIGHTS = (2, 4, 8, 16)
"""By how much a weight is multiplied, one after the other."""


def kinds(
    asking: Asking, parameters: Parameters, asked: PendingRequest, waiting: Waiting
) -> Iterator[Iterator[Settings]]:
    """For every kind of change what is tried of it, the smallest change first."""
    pointed = _Pointed(asking, parameters, asked, waiting)
    gaps = [waiting.gap] if waiting.gap is not None and any(waiting.gap[1]) else []
    yield larger_budgets(parameters.inquiry, asked.leaf)
    yield pointed.fewer_controls()
    yield hosts_brought_up(parameters, asked)
    yield pointed.raised("limit", asking.used.held)
    yield pointed.raised("deserved", asking.now.held if is_preemptible(asked) else asking.used.fixed)
    yield pointed.better_bands()
    yield pointed.larger_weights()
    yield pointed.preemptible()
    yield from of_request(parameters, asked, "priority")
    yield pointed.shorter_times()
    yield pointed.smaller_multiplier()
    yield from of_request(parameters, asked, "need", "avoid", "min_count")
    yield larger_hosts(parameters, asked, gaps)
    yield smaller_units(parameters, asked, gaps)


class _Pointed:
    def __init__(self, asking: Asking, parameters: Parameters, asked: PendingRequest, waiting: Waiting) -> None:
        self.asking, self.parameters, self.asked, self.waiting = asking, parameters, asked, waiting
        self.above = asking.terms.above[asked.leaf][:-1]

    def fewer_controls(self) -> Iterator[Settings]:
        """The control that holds it back, looser or gone."""
        control = self.waiting.control
        if control is not None:
            is_more = {"max_reclaims": True, "observe_only": None}.get(control.name, False)
            yield from each(self.parameters.setting(control.name), is_more=is_more)

    def raised(self, key: str, used: tuple[list[int], ...]) -> Iterator[Settings]:
        """An amount that has room for what is needed: of the lowest queue alone, then of one more above it each."""
        found: list[tuple[Parameter, int]] = []
        needs = self.asking.need(self.asked)
        if not any(needs):  # a gang that can never start takes nothing, and needs all up to its minimum
            needs = amounts_of(self.asked.unit, max(0, self.asked.min_count - self.asked.held))
        for row in self.above:
            for at, need in enumerate(needs):
                wanted = used[at][row] + need
                if need and wanted > getattr(self.asking.terms, key)[at][row]:
                    parameter = self.parameters.find(row, key, at)
                    if parameter is None or (key == "deserved" and self.asking.terms.limit[at][row] < wanted):
                        return
                    found.append((parameter, wanted))
            if found:
                yield tuple(found)
        if key == "limit" and len(found) > 1:
            yield tuple((parameter, UNLIMITED) for parameter, _ in found)

    def better_bands(self) -> Iterator[Settings]:
        """A queue on the way up in a better band than a sibling."""
        for row in self.above:
            yield from each(self.parameters.find(row, "priority"), is_more=True)

    def larger_weights(self) -> Iterator[Settings]:
        """A larger weight of a queue on the way up, for all that is asked for."""
        for times in _WEIGHTS:
            for row in self.above:
                for at in (at for at, need in enumerate(self.asked.unit) if need):
                    parameter = self.parameters.find(row, "over_quota_weight", at)
                    if parameter is not None:
                        yield ((parameter, parameter.old * times or parameter.step),)

    def preemptible(self) -> Iterator[Settings]:
        """A request that may be taken back."""
        if not is_preemptible(self.asked):
            yield from each(self.parameters.request(self.asked, "preemptible"))

    def shorter_times(self) -> Iterator[Settings]:
        """A shorter delay of its own, and shorter run times that its victims are given."""
        for row, stated in self.parameters.entry.consumers.items():
            for key in TIMES:
                if getattr(stated.queue, key) and (key == "reclaim_min_runtime" or row in self.above):
                    yield from each(self.parameters.find(row, key), is_more=False)

    def smaller_multiplier(self) -> Iterator[Settings]:
        """A smaller multiplier."""
        yield from each(self.parameters.setting("reclaimer_utilization_multiplier"), is_more=False)
