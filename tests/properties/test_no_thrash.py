"""Nothing is taken twice, for nothing, or without end (SPEC §10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import assume, given
from hypothesis import strategies as st

from fairhold.cycle.run import quotas, run
from fairhold.ledger import transitions
from tests.examples import FEWER
from tests.properties.machinery import books_of, comes_to_rest, cycle, excess, is_quiet, stop_expired
from tests.properties.strategies import LONGEST_GRACE, Case, cases, counts, plans, whole

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

ROUNDS = 12


@st.composite
def at_rest(draw: DrawFn) -> Case:
    """Cases without notices and without anything to settle."""
    plan = draw(plans())
    return Case(plan, draw(counts(plan, notices=False, crowded=False)))


@given(cases(requested=False))
def test_cycles_come_to_rest_and_take_at_most_the_excess(case: Case) -> None:
    """Constant demand: what is stopped waits again, so that only what is held moves."""
    books, now = books_of(case), case.state.now
    most = excess(books, now)
    stopped = 0
    quiet = 0
    for _ in range(ROUNDS):
        stopped += stop_expired(books, now)
        quiet = quiet + 1 if is_quiet(cycle(books, now)) else 0
        now += LONGEST_GRACE
    assert quiet > 1
    overdue = sum(notice.units for notice in case.state.notices if notice.deadline <= case.state.now)
    assert stopped <= max(most, overdue) + overdue
    assert not any(books.noticed)


@FEWER
@given(cases(requested=True, gangs=False))
def test_cycles_on_requests_come_to_rest(case: Case) -> None:
    assert comes_to_rest(case, ROUNDS)


@FEWER
@given(cases(requested=True))
def test_cycles_with_gangs_come_to_rest(case: Case) -> None:
    assert comes_to_rest(case, ROUNDS)


@FEWER
@given(cases(requested=False), st.data())
def test_notices_are_met_once_however_often_a_cycle_runs(case: Case, data: st.DataObject) -> None:
    """Cycles at any instants between, units released early or not: what goes in all is at most the excess."""
    books, now = books_of(case), case.state.now
    stop_expired(books, now)
    most = excess(books, now)
    gone = 0
    for _ in range(ROUNDS):
        cycle(books, now)
        for leaf in books.rows.leaves:
            released = data.draw(whole(books.noticed[leaf])) if books.noticed[leaf] else 0
            for request in books.requests.by_leaf.get(leaf, ()):
                for allocation in list(books.allocations.by_request.get(request, ())):
                    units = min(released, books.allocations.noticed[allocation])
                    if units:
                        transitions.release(books, allocation, units)
                        released -= units
                        gone += units
        now += data.draw(st.sampled_from([1, 1_000_000, LONGEST_GRACE]))
        gone += stop_expired(books, now)
    assert gone <= most


@given(cases(requested=False))
def test_owned_is_reached_within_the_longest_grace_and_a_cycle(case: Case) -> None:
    """S1.7-8: unless what `disable_reclaim_own` keeps stands in the way."""
    assume(not case.plan.policies[0].settings.disable_reclaim_own)
    books, now = books_of(case), case.state.now
    stop_expired(books, now)
    cycle(books, now)
    now += LONGEST_GRACE
    stop_expired(books, now)
    cycle(books, now)
    slots, configured = quotas(books, now).snapshot.scale
    for leaf in books.rows.leaves:
        owned = books.rows.plan.owned[leaf]
        sure = min(books.demand[leaf], owned, owned * slots // configured if configured else 0)
        assert books.held[leaf] >= sure, books.rows.path(leaf)


@FEWER
@given(at_rest(), st.integers(1, 6))
def test_a_host_that_joins_takes_nothing_from_equal_rank(case: Case, more: int) -> None:
    """Brought to rest, then grown: rounding may move a quota by one, and nobody is stopped for it."""
    books, now = books_of(case), case.state.now
    for _ in range(ROUNDS):
        stop_expired(books, now)
        cycle(books, now)
        now += LONGEST_GRACE
    assume(not any(books.rows.has_worse))
    assume(all(books.held[leaf] <= run(books, now).draft.quota[leaf] for leaf in books.rows.leaves))
    transitions.set_host(books, 0, slots=books.hosts.slots[0] + more)
    result = cycle(books, now)
    for notice in result.decision.notices:
        taker = notice.taker
        assert taker >= 0
        slots, configured = result.snapshot.scale
        sure = min(result.draft.needs.need[taker], books.rows.plan.owned[taker])
        sure = min(sure, books.rows.plan.owned[taker] * slots // configured)
        assert result.snapshot.held[taker] < sure, "taken for somebody who is not sure of it"


@given(at_rest(), whole(12), whole(12))
def test_demand_that_comes_and_goes_within_the_grace_costs_nobody(case: Case, more: int, wait: int) -> None:
    """Notices given for a demand that is gone again are withdrawn: nobody is stopped."""
    books, now = books_of(case), case.state.now
    for _ in range(ROUNDS):
        stop_expired(books, now)
        cycle(books, now)
        now += LONGEST_GRACE
    assert not any(books.noticed)
    leaf = books.rows.leaves[wait % len(books.rows.leaves)]
    requests = list(books.requests.by_leaf.get(leaf, ()))
    assume(requests)
    wanted = books.requests.count[requests[0]]
    held = list(books.held)
    transitions.want(books, requests[0], wanted + more)
    cycle(books, now)
    assume(list(books.held) == held)
    transitions.want(books, requests[0], wanted)
    cycle(books, now)
    assert not any(books.noticed)
    assert list(books.held) == held


@given(cases(requested=False))
def test_a_group_that_vanishes_and_comes_back(case: Case) -> None:
    """With no slot left everything goes, gone units are not asked for again, and all is granted anew."""
    books, now = books_of(case), case.state.now
    slots = list(books.hosts.slots)
    for host in range(len(slots)):
        transitions.set_host(books, host, slots=0)
    for _ in range(ROUNDS):
        stop_expired(books, now)
        cycle(books, now)
        now += LONGEST_GRACE
    assert not any(books.held)
    assert is_quiet(cycle(books, now))
    for host, count in enumerate(slots):
        transitions.set_host(books, host, slots=count)
    result = cycle(books, now)
    assert sum(grant.units for grant in result.decision.grants) == sum(
        min(result.draft.quota[leaf], books.demand[leaf]) for leaf in books.rows.leaves
    )
