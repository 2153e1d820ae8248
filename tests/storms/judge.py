"""What must be true after every step, told from what is durable and from what really runs."""

from __future__ import annotations

import json
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.errors import InputError
from fairhold.ports import StoreWaits
from fairhold.store import queries
from tests.storms.kernel import SECOND
from tests.storms.truths import Truths

if TYPE_CHECKING:
    from concurrent.futures import Future

    from fairhold.ports import Entry
    from fairhold.runtime.live.core import Core
    from tests.storms.kernel import Process
    from tests.storms.people import Wish
    from tests.storms.storm import Storm

LEAST_LIMIT = 29.0
"""Seconds that every command may run."""
EVERY, RARELY = 200, 25
"""Steps between two looks at the whole state, and every which of them is a close one."""
Task = tuple[str, int, int]
"""An attempt as its environment names it: job, task, number."""
STAGES = (".order", ".alive", ".exit")
"""How the files of attempts in a spool end."""


class BrokenError(AssertionError):
    """Something is not as it must be."""


class Record(NamedTuple):
    """An attempt that the log has started."""

    attempt: int
    task: Task
    places: tuple[tuple[str, int], ...]


class Judge:
    """Follows the log as it becomes durable, and the processes.

    live    : jobs on record that have not ended; jobs: all that were ever accepted, and the state in which each ended
    running : attempts on record that have not ended, by number; by task the number
    alive   : processes of each attempt that live
    """

    def __init__(self, storm: Storm) -> None:
        self.storm = storm
        self.seen = 0
        self.live: set[str] = set()
        self.jobs: dict[str, str] = {}
        self.running: dict[int, Record] = {}
        self.numbers: dict[Task, int] = {}
        self.alive: dict[Task, set[Process]] = {}
        self.began: set[Task] = set()
        self.succeeded: dict[tuple[str, int], int] = {}
        self.done: dict[tuple[str, int], str] = {}
        self.counts: Counter[str] = Counter()
        self.last_at = 0
        self.noticed: set[int] = set()
        self.leaving: set[int] = set()
        self.wished: set[str] = set()
        """Jobs that somebody cancels or requeues: they are told to stop also while that cannot be written."""
        self.ever_noticed: set[int] = set()
        self.truths: Truths | None = None
        self.broken: BrokenError | None = None
        self.notes: deque[tuple[int, str]] = deque(maxlen=2000)

    def demand(self, holds: object, what: str) -> None:
        """Something has to be true."""
        if not holds:
            self.broken = self.broken or BrokenError(what)
            raise self.broken

    def note(self, what: str) -> None:
        """Something that is told when a demand is broken."""
        self.notes.append((self.storm.kernel.now, what))

    # What is durable

    def _notice(self, kind: str, attempt: int) -> None:
        """A notice is given or withdrawn: of a cycle, or of a host that is to be left. An attempt may have both."""
        self.demand(attempt in self.running, f"{kind} of attempt {attempt}, which does not run")
        mine = self.noticed if kind in {"Noticed", "Withdrawn"} else self.leaving
        if kind in {"Noticed", "Drained"}:
            mine.add(attempt)
            self.ever_noticed.add(attempt)
        else:
            self.demand(attempt in mine, f"{kind} of attempt {attempt}, which has no such notice")
            mine.discard(attempt)

    def follow(self) -> None:
        """Take in the entries that a transaction has made durable."""
        for entry in queries.entries(self.storm.disk.connection, self.seen, 0, 100_000):
            self.demand(entry.seq == self.seen + 1, f"entry {entry.seq} follows entry {self.seen}")
            self.demand(entry.at >= self.last_at, f"entry {entry.seq} is of an earlier instant than the one before")
            self.seen, self.last_at = entry.seq, entry.at
            self.storm.kernel.mix(entry.body)
            self._take(entry)

    def _take(self, entry: Entry) -> None:
        kind, *fields = json.loads(entry.body)
        self.counts[kind] += 1
        self.note(entry.body)
        match kind:
            case "JobAdded":
                self.demand(fields[0] not in self.jobs, f"job {fields[0]} is added twice")
                self.jobs[fields[0]] = ""
                self.live.add(fields[0])
            case "JobEnded":
                self.demand(fields[0] in self.live, f"job {fields[0]} ends twice")
                self.live.discard(fields[0])
                self.jobs[fields[0]] = fields[1]
                mine = [each for each in self.running.values() if each.task[0] == fields[0]]
                self.demand(not mine, f"job {fields[0]} has ended while {mine} run")
            case "Noticed" | "Drained" | "Withdrawn" | "Undrained":
                self._notice(kind, fields[0])
            case "Stopping":
                self.demand(fields[0] in self.running, f"attempt {fields[0]} is to stop, and does not run")
                self.ever_noticed.add(fields[0])
            case "Started":
                self._started(*fields[:5])
            case "Ended":
                self._ended(*fields[:4])

    def _started(self, attempt: int, job: str, task: int, number: int, places: Any) -> None:
        key = (job, task, number)
        self.demand(key not in self.numbers, f"{key} is started twice on record")
        for each in self.running.values():
            self.demand(each.task[:2] != key[:2], f"{key} is started while {each} has not ended")
        self.demand((job, task) not in self.done, f"{key} is started though its task is {self.done.get((job, task))}")
        self.numbers[key] = attempt
        self.running[attempt] = Record(attempt, key, tuple(map(tuple, places)))

    def _ended(self, attempt: int, then: str, _instant: int, reason: str) -> None:
        record = self.running.pop(attempt, None)
        self.demand(record, f"attempt {attempt} ends and has not begun, or ends twice")
        assert record is not None
        key = record.task
        if reason in {"reclaim", "yielded"}:
            self.demand(attempt in self.ever_noticed, f"{key} ended as {reason}, and nobody told it to")
        for mine in (self.noticed, self.leaving, self.ever_noticed):
            mine.discard(attempt)
        self.counts[f"ended: {reason}"] += 1
        self.demand(not self.lives(key), f"{key} is over on record ({reason}), and {self.alive.get(key)} live")
        if then in {"done", "failed", "cancelled"}:
            self.done[key[:2]] = then
        if reason == "finished":
            self.demand(self.succeeded.get(key[:2]) == key[2], f"{key} is finished on record, and did not end so")
        if reason in {"finished", "failed", "yielded"}:
            self.demand(key in self.began, f"{key} ended as {reason}, and never ran")

    # What runs

    def lives(self, key: Task) -> bool:
        """Whether anything of an attempt does, but for what nobody can end: see `is_out_of_reach`."""
        return any(not self.is_out_of_reach(process) for process in self.alive.get(key, ()))

    def is_out_of_reach(self, process: Process) -> bool:
        """Whether a process stands still or did until now, or has no supervisor and no agent that looks after it.

        The lease of a host ends what runs there by its supervisors, and what has none by the agent. One that is stopped
        from outside or killed cannot; the agent is back soon, and then it does.
        """
        name, now = process.host.name, self.storm.kernel.now
        if now < process.frozen_until + 2 * SECOND:
            self.counts["out of reach: it stood still"] += 1
            return True
        family = process.parent
        while family is not None and family.kind == "command":
            family = family.parent
        if (family is None or family.kind != "supervisor" or family.is_doomed) and not self.storm.is_attentive(name):
            self.counts["out of reach: orphan"] += 1
            return True
        return False

    def has_begun(self, key: Task, process: Process) -> None:
        """A command was started."""
        self.demand(key not in self.began, f"the command of {key} is started twice")
        self.demand(key in self.numbers, f"the command of {key} is started, and no durable entry says so")
        self.demand(self.numbers[key] in self.running, f"the command of {key} is started after its end on record")
        job, task, number = key
        for other in range(1, number):
            self.demand(not self.lives((job, task, other)), f"{key} is started while attempt {other} lives")
        hosts = [host for host, _ in self.running[self.numbers[key]].places]
        self.demand(process.host.name == hosts[0], f"{key} is started on {process.host.name}, its place is {hosts}")
        self.began.add(key)
        self.alive.setdefault(key, set()).add(process)
        self.counts["commands"] += 1
        self.note(f"begins {key} as {process.pid} on {process.host.name}")

    def has_forked(self, key: Task, process: Process) -> None:
        """A command has started another process."""
        self.alive[key].add(process)

    def has_ended(self, key: Task, process: Process) -> None:
        """A process of an attempt is gone."""
        mine = self.alive[key]
        mine.discard(process)
        self.note(f"{process.pid} of {key} is gone, status {process.status}")
        if process.status == 0 and not process.parent_is_command:
            self.succeeded[key[:2]] = key[2]
        if not mine:
            del self.alive[key]

    def is_told(self, key: Task, process: Process) -> None:
        """A command gets a signal: somebody has said so on record, or its time is over."""
        attempt = self.numbers[key]
        seconds = (self.storm.kernel.now - process.began) / SECOND
        self.note(f"{process.pid} of {key} gets a signal")
        self.counts["signals"] += 1
        is_meant = attempt in self.ever_noticed or attempt not in self.running or key[0] in self.wished
        is_meant = is_meant or seconds > LEAST_LIMIT
        self.demand(is_meant, f"the command of {key} gets a signal after {seconds} s, and nobody has told it anything")

    # What people are told

    def is_gone(self) -> bool:
        """Whether an answer is of a service that died meanwhile: nobody hears it."""
        process = self.storm.service.process
        return process is None or process.is_doomed

    def is_answered(self, answer: Future[Any]) -> None:
        """Somebody gets an answer."""
        if self.is_gone():
            return
        error = answer.exception()
        if error is not None and not isinstance(error, InputError | StoreWaits):
            self.demand(holds=False, what=f"somebody is told {error!r}")
        self.counts["refused" if error else "answered"] += 1

    def is_accepted(self, wish: Wish, job: str) -> None:
        """A job is accepted: from now on it must not be lost."""
        self.demand(job in self.jobs, f"job {job} of {wish.key} is accepted, and no durable entry says so")

    def is_same(self, wish: Wish, answer: Future[str]) -> None:
        """Somebody has asked again with the same key."""
        if not self.is_gone() and answer.exception() is None:
            self.demand(answer.result() == wish.accepted, f"{wish.key} is job {wish.accepted}, then {answer.result()}")

    def desk_has_failed(self, error: BaseException | None) -> None:
        """The service loop has ended."""
        if not self.is_gone():
            self.cause = error
            self.demand(holds=False, what=f"the service loop has failed: {error!r}")

    def has_taken_up(self, core: Core) -> None:
        """A start has replayed the log: it must have what the log says."""
        jobs = {*core.cluster.jobs}
        self.demand(jobs == self.live, f"after a start jobs {sorted(jobs)} are live, not {sorted(self.live)}")
        there = {number: (each.job.name, each.index, each.number) for number, each in core.cluster.attempts.items()}
        self.demand(
            there == {number: each.task for number, each in self.running.items()},
            f"after a start {there} run, and on record {self.running}",
        )

    def watch(self, core: Core) -> None:
        """Look at the cycles of a core, and at what it is."""
        self.truths = Truths(self, core)

    def is_at_rest(self) -> bool:
        """Whether all that was accepted is over, on record and on the hosts, and no host holds anything of it."""
        spools = (path for host in self.storm.hosts.values() for path in host.files if path.endswith(STAGES))
        return not (self.live or self.running or self.alive or self.storm.people.has_wishes() or any(spools))

    def at_work(self) -> str:
        """What is not at rest."""
        spools = {
            name: [path for path in host.files if path.endswith(STAGES)] for name, host in self.storm.hosts.items()
        }
        return f"jobs {sorted(self.live)}, attempts {self.running}, processes {list(self.alive)}, spools {spools}"

    def look(self, steps: int) -> None:
        """What is looked at between two steps; more of it now and then."""
        if self.broken:
            raise self.broken
        if not steps % EVERY and self.truths is not None and self.storm.service.desk is not None:
            self.truths.look()
            if not steps % (EVERY * RARELY):
                self.truths.look_closely()
