"""What the machine without I/O needs from outside, as small protocols."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from fairhold.ports.people import PeopleBatch, PeopleStore
from fairhold.ports.refusals import StoreError as StoreError
from fairhold.ports.refusals import StoreFull as StoreFull
from fairhold.ports.refusals import StoreGone as StoreGone
from fairhold.ports.refusals import StoreWaits as StoreWaits
from fairhold.ports.retention import Retention as Retention  # noqa: TC001 - others import it from here

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from fairhold.errors import Fault, InputError
    from fairhold.model.usage import Usage
    from fairhold.orchestrator.events import TaskEnded
    from fairhold.orchestrator.instructions import Notify, Start, Stop, Withdraw

AHEAD = "ahead"
"""Word of a store that was restored: jobs go on at the next but so many numbers; 0 = they do."""


class Clock(Protocol):
    """The time."""

    def now(self) -> int:
        """Microseconds since the epoch; never goes back."""
        ...


class Engine(Protocol):
    """What runs the work."""

    def execute(self, instructions: Iterable[Start | Notify | Withdraw | Stop]) -> None:
        """Carry out instructions in order; what cannot be started is reported by `events` as failed."""
        ...

    def events(self, timeout: float) -> Sequence[TaskEnded]:
        """Attempts that ended since the last call; waits up to `timeout` seconds for the first."""
        ...

    def close(self) -> None:
        """Stop everything that was started and leave nothing behind; may be called twice."""
        ...


class Entry(NamedTuple):
    """One entry of the event log.

    seq  : its number, from 1, without a gap
    at   : instant, never before that of the entry before
    body : text of a JSON array; the store does not look into it
    """

    seq: int
    at: int
    body: str


class SavedState(NamedTuple):
    """A snapshot: what the entries up to and including `seq` have made of the service; `at` is its instant."""

    seq: int
    at: int
    body: bytes


class Log(NamedTuple):
    """What a service starts from: the latest readable snapshot, all later entries; numbers of later snapshots."""

    snapshot: SavedState | None
    entries: Iterator[Entry]
    unreadable: tuple[int, ...] = ()


class FinishedJob(NamedTuple):
    """A job that has ended.

    consumer, state  : at its end
    submitted, ended : instants
    summary          : JSON text, not looked into
    """

    job: str
    consumer: str
    user: str
    name: str
    state: str
    submitted: int
    ended: int
    labels: Mapping[str, str]
    summary: str = "{}"


class FinishedTask(NamedTuple):
    """An attempt that has ended.

    task, number     : of the task in its job from 0, of the attempt in its task from 1
    attempt          : number of the attempt in the whole service
    state            : what became of the task by it: waiting, done, failed, cancelled, …
    reason .. peak   : as in `orchestrator.events.Exit`
    started, ended   : instants; 0 = it never ran
    """

    job: str
    task: int
    number: int
    attempt: int
    consumer: str
    user: str
    host: str
    units: int
    state: str
    reason: str
    code: int
    signal: int
    detail: str
    started: int
    ended: int
    cpu: int = 0
    peak: int = 0
    labels: Mapping[str, str] = MappingProxyType({})


class Filter(NamedTuple):
    """Which finished jobs or attempts are wanted; what is empty, or 0, does not matter.

    consumer     : path; everything below it too
    label        : (name, value)
    since, until : ended at or after, and before
    job, host, reason : of attempts only
    """

    consumer: str = ""
    state: str = ""
    user: str = ""
    label: tuple[str, str] = ("", "")
    since: int = 0
    until: int = 0
    job: str = ""
    host: str = ""
    reason: str = ""


Row = TypeVar("Row")


class Page(NamedTuple, Generic[Row]):
    """Some rows and where the next page begins.

    cursor : for the next page; empty = there is no more. A page may have fewer rows than asked for, even none, and yet
        a cursor: looking further would have taken too long.
    """

    rows: list[Row]
    cursor: str


class PlanVersion(NamedTuple):
    """A plan as it was applied.

    based_on : version that its author had seen, 0 = none
    until    : instant at which the version before comes back, 0 = never
    """

    version: int
    at: int
    author: str
    comment: str
    text: str
    based_on: int = 0
    until: int = 0


class CycleNote(NamedTuple):
    """That a cycle was run.

    number   : from 1, over all resource groups
    duration : microseconds
    counts   : JSON text: how many were granted, reclaimed, …
    """

    number: int
    at: int
    resource_group: str
    cause: str
    duration: int
    counts: str = "{}"


class Batch(PeopleBatch, Protocol):
    """What is to be written in one transaction. Nothing is visible to readers before it is durable.

    settled : whether the transaction before, which ended in `StoreGone`, is durable all the same
    """

    settled: bool

    def append(self, at: int, body: str) -> int:
        """Add an entry to the log; returns its number. ValueError where `at` is before the entry before."""
        ...

    def put_spec(self, job: str, body: str) -> None:
        """Keep what a new job runs, a JSON text; it goes when the finished job goes."""
        ...

    def change_spec(self, job: str, body: str) -> None:
        """Keep this in the place of what was put for a job."""
        ...

    def put_key(self, user: str, key: str, job: str, at: int) -> None:
        """Remember with which key a user submitted a job, in the place of another; empty = with none."""
        ...

    def job_of_key(self, user: str, key: str) -> str | None:
        """Job that was submitted with this key, in this transaction or before it."""
        ...

    def put_job(self, job: FinishedJob) -> None:
        """Keep a job that is over."""
        ...

    def put_task(self, task: FinishedTask) -> None:
        """Keep an attempt that is over; its job may still run."""
        ...

    def put_plan(self, plan: PlanVersion) -> None:
        """Keep a new version of the plan."""
        ...

    def put_cycle(self, cycle: CycleNote, document: str = "") -> None:
        """Keep that a cycle was run, and a JSON text about it, which may go earlier; empty = none."""
        ...

    def put_usage(self, rows: Iterable[Usage]) -> None:
        """Keep what was used, before the entries that tell it go."""
        ...

    def put_unit(self, job: str, unit: str) -> None:
        """Say what a unit of a job is where usage on record does not know it."""
        ...

    def put_meta(self, name: str, value: str) -> None:
        """Keep a word about the store itself; replaces the one before."""
        ...


class Store(PeopleStore, Protocol):
    """What survives. One writes, in one thread at a time; all the rest may be called by any thread meanwhile.

    Errors: `StoreFull`, `StoreGone`, `StoreError`. Programming errors (a number twice) are ValueErrors; nothing is
    applied then.
    """

    @property
    def last(self) -> int:
        """Number of the last entry that is durable, 0 = none."""
        ...

    @property
    def last_at(self) -> int:
        """Instant of the last entry, 0 = none; no later entry may be before it."""
        ...

    @property
    def term(self) -> int:
        """Counts services that have written to the store, this one the latest; 0 = this one only reads."""
        ...

    def refresh(self) -> int:
        """Number of the last entry that another service has written. StoreError `store-restored`, `store-behind`."""
        ...

    def lead(self, directory: Path, term: int) -> None:
        """Write from now on, by a term that was taken (`ports.leading`); StoreError where another has a later one."""
        ...

    def transaction(self) -> AbstractContextManager[Batch]:
        """A batch that is durable, whole, when the `with` is left; left by an error, nothing of it is kept."""
        ...

    def load(self, before: int = 0) -> Log:
        """From the latest snapshot below `before`, 0 = any. StoreError `store-damaged` without that and entry 1."""
        ...

    def entries(self, after: int, until: int = 0, limit: int = 1000) -> list[Entry]:
        """Entries with numbers above `after` up to `until` (0 = the last), `limit` of them at most, in order."""
        ...

    def first(self) -> int:
        """Number of the first entry that is still there, 0 = none."""
        ...

    def seq_at(self, instant: int) -> int:
        """Number of the last entry at or before an instant; 0, or one less than the first, where there is none."""
        ...

    def save_snapshot(self, seq: int, at: int, body: bytes) -> None:
        """Keep what the entries up to `seq` have made of the service; the last two snapshots are kept."""
        ...

    def spec(self, job: str) -> str | None:
        """What a job runs; None where it is not known (any more)."""
        ...

    def specs(self, jobs: Iterable[str]) -> Iterator[tuple[str, str | None]]:
        """What each of these jobs runs, as `spec`."""
        ...

    def job_of_key(self, user: str, key: str) -> str | None:
        """Job that was submitted with this key."""
        ...

    def job(self, job: str) -> FinishedJob | None:
        """A finished job."""
        ...

    def jobs(self, wanted: Filter, cursor: str = "", limit: int = 100) -> Page[FinishedJob]:
        """Finished jobs, the latest end first. InputError `bad-cursor` where the cursor is none."""
        ...

    def jobs_in_order(
        self, wanted: Filter, column: str, *, is_down: bool, after: tuple[int | str, int] | None, limit: int
    ) -> list[FinishedJob]:
        """Finished jobs by (value of a column of `GET /v1/jobs`, number), both up or both down, behind such a place."""
        ...

    def tasks(self, wanted: Filter, cursor: str = "", limit: int = 100) -> Page[FinishedTask]:
        """Finished attempts, the latest end first. InputError `bad-cursor` where the cursor is none."""
        ...

    def tasks_of(self, job: str, after: tuple[int, int] = (-1, 0), limit: int = 100) -> list[FinishedTask]:
        """Finished attempts of one job by (task, number), from the one behind `after`."""
        ...

    def plan(self, version: int = 0) -> PlanVersion | None:
        """A version of the plan, 0 = the latest."""
        ...

    def plans(self, before: int = 0, limit: int = 100) -> list[PlanVersion]:
        """Versions below `before` (0 = all), the latest first."""
        ...

    def cycle(self, number: int) -> tuple[CycleNote, str] | None:
        """A cycle and its document, which is empty where there is none (any more)."""
        ...

    def cycles(self, resource_group: str = "", before: int = 0, limit: int = 100) -> list[CycleNote]:
        """Cycles, of one resource group or all, with numbers below `before` (0 = all), the latest first."""
        ...

    def usage(self, since: int, until: int) -> Iterator[Usage]:
        """Usage whose span has time in common with the span from `since` to before `until`, by (end, begin)."""
        ...

    def jobs_of_unknown_unit(self) -> list[str]:
        """Jobs of whose usage on record it is not known what a unit was: an earlier format did not say it."""
        ...

    def labels(self, jobs: Iterable[str]) -> dict[str, dict[str, str]]:
        """Job → its labels, where it has any: of jobs as they are now, and of those whose usage is still on record."""
        ...

    def meta(self) -> dict[str, str]:
        """Words about the store: cluster, node, created, and what was put there."""
        ...

    def compact(self, retention: Retention) -> bool:
        """A short step of clearing out; returns whether there is more to do. Blocks a commit for a few ms at most."""
        ...

    def backup(self, path: Path) -> None:
        """Copy all to a new file, while the store is in use, and check the copy."""
        ...

    def check(self) -> tuple[Fault, ...]:
        """Everything that is wrong in the store, while it is in use."""
        ...

    def damaged(self, what: str) -> InputError:
        """What is raised where something in the store cannot be used; it names the store and the way out."""
        ...

    def close(self) -> None:
        """Leave the store; may be called twice."""
        ...
