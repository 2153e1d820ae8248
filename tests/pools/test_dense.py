"""Stories in which much stands in the way of much: every truth holds, and a second cycle decides nothing."""

from __future__ import annotations

import json
from random import Random

import pytest

from fairhold.cycle.document import run_cycle
from fairhold.cycle.verify import verify
from fairhold.planio.state import parse_state, state_document
from tests.pools.dense import dense_story
from tests.pools.strategies import after, read
from tests.pools.truths import second_cycle, untrue

ONCE_WRONG = {
    10000983: "a gang that falls below its minimum again has no more on its way than it misses",
    10002694: "what is on its way to one host brings nothing on another that the state does not count",
    10003560: "what an early take frees is used at its own level first",
    10003682: "a private pool takes for units that stand in it, not beside it",
    10004987: "what is on its way is in the nearest pool that is enough for it",
    10005057: "who must go for a limit goes, though the one it was to go for has its unit",
    10006792: "what is on its way is in the nearest pool that is enough for it",
    10008132: "a unit beside what its leaf owns stands there in the next cycle, too",
    10027768: "a request may lose more units that were placed than it asks for",
    10020053: "what one gives lets no other give",
    10020498: "room that a limit has once others go is used in the same cycle",
    10020582: "the same, for what is under notice already",
    530000623: "what was held for a unit that comes elsewhere is idle again",
    75030881: "a gang that can never start counts for nothing, also while it is told to go",
    200000841: "a gang of one takes where another unit of its size, of no gang, got nothing",
    400003756: "what a gang that goes elsewhere too leaves need not be held of what is idle, which others get",
    965793968: "gangs that give way to each other in turn are not told anew what they were told",
    965794057: "the same, of several units",
    965795220: "the same, beside others who take",
    965795401: "the same, beside who is above a limit",
}


def wrong(number: int, packing: str = "") -> list[str]:
    """What does not hold in a story; packing: in place of its own.

    A cycle that the bound on rounds has ended says that something is open: the next one may decide it.
    """
    plan_document, document, turns = dense_story(number)
    settings = plan_document["policies"][0]["settings"]
    if packing:
        settings["packing"] = packing
    if number % 5 == 4:  # not of the dice: it would make all stories others
        settings["rebalance_interval"] = "10s"
    plan, state = read(plan_document, document)
    for turn in turns:
        cycle = run_cycle(plan, state)
        told = state_document(plan, cycle.after)
        findings = verify(plan, state, json.loads(json.dumps(cycle.document | {"state": told})))
        is_settled = all(row["code"] != "unsettled" for row in cycle.document["warnings"])
        again = second_cycle(plan, cycle) if is_settled else ()
        found = [*untrue(plan, state, cycle), *again, *map(str, findings)]
        if found:
            return found
        state = after(parse_state(json.dumps(told), plan, "state.json"), turn)
    return []


@pytest.mark.parametrize("number", ONCE_WRONG, ids=str)
def test_r_sweep_2_what_was_not_quiet_once_is(number: int) -> None:
    assert wrong(number) == []


@pytest.mark.parametrize("number", range(8))
def test_r_sweep_2_a_second_cycle_decides_nothing(number: int) -> None:
    assert wrong(number) == []


@pytest.mark.slow
def test_r_sweep_2_in_thousands_of_dense_states_a_second_cycle_decides_nothing() -> None:
    first = Random().randrange(10**9)
    for number in range(first, first + 4000):
        assert wrong(number) == [], number
        assert number % 3 or wrong(number, "exclusive") == [], number
