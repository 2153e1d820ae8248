"""What becomes of a state over time under two plans: who holds what, what is stopped, and what work that loses."""

import json
from typing import Any

import pytest

from fairhold.cli.plan_timeline import lost_text
from fairhold.cycle import projection as projections
from fairhold.cycle.document import run_cycle
from fairhold.cycle.plan_timeline import Assumed, Compared, instants_of, over_time
from fairhold.cycle.pooled.carrying import with_owned
from fairhold.cycle.projection import course_of
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state

SECOND = 1_000_000
DAY = 86_400 * SECOND
NOW = "2026-01-05T09:00:00Z"  # a Monday
Document = dict[str, Any]


def plan_of(consumers: Document, policy: str = "hybrid", **more: Any) -> Document:
    return {
        "fairhold": 1,
        "resource_groups": {"c": {"slots": 10}},
        "consumers": {path.strip("/"): {"reclaim_grace": "30s"} for path in consumers},
        "policies": [{"resource_groups": ["c"], "policy": policy, "consumers": consumers}],
    } | more


def vectors_of(consumers: Document, policy: str) -> Document:
    host = {"name": "g[1-2]", "gpu": 4, "cpu": 16}
    more = {"resources": {"gpu": {}, "cpu": {}}, "resource_groups": {"c": {"hosts": [host]}}}
    return plan_of(consumers, policy) | more


def state_of(**said: Any) -> Document:
    return {"fairhold_state": 1, "now": NOW} | said


def compared(old: Document, new: Document, state: Document, days: int = 1, **assumed: Any) -> Document:
    plans = [parse_plan(json.dumps(each), "plan")[0] for each in (old, new)]
    one = parse_state(json.dumps(state), plans[0], "state")
    before = run_cycle(plans[0], one)
    other = with_owned(parse_state(json.dumps(state), plans[1], "state"), plans[1], before.after, plans[0], {})
    instants = instants_of(plans[0], plans[1], one.now, one.now + days * DAY)
    sides = (
        Compared(plans[0], course_of(plans[0], one, before, instants)),
        Compared(plans[1], course_of(plans[1], other, run_cycle(plans[1], other), instants)),
    )
    return over_time(*sides, instants, assumed=Assumed(**assumed))


COUNTS = state_of(demand={"/A": {"c": 10}, "/B": {"c": 10}}, allocated={"/A": {"c": 5}, "/B": {"c": 5}})


def test_of_counts_it_is_told_who_gives_by_when_and_who_gets() -> None:
    owners: Document = {"/A": {"owned": 5}, "/B": {"owned": 5}}
    found = compared(plan_of(owners), plan_of({"/A": {"owned": 7}, "/B": {"owned": 3}}), COUNTS)
    assert found["consumers"] == {
        "/B": {"stopped": [0, 2], "lost": [0, 60], "lost_of": [{}, {"slots": 60}]}  # held since now at least
    }
    (row,) = found["stops"]
    assert (row["consumer"], row["units"], row["deadline"], row["for"], row["anyway"]) == (
        *("/B", 2, "2026-01-05T09:00:30Z"),
        *("/A", 0),
    )
    assert row["since"] is None
    (span,) = found["spans"]
    assert span["consumers"] == {"c": {"/A": {"slots": [5, 7]}, "/B": {"slots": [5, 3]}}}
    assert found["until"] == "2026-01-06T09:00:00Z"


REQUESTS = [
    {"id": "a", "consumer": "/A", "count": 9, "submitted": "2026-01-05T07:00:00Z"},
    {"id": "b", "consumer": "/B", "count": 9, "submitted": "2026-01-05T07:00:00Z"},
]
HELD = [
    {"request": "a", "units": 5, "started": "2026-01-05T08:00:00Z"},
    {"request": "b", "units": 3, "started": "2026-01-05T07:00:00Z"},
    {"request": "b", "units": 2, "started": "2026-01-05T08:30:00Z"},
]
BUSY = state_of(requests=REQUESTS, allocations=HELD)


def test_lost_is_what_was_done_since_the_start_or_the_last_checkpoint() -> None:
    old, new = plan_of({"/A": {"owned": 5}, "/B": {"owned": 5}}), plan_of({"/A": {"owned": 8}, "/B": {"owned": 2}})
    found = compared(old, new, BUSY)
    by_start = {row["since"]: (row["units"], row["lost"]) for row in found["stops"]}
    half = 30 * 60 + 30
    assert by_start == {
        "2026-01-05T07:00:00Z": (1, 2 * 3600 + 30),
        "2026-01-05T08:30:00Z": (2, 2 * half),
    }
    assert (found["consumers"]["/B"]["stopped"], found["consumers"]["/B"]["lost"]) == ([0, 3], [0, 7230 + 2 * half])
    saved = compared(old, new, BUSY, checkpoint=600 * SECOND)
    assert {row["lost"] for row in saved["stops"]} == {30, 60}
    assert saved["assumes"][-1] == "a checkpoint every 600 s"
    assert [row["lost"] for row in found["stops"]] == [7230, 3660]  # the most first


def test_a_task_whose_time_is_over_is_not_stopped_and_makes_room() -> None:
    requests = [REQUESTS[0], REQUESTS[1] | {"time_limit": "9000s", "count": 5}]  # those of 07:00 end at 09:30
    old = plan_of({"/A": {"owned": 5}, "/B": {"owned": 5}})
    new = plan_of({"/A": {"owned": 8}, "/B": {"owned": 2}})
    for each in (old, new):
        each["consumers"]["B"] = {"reclaim_grace": "2h"}
    found = compared(old, new, state_of(requests=requests, allocations=HELD))
    assert found["stops"] == []
    assert found["spans"][0]["consumers"] == {}  # by tomorrow all of /B are over


def test_coming_windows_are_told_and_equal_ones_folded() -> None:
    def plan(day: int) -> Document:
        found = plan_of({"/A": {"owned": day}, "/B": {"owned": 10 - day}})
        night = found["policies"][0] | {"consumers": {"/A": {"owned": 2}, "/B": {"owned": 8}}}
        found["policies"] = [found["policies"][0] | {"window": "Mon-Sun 08:00-18:00"}, night]
        return found

    found = compared(plan(5), plan(6), COUNTS, days=7)
    first, evening, mornings, evenings = found["spans"]  # of the first evening it is not known since when all is held
    assert [len(span["at"]) for span in found["spans"]] == [1, 1, 7, 6]
    assert first["consumers"] == mornings["consumers"] == {"c": {"/A": {"slots": [5, 6]}, "/B": {"slots": [5, 4]}}}
    assert evening["consumers"] == evenings["consumers"] == {}
    lost = [3 * 36_000, 4 * 36_000]
    assert evenings["stops"]["/A"] == {"stopped": [3, 4], "lost": lost, "lost_of": [{"slots": each} for each in lost]}
    assert mornings["stops"]["/B"]["stopped"] == [3, 4]
    assert (mornings["day"], mornings["local"]) == ("Tue", "2026-01-06T08:00:00+00:00")
    assert first["in_force"] == [{"c": [0]}, {"c": [0]}]
    assert found["stops"][0]["deadline"] == "2026-01-05T09:00:30Z"
    assert {row["consumer"] for row in found["stops"]} == {"/A", "/B"}


def test_what_both_plans_stop_is_told_as_such() -> None:
    state = state_of(demand=COUNTS["demand"], allocated={"/A": {"c": 0}, "/B": {"c": 10}})
    old, new = plan_of({"/A": {"owned": 5}, "/B": {"owned": 5}}), plan_of({"/A": {"owned": 6}, "/B": {"owned": 4}})
    (row,) = compared(old, new, state)["stops"]
    assert (row["units"], row["anyway"]) == (6, 5)
    assert compared(old, old, state)["consumers"]["/B"]["stopped"] == [5, 5]


def test_notices_that_were_given_before_run_out_as_they_say() -> None:
    notice = {"consumer": "/B", "resource_group": "c", "units": 1, "for": "/A", "deadline": "2026-01-05T09:00:05Z"}
    state = state_of(demand=COUNTS["demand"], allocated={"/A": {"c": 4}, "/B": {"c": 6}}, reclaims=[notice])
    plan = plan_of({"/A": {"owned": 5}, "/B": {"owned": 5}})
    (row,) = compared(plan, plan, state)["stops"]
    assert (row["told"], row["deadline"], row["anyway"]) == (None, "2026-01-05T09:00:05Z", 1)


@pytest.mark.parametrize(
    ("policy", "old", "new"),
    [
        ("share_ratio", {"/A": {"share_ratio": 1}, "/B": {"share_ratio": 1}}, {"/A": {"share_ratio": 4}, "/B": {}}),
        ("ownership", {"/A": {"owned": 5}, "/B": {"owned": 5}}, {"/A": {"owned": 8}, "/B": {"owned": 2}}),
    ],
)
def test_other_policies_of_slots(policy: str, old: Document, new: Document) -> None:
    found = compared(plan_of(old, policy), plan_of(new, policy), BUSY)
    assert found["spans"][0]["consumers"] == {"c": {"/A": {"slots": [5, 8]}, "/B": {"slots": [5, 2]}}}
    assert found["consumers"]["/B"]["stopped"] == [0, 3]


UNITS = [
    {"id": "a", "consumer": "/A", "unit": {"gpu": 1, "cpu": 4}, "count": 8, "submitted": "2026-01-05T07:00:00Z"},
    {"id": "b", "consumer": "/B", "unit": {"gpu": 1, "cpu": 4}, "count": 8, "submitted": "2026-01-05T07:00:00Z"},
]
ON_HOSTS = [
    {"request": "a", "host": "g1", "units": 4, "started": "2026-01-05T08:00:00Z", "pool": "own"},
    {"request": "b", "host": "g2", "units": 4, "started": "2026-01-05T08:00:00Z", "pool": "own"},
]


def test_resources_are_told_each() -> None:
    def plan(units: int) -> Document:
        consumers = {path: {"own": [{"resource_group": "c", "hosts": hosts}]} for path, hosts in (("/A", 1), ("/B", 1))}
        consumers["/A"]["own"][0]["hosts"], consumers["/B"]["own"][0]["hosts"] = units, 2 - units
        return vectors_of({path: said if said["own"][0]["hosts"] else {} for path, said in consumers.items()}, policy)

    policy = "multidimensional"
    found = compared(plan(1), plan(2), state_of(requests=UNITS, allocations=ON_HOSTS))
    held = {"/A": {"gpu": [4, 8], "cpu": [16, 32]}, "/B": {"gpu": [4, 0], "cpu": [16, 0]}}
    assert found["spans"][0]["consumers"] == {"c": held}
    (row,) = found["stops"]
    assert (row["request"], row["host"], row["units"], row["deadline"]) == ("b", "g2", 4, "2026-01-05T09:00:30Z")
    assert row["lost"] == 4 * 3630


def test_queues_are_told_too() -> None:
    def queue(gpus: int) -> Document:
        return {"deserved": {"gpu": gpus, "cpu": 4 * gpus}}

    allocations = [{key: value for key, value in each.items() if key != "pool"} for each in ON_HOSTS]
    found = compared(
        vectors_of({"/A": queue(4), "/B": queue(4)}, "fair_share"),
        vectors_of({"/A": queue(6), "/B": queue(2)}, "fair_share"),
        state_of(requests=UNITS, allocations=allocations),
    )
    assert found["spans"][0]["consumers"]["c"]["/A"] == {"gpu": [4, 6], "cpu": [16, 24]}
    assert sum(row["units"] for row in found["stops"]) == 2


def test_what_the_new_plan_alone_stops_is_told_in_all_and_who_waits_longer() -> None:
    owners: Document = {"/A": {"owned": 5}, "/B": {"owned": 5}}
    found = compared(plan_of(owners), plan_of({"/A": {"owned": 7}, "/B": {"owned": 3}}), COUNTS)
    by = "2026-01-05T09:00:30Z"
    assert found["alone"] == {"units": 2, "tasks": None, "by": by, "lost": {"slots": 60}}
    assert found["waits"] == {"/B": 2 * (86_400 - 30)}
    same = compared(plan_of(owners), plan_of(owners), COUNTS)
    assert (same["alone"]["units"], same["alone"]["by"], same["waits"]) == (0, None, {})


def test_the_resource_of_which_the_largest_part_is_lost_comes_first() -> None:
    def plan(hosts: list[int]) -> Document:
        owned = {path: [{"resource_group": "c", "hosts": each}] for path, each in zip(("/A", "/B"), hosts, strict=True)}
        return vectors_of(
            {path: {"own": own} if own[0]["hosts"] else {} for path, own in owned.items()}, "multidimensional"
        )

    found = compared(plan([1, 1]), plan([2, 0]), state_of(requests=UNITS, allocations=ON_HOSTS))
    lost = found["alone"]["lost"]
    assert lost == {"gpu": 4 * 3630, "cpu": 16 * 3630}
    assert [*lost] == ["gpu", "cpu"]  # as much of each; there are fewer GPUs
    assert found["alone"]["units"] == 4
    assert found["resources"] == [{"resource": "gpu", "unit": ""}, {"resource": "cpu", "unit": ""}]
    assert [row["lost_of"] for row in found["stops"]] == [lost]
    assert [values["lost_of"] for values in found["consumers"].values()] == [[{}, lost]]


def test_lost_work_is_shown_in_what_is_lost_first() -> None:
    memory, gpu = {"resource": "memory", "unit": "GiB"}, {"resource": "gpu", "unit": ""}
    both = [{"gpu": 3600, "memory": 36_000}, {"gpu": 9000}]
    assert lost_text(both, [gpu, memory]) == "1.00 -> 2.50 gpu-hours"
    assert lost_text([{"memory": "5400.5"}], [gpu, memory]) == "1.50 GiB-hours of memory"
    assert lost_text([{"slots": 36}, {"slots": 36}], [{"resource": "slots", "unit": ""}]) == "0.01 slot-hours"
    assert lost_text([{}, {}], [gpu, memory]) is None


def test_a_course_of_too_many_cycles_says_how_far_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projections, "MOST_CYCLES", 3)
    plan = plan_of({"/A": {"owned": 5}, "/B": {"owned": 5}})
    plan["consumers"] = {"A": {"reclaim_grace": "10s"}, "B": {"reclaim_grace": "10s"}}
    plan["policies"][0]["settings"] = {"max_reclaims": 1}
    state = state_of(demand=COUNTS["demand"], allocated={"/A": {"c": 0}, "/B": {"c": 10}})
    assert compared(plan, plan, state)["until"] < "2026-01-05T09:01:00Z"
