"""What is looked at before a service governs a cluster: the cluster's version, the service's rights, both clocks."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.manifest_rights import AT_HOME, EVERYWHERE, WHERE_OTHERS_DECIDE
from fairhold.engines.kubernetes.names import DOMAIN
from fairhold.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairhold.engines.kubernetes.api import Api
    from fairhold.engines.kubernetes.manifest_rights import Rule

OLDEST, NEWEST = 36, 37
"""Minor versions of Kubernetes: the first that adds the gate by a policy, and the last that was tried."""
APART = 5.0
"""Seconds by which the clocks may differ."""
RIGHTS = "apply what `fairhold kubernetes manifest` prints, and run with its service account"
"""How the service gets rights that are missing."""
OTHER_LEASE = "--lease-namespace names another namespace for the lease, --no-lease governs without one"
_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_LOG = logging.getLogger("fairhold")


def check_cluster(api: Api, lease_namespace: str, plan_object: str, *, observes: bool = False) -> None:
    """Warn of what is odd, raise InputError for what cannot be.

    lease_namespace : where the lease is, empty = there is none
    plan_object     : name of the plan's object, empty = none is followed
    observes        : others decide, and the service writes nothing to pods
    Raises InputError `kubernetes-version` where the cluster is too old, `kubernetes-rights` where rights are missing;
    ApiError.
    """
    check_version(api)
    check_rights(api, lease_namespace, plan_object, observes=observes)
    ahead = api.clock() - time.time()
    if abs(ahead) > APART:
        what = "the clock of this service is %.0f s %s that of the API server: deadlines that pods are told are wrong"
        _LOG.warning(f"{what}; have both set by NTP", abs(ahead), "behind" if ahead > 0 else "ahead of")


def check_version(api: Api) -> None:
    """Raise InputError `kubernetes-version` where the cluster is older than what is supported."""
    said = api.request("GET", "/version")
    digits = "".join(letter for letter in str(said.get("minor")) if letter.isdigit())
    minor = int(digits or 0)
    if said.get("major") != "1" or minor < OLDEST:
        what = f"the cluster is Kubernetes {said.get('gitVersion')}, and 1.{OLDEST} is the oldest that is supported"
        raise InputError([Fault("kubernetes-version", what, "upgrade the cluster")])
    if minor > NEWEST:
        _LOG.warning("Kubernetes %s is newer than what this was tested with, 1.%s", said.get("gitVersion"), NEWEST)


def check_rights(api: Api, lease_namespace: str, plan_object: str, *, observes: bool = False) -> None:
    """Raise InputError `kubernetes-rights` with all that the service needs to do and may not."""
    needed = WHERE_OTHERS_DECIDE if observes else EVERYWHERE
    rules = [rule for rule in needed if not rule[0] or (plan_object and rule[1].startswith("plans"))]
    missing = list(_missing(api, "", rules))
    if lease_namespace:
        missing += (f"{each} in {lease_namespace}" for each in _missing(api, lease_namespace, AT_HOME))
    if missing:
        what = f"at {api.access.url} this service may not: {'; '.join(missing)}"
        mend = f"{RIGHTS}; {OTHER_LEASE}" if lease_namespace else RIGHTS
        raise InputError([Fault("kubernetes-rights", what, mend)])


def _missing(api: Api, namespace: str, rules: Sequence[Rule]) -> Iterator[str]:
    """What is refused of some rights, as `patch, delete pods`."""
    for group, kind, verbs, *_ in rules:
        resource, _, part = kind.partition("/")
        asked = {"namespace": namespace, "group": group, "resource": resource, "subresource": part}
        refused = [verb for verb in verbs if not _may(api, asked | {"verb": verb})]
        if refused:
            yield f"{', '.join(refused)} {kind}{f' of {DOMAIN}' if group == DOMAIN else ''}"


def _may(api: Api, asked: dict[str, str]) -> bool:
    kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    answer = api.request("POST", _REVIEWS, kind | {"spec": {"resourceAttributes": asked}})
    return bool((answer.get("status") or {}).get("allowed"))
