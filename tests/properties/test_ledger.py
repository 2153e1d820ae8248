"""Whatever happens to the books, in whatever order, their sums are those of their tables and nothing is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fairhold.cycle.invariants import check, sums_are_those_of_the_tables
from fairhold.cycle.open import open_books
from fairhold.cycle.run import run
from fairhold.ledger import transitions
from fairhold.ledger.decision import apply
from fairhold.ledger.tables import NOBODY
from fairhold.units import SECOND
from tests.properties.machinery import stop_expired
from tests.properties.strategies import GROUP, NOW, Case, instant, plans, whole

if TYPE_CHECKING:
    from fairhold.ledger.books import Books

PICK = st.integers(0, 10**6)
"""Which of the rows there are just now: taken modulo their number."""


class BooksMachine(RuleBasedStateMachine):
    """The books of one group beside a plain count of every leaf's units."""

    books: Books
    gangs = False

    @initialize(plan=plans(hosts=True))
    def open(self, plan: dict[str, object]) -> None:
        case = Case(plan, {"fairhold_state": 1, "now": NOW})
        self.books = open_books(case.plan, case.state)[GROUP]
        self.now = instant(NOW)
        self.held = dict.fromkeys(self.books.rows.leaves, 0)
        self.wanted = dict.fromkeys(self.books.rows.leaves, 0)
        self.number = 0

    def leaf_of(self, request: int) -> int:
        return self.books.requests.leaf[request]

    def requests(self) -> list[int]:
        return [row for leaf in self.books.rows.leaves for row in self.books.requests.by_leaf.get(leaf, ())]

    def allocations(self) -> list[int]:
        return [row for request in self.requests() for row in self.books.allocations.by_request.get(request, ())]

    def notices(self) -> list[int]:
        return [row for mine in self.books.notices.by_allocation.values() for row in mine]

    def has_requests(self) -> bool:
        return bool(self.requests())

    def has_allocations(self) -> bool:
        return bool(self.allocations())

    @rule(at=PICK, count=whole(9), minimum=whole(4), priority=whole(1), age=whole(3))
    def submit(self, at: int, count: int, minimum: int, priority: int, age: int) -> None:
        leaf = self.books.rows.leaves[at % len(self.books.rows.leaves)]
        self.number += 1
        row = transitions.submit(
            self.books,
            leaf,
            count,
            name=f"r{self.number}",
            minimum=min(minimum, count) if self.gangs else 0,
            priority=priority,
            submitted=self.now - age * SECOND,
        )
        self.wanted[leaf] += count
        assert self.books.requests.row_of[f"r{self.number}"] == row

    @precondition(has_requests)
    @rule(at=PICK, count=whole(12))
    def want(self, at: int, count: int) -> None:
        request = self.requests()[at % len(self.requests())]
        count = max(count, self.books.requests.minimum[request])
        self.wanted[self.leaf_of(request)] += count - self.books.requests.count[request]
        transitions.want(self.books, request, count)

    @precondition(has_requests)
    @rule(at=PICK)
    def forget(self, at: int) -> None:
        idle = [row for row in self.requests() if self.books.requests.held[row] == 0]
        if idle:
            request = idle[at % len(idle)]
            self.wanted[self.leaf_of(request)] -= self.books.requests.count[request]
            name = self.books.requests.id[request]
            transitions.forget(self.books, request)
            assert name not in self.books.requests.row_of

    @precondition(has_allocations)
    @rule(at=PICK, units=st.integers(1, 9))
    def release(self, at: int, units: int) -> None:
        """A task ends: its unit is idle, and no longer wanted or wanted again."""
        row = self.allocations()[at % len(self.allocations())]
        units = min(units, self.books.allocations.units[row])
        self.held[self.leaf_of(self.books.allocations.request[row])] -= units
        transitions.release(self.books, row, units)

    @precondition(has_allocations)
    @rule(at=PICK, units=st.integers(1, 9), grace=whole(20))
    def give_notice(self, at: int, units: int, grace: int) -> None:
        """From outside the cycle, as a switch of windows or an operator might: the next cycle puts it right."""
        row = self.allocations()[at % len(self.allocations())]
        units = min(units, self.books.allocations.units[row] - self.books.allocations.noticed[row])
        if units:
            transitions.give_notice(self.books, row, units, NOBODY, self.now + grace * SECOND, 0)

    @rule(at=PICK, units=st.integers(1, 9))
    def withdraw(self, at: int, units: int) -> None:
        live = self.notices()
        if live:
            row = live[at % len(live)]
            transitions.withdraw(self.books, row, min(units, self.books.notices.units[row]))

    @rule(slots=whole(9))
    def a_host_joins(self, slots: int) -> None:
        if len(self.books.hosts.name) < 6:
            transitions.add_host(self.books, f"new{len(self.books.hosts.name)}", slots)

    @rule(at=PICK, slots=st.none() | whole(9), up=st.none() | st.booleans())
    def a_host_changes(self, at: int, slots: int | None, up: bool | None) -> None:  # noqa: FBT001
        transitions.set_host(self.books, at % len(self.books.hosts.name), slots=slots, up=up)

    @rule(seconds=st.sampled_from([0, 1, 5, 20, 60]))
    def time_passes(self, seconds: int) -> None:
        self.now += seconds * SECOND
        before = {leaf: self.books.held[leaf] for leaf in self.held}
        stopped = stop_expired(self.books, self.now)
        assert stopped == sum(before[leaf] - self.books.held[leaf] for leaf in self.held)
        self.held = {leaf: self.books.held[leaf] for leaf in self.held}
        assert all(self.books.notices.deadline[row] > self.now for row in self.notices())

    @rule()
    def cycle(self) -> None:
        result = run(self.books, self.now)
        assert check(result) == ()
        for grant in result.decision.grants:
            self.held[self.leaf_of(grant.request)] += grant.units
        apply(self.books, result.decision, self.now)

    @invariant()
    def sums_are_those_of_the_tables(self) -> None:
        assert tuple(sums_are_those_of_the_tables(self.books)) == ()

    @invariant()
    def nothing_is_lost(self) -> None:
        for leaf, units in self.held.items():
            assert self.books.held[leaf] == units
            assert self.books.demand[leaf] == self.wanted[leaf]
            assert 0 <= self.books.noticed[leaf] <= units
        assert sum(self.held.values()) == sum(self.books.hosts.used)


class GangBooksMachine(BooksMachine):
    """The same with gangs."""

    gangs = True


TestBooks = BooksMachine.TestCase
TestGangBooks = GangBooksMachine.TestCase
