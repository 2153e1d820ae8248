"""Random stories of queues: what is told of every consumer is what the cycle decides, and never fails."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import given

from fairhold.cli.pool_words import pools_in_words
from fairhold.cycle.document import run_cycle
from fairhold.cycle.explain.pooled.document import explain_pools
from fairhold.runtime.explaining_pools import as_document
from fairhold.units import SECOND
from tests.examples import FEW
from tests.pools.strategies import read
from tests.queues.strategies import stories

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.document import Cycle

Json = dict[str, Any]
NEVER = {"unplaceable": "unplaceable", "never fits": "never-fits"}


@FEW
@given(stories())
def test_every_queue_is_explained_as_the_cycle_decides(story: tuple[Json, Json, list[Json]]) -> None:
    plan, state = read(*story[:2])
    for turn in story[2]:
        cycle = run_cycle(plan, state)
        for path in plan.tree.paths:
            (told,) = explain_pools(plan, state, path, what_if=False)
            assert json.loads(json.dumps(told)) == told
            assert list(otherwise(cycle, told)) == []
            said = as_document(told)
            assert pools_in_words(said).startswith(said["sentence"])
        state = replace(cycle.after, now=state.now + turn["seconds"] * SECOND)


def otherwise(cycle: Cycle, told: Json) -> Iterator[object]:
    """What is told otherwise than the cycle has decided."""
    consumers = cycle.document["resource_groups"]["g"]["consumers"]
    for one in told["resources"]:
        for level in one["levels"]:
            yield from (each for each in level.get("rounds", ()) if each["given"] > each["left"])
            for row in level["siblings"]:
                shares = consumers[row["consumer"]]["fair_share"]
                is_full = row["bound"] in {"demand", "limit", "limits below"}
                is_wrong = "round" in row and is_full != (row["fair_share"] >= row["usable"])
                if row["fair_share"] != shares[one["resource"]] or is_wrong:
                    yield row
    for request in told["requests"]:
        yield from wrong_requests(cycle, request)
        yield from without_numbers(request["waits"])


def without_numbers(waits: Json | None) -> Iterator[object]:
    """Refusals that do not say by which numbers they fail."""
    others = (waits or {}).get("others")
    for side in others["sides"] if others else ():
        for strategy in side["strategies"]:
            for test in [*strategy["fails"], *strategy["refused"]]:
                if not ({"value", "bound"} <= test.keys() or {"ours", "theirs"} <= test.keys() or "ran" in test):
                    yield test


def wrong_requests(cycle: Cycle, request: Json) -> Iterator[object]:
    """What is told otherwise of a request: what it holds, was granted and is refused."""
    name, waits = request["request"], request["waits"]
    reason = waits["reason"] if waits else ""
    refused = {row["request"]: row["reason"] for row in cycle.document["refused"]}
    is_granted = any(row["request"] == name for row in cycle.document["grants"])
    if request["held"] != sum(row.units for row in cycle.after.allocations if row.request == name):
        yield request
    if not waits and request["waiting"]:
        yield request
    if NEVER.get(reason) != refused.get(name) or (reason == "next cycle" and not is_granted):
        yield name, reason, refused.get(name)
    if any(each["is_new"] for each in request["stands"]) != is_granted:
        yield request
