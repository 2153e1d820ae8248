"""`submit --file`: the jobs of a job file, each when it says so and after those that it waits for."""

from __future__ import annotations

import time
from dataclasses import replace
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fairhold.cli.live.connection import Connection, connect
from fairhold.cli.live.notifying import events_of
from fairhold.cli.live.options import by_name
from fairhold.cli.live.printing import say, say_json
from fairhold.cli.live.submitting import READABLE, Wishes, left, read_stdin, wait_for
from fairhold.client import steps
from fairhold.client.terms import job_terms, new_key, own_environment
from fairhold.errors import Fault, InputError, UsageError, count
from fairhold.runtime.outlet import tell
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.client.exchange import Document
    from fairhold.model.job import Job
    from fairhold.model.plan import Plan


class _Due(NamedTuple):
    """A job of the file. submit : seconds from the start; at : its place in the file; terms : without `after`."""

    submit: float
    at: int
    job: Job
    terms: Document


def submit_file(service: str, path: Path, consumer: str, wishes: Wishes, key: str, *, wait: bool, as_json: bool) -> int:
    """Submit the jobs of a job file, each when it says so; prints number and name of each."""
    if consumer or replace(wishes, hold=False, labels=[], user="", notify=None) != Wishes():
        raise UsageError(
            "`submit --file` takes what jobs are from the file; with it go --hold, --label, --user, --notify,"
            " --key and --wait"
        )
    from fairhold.planio.jobs import read_jobs  # noqa: PLC0415
    from fairhold.planio.plan import parse_plan  # noqa: PLC0415

    connection = connect(service)
    plan = parse_plan(connection.run(steps.plan())["text"], "the plan in force")[0]
    source = Path("/dev/stdin") if str(path) == "-" else path
    due = _in_order(read_jobs(source, plan), plan, wishes, path)
    key = key or new_key()
    _check(connection, due, key, path)
    began = time.monotonic()
    sent: dict[str, Document] = {}
    try:
        for each in due:
            time.sleep(max(0.0, began + each.submit - time.monotonic()))
            terms = each.terms | _after(each.job, sent)
            sent[each.job.name] = found = _submit(connection, terms, f"{key}-{each.at}", path, each.at)
            if not as_json:
                say(f"{found['job']}  {each.job.name}")
        if as_json and not wait:
            say_json(list(sent.values()))
        return wait_for(connection, list(sent.values()), as_json=as_json) if wait else 0
    except BaseException as error:
        if len(sent) < len(due):
            tell(f"{len(sent)} of {count(len(due), 'job')} submitted; `--key {key}` submits only the rest")
        if isinstance(error, KeyboardInterrupt):
            return left(list(sent.values()))
        raise


def _in_order(jobs: Sequence[Job], plan: Plan, wishes: Wishes, path: Path) -> list[_Due]:
    """All jobs as they are submitted: none before its time, and none before one that it waits for."""
    named = {job.name: (at, job) for at, job in enumerate(jobs)}
    waits = {job.name: [needed.job for needed in job.after if needed.job in named] for job in jobs}
    submit: dict[str, int] = {}
    for name in TopologicalSorter(waits).static_order():
        submit[name] = max([named[name][1].submit, *(submit[needed] for needed in waits[name])])
    # Sorting keeps the order of those that are due together.
    return [
        _Due(submit[name] / SECOND, at, job, _terms(plan, job, wishes, path, at))
        for name, (at, job) in sorted(((name, named[name]) for name in submit), key=lambda each: submit[each[0]])
    ]


def _check(connection: Connection, due: list[_Due], key: str, path: Path) -> None:
    """Refuse a file with every job that would be refused, before the first is submitted."""
    names = {each.job.name for each in due}
    faults: dict[int, tuple[Fault, ...]] = {}
    for each in due:
        others = replace(each.job, after=tuple(needed for needed in each.job.after if needed.job not in names))
        try:
            connection.run(steps.check_job(each.terms | _after(others, {}), f"{key}-{each.at}"))
        except InputError as error:
            faults[each.at] = _placed(error, path, each.at).faults
    if faults:
        raise InputError(fault for at in sorted(faults) for fault in faults[at])


def _submit(connection: Connection, terms: Document, key: str, path: Path, at: int) -> Document:
    """Submit a job of a file; a fault is one of this place of the file."""
    try:
        return connection.run(steps.submit(terms, key))
    except InputError as error:
        raise _placed(error, path, at) from None


def _placed(error: InputError, path: Path, at: int) -> InputError:
    return InputError(replace(fault, file=str(path), place=("jobs", at, *fault.place)) for fault in error.faults)


def _after(job: Job, sent: dict[str, Document]) -> Document:
    """What a job waits for: names of the file as the numbers that they got."""
    rows = [{"job": sent[each.job]["job"] if each.job in sent else each.job, "on": each.on} for each in job.after]
    return {"after": rows} if rows else {}


def _terms(plan: Plan, job: Job, wishes: Wishes, path: Path, at: int) -> Document:
    try:
        stdin = read_stdin(Path(job.stdin)) if job.stdin else b""
    except InputError as error:
        what = f"{job.stdin}: {error.faults[0].what}"
        raise InputError([Fault("cannot-read", what, READABLE, ("jobs", at, "stdin"), str(path))]) from None
    return job_terms(
        plan.tree.paths[job.consumer],
        job.argv,
        environment=own_environment() | dict(job.environment),
        directory=job.directory,
        stdin=stdin,
        count=job.count,
        throttle=job.throttle,
        units=job.units,
        unit=dict(job.unit) or None,
        min_count=job.min_count,
        preemptible=job.preemptible,
        resource_group=job.resource_group or None,
        priority=job.priority,
        name=job.name,
        hold=job.hold or wishes.hold,
        user=wishes.user or None,
        notify=events_of("--notify", wishes.notify),
        labels={**job.labels, **by_name(wishes.labels)},
        time_limit=_duration(job.time_limit) if job.time_limit else None,
        memory=job.memory or None,
        retries=job.retries,
        backoff=_duration(job.backoff) if job.retries else None,
        signal=job.signal if job.signal != "TERM" else None,
        lead=_duration(job.lead) if job.lead else None,
        need=[*job.siting.need],
        prefer=[*job.siting.prefer],
        avoid=[*job.siting.avoid],
        place=job.siting.place or None,
    )


def _duration(micros: int) -> str:
    return f"{micros // SECOND}.{micros % SECOND:06}s"
