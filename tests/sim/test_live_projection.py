"""The course of a live cluster: what a new plan would do to its tasks, told task by task, while the cluster goes on."""

import json
from typing import Any

from fairhold.cycle.plan_timeline import STATED, Assumed
from fairhold.orchestrator.events import MachineClosed
from fairhold.orchestrator.freeze import freeze
from fairhold.planio.plan import parse_plan
from fairhold.sim.effect import Standing, effect_of, effect_over_time
from tests.orchestrator.house import SECOND, House

HOUR = 3_600 * SECOND


def busy() -> House:
    """On 4 slots: 2 tasks of /A, 2 of /B, more of both wait."""
    house = House(h1=4)
    house.submit(count=9)
    house.submit("/A", count=9)
    house.wait(3 * SECOND)
    house.end(3)
    house.end(4)
    house.wait(SECOND)
    return house


def standing(house: House) -> Standing:
    return Standing(house.plan, house.now, freeze(house.live.cluster))


def owning(slots: int) -> Any:
    document = {
        "fairhold": 1,
        "resource_groups": {"c": {"hosts": [{"name": "h1", "slots": 4}]}},
        "consumers": {"A": {"reclaim_grace": "5s"}, "B": {"reclaim_grace": "2s"}},
        "policies": [
            {
                "resource_groups": ["c"],
                "policy": "hybrid",
                "consumers": {"/A": {"owned": slots}, "/B": {"owned": 4 - slots}},
            }
        ],
    }
    return parse_plan(json.dumps(document), "plan")[0]


def test_it_is_told_which_task_goes_by_when_and_what_it_has_done() -> None:
    house = busy()
    before = freeze(house.live.cluster)
    found = effect_over_time(standing(house), owning(3), {}, HOUR)
    (row,) = found["stops"]
    attempt = house.live.attempts[row["attempt"]]
    assert (row["request"], row["task"], row["host"], row["units"]) == ("j1", attempt.index, "h1", 1)
    assert (row["for"], row["reason"], row["anyway"]) == ("/A", "quota", 0)
    assert row["lost"] == (house.now + 2 * SECOND - attempt.started) // SECOND
    assert found["spans"][0]["consumers"] == {"c": {"/A": {"slots": [2, 3]}, "/B": {"slots": [2, 1]}}}
    assert freeze(house.live.cluster) == before


def test_it_says_the_same_as_the_next_cycle() -> None:
    house = busy()
    now = effect_of(standing(house), owning(4), {}, HOUR)["reclaims"]["added"]
    coming = effect_over_time(standing(house), owning(4), {}, HOUR)["stops"]
    assert sorted((row["request"], row["deadline"]) for row in now for _ in range(row["units"])) == sorted(
        (row["request"], row["deadline"]) for row in coming for _ in range(row["units"])
    )


def test_who_leaves_a_drained_host_does_so_under_both_plans() -> None:
    house = busy()
    house.take(MachineClosed("h1", "broken", drain=True, by=house.now + 60 * SECOND))
    found = effect_over_time(standing(house), owning(3), {}, HOUR)
    assert sum(row["units"] for row in found["stops"]) == 4
    assert sum(row["anyway"] for row in found["stops"]) == 4
    assert found["spans"][0]["consumers"] == {}  # nothing starts there any more


def test_known_ends_and_checkpoints_are_taken_into_account() -> None:
    house = busy()
    soon = effect_over_time(
        *(standing(house), owning(3), {}, HOUR),
        assumed=Assumed(STATED, 2 * SECOND),
        end_of=lambda _, attempt: attempt.started + 600 * SECOND,
    )
    (row,) = soon["stops"]
    assert row["lost"] < 2
    assert STATED in soon["assumes"]
    assert soon["spans"][0]["consumers"] == {}  # all are done within the hour
