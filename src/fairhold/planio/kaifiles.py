"""Queue files of KAI-Scheduler, read with KAI's own defaults: what they say that their author may not mean.

In them a number that is left out is 0: a limit of nothing, a weight of no surplus. Nothing is imported here; every
finding has its place and what to write.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError
from fairhold.planio.document import parse_document
from fairhold.planio.kaiplaces import places_of
from fairhold.planio.report import kind, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.errors import Place
    from fairhold.planio.document import Document
    from fairhold.planio.values import Value

RESOURCES = ("gpu", "cpu", "memory")
UNLIMITED = -1
READ = {
    "": ("apiVersion", "kind", "metadata", "spec", "status"),
    "spec": ("displayName", "parentQueue", "priority", "preemptMinRuntime", "reclaimMinRuntime", "resources"),
    "resource": ("quota", "overQuotaWeight", "limit"),
}
"""Keys that KAI reads, by part of a queue."""
FIXED_CLASSES = ("build", "inference")
"""Priority classes of 100 and above: pods of them are not preemptible unless they say so."""
BORDER = 100
FINDINGS = {
    "kai-no-object": "something stands where an object of KAI should",
    "kai-no-kind": "an object has a kind that is misspelt",
    "kai-no-mapping": "something stands where KAI wants a mapping",
    "kai-no-text": "something stands where KAI wants text",
    "kai-no-duration": "something stands where KAI wants a duration",
    "kai-no-name": "a queue of KAI has no name",
    "kai-queue-twice": "two queues of KAI have one name",
    "kai-no-resources": "a queue of KAI states no resources",
    "kai-resource-missing": "a queue of KAI leaves a resource out, so that its limit is 0",
    "kai-limit-missing": "a limit is left out, which KAI reads as 0",
    "kai-quota-above-limit": "a quota of KAI is above the limit beside it",
    "kai-no-number": "something stands where KAI wants a number",
    "kai-negative": "a number for KAI is below 0 and not -1",
    "kai-key-not-read": "KAI does not read a key",
    "kai-no-parent": "the parent of a queue of KAI is not there",
    "kai-parent-loop": "queues of KAI are above themselves",
    "kai-unlimited-twice": "two siblings in KAI both have all of a resource as their quota",
    "kai-children-above": "quotas of children in KAI are above their parent's",
    "kai-no-weight": "a weight is 0 or left out, so that KAI gives no surplus",
    "kai-no-queue": "work for KAI names a queue that is not there",
    "kai-work-in-parent": "work for KAI names a queue with children, where it never starts",
    "kai-fixed-without-quota": "work for KAI is not preemptible, and its queue has no quota",
}
"""Code → what it says; `docs/reference/lint.md` explains each."""
KINDS = ("Queue", "SchedulingShard", "PodGroup", "Pod")
"""Kinds of objects that are looked at."""
_DURATION = re.compile(r"0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+")
MULTIPLIER, MULTIPLIER_READ = "reclaimerUtilizationMultiplier", "relcaimerSaturationMultiplier"


@dataclass
class _Queue:
    """One queue as it stands in a file.

    numbers : resource → quota, weight, limit, 0 where one is left out
    """

    name: str
    parent: str
    document: Document
    place: Place
    numbers: dict[str, tuple[float, float, float]] = field(default_factory=dict)


@dataclass
class _Work:
    """A pod group or pod: its queue, and whether it says or means that it is never taken back.

    asks : resources that its containers ask for; all where it does not say
    """

    queue: str
    is_fixed: bool
    asks: tuple[str, ...]
    document: Document
    place: Place


class KaiFiles:
    """Everything that files say together, and what was found in them."""

    def __init__(self) -> None:
        self.queues: dict[str, _Queue] = {}
        self.work: list[_Work] = []
        self._found: list[tuple[Document, Fault]] = []
        self._objects: Counter[str] = Counter()

    @property
    def objects(self) -> int:
        """Objects that were looked at."""
        return self._objects.total()

    def read(self, text: str, name: str) -> None:
        """Read all documents of a text; raises InputError where it is no YAML or JSON."""
        faults: list[Fault] = []
        for part in documents(text):
            try:
                document = parse_document(part, name)
            except InputError as error:
                faults += error.faults
                continue
            value = document.value
            items = value.get("items") if isinstance(value, dict) and value.get("kind") == "List" else None
            if isinstance(items, list):
                for at, item in enumerate(items):
                    self._object(document, ("items", at), item)
            else:
                self._object(document, (), value)
        if faults:
            raise InputError(faults)

    def findings(self) -> tuple[Fault, ...]:
        """All findings, by file and line."""
        for document, fault in self._across():
            self._found.append((document, fault))
        by_document: dict[int, tuple[Document, list[Fault]]] = {}
        for document, fault in self._found:
            by_document.setdefault(id(document), (document, []))[1].append(fault)
        located = [fault for document, faults in by_document.values() for fault in document.locate(faults)]
        return tuple(sorted(located, key=lambda fault: (fault.file, fault.line, fault.column, fault.code)))

    # --- one object

    def _tell(self, document: Document, place: Place, code: str, what: str, mend: str) -> None:
        self._found.append((document, Fault(code, what, mend, place)))

    def _object(self, document: Document, place: Place, value: Value) -> None:
        if value is None:
            return
        if not isinstance(value, dict):
            self._tell(document, place, "kai-no-object", f"expected an object, found {kind(value)}", "leave it out")
            return
        name = value.get("kind")
        if not isinstance(name, str) or name == "List":
            what = "a list of objects has no `items`" if name == "List" else "this is no object: it has no `kind`"
            self._tell(document, place, "kai-no-object", what, "give files as `kubectl get -o yaml` prints them")
            return
        self._objects[name] += 1
        if name == "Queue":
            self._queue(document, place, value)
        elif name == "SchedulingShard":
            self._shard(document, place, value)
        elif name in {"PodGroup", "Pod"}:
            self._pods(document, place, value)
        elif near := get_close_matches(name, KINDS, n=1, cutoff=0.75):
            what = f"there is no kind `{shown(name)}`"
            self._tell(document, (*place, "kind"), "kai-no-kind", what, f"did you mean `{near[0]}`?")

    def _queue(self, document: Document, place: Place, value: dict[str, Value]) -> None:
        self._keys(document, place, value, READ[""])
        metadata = self._mapping(document, place, value, "metadata")
        spec = self._mapping(document, place, value, "spec")
        name, parent = metadata.get("name"), spec.get("parentQueue", "")
        if not isinstance(name, str) or not name:
            self._tell(document, place, "kai-no-name", "the queue has no name", "add `metadata: {name: …}`")
            return
        if name in self.queues:
            what = f"there are two queues `{shown(name)}`, and the later one holds"
            self._tell(document, (*place, "metadata", "name"), "kai-queue-twice", what, "leave one out")
        self._keys(document, (*place, "spec"), spec, READ["spec"])
        self._values(document, (*place, "spec"), spec)
        queue = self.queues[name] = _Queue(name, parent if isinstance(parent, str) else "", document, place)
        if not isinstance(spec.get("resources") or {}, dict):
            self._mapping(document, (*place, "spec"), spec, "resources")
            return
        if not spec.get("resources"):
            what = f"`{shown(name)}` states no resources, and KAI refuses it"
            self._tell(
                document, (*place, "spec"), "kai-no-resources", what, "add `resources:` with gpu, cpu and memory"
            )
            return
        self._resources(document, (*place, "spec", "resources"), queue, _mapping(spec["resources"]))

    def _values(self, document: Document, place: Place, spec: dict[str, Value]) -> None:
        """What a queue says beside its resources, each of its kind."""
        for key in ("displayName", "parentQueue"):
            if not isinstance(spec.get(key) or "", str):
                what = f"expected text, found {kind(spec[key])}"
                self._tell(document, (*place, key), "kai-no-text", what, "write it in quotes")
        if type(spec.get("priority") or 0) is not int:
            what = f"expected a whole number, found {kind(spec['priority'])}"
            self._tell(document, (*place, "priority"), "kai-no-number", what, "write a number; 100 if it is left out")
        for key in ("preemptMinRuntime", "reclaimMinRuntime"):
            stated = spec.get(key)
            if stated is not None and not (isinstance(stated, str) and _DURATION.fullmatch(stated)):
                what = f"expected a duration, found {kind(stated)}"
                self._tell(document, (*place, key), "kai-no-duration", what, "write it as `10m` or `1h30m`")

    def _mapping(self, document: Document, place: Place, value: dict[str, Value], key: str) -> dict[str, Value]:
        stated = value.get(key)
        if stated is not None and not isinstance(stated, dict):
            what = f"expected a mapping, found {kind(stated)}"
            self._tell(document, (*place, key), "kai-no-mapping", what, f"write `{key}: {{…}}`")
        return _mapping(stated)

    def _resources(self, document: Document, place: Place, queue: _Queue, stated: dict[str, Value]) -> None:
        self._keys(document, place, stated, RESOURCES)
        for resource in RESOURCES:
            if resource not in stated:
                what = f"`{resource}` is left out, so its limit is 0: no pod that asks for {resource} runs here"
                mend = f"add `{resource}: {{quota: 0, overQuotaWeight: 1, limit: -1}}`"
                self._tell(document, place, "kai-resource-missing", what, mend)
                queue.numbers[resource] = 0.0, 0.0, 0.0
                continue
            here = (*place, resource)
            said = self._mapping(document, place, stated, resource)
            if stated[resource] is not None and not isinstance(stated[resource], dict):
                continue
            self._keys(document, here, said, READ["resource"])
            quota, weight, limit = (self._number(document, here, said, key) for key in READ["resource"])
            queue.numbers[resource] = quota, weight, limit
            if "limit" not in said:
                what = f"`limit` is left out, which means 0: nothing of {resource}, even with a quota of {quota:g}"
                self._tell(document, here, "kai-limit-missing", what, "write `limit: -1` for no limit")
            elif limit != UNLIMITED and (quota > limit or quota == UNLIMITED):
                what = f"the quota of {_amount(quota)} is above the limit of {limit:g}"
                self._tell(
                    document, (*here, "limit"), "kai-quota-above-limit", what, "raise the limit, or lower the quota"
                )

    def _number(self, document: Document, place: Place, said: dict[str, Value], key: str) -> float:
        value = said.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            what = f"expected a number, found {kind(value)}"
            self._tell(document, (*place, key), "kai-no-number", what, "write a number; -1 is unlimited")
            return 0.0
        if value < 0 and (value != UNLIMITED or key == "overQuotaWeight"):
            what = f"{shown(value)} is below 0"
            mend = "write 0 or more" if key == "overQuotaWeight" else "write 0 or more, or -1 for unlimited"
            self._tell(document, (*place, key), "kai-negative", what, mend)
        return float(value)

    def _shard(self, document: Document, place: Place, value: dict[str, Value]) -> None:
        """The multiplier of reclaim is read by another name than the documentation has."""
        for at in places_of(value, MULTIPLIER):
            what = f"KAI does not read `{MULTIPLIER}`: its code looks for `{MULTIPLIER_READ}`"
            self._tell(document, (*place, *at), "kai-key-not-read", what, f"write `{MULTIPLIER_READ}`, too")

    def _pods(self, document: Document, place: Place, value: dict[str, Value]) -> None:
        metadata, spec = _mapping(value.get("metadata")), _mapping(value.get("spec"))
        queue = spec.get("queue", _mapping(metadata.get("labels")).get("kai.scheduler/queue"))
        said, priority = spec.get("preemptibility"), spec.get("priorityClassName")
        number = spec.get("priority")
        is_high = priority in FIXED_CLASSES or (type(number) is int and number >= BORDER)
        if isinstance(queue, str):
            is_fixed = said == "non-preemptible" if said else is_high
            self.work.append(_Work(queue, is_fixed, _asked(metadata, spec), document, place))

    def _keys(self, document: Document, place: Place, value: dict[str, Value], known: Iterable[str]) -> None:
        known = tuple(known)
        for key in value:
            if key not in known:
                mend = f"KAI reads {', '.join(f'`{each}`' for each in known)}"
                self._tell(document, (*place, key), "kai-key-not-read", f"KAI does not read `{shown(key)}`", mend)

    # --- across objects

    def _across(self) -> Iterator[tuple[Document, Fault]]:
        children: dict[str, list[_Queue]] = {}
        for queue in self.queues.values():
            if queue.parent and queue.parent not in self.queues:
                what = f"there is no queue `{shown(queue.parent)}`: KAI drops `{shown(queue.name)}` and all below it"
                place = (*queue.place, "spec", "parentQueue")
                yield queue.document, Fault("kai-no-parent", what, "add the parent, or name another", place)
            children.setdefault(queue.parent, []).append(queue)
            if queue.name in self._above(queue)[1:]:
                what = f"`{shown(queue.name)}` is above itself, so KAI never reaches it"
                place = (*queue.place, "spec", "parentQueue")
                yield queue.document, Fault("kai-parent-loop", what, "name another parent, or none", place)
        for parent, mine in children.items():
            for resource in RESOURCES:
                yield from self._siblings(parent, mine, resource)
        for queue in self.queues.values():
            yield from self._weights(queue, is_parent=queue.name in children)
        for work in self.work:
            yield from self._worked(work, children)

    def _above(self, queue: _Queue) -> list[str]:
        """A queue and those above it; where that is a loop, up to the first that comes again."""
        found = [queue.name]
        while queue.parent in self.queues and queue.parent not in found:
            queue = self.queues[queue.parent]
            found.append(queue.name)
        return [*found, queue.parent] if queue.parent in found else found

    def _siblings(self, parent: str, mine: list[_Queue], resource: str) -> Iterator[tuple[Document, Fault]]:
        quotas = [queue.numbers.get(resource, (0.0, 0.0, 0.0))[0] for queue in mine]
        unlimited = [queue for queue, quota in zip(mine, quotas, strict=True) if quota == UNLIMITED]
        is_meant = resource != "gpu" and len(unlimited) == len(mine)  # nobody counts it: KAI's own examples do so
        for queue in () if is_meant else unlimited[1:]:
            what = f"`{shown(unlimited[0].name)}` and `{shown(queue.name)}` both have all of {resource} as their quota"
            place = (*queue.place, "spec", "resources", resource, "quota")
            yield queue.document, Fault("kai-unlimited-twice", what, "give one of them a number", place)
        if parent not in self.queues:
            return
        above = self.queues[parent]
        most = above.numbers.get(resource, (0.0, 0.0, 0.0))[0]
        total = sum(quota for quota in quotas if quota > 0)
        if most != UNLIMITED and (total > most or unlimited):
            said = "have all" if unlimited else f"have {total:g}"
            what = f"the quotas of its children {said} of {resource} together, and `{shown(parent)}` has {most:g}"
            place = (*above.place, "spec", "resources", resource)
            yield above.document, Fault("kai-children-above", what, "raise its quota, or lower theirs", place)

    def _without(self, name: str, resources: Iterable[str]) -> list[str]:
        """Resources of which nothing is a queue's for sure."""
        numbers = self.queues[name].numbers
        return [each for each in resources if not numbers.get(each, (0.0, 0.0, 0.0))[0]]

    def _weights(self, queue: _Queue, *, is_parent: bool) -> Iterator[tuple[Document, Fault]]:
        for resource, (_, weight, limit) in queue.numbers.items():
            if weight or limit == 0:
                continue
            whom = f"neither `{shown(queue.name)}` nor any queue below it" if is_parent else f"`{shown(queue.name)}`"
            verb = "gets" if is_parent else "gets no"
            any_ = "any " if is_parent else ""
            what = f"the weight of {resource} is 0 or left out: {whom} {verb} {any_}surplus of it"
            place = (*queue.place, "spec", "resources", resource)
            yield queue.document, Fault("kai-no-weight", what, "write `overQuotaWeight: 1` if that is not meant", place)

    def _worked(self, work: _Work, children: dict[str, list[_Queue]]) -> Iterator[tuple[Document, Fault]]:
        queue = self.queues.get(work.queue)
        if queue is None:
            what = f"there is no queue `{shown(work.queue)}`"
            yield work.document, Fault("kai-no-queue", what, "add the queue, or name another", (*work.place, "spec"))
        elif work.queue in children:
            what = f"`{shown(work.queue)}` has queues below it: KAI counts this work there and never starts it"
            yield (
                work.document,
                Fault("kai-work-in-parent", what, "name a queue without children", (*work.place, "spec")),
            )
        elif work.is_fixed and (none := [name for name in self._above(queue) if self._without(name, work.asks)]):
            which = ", ".join(self._without(none[0], work.asks))
            what = f"this work is not preemptible, and the quota of {which} of `{shown(none[0])}` is 0"
            mend = "give the queue a quota, or write `preemptibility: preemptible`"
            yield work.document, Fault("kai-fixed-without-quota", what, mend, (*work.place, "spec"))


def documents(text: str) -> Iterator[str]:
    """The documents of a stream, each with as many empty lines before it as stand above it."""
    lines = text.splitlines(keepends=True)
    begin = 0
    for at, line in enumerate([*lines, "---"]):
        if line.rstrip() == "---" or line.startswith("--- "):
            part = "".join(lines[begin:at])
            if any(each.strip() and not each.lstrip().startswith("#") for each in lines[begin:at]):
                yield "\n" * begin + part
            begin = at + 1


def _mapping(value: Value) -> dict[str, Value]:
    return value if isinstance(value, dict) else {}


def _asked(metadata: dict[str, Value], spec: dict[str, Value]) -> tuple[str, ...]:
    """Resources that the containers of a pod ask for; all where none says so."""
    containers = spec.get("containers")
    notes = _mapping(metadata.get("annotations"))
    names = {"gpu"} if "gpu-fraction" in notes or "gpu-memory" in notes else set()
    for each in containers if isinstance(containers, list) else ():
        stated = _mapping(_mapping(each).get("resources"))
        for key in ("requests", "limits"):
            names |= {name.rpartition("/")[2] for name in _mapping(stated.get(key))}
    return tuple(each for each in RESOURCES if each in names) or RESOURCES


def _amount(number: float) -> str:
    return "all" if number == UNLIMITED else f"{number:g}"


def lint_kai(texts: Iterable[tuple[str, str]]) -> tuple[tuple[Fault, ...], int]:
    """Findings of (text, name of the file), and how many objects were looked at; raises InputError for bad syntax."""
    files = KaiFiles()
    for text, name in texts:
        files.read(text, name)
    return files.findings(), files.objects
