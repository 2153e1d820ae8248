"""`import kai` and `import kueue`, with their arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairhold.cli.arguments import AFTER, INPUT
from fairhold.cli.live.careful import all_careful

Files = Annotated[
    list[Path] | None,
    typer.Argument(metavar="FILES...", click_type=INPUT, help="Files with objects, or folders of such files."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", click_type=AFTER, help="File to write the plan to; default: print it."
    ),
]
Live = Annotated[bool, typer.Option("--live", help="Read the objects that a cluster has now, instead of files.")]
Kubeconfig = Annotated[
    Path | None,
    typer.Option("--kubeconfig", metavar="FILE", help="How the cluster is reached; default: as kubectl does."),
]
Context = Annotated[str, typer.Option("--context", metavar="NAME", help="Context of the kubeconfig.")]

import_app = typer.Typer(
    no_args_is_help=True, help="Make a plan of another system's queues, and say what it cannot hold."
)


@import_app.command()
def kai(
    files: Files = None,
    *,
    output: Output = None,
    live: Live = False,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Make a plan of KAI-Scheduler's queues."""
    _import("kai", files or [], output, (live, kubeconfig, context))


@import_app.command()
def kueue(
    files: Files = None,
    *,
    output: Output = None,
    live: Live = False,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
) -> None:
    """Make a plan of Kueue's ClusterQueues, Cohorts and ResourceFlavors."""
    _import("kueue", files or [], output, (live, kubeconfig, context))


def _import(system: str, files: list[Path], output: Path | None, cluster: tuple[bool, Path | None, str]) -> None:
    from fairhold.cli.importing import import_cluster, import_files  # noqa: PLC0415 - every start pays for imports
    from fairhold.errors import UsageError  # noqa: PLC0415

    is_live, kubeconfig, context = cluster
    if is_live and files:
        raise UsageError("FILES and --live exclude each other: the objects are read from files, or from a cluster")
    if not is_live and (kubeconfig or context):
        raise UsageError("--kubeconfig and --context say which cluster is read: add --live")
    if is_live:
        import_cluster(system, kubeconfig, context, output)
    elif files:
        import_files(system, files, output)
    else:
        raise UsageError("name FILES to read, or say --live to read a cluster")


all_careful(import_app)
