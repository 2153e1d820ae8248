"""Finished jobs and attempts as rows of their tables, with their search words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from fairhold.ports import FinishedJob, FinishedTask

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.ports import Filter

Record = TypeVar("Record", FinishedJob, FinishedTask)
JOB_COLUMNS = "job, consumer, user, name, state, submitted, ended, labels, summary"
TASK_COLUMNS = (
    'job, task, try, attempt, consumer, user, host, units, state, reason, code, "signal", detail, started, ended, '
    "cpu, peak, labels"
)


class Kind(NamedTuple, Generic[Record]):
    """A table of finished things and the table of what they are found by."""

    table: str
    lists: str
    columns: str
    row: Callable[[Record], tuple[Any, ...]]
    record: Callable[[tuple[Any, ...]], Record]
    words: Callable[[Record], list[str]]


def _job_row(job: FinishedJob) -> tuple[Any, ...]:
    return (*job[:7], labels_text(job.labels), job.summary)


def _job_record(row: tuple[Any, ...]) -> FinishedJob:
    return FinishedJob._make((*row[:7], json.loads(row[7]), row[8]))


def _task_row(task: FinishedTask) -> tuple[Any, ...]:
    return (*task[:17], labels_text(task.labels))


def _task_record(row: tuple[Any, ...]) -> FinishedTask:
    return FinishedTask._make((*row[:17], json.loads(row[17])))


def labels_text(labels: Mapping[str, str]) -> str:
    """Labels as rows have them."""
    return json.dumps(dict(labels), ensure_ascii=False, separators=(",", ":")) if labels else "{}"


def _paths(consumer: str) -> list[str]:
    """A consumer and all above it: `/A/B` gives `/A` and `/A/B`."""
    names = consumer.strip("/").split("/")
    return ["/" + "/".join(names[: depth + 1]) for depth in range(len(names))]


def _label_word(name: str, value: str) -> str:
    return "l:" + json.dumps([name, value], ensure_ascii=False)


def _common_words(record: FinishedJob | FinishedTask) -> list[str]:
    words = [f"c:{path}" for path in _paths(record.consumer)]
    words += (f"u:{record.user}", f"s:{record.state}")
    words += [_label_word(name, value) for name, value in record.labels.items()]
    return words


def _task_words(task: FinishedTask) -> list[str]:
    return [*_common_words(task), f"j:{task.job}", f"h:{task.host}", f"r:{task.reason}"]


JOBS: Kind[FinishedJob] = Kind("jobs", "jobs_by_word", JOB_COLUMNS, _job_row, _job_record, _common_words)
TASKS: Kind[FinishedTask] = Kind("tasks", "tasks_by_word", TASK_COLUMNS, _task_row, _task_record, _task_words)


def wanted_words(wanted: Filter, kind: Kind[Any]) -> list[str]:
    """The words that a row must have, those first that are usually said of fewest rows."""
    words = []
    if wanted.label[0]:
        words.append(_label_word(*wanted.label))
    if kind is TASKS:
        words += [f"{letter}:{value}" for letter, value in zip("jhr", wanted[6:9], strict=True) if value]
    if wanted.user:
        words.append(f"u:{wanted.user}")
    if wanted.state:
        words.append(f"s:{wanted.state}")
    if wanted.consumer.strip("/"):
        words.append("c:/" + wanted.consumer.strip("/"))
    return words
