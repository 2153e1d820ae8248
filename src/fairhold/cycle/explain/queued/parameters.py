"""What `fair_share` reads of queues, its entry and requests: every value that could give a request more."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

from fairhold.cycle.explain.parameter import (
    Change,
    Parameter,
    around,
    beside,
    spans,
    with_entry_settings,
    with_request,
    with_settings,
)
from fairhold.cycle.explain.pooled.inquiry import duration
from fairhold.cycle.explain.pooled.parameters import Parameters
from fairhold.ledger.queues import BORDER, is_preemptible
from fairhold.model.plan import ConsumerSettings
from fairhold.model.queue import DIVISIONS, FairShareSettings
from fairhold.model.vector import amount, number
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain.parameter import Files, Value
    from fairhold.cycle.explain.queued.asking import Asking
    from fairhold.ledger.pools import PendingRequest

_TENTHS = 10
"""The multiplier, and how much history counts, are tried in tenths."""
_LARGEST = 10**6
"""Weight."""
TIMES = {
    "preemption_delay": "delay",
    "reclaim_min_runtime": "reclaim_min_runtime",
    "preempt_min_runtime": "preempt_min_runtime",
}
"""Key of a duration of a queue → the field of the terms that has it by row."""


class QueueParameters(Parameters):
    """The values of an inquiry into queues."""

    def __init__(self, asking: Asking) -> None:
        super().__init__(asking.inquiry)
        self.terms = asking.terms
        self.total = list(map(max, self.total, asking.stood.total))

    def of_consumer(self, row: int) -> list[Parameter]:
        """What the entry says of a queue."""
        bounds = [each for key in ("limit", "deserved") for each in self._bounds(row, key)]
        return [*bounds, *self._weights(row), *self._of_order(row), *self.controls(row)]

    def of_entry(self) -> Iterator[Parameter]:
        """The settings of the entry."""
        settings = self.terms.settings
        yield self._tenths("reclaimer_utilization_multiplier", "multiplier", settings.multiplier, 1)
        if self.state.usage:
            yield self._tenths("k", "k", settings.k, 0)
        yield self._fair_share("consolidation", "consolidation", settings.consolidation, (not settings.consolidation,))
        others = tuple(each for each in DIVISIONS if each != settings.division)
        yield self._fair_share("division", "division", settings.division, others)
        yield from self.switches()

    def borders(self) -> set[int]:
        """From this priority on a request that does not say so is not preemptible."""
        return {BORDER}

    def kinds_of_request(self, asked: PendingRequest) -> Iterator[Parameter]:
        """Whether it may be taken back for others."""
        old, name = is_preemptible(asked), asked.model.id
        change = Change("preemptible", old, None, request=name)
        yield Parameter(
            change, old, (not old,), lambda files, value: with_request(files, name, preemptible=value), bool
        )

    def _stated(self, files: Files, row: int) -> ConsumerSettings:
        return files.plan.policies[self.at].consumers.get(row, ConsumerSettings())

    def _queue(self, files: Files, row: int, **values: Any) -> Files:  # noqa: ANN401 - settings of any type
        """Other settings of a queue."""
        return with_settings(files, self.at, row, queue=replace(self._stated(files, row).queue, **values))

    def _bounds(self, row: int, key: str) -> Iterator[Parameter]:
        """What it deserves, or has at most, of every resource; a limit is not below what is deserved."""
        for at, resource in enumerate(self.plan.resources):
            grain = self.grain[at]
            limit, deserved = self.terms.limit[at][row], self.terms.deserved[at][row]
            whole = -(-self.total[at] // grain) * grain
            old = limit if key == "limit" else deserved
            low, high = (deserved % UNLIMITED, whole) if key == "limit" else (0, min(whole, limit))

            def put(files: Files, value: int, at: int = at) -> Files:
                stated = dict(getattr(self._stated(files, row).queue, key)) | {at: value}
                return self._queue(files, row, **{key: tuple(sorted(stated.items()))})

            def told(value: int, at: int = at) -> Value:
                word = None if key == "limit" else "unlimited"
                return word if value >= UNLIMITED else amount(self.plan.resources[at], value)

            change = Change(key, told(old), None, consumer=self.inquiry.path(row), resource=resource.name)
            yield Parameter(change, old, around(old, low, high, grain, is_bound=True), put, told, grain)

    def _weights(self, row: int) -> Iterator[Parameter]:
        """Its weights, in the steps in which those of all queues are written."""
        said = [stated.queue.weight for stated in self.entry.consumers.values()]
        for at, resource in enumerate(self.plan.resources):
            weights = [dict(each).get(at, Fraction(1)) for each in said]
            one = lcm(1, *(each.denominator for each in weights))
            step = gcd(one, *(int(each * one) for each in weights))
            old = int(Fraction(self.terms.weight[at][row], self.terms.weight_of_one[at]) * one)
            others = sum(int(each * one) for each in weights)
            most = min(_LARGEST * one, (others + step) * (1 + self.total[at] // self.terms.steps[at]))

            def put(files: Files, value: int, at: int = at, one: int = one) -> Files:
                stated = dict(self._stated(files, row).queue.weight) | {at: Fraction(value, one)}
                return self._queue(files, row, weight=tuple(sorted(stated.items())))

            def told(value: int, one: int = one) -> Value:
                return number(Fraction(value, one))

            path = self.inquiry.path(row)
            change = Change("over_quota_weight", told(old), None, consumer=path, resource=resource.name)
            yield Parameter(change, old, around(old, 0, most, step), put, told, step)

    def _of_order(self, row: int) -> Iterator[Parameter]:
        """Its band among its siblings, and how long its requests wait and its units run before anything is taken."""
        terms, path = self.terms, self.inquiry.path(row)
        siblings = terms.children[terms.above[row][1]]
        old = terms.priority[row]
        values = beside(old, (terms.priority[each] for each in siblings if each != row), 0)
        change = Change("priority", old, None, consumer=path)
        yield Parameter(change, old, values, lambda files, value: self._queue(files, row, priority=value), int)
        waits = {self.books.now - self._since(asked) for asked in self.books.asked.values()}
        for key, field in TIMES.items():
            span = getattr(terms, field)[row]

            def put(files: Files, value: int, key: str = key) -> Files:
                return self._queue(files, row, **{key: value})

            values = spans(span, waits if key == "preemption_delay" else self.ages)
            yield Parameter(Change(key, duration(span), None, consumer=path), span, values, put, duration)

    @staticmethod
    def _since(asked: PendingRequest) -> int:
        return asked.model.submitted if asked.model.since is None else asked.model.since

    def _fair_share(self, what: str, field: str, old: Any, values: tuple[Any, ...]) -> Parameter:  # noqa: ANN401
        """A setting of the entry that only this policy reads."""

        def put(files: Files, value: Any) -> Files:  # noqa: ANN401 - of any type
            said = files.plan.policies[self.at].settings.fair_share or FairShareSettings()
            return with_entry_settings(files, self.at, fair_share=replace(said, **{field: value}))

        return Parameter(Change(what, old, None), old, values, put, lambda value: value)

    def _tenths(self, what: str, field: str, old: Fraction, least: int) -> Parameter:
        """A number of the entry in tenths, up to ten more than it is."""
        one = lcm(_TENTHS, old.denominator)
        found = around(int(old * one), least * one, int(old * one) + 10 * one, one // _TENTHS)
        values = tuple(Fraction(each, one) for each in found)
        parameter = self._fair_share(what, field, old, values)
        return replace(parameter, change=replace(parameter.change, old=number(old)), told=number)
