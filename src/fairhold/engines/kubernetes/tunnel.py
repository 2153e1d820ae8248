"""The way to the service in a cluster, with the rights of whoever asks: a viewers' token, and a tunnel of kubectl.

The service listens on loopback in its pod, and nothing else is opened for this. `kubectl port-forward` reaches it there
through the API server and the kubelet, both of which see to rights and encryption.
"""

from __future__ import annotations

import base64
import binascii
import queue
import re
import shutil
import subprocess
import threading
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, NamedTuple

from fairhold.engines.kubernetes.api import ApiError, in_words
from fairhold.engines.kubernetes.manifest_rights import VIEWER
from fairhold.engines.kubernetes.manifest_settings import NAME, PORT
from fairhold.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fairhold.engines.kubernetes.api import Api

_BEGUN = re.compile(r"Forwarding from 127\.0\.0\.1:(\d+) ")
_PATIENCE = 30.0
"""Seconds in which the tunnel has to be there."""
_END = 5.0
"""Seconds that kubectl may take to end."""
_RUNNING = "5s"
"""For how long a pod of the service is waited for."""
_MANY = 4000


class Way(NamedTuple):
    """How a cluster is reached: as kubectl is told it.

    kubeconfig : None = as kubectl finds it; context: empty = its current one
    """

    kubeconfig: Path | None = None
    context: str = ""

    @property
    def words(self) -> list[str]:
        """As options of kubectl."""
        return [
            *(["--kubeconfig", str(self.kubeconfig)] if self.kubeconfig else ()),
            *(["--context", self.context] if self.context else ()),
        ]


def viewer_token(api: Api, namespace: str) -> str:
    """The viewers' token of the service in a namespace.

    Raises InputError: `kubernetes-access`, `kubernetes-rights`, or `kubernetes-no-service` where there is none.
    """
    try:
        secret = api.request("GET", f"/api/v1/namespaces/{namespace}/secrets/{VIEWER}")
        token = base64.b64decode((secret.get("data") or {}).get("token") or "").decode("ascii")
    except ApiError as error:
        raise refusal(api, error, namespace) from None
    except (binascii.Error, UnicodeDecodeError):
        token = ""
    if not token:
        what = f"the Secret {VIEWER} in the namespace `{namespace}` has no token"
        mend = "look whether kube-controller-manager runs, which writes it, and apply the manifest again"
        raise InputError([Fault("kubernetes-no-service", what, mend)])
    return token


def refusal(api: Api, error: ApiError, namespace: str) -> InputError:
    """What a refusal of the API server means for who asks the service in a namespace."""
    absent = _no_service(f"there is no Secret {VIEWER} in the namespace `{namespace}`")
    return in_words(api.access.url, error, _rights(namespace), absent)


def _rights(namespace: str) -> str:
    """How people get the right to ask the service."""
    return (
        f"let an administrator bind the Role {VIEWER}: `kubectl create rolebinding NAME -n {namespace} --role {VIEWER} "
        "--user USER`"
    )


def _no_service(what: str) -> Fault:
    mend = "name the namespace of the service with --fairhold-namespace, or install it: `fairhold kubernetes manifest`"
    return Fault("kubernetes-no-service", what, mend)


@contextmanager
def tunnel(way: Way, namespace: str, program: str = "kubectl") -> Iterator[int]:
    """A port of this machine's loopback behind which the service is, for as long as it is needed.

    Raises InputError: `kubectl-missing`, `kubernetes-rights`, `kubernetes-no-service`, `kubernetes-access`.
    """
    kubectl = shutil.which(program)
    if kubectl is None:
        mend = "install kubectl, or ask the service where it is with --service"
        raise InputError(
            [Fault("kubectl-missing", f"there is no program `{program}`, through which it is asked", mend)]
        )
    target = [f"service/{NAME}", f":{PORT}", "--namespace", namespace, "--address", "127.0.0.1"]
    command = [kubectl, "port-forward", *target, "--pod-running-timeout", _RUNNING, *way.words]
    process = subprocess.Popen(  # noqa: S603 - the user's own kubectl
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    reader = threading.Thread(target=_read, args=(process.stdout, lines), name="kubectl", daemon=True)
    reader.start()
    try:
        yield _port(lines, namespace)
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END)
        process.kill()
        process.wait()
        reader.join(_END)


def _read(stream: IO[str], lines: queue.SimpleQueue[str]) -> None:
    """Hand on what kubectl says, and an empty line at its end."""
    with stream:
        for line in stream:
            lines.put(line)
    lines.put("")


def _port(lines: queue.SimpleQueue[str], namespace: str) -> int:
    """Wait until the tunnel is there; what kubectl says later is left."""
    said: list[str] = []
    with suppress(queue.Empty):
        while line := lines.get(timeout=_PATIENCE):
            if found := _BEGUN.match(line):
                return int(found[1])
            said.append(line)
    raise InputError([fault_of(said, namespace)])


def fault_of(said: Sequence[str], namespace: str) -> Fault:
    """What it means that kubectl opened no tunnel, by what it said."""
    text = " ".join("".join(said)[:_MANY].split()) or "kubectl port-forward said nothing"
    if "(Forbidden)" in text or "(Unauthorized)" in text or "must be logged in" in text:
        return Fault("kubernetes-rights", text, _rights(namespace))
    if "(NotFound)" in text:
        return _no_service(text)
    if "pod is not running" in text or "timed out waiting" in text or "no pods" in text:
        text = f"no pod of the service runs in the namespace `{namespace}`: {text}"
        mend = f"look why its pod does not run: `kubectl describe pods -n {namespace}`"
        return Fault("kubernetes-no-service", text, mend)
    mend = f"try it by hand: `kubectl port-forward -n {namespace} service/{NAME} {PORT}`"
    return Fault("kubernetes-access", text, mend)
