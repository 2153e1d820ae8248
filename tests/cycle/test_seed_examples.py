"""What seed 1 says about quotas, statement by statement (S1.1-S1.46, S1.70-S1.81); test names carry the S-numbers."""

from __future__ import annotations

import json

import pytest

from fairhold.errors import InputError
from fairhold.planio.plan import parse_plan
from fairhold.policies.registry import POLICIES
from tests.cycle.seed import leaves, moved, plan_of, quotas, run_cycle, state_of, table

PLENTY = 1000


def test_s1_1_s1_3_all_share_without_peer_to_peer_lists() -> None:
    """S1.1 ownership and sharing together, S1.3 sharing among all: a plan without any list lends and borrows."""
    assert "hybrid" in POLICIES
    plan = plan_of(30, {"/A": {"owned": 20}, "/B": {"owned": 10}, "/B/b": {}})
    assert leaves(plan, {"/A": 2, "/B/b": PLENTY}) == {"/A": 2, "/B/b": 28}
    assert leaves(plan, {"/A": PLENTY, "/B/b": 1}) == {"/A": 29, "/B/b": 1}


def test_s1_2_s1_12_reserved_slots_are_for_one_consumer_only() -> None:
    plan = plan_of(10, {"/A": {"owned": 6, "reserved": 4}, "/B": {"owned": 4}})
    state = state_of(plan, {"/A": 0, "/B": PLENTY})
    assert {path: row["quota"] for path, row in table(plan, state).items() if path != "/"} == {"/A": 4, "/B": 6}
    cycle = run_cycle(plan, state)
    assert moved(cycle, "grants") == {"/B": 6}
    assert cycle.document["resource_groups"]["g"]["idle"] == 4


def test_s1_4_s1_38_borrowed_slots_follow_what_is_owned() -> None:
    """S1.38: owners of 10 and 20 split extra slots 1:2."""
    plan = plan_of(60, {"/A": {"owned": 10}, "/B": {"owned": 20}, "/C": {"owned": 30}})
    assert leaves(plan, {"/A": PLENTY, "/B": PLENTY, "/C": 0}) == {"/A": 20, "/B": 40, "/C": 0}


def test_s1_6_who_owns_nothing_only_borrows() -> None:
    plan = plan_of(10, {"/A": {"owned": 10}, "/B": {}})
    assert table(plan, state_of(plan, {}))["/B"]["owned"] == 0
    assert leaves(plan, {"/A": 10, "/B": 5}) == {"/A": 10, "/B": 0}
    assert leaves(plan, {"/A": 7, "/B": 5}) == {"/A": 7, "/B": 3}


def test_s1_7_s1_8_s1_14_an_owner_gets_his_slots_by_reclaim() -> None:
    """S1.7 whenever needed, S1.8 also when others need slots, S1.14 lent and taken back."""
    plan = plan_of(10, {"/A": {"owned": 6}, "/B": {"owned": 4}})
    cycle = run_cycle(plan, state_of(plan, {"/A": 6, "/B": PLENTY}, {"/B": 10}))
    assert moved(cycle, "reclaims") == {"/B": 6}
    assert cycle.document["reclaims"][0]["for"] == "/A"


def test_s1_9_nothing_is_reserved_by_default() -> None:
    plan = plan_of(10, {"/A": {"owned": 10}, "/B": {}})
    assert table(plan, state_of(plan, {}))["/A"]["reserve"] == 0
    assert leaves(plan, {"/A": 0, "/B": PLENTY}) == {"/A": 0, "/B": 10}


def test_s1_10_reserving_needs_owning() -> None:
    with pytest.raises(InputError) as caught:
        plan_of(10, {"/A": {"owned": 3, "reserved": 4}})
    assert [fault.code for fault in caught.value.faults] == ["reserved-above-owned"]


@pytest.mark.parametrize(("reserved", "lent"), [(0, 6), (2, 4), (6, 0)])
def test_s1_11_each_owned_slot_is_reserved_or_lendable(reserved: int, lent: int) -> None:
    """Some, all or none may be reserved."""
    plan = plan_of(10, {"/A": {"owned": 6, "reserved": reserved}, "/B": {"owned": 4}})
    assert leaves(plan, {"/A": 0, "/B": PLENTY}) == {"/A": reserved, "/B": 4 + lent}


def test_s1_13_a_reserved_slot_is_there_at_once() -> None:
    plan = plan_of(10, {"/A": {"owned": 6, "reserved": 4}, "/B": {"owned": 4}})
    first = run_cycle(plan, state_of(plan, {"/A": 0, "/B": PLENTY}))
    cycle = run_cycle(plan, state_of(plan, {"/A": 4, "/B": PLENTY}, {"/B": moved(first, "grants")["/B"]}))
    assert moved(cycle, "grants") == {"/A": 4}
    assert cycle.document["reclaims"] == []


def test_s1_15_reserving_costs_efficiency() -> None:
    """A slot reserved by one is idle while another has pending tasks."""
    plan = plan_of(10, {"/A": {"owned": 6, "reserved": 6}, "/B": {"owned": 4}})
    cycle = run_cycle(plan, state_of(plan, {"/A": 1, "/B": PLENTY}))
    assert cycle.document["resource_groups"]["g"]["idle"] == 5
    assert cycle.document["resource_groups"]["g"]["consumers"]["/B"]["quota"] == 4


def test_s1_16_no_limit_by_default() -> None:
    plan = plan_of(PLENTY, {"/A": {"owned": 1}})
    assert table(plan, state_of(plan, {}))["/A"]["limit"] is None
    assert leaves(plan, {"/A": PLENTY}) == {"/A": PLENTY}


def test_s1_17_s1_18_a_limit_caps_owned_and_borrowed_together() -> None:
    """S1.18: a consumer whose workload changes fast is kept from taking all."""
    plan = plan_of(30, {"/A": {"owned": 6, "limit": 9}, "/B": {"owned": 4}})
    assert leaves(plan, {"/A": PLENTY, "/B": PLENTY}) == {"/A": 9, "/B": 21}
    assert leaves(plan, {"/A": PLENTY, "/B": 0}) == {"/A": 9, "/B": 0}


def test_s1_19_parents_first_then_their_children() -> None:
    plan = plan_of(40, {"/X": {"owned": 30}, "/X/a": {"owned": 1}, "/X/b": {"owned": 2}, "/Y": {"owned": 10}})
    expected = {"/X": 30, "/X/a": 10, "/X/b": 20, "/Y": 10}
    assert quotas(plan, {"/X/a": PLENTY, "/X/b": PLENTY, "/Y": PLENTY}) == expected


def test_s1_20_s1_21_same_settings_under_other_parents() -> None:
    """60 slots, all busy, all leaves alike: X gets 10 and Y 50, so A and B 5 each, C and D 25 each."""
    plan = plan_of(60, {"/X": {"owned": 10}, "/X/A": {}, "/X/B": {}, "/Y": {"owned": 50}, "/Y/C": {}, "/Y/D": {}})
    found = leaves(plan, dict.fromkeys(("/X/A", "/X/B", "/Y/C", "/Y/D"), 100))
    assert found == {"/X/A": 5, "/X/B": 5, "/Y/C": 25, "/Y/D": 25}


def test_s1_22_s1_23_s1_25_rank_decides_on_the_one_slot() -> None:
    """S1.23 higher rank first, else plan order; S1.25 a larger number is a lesser rank."""
    settings = [{"owned": 3, "rank": rank} for rank in (2, 1, 1)]
    plan = plan_of(10, dict(zip(("/A", "/B", "/C"), settings, strict=True)))
    assert leaves(plan, dict.fromkeys(("/A", "/B", "/C"), PLENTY)) == {"/A": 3, "/B": 4, "/C": 3}


def test_s1_24_every_consumer_has_the_highest_rank_by_default() -> None:
    consumers = {"/A": {"owned": 5}, "/B": {"owned": 5, "rank": 0}}
    wanted = {"/A": PLENTY, "/B": PLENTY}
    assert leaves(plan_of(11, consumers), wanted) == {"/A": 6, "/B": 5}
    assert leaves(plan_of(11, consumers, default_rank=1), wanted) == {"/A": 5, "/B": 6}


def test_s1_26_s1_27_ranks_are_compared_under_one_parent_only() -> None:
    """One slot: it goes to Y, the best of the parents, then to D, its best child; E and F rank high in vain."""
    parents = {f"/{name}": {"owned": 5, "rank": rank} for name, rank in (("X", 3), ("Y", 1), ("Z", 2))}
    children = {"/X/E": {"rank": 0}, "/Y/C": {"rank": 5}, "/Y/D": {"rank": 4}, "/Z/F": {"rank": 0}}
    plan = plan_of(1, parents | children)
    cycle = run_cycle(plan, state_of(plan, dict.fromkeys(children, 3)))
    assert moved(cycle, "grants") == {"/Y/D": 1}


def test_s1_28_s1_29_quotas_are_made_anew_in_every_cycle() -> None:
    """With the same plan: other workload, other slots, other quotas."""
    plan = plan_of(20, {"/A": {"owned": 10}, "/B": {"owned": 10}})
    assert leaves(plan, {"/A": 20, "/B": 20}) == {"/A": 10, "/B": 10}
    assert leaves(plan, {"/A": 20, "/B": 4}) == {"/A": 16, "/B": 4}
    assert leaves(plan, {"/A": 20, "/B": 20}, slots=10) == {"/A": 5, "/B": 5}


def test_s1_31_all_needs_are_met_where_there_is_enough() -> None:
    plan = plan_of(20, {"/A": {"owned": 1}, "/B": {"owned": 10}, "/C": {}})
    assert leaves(plan, {"/A": 9, "/B": 3, "/C": 8}) == {"/A": 9, "/B": 3, "/C": 8}
    assert leaves(plan, {"/A": 9, "/B": 3, "/C": 8}, slots=14) == {"/A": 9, "/B": 3, "/C": 2}


def test_s1_32_s1_33_s1_34_s1_46_need_of_leaves_and_parents() -> None:
    """S1.32 need, owned and what can be borrowed; S1.34, S1.46 a parent needs what its children need."""
    plan = plan_of(10, {"/P": {"owned": 8}, "/P/a": {"owned": 5}, "/P/b": {}, "/Q": {"owned": 2}})
    rows = table(plan, state_of(plan, {"/P/a": 3, "/P/b": 4, "/Q": 9}))
    assert {path: row["need"] for path, row in rows.items() if path != "/"} == {"/P": 7, "/P/a": 3, "/P/b": 4, "/Q": 9}
    assert {path: row["quota"] for path, row in rows.items()} == {"/": 10, "/P": 7, "/P/a": 3, "/P/b": 4, "/Q": 3}


def test_s1_35_a_quota_never_exceeds_the_demand() -> None:
    plan = plan_of(20, {"/A": {"owned": 15}, "/B": {"owned": 5}})
    assert leaves(plan, {"/A": 2, "/B": 1}) == {"/A": 2, "/B": 1}


@pytest.mark.parametrize(("slots", "owned_now"), [(100, 10), (120, 12), (90, 9)])
def test_s1_36_s1_37_what_is_owned_follows_the_size_of_the_group(slots: int, owned_now: int) -> None:
    """Own 10 of 100 configured: 12 of 120, 9 of 90."""
    plan = plan_of(100, {"/X": {"owned": 10}, "/Y": {"owned": 90}})
    assert leaves(plan, {"/X": PLENTY, "/Y": PLENTY}, slots=slots)["/X"] == owned_now


def test_s1_39_siblings_that_own_nothing_borrow_equally() -> None:
    plan = plan_of(10, {"/A": {"owned": 10}, "/B": {}, "/C": {}, "/D": {}})
    assert leaves(plan, {"/A": 1, "/B": PLENTY, "/C": PLENTY, "/D": 1}) == {"/A": 1, "/B": 4, "/C": 4, "/D": 1}


@pytest.mark.parametrize("slots", [50, 100, 400])
def test_s1_40_the_limit_does_not_follow_the_size_of_the_group(slots: int) -> None:
    plan = plan_of(100, {"/X": {"owned": 10, "limit": 20}, "/Y": {"owned": 90}})
    assert leaves(plan, {"/X": PLENTY, "/Y": 0}, slots=slots)["/X"] == 20


def test_s1_41_the_smallest_quota_is_the_reserve() -> None:
    """It may exceed the demand; then slots are idle."""
    plan = plan_of(10, {"/X": {"owned": 5, "reserved": 3}, "/Y": {"owned": 5}})
    assert leaves(plan, {"/X": 1, "/Y": PLENTY}) == {"/X": 3, "/Y": 7}


@pytest.mark.parametrize(("slots", "reserve"), [(100, 6), (200, 6), (80, 6), (50, 5)])
def test_s1_42_s1_43_the_reserve_stays_and_is_capped_by_owned_now(slots: int, reserve: int) -> None:
    """Own 10, reserve 6 of 100: still 6 of 200 and of 80, and 5 of 50, where 5 are owned."""
    plan = plan_of(100, {"/X": {"owned": 10, "reserved": 6}, "/Y": {"owned": 90}})
    state = state_of(plan, {"/X": 0, "/Y": PLENTY}, slots=slots)
    assert table(plan, state)["/X"]["reserve"] == reserve
    assert table(plan, state)["/X"]["quota"] == reserve


@pytest.mark.parametrize("ranks", [(0, 1), (1, 0)])
def test_s1_44_rank_changes_no_whole_number(ranks: tuple[int, int]) -> None:
    plan = plan_of(12, {"/A": {"owned": 1, "rank": ranks[0]}, "/B": {"owned": 2, "rank": ranks[1]}})
    assert leaves(plan, {"/A": PLENTY, "/B": PLENTY}) == {"/A": 4, "/B": 8}


@pytest.mark.parametrize(("ranks", "expected"), [((0, 1), {"/A": 4, "/B": 6}), ((1, 0), {"/A": 3, "/B": 7})])
def test_s1_45_rounding_goes_by_rank(ranks: tuple[int, int], expected: dict[str, int]) -> None:
    """3.333 and 6.666: 4 and 6 where A ranks higher, 3 and 7 where B does."""
    plan = plan_of(10, {"/A": {"owned": 1, "rank": ranks[0]}, "/B": {"owned": 2, "rank": ranks[1]}})
    assert leaves(plan, {"/A": PLENTY, "/B": PLENTY}) == expected


@pytest.mark.parametrize("sibling", ["/A", "/B"])
def test_s1_70_an_owner_of_nothing_waits_for_all_its_siblings(sibling: str) -> None:
    """Only when no sibling has outstanding demand does it get free slots; its cousins do not count."""
    plan = plan_of(20, {"/A": {"owned": 5}, "/B": {"owned": 15}, "/B/b": {"owned": 15}, "/C": {}})
    wanted = {"/A": 0, "/B/b": 0, "/C": PLENTY} | {"/A" if sibling == "/A" else "/B/b": 20}
    assert leaves(plan, wanted)["/C"] == 0
    assert leaves(plan, wanted | {"/A" if sibling == "/A" else "/B/b": 19})["/C"] == 1


def test_s1_71_s1_81_unused_slots_may_be_spread_evenly() -> None:
    """S1.71 whatever the siblings own; S1.81 by the setting that stands for the environment variable."""
    consumers = {"/A": {"owned": 4}, "/B": {"owned": 20}, "/C": {}, "/D": {"owned": 6}}
    wanted = {"/A": PLENTY, "/B": 0, "/C": PLENTY, "/D": PLENTY}
    assert leaves(plan_of(30, consumers), wanted) == {"/A": 12, "/B": 0, "/C": 0, "/D": 18}
    evenly = plan_of(30, consumers, distribute_evenly=True)
    assert leaves(evenly, wanted) == {"/A": 11, "/B": 0, "/C": 7, "/D": 12}


def test_s1_72_s1_73_enough_slots_first_what_is_owned_then_to_whoever_wants_more() -> None:
    """40 slots, 30 owned: min(demand, owned) first, here 10 + 5 + 0, then equal amounts while demand lasts."""
    plan = plan_of(
        {"slots": 40, "configured_slots": 40},
        {"/A": {"owned": 10}, "/B": {"owned": 20}, "/C": {}},
        distribute_evenly=True,
    )
    assert leaves(plan, {"/A": PLENTY, "/B": 5, "/C": 4}) == {"/A": 31, "/B": 5, "/C": 4}
    assert leaves(plan, {"/A": PLENTY, "/B": 5, "/C": PLENTY}) == {"/A": 23, "/B": 5, "/C": 12}


def test_s1_74_s1_75_s1_76_s1_77_fewer_slots_than_owned() -> None:
    """15 slots, 30 owned (B's 10 count though it wants nothing): 5 each adjusted, then what is owned, then evenly."""
    consumers = {"/A": {"owned": 10}, "/B": {"owned": 10}, "/C": {"owned": 10}, "/D": {}}
    plan = plan_of(15, consumers, distribute_evenly=True)
    assert leaves(plan, {"/A": PLENTY, "/B": 0, "/C": PLENTY, "/D": PLENTY}) == {"/A": 8, "/B": 0, "/C": 7, "/D": 0}
    assert leaves(plan, {"/A": PLENTY, "/B": 0, "/C": 2, "/D": PLENTY}) == {"/A": 12, "/B": 0, "/C": 2, "/D": 1}


THREE = {"/A": {"owned": 15}, "/B": {"owned": 15}, "/C": {}}


@pytest.mark.parametrize(
    ("slots", "evenly", "expected"),
    [
        pytest.param(30, False, {"/A": 30, "/B": 0, "/C": 0}, id="S1.78 default"),
        pytest.param(30, True, {"/A": 23, "/B": 0, "/C": 7}, id="S1.79 even"),
        pytest.param(10, True, {"/A": 10, "/B": 0, "/C": 0}, id="S1.80 even, 10 slots"),
    ],
)
def test_s1_78_s1_79_s1_80_the_worked_example(slots: int, evenly: bool, expected: dict[str, int]) -> None:  # noqa: FBT001
    """C submits 100 and gets all slots; then A submits 100."""
    plan = plan_of(30, THREE, distribute_evenly=evenly)
    assert leaves(plan, {"/A": 0, "/B": 0, "/C": 100}, slots=slots) == {"/A": 0, "/B": 0, "/C": slots}
    assert leaves(plan, {"/A": 100, "/B": 0, "/C": 100}, slots=slots) == expected
    cycle = run_cycle(plan, state_of(plan, {"/A": 100, "/B": 0, "/C": 100}, {"/C": slots}, slots=slots))
    assert moved(cycle, "reclaims") == {"/C": slots - expected["/C"]}


def test_settings_of_the_seed_have_their_names_in_the_plan() -> None:
    """S1.65 and S1.81: `disable_reclaim_own` and `distribute_evenly` under `settings`, both off by default."""
    consumers: dict[str, object] = {"A": {}}
    entry = {"resource_groups": ["g"], "policy": "hybrid"}
    document = {"fairhold": 1, "resource_groups": {"g": {"slots": 1}}, "consumers": consumers, "policies": [entry]}
    settings = parse_plan(json.dumps(document), "plan.json")[0].policies[0].settings
    assert (settings.disable_reclaim_own, settings.distribute_evenly) == (False, False)
