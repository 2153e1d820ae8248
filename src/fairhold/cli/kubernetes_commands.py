"""`kubernetes` and the commands below it; what they do stands in `cli/kubernetes.py`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path  # noqa: TC003 - Typer reads annotations
from typing import Annotated

import typer

from fairhold.cli.arguments import AFTER, INPUT
from fairhold.cli.live.options import Json, Service  # noqa: TC001 - Typer reads annotations

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
    plan_object: Annotated[
        str, typer.Option("--plan-object", metavar="NAME", help="Take the plan from this Plan of the cluster.")
    ] = "",
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
    observe_only: Annotated[
        bool, typer.Option("--observe-only", help="Of a service that decides nothing: rights to look, no policies.")
    ] = False,
    no_viewer: Annotated[
        bool, typer.Option("--no-viewer", help="Without the token of those who may look, and their role.")
    ] = False,
    oidc_secret: Annotated[
        str, typer.Option("--oidc-secret", metavar="NAME", help="Secret with that of the sign-in provider.")
    ] = "",
    smtp_secret: Annotated[
        str, typer.Option("--smtp-secret", metavar="NAME", help="Secret with the password for the mail server.")
    ] = "",
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="OPTION", help="Further option of `serve`: `--keep-jobs=90d`. Repeatable."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", click_type=AFTER, help="File to write; default: standard output."
        ),
    ] = None,
) -> None:
    """Print all that is to be applied: rights, admission policies, plan and service; needs no cluster."""
    from fairhold.cli.kubernetes import print_manifest  # noqa: PLC0415
    from fairhold.engines.kubernetes.manifest_settings import ManifestSettings  # noqa: PLC0415

    settings = ManifestSettings(
        namespace,
        replicas=replicas,
        user=user,
        plan_object=plan_object,
        observes=observe_only,
        has_viewers=not no_viewer,
        oidc_secret=oidc_secret,
        smtp_secret=smtp_secret,
        options=tuple(option or ()),
    )
    print_manifest(replace(settings, image=image) if image else settings, plan, output)


@kubernetes_app.command("pods")
def kubernetes_pods(
    *,
    namespace: Annotated[
        str, typer.Option("--namespace", "-n", metavar="NAME", help="Pods of this namespace alone; default: of all.")
    ] = "",
    state: Annotated[
        str, typer.Option("--state", metavar="WORD", help="waiting, refused, granted, running, notice or stopping.")
    ] = "",
    service: Service = "",
    json: Json = False,
) -> None:
    """List the pods that are governed, and where they stand."""
    from fairhold.cli.live.pods import list_pods  # noqa: PLC0415

    list_pods(service, namespace, state, as_json=json)


@kubernetes_app.command("observed")
def kubernetes_observed(*, service: Service = "", json: Json = False) -> None:
    """Show which pods would be started, told to go and stopped now, beside what the cluster does with them."""
    from fairhold.cli.live.observing import show_observed  # noqa: PLC0415

    show_observed(service, as_json=json)


@kubernetes_app.command("release")
def kubernetes_release(
    *,
    namespace: Annotated[
        str, typer.Option("--namespace", metavar="NAME", help="Pods of this namespace alone; default: of all.")
    ] = "",
    kubeconfig: Annotated[
        Path | None,
        typer.Option("--kubeconfig", metavar="FILE", help="How the cluster is reached; default: as kubectl does."),
    ] = None,
    context: Annotated[str, typer.Option("--context", metavar="NAME", help="Context of the kubeconfig.")] = "",
) -> None:
    """Let all pods go: gates, finalizers, annotations and conditions of Fairhold are taken away, and pods run on."""
    from fairhold.cli.kubernetes_release import release_pods  # noqa: PLC0415

    release_pods(namespace, kubeconfig, context)
