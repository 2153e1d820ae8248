"""`kubernetes manifest`: read the plan, print the documents."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.cli.writing import refuse_same, write_whole
from fairhold.engines.kubernetes.manifest import documents, text_of
from fairhold.errors import UsageError, printable
from fairhold.planio.document import read_text
from fairhold.planio.plan import parse_plan
from fairhold.runtime.outlet import warn

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.engines.kubernetes.manifest_settings import ManifestSettings

_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def print_manifest(settings: ManifestSettings, plan: Path | None, output: Path | None) -> None:
    """Print or write everything that is to be applied. Raises InputError with the faults of the plan, UsageError.

    plan : its file, None = as the settings say
    """
    if not _NAMESPACE.fullmatch(settings.namespace):
        raise UsageError(
            f"--namespace {printable(settings.namespace)}: write small letters, digits and `-`, at most 63"
        )
    if plan and settings.plan_object:
        raise UsageError("--plan and --plan-object: name one of them")
    text = text_of(documents(replace(settings, plan=_checked(plan)) if plan else settings))
    if output is None:
        sys.stdout.write(text)
        return
    if plan:
        refuse_same(output, plan, "--output names the plan")
    write_whole(output, text)


def _checked(path: Path) -> str:
    """Text of a plan without faults; its warnings are told."""
    text = read_text(path)
    for warning in parse_plan(text, str(path), places=True)[1]:
        warn(str(warning))
    return text
