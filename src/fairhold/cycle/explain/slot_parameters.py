"""Every value of the plan and the state that could give a consumer a slot more, where slots are shared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairhold.cycle.explain.parameter import (
    Change,
    Parameter,
    around,
    asks,
    beside,
    bound_told,
    brought_up,
    sited,
    with_entry_settings,
    with_settings,
)
from fairhold.cycle.open import request_of
from fairhold.model.budget import HOUR
from fairhold.model.plan import ENFORCED, ENTITLEMENTS
from fairhold.units import LARGEST

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Collection, Iterable, Iterator

    from fairhold.cycle.explain.parameter import Files
    from fairhold.cycle.explain.search import Groups
    from fairhold.ledger.books import Books
    from fairhold.model.plan import Host, Plan
    from fairhold.model.state import Request

GROUP = "/"
"""The consumer of a change of the resource group's own values."""


class SlotParameters:
    """The values of one resource group.

    unseen : names of hosts that were never up
    fixed  : a leaf whose demand stays as it is, -1 = none
    """

    def __init__(self, plan: Plan, books: Books, unseen: Collection[str] = (), fixed: int = -1) -> None:
        self.plan, self.books, self.rows, self.unseen, self.fixed = plan, books, books.rows, unseen, fixed
        rows, demand = books.rows, sum(books.demand)
        places = sorted(set(rows.force))
        self.at = [places[at] for at in rows.chosen]
        self.most = min(LARGEST, 2 * (books.slots + rows.configured + demand + 1))

    def groups(self, row: int) -> Groups:
        """All values for a consumer, the likeliest first."""
        tree, rows = self.rows.tree, self.rows.tree.child[1:]
        mine = {*self._inside(row), *self.line(row)}
        leaves = {at for at in mine if self.rows.is_leaf(at)}
        return {
            "consumers": (each for at in tree.path if at in mine for each in self.of_consumer(at)),
            "requests": self._requests(leaves),
            "hosts": self.of_hosts(),
            "settings": self.of_entries(),
            "other requests": self._requests({at for at in rows if self.rows.is_leaf(at)} - leaves),
            "other consumers": (each for at in rows if at not in mine for each in self.of_consumer(at)),
        }

    def line(self, row: int) -> Iterator[int]:
        """A consumer and those above it."""
        while row > 0:
            yield row
            row = self.rows.tree.parent[row]

    def _inside(self, row: int) -> Iterable[int]:
        start = self.rows.position[row]
        return self.rows.tree.path[start : start + self.rows.size[row]]

    # Consumers

    def of_consumer(self, row: int) -> Iterator[Parameter]:
        """What the plan says of a consumer, and what it wants."""
        keys = self.plan.policies[self.at[row]].policy.keys
        if "owned" in keys:
            yield self.owned(row)
            yield self._reserved(row)
        yield from self.bars(row)
        yield self.rank(row)
        if "share_ratio" in keys:
            yield self.ratio(row)
        yield from self.weights(row)
        if self.rows.is_leaf(row) and row != self.fixed:
            yield self.demand(row)
        if self.rows.is_leaf(row):
            yield from self.loans(row)

    def bars(self, row: int) -> Iterator[Parameter]:
        """What keeps a consumer from more, whatever it is entitled to: its limit, its users' one, its budget."""
        yield self.limit(row)
        if any(self.books.requests.user[at] for at in self._asked_below(row)):
            yield self.user_limit(row)
        yield from self.budget(row)

    def limit(self, row: int) -> Parameter:
        """Its limit: no less than it owns and those below it reserve."""
        old = self.rows.plan.limit[row]
        low = max(self.rows.stated(row).owned, sum(map(self._kept, self._children(row))))
        return self._stated(row, "limit", old, around(old, low, max(low, self.books.slots), is_bound=True), 1)

    def user_limit(self, row: int) -> Parameter:
        """How much one user may hold, up to all that is asked for with a user's name."""
        old = self.rows.controls.user_limit[row]
        asked = [self.books.requests.count[at] for at in self._asked_below(row) if self.books.requests.user[at]]
        return self._stated(row, "user_limit", old, around(old, 1, max(1, sum(asked)), is_bound=True), 1)

    def budget(self, row: int) -> Iterator[Parameter]:
        """Of a budget that is used up as many unit-hours as make it as if it were not."""
        rows, at = self.rows, self.at[row]
        if row not in rows.controls.budgets or row not in rows.spent or self.books.spending is None:
            return
        budget = rows.controls.budgets[row]
        used = self.books.spending.meters[row, budget.period, 0].amount
        change = Change("budget", budget.unit_hours, None, consumer=rows.path(row))

        def put(files: Files, value: int) -> Files:
            return with_settings(files, at, row, budget=replace(budget, unit_hours=value))

        yield Parameter(change, budget.unit_hours, (used // HOUR + 1,), put, int)

    def rank(self, row: int) -> Parameter:
        """Its rank, of which only the order among its siblings counts."""
        old, ranks = self.rows.rank(row), [self.rows.rank(each) for each in self._siblings(row) if each != row]
        return self._stated(row, "rank", old, beside(old, ranks, 0))

    def ratio(self, row: int) -> Parameter:
        """Its share ratio."""
        old = self.rows.ratio[row]
        return self._stated(row, "share_ratio", old, around(old, 0, old + self.largest_ratio(row)), 1)

    def largest_ratio(self, row: int) -> int:
        """By how much a share ratio may grow and mean more: who has nearly all has nearly all there is."""
        ratio = self.rows.ratio
        # Siblings alone decide what a ratio means, among owners all leaves.
        others = sum(ratio) if self.rows.is_owner[row] else sum(ratio[each] for each in self._siblings(row))
        return min(LARGEST - ratio[row], (self.books.slots + 1) * (others + 1)) if others else 1

    def weights(self, row: int) -> Iterator[Parameter]:
        """What else a division of another package weighs a consumer by."""
        at, stated = self.at[row], self.rows.stated(row)
        division = self.plan.policies[at].policy.division
        for setting in division.weights if division else ():
            old, key = setting.of(stated), setting.key

            def put(files: Files, value: int, key: str = key) -> Files:
                return with_settings(files, at, row, more={**stated.more, key: value})

            change = Change(key, old, None, consumer=self.rows.path(row))
            yield Parameter(change, old, around(old, setting.least, setting.most), put, int, 1)

    def demand(self, leaf: int) -> Parameter:
        """What a leaf wants, up to all slots; less only where no requests say so one by one."""
        old, group = self.books.demand[leaf], self.rows.group.name
        is_counted = not any(self.books.requests.id[at] for at in self._asked_below(leaf))

        def put(files: Files, value: int) -> Files:
            return replace(files, state=replace(files.state, demand={**files.state.demand, (leaf, group): value}))

        values = around(old, 0 if is_counted else old, max(old, self.books.slots))
        return Parameter(Change("demand", old, None, consumer=self.rows.path(leaf)), old, values, put, int, 1)

    def loans(self, leaf: int) -> Iterator[Parameter]:
        """What the lists of both sides allow a leaf to use of each of its lenders."""
        lists, rows = self.rows.lists, self.rows
        for pair, borrower in enumerate(lists.borrower):
            if borrower == leaf:
                lender, old = lists.lender[pair], lists.most[pair]
                change = Change("loan", bound_told(old), None, consumer=rows.path(leaf), lender=rows.path(lender))
                values = around(old, 0, self.most, is_bound=True)
                yield Parameter(change, old, values, self._lends(leaf, lender), bound_told, 1)

    def _lends(self, borrower: int, lender: int) -> Callable[[Files, int], Files]:
        sides = ((lender, "lend_to", borrower), (borrower, "borrow_from", lender))

        def put(files: Files, value: int) -> Files:
            for row, key, peer in sides:
                stated = getattr(files.plan.policies[self.at[row]].consumers[row], key)
                peers = tuple(replace(each, limit=value) if each.consumer == peer else each for each in stated)
                files = with_settings(files, self.at[row], row, **{key: peers})
            return files

        return put

    def _children(self, row: int) -> array[int]:
        return self.rows.tree.children(row)

    def _siblings(self, row: int) -> array[int]:
        return self._children(self.rows.tree.parent[row])

    def owned_below(self, row: int) -> int:
        """What the children of a consumer own, also while a budget of theirs is used up."""
        return sum(self.rows.stated(child).owned for child in self._children(row))

    def owned(self, row: int) -> Parameter:
        """What it owns: at least what it reserves and its children own, no more than its limit and what is left."""
        rows, mine = self.rows, self.rows.stated(row)
        above = rows.tree.parent[row]
        there = rows.stated(above).owned if above else rows.group.configured_slots
        most = min(self.owned_below(above) + self.most, LARGEST) if there is None else there
        room = most - self.owned_below(above) + mine.owned
        low = max(mine.reserved, self.owned_below(row))
        return self._stated(row, "owned", mine.owned, around(mine.owned, low, min(room, mine.limit)), 1)

    def _kept(self, row: int) -> int:
        """What it and those below it reserve."""
        return max(self.rows.stated(row).reserved, sum(map(self._kept, self._children(row))))

    def _reserved(self, row: int) -> Parameter:
        """What it reserves: no more than it owns, and than the limits above it leave."""
        mine = self.rows.stated(row)
        values = around(mine.reserved, 0, mine.owned)
        return self._stated(row, "reserved", mine.reserved, tuple(each for each in values if self._fits(row, each)), 1)

    def _fits(self, row: int, reserved: int) -> bool:
        """Whether the limits above a consumer allow it to reserve so much."""
        kept = max(reserved, sum(map(self._kept, self._children(row))))
        while above := self.rows.tree.parent[row]:
            kept += sum(self._kept(each) for each in self._siblings(row) if each != row)
            if kept > self.rows.stated(above).limit:
                return False
            kept, row = max(kept, self.rows.stated(above).reserved), above
        return True

    def _stated(self, row: int, what: str, old: int, values: tuple[int, ...], step: int = 0) -> Parameter:
        """A number that the plan states for a consumer; UNLIMITED = none."""

        def put(files: Files, value: int) -> Files:
            return with_settings(files, self.at[row], row, **{what: value})

        change = Change(what, bound_told(old), None, consumer=self.rows.path(row))
        return Parameter(change, old, values, put, bound_told, step)

    # Requests

    def _asked_below(self, row: int) -> list[int]:
        return [at for leaf in self._inside(row) for at in self._by_leaf.get(leaf, ())]

    @property
    def _by_leaf(self) -> dict[int, list[int]]:
        if not hasattr(self, "_known"):
            self._known = self.books.requests.by_leaf
        return self._known

    def requests(self) -> tuple[Request, ...]:
        """Requests with a name."""
        named = (at for at in self.books.requests.rows() if self.books.requests.id[at])
        return tuple(request_of(self.books, self.rows.group.name, at) for at in named)

    def _requests(self, leaves: set[int]) -> Iterator[Parameter]:
        mine = self.requests()
        priorities = {each.priority for each in mine}
        for each in mine if leaves else ():
            if each.consumer in leaves:
                most = each.count if each.consumer == self.fixed else max(each.count, self.books.slots)
                yield asks(each, "min_count", around(each.min_count, 0, each.count), 1)
                yield asks(each, "count", around(each.count, each.min_count, most), 1)
                yield asks(each, "priority", beside(each.priority, priorities, -LARGEST))
                yield from sited(each)

    # Hosts and settings

    def able(self) -> list[tuple[tuple[int, object, str], Parameter]]:
        """Hosts that could be up and open: their slots, labels and what they are instead, and that they are not."""
        hosts = self.books.hosts
        found: list[tuple[tuple[int, object, str], Parameter]] = []
        for host in self.rows.group.hosts:
            at = hosts.row_of.get(host.name, -1)
            if at >= 0 and (not hosts.up[at] or at in hosts.closed):
                down = "hosts_never_seen" if host.name in self.unseen else "hosts_down"
                what = "hosts_closed" if hosts.up[at] else down
                found.append(((host.slots, host.labels, what), brought_up(host.name, what)))
        return found

    def of_hosts(self) -> Iterator[Parameter]:
        """Hosts: whether they are up and open, and what they have; or the slots of the group."""
        yield from (flag for _, flag in self.able())
        if self.rows.group.hosts:
            away = {flag.change.host for _, flag in self.able()}
            yield from (self._slots_of(each) for each in self.rows.group.hosts if each.name not in away)
        else:
            yield from self.more_slots()

    def more_slots(self) -> Iterator[Parameter]:
        """What more slots are tried on: the last host that may start work, else that is up; or the group."""
        hosts, group = self.books.hosts, self.rows.group
        if group.hosts:
            up = [each for each in group.hosts if each.name in hosts.row_of and hosts.up[hosts.row_of[each.name]]]
            able = [each for each in up if hosts.row_of[each.name] not in hosts.closed] or up
            yield from map(self._slots_of, able[-1:])
            return
        old = self.books.slots

        def put(files: Files, value: int) -> Files:
            return replace(files, state=replace(files.state, slots={group.name: value}))

        if any(hosts.up):
            yield Parameter(
                Change("slots", old, None, consumer=GROUP),
                old,
                around(old, 0, min(LARGEST, old + self.most)),
                put,
                int,
                1,
            )

    def _slots_of(self, host: Host) -> Parameter:
        name, planned = self.rows.group.name, host.slots
        row = self.books.hosts.row_of.get(host.name, -1)
        is_open = row >= 0 and self.books.hosts.up[row] and row not in self.books.hosts.closed
        old = self.books.hosts.slots[row] if is_open else planned

        def put(files: Files, value: int) -> Files:
            groups = files.plan.resource_groups
            hosts = (
                replace(each, slots=planned + value - old) if each.name == host.name else each
                for each in groups[name].hosts
            )
            changed = replace(groups[name], hosts=tuple(hosts))
            return replace(files, plan=replace(files.plan, resource_groups={**groups, name: changed}))

        change = Change("slots", old, None, consumer=GROUP, host=host.name)
        return Parameter(change, old, around(old, 0, old + self.room), put, int, 1)

    @property
    def room(self) -> int:
        """By how much the slots of the group may grow; a host that is down counts in the plan."""
        planned = sum(each.slots for each in self.rows.group.hosts)
        return max(0, min(self.most, LARGEST - max(planned, sum(self.books.hosts.slots))))

    def of_entries(self) -> Iterator[Parameter]:
        """Settings of the entries in force that shares depend on, and for how many slots they were written."""
        for at in dict.fromkeys(self.at):
            entry = self.plan.policies[at]
            for what, values in (
                ("distribute_evenly", (False, True)),
                ("enforce", ENFORCED),
                ("entitlement", ENTITLEMENTS),
            ):
                if what in entry.policy.settings:
                    yield _switch(at, what, getattr(entry.settings, what), values)
            if self.rows.is_exclusive and len(set(self.at)) == 1:
                yield _switch(at, "packing", entry.settings.packing, ("stacked",))
        if any(entry.policy.scales_owned for entry in self.rows.entries):
            yield self.configured()

    def configured(self) -> Parameter:
        """For how many slots the plan was written: no fewer than are owned."""
        group, old = self.rows.group, self.rows.configured

        def put(files: Files, value: int) -> Files:
            groups = files.plan.resource_groups
            changed = replace(groups[group.name], configured_slots=value)
            return replace(files, plan=replace(files.plan, resource_groups={**groups, group.name: changed}))

        values = around(old, self.owned_below(0), min(LARGEST, old + self.most))
        return Parameter(Change("configured_slots", old, None, consumer=GROUP), old, values, put, int, 1)


def _switch(at: int, what: str, old: Any, values: tuple[Any, ...]) -> Parameter:  # noqa: ANN401 - a word or a flag
    others = tuple(each for each in values if each != old)

    def put(files: Files, value: Any) -> Files:  # noqa: ANN401 - a word or a flag
        return with_entry_settings(files, at, **{what: value})

    return Parameter(Change(what, old, None), old, others, put, lambda value: value)
