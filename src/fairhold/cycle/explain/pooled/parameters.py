"""Every value of the plan and the state that could give a request more: of requests and hosts, under either policy."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from itertools import count, islice
from typing import TYPE_CHECKING, Any

from fairhold.cycle.explain.parameter import (
    Change,
    Parameter,
    around,
    asks,
    beside,
    bound_told,
    brought_up,
    grain_of,
    sited,
    spans,
    with_entry_settings,
    with_request,
    with_settings,
)
from fairhold.cycle.explain.pooled.inquiry import duration
from fairhold.kernels.vectors import count as units_in
from fairhold.model.plan import PACKINGS
from fairhold.model.siting import label_set
from fairhold.model.vector import amount
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.cycle.explain.parameter import Files, Value
    from fairhold.cycle.explain.pooled.inquiry import Inquiry
    from fairhold.ledger.pools import Machine, PendingRequest

_MORE_HOSTS = 8
"""Hosts that are added to a group, one after the other, each like one that it has."""
LARGEST_PRIORITY = 10**9


class Parameters:
    """The values of one inquiry. Whatever a policy reads of consumers and of its entry is its own."""

    def __init__(self, inquiry: Inquiry) -> None:
        self.inquiry, self.plan, self.state = inquiry, inquiry.plan, inquiry.state
        self.at, self.entry = inquiry.force.at, inquiry.force.entry
        self.consumers: Callable[[int], list[Parameter]] = cache(self.of_consumer)
        self.books = inquiry.books
        hosts = [*self.books.hosts, *self.books.hosts_down]
        self.total = [sum(host.total[at] for host in hosts) for at in range(len(self.plan.resources))]
        self.grain = [grain_of(self._amounts(at)) for at in range(len(self.plan.resources))]
        ages = [self.books.now - unit.started for unit in self.books.units()]
        self.ages = sorted(set(ages))
        self.units = sum(asked.count for asked in self.books.asked.values())

    def _amounts(self, at: int) -> Iterator[int]:
        """All amounts of a resource that plan and state name."""
        yield self.plan.resources[at].step
        for host in (*self.books.hosts, *self.books.hosts_down):
            yield from (host.total[at], host.plain[at])
        yield from (asked.unit[at] for asked in self.books.asked.values())
        for stated in self.entry.consumers.values():
            for amounts in (stated.share_limit, stated.queue.deserved, stated.queue.limit):
                yield from (units for place, units in amounts if place == at)
            for own in stated.own:
                yield from (units for place, units in own.total if place == at)
                yield from (units for place, units in own.per_host if place == at and isinstance(units, int))

    def groups(self, asked: PendingRequest) -> Iterator[Iterator[Parameter]]:
        """All values for a request, the likeliest first."""
        line = self.inquiry.terms.above[asked.leaf][:-1]
        yield self.of_request(asked, is_own=True)
        yield (each for row in line for each in self.consumers(row))
        yield self.of_hosts()
        yield self.of_entry()
        others = sorted(self.books.asked.values(), key=lambda each: each.leaf != asked.leaf)
        yield (each for other in others if other is not asked for each in self.of_request(other, is_own=False))
        yield (each for row in self._rows() if row not in line for each in self.consumers(row))

    def _rows(self) -> list[int]:
        """Consumers that take part."""
        above = self.inquiry.terms.above
        return sorted({row for leaf in self.inquiry.terms.leaves for row in above[leaf][:-1]})

    def of_consumer(self, row: int) -> list[Parameter]:
        """What a policy reads of one consumer."""
        raise AssertionError(row)

    def of_entry(self) -> Iterator[Parameter]:
        """The settings of the policy entry."""
        raise AssertionError

    def all_of(self, row: int, what: str, resource: int = -1) -> list[Parameter]:
        """The values of a consumer under one key: of what is owned, of each group."""
        name = self.plan.resources[resource].name if resource >= 0 else ""
        return [each for each in self.consumers(row) if (each.change.what, each.change.resource) == (what, name)]

    def find(self, row: int, what: str, resource: int = -1) -> Parameter | None:
        """One value of a consumer."""
        return next(iter(self.all_of(row, what, resource)), None)

    def setting(self, what: str) -> Parameter | None:
        """One setting of the entry."""
        return next((each for each in self.of_entry() if each.change.what == what), None)

    def request(self, asked: PendingRequest, what: str, resource: int = -1) -> Parameter | None:
        """One value of a request."""
        name = self.plan.resources[resource].name if resource >= 0 else ""
        found = self.of_request(asked, is_own=True)
        return next((each for each in found if (each.change.what, each.change.resource) == (what, name)), None)

    # Of consumers and entries, under either policy

    def stated(self, row: int, what: str, key: str, old: int, values: tuple[int, ...]) -> Parameter:
        """A number or a duration that an entry states for a consumer.

        key : the field that has it; old: as it is in force
        """
        is_time = what not in {"share_ratio", "share_priority", "rank", "user_limit"}
        told: Callable[[int], Value] = duration if is_time else bound_told
        change = Change(what, told(old), None, consumer=self.inquiry.path(row))

        def put(files: Files, value: int) -> Files:
            is_none = value >= UNLIMITED and key == "private_pool_grace"
            return with_settings(files, self.at, row, **{key: None if is_none else value})

        is_counted = what in {"share_ratio", "user_limit"}
        return Parameter(change, old, values, put, told, step=1 if is_counted else 0)

    def controls(self, row: int) -> Iterator[Parameter]:
        """What holds back under either policy: how much a user may hold, how long units run."""
        terms = self.inquiry.terms
        below = [asked for asked in self.books.asked.values() if row in terms.above[asked.leaf]]
        most = sum(asked.count for asked in below if asked.model.user)
        old = terms.user_limit[row]
        if most:
            yield self.stated(row, "user_limit", "user_limit", old, around(old, 1, most, is_bound=True))
        if below:
            yield self.stated(
                row, "min_runtime", "min_runtime", terms.min_runtime[row], spans(terms.min_runtime[row], self.ages)
            )

    def switch(self, what: str, old: Any, values: tuple[Any, ...], step: int = 0) -> Parameter:  # noqa: ANN401
        """A setting of the entry."""
        is_time = what in {"await_ends", "public_pool_grace", "rebalance_interval"}

        def told(value: Any) -> Value:  # noqa: ANN401 - of any type
            return value if isinstance(value, bool | str) else duration(value) if is_time else bound_told(value)

        def put(files: Files, value: Any) -> Files:  # noqa: ANN401 - of any type
            is_none = value == UNLIMITED and what in {"public_pool_grace", "max_reclaims"}
            return with_entry_settings(files, self.at, **{what: None if is_none else value})

        return Parameter(Change(what, told(old), None), old, values, put, told, step)

    def switches(self) -> Iterator[Parameter]:
        """Settings that either policy reads."""
        settings = self.entry.settings
        most = UNLIMITED if settings.max_reclaims is None else settings.max_reclaims
        yield self.switch("max_reclaims", most, around(most, 1, self.units, is_bound=True), 1)
        yield self.switch("dead_zone", settings.dead_zone, around(settings.dead_zone, 0, self.units), 1)
        ages = [self.books.now - short.since for short in self.state.shortages]
        yield self.switch("await_ends", settings.await_ends, spans(settings.await_ends, [0, *ages]))
        yield self.switch("observe_only", settings.observe_only, (not settings.observe_only,))
        packings = tuple(each for each in PACKINGS if each != settings.packing)
        yield self.switch("packing", settings.packing, packings)

    # Hosts

    def of_hosts(self) -> Iterator[Parameter]:
        """Every host: whether it is up and open, what it has, and how many there are like it."""
        seen: set[object] = set()
        for host in (*self.books.hosts, *self.books.hosts_down):
            yield from self.flags(host)
        for host in (*self.books.hosts, *self.books.hosts_down):
            yield from (self.host_amount(host, at) for at in range(len(self.plan.resources)))
            if (host.group, host.plain, host.labels) not in seen:
                seen.add((host.group, host.plain, host.labels))
                yield self._more_hosts(host)

    def flags(self, host: Machine) -> list[Parameter]:
        """That a host is down, or else that it is closed: who is down starts nothing either way."""
        whats = ("hosts_never_seen", "hosts_down", "hosts_closed")
        found = (what for what in whats if host.name in getattr(self.state, what))
        return [brought_up(host.name, what) for what in islice(found, 1)]

    def host_amount(self, host: Machine, at: int) -> Parameter:
        """What a host has of a resource, up to all that anybody waits for on it alone."""
        resource, old = self.plan.resources[at], host.plain[at]
        lacks = sum(asked.lacking * asked.unit[at] for asked in self.books.asked.values())

        def put(files: Files, value: int) -> Files:
            hosts = list(files.plan.resource_groups[host.group].hosts)
            place = next(place for place, each in enumerate(hosts) if each.name == host.name)
            amounts = list(hosts[place].amounts)
            amounts[at] = value
            hosts[place] = replace(hosts[place], amounts=tuple(amounts))
            return self._with_hosts(files, host.group, tuple(hosts))

        change = Change("amount", amount(resource, old), None, host=host.name, resource=resource.name)
        values = around(old, old, old + lacks, self.grain[at])
        return Parameter(change, old, values, put, partial(amount, resource), self.grain[at])

    def _more_hosts(self, like: Machine) -> Parameter:
        """How many hosts a group has; those that are added are like one of it."""
        hosts = self.plan.resource_groups[like.group].hosts
        model = next(each for each in hosts if each.name == like.name)
        names = {each.name for group in self.plan.resource_groups.values() for each in group.hosts}

        def put(files: Files, value: int) -> Files:
            free = (name for at in count(2) if (name := f"{like.name}-{at}") not in names)
            new = tuple(replace(model, name=name) for name in islice(free, value - len(hosts)))
            files = self._with_hosts(files, like.group, (*hosts, *new))
            labels = files.state.labels
            if labels is not None:
                told = {**labels, **{each.name: label_set(each.labels) for each in new}}
                files = replace(files, state=replace(files.state, labels=told))
            return files

        change = Change("hosts", len(hosts), None, host=like.name, resource_group=like.group)
        values = tuple(range(len(hosts) + 1, len(hosts) + 1 + _MORE_HOSTS))
        return Parameter(change, len(hosts), values, put, int, 1)

    @staticmethod
    def _with_hosts(files: Files, group: str, hosts: Any) -> Files:  # noqa: ANN401 - a tuple of hosts
        groups = {**files.plan.resource_groups, group: replace(files.plan.resource_groups[group], hosts=hosts)}
        return replace(files, plan=replace(files.plan, resource_groups=groups))

    # Requests

    def of_request(self, asked: PendingRequest, *, is_own: bool) -> Iterator[Parameter]:
        """What a request says; of others only how much they want, and how urgently."""
        mine = asked.model
        yield asks(mine, "min_count", around(mine.min_count, 0, mine.count), 1)
        others = {each.model.priority for each in self.books.asked.values()} | self.borders()
        yield asks(mine, "priority", beside(mine.priority, others, -LARGEST_PRIORITY, LARGEST_PRIORITY))
        yield from self.kinds_of_request(asked)
        yield asks(mine, "count", around(mine.count, mine.min_count, mine.count + self._fitting(asked)), 1)
        if is_own:
            yield from sited(mine)
            stands_on = any(each.parts for each in self.state.allocations if each.request == mine.id)
            if not stands_on and not any(each.parts for each in self.state.notices if each.request == mine.id):
                yield from (self._unit(asked, at) for at, need in enumerate(asked.unit) if need)

    def _fitting(self, asked: PendingRequest) -> int:
        """Units of a request that all hosts have room for, were they empty."""
        return sum(units_in(asked.unit, host.total) for host in (*self.books.hosts, *self.books.hosts_down))

    def borders(self) -> set[int]:
        """Priorities from which on a request is another kind of request."""
        return set()

    def kinds_of_request(self, asked: PendingRequest) -> Iterator[Parameter]:  # noqa: ARG002 - for policies that have some
        """What only one policy reads of a request."""
        yield from ()

    def _unit(self, asked: PendingRequest, at: int) -> Parameter:
        """How much of a resource a unit needs; one that needs nothing of it would be another task."""
        resource, name, old = self.plan.resources[at], asked.model.id, asked.unit[at]

        def put(files: Files, value: int) -> Files:
            (mine,) = (each for each in files.state.requests if each.id == name)
            unit = (*mine.unit[:at], value, *mine.unit[at + 1 :])
            return with_request(files, name, unit=unit)

        change = Change("amount", amount(resource, old), None, request=name, resource=resource.name)
        values = around(old, self.grain[at], old, self.grain[at])
        return Parameter(change, old, values, put, partial(amount, resource), self.grain[at])
