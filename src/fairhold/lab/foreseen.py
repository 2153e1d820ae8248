"""What can be told of jobs before any is played: whether their file is there, and whether any comes in time."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from fairhold.errors import InputError
from fairhold.planio.report import shown
from fairhold.traces.source import TENANTS
from fairhold.traces.tenantkeys import read_tenants
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fairhold.errors import Fault, Place
    from fairhold.lab.moments import Moment
    from fairhold.model.workload import Workload
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value
    from fairhold.traces.scaling import Scaling


def refuse_unreadable(report: Report, top: Mapping[str, Value], folder: Path) -> tuple[Fault, ...]:
    """Tell where the file of the workload or the record cannot be opened; returns what is wrong in one of tenants.

    top    : of the scenario, whatever is wrong with it
    folder : where names of files start
    """
    workload = top.get("workload")
    if "record" in top:
        _refuse_file(report, top["record"], ("record",), folder)
    elif isinstance(workload, dict):
        is_there = _refuse_file(report, workload.get("file"), ("workload", "file"), folder)
        if is_there and workload.get("kind") == TENANTS:
            try:
                read_tenants(folder / str(workload["file"]))
            except InputError as error:
                return error.faults
    return ()


def refuse_no_time(report: Report, scaling: Scaling, start: int | None, end: Moment | None, warm_up: int) -> None:
    """Tell where the scenario is over before its jobs come, or begins after them, as far as both are stated."""
    if scaling.begin is not None or scaling.time != 1:
        return  # jobs come at other times than their trace says
    if start is not None and scaling.until is not None and start >= scaling.until:
        what = "no job is simulated: `start` is not before `workload.until`"
        report.fault("out-of-range", what, "write an earlier instant", ("start",))
    if end is None or scaling.start is None or (end.is_after and start is None):
        return
    if end.at(start or 0) <= scaling.start + (warm_up if start is None else 0):
        what = "the scenario ends before the measured time starts: its jobs come from `workload.from` on"
        report.fault("out-of-range", what, "set a later `end`", ("end",))


def refuse_no_jobs(report: Report, workload: Workload, start: int, begin: int, end: int | None) -> None:
    """Tell where a workload that was read leaves nothing to play or to measure.

    start, begin, end : of the scenario, its first measured instant, and None = when all is over
    """
    if not len(workload):
        mend = "look at its file, and at `where`, `from`, `until` and `scale.load`"
        report.fault("out-of-range", "no job is left of the workload", mend, ("workload",))
        return
    first, last = workload.submit[0], workload.submit[-1]
    if last < start or (end is not None and first >= end):
        what = f"no job is simulated: they come from {format_instant(first)} to {format_instant(last)}"
        place = ("start",) if last < start else ("end",)
        report.fault("out-of-range", what, f"set another `{place[0]}`, or `workload.begin`", place)
    elif end is None and last < begin:
        what = f"nothing is measured: the last job is submitted at {format_instant(last)}, before the warm-up ends"
        report.fault("out-of-range", what, "write a shorter `warm_up`, or set `end`", ("warm_up",))


def _refuse_file(report: Report, name: Value, place: Place, folder: Path) -> bool:
    """Whether a file can be opened; a value that is no name is told elsewhere."""
    if not isinstance(name, str):
        return False
    file = folder / name
    try:
        with file.open("rb"):
            return True
    except OSError as error:
        what = f"the file {shown(str(file))} cannot be read: {error.strerror}"
    except ValueError:
        what = "the name of the file holds a NUL character"
    report.fault("cannot-read", what, _mend(file), place)
    return False


def _mend(file: Path) -> str:
    """What else is in the folder that is called alike."""
    try:
        there = sorted(each.name for each in file.parent.iterdir() if each.is_file())[:5000]
    except (OSError, ValueError):
        return "name a file; names start at the folder of the scenario"
    if file.name in there:
        return "change its permissions so that you may read it"
    close = get_close_matches(file.name, there, n=1)
    return f"did you mean `{shown(close[0])}`?" if close else "name a file; names start at the folder of the scenario"
