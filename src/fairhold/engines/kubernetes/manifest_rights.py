"""Who the service is to the API server, and what it may do: what it does, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.manifest_settings import LABELS, NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.engines.kubernetes.manifest_settings import Document, ManifestSettings

GROUP = "rbac.authorization.k8s.io"
_READ = ["get", "list", "watch"]
EVERYWHERE = (
    ("", "pods", [*_READ, "create", "patch", "delete"]),
    ("", "pods/status", ["patch"]),
    ("", "nodes", _READ),
    ("", "namespaces", _READ),
    ("batch", "jobs", _READ),
    ("jobset.x-k8s.io", "jobsets", _READ),
    ("scheduling.k8s.io", "podgroups", _READ),
    ("scheduling.x-k8s.io", "podgroups", _READ),
    ("scheduling.run.ai", "podgroups", _READ),
    ("fairhold.io", "plans", _READ),
    ("fairhold.io", "plans/status", ["patch"]),
    ("fairhold.io", "consumers", [*_READ, "create", "patch", "delete"]),
    ("fairhold.io", "consumers/status", ["patch"]),
)
"""In all namespaces: all pods are seen, since those of others take room; written are those that are governed. Plans and
consumers are in none."""
AT_HOME = (("coordination.k8s.io", "leases", ["get", "create", "update"]),)
"""In the namespace of the service."""


def namespace(settings: ManifestSettings) -> Document:
    """The namespace of the service, in which no pod may have more rights than it needs."""
    labels = LABELS | {"pod-security.kubernetes.io/enforce": "restricted"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": settings.namespace, "labels": labels}}


def service_account(settings: ManifestSettings) -> Document:
    """Who the service is."""
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": settings.meta()}


def rights(settings: ManifestSettings) -> list[Document]:
    """What the service may do."""
    return [*_role(settings, "Cluster", EVERYWHERE), *_role(settings, "", AT_HOME)]


def _role(settings: ManifestSettings, prefix: str, rules: Sequence[tuple[str, str, list[str]]]) -> list[Document]:
    """A role and its binding.

    prefix : `Cluster`, or empty = in the namespace of the service
    """
    kind, meta = f"{prefix}Role", settings.meta(is_global=bool(prefix))
    rows = [{"apiGroups": [group], "resources": [what], "verbs": verbs} for group, what, verbs in rules]
    if settings.user:
        subject = {"apiGroup": GROUP, "kind": "User", "name": settings.user}
    else:
        subject = {"kind": "ServiceAccount", "name": NAME, "namespace": settings.namespace}
    bound = {"roleRef": {"apiGroup": GROUP, "kind": kind, "name": NAME}, "subjects": [subject]}
    return [
        {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": meta, "rules": rows},
        {"apiVersion": f"{GROUP}/v1", "kind": f"{kind}Binding", "metadata": meta} | bound,
    ]
