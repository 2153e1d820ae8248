"""`kubernetes:` of a plan: whose a pod is, and how resources are called in the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.kubernetes import KubernetesSettings, PodRule
from fairhold.planio.names import find_leaf
from fairhold.planio.nodes import LABEL_NAME
from fairhold.planio.report import shown

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.model.tree import ConsumerTree
    from fairhold.model.vector import Resource
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

DURATIONS = ("start_within", "deleted_nodes_lost_after")
KUBERNETES_KEYS = ("resources", "pods", *DURATIONS)
RULE_KEYS = ("namespace", "service_account", "labels", "consumer", "consumer_label")
_PLACE = ("kubernetes",)


def read_names(report: Report, value: Value, resources: tuple[Resource, ...]) -> KubernetesSettings:
    """Read what resources are called, and for how long things are waited for; `with_rules` adds whose a pod is."""
    node = report.mapping(value, _PLACE, what="what the plan says of Kubernetes")
    report.keys(node, KUBERNETES_KEYS, _PLACE, {})
    known = {resource.name for resource in resources}
    names = []
    for name, stated in report.mapping(node.get("resources"), (*_PLACE, "resources"), what="names").items():
        place = (*_PLACE, "resources", name)
        word = report.text(stated, place, what="a resource of Kubernetes such as `nvidia.com/gpu`")
        if name not in known:
            what = f"there is no resource `{shown(name)}`"
            mend = report.suggest(name, known, "name one of the plan's `resources`")
            report.fault("unknown-resource", what, mend, place)
        elif word and not LABEL_NAME.fullmatch(word):
            what = f"`{shown(word)}` is not a name of a resource in Kubernetes"
            report.fault("name", what, "write it as `kubectl describe node` shows it, as `nvidia.com/gpu`", place)
        names.append((name, word))
    found = KubernetesSettings(tuple(names))
    start, lost = (report.duration(node[key], (*_PLACE, key)) if key in node else None for key in DURATIONS)
    found = found if start is None else found._replace(start_within=start)
    return found if lost is None else found._replace(deleted_nodes_lost_after=lost)


def with_rules(report: Report, value: Value, settings: KubernetesSettings, tree: ConsumerTree) -> KubernetesSettings:
    """Read whose a pod is."""
    node = report.mapping(value, _PLACE)
    if "pods" not in node:
        return settings
    place: Place = (*_PLACE, "pods")
    rules = [
        _read_rule(report, each, (*place, at), tree)
        for at, each in enumerate(report.sequence(node["pods"], place, what="rules of whose a pod is"))
    ]
    return settings._replace(pods=tuple(rules))


def _read_rule(report: Report, value: Value, place: Place, tree: ConsumerTree) -> PodRule:
    node = report.mapping(value, place, what="a rule")
    report.keys(node, RULE_KEYS, place, {})
    labels = []
    for name, stated in report.mapping(node.get("labels"), (*place, "labels"), what="labels of pods").items():
        if not LABEL_NAME.fullmatch(name):
            report.fault(
                "label", f"`{shown(name)}` is not a name of a label", "write `app` or `team.example/name`", place
            )
        labels.append((name, report.text(stated, (*place, "labels", name), what="the value of a label, or a pattern")))
    words = {
        key: report.text(node[key], (*place, key), what="a word or a pattern such as `ml-*`") if key in node else ""
        for key in ("namespace", "service_account", "consumer", "consumer_label")
    }
    if bool(words["consumer"]) == bool(words["consumer_label"]):
        what = "a rule says whose a pod is in one of two ways"
        mend = "write `consumer: /PATH`, or `consumer_label: LABEL` where a label of the pod names it"
        report.fault("missing-key", what, mend, place)
    elif words["consumer"]:
        find_leaf(report, tree, words["consumer"], (*place, "consumer"))
    return PodRule(
        words["namespace"], words["service_account"], tuple(labels), words["consumer"], words["consumer_label"]
    )
