"""A record as a folder: a scenario, its plans, what came from outside, what was there before, and what was decided."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.errors import Fault, InputError
from fairhold.lab.event_trace_file import read_story, story_lines
from fairhold.lab.whole import write_whole
from fairhold.model.workload import ENDLESS, Workload
from fairhold.orchestrator.events import JobSubmitted
from fairhold.sim.task_durations import Courses
from fairhold.units import format_instant

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.lab.recording import Record
    from fairhold.sim.event_trace import EventTrace

    Document = dict[str, Any]

SCENARIO, STORY, STATE, DECIDED = "scenario.yaml", "story.jsonl", "state.json", "decided.jsonl"
MOST_TASKS = 1_000
"""Tasks of a job that are looked at for the mean of their lengths."""


class Recorded(NamedTuple):
    """A record that was read.

    digest  : SHA-256 of the text of the plan that was in force at its begin
    workload : its jobs, for who counts them; tasks of one job have one length there, the mean
    left_out : what it could not say → how often
    """

    event_trace: EventTrace
    digest: str
    workload: Workload
    left_out: dict[str, int]


def digest_of(text: str) -> str:
    """What plans are told apart by."""
    return sha256(text.encode()).hexdigest()


def write_record(folder: Path, found: Record) -> None:
    """Write the folder, the scenario last; raises OSError, and InputError `record-exists` where something is there."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what, mend = "it exists already", "name a new folder"
        raise InputError([Fault("record-exists", what, mend, file=str(folder))])
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"plan-{version}.yaml" for version in found.versions]
    for name, text in zip(names, found.plans, strict=True):
        write_whole(folder / name, text.encode())
    event_trace = found.event_trace
    if event_trace.state is not None:
        write_whole(folder / STATE, json.dumps(event_trace.state, separators=(",", ":")).encode())
    write_whole(folder / DECIDED, "".join(event_trace.decided).encode())
    head = {
        "plan": names[0],
        "plan_sha256": digest_of(found.plans[0]),
        "state": None if event_trace.state is None else STATE,
        "decided": DECIDED,
        "left_out": dict(found.left_out),
    }
    write_whole(folder / STORY, "".join(story_lines(event_trace, iter(names[1:]), head)).encode())
    when = f"{format_instant(event_trace.begin)} to {format_instant(event_trace.end)}"
    text = f"# What happened from {when}.\nfairhold_scenario: 1\nplan: {names[0]}\nrecord: {STORY}\n"
    write_whole(folder / SCENARIO, text.encode())


def read_record(path: Path) -> Recorded:
    """Read an event trace and what belongs to it; raises InputError."""
    event_trace, head = read_story(path)
    decided = head.get("decided")
    if decided is not None:
        try:
            text = (path.parent / str(decided)).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            what = f"`{decided}` cannot be read: {getattr(error, 'strerror', None) or error}"
            mend = "restore it, or leave `decided` out of the first line: nothing is compared then"
            raise InputError([Fault("cannot-read", what, mend, file=str(path.parent / str(decided)))]) from error
        event_trace = replace(event_trace, decided=tuple(text.splitlines(keepends=True)))
    return Recorded(
        event_trace, str(head.get("plan_sha256", "")), workload_of(event_trace), dict(head.get("left_out") or {})
    )


def workload_of(event_trace: EventTrace) -> Workload:
    """The jobs that came, in columns."""
    courses = Courses(event_trace)
    jobs = [(line.at, line.what) for line in event_trace.lines if isinstance(line.what, JobSubmitted)]
    consumers = tuple(dict.fromkeys(job.consumer for _, job in jobs))
    users = tuple(dict.fromkeys(job.user for _, job in jobs))
    units = tuple(dict.fromkeys((job.unit, job.resource_group) for _, job in jobs)) or (((), ""),)
    place, user_at, unit_at = (dict(zip(names, range(len(names)), strict=True)) for names in (consumers, users, units))
    return Workload(
        [job.job for _, job in jobs],
        [at for at, _ in jobs],
        [place[job.consumer] for _, job in jobs],
        [job.count * job.units for _, job in jobs],
        [_mean([courses.length(job.job, task) for task in range(min(job.count, MOST_TASKS))]) for _, job in jobs],
        [unit_at[job.unit, job.resource_group] for _, job in jobs],
        [job.min_count or (job.units if job.units > 1 else 0) for _, job in jobs],
        [job.priority for _, job in jobs],
        [user_at[job.user] for _, job in jobs],
        [int(job.preemptible is not False) for _, job in jobs],
        consumers,
        tuple(unit for unit, _ in units),
        tuple(group for _, group in units),
        users,
    )


def _mean(lengths: list[int]) -> int:
    return ENDLESS if ENDLESS in lengths else sum(lengths) // max(1, len(lengths))
