"""Adds the commands of the live service to the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cli.kubernetes_commands import kubernetes_app
from fairhold.cli.live import (
    cluster_commands,
    job_commands,
    notify_command,
    people_commands,
    plan_commands,
    report_commands,
    service_commands,
)
from fairhold.cli.live.careful import Careful, CarefulGroup, all_careful

if TYPE_CHECKING:
    from collections.abc import Callable

    import typer

_AS_IT_IS = {"ignore_unknown_options": True}
"""`-5` is a number, and no option."""
_PASSED_ON = {**_AS_IT_IS, "allow_extra_args": True, "help_option_names": []}
_HEADING = "The live service"
"""Of the commands, in the help."""


def register(app: typer.Typer) -> None:
    """Add them, in the order in which help shows them."""
    people_apps = {"token": people_commands.token_app, "access": people_commands.access_app}
    for each in (
        cluster_commands.hosts_app,
        plan_commands.plan_app,
        service_commands.store_app,
        kubernetes_app,
        report_commands.report_app,
    ):
        all_careful(each)
    for each in (*people_apps.values(), people_commands.audit_app):
        all_careful(each)
    _add(app, service_commands.serve, job_commands.submit, job_commands.jobs, job_commands.show, job_commands.logs)
    _add(app, job_commands.files, job_commands.fetch)
    _add(app, job_commands.cancel, job_commands.hold, job_commands.release, job_commands.requeue, job_commands.move)
    app.command(cls=Careful, context_settings=_AS_IT_IS, rich_help_panel=_HEADING)(job_commands.priority)
    _add(app, notify_command.notify)
    _add(app, cluster_commands.status, cluster_commands.top, service_commands.console)
    app.add_typer(cluster_commands.hosts_app, cls=CarefulGroup, name="hosts", rich_help_panel=_HEADING)
    _add(app, cluster_commands.pause, cluster_commands.resume, cluster_commands.budgets, cluster_commands.usage)
    app.add_typer(report_commands.report_app, name="report", rich_help_panel=_HEADING)
    _add(app, cluster_commands.state)
    app.add_typer(plan_commands.plan_app, name="plan", rich_help_panel=_HEADING)
    _add(app, people_commands.login, people_commands.logout, people_commands.whoami)
    for name, each in people_apps.items():
        app.add_typer(each, cls=CarefulGroup, name=name, rich_help_panel=_HEADING)
    app.add_typer(people_commands.audit_app, cls=CarefulGroup, name="audit", rich_help_panel=_HEADING)
    _add(app, service_commands.stop, service_commands.failover)
    app.add_typer(service_commands.store_app, name="store", rich_help_panel=_HEADING)
    app.add_typer(kubernetes_app, name="kubernetes", rich_help_panel=_HEADING)
    app.command(context_settings=_PASSED_ON, add_help_option=False, rich_help_panel=_HEADING)(service_commands.agent)


def _add(app: typer.Typer, *commands: Callable[..., None]) -> None:
    for each in commands:
        app.command(cls=Careful, rich_help_panel=_HEADING)(each)
