"""The smallest change that gives a consumer one slot more: searched by trying, so that it is true when tried."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairhold.cycle.run import quotas
from fairhold.kernels.columns import PlanColumns
from fairhold.ledger import transitions
from fairhold.ledger.books import Books
from fairhold.ledger.rows import lay_out
from fairhold.model.plan import ConsumerSettings
from fairhold.units import LARGEST, UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.ledger.rows import Rows
    from fairhold.model.plan import Plan


@dataclass(frozen=True, slots=True)
class Change:
    """One value of the plan or the state that is changed.

    what     : `demand`, `limit`, `rank`, `owned`, `slots` or `configured_slots`
    consumer : path; `/` for the resource group's own values
    """

    what: str
    consumer: str
    old: int
    new: int


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """Changes that together give a consumer at least one slot more.

    size    : by how much the first named value changes; the same value changed by one less gives nothing
    changes : the first is the change itself, the others are what it needs to be valid or to matter
    quota   : the consumer's quota then
    """

    size: int
    changes: tuple[Change, ...]
    quota: int


@dataclass(frozen=True)
class _Trial:
    """Values to try on one resource group."""

    owned: dict[int, int]
    limit: dict[int, int]
    demand: dict[int, int]
    slots: int | None = None
    configured: int | None = None


def one_more(plan: Plan, books: Books, row: int) -> Counterfactual | None:
    """The smallest change after which the quota of `row` is larger; None where no single kind of change helps.

    Tried are, in this order among equally small ones: more demand, a higher limit (its own or of a consumer above),
    a better rank (likewise), more owned slots (with what must grow above it), more slots in the group; each alone, then
    each together with one slot more wanted.
    """
    now = 0
    draft = quotas(books, now).draft
    quota = draft.quota[row]
    found: list[tuple[int, int, Counterfactual]] = []
    leaf = _leaf_below(books, row, draft.needs.reserve)
    kinds = [kind for more in (False, True) for kind in _kinds(plan, books, row, leaf, wants_more=more)]
    for order, kind in enumerate(kinds):
        best = _smallest(books, row, quota, kind, found)
        if best is not None:
            found.append((best.size, order, best))
    return min(found, key=lambda entry: entry[:2])[2] if found else None


def _leaf_below(books: Books, row: int, reserve: array[int]) -> int:
    """The leaf of a subtree whose need grows soonest when it wants more: below its limit, least idle reserve."""
    rows = books.rows
    start = rows.position[row]
    inside = [leaf for leaf in rows.tree.path[start : start + rows.size[row]] if rows.is_leaf(leaf)]

    def distance(leaf: int) -> tuple[bool, int]:
        wanted = max(books.demand[leaf], reserve[leaf])
        return wanted >= rows.plan.limit[leaf], wanted - books.demand[leaf]

    return min(inside, key=distance)


class _Kind:
    """One kind of change by `size`: which values it sets, and how it is told."""

    def __init__(self, books: Books, name: str, row: int, demand: dict[int, int]) -> None:
        self.books = books
        self.name = name
        self.row = row
        self.demand = demand
        self.largest = 2 * (books.slots + books.rows.configured + sum(books.demand) + 1)

    def told(self, changes: list[Change]) -> tuple[Change, ...]:
        """The changes with the demand that goes with them, last."""
        rows, books = self.books.rows, self.books
        extra = [Change("demand", rows.path(leaf), books.demand[leaf], new) for leaf, new in self.demand.items()]
        return (*changes, *extra)

    def trial(self, size: int) -> tuple[Books, tuple[Change, ...]] | None:
        """The books after a change of this size and what it consists of; None where it would not be a valid plan."""
        raise AssertionError(self.name, size)


class _MoreDemand(_Kind):
    def trial(self, size: int) -> tuple[Books, tuple[Change, ...]] | None:
        old = self.books.demand[self.row]
        changes = [Change("demand", self.books.rows.path(self.row), old, old + size)]
        return vary(self.books, _Trial({}, {}, {self.row: old + size})), tuple(changes)


class _HigherLimit(_Kind):
    def trial(self, size: int) -> tuple[Books, tuple[Change, ...]] | None:
        old = self.books.rows.plan.limit[self.row]
        if old >= UNLIMITED or old + size > LARGEST:
            return None
        changes = [Change("limit", self.books.rows.path(self.row), old, old + size)]
        return vary(self.books, _Trial({}, {self.row: old + size}, self.demand)), self.told(changes)


class _MoreOwned(_Kind):
    def trial(self, size: int) -> tuple[Books, tuple[Change, ...]] | None:
        rows = self.books.rows
        owned, changes = {self.row: rows.plan.owned[self.row] + size}, []
        changes.append(Change("owned", rows.path(self.row), rows.plan.owned[self.row], owned[self.row]))
        parent = rows.tree.parent[self.row]
        while parent > 0:
            needed = sum(
                owned.get(child, rows.plan.owned[child])
                for child in range(rows.tree.first[parent], rows.tree.end[parent])
            )
            if needed > rows.plan.owned[parent]:
                owned[parent] = needed
                changes.append(Change("owned", rows.path(parent), rows.plan.owned[parent], needed))
            parent = rows.tree.parent[parent]
        if any(slots > rows.plan.limit[row] for row, slots in owned.items()):
            return None
        first_level = range(rows.tree.first[0], rows.tree.end[0])
        total = sum(owned.get(row, rows.plan.owned[row]) for row in first_level)
        configured = total if rows.group.configured_slots is None else max(total, rows.configured)
        if rows.group.configured_slots is not None and configured > rows.configured:
            changes.append(Change("configured_slots", "/", rows.configured, configured))
        trial = _Trial(owned, {}, self.demand, configured=configured)
        return vary(self.books, trial), self.told(changes)


class _MoreSlots(_Kind):
    def trial(self, size: int) -> tuple[Books, tuple[Change, ...]] | None:
        old = self.books.slots
        changes = [Change("slots", "/", old, old + size)]
        return vary(self.books, _Trial({}, {}, self.demand, slots=old + size)), self.told(changes)


class _BetterRank(_Kind):
    def __init__(self, plan: Plan, books: Books, row: int, demand: dict[int, int]) -> None:
        super().__init__(books, "rank", row, demand)
        self.plan = plan
        self.largest = books.rows.tree.rank[row]

    def trial(self, size: int) -> tuple[Books, tuple[Change, ...]] | None:
        rows = self.books.rows
        old, node = rows.tree.rank[self.row], rows.node[self.row]
        if size > old:
            return None
        settings = replace(rows.entry.consumers.get(node, ConsumerSettings()), rank=old - size)
        entry = replace(rows.entry, consumers={**rows.entry.consumers, node: settings})
        policies = tuple(entry if other is rows.entry else other for other in self.plan.policies)
        ranked = lay_out(replace(self.plan, policies=policies), rows.group.name)
        changes = [Change("rank", rows.path(self.row), old, old - size)]
        return move_to(self.books, ranked, self.demand), self.told(changes)


def _kinds(plan: Plan, books: Books, row: int, leaf: int, *, wants_more: bool) -> Iterator[_Kind]:
    demand = {leaf: books.demand[leaf] + 1} if wants_more else {}
    if not wants_more:
        yield _MoreDemand(books, "demand", leaf, {})
    above = row
    while above > 0:
        yield _HigherLimit(books, "limit", above, demand)
        above = books.rows.tree.parent[above]
    above = row
    while above > 0:
        if books.rows.tree.rank[above] > 0:
            yield _BetterRank(plan, books, above, demand)
        above = books.rows.tree.parent[above]
    yield _MoreOwned(books, "owned", row, demand)
    if not books.rows.group.hosts:
        yield _MoreSlots(books, "slots", 0, demand)


def _smallest(
    books: Books, row: int, quota: int, kind: _Kind, found: list[tuple[int, int, Counterfactual]]
) -> Counterfactual | None:
    """The smallest size of one kind of change that helps: doubled until it does, then halved; no larger than found."""
    node = books.rows.node[row]

    def helps(size: int) -> Counterfactual | None:
        tried = kind.trial(size)
        if tried is None:
            return None
        after = quotas(tried[0], 0).draft.quota[tried[0].rows.row[node]]
        return Counterfactual(size, tried[1], after) if after > quota else None

    largest = min(kind.largest, min((size for size, _, _ in found), default=kind.largest))
    low, high = 0, 1
    best = helps(high) if largest else None
    while best is None and high < largest:
        low, high = high, min(2 * high, largest)
        best = helps(high)
    if best is None:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        tried = helps(middle)
        if tried is None:
            low = middle
        else:
            high, best = middle, tried
    return best


def vary(books: Books, trial: _Trial) -> Books:
    """Books with some values changed, for their quotas only: nothing that is held is copied."""
    rows = books.rows
    owned, limit = array("q", rows.plan.owned), array("q", rows.plan.limit)
    for row, value in trial.owned.items():
        owned[row] = value
    for row, value in trial.limit.items():
        limit[row] = value
    plan = PlanColumns(owned, rows.plan.reserved, limit)
    configured = rows.configured if trial.configured is None else trial.configured
    return move_to(books, replace(rows, plan=plan, configured=configured), trial.demand, trial.slots)


def move_to(books: Books, rows: Rows, demand: dict[int, int], slots: int | None = None) -> Books:
    """Books on other rows of the same consumers, with the demand of some leaves and the slots changed."""
    other = Books(rows)
    for row, node in enumerate(books.rows.node):
        other.demand[rows.row[node]] = demand.get(row, books.demand[row])
    transitions.add_host(other, "", books.slots if slots is None else slots)
    return other
