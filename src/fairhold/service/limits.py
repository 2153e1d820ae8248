"""Limits of what one request may ask for, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.runtime.live.submitting import raised
from fairhold.service.problems import refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.errors import InputError
    from fairhold.service.models.requests import SubmitBody
    from fairhold.service.settings import RequestLimits


def too_large(name: str, limit: int, found: int) -> InputError:
    """That something goes beyond a limit."""
    return refused(
        "too-large", f"the limit `{name}` is {limit}, and there are {found}", f"ask for less, or {raised(name)}"
    )


def check_job(body: SubmitBody, limits: RequestLimits) -> None:
    """Refuse a job that no host could start, or that would fill the service."""
    words = [len(word.encode()) for word in body.argv]
    variables = [len(name.encode()) + len(value.encode()) + 2 for name, value in body.environment.items()]
    for name, limit, found in (
        ("argv", limits.argv, sum(words) + len(words)),
        ("environment", limits.environment, sum(variables)),
        ("argument", limits.argument, max([*words, *variables])),
        ("stdin", limits.stdin, len(body.stdin)),
        ("after", limits.after, len(body.after)),
    ):
        if found > limit:
            raise too_large(name, limit, found)
    check_labels(body.labels, limits)


def check_labels(labels: Mapping[str, str], limits: RequestLimits) -> None:
    """Refuse more labels than a job may have."""
    if len(labels) > limits.labels:
        raise too_large("labels", limits.labels, len(labels))


def check_plan(text: str, limits: RequestLimits) -> None:
    """Refuse a plan that would keep the service busy for long."""
    size = len(text.encode())
    if size > limits.plan:
        raise too_large("plan", limits.plan, size)
