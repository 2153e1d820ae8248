"""What is explained of small clusters of queues."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.cli.pool_words import pools_in_words
from fairhold.cycle.explain.pooled.document import explain_pools
from fairhold.planio.state import parse_state
from fairhold.runtime.explaining_pools import as_document

if TYPE_CHECKING:
    from tests.queues.small import Cluster

Json = dict[str, Any]


def explained(cluster: Cluster, path: str) -> Json:
    """The explanation of a consumer in the next cycle."""
    state = parse_state(json.dumps(cluster.document), cluster.plan, "state.json")
    (told,) = explain_pools(cluster.plan, state, path)
    return as_document(told)


def words(cluster: Cluster, path: str) -> str:
    """The same as text."""
    return pools_in_words(explained(cluster, path))


def waits(cluster: Cluster, path: str) -> Json:
    """Why the first request of a consumer waits."""
    found: Json = explained(cluster, path)["requests"][0]["waits"]
    return found


def sides(cluster: Cluster, path: str) -> dict[str, Json]:
    """What the first request of a consumer finds among others: side → strategy → what is said of it."""
    return {
        side["consumer"]: {each["strategy"]: each for each in side["strategies"]}
        for side in waits(cluster, path)["others"]["sides"]
    }


def helps(cluster: Cluster, path: str) -> dict[str, Any]:
    """What would help the first request of a consumer: key → new value."""
    found = explained(cluster, path)["requests"][0]["would_help"]
    return {each["changes"][0]["what"]: each["changes"][0]["new"] for each in found}
