"""State machines: hosts, demands, gangs and plans of `fair_share` change at random; cycles come to rest."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from fairhold.cycle.document import run_cycle
from fairhold.planio.state import parse_state, state_document
from tests.pools.strategies import read
from tests.pools.test_changes import SMALL, play
from tests.pools.test_changes import Changing as ChangingPools
from tests.pools.truths import not_conserved, second_cycle, too_full, too_long
from tests.queues.strategies import plans, states
from tests.queues.truths import beyond_bounds, broken_gangs, taken_below

if TYPE_CHECKING:
    from fairhold.cycle.document import Cycle

Json = dict[str, Any]
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "deserved": st.sampled_from((0, 1, 3, "unlimited")),
    "limit": st.sampled_from((0, 2, 5, "none")),
    "over_quota_weight": st.sampled_from((0, 1, 4)),
    "priority": st.sampled_from((50, 100, 200)),
    "reclaim_min_runtime": st.sampled_from(("0s", "20s")),
    "preemption_delay": st.sampled_from(("0s", "20s")),
}
SETTINGS: dict[str, st.SearchStrategy[Any]] = {
    "reclaimer_utilization_multiplier": st.sampled_from((1, 1.5)),
    "packing": st.sampled_from(("stacked", "balanced")),
    "division": st.sampled_from(("exact", "exact", "kai")),
}


class Changing(ChangingPools):
    """The changes of pools, those of the plan apart, with what must hold of every cycle of queues."""

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.document, self.leaves = data.draw(plans())
        self.plan, self.state = read(self.document, data.draw(states(self.document, self.leaves)))

    @rule(at=SMALL, kind=st.sampled_from(sorted(VALUES)), data=st.data())
    def change_queue(self, at: int, kind: str, data: st.DataObject) -> None:
        """Another setting of a queue, where it makes a plan."""
        document = deepcopy(self.document)
        stated = document["policies"][0]["consumers"]
        mine, value = stated[sorted(stated)[at % len(stated)]], data.draw(VALUES[kind])
        resource = next(iter(document["resources"]))
        mine[kind] = {resource: value} if kind in {"deserved", "limit"} else value
        self.put(document)

    @rule(kind=st.sampled_from(sorted(SETTINGS)), data=st.data())
    def change_plan(self, kind: str, data: st.DataObject) -> None:
        """Another setting of the policy."""
        document = deepcopy(self.document)
        document["policies"][0]["settings"][kind] = data.draw(SETTINGS[kind])
        self.put(document)

    def run(self) -> Cycle:
        before, cycle = self.state, run_cycle(self.plan, self.state, check=True)
        assert cycle.untrue == ()
        assert [
            *too_full(self.plan, cycle.after),
            *not_conserved(before, cycle),
            *too_long(self.plan, before, cycle),
        ] == []
        assert [*beyond_bounds(self.plan, cycle), *broken_gangs(before, cycle), *taken_below(self.plan, cycle)] == []
        assert list(second_cycle(self.plan, cycle)) == []
        self.state = parse_state(json.dumps(state_document(self.plan, cycle.after)), self.plan, "state.json")
        return cycle


def test_whatever_changes_queues_come_to_rest() -> None:
    play(Changing, 6, 12)


@pytest.mark.slow
def test_thousands_of_changes_of_queues() -> None:
    play(Changing, 400, 30)
