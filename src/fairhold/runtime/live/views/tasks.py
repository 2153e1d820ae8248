"""The tasks of a job, a page at a time; tasks of which nothing is to be told stand together, however many they are."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from fairhold.errors import Fault, InputError
from fairhold.orchestrator import changes as say
from fairhold.runtime.live.finished_overlay import attempts_over
from fairhold.runtime.live.reclaims import read_detail
from fairhold.runtime.live.views.jobs import MOST_ROWS, state_of
from fairhold.units import format_instant

if TYPE_CHECKING:
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.ports import FinishedTask
    from fairhold.runtime.live.core import Core

Document = dict[str, Any]
_CURSOR = re.compile(r"[0-9]{1,15}")
_CHUNK = 200
_LAST = 2**31


def tasks_page(core: Core, name: str, cursor: str = "", limit: int = 100) -> Document | None:
    """Entries of tasks from the lowest index on; None where there is no such job (any more).

    An entry is one task with its attempts, or, with `through`, a row of tasks that are alike and have none. Raises
    InputError `bad-cursor`.
    """
    if cursor and not _CURSOR.fullmatch(cursor):
        raise InputError(
            [Fault("bad-cursor", "this is not a cursor of a page", "use the cursor that came with a page")]
        )
    job = core.cluster.jobs.get(name)
    if job is not None:
        return _Page(name, job.terms.tasks, job, core).turn(int(cursor or 0), limit)
    done = core.finished(name)
    if done is None:
        return None
    return _Page(name, json.loads(done.summary)["tasks"], None, core).turn(int(cursor or 0), limit)


class _Page:
    """What is known of a job's tasks, by index: attempts that are over, and the rest of its record."""

    def __init__(self, name: str, total: int, job: JobRecord | None, core: Core) -> None:
        self.core, self.name, self.total, self.job = core, name, total, job
        self.live: dict[int, Attempt] = {}
        self.tried: dict[int, int] = {}
        self.begun = total
        self.rest = say.CANCELLED
        if job is not None:
            self.live = {core.cluster.attempts[number].index: core.cluster.attempts[number] for number in job.attempts}
            self.tried = job.tried()
            self.begun = job.progress().get("next", 0)
            self.rest = say.CANCELLED if job.is_cancelled else _waits_as(job)
        left_out = job.left_out if job is not None else None
        self.known = sorted({*self.live, *self.tried, *(left_out or ())})
        self.done: list[FinishedTask] = []
        self.is_read = False

    def turn(self, start: int, limit: int) -> Document:
        """The page that begins with a task."""
        limit = min(max(limit, 1), MOST_ROWS)
        entries: list[Document] = []
        at = start
        while at < self.total and len(entries) < limit:
            ended = self._ended(at)
            place = bisect_left(self.known, at)
            known = self.known[place] if place < len(self.known) else self.total
            following = min(ended, known, self.total)
            if following > at:  # tasks in between of which there is no attempt
                through = (min(following, self.begun) if at < self.begun else following) - 1
                entries.append(_row(at, through, "ended" if at < self.begun and self.job else self.rest))
                at = through + 1
                continue
            entries.append(self._entry(at))
            at += 1
        return {"tasks": entries, "next": str(at) if at < self.total else None}

    def _ended(self, at: int) -> int:
        """Index of the first task from `at` on that has an attempt that is over."""
        while self.done and self.done[0].task < at:
            self.done.pop(0)
        if not self.done and not self.is_read:
            self.done = attempts_over(self.core, self.name, (at - 1, _LAST), _CHUNK)
            self.is_read = not self.done
        return self.done[0].task if self.done else self.total

    def _entry(self, index: int) -> Document:
        over = [each for each in self.done if each.task == index]
        while over and over[-1] is self.done[-1]:  # it may have more behind what was read
            more = attempts_over(self.core, self.name, (index, over[-1].number), _CHUNK)
            over += [each for each in more if each.task == index]
            self.done += more
            if not more:
                self.is_read = True
                break
        attempts = [finished_attempt(each) for each in over]
        live = self.live.get(index)
        if live is not None:
            state = live_state(live)
            attempts.append(live_attempt(live))
        elif index in self.tried:
            assert self.job is not None
            state = "delayed" if self.job.delays and index in self.job.delays else _waits_as(self.job)
        else:
            # the last attempt says what became of the task; one that would wait again was cancelled since
            is_done = over and over[-1].state in {say.DONE, say.FAILED}
            state = over[-1].state if is_done else say.CANCELLED
        entry: Document = {"task": index, "state": state, "attempts": attempts}
        if state == "delayed" and self.job is not None and self.job.delays:
            entry["until"] = format_instant(self.job.delays[index])
        return entry


def _row(first: int, last: int, state: str) -> Document:
    entry: Document = {"task": first, "state": state, "attempts": []}
    return entry if first == last else entry | {"through": last}


def _waits_as(job: JobRecord) -> str:
    """The state of a job's task that waits."""
    state = state_of(job)
    return "waiting" if state == "running" and job.hold is None else "held" if job.hold is not None else state


def live_state(attempt: Attempt) -> str:
    """The state of a task that runs (docs/attempts.md)."""
    if attempt.is_unknown:
        return "unknown"
    if not attempt.is_running:
        return "starting"
    return "reclaiming" if attempt.notice is not None else "running"


def live_attempt(attempt: Attempt) -> Document:
    """An attempt that holds its units."""
    notice = attempt.told
    return {
        "attempt": attempt.name,
        "number": attempt.number,
        "host": attempt.places[0][0],
        "units": attempt.units,
        "state": live_state(attempt),
        "reason": None,
        "code": None,
        "signal": None,
        "detail": "",
        "started": format_instant(attempt.started),
        "ended": None,
        "deadline": format_instant(notice[0]) if notice else None,
        "for": notice[2] or None if notice else None,
    }


def finished_attempt(task: FinishedTask) -> Document:
    """An attempt that has ended."""
    detail, reclaim = read_detail(task.detail)
    return {
        "attempt": task.attempt,
        "number": task.number,
        "host": task.host,
        "units": task.units,
        "state": task.state,
        "reason": task.reason,
        "code": task.code if task.code >= 0 else None,
        "signal": task.signal or None,
        "detail": detail,
        "started": format_instant(task.started),
        "ended": format_instant(task.ended),
        "deadline": format_instant(reclaim.deadline) if reclaim else None,
        "for": reclaim.taker or None if reclaim else None,
    }
