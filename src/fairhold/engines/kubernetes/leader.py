"""The lease of the service that leads, as an object of the cluster: the requests about it, and the fence for writes.

What a leader writes late does no harm. A write begins only while the lease is held for longer than its request may
take (`Terms.write`), by a clock that also counts while the machine sleeps. What is later than that, because the
process was stopped between the look at the clock and the request, or the network kept it, meets preconditions: each
write names the uid and the resource version of the pod that was seen. So where the next leader has changed the pod, or
its state has changed, the late write is refused (409): no pod is granted twice or moved, no notice is overwritten, no
pod is stopped that has heard something new. What is left is a pod that nobody has touched since. It may be granted as
the last leader decided: once, and kube-scheduler puts no more on a node than fits, whatever was granted; the next
leader sees a pod that was let go and counts it. Or it is stopped as the last leader decided, after its notice. A bare
pod that is made anew has its old name: it is made once, whoever asks.
"""

from __future__ import annotations

import logging
import math
import secrets
import socket
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.api import ApiError
from fairhold.engines.kubernetes.writes import JSON
from fairhold.engines.leader import Leader as Participant
from fairhold.errors import Fault, InputError
from fairhold.leadership import NOBODY_YET, Ask, Do, Seen, Terms

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping

    from fairhold.engines.kubernetes.api import Api

LEASE = "fairhold"
_LOG = logging.getLogger("fairhold")


class Fence(Protocol):
    """What lets writes through."""

    @property
    def write(self) -> float:
        """Seconds that a write may take, 0 = as long as others."""
        ...

    @property
    def leads(self) -> bool:
        """Whether this service is the one that writes."""
        ...

    def passes(self, is_closing: threading.Event) -> bool:
        """Wait until a write may be made; False: none may be made any more."""
        ...


class Unfenced:
    """Lets all through: there is no lease."""

    write = 0.0
    leads = True

    def passes(self, is_closing: threading.Event) -> bool:  # noqa: D102 - see Fence
        return not is_closing.is_set()


class Fenced:
    """Makes changes of the cluster, each once the fence lets it through.

    is_closing : set once none is made any more
    """

    def __init__(self, api: Api, fence: Fence, is_closing: threading.Event) -> None:
        self._api, self._fence, self._is_closing = api, fence, is_closing

    def request(self, method: str, path: str, body: Mapping[str, Any], media: str = JSON) -> dict[str, Any]:
        """Make one. Raises ApiError, of status 0 where none may be made any more."""
        if not self._fence.passes(self._is_closing):
            raise ApiError(0, "NotLeading", "this service leads no more")
        return self._api.request(method, path, body, media, self._fence.write)


class Leader(Participant):
    """One participant.

    api     : client of its own, closed with this
    on_changed : see `engines.leader.Leader`
    """

    troubles = (ApiError,)

    def __init__(self, api: Api, namespace: str, terms: Terms, on_changed: Callable[[], None] = lambda: None) -> None:
        super().__init__(f"{socket.gethostname()}-{secrets.token_hex(4)}", terms, on_changed)
        self._api, self._namespace = api, namespace
        self._path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"

    @property
    def term(self) -> tuple[str, int]:
        """The lease that it holds, and how often that has changed hands: one more for every process that has led."""
        document = self.seen.document
        spec: Mapping[str, Any] = document.get("spec") or {}
        return str((document.get("metadata") or {}).get("uid", "")), int(spec.get("leaseTransitions") or 0)

    def _looked(self, seen: Seen) -> None:
        """Raises ApiError; InputError `lease-namespace`."""
        if not seen.version:
            self._check_namespace()
            self._core.is_first = not any(_is_ours(pod) for pod in self._api.list("/api/v1/pods")[0])

    def _let_go(self) -> None:
        self._api.close()

    def _is_conflict(self, error: Exception) -> bool:
        return isinstance(error, ApiError) and error.status == HTTPStatus.CONFLICT

    def _say(self, seen: Seen) -> None:
        if seen.holder == NOBODY_YET:
            _LOG.info("waiting: the lease is new, and is taken in %g seconds", seen.duration)
        else:
            super()._say(seen)

    def _check_namespace(self) -> None:
        try:
            self._api.request("GET", f"/api/v1/namespaces/{self._namespace}")
        except ApiError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            what = f"there is no namespace `{self._namespace}` for the lease"
            raise InputError([Fault("lease-namespace", what, "name another with --lease-namespace")]) from None

    def _ask(self, ask: Ask) -> Seen:
        """Ask the API server; raises ApiError."""
        within, path = self._terms.request, f"{self._path}/{LEASE}"
        if ask.do is Do.LOOK:
            try:
                return _seen(self._api.request("GET", path, within=within))
            except ApiError as error:
                if error.status == HTTPStatus.NOT_FOUND:
                    return Seen()
                raise
        body = self._document(ask)
        try:
            if ask.seen.version:
                return _seen(self._api.request("PUT", path, body, within=within))
            return _seen(self._api.request("POST", self._path, body, within=within))
        except ApiError as error:
            if error.status == HTTPStatus.NOT_FOUND and ask.seen.version:  # it was deleted
                raise ApiError(HTTPStatus.CONFLICT, error.reason, str(error)) from error
            raise

    def _document(self, ask: Ask) -> dict[str, Any]:
        known = ask.seen.document
        spec = dict(known.get("spec") or {})
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        holder = {Do.MAKE: NOBODY_YET, Do.HOLD: self.identity}.get(ask.do, "")
        if ask.do is Do.HOLD and holder != spec.get("holderIdentity"):
            spec["acquireTime"] = now
            spec["leaseTransitions"] = int(spec.get("leaseTransitions") or 0) + bool(known)
        duration = max(1, math.ceil(self._terms.duration))
        spec |= {"holderIdentity": holder, "renewTime": now, "leaseDurationSeconds": duration}
        kind = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
        return kind | {"metadata": known.get("metadata") or {"name": LEASE}, "spec": spec}


def _is_ours(pod: Mapping[str, Any]) -> bool:
    """Whether somebody who leads, or has led, let a pod go."""
    meta = pod["metadata"]
    return names.FINALIZER in (meta.get("finalizers") or ()) or names.ATTEMPT in (meta.get("annotations") or {})


def _seen(document: dict[str, Any]) -> Seen:
    spec = document.get("spec") or {}
    duration = float(spec.get("leaseDurationSeconds") or 0)
    return Seen(document["metadata"]["resourceVersion"], spec.get("holderIdentity") or "", duration, document)
