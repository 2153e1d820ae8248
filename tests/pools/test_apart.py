"""What happens in one policy entry is nothing to another (S0.9, S0.10): its pools are the same, byte for byte."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from hypothesis import given

from fairhold.cycle.document import run_cycle
from tests.examples import FEWER
from tests.pools.lending import EventTrace, stories
from tests.pools.strategies import NOW, read

Json = dict[str, Any]


def beside(plan: Json, other: Json) -> Json:
    """Both plans as one: the group, hosts and consumers of the other have other names."""
    both = deepcopy(plan)
    both["resources"] |= other["resources"]
    hosts = deepcopy(other["resource_groups"]["all"]["hosts"])
    both["resource_groups"]["apart"] = {"hosts": [host | {"name": f"k{host['name'][1:]}"} for host in hosts]}
    both["consumers"] |= {f"/Z{path[1:]}": {} for path in other["consumers"]}
    both["policies"].append(apart(other["policies"][0]))
    return both


def apart(entry: Json) -> Json:
    found = deepcopy(entry) | {"resource_groups": ["apart"]}
    found["consumers"] = {f"/Z{path[1:]}": words for path, words in found["consumers"].items()}
    for words in found["consumers"].values():
        for own in words.get("own", []):
            own["resource_group"] = "apart"
            if isinstance(own.get("hosts"), list):
                own["hosts"] = [f"k{name[1:]}" for name in own["hosts"]]
    return found


def renamed(requests: list[Json]) -> list[Json]:
    return [row | {"id": f"z{row['id']}", "consumer": f"/Z{row['consumer'][1:]}"} for row in requests]


@FEWER
@given(stories(), stories())
def test_pools_do_not_depend_on_what_happens_in_another_entry(story: EventTrace, other: EventTrace) -> None:
    plan = beside(story.plan, other.plan)
    found = []
    for more in (other.first, other.then):
        state = {"fairhold_state": 1, "now": NOW, "requests": [*story.then, *renamed(more)], "allocations": []}
        document = run_cycle(*read(plan, state)).document
        mine = {row["id"] for row in story.then}
        grants = [row for row in document["grants"] if row["request"] in mine]
        owned = [row for row in document["ownership"] if row["host"].startswith("h")]
        found.append(json.dumps([document["pools"]["all"], grants, owned]))
    assert found[0] == found[1]
