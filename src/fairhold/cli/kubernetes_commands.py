"""`kubernetes` and the commands below it; what they do stands in `cli/kubernetes.py`."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads annotations
from typing import Annotated

import typer

from fairhold.cli.arguments import AFTER, INPUT

kubernetes_app = typer.Typer(no_args_is_help=True, help="Make a Kubernetes cluster one that can be governed.")


@kubernetes_app.callback()
def kubernetes() -> None:
    """Make a Kubernetes cluster one that can be governed."""


@kubernetes_app.command("manifest")
def kubernetes_manifest(
    *,
    namespace: Annotated[
        str, typer.Option("--namespace", metavar="NAME", help="Namespace of the service.")
    ] = "fairhold",
    image: Annotated[
        str, typer.Option("--image", metavar="IMAGE", help="Image of the service; default: fairhold of this version.")
    ] = "",
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan",
            metavar="FILE",
            click_type=INPUT,
            help="Plan to put in force; default: that of the ConfigMap fairhold-plan, which others make.",
        ),
    ] = None,
    replicas: Annotated[
        int, typer.Option("--replicas", metavar="N", help="1, or 0 = the service is not started.", min=0, max=1)
    ] = 1,
    user: Annotated[
        str,
        typer.Option(
            "--service-account",
            metavar="USER",
            help="User name of the service; default: that of the service account `fairhold` in the namespace.",
        ),
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", click_type=AFTER, help="File to write; default: standard output."
        ),
    ] = None,
) -> None:
    """Print all that is to be applied: rights, admission policies, plan and service; needs no cluster."""
    from fairhold.cli.kubernetes import print_manifest  # noqa: PLC0415

    print_manifest(namespace, image, plan, user, output, replicas=replicas)
