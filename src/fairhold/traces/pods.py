"""Lists of Kubernetes pods, as `kubectl get pods -o json` prints them; pod groups of KAI-Scheduler are gangs."""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from fairhold.errors import InputError
from fairhold.model.vector import decimal_text
from fairhold.planio.document import parse_document
from fairhold.planio.kaifiles import documents
from fairhold.planio.kaiwork import FIXED_CLASSES
from fairhold.traces.findings import FIELDS, NUMBER, Findings, refuse
from fairhold.traces.tables import Table
from fairhold.units import SECOND, parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.errors import Fault
    from fairhold.planio.values import Value

Node = dict[str, "Value"]
COLUMNS = (
    *("name", "namespace", "queue", "user", "created", "ran", "tasks", "together", "priority", "preemptible"),
    *("cpu", "memory", "gpu", "phase"),
)
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,2})?(m|u|n|k|[KMGTPE]i?)?")
_SCALE = {"": Fraction(1), "m": Fraction(1, 10**3), "u": Fraction(1, 10**6), "n": Fraction(1, 10**9)}
_SCALE |= {unit: Fraction(1000) ** power for power, unit in enumerate("kMGTPE", 1)}
_SCALE |= {unit + "i": Fraction(1024) ** power for power, unit in enumerate("KMGTPE", 1)}
_RESOURCES = {"cpu": ("cpu", 1, 1000), "memory": ("memory", 1024**3, 1024), "nvidia.com/gpu": ("gpu", 1, 1)}
"""What Kubernetes calls a resource → what it is called here, its units in one of ours, finest part of ours."""
_GROUP, _FRACTION = "pod-group-name", "gpu-fraction"
_BORDER = 100
"""Priority from which on KAI-Scheduler takes nothing back that does not say so itself."""


def pods_table(text: str, name: str, label: str) -> Table:
    """Read pods; those of one pod group that need the same are the tasks of one job. Raises InputError.

    label : name of the label that tells the queue of a pod
    """
    findings = Findings(name, "item")
    pods: list[tuple[int, dict[str, str]]] = []
    least: dict[str, str] = {}
    for at, item in enumerate(_items(text, name), 1):
        if not isinstance(item, dict) or item.get("kind") not in ("Pod", "PodGroup"):
            findings.passed_over("neither a pod nor a pod group", 1)
            continue
        if item["kind"] == "PodGroup":
            least[_key(item)] = _text(_inside(item, "spec").get("minMember"))
            continue
        findings.rows += 1
        try:
            pods.append((at, _pod(item, label)))
        except _OddError as error:
            findings.add(error.code, error.what, at, error.value)
    if not findings.rows:
        raise refuse("empty", name, "there are no pods in the file", "name a list of pods, or another `kind:`")
    rows = _jobs(pods, least)
    return Table({key: [row[key] for _, row in rows] for key in COLUMNS}, [at for at, _ in rows], findings)


class _OddError(Exception):
    """What cannot be read of one pod."""

    def __init__(self, code: str, what: str, value: str = "") -> None:
        super().__init__(what)
        self.code, self.what, self.value = code, what, value


def _items(text: str, name: str) -> Iterator[Value]:
    faults: list[Fault] = []
    for part in [text] if text.lstrip()[:1] in "{[" else documents(text):
        try:
            value = parse_document(part, name).value
        except InputError as error:
            faults += error.faults
            continue
        items = value.get("items") if isinstance(value, dict) else value
        if isinstance(items, list):
            yield from items
        else:
            yield value
    if faults:
        raise InputError(faults)


def _pod(item: Node, label: str) -> dict[str, str]:
    """One pod as a row; raises _OddError."""
    metadata, spec = _inside(item, "metadata"), _inside(item, "spec")
    labels, notes = _inside(metadata, "labels"), _inside(metadata, "annotations")
    name = _text(metadata.get("name"))
    if not name:
        raise _OddError(FIELDS, "a pod has no name")
    priority = _text(spec.get("priority"))
    says = _text(labels.get("kai.scheduler/preemptibility"))
    is_high = spec.get("priorityClassName") in FIXED_CLASSES or (priority.isdecimal() and int(priority) >= _BORDER)
    space = _text(metadata.get("namespace"))
    return {
        "name": f"{space}/{name}" if space else name,
        "namespace": space,
        "queue": _text(labels.get(label)),
        "user": _text(labels.get("user")),
        "created": _text(metadata.get("creationTimestamp")),
        "ran": _ran(_inside(item, "status")),
        "phase": _text(_inside(item, "status").get("phase")),
        "priority": priority,
        "preemptible": "false" if says == "non-preemptible" or (not says and is_high) else "true",
        "group": f"{space}/{_text(notes.get(_GROUP) or labels.get(_GROUP))}",
        **_needs(spec, _text(notes.get(_FRACTION))),
    }


def _needs(spec: Node, part: str) -> dict[str, str]:
    """What a pod requests: the sum of its containers, or the most of one that runs before them."""
    sums = {short: Fraction(0) for short, _, _ in _RESOURCES.values()}
    for kind in ("containers", "initContainers"):
        for container in _nodes(spec.get(kind)):
            stated = _inside(container, "resources")
            amounts = _inside(stated, "limits") | _inside(stated, "requests")
            for long, (short, scale, _) in _RESOURCES.items():
                amount = _amount(_text(amounts.get(long, 0)), long) / scale
                sums[short] = sums[short] + amount if kind == "containers" else max(sums[short], amount)
    if part:
        sums["gpu"] = max(sums["gpu"], _amount(part, _FRACTION))
    finest = {short: most for short, _, most in _RESOURCES.values()} | {"gpu": 1000}
    return {short: decimal_text(Fraction(ceil(each * finest[short]), finest[short])) for short, each in sums.items()}


def _amount(text: str, what: str) -> Fraction:
    match = _QUANTITY.fullmatch(text)
    if not match:
        raise _OddError(NUMBER, f"`{what}` is not a quantity", text)
    return Fraction(match[1] + (match[2] or "")) * _SCALE[match[3] or ""]


def _ran(status: Node) -> str:
    """Seconds from the begin to the end of its containers; `endless` for what has not ended."""
    if status.get("phase") not in ("Succeeded", "Failed"):
        return "endless"
    ended = [_inside(_inside(each, "state"), "terminated") for each in _nodes(status.get("containerStatuses"))]
    begins = [parse_instant(_text(each.get("startedAt"))) for each in ended]
    ends = [parse_instant(_text(each.get("finishedAt"))) for each in ended]
    known = [each for each in begins if each is not None], [each for each in ends if each is not None]
    return f"{(max(known[1]) - min(known[0])) / SECOND:.6f}" if known[0] and known[1] else ""


def _jobs(pods: list[tuple[int, dict[str, str]]], least: dict[str, str]) -> list[tuple[int, dict[str, str]]]:
    """Pods of one group, queue and size as one job, at the place of the first; the others as jobs of one task."""
    found: dict[tuple[str, ...], tuple[int, dict[str, str]]] = {}
    for at, pod in pods:
        has_group = not pod["group"].endswith("/")
        key = (*(pod[each] for each in ("group", "queue", "cpu", "memory", "gpu")), "" if has_group else pod["name"])
        if key in found and has_group:
            first = found[key][1]
            first["tasks"] = str(int(first["tasks"]) + 1)
            first["ran"] = max(first["ran"], pod["ran"], key=_length)
        else:
            found[*key, *(() if has_group else (str(at),))] = at, pod | {"tasks": "1"}
    for _, job in found.values():
        together = least.get(job["group"], job["tasks"])
        count = int(job["tasks"])
        job["together"] = (
            "0" if count == 1 else str(min(int(together), count)) if together.isdecimal() else job["tasks"]
        )
    return list(found.values())


def _length(text: str) -> Fraction:
    return Fraction(10**12) if text == "endless" else Fraction(text or 0)


def _key(item: Node) -> str:
    metadata = _inside(item, "metadata")
    return f"{_text(metadata.get('namespace'))}/{_text(metadata.get('name'))}"


def _inside(node: Node, key: str) -> Node:
    value = node.get(key)
    return value if isinstance(value, dict) else {}


def _nodes(value: Value | Iterable[Value]) -> list[Node]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _text(value: Value) -> str:
    if isinstance(value, bool) or value is None:
        return ""
    return getattr(value, "text", None) or str(value) if not isinstance(value, (dict, list)) else ""
