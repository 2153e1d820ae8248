"""Jobs, those that have not ended first."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import dropwhile, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.errors import Fault, InputError
from fairhold.ledger.controls import shorter
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.jobs import state_of as end_of
from fairhold.orchestrator.queue_fitting import is_preemptible
from fairhold.ports import Filter
from fairhold.runtime.live.archive import asked_unit, counts, sited
from fairhold.runtime.live.finished_overlay import jobs_over
from fairhold.runtime.live.views.budgets import budgets_over
from fairhold.runtime.live.views.waiting import reason_of, reason_without_cycle, why_never_ready
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from fairhold.model.spec import Spec
    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.ports import FinishedJob
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.views.waiting import Reason

Document = dict[str, Any]
LIVE_STATES = ("waiting", "blocked", "held", "running")
DONE_STATES = (say.DONE, say.FAILED, say.CANCELLED)
MOST_LOOKS = 40_000
"""Jobs that are looked at for one page; a job's labels or name are looked up for the price of forty."""
LABEL_PRICE = 40
MOST_ROWS = 1_000
_CURSOR = re.compile(r"live-([0-9]{1,18})|done-([0-9-]{0,40})")


class Wanted(NamedTuple):
    """Which jobs are wanted; what is empty does not matter.

    consumer : path; everything below it too
    label    : (name, value)
    finished : also those that are over
    sees     : says of a consumer and a user whether their jobs may be seen; None = all may
    text     : part of number, name, consumer or user, in any case
    """

    consumer: str = ""
    state: str = ""
    user: str = ""
    label: tuple[str, str] = ("", "")
    finished: bool = False
    sees: Callable[[str, str], bool] | None = None
    text: str = ""

    def is_told(self, *words: str) -> bool:
        """Whether one of the words has the text in it."""
        return any(self.text.casefold() in word.casefold() for word in words)

    @property
    def has_live(self) -> bool:
        """Whether jobs that have not ended are among them."""
        return self.state not in DONE_STATES

    @property
    def has_finished(self) -> bool:
        """Whether jobs that are over are among them."""
        return self.state in DONE_STATES or (self.finished and self.state not in LIVE_STATES)

    @property
    def of_store(self) -> Filter:
        """What a store can look for; of what it finds, those that `fits` are wanted."""
        return Filter(self.consumer, self.state, self.user, self.label)

    def fits(self, job: FinishedJob) -> bool:
        """Whether a job that is over, and that the store has found, is wanted."""
        is_seen = self.sees is None or self.sees(job.consumer, job.user)
        return is_seen and self.is_told(job.job, job.name, job.consumer, job.user)


def state_of(job: JobRecord) -> str:
    """The state of a job: of its tasks the one that has come farthest."""
    if job.is_over:
        return end_of(job)
    if job.running:
        return "running"
    if job.hold is not None:
        return "held"
    return "blocked" if job.needs or not job.waiting else "waiting"


def job_document(core: Core, name: str) -> Document | None:
    """A job with its command; None where there is none of this name (any more)."""
    job = core.cluster.jobs.get(name)
    if job is not None:
        return _with_budgets(core, job, _live(core, job, _reason(core, job), is_whole=True))
    done = core.finished(name)
    return None if done is None else _finished(core, done, is_whole=True) | {"budgets": []}


def accepted_document(core: Core, job: JobRecord) -> Document:
    """A job that has just been accepted, with its command; without a reason why it waits that would take a cycle."""
    return _with_budgets(core, job, _live(core, job, reason_without_cycle(core, job), is_whole=True))


def _with_budgets(core: Core, job: JobRecord, document: Document) -> Document:
    return document | {"budgets": budgets_over(core, job.resource_group, job.consumer)}


def jobs_page(core: Core, wanted: Wanted, cursor: str = "", limit: int = 100) -> Document:
    """A page of jobs: those that have not ended, the newest first; then the others, the latest end first.

    A page may have fewer rows than asked for, even none, and yet a cursor. A job that ends while one turns the pages
    may be seen twice, never missed. Raises InputError `bad-cursor`.
    """
    limit = min(max(limit, 1), MOST_ROWS)
    if wanted.state and wanted.state not in {*LIVE_STATES, *DONE_STATES}:
        what = f"`{wanted.state}` is not a state of a job"
        raise InputError([Fault("unknown-word", what, f"name one of {', '.join((*LIVE_STATES, *DONE_STATES))}")])
    match = _CURSOR.fullmatch(cursor) if cursor else None
    if cursor and match is None:
        raise InputError(
            [Fault("bad-cursor", "this is not a cursor of a page", "use the cursor that came with a page")]
        )
    rows: list[Document] = []
    done = match[2] if match else None
    if done is None and wanted.has_live:
        found, rest = look(core, wanted, int(match[1]) if match else 0, limit)
        rows = [_live(core, job, _reason(core, job), is_whole=False) for job in found]
        if rest:
            return {"jobs": rows, "next": f"live-{rest}"}
    if not wanted.has_finished:
        return {"jobs": rows, "next": None}
    if len(rows) == limit:
        return {"jobs": rows, "next": "done-"}
    page = jobs_over(core, wanted.of_store, done or "", limit - len(rows))
    rows += [_finished(core, job, is_whole=False) for job in page.rows if wanted.fits(job)]
    return {"jobs": rows, "next": f"done-{page.cursor}" if page.cursor else None}


def rows_of(core: Core, names: Iterable[str], over: Mapping[str, FinishedJob]) -> list[Document]:
    """Rows of jobs in the order in which they are named; over: those that are known to have ended."""
    rows = []
    for name in names:
        job = core.cluster.jobs.get(name)
        if job is not None:
            rows.append(_live(core, job, _reason(core, job), is_whole=False))
        elif (done := over.get(name) or core.finished(name)) is not None:
            rows.append(_finished(core, done, is_whole=False))
    return rows


def jobs_elsewhere(core: Core, sees: Callable[[str], bool]) -> int:
    """How many jobs that have not ended are in consumers that somebody does not see."""
    jobs = Counter(map(_CONSUMER, core.cluster.jobs.values()))  # a loop in Python would hold up the desk for long
    return sum(number for consumer, number in jobs.items() if not sees(consumer))


def look(core: Core, wanted: Wanted, below: int, limit: int) -> tuple[list[JobRecord], int]:
    """Live jobs below a number, 0 = all, and the number to go on below; 0: there are no more."""
    price = LABEL_PRICE if wanted.label[0] or wanted.text else 1
    left = MOST_LOOKS
    leaves = _leaves(core, wanted.consumer) if wanted.consumer else {}
    found: list[JobRecord] = []
    for job in _newest(core, below):
        if len(found) == limit or left <= 0:
            return found, int(job.name) + 1
        left -= price
        if _is_wanted(core, job, wanted, leaves):
            found.append(job)
    return found, 0


def _newest(core: Core, below: int) -> Iterator[JobRecord]:
    jobs = core.cluster.jobs
    above = max(0, len(jobs) - below + 1) if below else 0  # at least: fewer than `below` have a lower number
    rest = islice(reversed(jobs.values()), above, None)
    return dropwhile(lambda job: int(job.name) >= below, rest) if below else rest


def _leaves(core: Core, consumer: str) -> dict[str, set[str]]:
    """Resource group → paths of a consumer and of all below it."""
    above = consumer.rstrip("/")
    return {
        group: {path for path in books.rows.paths if f"{path}/".startswith(f"{above}/")}
        for group, books in core.orchestrator.books.items()
    }


def _is_wanted(core: Core, job: JobRecord, wanted: Wanted, leaves: Mapping[str, set[str]]) -> bool:
    if job.is_over or (wanted.sees is not None and not wanted.sees(job.consumer, job.terms.user)):
        return False
    if leaves and job.consumer not in leaves[job.resource_group]:
        return False
    if (wanted.user and job.terms.user != wanted.user) or (wanted.state and state_of(job) != wanted.state):
        return False
    if not (wanted.label[0] or wanted.text):
        return True
    spec = core.specs.of(job.name)
    if wanted.label[0] and (spec is None or spec.labels.get(wanted.label[0]) != wanted.label[1]):
        return False
    return wanted.is_told(job.name, spec.name if spec else "", job.consumer, job.terms.user)


def _reason(core: Core, job: JobRecord) -> Reason | None:
    return None if job.is_over else reason_of(core, job)


def _live(core: Core, job: JobRecord, reason: Reason | None, *, is_whole: bool) -> Document:
    terms, spec = job.terms, core.specs.of(job.name)
    longest = core.orchestrator.books[job.resource_group].rows.controls.max_run_time[core.cluster.leaf_of(job)]
    return {
        "job": job.name,
        "name": spec.name if spec else "",
        "consumer": job.consumer,
        "resource_group": job.resource_group,
        "user": terms.user,
        "state": state_of(job),
        "reason": reason.code if reason else None,
        "text": reason.text if reason else "",
        "priority": job.priority,
        "units": terms.units,
        **asked_unit(terms),
        "preemptible": is_preemptible(core.cluster, job),
        "tasks": counts(job),
        "submitted": format_instant(job.submitted),
        "ended": None,
        "hold": job.hold,
        "after": [{"job": needed, "on": on} for needed, on in terms.after],
        "throttle": terms.throttle,
        "retries": terms.retries,
        **sited(terms.siting),
        "exit_code": None,
    } | _of_spec(spec, is_whole=is_whole, longest=longest)


def _finished(core: Core, job: FinishedJob, *, is_whole: bool) -> Document:
    summary = json.loads(job.summary)
    reason = why_never_ready(summary)
    spec = core.specs.of(job.job) if is_whole else None
    return (
        {
            "job": job.job,
            "name": job.name,
            "consumer": job.consumer,
            "resource_group": summary.get("resource_group", ""),
            "user": job.user,
            "state": job.state,
            "reason": reason.code if reason else None,
            "text": reason.text if reason else "",
            "priority": summary.get("priority", 0),
            "units": summary.get("units", 1),
            "unit": summary.get("unit"),
            "min_count": summary.get("min_count", 0),
            "preemptible": summary.get("preemptible", True),
            "tasks": {name: summary.get(name, 0) for name in COUNTS},
            "submitted": format_instant(job.submitted),
            "ended": format_instant(job.ended),
            "hold": None,
            "after": summary.get("after", []),
            "throttle": summary.get("throttle", 0),
            "retries": summary.get("retries", 0),
            **{name: summary.get(name, empty) for name, empty in sited(()).items()},
            "exit_code": summary.get("exit_code"),
        }
        | _of_spec(spec, is_whole=is_whole)
        | {"labels": dict(job.labels)}
    )


_CONSUMER = attrgetter("consumer")
COUNTS = ("tasks", "waiting", "delayed", "running", "done", "failed", "cancelled", "reclaimed")


def _of_spec(spec: Spec | None, *, is_whole: bool, longest: int = 0) -> Document:
    """What a job runs; longest : microseconds that the plan lets its attempts run."""
    document: Document = {"labels": dict(spec.labels) if spec else {}}
    if is_whole:
        limit = shorter(spec.time_limit if spec else 0, longest)
        document |= {
            "argv": list(spec.argv) if spec else None,
            "directory": spec.directory if spec else None,
            "time_limit": limit / SECOND if limit else None,
            "memory": spec.memory if spec and spec.memory else None,
        }
    return document
