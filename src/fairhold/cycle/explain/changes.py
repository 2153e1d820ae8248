"""The kinds of change that are tried for one slot more: which values each sets, how far it may go, how it is told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairhold.cycle.explain.trials import Trial, move_to, vary, with_user_limit
from fairhold.ledger.effective_demand import demand_that_counts
from fairhold.ledger.rows import lay_out, with_spent
from fairhold.model.budget import HOUR
from fairhold.policies.keys import OWNED
from fairhold.units import LARGEST, UNLIMITED

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator

    from fairhold.ledger.books import Books
    from fairhold.model.plan import Plan
    from fairhold.model.setting import Setting


@dataclass(frozen=True, slots=True)
class Change:
    """One value of the plan or the state that is changed.

    what     : `demand`, `limit`, `rank`, `owned`, `share_ratio`, `slots`, `configured_slots`, `budget` (unit-hours),
        `user_limit`, a weight of another package, or `loan`: what the lists of both allow one consumer to use of
        another's
    consumer : path; `/` for the resource group's own values
    lender   : the other side of a `loan`; empty elsewhere
    host     : the host of which `slots` are changed; empty where it is another value, or the group has no host up
    """

    what: str
    consumer: str
    old: int
    new: int
    host: str = ""
    lender: str = ""


class Kind:
    """One kind of change by its size: the values that it sets.

    demand  : leaf → demand that goes with it
    largest : the largest size that gives a valid plan and state and is worth trying; every smaller one is valid, too
    """

    def __init__(self, books: Books, row: int, demand: dict[int, int]) -> None:
        self.books = books
        self.row = row
        self.demand = demand
        # More than everybody wants, there is or is planned changes nothing further.
        self.largest = min(LARGEST, 2 * (books.slots + books.rows.configured + sum(books.demand) + 1))

    def up_to(self, room: int) -> None:
        """Bound the largest size."""
        self.largest = max(0, min(self.largest, room))

    def told(self, changes: list[Change]) -> tuple[Change, ...]:
        """The changes with the demand that goes with them, last."""
        rows, books = self.books.rows, self.books
        extra = [Change("demand", rows.path(leaf), books.demand[leaf], new) for leaf, new in self.demand.items()]
        return (*changes, *extra)

    def trial(self, size: int) -> tuple[Books, tuple[Change, ...]]:
        """The books after a change of a size from 1 to `largest`, and what it consists of."""
        raise AssertionError(self.row, size)


class _MoreDemand(Kind):
    def __init__(self, books: Books, row: int, demand: dict[int, int]) -> None:
        super().__init__(books, row, demand)
        self.up_to(LARGEST - books.demand[row])

    def trial(self, size: int) -> tuple[Books, tuple[Change, ...]]:
        old = self.books.demand[self.row]
        change = Change("demand", self.books.rows.path(self.row), old, old + size)
        return vary(self.books, Trial(demand={self.row: old + size})), (change,)


class _HigherLimit(Kind):
    def __init__(self, books: Books, row: int, demand: dict[int, int]) -> None:
        super().__init__(books, row, demand)
        self.up_to(LARGEST - books.rows.plan.limit[row])

    def trial(self, size: int) -> tuple[Books, tuple[Change, ...]]:
        old = self.books.rows.plan.limit[self.row]
        change = Change("limit", self.books.rows.path(self.row), old, old + size)
        return vary(self.books, Trial(limit={self.row: old + size}, demand=self.demand)), self.told([change])


class MoreOwned(Kind):
    """More owned slots, with as many more for those above as their children then own beyond them."""

    def __init__(self, books: Books, row: int, demand: dict[int, int]) -> None:
        super().__init__(books, row, demand)
        # A share by what is owned may need what others own many times over.
        self.largest = min(LARGEST, (books.slots + 1) * (books.rows.configured + 1))
        self.spare: list[tuple[int, int]] = []
        plan, tree = books.rows.plan, books.rows.tree

        def of_children(parent: int) -> int:
            """What the plan says, also of who owns nothing for now because a budget is used up."""
            return sum(books.rows.stated(child).owned for child in range(tree.first[parent], tree.end[parent]))

        above, spare = row, 0
        while above > 0:
            self.spare.append((above, spare))
            room = LARGEST if plan.limit[above] >= UNLIMITED else plan.limit[above]
            self.up_to(room - plan.owned[above] + spare)
            above = tree.parent[above]
            if above > 0:
                spare += plan.owned[above] - of_children(above)
        self.total = of_children(0)
        self.up_to(LARGEST - self.total + spare)

    def trial(self, size: int) -> tuple[Books, tuple[Change, ...]]:
        """The books after it, and what has to grow with it."""
        rows = self.books.rows
        owned = {row: rows.plan.owned[row] + size - spare for row, spare in self.spare if size > spare}
        changes = [Change("owned", rows.path(row), rows.plan.owned[row], new) for row, new in owned.items()]
        total = self.total + max(0, size - self.spare[-1][1])
        configured = total if rows.group.configured_slots is None else max(total, rows.configured)
        if rows.group.configured_slots is not None and configured > rows.configured:
            changes.append(Change("configured_slots", "/", rows.configured, configured))
        trial = Trial(owned=owned, demand=self.demand, configured=configured)
        return vary(self.books, trial), self.told(changes)


class _HigherRatio(Kind):
    def __init__(self, books: Books, row: int, demand: dict[int, int]) -> None:
        super().__init__(books, row, demand)
        tree, ratio = books.rows.tree, books.rows.ratio
        above = tree.parent[row]
        # Siblings alone decide what a ratio means, among owners all leaves; who has nearly all has nearly all there is.
        beside = sum(ratio) if books.rows.is_owner[row] else sum(ratio[tree.first[above] : tree.end[above]])
        self.largest = min(LARGEST - ratio[row], (books.slots + 1) * (beside + 1)) if beside else 1

    def trial(self, size: int) -> tuple[Books, tuple[Change, ...]]:
        old = self.books.rows.ratio[self.row]
        change = Change("share_ratio", self.books.rows.path(self.row), old, old + size)
        return vary(self.books, Trial(ratio={self.row: old + size}, demand=self.demand)), self.told([change])


class _MoreWeight(Kind):
    """A larger number of a consumer that only a policy of another package reads."""

    def __init__(self, plan: Plan, books: Books, row: int, demand: dict[int, int], setting: Setting) -> None:
        super().__init__(books, row, demand)
        self.plan, self.setting = plan, setting
        self.old: int = setting.of(books.rows.stated(row))
        self.largest = setting.most - self.old

    def trial(self, size: int) -> tuple[Books, tuple[Change, ...]]:
        rows, key, new = self.books.rows, self.setting.key, self.old + size
        more = {**rows.stated(self.row).more, key: new}
        change = Change(key, rows.path(self.row), self.old, new)
        return restated(self.plan, self.books, self.row, self.demand, more=more), self.told([change])


class _MoreSlots(Kind):
    """More slots of the group; where it has hosts, of the last one that may start work, else of the last that is up."""

    def __init__(self, books: Books, row: int, demand: dict[int, int]) -> None:
        super().__init__(books, row, demand)
        hosts = books.hosts
        self.up_to(LARGEST - sum(hosts.slots))  # a host that is down counts in the plan
        up = [host for host in range(len(hosts.name)) if hosts.up[host]]
        able = [host for host in up if host not in hosts.closed] or up
        self.host = able[-1] if able and books.rows.group.hosts else -1

    def trial(self, size: int) -> tuple[Books, tuple[Change, ...]]:
        books, host = self.books, self.host
        old, name = (books.slots, "") if host < 0 else (books.hosts.slots[host], books.hosts.name[host])
        change = Change("slots", "/", old, old + size, name)
        return vary(books, Trial(demand=self.demand, host=host, more_slots=size)), self.told([change])


class _BetterRank(Kind):
    def __init__(self, plan: Plan, books: Books, row: int, demand: dict[int, int]) -> None:
        super().__init__(books, row, demand)
        self.plan = plan
        self.largest = books.rows.rank(row)

    def trial(self, size: int) -> tuple[Books, tuple[Change, ...]]:
        rows = self.books.rows
        old = rows.rank(self.row)
        change = Change("rank", rows.path(self.row), old, old - size)
        return restated(self.plan, self.books, self.row, self.demand, rank=old - size), self.told([change])


class _LargerLoan(Kind):
    """More that a leaf may use of what a lender does not need, by the lists of both."""

    def __init__(self, books: Books, row: int, demand: dict[int, int], pair: int) -> None:
        super().__init__(books, row, demand)
        self.pair = pair
        self.up_to(LARGEST - books.rows.lists.most[pair])

    def trial(self, size: int) -> tuple[Books, tuple[Change, ...]]:
        rows = self.books.rows
        lists = rows.lists
        most = lists.most[:]
        most[self.pair] += size
        borrower, lender = rows.path(lists.borrower[self.pair]), rows.path(lists.lender[self.pair])
        change = Change("loan", borrower, lists.most[self.pair], most[self.pair], lender=lender)
        other = replace(rows, known={})
        other.__dict__["lists"] = lists._replace(most=most)
        return move_to(self.books, other, self.demand), self.told([change])


class _LargerBudget(Kind):
    """More unit-hours for a consumer whose budget is used up: enough of them make it as if it were not."""

    def __init__(self, books: Books, row: int, demand: dict[int, int]) -> None:
        super().__init__(books, row, demand)
        self.budget = books.rows.controls.budgets[row]
        assert books.spending is not None
        used = books.spending.meters[books.rows.node[row], self.budget.period].amount
        self.largest = used // HOUR + 1 - self.budget.unit_hours

    def trial(self, size: int) -> tuple[Books, tuple[Change, ...]]:
        rows, old = self.books.rows, self.budget.unit_hours
        change = Change("budget", rows.path(self.row), old, old + size)
        if size == self.largest:
            rows = with_spent(rows, rows.spent - {rows.node[self.row]})
        return move_to(self.books, rows, self.demand), self.told([change])


class _HigherUserLimit(Kind):
    def trial(self, size: int) -> tuple[Books, tuple[Change, ...]]:
        rows = self.books.rows
        old = rows.controls.user_limit[self.row]
        change = Change("user_limit", rows.path(self.row), old, old + size)
        return move_to(self.books, with_user_limit(rows, self.row, old + size), self.demand), self.told([change])


def restated(plan: Plan, books: Books, row: int, demand: dict[int, int], **settings: Any) -> Books:  # noqa: ANN401 - of all kinds
    """The books where the policy entry states other settings for a consumer."""
    rows = books.rows
    own = rows.entries[rows.chosen[row]]
    entry = replace(own, consumers={**own.consumers, rows.node[row]: replace(rows.stated(row), **settings)})
    policies = tuple(entry if other is own else other for other in plan.policies)
    return move_to(books, lay_out(replace(plan, policies=policies), rows.group.name, rows.force, rows.spent), demand)


def kinds(plan: Plan, books: Books, row: int, inside: Inside) -> list[Kind]:
    """Every kind of change for a consumer: each alone, then each together with one slot more wanted."""
    return [kind for more in (False, True) for kind in _kinds(plan, books, row, inside, wants_more=more)]


def _kinds(plan: Plan, books: Books, row: int, inside: Inside, *, wants_more: bool) -> Iterator[Kind]:
    tree, policy = books.rows.tree, books.rows.entry.policy
    demand = {inside.leaf: books.demand[inside.leaf] + 1} if wants_more else {}
    limited = inside.leaf in books.rows.controls.with_user_limit
    if not wants_more and not (limited and demand_that_counts(books)[inside.leaf] < books.demand[inside.leaf]):
        yield _MoreDemand(books, inside.leaf, {})
    line = [row]
    while tree.parent[line[-1]] > 0:
        line.append(tree.parent[line[-1]])
    for capped in line if inside.capped < 0 else (inside.capped, *line):
        if books.rows.plan.limit[capped] < UNLIMITED:
            yield _HigherLimit(books, capped, demand)
    for ranked in line:
        if books.rows.rank(ranked) > 0:
            yield _BetterRank(plan, books, ranked, demand)
    for row_above in line:
        if policy.divides_by_ratio:
            yield _HigherRatio(books, row_above, demand)
        elif OWNED in policy.of_consumer and not books.rows.controls.owns_nothing[row_above]:
            yield MoreOwned(books, row_above, demand)
    yield from _of_weights(plan, books, line, demand)
    yield from _of_owner(books, row, inside, demand)
    for row_above in line:
        if row_above in books.rows.controls.budgets and books.rows.node[row_above] in books.rows.spent:
            yield _LargerBudget(books, row_above, demand)
    if limited:
        yield _HigherUserLimit(books, inside.leaf, demand)
    yield _MoreSlots(books, 0, demand)


def _of_weights(plan: Plan, books: Books, line: list[int], demand: dict[int, int]) -> Iterator[Kind]:
    """What else a division of another package weighs a consumer by, or one above it."""
    division = books.rows.entry.policy.division
    for setting in division.weights if division else ():
        yield from (_MoreWeight(plan, books, row, demand, setting) for row in line)


def _of_owner(books: Books, row: int, inside: Inside, demand: dict[int, int]) -> Iterator[Kind]:
    """What else may give a slot to who owns exactly: its lists, and its share of what nobody owns."""
    rows = books.rows
    if not rows.is_owner[row]:
        return
    for pair, borrower in enumerate(rows.lists.borrower):
        if borrower == inside.leaf and rows.lists.most[pair] < UNLIMITED:
            yield _LargerLoan(books, row, demand, pair)
    if not rows.is_mixed:
        yield _HigherRatio(books, inside.leaf, demand)


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
        wanted = demand[at] if rows.is_leaf(at) else sum(need[tree.first[at] : tree.end[at]])
        grows = more.get(at) if at == row or not is_shared or rows.ratio[at] else None
        if at != row and grows is not None and wanted > limit[at]:
            best_cap = min(best_cap, (grows, at))
        fits = at == row or need[at] + (grows or 0) <= limit[at]
        growth = None if grows is None or not fits else grows + max(0, reserve[at] - wanted)
        if rows.is_leaf(at):
            entry = (int(growth is None), growth or 0, at)
            best_leaf = min(best_leaf, entry) if best_leaf[0] < 2 else entry
        elif growth is not None:
            more |= dict.fromkeys(range(tree.first[at], tree.end[at]), growth)
    return Inside(best_leaf[2], best_cap[1])
