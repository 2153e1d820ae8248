"""Queues of KAI-Scheduler, with KAI's own defaults: a number that is left out is 0, also a limit.

CPU is in millicores, memory in megabytes of 1,000,000 bytes, GPUs are devices or parts of one; -1 is no bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, NamedTuple

from fairhold.planio.imports.go_durations import parse_go_duration
from fairhold.planio.imports.trees import Member, arrange
from fairhold.planio.queues import FINEST_WEIGHT, MOST_OF_A_NUMBER
from fairhold.planio.report import kind, shown
from fairhold.planio.resources import exact_number
from fairhold.units import LARGEST, LONGEST, UNLIMITED, format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.planio.imports.objects import KubernetesObject
    from fairhold.planio.values import Value

BASE = {"cpu": 1, "memory": 1, "gpu": 1000}
"""Resource → base units of a plan in one unit of KAI: millicores, megabytes, thousandths of a device."""
DEFAULT_PRIORITY = 100
MOST_PRIORITY = 10**9
_NUMBERS = ("quota", "limit", "overQuotaWeight")
_RUNTIMES = {"preemptMinRuntime": "preempt_min_runtime", "reclaimMinRuntime": "reclaim_min_runtime"}
_SPEC = ("displayName", "parentQueue", "priority", "resources", *_RUNTIMES)


class Numbers(NamedTuple):
    """What a queue has of one resource, in base units of the plan."""

    deserved: int = 0
    limit: int = 0
    weight: Fraction = Fraction(0)


@dataclass
class Queue:
    """One queue.

    runtimes : key of a plan → microseconds
    """

    object: KubernetesObject
    parent: str
    priority: int = DEFAULT_PRIORITY
    numbers: dict[str, Numbers] = field(default_factory=dict)
    runtimes: dict[str, int] = field(default_factory=dict)


def read_queues(objects: Sequence[KubernetesObject]) -> tuple[dict[str, Queue], dict[str, str]]:
    """Queues by name, and their paths, parents first; faults go to the reports of the objects."""
    queues: dict[str, Queue] = {}
    for each in objects:
        queue = _read_queue(each)
        if each.name in queues:
            what = f"there are two queues `{shown(each.name)}`, and KAI keeps one"
            each.report.fault("import-twice", what, "leave one out", (*each.place, "metadata", "name"))
        queues.setdefault(each.name, queue)
    members: dict[str, Member] = {}
    for name, queue in queues.items():
        place, parent = queue.object.at("parentQueue"), queue.parent or None
        if parent is not None and parent not in queues:
            what = f"{queue.object.called()}: its parent `{shown(parent)}` is not in the files"
            mend = "give the file of the parent, too; KAI would drop this queue and all below it"
            queue.object.report.fault("import-no-parent", what, mend, place)
            parent = None
        members[name] = Member(name, parent, queue.object, place)
    return queues, arrange(members)


def _read_queue(found: KubernetesObject) -> Queue:
    report, spec = found.report, found.spec
    queue = Queue(found, found.text("parentQueue", "the name of a queue"))
    if spec.get("priority") is not None:
        queue.priority = report.whole(spec["priority"], found.at("priority"), most=MOST_PRIORITY)
    for key, name in _RUNTIMES.items():
        if spec.get(key) is not None:
            queue.runtimes[name] = _runtime(found, key, spec[key])
    title = found.text("displayName", "a name")
    if title and title != found.name:
        found.leave(title, "a consumer has one name", "write it in a comment", "displayName")
    for key in spec:
        if key not in _SPEC:
            found.leave(spec[key], "KAI's queues have no such field that is known", "leave it out", key)
    if not spec.get("resources"):
        what = f"{found.called()} states no resources, and KAI refuses it"
        report.fault("missing-key", what, "add `resources:` with cpu, memory and gpu", found.at())
    else:
        _read_resources(queue, report.mapping(spec["resources"], found.at("resources")))
    return queue


def _read_resources(queue: Queue, stated: dict[str, Value]) -> None:
    found = queue.object
    for resource in [each for each in stated if each not in BASE]:
        why, mend = "KAI counts cpu, memory and gpu alone", "leave it out"
        found.leave(stated[resource], why, mend, "resources", resource)
    for resource in BASE:
        here = found.at("resources", resource)
        said = found.report.mapping(stated.get(resource), here)
        for key in [each for each in said if each not in _NUMBERS]:
            why = "a plan has no such number of a queue"
            if key == "lendingLimit":
                why = "under `fair_share` all that a queue deserves and does not use is lent, and comes back"
            found.leave(said[key], why, "leave it out", "resources", resource, key)
        limit = _amount(found, resource, "limit", said)
        queue.numbers[resource] = Numbers(
            _amount(found, resource, "quota", said), limit, _weight(found, resource, said)
        )
        if said.get("limit") is None:
            what = f"no `limit` of {resource}, which KAI reads as 0: nothing of it, whatever the quota"
            mend = f"take `{resource}` out of its `limit` if no limit is meant"
            found.note("left-out", what, mend, "resources", resource)
        if said and said.get("overQuotaWeight") is None:
            what = f"no `overQuotaWeight` of {resource}, which KAI reads as 0: no surplus of it"
            mend = f"write 1 for `{resource}` in its `over_quota_weight` if that is not meant"
            found.note("left-out", what, mend, "resources", resource)


def _amount(found: KubernetesObject, resource: str, key: str, said: dict[str, Value]) -> int:
    """A quota or a limit in base units; what is left out is 0, and -1 no bound."""
    number, here = _number(found, resource, key, said), found.at("resources", resource, key)
    if number == -1:
        return UNLIMITED
    if number < 0:
        what, mend = f"{shown(said[key])} is below 0", "write 0 or more, or -1 for no bound"
        found.report.fault("negative", what, mend, here)
        return 0
    units = number * BASE[resource]
    if units > LARGEST:
        what = f"{shown(said[key])} is more than a plan can hold"
        found.report.fault("out-of-range", what, "write a smaller number, or -1 for no bound", here)
        return 0
    if units.denominator != 1:
        what = f"{shown(said[key])} is rounded down to {shown(float(Fraction(floor(units), BASE[resource])))}"
        found.note("rounded", what, "write a rounder number", "resources", resource, key)
    return floor(units)


def _weight(found: KubernetesObject, resource: str, said: dict[str, Value]) -> Fraction:
    key = "overQuotaWeight"
    number, here = _number(found, resource, key, said), found.at("resources", resource, key)
    if not 0 <= number <= MOST_OF_A_NUMBER:
        what = f"{shown(said[key])} is not between 0 and {MOST_OF_A_NUMBER}"
        found.report.fault("negative" if number < 0 else "out-of-range", what, "write a weight from 0 on", here)
        return Fraction(0)
    if number.denominator > FINEST_WEIGHT:
        found.note("rounded", f"{shown(said[key])} is cut after nine decimals", "", "resources", resource, key)
    return Fraction(floor(number * FINEST_WEIGHT), FINEST_WEIGHT)


def _number(found: KubernetesObject, resource: str, key: str, said: dict[str, Value]) -> Fraction:
    value = said.get(key)
    if value is None:
        return Fraction(0)
    number = None if isinstance(value, str) else exact_number(value)
    if number is None:
        mend = "write it without quotes" if isinstance(value, str) else "write a number"
        here = found.at("resources", resource, key)
        found.report.fault("not-a-number", f"expected a number, found {kind(value)}", mend, here)
    return number or Fraction(0)


def _runtime(found: KubernetesObject, key: str, value: Value) -> int:
    micros = parse_go_duration(value) if isinstance(value, str) else None
    if micros is None or micros > LONGEST:
        what = f"expected a duration of at most 366 days, found {kind(value)}"
        found.report.fault("duration", what, "write it as `10m` or `1h30m`", found.at(key))
        return 0
    if micros.denominator != 1:
        what = f"`{shown(value)}` is rounded down to {format_duration(floor(micros))}"
        found.note("rounded", what, "write a duration in microseconds", key)
    return floor(micros)
