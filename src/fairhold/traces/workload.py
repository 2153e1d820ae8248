"""From the section `workload:` of a scenario to its jobs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.planio.report import shown
from fairhold.traces.findings import Findings, refuse
from fairhold.traces.inventing import invent
from fairhold.traces.loading import load
from fairhold.traces.scaling import Scaling, factor_of, scaled
from fairhold.traces.source import Source, read_source
from fairhold.traces.tenantkeys import MOST_JOBS, read_tenants
from fairhold.units import format_instant

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.errors import Place
    from fairhold.model.workload import Workload
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

LATEST = 8_835_609_600_000_000
"""The last instant at which a job is submitted, 2249-12-28: what happens later is not told from never."""


def read_workload(report: Report, value: Value, place: Place, folder: Path) -> tuple[Workload, Findings]:
    """Read the section and what it names.

    report : of the scenario; faults of the section are added, and then all of it are raised
    place  : where the section stands in the scenario
    folder : where names of files start, as a rule that of the scenario

    Returns the jobs and what was left out of them. Raises InputError where the section is at fault, a file cannot be
    used, or rows are at fault and `faults: skip` does not say that they may be.
    """
    source = read_source(report, value, place, folder)
    if source is None:
        report.settle()
        raise AssertionError("a section without faults is a source")
    return make_workload(source)


def make_workload(source: Source) -> tuple[Workload, Findings]:
    """Read or invent the jobs of a source; raises InputError."""
    if source.reading is not None:
        workload, findings = load(source.reading)
        return _scaled(workload, source.scaling, findings), findings
    assert source.tenants is not None, "a source without a trace has tenants"
    tenants = read_tenants(source.tenants)
    tenants = replace(
        tenants,
        seed=tenants.seed if source.seed is None else source.seed,
        length=tenants.length if source.length is None else source.length,
    )
    workload = invent(tenants)
    findings = Findings(str(source.tenants), "job")
    findings.rows = len(workload)
    return _scaled(workload, source.scaling, findings), findings


def _scaled(workload: Workload, scaling: Scaling, findings: Findings) -> Workload:
    """The workload as changed; raises InputError where a factor is for nobody."""
    paths = [f"{path}/" for path in workload.consumers]
    for path, _ in scaling.load:
        if path != "/" and not any(each.startswith(f"{path}/") for each in paths):
            what = f"`scale.load` names `{shown(path)}`, and no job is submitted there or below"
            raise refuse("unknown-consumer", findings.name, what, "name a consumer of the workload, or one above it")
    _refuse_absurd(workload, scaling, findings.name)
    return scaled(workload, scaling)


def _refuse_absurd(workload: Workload, scaling: Scaling, name: str) -> None:
    """Raise InputError where factors make more jobs than memory holds, or jobs come after all that can be played."""
    if not len(workload):
        return
    jobs = sum(
        count * factor_of(workload.consumers[consumer], scaling.load)
        for consumer, count in Counter(workload.consumer).items()
    )
    if jobs > MOST_JOBS:
        what = f"`scale.load` makes {int(jobs):,} jobs of {len(workload):,}, and at most {MOST_JOBS:,} can be simulated"
        raise refuse("out-of-range", name, what, "write a smaller factor")
    first = workload.submit[0] if scaling.start is None else scaling.start
    last = workload.submit[-1] if scaling.until is None else min(workload.submit[-1], scaling.until)
    last = (first if scaling.begin is None else scaling.begin) + int((last - first) * scaling.time)
    if last > LATEST:
        what = f"the last job would be submitted after {format_instant(LATEST)}"
        raise refuse("out-of-range", name, what, "correct it, or set an earlier `begin:` or a smaller `scale.time`")
