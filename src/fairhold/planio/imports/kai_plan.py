"""Queues of KAI-Scheduler → a plan under `fair_share`, divided as KAI divides."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from fairhold.errors import Fault, count
from fairhold.planio.imports.draft import Draft, Entry
from fairhold.planio.imports.kai import BASE, DEFAULT_PRIORITY
from fairhold.planio.imports.nodes import hosts_of
from fairhold.units import LARGEST, UNLIMITED, format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.planio.imports.draft import Written
    from fairhold.planio.imports.kai import Queue
    from fairhold.planio.imports.nodes import Node

GROUP = "cluster"
RESOURCES: dict[str, Mapping[str, Written]] = {
    "cpu": {"step": Fraction(1, 1000)},
    "memory": {"unit": "GB", "base": "MB", "step": Fraction(1, 1000)},
    "gpu": {},
}
"""Base and step are those of KAI: whole millicores, megabytes for its bytes, whole devices of surplus."""
KUBERNETES = {"cpu": "cpu", "memory": "memory", "gpu": "nvidia.com/gpu"}
"""Resource → its name on a node."""
SIZES = {"cpu": Fraction(1, 1000), "memory": Fraction(10**6), "gpu": Fraction(1, 1000)}
"""Resource → its base unit in a plan, as a node counts it."""
QUEUE_LABEL = "kai.scheduler/queue"
_IN_ONE = 1000
"""Base units in one CPU, one GB and one GPU."""


def kai_draft(queues: Mapping[str, Queue], paths: Mapping[str, str], nodes: Sequence[Node]) -> Draft:
    """The plan of queues.

    paths : of every queue, parents first
    """
    draft = Draft(
        [
            f"Made by `fairhold import kai` of {count(len(queues), 'queue')}.",
            "`division: kai` gives KAI's own numbers; without it nothing is lost to rounding.",
        ]
    )
    have = {resource: _needed(queues, paths, resource) for resource in BASE}
    draft.resources = dict(RESOURCES)
    draft.groups = {GROUP: {resource: Fraction(units, _IN_ONE) for resource, units in have.items()}}
    draft.hosts = list(hosts_of(nodes, _amounts_of))
    draft.consumers = list(paths.values())
    draft.pods = [{"consumer_label": QUEUE_LABEL}]
    stated = {path: _settings(queues[name]) for name, path in paths.items()}
    said = {path: settings for path, settings in stated.items() if settings}
    draft.entries = [Entry(GROUP, {"division": "kai"}, said)]
    if not draft.hosts:
        what = "KAI's queues do not say what the cluster has; what all quotas need stands there, at least 1"
        mend = "give its nodes, too, or write what there is"
        draft.assumed = [Fault("capacity-assumed", what, mend, ("resource_groups", GROUP, "capacity"))]
    return draft


def _amounts_of(node: Node) -> dict[str, Written]:
    """What KAI shares of a node, rounded down."""
    return {
        name: Fraction(floor(node.amounts.get(KUBERNETES[name], Fraction(0)) / size), _IN_ONE)
        for name, size in SIZES.items()
    }


def _needed(queues: Mapping[str, Queue], paths: Mapping[str, str], resource: str) -> int:
    """The least amount with which no quota is too much; a queue that deserves all needs what those below it do."""
    needs = dict.fromkeys(("", *queues), 0)
    for name in reversed(tuple(paths)):
        queue = queues[name]
        deserved = queue.numbers[resource].deserved
        needs[queue.parent] += max(needs[name], deserved if deserved < UNLIMITED else 0)
    return min(LARGEST, max(_IN_ONE, needs[""]))


def _settings(queue: Queue) -> dict[str, Written]:
    """What a queue states in a plan; defaults are left out."""
    numbers, said = queue.numbers, dict[str, "Written"]()
    if any(each.deserved for each in numbers.values()):
        said["deserved"] = {name: _amount(each.deserved) for name, each in numbers.items()}
    limits = {name: _amount(each.limit) for name, each in numbers.items() if each.limit < UNLIMITED}
    if limits:
        said["limit"] = limits
    weights = {name: each.weight for name, each in numbers.items()}
    if len(set(weights.values())) > 1:
        said["over_quota_weight"] = weights
    elif weights["gpu"] != 1:
        said["over_quota_weight"] = weights["gpu"]
    if queue.priority != DEFAULT_PRIORITY:
        said["priority"] = queue.priority
    return said | {key: format_duration(micros) for key, micros in queue.runtimes.items()}


def _amount(units: int) -> Written:
    return "unlimited" if units == UNLIMITED else Fraction(units, _IN_ONE)
