"""What the API server itself sees to: governed pods wait at the gate, and nobody else writes what Fairhold writes.

The policies are evaluated in the API server: there is no webhook that may be away. So `failurePolicy` is `Fail`: a pod
that came by them would start outside the plan, on what others were promised. They look at governed namespaces alone, so
that no other pod can be hindered.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fairhold.engines.kubernetes import names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.engines.kubernetes.manifest_settings import Document, ManifestSettings

VERSION = "admissionregistration.k8s.io/v1"
GATE, QUEUE, GUARD, CREATE = "fairhold-gate", "fairhold-queue", "fairhold-guard", "fairhold-create"
"""Names of the policies and of their bindings."""
_GATE, _FINALIZER, _CONSUMER, _CONSUMERS = map(
    json.dumps, (names.GATE, names.FINALIZER, names.CONSUMER, names.CONSUMERS)
)
_IS_GATED = f".spec.?schedulingGates.orValue([]).exists(gate, gate.name == {_GATE})"
_OF_NODE = """\
object.metadata.?ownerReferences.orValue([]).exists(owner, owner.?controller.orValue(false) && (
  owner.kind == "Node" && "system:nodes" in request.userInfo.?groups.orValue([]) ||
  owner.kind == "DaemonSet" && authorizer.group(owner.apiVersion.split("/")[0]).resource("daemonsets")
    .subresource("finalizers").namespace(request.namespace).check("update").allowed()))"""
"""Whether a pod belongs to its node: said by who makes such pods, a kubelet or a controller of DaemonSets."""
_PATCH = f"""\
has(object.spec.schedulingGates)
? [JSONPatch{{op: "add", path: "/spec/schedulingGates/-", value: Object.spec.schedulingGates{{name: {_GATE}}}}}]
: [JSONPatch{{op: "add", path: "/spec/schedulingGates", value: [Object.spec.schedulingGates{{name: {_GATE}}}]}}]"""
QUEUE_LABELS = ("kueue.x-k8s.io/queue-name", "kai.scheduler/queue")
"""Labels by which Jobs name their queue in Kueue and KAI-Scheduler; rules of a plan read them at pods."""
_OF_JOB, _OF_ITS_PODS = "object.metadata.?labels", "object.spec.template.?metadata.?labels"
_NAMED = ", ".join(f'?"{label}": {_OF_ITS_PODS}[?"{label}"].or({_OF_JOB}[?"{label}"])' for label in QUEUE_LABELS)
_QUEUES = (
    "Object{spec: Object.spec{template: Object.spec.template{metadata: Object.spec.template.metadata{"
    f"labels: {{{_NAMED}}}"
    "}}}}"
)
"""A Job's pods have the labels that name the Job's queue, where they have none of their own."""
_VARIABLES = {
    "before": 'request.operation == "UPDATE" ? oldObject.metadata.?annotations.orValue({}) : {}',
    "now": "object.metadata.?annotations.orValue({})",
    "wasKept": f'request.operation == "UPDATE" && {_FINALIZER} in oldObject.metadata.?finalizers.orValue([])',
    "isKept": f"{_FINALIZER} in object.metadata.?finalizers.orValue([])",
    "wasGated": f'request.operation == "UPDATE" && oldObject{_IS_GATED}',
    "isGated": f"object{_IS_GATED}",
    "consumerBefore": f'variables.before[?{_CONSUMER}].orValue("")',
    "consumer": f'variables.now[?{_CONSUMER}].orValue("")',
    "ofNamespace": "namespaceObject.metadata.?annotations.orValue({})",
    "own": f'variables.ofNamespace[?{_CONSUMER}].orValue("")',
    "listed": f'variables.ofNamespace[?{_CONSUMERS}].orValue("").split(",")',
}
"""Names that the rules use, as expressions."""
_RULES = {
    "variables.isGated || !variables.wasGated": (
        f"only Fairhold takes the scheduling gate {names.GATE} away, when the plan grants the pod a node"
    ),
    f"{json.dumps([names.ATTEMPT, names.NOTICE, names.OWNER])}"
    ".all(key, variables.now[?key] == variables.before[?key])": (
        f"only Fairhold writes the annotations {names.ATTEMPT}, {names.NOTICE} and {names.OWNER}"
    ),
    "variables.isKept == variables.wasKept": (
        f"only Fairhold writes the finalizer {names.FINALIZER}, which keeps a pod until its end is recorded"
    ),
    'variables.consumer in [variables.consumerBefore, variables.own, ""] || '
    "variables.listed.exists(path, path.trim() == variables.consumer)": (
        f"{names.CONSUMER} names a consumer that is neither that of the namespace nor listed in its {names.CONSUMERS}"
    ),
}
"""What holds of a pod that anybody but Fairhold writes, and what he is told."""


def policies(settings: ManifestSettings) -> list[Document]:
    """The policies, each with the binding that puts it in force."""
    account = json.dumps(settings.account)
    return [
        *_mutating(settings, GATE, _gate(settings)),
        *_mutating(settings, QUEUE, _queue(settings)),
        *_validating(
            settings,
            GUARD,
            _constraints(_governed(settings), "CREATE", "UPDATE"),
            {
                "matchConditions": [_condition("not-fairhold", f"request.userInfo.username != {account}")],
                "variables": [{"name": name, "expression": said} for name, said in _VARIABLES.items()],
                "validations": [_validation(rule, told) for rule, told in _RULES.items()],
            },
        ),
        *_validating(
            settings,
            CREATE,
            _constraints([_requirement(names.GOVERNED, "NotIn", "true")], "CREATE"),
            {
                "matchConditions": [_condition("fairhold", f"request.userInfo.username == {account}")],
                "validations": [_validation("false", "Fairhold makes pods in governed namespaces only")],
            },
        ),
    ]


def _gate(settings: ManifestSettings) -> Document:
    return {
        "matchConstraints": _constraints(_governed(settings), "CREATE"),
        "matchConditions": [
            _condition("not-of-a-node", f"!{_OF_NODE}"),
            _condition("not-gated", f"!object{_IS_GATED}"),
        ],
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": _PATCH}}],
    }


def _queue(settings: ManifestSettings) -> Document:
    names_one = " || ".join(f'{_OF_JOB}[?"{label}"].hasValue()' for label in QUEUE_LABELS)
    return {
        "matchConstraints": _constraints(_governed(settings), "CREATE", of=("batch", "jobs")),
        "matchConditions": [_condition("names-a-queue", names_one)],
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": _QUEUES}}],
    }


def _mutating(settings: ManifestSettings, name: str, rules: Document) -> list[Document]:
    kind = "MutatingAdmissionPolicy"
    spec = {"failurePolicy": "Fail", "reinvocationPolicy": "IfNeeded"} | rules
    return [_object(settings, kind, name, spec), _object(settings, f"{kind}Binding", name, {"policyName": name})]


def _validating(settings: ManifestSettings, name: str, constraints: Document, rules: Document) -> list[Document]:
    kind = "ValidatingAdmissionPolicy"
    spec = {"failurePolicy": "Fail", "matchConstraints": constraints} | rules
    binding = {"policyName": name, "validationActions": ["Deny"]}
    return [_object(settings, kind, name, spec), _object(settings, f"{kind}Binding", name, binding)]


def _object(settings: ManifestSettings, kind: str, name: str, spec: Mapping[str, object]) -> Document:
    return {"apiVersion": VERSION, "kind": kind, "metadata": settings.meta(name, is_global=True), "spec": spec}


def _constraints(namespaces: Sequence[Document], *operations: str, of: tuple[str, str] = ("", "pods")) -> Document:
    """Objects of a group and kind (`of`) in some namespaces."""
    group, kind = of
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "operations": list(operations), "resources": [kind]}
    return {"namespaceSelector": {"matchExpressions": list(namespaces)}, "resourceRules": [rule]}


def _governed(settings: ManifestSettings) -> list[Document]:
    """Governed namespaces; never that of the service, which nobody else could start."""
    own = _requirement("kubernetes.io/metadata.name", "NotIn", settings.namespace)
    return [_requirement(names.GOVERNED, "In", "true"), own]


def _requirement(label: str, operator: str, value: str) -> Document:
    return {"key": label, "operator": operator, "values": [value]}


def _condition(name: str, expression: str) -> Document:
    return {"name": name, "expression": expression}


def _validation(expression: str, message: str) -> Document:
    return {"expression": expression, "message": message, "reason": "Forbidden"}
