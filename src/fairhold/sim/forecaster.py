"""A forecast in a process of its own: `python -m fairhold.sim.forecaster`; see `own_process`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.planio.nodes import nodes_of, with_nodes
from fairhold.planio.plan import parse_plan
from fairhold.sim.expected import expected_starts
from fairhold.sim.forecast import Lookout, Past, forecast
from fairhold.sim.own_process import answer_once

if TYPE_CHECKING:
    from collections.abc import Mapping


def answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The forecast that is asked for; InputError where there is none."""
    nodes = [node for node in nodes_of(asked["nodes"]).values() if node is not None]
    plan = with_nodes(parse_plan(asked["plan"], "the plan in force")[0], nodes)
    past = Past((path, length) for path, length in asked["past"])
    look = Lookout(plan, asked["cluster"], asked["own"], asked["now"], past)
    if asked.get("all"):
        return {"expected": expected_starts(look)}
    return {"forecast": forecast(look, asked["job"], asked["draws"], asked["seed"], asked["horizon"])}


if __name__ == "__main__":
    answer_once(answer)
