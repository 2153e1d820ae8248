"""`fairhold run PLAN JOBS`: a job file of real commands on this machine, under the plan, in the foreground."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fairhold.engines.files import folder_name
from fairhold.errors import Fault, InputError, UsageError, printable
from fairhold.ledger.vectors import open_vectors
from fairhold.model.job import Job
from fairhold.orchestrator.vector_fitting import check_unit
from fairhold.planio.document import parse_document, read_text
from fairhold.planio.jobs import read_jobs
from fairhold.planio.plan import read_plan
from fairhold.planio.siting import SITING_KEYS
from fairhold.planio.terms import TERM_KEYS
from fairhold.runtime.lines import PlainView
from fairhold.runtime.loop import Ending, submission
from fairhold.runtime.outlet import Outlet, complain, warn
from fairhold.runtime.record import RECORD
from fairhold.runtime.summary import not_done, summary
from fairhold.runtime.wiring import LocalRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.model.plan import Plan
    from fairhold.runtime.table import TableView

_UNTOLD = 3
_OF_SERVICE = tuple(key for key in TERM_KEYS if key != "throttle")
"""Keys of a job that `run` refuses."""
_SIGNALLED = 128
"""What a shell adds to the number of the signal that ended a command."""


def run_jobs(plan_path: Path, jobs_path: Path, output: Path | None = None, *, plain: bool = False) -> int:
    """Run a job file under a plan; returns the exit code.

    output : directory for what tasks print and for the record; None = a fresh one among the temporary files
    plain  : one line an event even on a terminal

    0: all done; 1: a task failed or can never run; 3: all done, but not recorded or told to the end; 128 + N: ended by
    signal N, nothing is left running.
    Raises InputError where a file is at fault and UsageError where the output directory cannot be used; then nothing
    was started.
    """
    outlet = Outlet()
    plan, warnings = read_plan(plan_path, places=True)
    jobs = read_jobs(jobs_path, plan)
    _refuse_of_service(jobs, jobs_path)
    _refuse_max_run_time(plan, plan_path)
    _refuse_what_never_fits(plan, jobs, jobs_path)
    for warning in warnings:
        warn(str(warning))
    directory = _output_directory(output)
    _make_folders(directory, jobs)
    try:
        run = LocalRun(plan, jobs, directory, complain)
    except FileExistsError:
        raise UsageError(_another_run(directory)) from None
    outlet.say(f"output in {directory}")
    view = _view(run, outlet, plain=plain)
    try:
        ending = run.carry_out(view)
    finally:
        view.close()
    for line in summary(run.orchestrator, run.tally, run.elapsed, directory):
        outlet.say(line)
    _say_what_is_not_done(run, ending)
    if run.unrecorded:
        complain(f"the record ends before the run: {run.unrecorded}")
    if run.signal is not None:
        return _SIGNALLED + run.signal
    if ending is not Ending.DONE or any(job.failed for job in run.orchestrator.jobs.values()):
        return 1
    return _UNTOLD if run.unrecorded or outlet.lost else 0


def _refuse_of_service(jobs: Sequence[Job], path: Path) -> None:
    """Raise InputError where jobs ask for what only the service does."""
    plain = Job("", 0, "", ())
    faults = [
        Fault(
            "needs-service",
            f"`{key}` is only for the live service, not for `fairhold run`",
            "run: fairhold submit --file JOBS, or leave it out",
            ("jobs", at, key),
        )
        for at, job in enumerate(jobs)
        for key in _OF_SERVICE
        if _term(job, key) != _term(plain, key)
    ]
    if faults:
        raise _in_file(faults, path)


def _term(job: Job, key: str) -> object:
    return getattr(job.siting if key in SITING_KEYS else job, key)


def _refuse_max_run_time(plan: Plan, path: Path) -> None:
    """Raise InputError where the plan bounds how long attempts run, which only the service sees to."""
    faults = [
        Fault(
            "needs-service",
            f"`max_run_time` of `{plan.tree.paths[row]}` is only for the live service, not for `fairhold run`",
            "run: fairhold serve, or leave it out",
            ("policies", at, "consumers", plan.tree.paths[row], "max_run_time"),
        )
        for at, entry in enumerate(plan.policies)
        for row, stated in entry.consumers.items()
        if stated.max_run_time
    ]
    if faults:
        raise _in_file(faults, path)


def _refuse_what_never_fits(plan: Plan, jobs: Sequence[Job], path: Path) -> None:
    """Raise InputError where units of resources fit no host of the plan, or a gang of them never does."""
    books = open_vectors(plan)
    faults: list[Fault] = []
    for at, job in enumerate(jobs):
        if books is not None and job.unit:
            try:
                check_unit(books, submission(job, plan.tree.paths))
            except InputError as error:
                faults += (replace(fault, place=("jobs", at, "unit")) for fault in error.faults)
    if faults:
        raise _in_file(faults, path)


def _in_file(faults: Sequence[Fault], path: Path) -> InputError:
    """The faults with their lines; what is not a regular file, as a pipe, cannot be read again for them."""
    if not path.is_file():
        return InputError([replace(fault, file=str(path)) for fault in faults])
    return InputError(parse_document(read_text(path), str(path)).locate(faults))


def _output_directory(output: Path | None) -> Path:
    """The absolute output directory, made where it is missing."""
    if output is None:
        return _fresh_directory()
    try:
        directory = output.absolute()
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot use {output} for the output: {error.strerror}") from error
    if not os.access(directory, os.W_OK | os.X_OK):
        raise UsageError(f"cannot use {output} for the output: it cannot be written to")
    if (directory / RECORD).exists():
        raise UsageError(_another_run(output))
    return directory


def _another_run(directory: Path) -> str:
    return f"{directory} holds the record of another run; name a fresh directory"


def _make_folders(directory: Path, jobs: Sequence[Job]) -> None:
    """Make the folders of all jobs now: where one cannot be had, nothing is started. Raises UsageError."""
    for job in jobs:
        folder = directory / folder_name(job.name)
        why = ""
        try:
            folder.mkdir(exist_ok=True)
        except FileExistsError:
            why = "there is a file of its name"
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
        if not why and not os.access(folder, os.W_OK | os.X_OK):
            why = "it cannot be written to"
        if why:
            raise UsageError(f"cannot use {folder} for the output of job {job.name}: {why}")


def _fresh_directory() -> Path:
    """A new directory among the temporary files."""
    try:
        return Path(tempfile.mkdtemp(prefix="fairhold-run-")).absolute()
    except OSError as error:
        what = f"cannot make a directory for the output: {error.strerror}"
        raise UsageError(f"{what}; name one with --output") from error


def _view(run: LocalRun, outlet: Outlet, *, plain: bool) -> PlainView | TableView:
    """A live table on a terminal that is wide enough, plain lines elsewhere."""
    is_dumb = os.environ.get("TERM", "dumb") == "dumb"
    if plain or is_dumb or not sys.stdout.isatty():
        return PlainView(outlet.say)
    from fairhold.runtime.table import LEAST_WIDTH, TableView  # noqa: PLC0415 - Rich costs more than the rest together

    if shutil.get_terminal_size().columns < LEAST_WIDTH:
        return PlainView(outlet.say)
    return TableView(run.orchestrator, run.tally, printable(run.plan.cluster) or "fairhold run")


def _say_what_is_not_done(run: LocalRun, ending: Ending) -> None:
    """Name the jobs of which tasks neither finished nor failed, and why."""
    left = list(not_done(run.jobs, run.orchestrator, ending))
    if left:
        complain(f"not everything was done: {ending.value}")
    for job, why in left:
        complain(f"not done: job {job.name} of {run.plan.tree.paths[job.consumer]}, {why}")
