"""The steps with typed results: what both clients offer, once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict

from fairhold.client import steps
from fairhold.client.answers import Consumer, File, Host, Job, Plan, Result, Task
from fairhold.client.terms import ONS, after_rows, check_text, job_terms, new_key

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from fairhold.client.exchange import Document, Steps, Value

JobOrName = Job | str | int
One = JobOrName | tuple[JobOrName, str]
After = One | Sequence[One]
"""A job to wait for, or several."""


Moment = datetime | str
"""An instant: a `datetime` that knows its offset, or text."""


def moment(value: Moment | None) -> str | None:
    """An instant as it is sent. Raises ValueError where it has no offset."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("give an instant with its time zone, as datetime.now(UTC)")
        return value.isoformat()
    return value


def name_of(job: JobOrName) -> str:
    """Number of a job as text."""
    return job.name if isinstance(job, Job) else str(job)


def submit(
    consumer: str,
    argv: Sequence[str],
    *,
    key: str | None,
    after: After,
    environment: Mapping[str, str] | None,
    directory: str | os.PathLike[str] | None,
    stdin: bytes,
    others: Mapping[str, object],
) -> Steps[Job]:
    """Submit a job under a key, a new one where none is given."""
    rows = [_after(each) for each in _several(after)]
    terms = job_terms(
        consumer, argv, environment=environment, directory=directory, stdin=stdin, after=after_rows(rows), **others
    )
    return Job.of((yield from steps.submit(terms, key or new_key())))


class Terms(TypedDict, total=False):
    """Options of a job besides its consumer and its command, as `submit` takes them."""

    resource_group: str | None
    name: str
    count: int
    units: int
    unit: Mapping[str, int | float | str] | None
    min_count: int
    preemptible: bool | None
    throttle: int
    priority: int
    time_limit: str | int | None
    memory: int | None
    environment: Mapping[str, str] | None
    directory: str | os.PathLike[str] | None
    stdin: bytes
    hold: bool
    after: After
    retries: int
    backoff: str | int | None
    signal: str | None
    lead: str | int | None
    labels: Mapping[str, str] | None
    need: Sequence[str]
    prefer: Sequence[str]
    avoid: Sequence[str]
    place: str | None
    user: str | None
    notify: Sequence[str] | None
    key: str | None


def check_job(consumer: str, argv: Sequence[str], stated: Terms) -> Steps[Document]:
    """Whether a job would be accepted now. Raises TypeError for a word that `submit` does not take either."""
    others: dict[str, Any] = {**stated}
    for name in others.keys() - Terms.__annotations__:
        raise TypeError(f"check_job() got an unexpected keyword argument {name!r}")
    rows = [_after(each) for each in _several(others.pop("after", ()))]
    key = others.pop("key", None)
    lists: Document = {
        name: list(others[name]) for name in ("need", "prefer", "avoid", "notify") if others.get(name) is not None
    }
    maps = {name: dict(others[name]) for name in ("unit", "labels") if others.get(name) is not None}
    terms = job_terms(
        consumer,
        argv,
        environment=others.pop("environment", None),
        directory=others.pop("directory", None),
        stdin=others.pop("stdin", b""),
        after=after_rows(rows),
        **{**_stated(others), **lists, **maps},
    )
    return (yield from steps.check_job(terms, key or new_key()))


def _several(after: After) -> Sequence[One]:
    """One alone may stand without a list; a pair is one, too."""
    is_pair = isinstance(after, tuple) and len(after) == 2 and isinstance(after[1], str) and after[1] in ONS
    return [after] if is_pair or isinstance(after, Job | str | int) else after  # type: ignore[list-item]


def words(given: str | Sequence[str]) -> str:
    """Words for a query; one alone may stand without a list."""
    return given if isinstance(given, str) else ",".join(given)


def usage_query(
    by: str | Sequence[str],
    resource: str | Sequence[str],
    times: tuple[Moment | None, Moment | None],
    consumer: str | None,
    step: str | int | None,
) -> dict[str, str | None]:
    """The query for usage; times: its first and last."""
    span = {"from": moment(times[0]), "to": moment(times[1]), "step": None if step is None else str(step)}
    return {**span, "by": words(by), "resource": words(resource) or None, "consumer": consumer}


def _after(each: JobOrName | tuple[JobOrName, str]) -> str | tuple[str, str]:
    return (name_of(each[0]), each[1]) if isinstance(each, tuple) else name_of(each)


def job(name: JobOrName, *, is_expected: bool = False) -> Steps[Job]:
    """A job as it is."""
    return Job.of((yield from steps.job(name_of(name), is_expected=is_expected)))


def wait(name: JobOrName, timeout: float | None) -> Steps[Job]:
    """A job when it is over. Raises TimeoutError."""
    found = Job.of((yield from steps.wait(name_of(name), timeout)))
    if not found.is_over:
        raise TimeoutError(f"job {found.name} is {found.state} after {timeout:g} seconds")
    return found


def jobs_query(*, finished: bool, expected: bool, **said: str | None) -> dict[str, str | int | None]:
    """The query for jobs, from what is said of `consumer`, `state`, `user`, `label`, `text` and `sort`."""
    return {**said, "all": 1 if finished else None, "expected": 1 if expected else None}


def jobs(query: Mapping[str, str | int | None], most: int) -> Steps[list[Job]]:
    """Jobs that a query finds."""
    return [Job.of(row) for row in (yield from steps.jobs(query, most))["jobs"]]


def tasks(name: JobOrName) -> Steps[list[Task]]:
    """Tasks of a job."""
    return [Task.of(row) for row in (yield from steps.tasks(name_of(name)))["tasks"]]


def results(name: JobOrName, timeout: float | None) -> Steps[list[Result]]:
    """What became of every task, when the job is over. Raises TimeoutError."""
    over = yield from wait(name, timeout)
    found = []
    for each in (yield from tasks(over)):
        if not each.attempts:
            found += [Result(index, each.state, None, b"") for index in range(each.index, each.through + 1)]
            continue
        last = each.attempts[-1]
        data = yield from steps.whole_output(over.name, each.index, last.number)
        found.append(Result(each.index, each.state, last.code, data))
    return found


def output(name: JobOrName, task: int, attempt: int | None, offset: int) -> Steps[bytes]:
    """What a task has written until now, from an offset on."""
    return (yield from steps.whole_output(name_of(name), task, attempt, offset))


def files(name: JobOrName, path: str, task: int, attempt: int | None) -> Steps[list[File]]:
    """What a task has left in its job directory, or in a folder of it."""
    found = yield from steps.files(name_of(name), task, attempt, path)
    return [File.of(each) for each in found["files"]]


def file(name: JobOrName, path: str, task: int, attempt: int | None) -> Steps[bytes]:
    """A file of them."""
    return (yield from steps.whole_file(name_of(name), path, task, attempt))


def act(name: JobOrName, verb: str, body: Document | None = None) -> Steps[Job]:
    """Cancel, hold, release or requeue a job."""
    return Job.of((yield from steps.act(name_of(name), verb, body)))


def change(name: JobOrName, changes: Mapping[str, object]) -> Steps[Job]:
    """Change what is not None."""
    return Job.of((yield from steps.change(name_of(name), _stated(changes))))


def consumers() -> Steps[list[Consumer]]:
    """All consumers of all resource groups."""
    groups = (yield from steps.consumers())["resource_groups"]
    return [Consumer.of(row, group) for group, found in groups.items() for row in found["consumers"]]


def plan(version: int | None) -> Steps[Plan]:
    """A version of the plan."""
    return Plan.of((yield from steps.plan(version)))


def plan_versions() -> Steps[list[Plan]]:
    """All versions, without texts."""
    return [Plan.of(row) for row in (yield from steps.plan_versions())["versions"]]


def plan_body(  # noqa: PLR0917 - the fields of the body, in their order
    text: str,
    comment: str,
    was: Mapping[str, str] | None,
    for_: str | int | None,
    ahead: str | int | None,
    checkpoint: str | int | None,
) -> Document:
    """What is sent to put a plan in force."""
    check_text(text)
    names: Document = {"comment": comment or None, "was": dict(was) if was else None}
    given = names | {"for": for_, "next": ahead, "checkpoint": checkpoint}
    return {"text": text} | _stated(given)


def _stated(given: Mapping[str, object]) -> Document:
    """Without what is None."""
    return {name: value for name, value in given.items() if value is not None}


def close_host(
    host: str, reason: str, *, drain: bool, at: Moment | None, by: Moment | None, until: Moment | None
) -> Steps[Document]:
    """Let a host start nothing more."""
    instants = {"at": moment(at), "by": moment(by), "until": moment(until)}
    return (yield from steps.close_host(host, _stated({"reason": reason or None, "drain": drain, **instants})))


def hosts() -> Steps[list[Host]]:
    """All hosts."""
    return [Host.of(row) for row in (yield from steps.hosts())["hosts"]]


def pause(group: str, verb: str, *, grants: bool, reclaims: bool) -> Steps[Document]:
    """`pause` or `resume` what is named, or both."""
    both = grants == reclaims
    return (yield from steps.pause_group(group, verb, {"grants": both or grants, "reclaims": both or reclaims}))


def rows(path: str, query: Mapping[str, Value]) -> Steps[list[Document]]:
    """The rows of `allocations` or `cycles`."""
    return list((yield from steps.listing(path, query))[path])
