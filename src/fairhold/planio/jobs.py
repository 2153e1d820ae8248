"""Job files: text → `Job`s for a plan, with every fault of the file at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fairhold.model.job import Job
from fairhold.model.vector import told_of
from fairhold.planio.document import parse_document, read_text
from fairhold.planio.report import Report, kind, shown
from fairhold.planio.requests import LARGEST_PRIORITY, read_preemptible
from fairhold.planio.scalars import is_whole
from fairhold.planio.stateview import StateView
from fairhold.planio.terms import TERM_KEYS, check_after, program_text, read_terms
from fairhold.planio.vectors import asks_for_vector, read_unit

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.model.plan import Plan
    from fairhold.planio.values import Value

KEYS = ("fairhold_jobs", "jobs")
JOB_KEYS = (
    *("name", "consumer", "resource_group", "argv", "count", "submit", "priority", "directory", "environment"),
    *("unit", "min_count", "preemptible"),
    *TERM_KEYS,
)


def read_jobs(path: str | Path, plan: Plan) -> tuple[Job, ...]:
    """Read the jobs of a file, their directories and inputs absolute; raises InputError with all faults of the file.

    A relative directory starts at the folder of the job file, wherever the command is called; where the jobs come from
    standard input, in the folder of the call.
    """
    jobs = parse_jobs(read_text(path), plan, str(path))
    folder = Path.cwd() if str(path) == "/dev/stdin" else Path(path).absolute().parent
    return tuple(
        replace(job, directory=str(folder / job.directory), stdin=str(folder / job.stdin) if job.stdin else "")
        for job in jobs
    )


def parse_jobs(text: str, plan: Plan, name: str) -> tuple[Job, ...]:
    """Read the jobs of a text under a plan, in the order of the file, with directories as written.

    name : name of the file, as faults show it

    Raises InputError with all faults in the order of the file.
    """
    document = parse_document(text, name)
    report = Report(document)
    top = report.mapping(document.value, (), what="a mapping with `fairhold_jobs: 1`")
    if not top:
        report.settle()
    report.version(top, "fairhold_jobs")
    report.keys(top, KEYS, (), {})
    report.missing(top, ("jobs",), (), "a job file")
    items = report.sequence(top["jobs"], ("jobs",), what="jobs") if "jobs" in top else []
    if items == [] and isinstance(top.get("jobs"), list):
        report.fault("missing-key", "the file has no jobs", "add one under `jobs:`", ("jobs",))
    view = StateView(report, plan)
    taken: dict[str, bool] = {}
    jobs: list[tuple[int, Job]] = []
    for at, item in enumerate(items):
        if not isinstance(item, dict):  # what it then lacks is no mistake of its own
            what = f"expected a job, found {kind(item)}"
            report.fault("wrong-type", what, "write `{consumer: …, argv: […]}`", ("jobs", at))
            continue
        jobs.append((at, _read_job(view, item, ("jobs", at), _read_name(report, item, at, taken))))
    check_after(report, jobs)
    report.settle()
    return tuple(job for _, job in jobs)


def _read_name(report: Report, node: dict[str, Value], at: int, taken: dict[str, bool]) -> str:
    """Read the name of a job, `job-N` for the N-th of the file where it states none.

    taken : name of a job above → whether it is written there; grows
    """
    place: Place = ("jobs", at)
    if "name" in node:
        place = (*place, "name")
        name = report.text(node["name"], place, what="the name of a job")
        if isinstance(node["name"], str) and not is_name(name):
            mend = "use printable text that does not start with `/`, which paths of consumers do"
            report.fault("name", f"`{shown(name)}` is not a name for a job", mend, place)
        elif name in taken:
            what = f"there are two jobs `{shown(name)}`"
            if not taken[name]:
                what += "; the first has no name, so its number is its name"
            report.fault("duplicate-job", what, "give each its own name", place)
    else:
        name = f"job-{at + 1}"
        if name in taken:
            what = f"this job has no name, and the name from its number, `{name}`, is taken by another job"
            report.fault("duplicate-job", what, "add `name:`", place)
    taken.setdefault(name, "name" in node)
    return name


def is_name(name: str) -> bool:
    """Whether a job may be called so; as the id of its request it also stands in states."""
    return bool(name.strip()) and name.isprintable() and not name.startswith("/")


def _read_job(view: StateView, node: dict[str, Value], place: Place, name: str) -> Job:
    """One job; the result is of use only where the report has no fault."""
    report = view.report
    report.keys(node, JOB_KEYS, place, {})
    report.missing(node, ("consumer", "argv"), place, "a job")
    at = (*place, "priority")
    consumer = view.leaf(node["consumer"], (*place, "consumer")) if "consumer" in node else -1
    is_vector = asks_for_vector(view, node)
    unit = read_unit(view, node, consumer, place) if is_vector else ()
    _check_unit(view, node, place, is_vector=is_vector)
    return Job(
        name=name,
        consumer=consumer,
        resource_group="" if is_vector else view.group_of(node, place),
        unit=told_of(view.plan.resources, unit) if unit else (),
        min_count=report.whole(node.get("min_count", 0), (*place, "min_count")),
        preemptible=read_preemptible(
            view, node, (*place, "preemptible"), is_queue=is_vector and view.has_queues(consumer)
        ),
        argv=_read_argv(report, node["argv"], (*place, "argv")) if "argv" in node else (),
        count=report.whole(node.get("count", 1), (*place, "count"), least=1),
        submit=report.duration(node.get("submit", 0), (*place, "submit")),
        priority=report.whole(node.get("priority", 0), at, least=-LARGEST_PRIORITY, most=LARGEST_PRIORITY),
        directory=program_text(report, node.get("directory", ""), (*place, "directory"), "a folder"),
        environment=_read_environment(report, node.get("environment"), (*place, "environment")),
        **read_terms(report, node, place),
    )


def _check_unit(view: StateView, node: dict[str, Value], place: Place, *, is_vector: bool) -> None:
    """Refuse what does not go together: slots beside a unit of resources, a gang that is larger than its job."""
    report = view.report
    for key in ("unit", "min_count") if not is_vector else ():
        if key in node:
            what = f"`{key}` is for jobs that need resources of hosts, and this job needs slots"
            report.fault("wrong-unit", what, "write `units`: the slots that a task needs at once", (*place, key))
    if is_vector and "units" in node:
        what = "a job has either `units` (slots) or a `unit` of resources"
        report.fault("wrong-unit", what, "leave it out", (*place, "units"))
    least, count = node.get("min_count", 0), node.get("count", 1)
    if is_vector and is_whole(least) and is_whole(count) and least > count:
        what = f"`min_count` {least} is more than `count` {count}"
        report.fault("gang-above-count", what, "lower `min_count` or raise `count`", (*place, "min_count"))


def _read_argv(report: Report, value: Value, place: Place) -> tuple[str, ...]:
    """Read the command and its arguments."""
    items = report.sequence(value, place, what="strings, the command and its arguments")
    argv = tuple(program_text(report, item, (*place, at), "an argument") for at, item in enumerate(items))
    if isinstance(value, list) and (not items or items[0] == ""):
        report.fault("missing-key", "the command is empty", "name a program", place)
    return argv


def _read_environment(report: Report, value: Value, place: Place) -> dict[str, str]:
    """Variables added to the caller's."""
    variables = {}
    for name, text in report.mapping(value, place, what="variables with their values").items():
        here = (*place, name)
        if not name or "=" in name or "\0" in name:
            report.fault("name", f"`{shown(name)}` is not a name for a variable", "use a name without `=`", here)
        variables[name] = program_text(report, text, here, "the value of a variable")
    return variables
