"""How the API server of a cluster is reached: a kubeconfig, or what a pod has of its own cluster."""

from __future__ import annotations

import base64
import json
import os
import ssl
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from fairhold.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

IN_CLUSTER = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_FRESH = 60.0
"""Seconds for which a token that was read is used; those of pods change before their end."""
_HELPER = 60.0
"""Seconds that a program which makes credentials may take."""


@dataclass(frozen=True, slots=True)
class Access:
    """The way to an API server.

    url      : base address
    verify   : what proves that it is the right one; also carries a client certificate
    token    : makes the bearer token of now, empty = none
    namespace : of the pod or context; own: of the pod in which the service runs itself, empty = it runs elsewhere
    proxy    : address of a proxy, empty = none
    """

    url: str
    verify: ssl.SSLContext | bool
    token: Callable[[], str] = field(default=str)
    namespace: str = "default"
    proxy: str = ""
    own: str = ""


def find_access(kubeconfig: Path | None, context: str = "") -> Access:
    """The access of a kubeconfig; None: KUBECONFIG, the pod's own, or `~/.kube/config`, whichever there is first.

    Raises InputError `kubernetes-access` with what is missing.
    """
    if kubeconfig is None and not os.environ.get("KUBECONFIG") and (IN_CLUSTER / "token").exists() and not context:
        return _in_cluster()
    said = kubeconfig or Path(os.environ.get("KUBECONFIG", "").split(os.pathsep)[0] or Path.home() / ".kube" / "config")
    if not said.exists():
        mend = "name a kubeconfig with --kubeconfig, or run in a pod with a service account"
        raise _wrong("there is no kubeconfig", mend, said)
    return _of_file(said, context)


def _in_cluster() -> Access:
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST", ""), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise _wrong("KUBERNETES_SERVICE_HOST is not set", "run in a pod, or name a kubeconfig", IN_CLUSTER)
    verify = ssl.create_default_context(cafile=str(IN_CLUSTER / "ca.crt"))
    namespace = (IN_CLUSTER / "namespace").read_text().strip()
    bracketed = f"[{host}]" if ":" in host else host
    return Access(f"https://{bracketed}:{port}", verify, _of_token_file(IN_CLUSTER / "token"), namespace, own=namespace)


def _of_file(path: Path, context: str) -> Access:
    try:
        document = yaml.safe_load(path.read_bytes())
    except (OSError, yaml.YAMLError) as error:
        raise _wrong(f"it cannot be read: {error}", "name another file with --kubeconfig", path) from None
    if not isinstance(document, dict):
        raise _wrong("this is not a kubeconfig", "name another file with --kubeconfig", path)
    chosen = context or str(document.get("current-context") or "")
    mend = "name one of its contexts with --context: `kubectl config get-contexts`"
    of_context = _named(path, document, "contexts", chosen, mend).get("context") or {}
    cluster = _named(path, document, "clusters", str(of_context.get("cluster")), mend).get("cluster") or {}
    user: Mapping[str, Any] = {}
    if of_context.get("user"):
        user = _named(path, document, "users", str(of_context["user"]), mend).get("user") or {}
    url = str(cluster.get("server") or "")
    if not url.startswith(("https://", "http://")):
        raise _wrong(f"the cluster of the context `{chosen}` has no `server`", mend, path)
    credentials = _Credentials(path, user)
    verify = _verify(path, cluster) if url.startswith("https:") else True
    if isinstance(verify, ssl.SSLContext):
        credentials.load_certificate(verify)
    return Access(
        url.rstrip("/"),
        verify,
        credentials.token,
        str(of_context.get("namespace") or "default"),
        str(cluster.get("proxy-url") or ""),
    )


def _verify(path: Path, cluster: Mapping[str, Any]) -> ssl.SSLContext:
    try:
        if data := cluster.get("certificate-authority-data"):
            verify = ssl.create_default_context(cadata=base64.b64decode(data).decode())
        elif file := cluster.get("certificate-authority"):
            verify = ssl.create_default_context(cafile=str(path.parent / file))
        else:
            verify = ssl.create_default_context()
    except (OSError, ValueError, ssl.SSLError) as error:
        raise _wrong(
            f"the certificate of the cluster cannot be used: {error}", "write the kubeconfig anew", path
        ) from None
    if cluster.get("insecure-skip-tls-verify") is True:
        verify.check_hostname, verify.verify_mode = False, ssl.CERT_NONE
    return verify


class _Credentials:
    """What a user of a kubeconfig proves himself with."""

    def __init__(self, path: Path, user: Mapping[str, Any]) -> None:
        self._path, self._user = path, user
        self._made: dict[str, Any] = {}
        self._until = 0.0

    def token(self) -> str:
        """The bearer token of now."""
        if said := self._user.get("token"):
            return str(said)
        if file := self._user.get("tokenFile"):
            return _of_token_file(self._path.parent / file)()
        return str(self._from_helper().get("token") or "") if self._user.get("exec") else ""

    def load_certificate(self, verify: ssl.SSLContext) -> None:
        """Have a connection prove itself with the user's certificate, where there is one."""
        made = self._from_helper() if self._user.get("exec") else {}
        texts = {
            "client-certificate": made.get("clientCertificateData"),
            "client-key": made.get("clientKeyData"),
        }
        for key, text in texts.items():
            if not text and (data := self._user.get(f"{key}-data")):
                texts[key] = base64.b64decode(data).decode()
            elif not text and (file := self._user.get(key)):
                texts[key] = (self._path.parent / file).read_text()
        if not all(texts.values()):
            return
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file_:  # the library reads files alone
            file_.write("\n".join(str(text) for text in texts.values()))
            file_.flush()
            verify.load_cert_chain(file_.name)

    def _from_helper(self) -> dict[str, Any]:
        """What the program that the kubeconfig names says, until it is out of date."""
        if self._made and time.time() < self._until:
            return self._made
        said = self._user["exec"]
        command = [str(said.get("command")), *map(str, said.get("args") or ())]
        extra = {str(each["name"]): str(each["value"]) for each in said.get("env") or ()}
        kind = {"apiVersion": said.get("apiVersion"), "kind": "ExecCredential", "spec": {"interactive": False}}
        try:
            done = subprocess.run(  # noqa: S603 - the program that the user's own kubeconfig names
                command,
                check=True,
                capture_output=True,
                timeout=_HELPER,
                env=os.environ | extra | {"KUBERNETES_EXEC_INFO": json.dumps(kind)},
            )
            status = dict(json.loads(done.stdout)["status"])
        except (OSError, subprocess.SubprocessError, ValueError, TypeError, KeyError) as error:
            what = f"`{command[0]}`, which makes its credentials, has failed: {error}"
            raise _wrong(what, "run `kubectl get nodes` to see more", self._path) from None
        self._made, self._until = status, time.time() + _FRESH
        return self._made


def _of_token_file(path: Path) -> Callable[[], str]:
    known: list[tuple[float, str]] = []

    def token() -> str:
        if not known or time.monotonic() - known[0][0] > _FRESH:
            known[:] = [(time.monotonic(), path.read_text().strip())]
        return known[0][1]

    return token


def _named(path: Path, document: Mapping[str, Any], key: str, name: str, mend: str) -> Mapping[str, Any]:
    for each in document.get(key) or ():
        if isinstance(each, dict) and each.get("name") == name:
            return each
    raise _wrong(f"it has no `{name}` under `{key}`" if name else "it has no current context", mend, path)


def _wrong(what: str, mend: str, path: Path) -> InputError:
    return InputError([Fault("kubernetes-access", what, mend, file=str(path))])
