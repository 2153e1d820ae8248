"""One queue of KAI-Scheduler as it stands in a file, read with KAI's own defaults.

A number that is left out is 0: a limit of nothing, a weight of no surplus.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING

from fairhold.model.vector import decimal_text
from fairhold.planio.kaifound import mapping
from fairhold.planio.report import kind, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.errors import Place
    from fairhold.planio.document import Document
    from fairhold.planio.kaifound import Found
    from fairhold.planio.values import Value

RESOURCES = ("gpu", "cpu", "memory")
UNLIMITED = -1
READ = {
    "": ("apiVersion", "kind", "metadata", "spec", "status"),
    "spec": ("displayName", "parentQueue", "priority", "preemptMinRuntime", "reclaimMinRuntime", "resources"),
    "resource": ("quota", "overQuotaWeight", "limit"),
}
"""Keys that KAI reads, by part of a queue."""
_DURATION = re.compile(r"0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+")


@dataclass
class Queue:
    """One queue as it stands in a file.

    numbers : resource → quota, weight, limit, 0 where one is left out
    """

    name: str
    parent: str
    document: Document
    place: Place
    numbers: dict[str, tuple[float, float, float]] = field(default_factory=dict)


def read_queue(found: Found, document: Document, place: Place, value: dict[str, Value]) -> Queue | None:
    """A queue, None where it has no name."""
    _keys(found, document, place, value, READ[""])
    metadata = found.mapping(document, place, value, "metadata")
    spec = found.mapping(document, place, value, "spec")
    name, parent = metadata.get("name"), spec.get("parentQueue", "")
    if not isinstance(name, str) or not name:
        found.tell(document, place, "kai-no-name", "the queue has no name", "add `metadata: {name: …}`")
        return None
    _keys(found, document, (*place, "spec"), spec, READ["spec"])
    _values(found, document, (*place, "spec"), spec)
    queue = Queue(name, parent if isinstance(parent, str) else "", document, place)
    if not isinstance(spec.get("resources") or {}, dict):
        found.mapping(document, (*place, "spec"), spec, "resources")
    elif not spec.get("resources"):
        what = f"`{shown(name)}` states no resources, and KAI refuses it"
        mend = "add `resources:` with gpu, cpu and memory"
        found.tell(document, (*place, "spec"), "kai-no-resources", what, mend)
    else:
        _resources(found, document, (*place, "spec", "resources"), queue, mapping(spec["resources"]))
    return queue


def _values(found: Found, document: Document, place: Place, spec: dict[str, Value]) -> None:
    """What a queue says beside its resources, each of its kind."""
    for key in ("displayName", "parentQueue"):
        if not isinstance(spec.get(key) or "", str):
            what = f"expected text, found {kind(spec[key])}"
            found.tell(document, (*place, key), "kai-no-text", what, "write it in quotes")
    if type(spec.get("priority") or 0) is not int:
        what = f"expected a whole number, found {kind(spec['priority'])}"
        found.tell(document, (*place, "priority"), "kai-no-number", what, "write a number; 100 if it is left out")
    for key in ("preemptMinRuntime", "reclaimMinRuntime"):
        stated = spec.get(key)
        if stated is not None and not (isinstance(stated, str) and _DURATION.fullmatch(stated)):
            what = f"expected a duration, found {kind(stated)}"
            found.tell(document, (*place, key), "kai-no-duration", what, "write it as `10m` or `1h30m`")


def _resources(found: Found, document: Document, place: Place, queue: Queue, stated: dict[str, Value]) -> None:
    _keys(found, document, place, stated, RESOURCES)
    for resource in RESOURCES:
        if resource not in stated:
            what = f"`{resource}` is left out, so its limit is 0: no pod that asks for {resource} runs here"
            mend = f"add `{resource}: {{quota: 0, overQuotaWeight: 1, limit: -1}}`"
            found.tell(document, place, "kai-resource-missing", what, mend)
            queue.numbers[resource] = 0.0, 0.0, 0.0
            continue
        here = (*place, resource)
        said = found.mapping(document, place, stated, resource)
        if stated[resource] is not None and not isinstance(stated[resource], dict):
            continue
        _keys(found, document, here, said, READ["resource"])
        quota, weight, limit = (_number(found, document, here, said, key) for key in READ["resource"])
        queue.numbers[resource] = quota, weight, limit
        if "limit" not in said:
            what = f"`limit` is left out, which means 0: nothing of {resource}, even with a quota of {amount_of(quota)}"
            found.tell(document, here, "kai-limit-missing", what, "write `limit: -1` for no limit")
        elif limit != UNLIMITED and (quota > limit or quota == UNLIMITED):
            what = f"the quota of {amount_of(quota)} is above the limit of {amount_of(limit)}"
            found.tell(document, (*here, "limit"), "kai-quota-above-limit", what, "raise the limit, or lower the quota")


def _number(found: Found, document: Document, place: Place, said: dict[str, Value], key: str) -> float:
    value = said.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        what = f"expected a number, found {kind(value)}"
        found.tell(document, (*place, key), "kai-no-number", what, "write a number; -1 is unlimited")
        return 0.0
    if value < 0 and (value != UNLIMITED or key == "overQuotaWeight"):
        what = f"{shown(value)} is below 0"
        mend = "write 0 or more" if key == "overQuotaWeight" else "write 0 or more, or -1 for unlimited"
        found.tell(document, (*place, key), "kai-negative", what, mend)
    return float(value)


def _keys(found: Found, document: Document, place: Place, value: dict[str, Value], known: Iterable[str]) -> None:
    known = tuple(known)
    for key in value:
        if key not in known:
            mend = f"KAI reads {', '.join(f'`{each}`' for each in known)}"
            found.tell(document, (*place, key), "kai-key-not-read", f"KAI does not read `{shown(key)}`", mend)


def amount_of(number: float) -> str:
    """An amount as a decimal."""
    if number == UNLIMITED or not isfinite(number):
        return "all" if number == UNLIMITED else str(number)
    return decimal_text(Fraction(str(number)))
