"""Which changes are tried for a request that waits: those that its reasons point at, the smallest of a kind first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.pooled.changes import (
    Change,
    Trial,
    with_entry_settings,
    with_fewer_labels,
    with_host,
    with_owning,
    with_request,
    with_settings,
)
from fairhold.cycle.explain.pooled.inquiry import duration
from fairhold.kernels.vectors import add, fits, less
from fairhold.model.vector import amount
from fairhold.rules.pools.content import within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.cycle.explain.pooled.bounds import Bound
    from fairhold.cycle.explain.pooled.inquiry import Inquiry
    from fairhold.cycle.explain.pooled.spaces import Gap
    from fairhold.cycle.explain.pooled.waiting import Waiting
    from fairhold.ledger.pools import Asked

_RATIOS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64)
"""By how much a share ratio is raised, or the units that may go in a cycle, one after the other."""
_GANGS = 6
"""Smaller minima of a gang that are tried, one less each, before 1."""


def kinds(inquiry: Inquiry, asked: Asked, waiting: Waiting) -> Iterator[Iterator[Trial]]:
    """For every kind of change what is tried of it, the smallest change first."""
    trials = _Trials(inquiry, asked, waiting)
    yield trials.fewer_controls()
    yield trials.larger_hosts()
    yield trials.smaller_units()
    yield with_fewer_labels(trials.plan, trials.state, asked.model)
    yield trials.smaller_gangs()
    yield trials.better_priority()
    yield trials.shorter_grace()
    yield trials.longer_bounds()
    yield trials.nothing_reserved()
    yield trials.larger_limit()
    yield trials.larger_user_limit()
    yield trials.larger_ratios()
    yield trials.better_classes()


class _Trials:
    def __init__(self, inquiry: Inquiry, asked: Asked, waiting: Waiting) -> None:
        self.inquiry, self.state, self.asked, self.waiting = inquiry, inquiry.state, asked, waiting
        self.plan, self.at = inquiry.plan, inquiry.force.at

    def _gaps(self) -> list[Gap]:
        """Hosts where something is missing, the least of a unit first."""
        found = [gap for gap in (self.waiting.gap, *(level.gap for level in self.waiting.levels)) if gap is not None]
        parts = {
            (gap[0].host, gap[1]): max(miss / need for miss, need in zip(gap[1], self.asked.unit, strict=True) if need)
            for gap in found
            if any(gap[1])
        }
        first = {(gap[0].host, gap[1]): gap for gap in reversed(found)}
        return [first[key] for key in sorted(parts, key=lambda key: (parts[key], key[0].place, key[1]))]

    def fewer_controls(self) -> Iterator[Trial]:
        """The control that holds it back, looser or gone."""
        control, settings = self.waiting.control, self.inquiry.force.entry.settings
        if control is None:
            return
        if control.name == "min_runtime":
            for row, mine in self.inquiry.force.entry.consumers.items():
                if mine.min_runtime:
                    change = Change("min_runtime", duration(mine.min_runtime), "0s", consumer=self.inquiry.path(row))
                    yield Trial(with_settings(self.plan, self.at, row, min_runtime=0), self.state, (change,))
        elif control.name == "max_reclaims":
            most = settings.max_reclaims or 0
            for more in _RATIOS:
                yield self._control("max_reclaims", most, most + more)
        elif control.name == "await_ends":
            yield self._control("await_ends", settings.await_ends, 0, duration)
        else:
            old = getattr(settings, control.name)
            yield self._control(control.name, old, type(old)())

    def _control(self, name: str, old: int, new: int, told: Callable[[int], int | str | None] = int) -> Trial:
        """Another value of a setting of the entry."""
        values = (bool(old), bool(new)) if name == "observe_only" else (told(old), told(new))
        plan = with_entry_settings(self.plan, self.at, **{name: new})
        return Trial(plan, self.state, (Change(name, *values),))

    def larger_hosts(self) -> Iterator[Trial]:
        """More on a host, of what is missing there."""
        for space, missing in self._gaps():
            host = space.host
            plan, changes = with_host(self.plan, host.group, host.name, add(host.total, missing))
            yield Trial(plan, self.state, changes)

    def smaller_units(self) -> Iterator[Trial]:
        """A unit that needs less of what is missing, and still some of all: one without it would be another task."""
        for _, missing in self._gaps():
            unit = less(self.asked.unit, missing)
            if all(new or not old for old, new in zip(self.asked.unit, unit, strict=True)):
                changes = tuple(
                    Change(
                        "amount",
                        amount(resource, old),
                        amount(resource, new),
                        request=self.asked.model.id,
                        resource=resource.name,
                    )
                    for resource, old, new in zip(self.plan.resources, self.asked.unit, unit, strict=True)
                    if old != new
                )
                yield Trial(self.plan, with_request(self.state, self.asked.model.id, unit=unit), changes)

    def smaller_gangs(self) -> Iterator[Trial]:
        """A gang that begins with fewer units."""
        minimum, name = self.asked.model.min_count, self.asked.model.id
        if self.asked.held >= minimum:
            return
        never = self.waiting.never
        fits = [] if never is None else [self.asked.held + never.room]
        for fewer in dict.fromkeys([*fits, *range(minimum - 1, max(0, minimum - 1 - _GANGS), -1), 1]):
            if 0 < fewer < minimum:
                change = Change("min_count", minimum, fewer, request=name)
                yield Trial(self.plan, with_request(self.state, name, min_count=fewer), (change,))

    def better_priority(self) -> Iterator[Trial]:
        """A priority before other requests of the same leaf."""
        mine = self.asked.model
        others = [each for each in self.inquiry.books.by_leaf[self.asked.leaf] if each is not self.asked]
        for priority in sorted({each.model.priority for each in others if each.order < self.asked.order}):
            change = Change("priority", mine.priority, priority + 1, request=mine.id)
            yield Trial(self.plan, with_request(self.state, mine.id, priority=priority + 1), (change,))

    def _passed(self) -> list[Bound]:
        return list(dict.fromkeys(bound for level in self.waiting.levels for _, bound in level.passed))

    def shorter_grace(self) -> Iterator[Trial]:
        """A grace of the leaf that bounds allow."""
        leaf, grace = self.asked.leaf, self.inquiry.terms.grace[self.asked.leaf]
        for micros in sorted({bound.micros for bound in self._passed() if bound.micros < grace}, reverse=True):
            change = Change("reclaim_grace", duration(grace), duration(micros), consumer=self.inquiry.path(leaf))
            yield Trial(with_settings(self.plan, self.at, leaf, grace=micros), self.state, (change,))

    def longer_bounds(self) -> Iterator[Trial]:
        """A bound that allows the grace of the leaf."""
        grace = self.inquiry.terms.grace[self.asked.leaf]
        for bound in sorted(self._passed(), key=lambda bound: -bound.micros):
            path = self.inquiry.path(bound.consumer) if bound.consumer else ""
            stated = duration(bound.micros), duration(grace)
            if bound.setting == "public_pool_grace":
                change = Change(bound.setting, *stated)
                plan = with_entry_settings(self.plan, self.at, public_pool_grace=grace)
                yield Trial(plan, self.state, (change,))
            elif bound.setting == "private_pool_grace":
                plan = with_settings(self.plan, self.at, bound.consumer, private_pool_grace=grace)
                yield Trial(plan, self.state, (Change(bound.setting, *stated, consumer=path),))
            elif bound.entry is not None:
                yield from self._owning(bound.consumer, bound.entry.resource_group, "lend_grace", grace)

    def _owning(self, row: int, group: str, key: str, value: int | bool) -> Iterator[Trial]:  # noqa: FBT001 - a value
        """One value of all that a consumer owns of a group."""
        plan, before = with_owning(self.plan, self.at, row, group, **{key: value})
        stated = {getattr(each, key) for each in before}
        if len(stated) != 1:
            return  # entries differ: there is no one value to name
        old = stated.pop()
        told = [old, value] if key == "reserved" else [duration(within(old)), duration(within(value))]
        change = Change(key, told[0], told[1], consumer=self.inquiry.path(row), resource_group=group)
        yield Trial(plan, self.state, (change,))

    def nothing_reserved(self) -> Iterator[Trial]:
        """Something that another consumer does not reserve any more, where it has room for a unit."""
        above = self.inquiry.terms.above[self.asked.leaf]
        found: dict[tuple[int, str], None] = {}
        for host in self.inquiry.books.hosts:
            for parcel in host.parcels:
                for row, entry in parcel.chain:
                    if entry.reserved and row not in above and fits(self.asked.unit, parcel.idle):
                        found[row, host.group] = None
        for row, group in found:
            yield from self._owning(row, group, "reserved", value=False)

    def larger_limit(self) -> Iterator[Trial]:
        """A share limit under which what is wanted in one go fits."""
        wants = max(1, self.asked.model.min_count - self.asked.held)
        for row, at, most, used in dict.fromkeys(each.limit for each in self.waiting.levels if each.limit is not None):
            resource, need = self.plan.resources[at], used + wants * self.asked.unit[at]
            limit = tuple((place, need if place == at else old) for place, old in self.inquiry.terms.limit[row])
            stated = amount(resource, most), amount(resource, need)
            change = Change("share_limit", *stated, consumer=self.inquiry.path(row), resource=resource.name)
            yield Trial(with_settings(self.plan, self.at, row, share_limit=limit), self.state, (change,))

    def larger_user_limit(self) -> Iterator[Trial]:
        """A user limit of the leaf that has room for what is wanted in one go."""
        if self.waiting.user is not None:
            _, most, held = self.waiting.user
            wants = max(1, self.asked.model.min_count - self.asked.held)
            need = held + wants if self.waiting.never else max(most, held) + wants
            change = Change("user_limit", most, need, consumer=self.inquiry.path(self.asked.leaf))
            yield Trial(with_settings(self.plan, self.at, self.asked.leaf, user_limit=need), self.state, (change,))

    def _sides(self) -> dict[int, set[int]]:
        """The consumers on the way to the leaf that are compared with others, and with whom."""
        found: dict[int, set[int]] = {}
        for level in self.waiting.levels:
            for compared in level.comparisons:
                mine, theirs = compared.sides
                found.setdefault(mine, set()).add(theirs)
        return found

    def larger_ratios(self) -> Iterator[Trial]:
        """A larger share ratio of a consumer that is compared, or of one that takes no part."""
        ratio, above = self.inquiry.terms.ratio, self.inquiry.terms.above[self.asked.leaf]
        rows = dict.fromkeys([*self._sides(), *(row for row in above[:-1] if not ratio[row])])
        for more in _RATIOS:
            for row in rows:
                change = Change("share_ratio", ratio[row], ratio[row] + more, consumer=self.inquiry.path(row))
                plan = with_settings(self.plan, self.at, row, share_ratio=ratio[row] + more)
                yield Trial(plan, self.state, (change,))

    def better_classes(self) -> Iterator[Trial]:
        """A share priority above that of one with whom a consumer is compared."""
        priority = self.inquiry.terms.priority
        for row, others in self._sides().items():
            for other in sorted({priority[each] for each in others if priority[each] >= priority[row]}):
                change = Change("share_priority", priority[row], other + 1, consumer=self.inquiry.path(row))
                plan = with_settings(self.plan, self.at, row, share_priority=other + 1)
                yield Trial(plan, self.state, (change,))
