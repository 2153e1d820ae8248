"""Objects of Kubernetes as they stand in documents: lists are opened, kinds and versions are looked at."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from fairhold.planio.names import NAME_MEND, name_fault
from fairhold.planio.report import kind, listed, shown
from fairhold.units import parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairhold.errors import Place
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

LONGEST_NAME = 253
"""Of an object in Kubernetes."""
DEEPEST_SHOWN, MOST_SHOWN = 4, 10
LONGEST_SHOWN = 120
"""How much of a value a note shows."""
_OF_THE_SERVER = frozenset(
    (
        *("name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"),
        *("selfLink", "finalizers", "ownerReferences", "deletionTimestamp", "deletionGracePeriodSeconds"),
    )
)
"""Of `metadata`: what the server writes, and what is read."""
NODE = ("Node", "v1")
"""Kind and version of a node, which is read beside the objects of every system."""
_OF_AN_OBJECT = ("apiVersion", "kind", "metadata", "spec", "status")
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which `kubectl apply` keeps the object that it was given."""


class System(NamedTuple):
    """What a system calls its objects.

    name     : as `fairhold import` takes it
    title    : as people call it
    group    : of its `apiVersion`
    versions : kind that is read → versions of it that are known
    others   : kinds of its group that a plan has no place for
    """

    name: str
    title: str
    group: str
    versions: Mapping[str, tuple[str, ...]]
    others: tuple[str, ...]


SYSTEMS = (
    System("kai", "KAI-Scheduler", "scheduling.run.ai", {"Queue": ("v2",)}, ("PodGroup", "BindRequest")),
    System(
        "kueue",
        "Kueue",
        "kueue.x-k8s.io",
        dict.fromkeys(("ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor"), ("v1beta1", "v1beta2")),
        (
            *("AdmissionCheck", "MultiKueueCluster", "MultiKueueConfig", "ProvisioningRequestConfig", "Topology"),
            *("Workload", "WorkloadPriorityClass"),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class KubernetesObject:
    """One object that is read.

    place     : where it stands in the document
    namespace : of a LocalQueue; the others have none
    created   : instant, empty where it is not said
    labels    : as they stand
    status    : of a node, as it stands
    """

    report: Report
    place: Place
    kind: str
    name: str
    version: str
    namespace: str
    created: str
    spec: dict[str, Value]
    labels: Value = None
    status: Value = None

    def whole_status(self) -> dict[str, Value]:
        """What stands under `status`; empty where that is no mapping."""
        return self.status if isinstance(self.status, dict) else {}

    def at(self, *steps: str | int) -> Place:
        """The place of something below `spec`."""
        return (*self.place, "spec", *steps)

    def text(self, key: str, what: str) -> str:
        """A text below `spec`; empty where it is left out or null."""
        value = self.spec.get(key)
        return "" if value is None else self.report.text(value, self.at(key), what=what)

    def leave(self, value: Value, why: str, mend: str, *steps: str | int) -> None:
        """Say that a field below `spec` is not carried over, why, and what to do instead."""
        self.note("not-carried", f"`{brief(value)}` is not carried over: {why}", mend, *steps)

    def note(self, code: str, what: str, mend: str, *steps: str | int) -> None:
        """Say something about a field below `spec`."""
        self.report.warn(code, f"{self.called()}: {what}", mend, self.at(*steps))

    def called(self) -> str:
        """Kind and name."""
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} `{shown(name)}`"


def brief(value: Value, depth: int = 0) -> str:
    """A value in one line; what is deep or long is cut."""
    text = _flow(value, depth)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _flow(value: Value, depth: int) -> str:
    if isinstance(value, (dict, list)) and value and depth >= DEEPEST_SHOWN:
        return "…"
    if isinstance(value, dict):
        some = islice(value.items(), MOST_SHOWN)
        return "{" + ", ".join(f"{shown(key)}: {brief(each, depth + 1)}" for key, each in some) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(brief(each, depth + 1) for each in islice(value, MOST_SHOWN)) + "]"
    return shown(value)


def read_objects(report: Report, system: System) -> Iterator[KubernetesObject]:
    """The objects of a document that the system has; the others are notes, or faults."""
    todo: list[tuple[Place, Value, str, str]] = [((), report.document.value, "", "")]
    while todo:
        place, value, of_kind, version = todo.pop()
        node = _node(report, value, place)
        if node is None:
            continue
        name, stated = node.get("kind", of_kind), node.get("apiVersion", version)
        if not isinstance(name, str) or not isinstance(stated, str) or not name:
            what = "this is not a Kubernetes object: it has no `kind` and `apiVersion`"
            report.fault("import-no-object", what, "give files as `kubectl get -o yaml` prints them", place)
        elif "items" in node:
            inner = name.removesuffix("List")
            items = report.sequence(node["items"], (*place, "items"), what="objects")
            rows = [((*place, "items", at), item, inner, stated) for at, item in enumerate(items)]
            todo += reversed(rows)
        elif found := _read(report, node, place, system, (name, stated)):
            yield found


def _node(report: Report, value: Value, place: Place) -> dict[str, Value] | None:
    if isinstance(value, dict):
        return value
    what = f"expected a Kubernetes object, found {kind(value)}"
    report.fault("import-no-object", what, "give files as `kubectl get -o yaml` prints them", place)
    return None


def _read(
    report: Report, node: dict[str, Value], place: Place, system: System, known_as: tuple[str, str]
) -> KubernetesObject | None:
    """One object, None where it is not one that is read."""
    of_kind, stated = known_as
    group, _, version = stated.rpartition("/")
    if (of_kind, stated) == NODE:
        return _settled(report, node, place, NODE)
    if group != system.group:
        _foreign(report, node, place, system, known_as)
        return None
    if of_kind in system.others:
        report.warn("not-carried", f"{_called(node, of_kind)} is not carried over", _instead(of_kind), (*place, "kind"))
        return None
    if of_kind not in system.versions:
        what = f"{system.title} has no kind `{shown(of_kind)}` that is read here"
        near = get_close_matches(of_kind, system.versions, n=1)
        mend = f"did you mean `{near[0]}`?" if near else f"leave it out; {listed(system.versions)} are read"
        report.fault("import-kind", what, mend, (*place, "kind"))
        return None
    if version not in system.versions[of_kind]:
        what = f"version `{shown(version)}` of {of_kind} is not known"
        mend = f"give it as {listed(f'{group}/{each}' for each in system.versions[of_kind])}"
        report.fault("import-kind", what, mend, (*place, "apiVersion"))
        return None
    return _settled(report, node, place, (of_kind, version))


_INSTEAD = {
    "SchedulingShard": "write its `kValue` as `k`, and its usage settings as `half_life` and `usage_window`",
    "PodGroup": "it is work; `fairhold submit` takes a job",
    "Workload": "it is work; `fairhold submit` takes a job",
    "WorkloadPriorityClass": "give jobs its value as their priority",
    "Topology": "give hosts labels, and let jobs ask for them",
}
"""Kind → what to do in the place of carrying it over."""


def _instead(of_kind: str) -> str:
    return _INSTEAD.get(of_kind, "leave it out, or write by hand what it says")


def _called(node: dict[str, Value], of_kind: str) -> str:
    metadata = node.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return f"{shown(of_kind)} `{shown(name)}`" if isinstance(name, str) else shown(of_kind)


def _foreign(report: Report, node: dict[str, Value], place: Place, system: System, known_as: tuple[str, str]) -> None:
    """An object of another group: of another system that has queues it is a fault, any other is told."""
    of_kind, stated = known_as
    group = stated.rpartition("/")[0]
    other = next((each for each in SYSTEMS if each.group == group), None)
    if other:
        what = f"{_called(node, of_kind)} is an object of {other.title}"
        mend = f"give it to `fairhold import {other.name}`"
        report.fault("import-other-system", what, mend, (*place, "apiVersion"))
    elif of_kind in system.versions:
        what = f"{_called(node, of_kind)} is no object of {system.title}: that has the group `{system.group}`"
        report.fault("import-other-system", what, "leave it out", (*place, "apiVersion"))
    else:
        what = f"{_called(node, of_kind)} is not carried over: it is no object of {system.title}'s queues"
        report.warn("not-carried", what, _instead(of_kind), (*place, "kind"))


def _settled(
    report: Report, node: dict[str, Value], place: Place, known_as: tuple[str, str]
) -> KubernetesObject | None:
    """An object with a name; `known_as` is its kind and version."""
    of_kind, version = known_as
    here = (*place, "metadata")
    report.missing(node, ("metadata",), place, f"a {of_kind}")
    metadata = report.mapping(node.get("metadata"), here)
    spec = report.mapping(node.get("spec"), (*place, "spec"))
    report.missing(metadata, ("name",), here, f"a {of_kind}")
    name = report.text(metadata.get("name", ""), (*here, "name"), what="a name")
    if not name:
        if metadata.get("name") == "":
            report.fault("name", "a name is empty", "write the name that Kubernetes has", (*here, "name"))
        return None
    wrong = name_fault(name) or ("the name is longer than 253 characters" if len(name) > LONGEST_NAME else "")
    if wrong:
        report.fault("name", wrong, NAME_MEND, (*here, "name"))
        return None
    namespace, created = metadata.get("namespace", ""), metadata.get("creationTimestamp")
    found = KubernetesObject(
        *(report, place, of_kind, name, version),
        namespace if isinstance(namespace, str) and of_kind == "LocalQueue" else "",
        created if isinstance(created, str) and parse_instant(created) is not None else "",
        spec,
        *(metadata.get("labels"), node.get("status")),
    )
    if known_as == NODE:
        return found
    _leave_metadata(found, metadata)
    for key in [key for key in node if key not in _OF_AN_OBJECT]:
        what = f"{found.called()}: `{brief(node[key])}` is not carried over: no such field is known"
        report.warn("not-carried", what, "leave it out", (*place, key))
    return found


def _leave_metadata(found: KubernetesObject, metadata: dict[str, Value]) -> None:
    """Tell labels and annotations; what the server writes is nobody's setting."""
    for key, value in metadata.items():
        here = (*found.place, "metadata", key)
        if key in {"labels", "annotations"} and isinstance(value, dict):
            for name, each in value.items():
                if name != _APPLIED:
                    why, mend = _WHY_LABEL.get(name, ("a consumer has no labels", "keep it elsewhere, or leave it out"))
                    what = f"{found.called()}: `{brief(each)}` is not carried over: {why}"
                    found.report.warn("not-carried", what, mend, (*here, name))
        elif key not in _OF_THE_SERVER and value:
            what = f"{found.called()}: `{brief(value)}` is not carried over: a consumer has no such field"
            found.report.warn("not-carried", what, "leave it out", here)


_WHY_LABEL = {
    "kai.scheduler/node-pool": (
        "the queue shares a node pool of its own",
        "import the queues of each node pool by themselves, and give each a resource group in one plan",
    ),
}
"""Label → why it has no place, and what to do instead."""
