"""The kinds that Fairhold adds to a cluster: a plan as an object, and what each consumer of the plan in force has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes.names import DOMAIN

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = "v1alpha1"
PLANS = f"/apis/{DOMAIN}/{VERSION}/plans"
CONSUMERS = f"/apis/{DOMAIN}/{VERSION}/consumers"
MANAGED, MANAGER = "app.kubernetes.io/managed-by", "fairhold"
"""Label of the objects that the service made, and alone changes."""
NUMBERS = ("owned", "allocated", "quota", "borrowed", "lent", "waiting")
"""What is said of a consumer."""

Document = dict[str, Any]
_TEXT: Document = {"type": "string"}
_NUMBER: Document = {"type": "integer", "format": "int64"}
_INSTANT: Document = {"type": "string", "format": "date-time"}
_ANYTHING: Document = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_MEANINGS = {
    "owned": "What it owns now; under fair_share what it deserves.",
    "allocated": "What its work holds now.",
    "quota": "What it is entitled to now.",
    "borrowed": "Allocated beyond owned.",
    "lent": "Owned, and allocated by others.",
    "waiting": "What its work that waits asks for.",
}


def custom_resources() -> list[Document]:
    """The definitions of both kinds, as a manifest has them."""
    return [
        _definition(
            "Plan",
            "A plan of Fairhold. `spec` is the plan file as a document; the status says what became of it.",
            _ANYTHING | {"description": "The plan, as a plan file has it."},
            _plan_status(),
            [
                _column("Version", ".status.version", "integer"),
                _column("Accepted", '.status.conditions[?(@.type=="Accepted")].status'),
                _column("Faults", ".status.faultCount", "integer"),
                _column("Age", ".metadata.creationTimestamp", "date"),
            ],
        ),
        _definition(
            "Consumer",
            "A consumer of the plan in force, and what it has now. Read-only: Fairhold makes, writes and deletes it.",
            {"type": "object", "description": "Empty: the plan says what a consumer is."},
            _consumer_status(),
            [
                _column("Path", ".status.path"),
                *(_column(name.capitalize(), f".status.shown.{name}") for name in NUMBERS),
            ],
        ),
    ]


def text_of(document: Mapping[str, Any]) -> str:
    """The plan of an object as the text of a file."""
    return json.dumps(document.get("spec") or {}, ensure_ascii=False, indent=1, sort_keys=True)


def is_plan(value: object) -> bool:
    """Whether what a file says is an object that holds a plan."""
    is_ours = isinstance(value, dict) and str(value.get("apiVersion")).startswith(f"{DOMAIN}/")
    return is_ours and isinstance(value, dict) and value.get("kind") == "Plan"


def _definition(kind: str, what: str, spec: Document, status: Document, columns: list[Document]) -> Document:
    plural = f"{kind.lower()}s"
    schema = {"type": "object", "description": what, "properties": {"spec": spec, "status": status}}
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "additionalPrinterColumns": columns,
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{DOMAIN}"},
        "spec": {
            "group": DOMAIN,
            "scope": "Cluster",
            "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()},
            "versions": [version],
        },
    }


def _column(name: str, path: str, kind: str = "string") -> Document:
    return {"name": name, "type": kind, "jsonPath": path}


def _plan_status() -> Document:
    condition = _object(
        type=_TEXT, status=_TEXT, reason=_TEXT, message=_TEXT, lastTransitionTime=_INSTANT, observedGeneration=_NUMBER
    )
    fault = _object(code=_TEXT, what=_TEXT, mend=_TEXT, place=_TEXT)
    return _object(
        observedGeneration=_NUMBER | {"description": "Generation of the object that this was said of."},
        version=_NUMBER | {"description": "Version of the plan in force."},
        inForceSince=_INSTANT | {"description": "Since when the plan in force is."},
        conditions={"type": "array", "items": condition},
        faults={"type": "array", "items": fault, "description": "What is wrong with the plan; the first of many."},
        faultCount=_NUMBER | {"description": "How many faults there are."},
    )


def _consumer_status() -> Document:
    numbers = {
        name: _ANYTHING | {"description": f"{meaning} By resource; where slots are shared, by resource group."}
        for name, meaning in _MEANINGS.items()
    }
    shown = _object(**dict.fromkeys(NUMBERS, _TEXT)) | {"description": "The same as short texts."}
    return _object(path=_TEXT | {"description": "Its path in the plan."}, **numbers, shown=shown)


def _object(**properties: Document) -> Document:
    return {"type": "object", "properties": properties}
