"""Who the service is to the API server, and what it may do: what it does, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.manifest_settings import LABELS, NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.engines.kubernetes.manifest_settings import Document, ManifestSettings

Rule = tuple[str, str, list[str]] | tuple[str, str, list[str], list[str]]
"""Group, resource and verbs, and the only names to which they apply."""
VIEWER = "fairhold-viewer"
"""Of the role of those who may look, and of the Secret with their token."""
GROUP = "rbac.authorization.k8s.io"
_READ = ["get", "list", "watch"]
_FOLLOWED: tuple[Rule, ...] = (
    ("", "nodes", _READ),
    ("", "namespaces", _READ),
    ("batch", "jobs", _READ),
    ("jobset.x-k8s.io", "jobsets", _READ),
    ("scheduling.k8s.io", "podgroups", _READ),
    ("scheduling.x-k8s.io", "podgroups", _READ),
    ("scheduling.run.ai", "podgroups", _READ),
    ("fairhold.io", "plans", _READ),
    ("fairhold.io", "plans/status", ["patch"]),
)
EVERYWHERE: tuple[Rule, ...] = (
    ("", "pods", [*_READ, "create", "patch", "delete"]),
    ("", "pods/status", ["patch"]),
    ("events.k8s.io", "events", ["create"]),
    *_FOLLOWED,
    ("fairhold.io", "consumers", [*_READ, "create", "patch", "delete"]),
    ("fairhold.io", "consumers/status", ["patch"]),
)
"""In all namespaces: all pods are seen, since those of others take room; written are those that are governed. Plans and
consumers are in none."""
WHERE_OTHERS_DECIDE: tuple[Rule, ...] = (("", "pods", _READ), *_FOLLOWED)
"""In all namespaces, of a service that only looks."""
AT_HOME: tuple[Rule, ...] = (("coordination.k8s.io", "leases", ["get", "create", "update"]),)
"""In the namespace of the service."""
AS_VIEWER: tuple[Rule, ...] = (
    ("", "secrets", ["get"], [VIEWER]),
    ("", "services", ["get"], [NAME]),
    ("", "pods", ["get", "list"]),
    ("", "pods/portforward", ["create"]),
)
"""In the namespace of the service, where nothing else runs: what `kubectl fairhold` needs."""


def namespace(settings: ManifestSettings) -> Document:
    """The namespace of the service, in which no pod may have more rights than it needs."""
    labels = LABELS | {"pod-security.kubernetes.io/enforce": "restricted"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": settings.namespace, "labels": labels}}


def service_account(settings: ManifestSettings) -> Document:
    """Who the service is."""
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": settings.meta()}


def rights(settings: ManifestSettings) -> list[Document]:
    """What the service may do."""
    if settings.observes:
        return _bound(settings, "Cluster", WHERE_OTHERS_DECIDE)
    return [*_bound(settings, "Cluster", EVERYWHERE), *_bound(settings, "", AT_HOME)]


def viewers(settings: ManifestSettings) -> list[Document]:
    """What those need who may look: a role that others bind to them, and a token, which the cluster itself writes.

    The service account of the token has no rights. The service finds the token in a volume, and reads no Secret.
    """
    account = settings.meta(VIEWER)
    secret = settings.meta(VIEWER) | {"annotations": {"kubernetes.io/service-account.name": VIEWER}}
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account, "automountServiceAccountToken": False},
        {"apiVersion": "v1", "kind": "Secret", "metadata": secret, "type": "kubernetes.io/service-account-token"},
        _role("Role", settings.meta(VIEWER), AS_VIEWER),
    ]


def _role(kind: str, meta: Document, rules: Sequence[Rule]) -> Document:
    rows = []
    for group, what, verbs, *only in rules:
        rows.append({"apiGroups": [group], "resources": [what], "verbs": verbs})
        if only:
            rows[-1]["resourceNames"] = only[0]
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": meta, "rules": rows}


def _bound(settings: ManifestSettings, prefix: str, rules: Sequence[Rule]) -> list[Document]:
    """A role of the service and its binding.

    prefix : `Cluster`, or empty = in the namespace of the service
    """
    kind, meta = f"{prefix}Role", settings.meta(is_global=bool(prefix))
    if settings.user:
        subject = {"apiGroup": GROUP, "kind": "User", "name": settings.user}
    else:
        subject = {"kind": "ServiceAccount", "name": NAME, "namespace": settings.namespace}
    bound = {"roleRef": {"apiGroup": GROUP, "kind": kind, "name": NAME}, "subjects": [subject]}
    binding = {"apiVersion": f"{GROUP}/v1", "kind": f"{kind}Binding", "metadata": meta} | bound
    return [_role(kind, meta, rules), binding]
