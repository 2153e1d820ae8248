"""A plan of ten thousand consumers, and a store with jobs of nearly all of them.

    python -m bench.large_cluster DIRECTORY JOBS

The console's benchmark in a browser starts a service with it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bench.live_store import Writer

BRANCHES = 100
LEAVES = 99
SLOTS = 1_000


def plan_text() -> str:
    """A hundred departments with 99 leaves each, which own all slots."""
    names = [f"D{number:03d}" for number in range(BRANCHES)]
    plan = {
        "fairhold": 1,
        "cluster": "large",
        "resource_groups": {"compute": {"slots": SLOTS}},
        "consumers": {name: {"consumers": {f"L{leaf:02d}": {} for leaf in range(LEAVES)}} for name in names},
        "policies": [
            {
                "resource_groups": ["compute"],
                "policy": "hybrid",
                "consumers": {f"/{name}": {"owned": SLOTS // BRANCHES} for name in names},
            }
        ],
    }
    return json.dumps(plan)


def write(directory: Path, jobs: int) -> None:
    """`plan.yaml`, and in `state` a store in which so many jobs wait; the last leaf of each department has none."""
    (directory / "plan.yaml").write_text(plan_text())
    leaves = [f"/D{branch:03d}/L{leaf:02d}" for leaf in range(LEAVES - 1) for branch in range(BRANCHES)]
    Writer(directory / "state", SLOTS, plan_text(), leaves).pause().submit(jobs).snapshot().close()


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
