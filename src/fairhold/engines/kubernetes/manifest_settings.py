"""What can be chosen about the objects that are applied to a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fairhold import __version__

Document = dict[str, Any]
NAME = "fairhold"
"""Of the service account, the roles, the service, and what else there is one of."""
PORT = 7878
"""On which the service listens in its pod, on loopback."""
LABELS = {"app.kubernetes.io/name": NAME}
"""Of every object."""


@dataclass(frozen=True, slots=True)
class ManifestSettings:
    """What can be chosen.

    namespace : of the service
    image     : that the service is run from
    replicas  : 1, or 0 = the service is not started
    user      : by whom the service is known to the API server, empty = its service account
    plan      : text of the plan, empty = the ConfigMap is made by others
    plan_object : name of the object `Plan` that says the plan; then there is no ConfigMap
    storage   : size of the volume that keeps the state
    observes  : the service only looks, and has no rights to more
    has_viewers : there is a token for those who may look
    oidc_secret, smtp_secret : names of Secrets whose key `secret` is given to `serve` by the option of this name,
        empty = there is none
    options   : further options of `serve`, as `--keep-jobs=90d`
    """

    namespace: str = NAME
    image: str = f"{NAME}:{__version__}"
    replicas: int | str = 1
    user: str = ""
    plan: str = ""
    plan_object: str = ""
    storage: str = "1Gi"
    observes: bool = False
    has_viewers: bool = True
    oidc_secret: str = ""
    smtp_secret: str = ""
    options: tuple[str, ...] = ()

    @property
    def account(self) -> str:
        """User name of the service."""
        return self.user or f"system:serviceaccount:{self.namespace}:{NAME}"

    @property
    def secrets(self) -> dict[str, str]:
        """Options of `serve`, without `--`, that take a file with a secret → the Secret that has it."""
        named = {"oidc-secret": self.oidc_secret, "smtp-secret": self.smtp_secret}
        return {option: name for option, name in named.items() if name}

    def meta(self, name: str = NAME, *, is_global: bool = False) -> Document:
        """Metadata of an object, in the namespace or of the whole cluster."""
        return {"name": name} | ({} if is_global else {"namespace": self.namespace}) | {"labels": LABELS}
