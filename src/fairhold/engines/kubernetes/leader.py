"""Holds the lease of the service that leads: the thread and the requests of `leadership`, and the fence for writes.

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
import threading
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.api import ApiError, clock
from fairhold.engines.kubernetes.leadership import NOBODY_YET, Ask, Do, Leadership, Refused, Seen, Terms
from fairhold.engines.kubernetes.writes import JSON
from fairhold.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.engines.kubernetes.api import Api

LEASE = "fairhold"
_LOG = logging.getLogger("fairhold")
_WAKE = 0.2
"""Seconds after which a writer that waits looks whether it is to end."""


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


class Leader:
    """One participant.

    api     : client of its own, closed with this
    on_lost : called by the thread when it leads no more, though nobody asked
    """

    def __init__(self, api: Api, namespace: str, terms: Terms, on_lost: Callable[[], None] = lambda: None) -> None:
        self.on_lost = on_lost
        self._api, self._namespace, self._terms = api, namespace, terms
        self._path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._core = Leadership(f"{socket.gethostname()}-{secrets.token_hex(4)}", terms)
        self._changed = threading.Condition()
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="lease", daemon=True)
        self._told = self._complained = ""

    @property
    def identity(self) -> str:
        """By which the lease names this process."""
        return self._core.identity

    @property
    def term(self) -> tuple[str, int]:
        """The lease that it holds, and how often that has changed hands: one more for every process that has led."""
        with self._changed:
            document = self._core.seen.document if self._core.seen else {}
        spec: Mapping[str, Any] = document.get("spec") or {}
        return str((document.get("metadata") or {}).get("uid", "")), int(spec.get("leaseTransitions") or 0)

    @property
    def lost(self) -> str:
        """Why it leads no more, empty = it does or has not yet."""
        with self._changed:
            return self._core.lost

    @property
    def write(self) -> float:
        """Seconds that a write may take."""
        return self._terms.write

    @property
    def leads(self) -> bool:
        """Whether it leads for sure."""
        with self._changed:
            return self._core.left(clock()) > 0

    def start(self) -> None:
        """Look at the lease, then take and hold it. Raises ApiError; InputError `lease-namespace`."""
        ask = Ask(Do.LOOK)
        began = clock()
        seen = self._request(ask)
        if not seen.version:
            self._check_namespace()
            self._core.is_first = not any(_is_ours(pod) for pod in self._api.list("/api/v1/pods")[0])
        self._answered(ask, began, seen)
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Wait for so long to lead; whether it does."""
        with self._changed:
            return self._changed.wait_for(lambda: self._core.left(clock()) > 0, seconds)

    def passes(self, is_closing: threading.Event) -> bool:
        """Wait until the lease is held for longer than a write may take; False: it never will be, or is_closing."""
        with self._changed:
            while not (self._is_closing or self._core.lost or is_closing.is_set()):
                if self._core.left(clock()) >= self._terms.write:
                    return True
                self._changed.wait(_WAKE)
            return False

    def close(self) -> None:
        """Lead no more; who waits for the lease gets it at once. May be called twice."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join()
        ask = self._core.release()
        if ask is not None:
            try:
                self._request(ask)
            except ApiError as error:
                _LOG.info("the lease could not be released, it ends by itself: %s", error)
        self._api.close()

    def _run(self) -> None:
        while True:
            with self._changed:
                ask = self._core.next(clock())
                if self._is_closing or self._core.lost:
                    break
                if ask is None:
                    self._changed.wait(max(0.0, self._core.due() - clock()))
                    continue
            began = clock()
            try:
                answer: Seen | Refused = self._request(ask)
            except ApiError as error:
                answer = Refused.CONFLICT if error.status == HTTPStatus.CONFLICT else Refused.UNKNOWN
                self._complain(error)
            except Exception:  # noqa: BLE001 - a fault of ours: nobody would know that the lease has ended
                answer = Refused.UNKNOWN
                _LOG.exception("the lease could not be asked for")
            self._answered(ask, began, answer)
        if self.lost and not self._is_closing:
            self.on_lost()

    def _check_namespace(self) -> None:
        try:
            self._api.request("GET", f"/api/v1/namespaces/{self._namespace}")
        except ApiError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            what = f"there is no namespace `{self._namespace}` for the lease"
            raise InputError([Fault("lease-namespace", what, "name another with --lease-namespace")]) from None

    def _answered(self, ask: Ask, began: float, answer: Seen | Refused) -> None:
        with self._changed:
            self._core.answered(ask, began, clock(), answer)
            self._changed.notify_all()
        if isinstance(answer, Seen):
            self._complained = ""
            self._tell(answer)

    def _tell(self, seen: Seen) -> None:
        """Say once who leads."""
        if self.lost or seen.holder == self._told:
            return
        if seen.holder == self.identity:
            _LOG.info("%s leads", self.identity)
        elif seen.holder == NOBODY_YET:
            _LOG.info("waiting: the lease is new, and is taken in %g seconds", seen.duration)
        elif seen.holder:
            _LOG.info("waiting: %s leads", seen.holder)
        self._told = seen.holder

    def _complain(self, error: ApiError) -> None:
        if error.status != HTTPStatus.CONFLICT and str(error) != self._complained:
            self._complained = str(error)
            _LOG.warning("the lease %s in %s cannot be used: %s", LEASE, self._namespace, error)

    def _request(self, ask: Ask) -> Seen:
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
