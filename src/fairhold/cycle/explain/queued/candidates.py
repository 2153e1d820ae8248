"""Which changes are tried for a request of a queue that waits: those that its reason points at, the smallest first."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.cycle.explain.pooled.changes import (
    Change,
    Trial,
    with_entry_settings,
    with_fewer_labels,
    with_host,
    with_request,
    with_settings,
)
from fairhold.cycle.explain.pooled.inquiry import duration
from fairhold.kernels.vectors import add, less
from fairhold.ledger.queues import is_preemptible
from fairhold.model.plan import ConsumerSettings
from fairhold.model.vector import amount, number
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain.queued.asking import Asking
    from fairhold.cycle.explain.queued.waiting import Waiting
    from fairhold.ledger.pools import Asked
    from fairhold.model.plan import Plan
    from fairhold.model.queue import QueueSettings

_WEIGHTS = (2, 4, 8, 16)
"""By how much a weight is multiplied, one after the other."""
_GANGS = 6
"""Smaller minima of a gang that are tried, one less each, before 1."""
_TIMES = ("preemption_delay", "reclaim_min_runtime", "preempt_min_runtime")


def kinds(asking: Asking, asked: Asked, waiting: Waiting) -> Iterator[Iterator[Trial]]:
    """For every kind of change what is tried of it, the smallest change first."""
    trials = _Trials(asking, asked, waiting)
    yield trials.fewer_controls()
    yield trials.larger_limit()
    yield trials.more_deserved()
    yield trials.better_priority()
    yield trials.larger_weight()
    yield trials.better_request()
    yield trials.shorter_times()
    yield trials.smaller_multiplier()
    yield with_fewer_labels(trials.plan, trials.state, asked.model)
    yield trials.smaller_gangs()
    yield trials.larger_hosts()
    yield trials.smaller_units()


class _Trials:
    def __init__(self, asking: Asking, asked: Asked, waiting: Waiting) -> None:
        self.asking, self.inquiry, self.asked, self.waiting = asking, asking.inquiry, asked, waiting
        self.plan, self.state, self.at = asking.inquiry.plan, asking.inquiry.state, asking.inquiry.force.at
        self.above = asking.terms.above[asked.leaf][:-1]

    def _stated(self, plan: Plan, row: int) -> ConsumerSettings:
        return plan.policies[self.at].consumers.get(row, ConsumerSettings())

    def _with(self, plan: Plan, row: int, **values: object) -> Plan:
        """The plan with other settings of a queue."""
        queue: QueueSettings = replace(self._stated(plan, row).queue, **values)  # type: ignore[arg-type]
        return with_settings(plan, self.at, row, queue=queue)

    def _amount(self, plan: Plan, key: str, row: int, at: int, units: int) -> tuple[Plan, Change]:
        """The plan with another amount of `deserved` or `limit`, and the change."""
        stated = dict(getattr(self._stated(plan, row).queue, key)) | {at: units}
        resource, old = self.plan.resources[at], getattr(self.asking.terms, key)[at][row]
        told = None if old >= UNLIMITED else amount(resource, old)
        change = Change(key, told, amount(resource, units), consumer=self.inquiry.path(row), resource=resource.name)
        return self._with(plan, row, **{key: tuple(sorted(stated.items()))}), change

    def fewer_controls(self) -> Iterator[Trial]:
        """The control that holds it back, gone."""
        control, settings = self.waiting.control, self.inquiry.force.entry.settings
        if control is None or not hasattr(settings, control.name):
            return
        old = getattr(settings, control.name)
        new = None if old is None or control.name == "max_reclaims" else type(old)()
        told = (duration(old), "0s") if control.name == "await_ends" else (old, new)
        plan = with_entry_settings(self.plan, self.at, **{control.name: new})
        yield Trial(plan, self.state, (Change(control.name, *told),))

    def _raised(self, key: str, used: tuple[list[int], ...]) -> Iterator[Trial]:
        """An amount that has room for what is needed: of the lowest queue alone, then of one more above it each."""
        plan, changes = self.plan, list[Change]()
        for row in self.above:
            for at, need in enumerate(self.asking.need(self.asked)):
                wanted = used[at][row] + need
                if need and wanted > getattr(self.asking.terms, key)[at][row]:
                    plan, change = self._amount(plan, key, row, at, wanted)
                    if key == "deserved" and self.asking.terms.limit[at][row] < wanted:
                        return
                    changes.append(change)
            if changes:
                yield Trial(plan, self.state, tuple(changes))

    def larger_limit(self) -> Iterator[Trial]:
        """Limits under which what is wanted in one go fits."""
        yield from self._raised("limit", self.asking.used.held)

    def more_deserved(self) -> Iterator[Trial]:
        """More that is deserved, as far up as it takes."""
        used = self.asking.now.held if is_preemptible(self.asked) else self.asking.used.fixed
        yield from self._raised("deserved", used)

    def better_priority(self) -> Iterator[Trial]:
        """A queue on the way up in a better band than a sibling."""
        terms = self.asking.terms
        for row, parent in zip(self.above, terms.above[self.asked.leaf][1:], strict=True):
            mine = terms.priority[row]
            others = {terms.priority[each] for each in terms.children[parent] if each != row}
            for other in sorted(each for each in others if each >= mine):
                change = Change("priority", mine, other + 1, consumer=self.inquiry.path(row))
                yield Trial(self._with(self.plan, row, priority=other + 1), self.state, (change,))

    def larger_weight(self) -> Iterator[Trial]:
        """A larger weight of a queue on the way up, for all that is asked for."""
        terms = self.asking.terms
        for times in _WEIGHTS:
            for row in self.above:
                for at in (at for at, need in enumerate(self.asked.unit) if need):
                    old = Fraction(terms.weight[at][row], terms.weight_of_one[at])
                    new = old * times or Fraction(1)
                    stated = dict(self._stated(self.plan, row).queue.weight) | {at: new}
                    where = {"consumer": self.inquiry.path(row), "resource": self.asking.name(at)}
                    change = Change("over_quota_weight", number(old), number(new), **where)
                    plan = self._with(self.plan, row, weight=tuple(sorted(stated.items())))
                    yield Trial(plan, self.state, (change,))

    def better_request(self) -> Iterator[Trial]:
        """A request that may be taken back, or one that comes before others of its queue."""
        mine = self.asked.model
        if not is_preemptible(self.asked):
            change = Change("preemptible", old=False, new=True, request=mine.id)
            yield Trial(self.plan, with_request(self.state, mine.id, preemptible=True), (change,))
        others = {each.model.priority for each in self.inquiry.books.by_leaf[self.asked.leaf] if each is not self.asked}
        for priority in sorted(each for each in others if each >= mine.priority):
            change = Change("priority", mine.priority, priority + 1, request=mine.id)
            state = with_request(self.state, mine.id, priority=priority + 1, preemptible=is_preemptible(self.asked))
            yield Trial(self.plan, state, (change,))

    def shorter_times(self) -> Iterator[Trial]:
        """No delay of its own, and no run time that its victims are given."""
        for row, stated in self.inquiry.force.entry.consumers.items():
            for key in _TIMES:
                old = getattr(stated.queue, key)
                if old and (key == "reclaim_min_runtime" or row in self.above):
                    change = Change(key, duration(old), "0s", consumer=self.inquiry.path(row))
                    yield Trial(self._with(self.plan, row, **{key: 0}), self.state, (change,))

    def smaller_multiplier(self) -> Iterator[Trial]:
        """A multiplier of 1."""
        settings = self.asking.terms.settings
        if settings.multiplier > 1:
            change = Change("reclaimer_utilization_multiplier", number(settings.multiplier), 1)
            plan = with_entry_settings(self.plan, self.at, fair_share=replace(settings, multiplier=Fraction(1)))
            yield Trial(plan, self.state, (change,))

    def smaller_gangs(self) -> Iterator[Trial]:
        """A gang that begins with fewer units."""
        minimum, name = self.asked.model.min_count, self.asked.model.id
        if self.asked.held < minimum:
            for fewer in dict.fromkeys([*range(minimum - 1, max(0, minimum - 1 - _GANGS), -1), 1]):
                if 0 < fewer < minimum:
                    change = Change("min_count", minimum, fewer, request=name)
                    yield Trial(self.plan, with_request(self.state, name, min_count=fewer), (change,))

    def larger_hosts(self) -> Iterator[Trial]:
        """More on the nearest host, of what is missing there."""
        gap = self.waiting.gap
        if gap is not None and any(gap[1]):
            host = gap[0].host
            plan, changes = with_host(self.plan, host.group, host.name, add(host.total, gap[1]))
            yield Trial(plan, self.state, changes)

    def smaller_units(self) -> Iterator[Trial]:
        """A unit that needs less of what is missing, and still some of all."""
        gap, old = self.waiting.gap, self.asked.unit
        if gap is None or not any(gap[1]):
            return
        new = less(old, gap[1])
        if all(now or not was for was, now in zip(old, new, strict=True)):
            name = self.asked.model.id
            changes = tuple(
                Change("amount", amount(each, was), amount(each, now), request=name, resource=each.name)
                for each, was, now in zip(self.plan.resources, old, new, strict=True)
                if was != now
            )
            yield Trial(self.plan, with_request(self.state, name, unit=new), changes)
