"""`kubectl fairhold`: what people ask who use a cluster, of the service that governs it."""

from __future__ import annotations

from collections.abc import Callable  # noqa: TC003 - annotations are read
from functools import partial, wraps
from inspect import Parameter, signature
from pathlib import Path  # noqa: TC003 - Typer reads annotations
from typing import Annotated, Any, NamedTuple, get_type_hints

import typer

from fairhold.cli.arguments import INPUT
from fairhold.cli.live.careful import Careful, all_careful
from fairhold.cli.live.options import Json  # noqa: TC001 - Typer reads annotations

plugin = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    help="Ask Fairhold, which governs this cluster: why a pod waits, who has what, what a plan would change.",
)
explain_app = typer.Typer(no_args_is_help=True, help="Explain a pod or a consumer.")
suggest_app = typer.Typer(no_args_is_help=True, help="Find what would start a pod.")


@suggest_app.callback()
def suggest() -> None:
    """Find what would start a pod."""


Namespace = Annotated[
    str, typer.Option("--namespace", "-n", metavar="NAME", help="Namespace of the pod; default: that of the context.")
]


class Wanted(NamedTuple):
    """Which service is asked, as the options of every command say.

    kubeconfig, context : of the cluster, as kubectl has them
    home    : namespace of the service
    service : URL of another one, empty = the one in the cluster
    """

    kubeconfig: Annotated[
        Path | None,
        typer.Option("--kubeconfig", metavar="FILE", help="How the cluster is reached; default: as kubectl does."),
    ] = None
    context: Annotated[str, typer.Option("--context", metavar="NAME", help="Context of the kubeconfig.")] = ""
    home: Annotated[
        str, typer.Option("--fairhold-namespace", metavar="NAME", help="Namespace in which the service runs.")
    ] = "fairhold"
    service: Annotated[
        str, typer.Option("--service", metavar="URL", help="Ask a service there; default: the one in the cluster.")
    ] = ""


def asks(command: Callable[..., None]) -> Callable[..., None]:
    """A command that has the options of `Wanted` in the place of its parameter `at`."""
    hints, stated = get_type_hints(Wanted, include_extras=True), signature(command, eval_str=True)
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])
        for name, default in Wanted._field_defaults.items()
    ]

    @wraps(command)
    def run(**given: Any) -> None:  # noqa: ANN401 - whatever the command takes
        command(at=Wanted(*(given.pop(name) for name in hints)), **given)

    own = [each for each in stated.parameters.values() if each.name != "at"]
    run.__signature__ = stated.replace(parameters=[*own, *options])  # type: ignore[attr-defined]  # Typer reads it
    return run


@explain_app.command("pod")
@asks
def explain_pod(
    pod: Annotated[str, typer.Argument(metavar="NAME", help="Name of the pod.")],
    *,
    namespace: Namespace = "",
    at: Wanted,
    json: Json = False,
) -> None:
    """Explain a pod: why it waits, who has what it needs, when that comes back; or what was taken from it."""
    from fairhold.cli.cluster_service import about_pod  # noqa: PLC0415 - every start pays for imports
    from fairhold.cli.live.pods import explain_pod as explain  # noqa: PLC0415

    about_pod(at, namespace, pod, partial(explain, as_json=json))


@explain_app.command("consumer")
@asks
def explain_consumer(
    consumer: Annotated[str, typer.Argument(metavar="PATH", help="Full path, as /Trading/Risk.")],
    *,
    at: Wanted,
    json: Json = False,
) -> None:
    """Explain the numbers of a consumer, and what would give it more."""
    from fairhold.cli.cluster_service import reach  # noqa: PLC0415
    from fairhold.cli.live import explaining  # noqa: PLC0415

    with reach(at) as target:
        explaining.explain_consumer(target, consumer, "", as_json=json)


@plugin.command("pods", cls=Careful)
@asks
def pods(
    *,
    namespace: Annotated[
        str, typer.Option("--namespace", "-n", metavar="NAME", help="Pods of this namespace alone; default: of all.")
    ] = "",
    state: Annotated[
        str, typer.Option("--state", metavar="WORD", help="waiting, refused, granted, running, notice or stopping.")
    ] = "",
    at: Wanted,
    json: Json = False,
) -> None:
    """List the pods that are governed, and where they stand."""
    from fairhold.cli.cluster_service import reach  # noqa: PLC0415
    from fairhold.cli.live.pods import list_pods  # noqa: PLC0415

    with reach(at) as target:
        list_pods(target, namespace, state, as_json=json)


@plugin.command(cls=Careful)
@asks
def observed(
    *,
    at: Wanted,
    json: Json = False,
) -> None:
    """Show which pods would be started, told to go and stopped now, beside what the cluster does with them."""
    from fairhold.cli.cluster_service import reach  # noqa: PLC0415
    from fairhold.cli.live.observing import show_observed  # noqa: PLC0415

    with reach(at) as target:
        show_observed(target, as_json=json)


@plugin.command(cls=Careful)
@asks
def top(
    *,
    once: Annotated[bool, typer.Option("--once", help="Print once, as text.")] = False,
    at: Wanted,
    json: Json = False,
) -> None:
    """Show what consumers own, hold, borrow and wait for, live; `q` quits."""
    from fairhold.cli.cluster_service import reach  # noqa: PLC0415
    from fairhold.cli.live.top import show_top  # noqa: PLC0415

    with reach(at) as target:
        show_top(target, once=once, as_json=json)


@plugin.command(cls=Careful)
@asks
def diff(
    plan: Annotated[
        Path,
        typer.Argument(
            metavar="PLANFILE", click_type=INPUT, help="Plan file, or manifest of a Plan; `-` is standard input."
        ),
    ],
    *,
    full: Annotated[bool, typer.Option("--full", help="Show every place, switch, notice and task.")] = False,
    at: Wanted,
    json: Json = False,
) -> None:
    """Show what a plan would change in this cluster, against the plan in force; nothing is changed."""
    from fairhold.cli.cluster_service import reach  # noqa: PLC0415
    from fairhold.cli.live.plans import Shown, show_difference  # noqa: PLC0415

    with reach(at) as target:
        show_difference(target, plan, {}, (None, None), Shown(is_full=full, as_json=json))


@suggest_app.command("pod")
@asks
def suggest_for_pod(
    pod: Annotated[str, typer.Argument(metavar="NAME", help="Name of a pod that waits.")],
    *,
    namespace: Namespace = "",
    at: Wanted,
    json: Json = False,
) -> None:
    """Find the smallest changes of the plan, the nodes or the pod itself under which it would start now."""
    from fairhold.cli.cluster_service import about_pod  # noqa: PLC0415
    from fairhold.cli.live.pods import suggest_for_pod as suggest  # noqa: PLC0415

    about_pod(at, namespace, pod, partial(suggest, as_json=json))


for name, group in (("explain", explain_app), ("suggest", suggest_app)):
    all_careful(group)
    plugin.add_typer(group, name=name)
