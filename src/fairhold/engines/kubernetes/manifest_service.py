"""The service in the cluster that it governs: its plan, its volume, its pod, and a name for its API."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.manifest_rights import VIEWER
from fairhold.engines.kubernetes.manifest_settings import LABELS, NAME, PORT

if TYPE_CHECKING:
    from fairhold.engines.kubernetes.manifest_settings import Document, ManifestSettings

PLAN, STATE = "fairhold-plan", "fairhold-state"
"""Names of the ConfigMap and the volume claim."""
_USER = 65532
_VOLUME, _PLANS, _TEMPORARY = "/var/lib/fairhold", "/etc/fairhold", "/tmp"  # noqa: S108 - a volume of the pod's own
_SECRETS = "/var/run/fairhold"
_VIEWER = f"{_SECRETS}/viewer"
_HEALTH = ["python", "-c", "import fairhold; fairhold.connect().health()"]
"""The service listens on loopback, where the kubelet cannot ask it."""


def service(settings: ManifestSettings) -> list[Document]:
    """Everything that runs it."""
    has_map = settings.plan and not settings.plan_object
    return [*([plan_map(settings)] if has_map else ()), claim(settings), deployment(settings), api(settings)]


def plan_map(settings: ManifestSettings) -> Document:
    """The plan."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": settings.meta(PLAN),
        "data": {"plan.yaml": settings.plan},
    }


def claim(settings: ManifestSettings) -> Document:
    """The volume that keeps the state."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": settings.storage}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": settings.meta(STATE), "spec": spec}


def deployment(settings: ManifestSettings) -> Document:
    """One pod, and never two: the old one is gone before a new one starts."""
    spec = {
        "replicas": settings.replicas,
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": LABELS},
        "template": {
            "metadata": {"labels": LABELS, "annotations": {"fairhold.io/plan": digest(settings.plan)}},
            "spec": pod_spec(settings),
        },
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": settings.meta(), "spec": spec}


def api(settings: ManifestSettings) -> Document:
    """A name for `kubectl port-forward`."""
    ports = [{"name": "api", "port": PORT, "targetPort": "api"}]
    spec = {"selector": LABELS, "ports": ports}
    return {"apiVersion": "v1", "kind": "Service", "metadata": settings.meta(), "spec": spec}


def pod_spec(settings: ManifestSettings) -> Document:
    """A pod that may write its volume and nothing else, and is no user that anything else belongs to."""
    return {
        "serviceAccountName": NAME,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "fsGroup": _USER,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(settings)],
        "volumes": _mounted(
            settings,
            {"name": "plan", "configMap": {"name": PLAN}},
            {"name": "state", "persistentVolumeClaim": {"claimName": STATE}},
            {"name": "temporary", "emptyDir": {}},
            {"name": "viewer", "secret": {"secretName": VIEWER, "items": [{"key": "token", "path": "token"}]}},
            *(_volume(option, name) for option, name in settings.secrets.items()),
        ),
    }


def _volume(option: str, name: str) -> Document:
    """A Secret whose key `secret` is a file."""
    return {"name": option, "secret": {"secretName": name, "items": [{"key": "secret", "path": "secret"}]}}


def _mounted(settings: ManifestSettings, *rows: Document) -> list[Document]:
    """Volumes, or places of them, without those that there is no use for."""
    used = {"plan": not settings.plan_object, "viewer": settings.has_viewers}
    return [row for row in rows if used.get(row["name"], True)]


def _container(settings: ManifestSettings) -> Document:
    plan = ["--plan-object", settings.plan_object] if settings.plan_object else [f"{_PLANS}/plan.yaml"]
    observing = ["--observe-only"] if settings.observes else []
    viewer = ["--viewer-token", f"{_VIEWER}/token"] if settings.has_viewers else []
    secrets = [word for option in settings.secrets for word in (f"--{option}", f"{_SECRETS}/{option}/secret")]
    environment = {"FAIRHOLD_STATE": f"{_VOLUME}/state", "NUMBA_CACHE_DIR": f"{_VOLUME}/compiled"}
    return {
        "name": NAME,
        "image": settings.image,
        "args": ["serve", *plan, "--kubernetes", *observing, *viewer, *secrets, *settings.options],
        "env": [{"name": name, "value": value} for name, value in environment.items()],
        "ports": [{"name": "api", "containerPort": PORT}],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}},
        "startupProbe": _probe(every=5, failures=60),
        "readinessProbe": _probe(every=30, failures=2),
        "livenessProbe": _probe(every=30, failures=5),
        "volumeMounts": _mounted(
            settings,
            {"name": "plan", "mountPath": _PLANS, "readOnly": True},
            {"name": "state", "mountPath": _VOLUME},
            {"name": "temporary", "mountPath": _TEMPORARY},
            {"name": "viewer", "mountPath": _VIEWER, "readOnly": True},
            *({"name": option, "mountPath": f"{_SECRETS}/{option}", "readOnly": True} for option in settings.secrets),
        ),
    }


def _probe(*, every: int, failures: int) -> Document:
    return {
        "exec": {"command": _HEALTH},
        "periodSeconds": every,
        "timeoutSeconds": 10,
        "failureThreshold": failures,
    }


def digest(plan: str) -> str:
    """Of the plan: with another one there is a new pod, which puts it in force."""
    return hashlib.sha256(plan.encode()).hexdigest()
