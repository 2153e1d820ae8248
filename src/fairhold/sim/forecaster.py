"""A forecast in a process of its own: `python -m fairhold.sim.forecaster` reads what it starts from, and answers.

The service that asks goes on meanwhile. The process gives way to everything else on the machine.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from fairhold.errors import InputError
from fairhold.planio.nodes import nodes_of, with_nodes
from fairhold.planio.plan import parse_plan
from fairhold.sim.expected import expected_starts
from fairhold.sim.forecast import Lookout, Past, forecast

if TYPE_CHECKING:
    from collections.abc import Mapping

NICE = 10


def answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The forecast that is asked for, or the faults."""
    try:
        nodes = [node for node in nodes_of(asked["nodes"]).values() if node is not None]
        plan = with_nodes(parse_plan(asked["plan"], "the plan in force")[0], nodes)
        past = Past((path, length) for path, length in asked["past"])
        look = Lookout(plan, asked["cluster"], asked["own"], asked["now"], past)
        if asked.get("all"):
            return {"expected": expected_starts(look)}
        return {"forecast": forecast(look, asked["job"], asked["draws"], asked["seed"], asked["horizon"])}
    except InputError as error:
        return {"faults": [[each.code, each.what, each.mend] for each in error.faults]}


def main() -> None:
    """Read a JSON document from standard input, write one to standard output."""
    os.nice(NICE)
    json.dump(answer(json.load(sys.stdin)), sys.stdout)


if __name__ == "__main__":
    main()
