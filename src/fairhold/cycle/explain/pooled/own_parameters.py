"""What a consumer owns of hosts: every value under its `own` that could give a request more."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from fairhold.cycle.explain.parameter import Change, Parameter, around, beside, with_settings
from fairhold.cycle.explain.pooled.inquiry import duration
from fairhold.model.plan import ConsumerSettings
from fairhold.model.tree import ROOT
from fairhold.model.vector import DEFAULT_PREFERENCE, amount, decimal_text
from fairhold.rules.pools.content import within
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fairhold.cycle.explain.parameter import Files, Value
    from fairhold.cycle.explain.pooled.pool_parameters import PoolParameters
    from fairhold.model.vector import Owning

_WORST = 10
"""Preference."""
_PERCENT = 100


def owned(parameters: PoolParameters, row: int) -> Iterator[Parameter]:
    """How much a consumer owns of every group, with what preference, what it lends, and its rank."""
    terms, mine = parameters.inquiry.terms, _stated(parameters, row)
    if not mine:
        return
    ranks = {terms.rank[other] for other in terms.own if other != row}
    yield parameters.stated(row, "rank", "rank", terms.rank[row], beside(terms.rank[row], ranks, 0))
    for group in dict.fromkeys(each.resource_group for each in mine):
        yield from _Owned(parameters, row, group).all()


def _stated(parameters: PoolParameters, row: int, group: str = "") -> list[Owning]:
    stated = parameters.entry.consumers.get(row, ConsumerSettings()).own
    return [each for each in stated if group in {"", each.resource_group}]


class _Owned:
    """What one consumer owns of one group."""

    def __init__(self, parameters: PoolParameters, row: int, group: str) -> None:
        self.parameters, self.row, self.group = parameters, row, group
        self.entries = _stated(parameters, row, group)
        tree = parameters.plan.tree
        self.parent = tree.parent[row]
        self.children = [other for other in tree.children[row] if _stated(parameters, other, group)]
        self.siblings = [other for other in tree.children[self.parent] if other != row]

    def all(self) -> Iterator[Parameter]:
        """Of several entries only what they have in common can be told."""
        reserved, graces = (
            {each.reserved for each in self.entries},
            {within(each.lend_grace) for each in self.entries},
        )
        if len(reserved) == 1:
            (kept,) = reserved
            yield self._value("reserved", kept, (not kept,), bool)
        if len(graces) == 1:
            (grace,) = graces
            yield self._value("lend_grace", grace, self.parameters.bounds_beside(grace), duration)
        if len(self.entries) > 1:
            return
        (own,) = self.entries
        terms = self.parameters.inquiry.terms
        (resolved,) = (each for each in terms.own[self.row] if each.resource_group == self.group)
        old = resolved.preference or DEFAULT_PREFERENCE
        yield self._value("preference", old, around(old, 1, _WORST), int)
        back = own.reclaim_before_next_level
        yield self._value("reclaim_before_next_level", back, (not back,), bool)
        yield from self._how_much(own)

    def _how_much(self, own: Owning) -> Iterator[Parameter]:
        """Hosts by number or by part, or amounts.

        No more than the plan allows for sure: what is owned in amounts below the first level is not raised, and where
        those below own something it is not lowered.
        """
        low, high = bool(self.children), self.parent == ROOT
        if own.hosts is not None:
            yield self._value("hosts", own.hosts, around(own.hosts, *self._room(own.hosts)), int, 1)
        if own.percent is not None:
            old = int(own.percent * _PERCENT)
            found = around(old, old if low else 1, _PERCENT if high else old)
            values = tuple(Fraction(each, _PERCENT) for each in found)
            yield self._value(
                "hosts", own.percent, values, lambda value: f"{decimal_text(value * _PERCENT)}%", key="percent"
            )
        for key in ("total", "per_host"):
            for at, units in getattr(own, key):
                if not isinstance(units, Fraction):
                    yield self._amount(key, at, units, raised=high, lowered=not low)

    def _room(self, mine: int) -> tuple[int, int]:
        """The least and the most whole hosts that it may own beside those around it."""

        def counted(rows: Iterable[int]) -> int | None:
            found = [each.hosts for other in rows for each in _stated(self.parameters, other, self.group)]
            return sum(each or 0 for each in found) if all(found) else None

        below = counted(self.children)
        low = mine if below is None else max(1, below)
        if self.parent == ROOT:
            return low, max(mine, len(self.parameters.plan.resource_groups[self.group].hosts))
        above, beside_it = counted([self.parent]), counted(self.siblings)
        return low, mine if above is None or beside_it is None else max(mine, above - beside_it)

    def _amount(self, key: str, at: int, units: int, *, raised: bool, lowered: bool) -> Parameter:
        """An amount of a resource, in all or of every host."""
        resource, grain = self.parameters.plan.resources[at], self.parameters.grain[at]
        most = -(-self.parameters.total[at] // grain) * grain

        def put(files: Files, value: int) -> Files:
            def with_amount(own: Owning) -> Owning:
                stated = tuple((place, value if place == at else old) for place, old in getattr(own, key))
                return replace(own, total=stated) if key == "total" else replace(own, per_host=stated)

            return self._with(files, with_amount)

        told = partial(amount, resource)
        path = self.parameters.inquiry.path(self.row)
        change = Change(key, told(units), None, consumer=path, resource=resource.name, resource_group=self.group)
        values = around(units, grain if lowered else units, max(units, most) if raised else units, grain)
        return Parameter(change, units, values, put, told, grain)

    def _value(
        self,
        what: str,
        old: Any,  # noqa: ANN401 - of any type
        values: tuple[Any, ...],
        told: Callable[[Any], Value],
        step: int = 0,
        *,
        key: str = "",
    ) -> Parameter:
        """One value of all that it owns of the group; key: the field that has it, where that is called otherwise."""

        def put(files: Files, value: Any) -> Files:  # noqa: ANN401 - of any type
            said: Any = None if what == "lend_grace" and value >= UNLIMITED else value
            return self._with(files, lambda own: replace(own, **{key or what: said}))

        path = self.parameters.inquiry.path(self.row)
        return Parameter(
            Change(what, told(old), None, consumer=path, resource_group=self.group), old, values, put, told, step
        )

    def _with(self, files: Files, to: Callable[[Owning], Owning]) -> Files:
        own = files.plan.policies[self.parameters.at].consumers[self.row].own
        changed = tuple(to(each) if each.resource_group == self.group else each for each in own)
        return with_settings(files, self.parameters.at, self.row, own=changed)
