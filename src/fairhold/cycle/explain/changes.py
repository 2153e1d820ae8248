"""The kinds of change that are tried for one slot more: which values each sets, and how far it may go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.ledger.effective_demand import demand_that_counts
from fairhold.units import LARGEST, UNLIMITED

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterator

    from fairhold.cycle.explain.parameter import Parameter, Setting, Settings
    from fairhold.cycle.explain.slot_parameters import SlotParameters
    from fairhold.ledger.books import Books


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of change by its size.

    largest : the largest size that gives a valid plan and state and is worth trying; every smaller one is valid, too
    sets    : size → what it sets
    beside  : demand that goes with it
    """

    largest: int
    sets: Callable[[int], Settings]
    beside: Settings = ()

    def settings(self, size: int) -> Settings:
        """What a change of a size from 1 to `largest` sets."""
        return (*self.sets(size), *self.beside)


def kinds(parameters: SlotParameters, row: int, inside: Inside) -> list[Kind]:
    """Every kind of change for a consumer: each alone, then, where more demand counts, with one slot more wanted."""
    demand = parameters.demand(inside.leaf)
    more: tuple[Settings, ...] = (((demand, demand.old + 1),),) if parameters.fixed < 0 else ()
    return [kind for beside in ((), *more) for kind in _Kinds(parameters, row, inside, beside).all()]


class _Kinds:
    def __init__(self, parameters: SlotParameters, row: int, inside: Inside, beside: Settings) -> None:
        self.parameters, self.inside, self.beside = parameters, inside, beside
        self.row, self.books, self.rows = row, parameters.books, parameters.rows

    def all(self) -> Iterator[Kind]:
        """Those that could help, in the order in which equally small ones are told."""
        rows, leaf, line = self.rows, self.inside.leaf, list(self.parameters.line(self.row))
        limited = leaf in rows.controls.with_user_limit
        fixed = self.parameters.fixed >= 0
        if (
            not self.beside
            and not fixed
            and not (limited and demand_that_counts(self.books)[leaf] < self.books.demand[leaf])
        ):
            yield self._more(self.parameters.demand(leaf), self.books.slots)
        for capped in line if self.inside.capped < 0 else (self.inside.capped, *line):
            if rows.plan.limit[capped] < UNLIMITED:
                yield self._bound(self.parameters.limit(capped))
        for ranked in line:
            if rank := rows.rank(ranked):
                yield self._more(self.parameters.rank(ranked), rank, way=-1)
        for above in line:
            if rows.entry.policy.divides_by_ratio:
                yield self._more(self.parameters.ratio(above), self.parameters.largest_ratio(above))
            elif "owned" in rows.entry.policy.keys and not rows.controls.owns_nothing[above]:
                yield more_owned(self.parameters, above, self.beside)
        for weight in (each for above in line for each in self.parameters.weights(above)):
            yield self._more(weight, max(weight.values, default=weight.old) - weight.old)
        yield from self._of_owner()
        for above in line:
            for budget in self.parameters.budget(above):
                yield self._more(budget, budget.values[0] - budget.old)
        if limited:
            yield self._bound(self.parameters.user_limit(leaf))
        yield from (self._more(slots, self.parameters.room) for slots in self.parameters.more_slots())

    def _more(self, parameter: Parameter, most: int, way: int = 1) -> Kind:
        room = LARGEST - parameter.old if way > 0 else most
        return Kind(max(0, min(most, room)), lambda size: ((parameter, parameter.old + way * size),), self.beside)

    def _bound(self, parameter: Parameter) -> Kind:
        """A higher bound, as far as it means anything."""
        finite = (value for value in parameter.values if value < UNLIMITED)
        return self._more(parameter, max(finite, default=parameter.old) - parameter.old)

    def _of_owner(self) -> Iterator[Kind]:
        """What else may give a slot to who owns exactly: its lists, and its share of what nobody owns."""
        if self.rows.is_owner[self.row]:
            for loan in self.parameters.loans(self.inside.leaf):
                yield self._more(loan, self.parameters.most)
            if not self.rows.is_mixed:
                yield self._more(
                    self.parameters.ratio(self.inside.leaf), self.parameters.largest_ratio(self.inside.leaf)
                )


def more_owned(parameters: SlotParameters, row: int, beside: Settings = ()) -> Kind:
    """More owned slots, with as many more for those above it as their children then own beyond them."""
    books, rows = parameters.books, parameters.rows
    # A share by what is owned may need what others own many times over.
    largest, spare = min(LARGEST, (books.slots + 1) * (rows.configured + 1)), 0
    grows: list[tuple[Parameter, int]] = []
    for above in parameters.line(row):
        owned, limit = parameters.owned(above), rows.stated(above).limit
        grows.append((owned, spare))
        largest = min(largest, (LARGEST if limit >= UNLIMITED else limit) - owned.old + spare)
        if rows.tree.parent[above] > 0:
            spare += rows.stated(rows.tree.parent[above]).owned - parameters.owned_below(rows.tree.parent[above])
    total, stated = parameters.owned_below(0), rows.group.configured_slots

    def sets(size: int) -> Settings:
        found: list[Setting] = [(owned, owned.old + size - fewer) for owned, fewer in grows if size > fewer]
        needed = total + max(0, size - spare)
        if stated is not None and needed > stated:
            found.append((parameters.configured(), needed))
        return tuple(found)

    return Kind(max(0, min(largest, LARGEST - total + spare)), sets, beside)


@dataclass(frozen=True, slots=True)
class Inside:
    """Where inside a subtree its need grows soonest.

    leaf   : the leaf whose further demand does it
    capped : the consumer below the subtree's top whose limit, were it higher, does it; -1 = none
    """

    leaf: int
    capped: int


def look_inside(books: Books, row: int, need: array[int], reserve: array[int]) -> Inside:
    """Find where a subtree's need grows soonest: below limits, with the least idle reserve on the way up.

    need, reserve : (rows,) of the cycle
    """
    rows, limit, demand = books.rows, books.rows.plan.limit, books.demand
    tree, start = rows.tree, rows.position[row]
    is_shared = rows.entry.policy.divides_by_ratio
    more = {row: 1}  # row → by how much its need has to grow; those under a full limit have none
    best_leaf, best_cap = (2, 0, row), (LARGEST + 1, -1)
    for at in tree.path[start : start + rows.size[row]]:
        wanted = demand[at] if rows.is_leaf(at) else tree.total(need, at)
        grows = more.get(at) if at == row or not is_shared or rows.ratio[at] else None
        if at != row and grows is not None and wanted > limit[at]:
            best_cap = min(best_cap, (grows, at))
        fits = at == row or need[at] + (grows or 0) <= limit[at]
        growth = None if grows is None or not fits else grows + max(0, reserve[at] - wanted)
        if rows.is_leaf(at):
            entry = (int(growth is None), growth or 0, at)
            best_leaf = min(best_leaf, entry) if best_leaf[0] < 2 else entry
        elif growth is not None:
            more |= dict.fromkeys(tree.children(at), growth)
    return Inside(best_leaf[2], best_cap[1])
