"""Finds the service that governs a cluster, through its API server, for `kubectl fairhold`."""

from __future__ import annotations

from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING

from fairhold.client.errors import Refused
from fairhold.client.finding import Target, find
from fairhold.errors import Fault, InputError, UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fairhold.cli.kubectl import Wanted
    from fairhold.engines.kubernetes.api import Api

EXTRA = "this needs an extra: `pip install 'fairhold[kubernetes]'`"


@contextmanager
def open_cluster(kubeconfig: Path | None, context: str) -> Iterator[Api]:
    """A client of the cluster's API server. Raises InputError `kubernetes-access`, UsageError."""
    try:
        from fairhold.engines.kubernetes.access import find_access  # noqa: PLC0415
        from fairhold.engines.kubernetes.api import Api  # noqa: PLC0415
    except ModuleNotFoundError:
        raise UsageError(EXTRA) from None
    api = Api(find_access(kubeconfig, context))
    try:
        yield api
    finally:
        api.close()


@contextmanager
def reach(wanted: Wanted) -> Iterator[Target]:
    """The service, for as long as it is asked. Raises InputError, UsageError, ServiceMissing."""
    if wanted.service:
        yield find(wanted.service)
        return
    with open_cluster(wanted.kubeconfig, wanted.context) as api:
        from fairhold.engines.kubernetes.tunnel import Way, tunnel, viewer_token  # noqa: PLC0415

        token = viewer_token(api, wanted.home)
        with tunnel(Way(wanted.kubeconfig, wanted.context), wanted.home) as port:
            yield Target(f"http://127.0.0.1:{port}", token=token, host="localhost")


def about_pod(wanted: Wanted, namespace: str, name: str, say: Callable[[Target, str, str], None]) -> None:
    """Ask the service about a pod; of one that is not governed, say whether there is one. Raises InputError.

    say : given the service, the namespace and the name
    """
    with open_cluster(wanted.kubeconfig, wanted.context) as api, reach(wanted) as target:
        place = namespace or api.access.namespace
        try:
            say(target, place, name)
        except Refused as error:
            raise (_not_governed(api, place, name) if error.faults[0].code == "unknown-pod" else error) from None


def _not_governed(api: Api, namespace: str, name: str) -> InputError:
    """Why the service knows no such pod."""
    from fairhold.engines.kubernetes import names  # noqa: PLC0415
    from fairhold.engines.kubernetes.api import ApiError  # noqa: PLC0415

    told, place = printable(name), printable(namespace)
    try:
        api.request("GET", f"/api/v1/namespaces/{namespace}/pods/{name}")
    except ApiError as error:
        if error.status == HTTPStatus.NOT_FOUND:
            what, mend = f"there is no pod `{told}` in the namespace `{place}`", "name its namespace with -n"
            return InputError([Fault("no-such-pod", what, mend)])
        what = f"the service governs no pod `{told}` of the namespace `{place}`, and you may not look at it: {error}"
        return InputError([Fault("pod-not-governed", what, "look whether both names are right")])
    what = f"Fairhold does not govern the pod `{told}`: its namespace is not governed, or it is of a DaemonSet, or over"
    mend = f"an administrator governs a namespace with `kubectl label namespace {place} {names.GOVERNED}=true`"
    return InputError([Fault("pod-not-governed", what, mend)])
