"""Finished jobs and attempts as rows of their tables, with their search words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fairhold.ports import FinishedJob, FinishedTask
from fairhold.store.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from fairhold.ports import Filter
    from fairhold.store.tables import Table

Record = TypeVar("Record", FinishedJob, FinishedTask)


@dataclass(frozen=True)
class Kind(Generic[Record]):
    """A table of finished things and the table of what they are found by.

    row, record : from a record and its number to a row without its seal, and back
    """

    name: str
    lists: str
    row: Callable[[int, Record], tuple[Any, ...]]
    record: Callable[[tuple[Any, ...]], Record]
    words: Callable[[Record], list[str]]

    @property
    def table(self) -> Table:
        """The table."""
        return table(self.name)

    def read(self, rows: Iterable[Any]) -> Iterator[Record]:
        """Records of whole rows; StoreError `store-damaged` where one is not as it was written."""
        return map(self.record, self.table.read(rows))


def _job_row(number: int, job: FinishedJob) -> tuple[Any, ...]:
    return (number, *job[:7], labels_text(job.labels), job.summary)


def _job_record(row: tuple[Any, ...]) -> FinishedJob:
    return FinishedJob._make((*row[1:8], json.loads(row[8]), row[9]))


def _task_row(number: int, task: FinishedTask) -> tuple[Any, ...]:
    return (number, *task[:17], labels_text(task.labels))


def _task_record(row: tuple[Any, ...]) -> FinishedTask:
    return FinishedTask._make((*row[1:18], json.loads(row[18])))


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


JOBS: Kind[FinishedJob] = Kind("jobs", "jobs_by_word", _job_row, _job_record, _common_words)
TASKS: Kind[FinishedTask] = Kind("tasks", "tasks_by_word", _task_row, _task_record, _task_words)


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
