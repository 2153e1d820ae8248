"""`fairhold cycle --check` under `multidimensional`: every truth finds out what breaks it (SPEC §10)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from fairhold.cli.files import print_cycle
from fairhold.cycle.document import run_cycle
from fairhold.cycle.pooled import invariants, merge_results
from fairhold.cycle.pooled.active_entries import entries_in_force
from fairhold.cycle.violation import Violation
from fairhold.errors import BrokenRuleError
from fairhold.ledger.pools import Notice, Parcel
from fairhold.units import SECOND
from tests.examples import FEWER
from tests.pools.small import inputs, of, on, own
from tests.pools.strategies import read
from tests.pools.test_commands import PLAN, STATE
from tests.pools.test_random import stories

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fairhold.cycle.pooled.run import PooledCycle
    from fairhold.ledger.pools import Unit
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Json = dict[str, Any]
CONSUMERS: Json = {
    "/M": {"share_ratio": 2, **own(hosts=["h0", "h1"])},
    "/M/x": own(hosts=["h0"], lend_grace="20s"),
    "/M/y": {"reclaim_grace": "10s"},
    "/N": {**own(hosts=["h2"], reserved=True), "share_limit": {"cpu": 3}},
    "/Z": {"reclaim_grace": "10s"},
}
HOSTS = {"h0": 4, "h1": 4, "h2": 4, "h3": 9}
REQUESTS = [of("/M/x", 9), of("/M/y", 6), of("/N", 5), of("/Z", 12)]
STANDS = [on("h0", "Z", 3, "/") | {"lenders": {"/M/x": 3}}, on("h1", "y", 1, "/M"), on("h3", "Z", 9)]


def decided() -> tuple[Plan, State, PooledCycle]:
    """A cycle with grants, and notices of owners and inside a pool."""
    plan, state = inputs(CONSUMERS, REQUESTS, STANDS, hosts=HOSTS)
    (_, cycle), *_ = merge_results.run_entries(plan, state)
    assert {row["pool"] for row in cycle.grants} == {"own", "/M"}
    assert {row["for"] for row in cycle.reclaims} == {"x", "y", "N"}
    return plan, state, cycle


def broken(plan: Plan, state: State, cycle: PooledCycle) -> set[str]:
    (force,) = entries_in_force(plan, state.now)
    return {violation.truth for violation in invariants.untrue(plan, force, state, cycle)}


def unit_of(cycle: PooledCycle, name: str, host: str) -> Unit:
    return next(unit for unit in cycle.books.asked[name].units if unit.host.name == host)


def test_nothing_is_untrue_of_a_cycle_as_it_is() -> None:
    assert broken(*decided()) == set()


def a_grant_less(cycle: PooledCycle) -> None:
    cycle.grants.pop()


def idle_is_lost(cycle: PooledCycle) -> None:
    parcel = cycle.books.hosts[3].parcels[0]
    parcel.amounts = tuple(each + 1 for each in parcel.amounts)


def a_unit_stands_on_less(cycle: PooledCycle) -> None:
    unit_of(cycle, "y", "h1").books = {}


def nobody_is_above_a_child(cycle: PooledCycle) -> None:
    for parcel in cycle.books.hosts[0].parcels:
        parcel.chain = parcel.chain[:1]


def a_limit_is_broken(cycle: PooledCycle) -> None:
    for unit in cycle.books.asked["N"].units:
        unit.pool = 0


def a_notice_is_late(cycle: PooledCycle) -> None:
    for unit in cycle.sweeps.noticed:
        assert unit.notice is not None
        unit.notice.deadline = cycle.books.now + 11 * SECOND


def a_slow_one_borrows(cycle: PooledCycle) -> None:
    unit = unit_of(cycle, "Z", "h0")
    cycle.sweeps.placed.append(unit)
    terms = cycle.books.terms
    grace = tuple(60 * SECOND for _ in terms.grace)
    cycle.books.terms = replace(terms, grace=grace)


def a_user_has_too_many(cycle: PooledCycle) -> None:
    unit = unit_of(cycle, "y", "h1")
    unit.asked.model = replace(unit.asked.model, user="ann")
    cycle.sweeps.placed.append(unit)
    cycle.books.terms = replace(cycle.books.terms, user_limit=(0,) * len(cycle.books.terms.user_limit))


def reserved_is_used(cycle: PooledCycle) -> None:
    unit = unit_of(cycle, "y", "h1")
    unit.books = dict.fromkeys(cycle.books.hosts[2].parcels, unit.asked.unit)


def another_pool_is_touched(cycle: PooledCycle) -> None:
    unit = unit_of(cycle, "y", "h1")
    taker = cycle.books.asked["N"]
    unit.notice = Notice(taker, cycle.books.now, "quota", 99, is_new=True)
    cycle.sweeps.noticed.append(unit)


def one_below_its_quota_gives(cycle: PooledCycle) -> None:
    standing = cycle.sweeps.standings[0]
    for row in standing.quota:
        standing.quota[row] = Fraction(2)
        standing.demand[row] = Fraction(2)


def some_of_a_gang_stay(cycle: PooledCycle) -> None:
    gang = cycle.books.asked["Z"]
    stays = sum(unit.notice is None for unit in gang.units)
    assert stays > 0
    gang.model = replace(gang.model, min_count=stays + 1)


def a_unit_stands_elsewhere(cycle: PooledCycle) -> None:
    unit_of(cycle, "y", "h1").books = dict.fromkeys(cycle.books.hosts[3].parcels, (1000, 0))


def more_is_divided_than_there_is(cycle: PooledCycle) -> None:
    standing = cycle.sweeps.standings[0]
    standing.quota = dict.fromkeys(standing.quota, Fraction(1))


def usages_do_not_add_up(cycle: PooledCycle) -> None:
    cycle.sweeps.standings[0].usage[0] += 1


def one_more_has_units_on_the_way(cycle: PooledCycle) -> None:
    cycle.books.terms = replace(cycle.books.terms, settings=replace(cycle.books.terms.settings, packing="exclusive"))
    for host in cycle.books.hosts:
        cycle.sweeps.reservations.reservation(cycle.books.asked["N"], host, 0).units = 1


@pytest.mark.parametrize(
    ("harm", "truth"),
    [
        (a_grant_less, "units_are_conserved"),
        (idle_is_lost, "hosts_hold_what_they_have"),
        (a_unit_stands_on_less, "hosts_hold_what_they_have"),
        (a_unit_stands_elsewhere, "hosts_hold_what_they_have"),
        (nobody_is_above_a_child, "children_own_inside_their_parents"),
        (a_limit_is_broken, "share_limits_hold"),
        (a_user_has_too_many, "users_hold_no_more_than_they_may"),
        (a_notice_is_late, "who_borrows_lets_go_in_time"),
        (a_slow_one_borrows, "who_borrows_lets_go_in_time"),
        (reserved_is_used, "what_is_reserved_goes_to_nobody_else"),
        (another_pool_is_touched, "pools_do_not_touch_one_another"),
        (some_of_a_gang_stay, "no_gang_goes_on_below_its_minimum"),
        (one_below_its_quota_gives, "nobody_at_or_under_quota_loses_a_unit"),
        (more_is_divided_than_there_is, "quotas_are_within_total_and_demand"),
        (usages_do_not_add_up, "quotas_are_within_total_and_demand"),
        (one_more_has_units_on_the_way, "nothing_is_taken_where_others_stay"),
    ],
)
def test_every_truth_finds_out_what_breaks_it(harm: Callable[[PooledCycle], None], truth: str) -> None:
    plan, state, cycle = decided()
    harm(cycle)
    assert truth in broken(plan, state, cycle)


@pytest.mark.parametrize(
    ("asks", "has", "text"),
    [
        ({"hosts": 1}, {"h0": 4, "h1": 4}, "owns 2 hosts, at most 1"),
        ({"hosts": "70%"}, {"h0": 4, "h1": 1}, "owns 2 hosts, at most 1"),
        ({"hosts": ["h0"]}, {"h0": 4, "h1": 1}, "owns some of h1, by name others"),
        ({"per_host": {"cpu": "50%"}}, {"h0": 2, "h1": 3}, "owns (3000, 0) of h1, at most (2000, 0)"),
        ({"total": {"cpu": 5}}, {"h0": 4, "h1": 2}, "owns 6000 in all, at most 5000"),
    ],
)
def test_r_adjust_2_who_owns_more_than_its_target_is_found_out_s2_25(
    asks: Json, has: dict[str, int], text: str
) -> None:
    plan, state = inputs({"/A": own(**asks), "/B": {}}, [of("/B", 1)])
    (_, cycle), *_ = merge_results.run_entries(plan, state)
    assert broken(plan, state, cycle) == set()
    chain = next(parcel.chain for host in cycle.books.hosts for parcel in host.parcels if parcel.chain)
    for host in cycle.books.hosts:
        mine = 1000 * has[host.name]
        public = Parcel(host, 0, (), (host.plain[0] - mine, 0))
        host.parcels = [Parcel(host, chain[0][0], chain, (mine, 0)), *([public] if any(public.amounts) else [])]
    done = invariants.Done(plan, state, cycle)
    assert [each.text for each in invariants.nobody_owns_more_than_its_target(done)] == [text]


@FEWER
@given(stories())
def test_nothing_is_untrue_of_any_cycle(story: tuple[Json, Json, list[Json]]) -> None:
    plan, state = read(*story[:2])
    for turn in story[2]:
        cycle = run_cycle(plan, state)
        assert [each for pair in cycle.pooled for each in invariants.untrue(plan, pair[0], state, pair[1])] == []
        down = frozenset([turn["down"]] if turn["down"] else [])
        state = replace(cycle.after, now=state.now + turn["seconds"] * SECOND, hosts_down=down)


def test_space_is_held_only_where_its_taker_can_use_it() -> None:
    """R-HELD-1: what was freed on a host that somebody reserves meanwhile is there for who owns it, at once."""
    consumers: Json = {"/A": own(reserved=True, per_host={"cpu": "50%"}), "/A/x": {}, "/A/y": {}, "/B": {}}
    held = [{"request": "B", "host": "h0", "units": 4}]
    plan, state = inputs(consumers, [of("/B", 4), of("/A/x", 2)], hosts={"h0": 4}, held=held)
    cycle = run_cycle(plan, state, check=True)
    assert cycle.untrue == ()
    assert {(row["request"], row["units"]) for row in cycle.document["grants"]} == {("x", 2), ("B", 2)}


def test_a_cycle_of_slots_and_several_entries_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, state = tmp_path / "plan.yaml", tmp_path / "state.yaml"
    plan.write_text(PLAN)
    state.write_text(STATE)
    print_cycle(plan, state, None, as_json=True, check=True)
    checked = capsys.readouterr().out
    print_cycle(plan, state, None, as_json=True)
    assert checked == capsys.readouterr().out


def test_a_wrong_cycle_is_said_to_be_and_nothing_of_it_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, state = tmp_path / "plan.yaml", tmp_path / "state.yaml"
    plan.write_text(PLAN)
    state.write_text(STATE)

    def wrong(done: invariants.Done) -> Iterator[Violation]:
        yield Violation("never", done.books.hosts[0].name, "is untrue")

    monkeypatch.setattr(invariants, "TRUTHS", (wrong,))
    with pytest.raises(BrokenRuleError, match=r"main: never h1: is untrue \[broken-rule\]\nbig: never b1") as caught:
        print_cycle(plan, state, None, as_json=False, check=True)
    assert caught.value.exit_code == 3
    assert capsys.readouterr().out == ""


def test_a_second_cycle_that_decides_something_is_found_out() -> None:
    plan, state, _ = decided()
    found = list(invariants.a_second_cycle_changes_nothing(plan, state))
    assert [line.split(" : ")[0] for line in found] == ["all: a_second_cycle_changes_nothing"]


def test_what_is_above_a_limit_goes_for_who_takes_it_back_anyway() -> None:
    """R-LIMIT-3, R-TAKE-2: three are above the limit, and an owner wants three: three go, not four."""
    consumers: Json = {"/A": own(hosts=["h0"]), "/B": {"share_limit": {"cpu": 2}}}
    held = [on("h0", "B", 3, "/", A=3), on("h1", "B", 2, "/")]
    plan, state = inputs(consumers, [of("/A", 4), of("/B", 5)], held, hosts={"h0": 4, "h1": 2})
    cycle = run_cycle(plan, state, check=True)
    assert cycle.untrue == ()
    assert [(row["host"], row["units"], row["for"]) for row in cycle.document["reclaims"]] == [("h0", 3, "A")]
