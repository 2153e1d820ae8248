"""What a task needs of resources, as a program or a person says it: `{cpu: 4, memory: 16}`."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.errors import InputError
from fairhold.model.vector import told_of
from fairhold.planio.document import parse_document
from fairhold.planio.report import Report
from fairhold.planio.resources import known, read_vector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.model.plan import Plan
    from fairhold.model.vector import Told

UNIT = "unit"


def told_unit(plan: Plan, said: Mapping[str, int | float | str]) -> Told:
    """A unit in the resources of a plan; raises InputError with all that is wrong, at `unit`."""
    document = parse_document(json.dumps({UNIT: dict(said)}), "the unit")
    report = Report(document)
    top = document.value if isinstance(document.value, dict) else {}
    unit = read_vector(report, top.get(UNIT), (UNIT,), known(plan.resources), what="amounts by resource")
    if not report.faults and not any(unit):
        what = "the unit needs nothing of any resource"
        report.fault("out-of-range", what, "write an amount above 0 of one resource at least", (UNIT,))
    if report.faults:
        raise InputError([replace(fault, file="", line=0, column=0) for fault in report.faults])
    return told_of(plan.resources, unit)
