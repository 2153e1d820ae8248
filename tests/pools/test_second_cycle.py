"""Written states in which a second cycle at the same instant could once decide something else."""

from __future__ import annotations

from fairhold.cycle.document import run_cycle
from tests.pools.small import inputs, of, on, own, owned, placed, run, taken
from tests.pools.truths import second_cycle

BETTER: dict[str, dict[str, object]] = {"/A": {"share_priority": 1}, "/B": {"reclaim_grace": "30s"}, "/C": {}}
TWO = {"h0": 2, "h1": 2}
THREE = TWO | {"h2": 2}


def test_r_held_1_a_gang_keeps_what_is_idle_beside_what_it_takes() -> None:
    gang, held = of("/A", 2, 2, min_count=2), [on("h1", "B", 1), on("h2", "B", 1)]
    plan, state = inputs(BETTER, [gang, of("/B", 2, 2)], held, hosts=THREE)
    cycle = run_cycle(plan, state)
    assert [(row["request"], row["units"], row["for"]) for row in cycle.document["reclaims"]] == [("B", 1, "A")]
    (notice,) = cycle.after.notices
    assert {(row.request, row.host) for row in cycle.after.held} == {("A", "h0"), ("A", notice.host)}
    assert list(second_cycle(plan, cycle)) == []
    said = {"request": "B", "host": notice.host, "units": 1, "for": "A", "deadline": "2026-01-05T09:00:30Z"}
    kept = [{"request": "A", "host": host, "units": 1} for host in ("h0", notice.host)]
    late = [gang, of("/B", 2, 2), of("/C", 1, 2)]
    assert placed(BETTER, late, held, hosts=THREE, reclaims=[said], held=kept) == []


def test_r_limit_3_what_later_ones_make_needless_stays() -> None:
    wants = [of("/A", 2, 3, name="large"), of("/A", 1, name="small", submitted="2026-01-05T08:00:00Z")]
    held = [on("h0", "large", 1), on("h0", "small", 1), on("h1", "large", 1)]
    assert [row[0] for row in taken({"/A": {"share_limit": {"cpu": 5}}}, wants, held)] == ["large"]


def test_r_settle_1_what_is_due_is_stopped_before_ownership_is_adjusted() -> None:
    due = [{"request": "B", "host": "h0", "units": 1, "for": None, "deadline": "2026-01-05T09:00:00Z"}]
    consumers = {"/A": own(hosts=1), "/B": {"share_limit": {"cpu": 0}}}
    assert owned(consumers, [of("/B", 1)], [on("h0", "B", 1)], reclaims=due) == {"/A": ["h0"]}


def test_r_limit_1_leftovers_of_its_own_do_not_count_for_a_gang() -> None:
    consumers = {"/A": own(hosts=["h0"]) | {"share_limit": {"cpu": 2}}}
    assert placed(consumers, [of("/A", 4, min_count=4)], hosts=TWO) == [("A", "h0", 2, "own"), ("A", "h1", 2, "/")]
    assert placed(consumers, [of("/A", 5, min_count=5)], hosts=THREE) == []


def test_r_pool_2_units_of_one_request_are_told_apart_by_what_they_stand_on() -> None:
    hosts = {"h0": {"cpu": 4, "gpu": 2}}
    consumers = {"/A": own(per_host={"gpu": 1}), "/B": {"reclaim_grace": "9s"}}
    wants = [of("/B", 2, {"cpu": 1, "gpu": 1}), of("/A", 1, {"cpu": 1, "gpu": 1})]
    cycle = run(consumers, wants, [on("h0", "B", 2)], hosts=hosts)
    assert [(row.units, row.started is not None) for row in cycle.after.notices] == [(1, True)]
    plan, _ = inputs(consumers, wants, hosts=hosts)
    assert list(second_cycle(plan, cycle)) == []


def test_r_limit_2_what_is_held_counts_before_what_waits() -> None:
    """Else who holds as much as its limit allows could be above its quota, give to a worse class and take back."""
    consumers = {"/B": {"share_priority": 1, "share_limit": {"cpu": 3}}, "/C": {}}
    wants = [of("/B", 3, {"cpu": 1, "gpu": 3}, name="r1"), of("/B", 1, {"cpu": 1, "gpu": 2}, name="r3")]
    hosts = {"h0": {"cpu": 1, "gpu": 3}, "h1": {"cpu": 3, "gpu": 6}}
    held = [on("h0", "r1", 1), on("h1", "r1", 1), on("h1", "r3", 1)]
    cycle = run(consumers, [*wants, of("/C", 1, {"gpu": 2})], held, hosts=hosts)
    public = cycle.document["pools"]["/"]["consumers"]["/B"]
    assert public["usage"] == public["usage_demand"] == public["usage_quota"]
    assert cycle.document["reclaims"] == []


def test_r_held_1_space_is_held_where_the_next_cycle_holds_it() -> None:
    """What a gang that is taken whole frees lies on nobody's parcel, and what is held beside it on its owner's."""
    reserved = own(total={"gpu": 5}, reserved=True)
    consumers: dict[str, dict[str, object]] = {"/B": reserved, "/B/x": {}, "/B/x/1": {}, "/B/x/2": {}}
    hosts = {"h0": {"cpu": 1}, "h1": {"cpu": 3, "gpu": 3}, "h2": {"cpu": 7, "gpu": 8}}
    wants = [
        of("/B/x/2", 3, {"cpu": 3, "gpu": 1}, name="r0", min_count=3),
        of("/B/x/1", 1, name="r1"),
        of("/B/x/1", 2, {"cpu": 2, "gpu": 3}, name="r2", min_count=2),
    ]
    plan, state = inputs(consumers, wants, [on("h1", "r0", 1), on("h2", "r0", 1), on("h0", "r1", 1)], hosts=hosts)
    cycle = run_cycle(plan, state)
    assert [(row["request"], row["units"], row["for"]) for row in cycle.document["reclaims"]] != []
    assert list(second_cycle(plan, cycle)) == []


def test_r_sweep_3_gangs_that_take_from_one_another_come_to_an_end() -> None:
    """A pool takes back for a gang, and a better class takes what the gang has in the public pool, again and again."""
    consumers: dict[str, dict[str, object]] = {
        "/B": own(total={"cpu": 6}),
        "/B/x": {},
        "/B/y": {},
        "/C": {"share_priority": 1},
    }
    hosts = {"h0": {"cpu": 1, "gpu": 1}, "h1": {"cpu": 8, "gpu": 1}, "h2": {"cpu": 2, "gpu": 1}}
    wants = [of("/B/x", 1, {"gpu": 1}), of("/B/y", 4, 2, min_count=3), of("/C", 5)]
    held = [on("h0", "x", 1), on("h1", "y", 1), on("h1", "C", 1)]
    plan, state = inputs(consumers, wants, held, hosts=hosts)
    cycle = run_cycle(plan, state, check=True)
    assert cycle.untrue == ()
