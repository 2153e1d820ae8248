"""`kubernetes manifest`: read the plan, print the documents."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.cli.writing import refuse_same, write_whole
from fairhold.engines.kubernetes.manifest import documents, text_of
from fairhold.engines.kubernetes.manifest_settings import ManifestSettings
from fairhold.errors import UsageError, printable
from fairhold.planio.document import read_text
from fairhold.planio.plan import parse_plan
from fairhold.runtime.outlet import warn

if TYPE_CHECKING:
    from pathlib import Path

_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def print_manifest(
    namespace: str,
    image: str,
    plan: Path | None,
    user: str,
    output: Path | None,
    *,
    replicas: int,
    observes: bool,
) -> None:
    """Print or write everything that is to be applied. Raises InputError with the faults of the plan, UsageError."""
    if not _NAMESPACE.fullmatch(namespace):
        raise UsageError(f"--namespace {printable(namespace)}: write small letters, digits and `-`, at most 63")
    text = _checked(plan) if plan else ""
    settings = ManifestSettings(namespace, replicas=replicas, user=user, plan=text, observes=observes)
    text = text_of(documents(replace(settings, image=image) if image else settings))
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
