"""Whose a pod is, and what it asks for in the words of the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.engines.kubernetes import names
from fairhold.errors import Fault, InputError
from fairhold.model.kubernetes import slots_for, told_of_pod
from fairhold.model.siting import PACK
from fairhold.orchestrator.events import JobSubmitted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.engines.kubernetes.pods import Pod
    from fairhold.model.plan import Plan
    from fairhold.model.siting import Siting


def consumer_of(plan: Plan, pod: Pod, annotations: Mapping[str, str], labels: Mapping[str, str]) -> str:
    """Path of the leaf to which a pod belongs: by its annotation, its namespace's, or the first rule that fits.

    annotations, labels : of its namespace
    Raises InputError `no-consumer` where nothing says it, `unknown-consumer` where it names no leaf.
    """
    word = pod.annotations.get(names.CONSUMER) or annotations.get(names.CONSUMER) or ""
    source = f"the annotation `{names.CONSUMER}`"
    if not word:
        for rule in plan.kubernetes.pods:
            if not rule.fits(pod.namespace, pod.service_account, pod.labels):
                continue
            if rule.consumer:
                return rule.consumer
            word = pod.labels.get(rule.consumer_label) or labels.get(rule.consumer_label) or ""
            source = f"the label `{rule.consumer_label}`"
            if word:
                break
    if not word:
        what = f"nothing says to which consumer pods of the namespace `{pod.namespace}` belong"
        mend = f"annotate the namespace: `kubectl annotate namespace {pod.namespace} {names.CONSUMER}=/PATH`"
        raise InputError([Fault("no-consumer", what, mend)])
    return _leaf(plan, word, source)


def _leaf(plan: Plan, word: str, source: str) -> str:
    """The leaf of a path, or the only leaf of a name."""
    tree = plan.tree
    if word in tree.rows and tree.is_leaf(tree.rows[word]):
        return word
    named = [path for path in tree.paths if tree.is_leaf(tree.rows[path]) and path.rpartition("/")[2] == word]
    if len(named) == 1:
        return named[0]
    if named:
        what, mend = f"{source} names `{word}`, which {len(named)} leaves are called", f"write a path, as `{named[0]}`"
    else:
        what, mend = f"{source} names `{word}`, which is no leaf of the plan", "name a leaf: `fairhold tree` shows them"
    raise InputError([Fault("unknown-consumer", what, mend)])


def terms_of(plan: Plan, pod: Pod, consumer: str, siting: Siting, *, count: int = 1, least: int = 0) -> JobSubmitted:
    """What is asked for a pod, or for so many alike of which at least so many start together.

    Raises InputError where no policy shares nodes with its consumer, or nothing of what it asks for.
    """
    groups = _groups(plan, consumer)
    first = plan.resource_groups[groups[0]] if groups else None
    if first is None or first.selector is None:
        what = f"no policy shares nodes of this cluster with `{consumer}`"
        raise InputError([Fault("group-without-nodes", what, "write `nodes: {}` in its resource group in the plan")])
    if first.slot:
        units = slots_for(first.slot, pod.amounts)
        if least and units > 1:
            what = f"its pods take {units} slots of `{groups[0]}` each, and only pods of one slot can start together"
            raise InputError([Fault("gang-of-slots", what, "make a `slot` in the plan as large as the pod")])
        siting = siting._replace(place=PACK) if units > 1 else siting  # a pod is on one node
        asked = consumer, groups[0], count, pod.priority
        return JobSubmitted("", *asked, units=units, siting=siting, min_count=least)
    told = told_of_pod(plan.kubernetes, plan.resources, pod.amounts)
    if not told:
        what = "the pod asks for nothing of what the plan shares"
        names_ = ", ".join(resource.name for resource in plan.resources)
        raise InputError([Fault("missing-unit", what, f"give its containers `resources.requests` of {names_}")])
    return JobSubmitted("", consumer, "", count, pod.priority, siting=siting, unit=told, min_count=least)


def _groups(plan: Plan, consumer: str) -> list[str]:
    """Resource groups that policies share with a leaf, in plan order; who is not listed has those of all entries."""
    top = plan.tree.first_level[plan.tree.rows[consumer]]
    listed = [entry for entry in plan.policies if any(plan.tree.first_level[row] == top for row in entry.consumers)]
    shared = {name for entry in listed or plan.policies for name in entry.resource_groups}
    return [name for name, group in plan.resource_groups.items() if name in shared and group.selector is not None]
