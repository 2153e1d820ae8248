"""Random plans and states: what is told of every consumer is what the cycle decides."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given

from fairhold.cli.pool_words import pools_in_words
from fairhold.cycle.document import run_cycle
from fairhold.cycle.explain.pooled.document import explain_pools
from fairhold.planio.state import parse_state, state_document
from fairhold.runtime.explaining_pools import as_document
from fairhold.units import SECOND
from tests.examples import FEWER
from tests.pools.strategies import read
from tests.pools.test_random import stories
from tests.pools.told import untold

Json = dict[str, Any]


@FEWER
@given(stories())
def test_every_consumer_is_explained_as_the_cycle_decides(story: tuple[Json, Json, list[Json]]) -> None:
    plan, state = read(*story[:2])
    for turn in story[2]:
        cycle = run_cycle(plan, state)
        for path in plan.tree.paths:
            (told,) = explain_pools(plan, state, path, what_if=False)
            assert json.loads(json.dumps(told)) == told
            assert list(untold(cycle, told)) == []
            said = as_document(told)
            assert pools_in_words(said).startswith(said["sentence"])
        after = parse_state(json.dumps(state_document(plan, cycle.after)), plan, "state.json")
        down = frozenset([turn["down"]] if turn["down"] else [])
        there = replace(after, hosts_down=down, hosts_closed=after.hosts_closed - down)
        state = replace(there, now=after.now + turn["seconds"] * SECOND)
