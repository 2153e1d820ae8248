"""Objects of other systems as tests give them, and what an import makes of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fairhold.errors import Fault, InputError
from fairhold.model.plan import ConsumerSettings, Plan
from fairhold.planio.imports.importing import Imported, import_plan
from fairhold.planio.plan import parse_plan

Json = dict[str, Any]
FREE = {"quota": 0, "limit": -1, "overQuotaWeight": 1}


def imported(system: str, *texts: str) -> Imported:
    """What texts come to; their names are `a.yaml`, `b.yaml` and so on."""
    named = [((lambda text=text: text), f"{letter}.yaml") for letter, text in zip("abcdef", texts, strict=False)]
    return import_plan(system, named, "plan.yaml")


def faults(system: str, *texts: str) -> tuple[Fault, ...]:
    with pytest.raises(InputError) as caught:
        imported(system, *texts)
    return caught.value.faults


def told(found: tuple[Fault, ...]) -> list[tuple[str, str]]:
    """Code and place of each, without what stands for the whole plan."""
    return [(each.code, ".".join(map(str, each.place))) for each in found if each.code != "capacity-assumed"]


def plan_of(result: Imported) -> Plan:
    return parse_plan(result.text, "plan.yaml")[0]


def settings(plan: Plan, path: str) -> ConsumerSettings:
    """What a consumer states, all defaults where it states nothing."""
    return plan.policies[0].consumers.get(plan.tree.rows[path], ConsumerSettings())


def bounds(plan: Plan, path: str, key: str) -> Json:
    """Resource → base units of `deserved` or `limit`."""
    stated = getattr(settings(plan, path).queue, key)
    return {plan.resources[at].name: units for at, units in stated}


def stream(*objects: Json) -> str:
    """Objects as a YAML stream: JSON is YAML, too."""
    return "".join(f"---\n# one\n{json.dumps(each, ensure_ascii=False)}\n" for each in objects)


def queue(name: str, parent: str = "", *, resources: Json | None = None, **spec: object) -> Json:
    """A queue of KAI; resources that are left out are free."""
    stated = {each: FREE | (resources or {}).get(each, {}) for each in ("cpu", "memory", "gpu")}
    above = {"parentQueue": parent} if parent else {}
    return {
        "apiVersion": "scheduling.run.ai/v2",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": above | {"resources": stated} | spec,
    }


def kueue_object(kind: str, name: str, version: str = "v1beta2", namespace: str = "", **spec: object) -> Json:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": f"kueue.x-k8s.io/{version}", "kind": kind, "metadata": metadata, "spec": spec}


def quotas(resource: str = "cpu", flavor: str = "default", **amounts: object) -> list[Json]:
    """`resourceGroups` with one quota."""
    stated = {"name": resource, "nominalQuota": 0} | amounts
    return [{"coveredResources": [resource], "flavors": [{"name": flavor, "resources": [stated]}]}]


PREEMPTS = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
"""What a queue under `fair_share` always does."""


def cluster_queue(name: str, cohort: str = "", **spec: object) -> Json:
    """A ClusterQueue that preempts as queues of a plan do."""
    above = {"cohortName": cohort} if cohort else {}
    stated: Json = {"preemption": PREEMPTS} | above | spec
    return kueue_object("ClusterQueue", name, **stated)
