"""`kubernetes release`: take the governor out of a cluster."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from fairhold.cli.cluster_service import open_cluster
from fairhold.errors import count, printable
from fairhold.runtime.outlet import warn

if TYPE_CHECKING:
    from pathlib import Path

_SHOWN = 10


def release_pods(namespace: str, kubeconfig: Path | None, context: str) -> None:
    """Let pods go and say how many. Raises InputError where the cluster cannot be used, UsageError."""
    with open_cluster(kubeconfig, context) as api:
        from fairhold.engines.kubernetes.api import ApiError, in_words  # noqa: PLC0415
        from fairhold.engines.kubernetes.releasing import release  # noqa: PLC0415

        try:
            done = release(api, namespace)
        except ApiError as error:
            rights = "ask for the right to list and change pods: `kubectl auth can-i patch pods --all-namespaces`"
            raise in_words(api.access.url, error, rights) from None
    sys.stdout.write(
        f"{count(done.gated, 'pod')} waited and may start, {count(done.kept, 'pod')} lost a mark and run on\n"
    )
    for name, why in list(done.refused.items())[:_SHOWN]:
        warn(f"{printable(name)} keeps something of Fairhold: {printable(why)}")
    if done.refused:
        warn("while the policies are in force only the service may change its pods: delete them, then run this again")
        raise typer.Exit(1)
