"""The terms of a job in a job file: how much it needs, what it waits for, how it is tried again and stopped."""

from __future__ import annotations

import re
import signal
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, TypedDict

from fairhold.model.job import Job, Needed
from fairhold.planio.report import kind, listed, shown
from fairhold.planio.scalars import is_whole
from fairhold.planio.siting import SITING_KEYS, read_siting
from fairhold.units import parse_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.errors import Place
    from fairhold.model.siting import Siting
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

TERM_KEYS = (
    *("units", "throttle", "after", "retries", "backoff", "hold"),
    *("time_limit", "memory", "labels", "stdin", "signal", "lead", *SITING_KEYS),
)
AFTER_KEYS = ("job", "on")
ONS = ("ok", "fail", "any")
SIGNALS = tuple(
    sorted(each.name.removeprefix("SIG") for each in signal.Signals if each.name not in {"SIGKILL", "SIGSTOP"})
)
"""Those that can be caught."""
MOST_RETRIES = 1_000
MOST_MEMORY = 2**50
"""Bytes: 1 PiB."""
LONGEST_TEXT = 500
"""Characters of the value of a label."""
_LABEL = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_NUMBER = re.compile(r"[0-9]{1,18}")


class Terms(TypedDict):
    """Fields of a `Job`."""

    units: int
    throttle: int
    after: tuple[Needed, ...]
    retries: int
    backoff: int
    hold: bool
    time_limit: int
    memory: int
    labels: Mapping[str, str]
    stdin: str
    signal: str
    lead: int
    siting: Siting


def read_terms(report: Report, node: dict[str, Value], place: Place) -> Terms:
    """Terms of one job; what is left out is as in `Job`."""
    return Terms(
        units=report.whole(node.get("units", 1), (*place, "units"), least=1),
        throttle=report.whole(node.get("throttle", 0), (*place, "throttle")),
        after=_read_after(report, node.get("after", []), (*place, "after")),
        retries=report.whole(node.get("retries", 0), (*place, "retries"), most=MOST_RETRIES),
        backoff=report.duration(node.get("backoff", "10s"), (*place, "backoff")),
        hold=report.flag(node.get("hold", False), (*place, "hold")),
        time_limit=report.duration(node.get("time_limit", 0), (*place, "time_limit")),
        memory=_read_memory(report, node.get("memory", 0), (*place, "memory")),
        labels=_read_labels(report, node.get("labels"), (*place, "labels")),
        stdin=program_text(report, node["stdin"], (*place, "stdin"), "the name of a file") if "stdin" in node else "",
        signal=_read_signal(report, node.get("signal", "TERM"), (*place, "signal")),
        lead=report.duration(node.get("lead", 0), (*place, "lead")),
        siting=read_siting(report, node, place),
    )


def program_text(report: Report, value: Value, place: Place, what: str) -> str:
    """Text that is handed to a program: NUL would end it."""
    text = report.text(value, place, what=what)
    if "\0" in text:
        report.fault("not-text", f"there is a NUL character in {what}", "remove it", place)
    return text


def check_after(report: Report, jobs: Sequence[tuple[int, Job]]) -> None:
    """Check that what jobs wait for is there and can come to its end.

    jobs : with their places in the file
    """
    names = {job.name: at for at, job in jobs}
    waits: dict[str, list[str]] = {}
    for at, job in jobs:
        for number, needed in enumerate(job.after):
            if needed.job in names:
                waits.setdefault(job.name, []).append(needed.job)
            elif needed.job and not _NUMBER.fullmatch(needed.job):
                what = f"there is no job `{shown(needed.job)}` in this file"
                mend = report.suggest(needed.job, names, "name a job of this file, or the number of one of the service")
                report.fault("unknown-job", what, mend, ("jobs", at, "after", number))
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        circle = list(reversed(error.args[1]))
        what = f"the job waits for itself: {' → '.join(f'`{shown(name)}`' for name in circle[:10])}"
        report.fault("waits-for-itself", what, "remove one of these dependencies", ("jobs", names[circle[0]], "after"))


def _read_after(report: Report, value: Value, place: Place) -> tuple[Needed, ...]:
    """Read what a job waits for; names are looked up in `check_after`."""
    rows = []
    for at, item in enumerate(report.sequence(value, place, what="jobs such as `{job: …, on: ok}`")):
        here = (*place, at)
        if not isinstance(item, dict):
            report.fault("wrong-type", f"expected a mapping, found {kind(item)}", "write `{job: …, on: ok}`", here)
            continue
        report.keys(item, AFTER_KEYS, here, {})
        report.missing(item, ("job",), here, "what a job waits for")
        rows.append(Needed(_read_needed(report, item.get("job", "1"), (*here, "job")), _read_on(report, item, here)))
    return tuple(rows)


def _read_needed(report: Report, value: Value, place: Place) -> str:
    """Read a name in the file, or a number of the service."""
    if is_whole(value):
        return str(report.whole(value, place, least=1))
    job = report.text(value, place, what="the name of a job, or its number")
    if value == "":
        report.fault("unknown-job", "no job is given", "name a job of this file", place)
    return job


def _read_on(report: Report, node: dict[str, Value], place: Place) -> str:
    return _word(report, node.get("on", "ok"), (*place, "on"), ONS)


def _read_signal(report: Report, value: Value, place: Place) -> str:
    """Read the name of a signal, with `SIG` or without."""
    return _word(report, value.removeprefix("SIG") if isinstance(value, str) else value, place, SIGNALS)


def _word(report: Report, value: Value, place: Place, known: tuple[str, ...]) -> str:
    word = report.text(value, place, what="a word")
    if isinstance(value, str) and word not in known:
        mend = report.suggest(word, known, f"write one of {listed(known)}")
        report.fault("unknown-word", f"`{shown(word)}` is not a value of `{place[-1]}`", mend, place)
    return word


def _read_memory(report: Report, value: Value, place: Place) -> int:
    """Read a size such as `512MiB` as bytes; a plain 0 needs no unit."""
    if is_whole(value) and value <= 0:
        return report.whole(value, place, most=MOST_MEMORY)
    size = parse_size(value) if isinstance(value, str) and len(value) <= 40 else None
    if size is not None:
        return report.whole(size, place, most=MOST_MEMORY)
    if is_whole(value) or isinstance(value, float):
        report.fault("amount-unit", f"{shown(value)} has no unit of bytes", f"write `{shown(value)}MiB`", place)
    else:
        report.fault("wrong-type", f"expected a size, found {kind(value)}", "write it as 512MiB or 2GiB", place)
    return 0


def _read_labels(report: Report, value: Value, place: Place) -> dict[str, str]:
    """Names with what they say."""
    labels = {}
    for name, text in report.mapping(value, place, what="labels with their values").items():
        here = (*place, name)
        if not _LABEL.fullmatch(name):
            mend = "use letters, digits, `_`, `.` and `-`, at most 100"
            report.fault("name", f"`{shown(name)}` is not a name for a label", mend, here)
        labels[name] = report.text(text, here, what="the value of a label")
        if not (labels[name].isprintable() and len(labels[name]) <= LONGEST_TEXT):
            mend = f"use at most {LONGEST_TEXT} characters that can be seen"
            report.fault("name", f"`{shown(labels[name])}` is not a value for a label", mend, here)
    return labels
