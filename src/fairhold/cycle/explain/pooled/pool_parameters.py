"""What `multidimensional` reads of consumers and its entry: every value that could give a request more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.parameter import Change, Parameter, around, beside, spans, with_settings
from fairhold.cycle.explain.pooled.own_parameters import owned
from fairhold.cycle.explain.pooled.parameters import Parameters
from fairhold.model.plan import VICTIM_ORDERS, ConsumerSettings
from fairhold.model.vector import amount
from fairhold.rules.pools.content import within
from fairhold.units import SECOND, UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain.parameter import Files, Value
    from fairhold.cycle.explain.pooled.inquiry import Inquiry

_LARGEST_RATIO = 10_000


class PoolParameters(Parameters):
    """The values of an inquiry into pools."""

    def __init__(self, inquiry: Inquiry) -> None:
        super().__init__(inquiry)
        terms = self.inquiry.terms
        owns = [own for each in self.entry.consumers.values() for own in each.own]
        self.bounds = {within(self.entry.settings.public_pool_grace), *terms.pool_grace.values()}
        self.bounds |= {within(own.lend_grace) for own in owns}
        self.graces = {terms.grace[leaf] for leaf in terms.leaves}

    def of_consumer(self, row: int) -> list[Parameter]:
        """What the entry says of a consumer in pools, and of what it owns."""
        return [*self._shares(row), *self._limits(row), *self._graces(row), *self.controls(row), *owned(self, row)]

    def of_entry(self) -> Iterator[Parameter]:
        """The settings of the entry."""
        settings = self.entry.settings
        grace = within(settings.public_pool_grace)
        yield self.switch("public_pool_grace", grace, self.bounds_beside(grace))
        yield from self.switches()
        orders = tuple(each for each in VICTIM_ORDERS if each != settings.victims)
        yield self.switch("victims", settings.victims, orders)
        ages = [self.books.now - each.at for each in self.state.adjusted.values()]
        old = settings.rebalance_interval
        yield self.switch("rebalance_interval", old, spans(old, [0, *ages]))

    def bounds_beside(self, old: int) -> tuple[int, ...]:
        """Bounds that allow other graces than one: only which graces are within it counts."""
        found = {*self.graces, UNLIMITED, 0} - {old}
        return tuple(sorted(found, key=lambda each: (abs(each - old), each < old)))

    def _shares(self, row: int) -> Iterator[Parameter]:
        """Its ratio, as far as it could make a difference beside its siblings, and its class among them."""
        terms, tree = self.inquiry.terms, self.plan.tree
        siblings = tree.children[tree.parent[row]]
        largest = max(terms.ratio[each] for each in siblings)
        most = min(_LARGEST_RATIO, (self.units + 1) * (largest + 1))
        old = terms.ratio[row]
        yield self.stated(row, "share_ratio", "share_ratio", old, around(old, 0, most))
        classes = beside(terms.priority[row], (terms.priority[each] for each in siblings if each != row), 0)
        yield self.stated(row, "share_priority", "share_priority", terms.priority[row], classes)

    def _limits(self, row: int) -> Iterator[Parameter]:
        """Its share limits, of every resource."""
        stated = dict(self.inquiry.terms.limit.get(row, ()))
        for at, resource in enumerate(self.plan.resources):
            old = stated.get(at, UNLIMITED)

            def put(files: Files, value: int, at: int = at) -> Files:
                said = files.plan.policies[self.at].consumers.get(row, ConsumerSettings()).share_limit
                limit = {**dict(said), at: value}
                kept = tuple(sorted((place, most) for place, most in limit.items() if most < UNLIMITED))
                return with_settings(files, self.at, row, share_limit=kept)

            def told(value: int, at: int = at) -> Value:
                return None if value >= UNLIMITED else amount(self.plan.resources[at], value)

            grain = self.grain[at]
            most = -(-self.total[at] // grain) * grain
            change = Change("share_limit", told(old), None, consumer=self.inquiry.path(row), resource=resource.name)
            yield Parameter(change, old, around(old, 0, most, grain, is_bound=True), put, told, grain)

    def _graces(self, row: int) -> Iterator[Parameter]:
        """How fast it lets go, and how fast those below it have to."""
        terms = self.inquiry.terms
        old, bounds = terms.grace[row], [each for each in self.bounds if each < UNLIMITED]
        found = {0, *bounds, *(each + SECOND for each in bounds)} - {old}
        values = tuple(sorted(found, key=lambda each: (abs(each - old), each < old)))
        yield self.stated(row, "reclaim_grace", "grace", old, values)
        if row in terms.own and not self.plan.tree.is_leaf(row):
            old = within(terms.pool_grace.get(row))
            yield self.stated(row, "private_pool_grace", "private_pool_grace", old, self.bounds_beside(old))
