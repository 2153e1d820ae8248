"""`jobs` and `show`: what is there, and why it waits."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from fairhold.cli.live.connection import connect
from fairhold.cli.live.names import unknown_consumer
from fairhold.cli.live.printing import (
    budget_part,
    budget_size,
    clock,
    fitted,
    pairs,
    say,
    say_json,
    seconds,
    span,
    tasks_in_words,
)
from fairhold.client import steps
from fairhold.errors import count
from fairhold.runtime.outlet import complain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.client.exchange import Document, Value

_HEAD = ("job", "state", "reason", "running", "ended", "tasks", "priority", "submitted", "user", "name", "consumer")
_SPARE = ("priority", "submitted", "user", "ended", "running", "reason")
_ATTEMPTS = ("task", "attempt", "state", "reason", "code", "started", "took", "host")
_LONGEST_COMMAND = 2_000


def list_jobs(service: str, query: Mapping[str, Value], limit: int, *, as_json: bool) -> None:
    """`jobs`: a row a job, the newest first; then ended ones, the latest end first.

    limit : rows at most, 0 = all
    """
    connection = connect(service)
    found = connection.run(steps.jobs(query, limit))
    unknown = unknown_consumer(connection, str(query["consumer"])) if query["consumer"] and not found["jobs"] else None
    if unknown:
        raise unknown
    if as_json:
        say_json(found)
        return
    if not found["jobs"]:
        is_narrow = any(query.get(name) for name in ("consumer", "state", "user", "label"))
        what = "no such jobs" if is_narrow else "no jobs"
        say(what if query.get("all") else f"{what} that have not ended; `--all` shows ended ones too")
        _say_others(found)
        return
    fixed = [job.get("preemptible") is False for job in found["jobs"]]
    rows: list[tuple[object, ...]] = [_row(job) for job in found["jobs"]]
    if any(fixed):
        rows = [(*row, "no" if is_fixed else None) for row, is_fixed in zip(rows, fixed, strict=True)]
    head = (*_HEAD, "preemptible") if any(fixed) else _HEAD
    if query.get("expected"):
        head = (*head[:2], "place", "expected start", *head[2:])
        starts = [_start(job) for job in found["jobs"]]
        rows = [(*row[:2], *start, *row[2:]) for row, start in zip(rows, starts, strict=True)]
    say(fitted(head, rows, _SPARE))
    if found["next"] is not None:
        complain("there are more jobs; `--limit 0` shows all")
    _say_others(found)


def _say_others(found: Document) -> None:
    """How many jobs there are of others, for one who is not shown them."""
    if found.get("others"):
        complain(f"{count(found['others'], 'job')} of others that have not ended")


def _row(job: Document) -> tuple[object, ...]:
    tasks = job["tasks"]
    ended = sum(tasks.get(name, 0) for name in ("done", "failed", "cancelled"))
    return (
        int(job["job"]),
        job["state"],
        job["reason"],
        tasks.get("running", 0),
        ended,
        tasks["tasks"],
        job.get("priority") or None,
        clock(job.get("submitted")),
        job.get("user") or None,
        job.get("name") or None,
        job["consumer"],
    )


def _start(job: Document) -> tuple[int | None, str | None]:
    """Place in the line, and expected start with its spread, or why there is none."""
    told = job.get("expected")
    if not told:
        return None, None
    if not told["p50"]:
        return told["place"], f"unknown: {told['why']}"
    late = clock(told["p90"]) or "not told"
    return told["place"], f"{clock(told['p50'])}, 9 of 10 by {late}"


def show_job(service: str, name: str, most: int, *, has_start: bool, as_json: bool) -> None:
    """`show`: all about a job, and its tasks with their attempts.

    most : tasks that are shown, 0 = all
    has_start : also when it is expected to start
    """
    connection = connect(service)
    job = connection.run(steps.job(name, is_expected=has_start))
    tasks = connection.run(steps.tasks(name, most))
    if as_json:
        say_json({"job": job, **tasks})
        return
    say(_job_in_words(job))
    rows = [_attempt(task, attempt) for task in tasks["tasks"] for attempt in task.get("attempts") or [None]]
    if any(task.get("attempts") for task in tasks["tasks"]):
        say("\n" + fitted(_ATTEMPTS, rows, ("started", "took")))
    if tasks["next"] is not None:
        complain(f"there are more tasks; `fairhold show {name} --tasks 0` shows all")


def _job_in_words(job: Document) -> str:
    after = ", ".join(f"{each['on']}:{each['job']}" for each in job.get("after") or [])
    labels = ", ".join(f"{name}={value}" for name, value in (job.get("labels") or {}).items())
    ended = clock(job.get("ended"))
    took = span(job.get("submitted"), job["ended"]) if ended else None
    place, start = _start(job)
    why = f" ({job['reason']})" if job.get("reason") not in {None, job["state"]} else ""
    return pairs(
        {
            "job": f"{job['job']}  {job['name']}" if job.get("name") else job["job"],
            "state": f"{job['state']}{why}",
            "why": job.get("text") or None,
            "in line": f"number {place} of its leaf" if place else None,
            "starts": start,
            "exit code": job.get("exit_code"),
            "consumer": f"{job['consumer']} in {job['resource_group']}" if job["resource_group"] else job["consumer"],
            "user": job.get("user") or None,
            "tasks": tasks_in_words(job["tasks"]),
            "units": f"{count(job['units'], 'slot')} a task" if job.get("units", 1) != 1 else None,
            "unit": ", ".join(f"{name} {amount}" for name, amount in (job.get("unit") or {}).items()) or None,
            "at once": job.get("throttle") or None,
            "priority": job.get("priority") or None,
            "preemptible": "no" if job.get("preemptible") is False else None,
            "time limit": seconds(job["time_limit"]) if job.get("time_limit") else None,
            "retries": job.get("retries") or None,
            "after": after or None,
            "needs": ", ".join(job.get("need") or []) or None,
            "prefers": ", ".join(job.get("prefer") or []) or None,
            "avoids": ", ".join(job.get("avoid") or []) or None,
            "place": job.get("place"),
            "budget": ", ".join(map(_budget, job.get("budgets") or [])) or None,
            "held": job.get("hold") or None,
            "labels": labels or None,
            "submitted": clock(job.get("submitted")),
            "ended": f"{ended}, {took} later" if ended else None,
            "directory": job.get("directory"),
            "command": shlex.join(job["argv"])[:_LONGEST_COMMAND] if job.get("argv") else None,
        }
    )


def _budget(each: Document) -> str:
    until = f", lasts until {clock(each['lasts_until'])}" if each["lasts_until"] and not each["used_up"] else ""
    return f"{each['consumer']} {budget_part(each)} of {budget_size(each)} this {each['period']}{until}"


def _attempt(task: Document, attempt: Document | None) -> tuple[object, ...]:
    if attempt is None:
        through = task.get("through")  # tasks that are alike and have no attempt stand in one row
        name = int(task["task"]) if through is None else f"{task['task']}-{through}"
        return (name, None, task["state"], None, None, None, None, None)
    ending = attempt.get("code")
    if attempt.get("signal"):
        ending = f"signal {attempt['signal']}"
    reason = attempt.get("reason")
    if attempt.get("detail"):
        reason = f"{reason}: {attempt['detail']}" if reason else attempt["detail"]
    if attempt.get("deadline") and not attempt.get("ended"):
        reason = f"back until {clock(attempt['deadline'])}" + (f" for {attempt['for']}" if attempt.get("for") else "")
    started = attempt.get("started")
    took = span(started, attempt.get("ended"))
    host = attempt.get("host") or None
    return (int(task["task"]), attempt["number"], attempt["state"], reason, ending, clock(started), took, host)
