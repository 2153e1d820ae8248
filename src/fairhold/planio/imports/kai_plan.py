"""Queues of KAI-Scheduler → a plan under `fair_share`, divided as KAI divides."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.errors import Fault, count
from fairhold.planio.imports.draft import Draft, Entry
from fairhold.planio.imports.kai import BASE, DEFAULT_PRIORITY
from fairhold.units import UNLIMITED, format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.planio.imports.draft import Written
    from fairhold.planio.imports.kai import Queue

GROUP = "cluster"
RESOURCES: dict[str, Mapping[str, Written]] = {
    "cpu": {"step": Fraction(1, 1000)},
    "memory": {"unit": "GB", "base": "MB", "step": Fraction(1, 1000)},
    "gpu": {},
}
"""Base and step are those of KAI: whole millicores, megabytes for its bytes, whole devices of surplus."""
_IN_ONE = 1000
"""Base units in one CPU, one GB and one GPU."""


def kai_draft(queues: Mapping[str, Queue], paths: Mapping[str, str]) -> Draft:
    """The plan of queues.

    paths : of every queue, parents first
    """
    draft = Draft(
        [
            f"Made by `fairhold import kai` of {count(len(queues), 'queue')}.",
            "`division: kai` gives KAI's own numbers; without it nothing is lost to rounding.",
        ]
    )
    top = [queue for queue in queues.values() if not queue.parent]
    have = {resource: _deserved_in_all(top, resource) for resource in BASE}
    draft.resources = dict(RESOURCES)
    draft.groups = {GROUP: {resource: Fraction(units, _IN_ONE) for resource, units in have.items()}}
    draft.consumers = list(paths.values())
    stated = {path: _settings(queues[name]) for name, path in paths.items()}
    said = {path: settings for path, settings in stated.items() if settings}
    draft.entries = [Entry(GROUP, {"division": "kai"}, said)]
    what = (
        "KAI's queues do not say what the cluster has; the sum of the quotas of the top queues stands there, at least 1"
    )
    mend = "write what there is, or `hosts:` in the place of `capacity:`"
    draft.assumed = [Fault("capacity-assumed", what, mend, ("resource_groups", GROUP, "capacity"))]
    return draft


def _deserved_in_all(queues: list[Queue], resource: str) -> int:
    return max(_IN_ONE, sum(units for each in queues if (units := each.numbers[resource].deserved) < UNLIMITED))


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
