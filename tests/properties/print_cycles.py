"""Run cycles and print everything that they give: `python -m tests.properties.print_cycles FILE`.

The file is a JSON list of plans with states. Three cycles each, an hour apart, so that graces run out between.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from fairhold.cycle.document import quota_document, run_cycle
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from fairhold.units import SECOND


def main(path: str) -> None:
    """Print one line of JSON for every step."""
    for case in json.loads(Path(path).read_text(encoding="utf-8")):
        plan, _ = parse_plan(json.dumps(case["plan"]), "plan.json")
        state = parse_state(json.dumps(case["state"]), plan, "state.json")
        sys.stdout.write(json.dumps(quota_document(plan, state)) + "\n")
        for _ in range(3):
            cycle = run_cycle(plan, state)
            sys.stdout.write(json.dumps([cycle.document, state_document(plan, cycle.after)]) + "\n")
            state = replace(cycle.after, now=state.now + 3600 * SECOND)


if __name__ == "__main__":
    main(sys.argv[1])
