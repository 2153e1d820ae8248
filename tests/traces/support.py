"""Workloads of small files that a test writes."""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING

import pytest

from fairhold.errors import Fault, InputError
from fairhold.planio.document import parse_document
from fairhold.planio.report import Report
from fairhold.traces.workload import read_workload

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.model.workload import Workload
    from fairhold.traces.findings import Findings


def workload_of(section: str, folder: Path) -> tuple[Workload, Findings]:
    """The jobs of a section as a scenario has it."""
    text = f"workload: {section}" if section.startswith("{") else "workload:\n" + indent(section.strip("\n"), "  ")
    document = parse_document(text, "scenario.yaml")
    assert isinstance(document.value, dict)
    return read_workload(Report(document), document.value["workload"], ("workload",), folder)


def faults_of(section: str, folder: Path) -> tuple[Fault, ...]:
    """What is said of a section that cannot be used."""
    with pytest.raises(InputError) as caught:
        workload_of(section, folder)
    return caught.value.faults


def jobs_of(workload: Workload) -> list[tuple[object, ...]]:
    """(name, submit, consumer, tasks, duration) of every job."""
    return [
        (name, submit, workload.consumers[consumer], tasks, duration)
        for name, submit, consumer, tasks, duration in zip(
            workload.name, workload.submit, workload.consumer, workload.tasks, workload.duration, strict=True
        )
    ]
