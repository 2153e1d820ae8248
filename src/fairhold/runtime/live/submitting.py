"""What is accepted from users, and the limits of it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from fairhold.errors import Fault, InputError, printable
from fairhold.orchestrator.changes import DONE

if TYPE_CHECKING:
    from fairhold.model.spec import Spec
    from fairhold.orchestrator.events import Dependency, JobSubmitted
    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.runtime.live.core import Core

_SHOWN = 500
"""Characters of a command in a fault."""
_COUNT_EVERY = 1_000_000
"""Microseconds between two counts of what waits, when a limit is reached."""


class Submission(NamedTuple):
    """A job that somebody wants run.

    user : who asks; key : made by the client, the same key again is the same job
    terms : `job` is given by the core
    most_waiting : tasks of this user that may wait in one leaf, 0 = any number
    """

    user: str
    key: str
    terms: JobSubmitted
    spec: Spec
    most_waiting: int = 0


class Limits(NamedTuple):
    """How much is accepted; `fairhold serve --limit NAME=N` sets each.

    One leaf alone cannot reach `waiting`: whoever fills one leaf keeps nobody else out.

    waiting, waiting_in_leaf : tasks that wait, in all and of one leaf
    jobs   : that have not ended
    tasks  : of one job
    """

    waiting: int = 100_000_000
    waiting_in_leaf: int = 10_000_000
    jobs: int = 1_000_000
    tasks: int = 10_000_000


def job_of_key(core: Core, asked: Submission) -> str | None:
    """The job that was submitted with this key before; None = there is none.

    Raises InputError `key-reused` where it runs another command. Only commands are compared: variables and labels may
    differ between two tries of the same thing.
    """
    if not asked.key:
        return None
    job = core.journal.keys.get((asked.user, asked.key))
    if job is None:
        job = core.store.job_of_key(asked.user, asked.key)
    before = core.specs.of(job) if job else None
    if before is None or before.argv == asked.spec.argv:
        return job or None
    recorded, new = (printable(shlex.join(argv))[:_SHOWN] for argv in (before.argv, asked.spec.argv))
    what = f"the key `{asked.key}` was used for job {job}, which runs `{recorded}`; this submit has `{new}`"
    raise InputError([Fault("key-reused", what, "for another job, use another key or none")])


def give_key(core: Core, user: str, key: str, job: str = "") -> None:
    """The same key means another job from now on; empty = none: the next submit with it makes one."""
    core.journal.put_key(user, key, job, core.orchestrator.now)


def raised(limit: str) -> str:
    """How a limit is made higher, as the end of a sentence for people."""
    return f"have the service started with a higher one: `fairhold serve --limit {limit}=N`"


def still_waited_for(core: Core, after: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
    """Dependencies on jobs that have not ended; those on finished ones are met, or the job is refused."""
    waited = []
    for needed in after:
        if needed.job in core.orchestrator.jobs:
            waited.append(needed)
            continue
        done = core.finished(needed.job)
        if done is None:
            what = f"there is no job `{needed.job}` to wait for"
            raise InputError([Fault("unknown-job", what, "`fairhold jobs --all` shows what there is")])
        if needed.on != "any" and (needed.on == "ok") != (done.state == DONE):
            what = f"job `{needed.job}` has ended as {done.state}, so this job could never start"
            raise InputError([Fault("never-ready", what, "wait for `any`, or leave the dependency out")])
    return tuple(waited)


class Waits(NamedTuple):
    """Tasks of a user that are about to wait in a leaf of a resource group.

    is_new : they did not wait before, in another one
    """

    leaf: tuple[str, str]
    user: str
    tasks: int
    is_new: bool = True


def waiting_of(job: JobRecord) -> int:
    """Tasks of a job that wait, those until their next try too."""
    return job.waiting + len(job.delays or ())


class Waiting:
    """How many tasks wait, in all and by leaf, held and blocked ones too.

    They were counted some time ago, and what was accepted or moved since was added: most submits need no look at all
    jobs. They are counted anew where a limit seems to be reached, and under another plan. So a limit is kept but for
    what ran at the last count: what was accepted and ran may always wait again.
    """

    def __init__(self) -> None:
        self._counted_at: int | None = None
        self._version = 0
        self._all = 0
        self._of_leaf: dict[tuple[str, str], int] = {}
        self._of_user: dict[tuple[str, str, str], int] = {}
        self._users_counted_at: int | None = None

    def check_user(self, core: Core, key: tuple[str, str, str], tasks: int, most: int) -> None:
        """Raise InputError `too-many` where a user would have more tasks that wait in a leaf than he may.

        key : resource group, leaf and user
        """
        if most and self._users_are_old(core, is_beyond=self._of_user.get(key, 0) + tasks > most):
            self._of_user = {}
            for job in core.orchestrator.jobs.values():
                self._add_of_user(job, job.consumer, waiting_of(job))
        value = self._of_user.get(key, 0) + tasks
        if most and value > most:
            what = f"the limit `waiting_in_leaf` of `{key[2]}` is {most}, and this would make {value}"
            mend = "wait until some have started, or have it raised in the access document"
            raise InputError([Fault("too-many", what, mend)])

    def _users_are_old(self, core: Core, *, is_beyond: bool) -> bool:
        """Whether tasks are to be counted by user now: for the first time, or where a limit seems to be reached."""
        now, before = core.now(), self._users_counted_at
        if before is None or (is_beyond and now - before >= _COUNT_EVERY):
            self._users_counted_at = now
            return True
        return False

    def _add_of_user(self, job: JobRecord, consumer: str, tasks: int) -> None:
        key = (job.resource_group, consumer, job.terms.user)
        self._of_user[key] = max(0, self._of_user.get(key, 0) + tasks)

    def add(self, more: Waits) -> None:
        """Tasks were accepted."""
        self._all += more.tasks
        self._add(more.leaf, more.tasks)
        key = (*more.leaf, more.user)
        self._of_user[key] = self._of_user.get(key, 0) + more.tasks

    def check_move(self, core: Core, job: JobRecord, consumer: str) -> None:
        """As `check`, where what waits of a job would wait in another leaf."""
        if consumer != job.consumer:
            self.check(core, Waits((job.resource_group, consumer), job.terms.user, waiting_of(job), is_new=False))

    def move(self, job: JobRecord, before: str, after: str) -> None:
        """A job has gone from one leaf to another."""
        self._add((job.resource_group, before), -waiting_of(job))
        self._add((job.resource_group, after), waiting_of(job))
        self._add_of_user(job, before, -waiting_of(job))
        self._add_of_user(job, after, waiting_of(job))

    def _add(self, leaf: tuple[str, str], tasks: int) -> None:
        self._of_leaf[leaf] = max(0, self._of_leaf.get(leaf, 0) + tasks)

    def check(self, core: Core, more: Waits) -> None:
        """Raise InputError with the code `too-many` where tasks would go beyond a limit."""
        if self._version != core.version or (self._beyond(core, more) and self._is_old(core)):
            self._count(core)
        beyond = self._beyond(core, more)
        if beyond:
            raise _too_many(*beyond)

    def _beyond(self, core: Core, more: Waits) -> tuple[str, int, int] | None:
        for name, limit, added, value in (
            ("waiting", core.limits.waiting, more.tasks if more.is_new else 0, self._all),
            ("waiting_in_leaf", core.limits.waiting_in_leaf, more.tasks, self._of_leaf.get(more.leaf, 0)),
        ):
            if added and value + added > limit:
                return name, limit, value + added
        return None

    def _is_old(self, core: Core) -> bool:
        return self._counted_at is None or core.now() - self._counted_at >= _COUNT_EVERY

    def _count(self, core: Core) -> None:
        self._counted_at, self._version = core.now(), core.version
        self._all, self._of_leaf = 0, {}
        for job in core.orchestrator.jobs.values():
            leaf = (job.resource_group, job.consumer)
            self._all += waiting_of(job)
            self._add(leaf, waiting_of(job))


def check_limits(core: Core, terms: JobSubmitted) -> None:
    """Raise InputError where a job goes beyond a limit: `too-large`, or `too-many` where it may be taken later."""
    check_size(core, terms.count)
    for name, limit in (("waiting_in_leaf", core.limits.waiting_in_leaf), ("waiting", core.limits.waiting)):
        if terms.count > limit:  # it would not be taken later, either
            what = f"the limit `{name}` is {limit}, and this job alone has {terms.count} tasks"
            mend = f"submit smaller jobs one after another, or {raised(name)}"
            raise InputError([Fault("too-large", what, mend)])
    if len(core.orchestrator.jobs) >= core.limits.jobs:
        raise _too_many("jobs", core.limits.jobs, len(core.orchestrator.jobs) + 1)
    core.waiting.check(core, waits_of(terms))


def check_size(core: Core, tasks: int) -> None:
    """Raise InputError `too-large` where a job has more tasks than one may have."""
    if tasks > core.limits.tasks:
        what = f"the limit `tasks` of one job is {core.limits.tasks}, and this one has {tasks}"
        raise InputError([Fault("too-large", what, f"submit several smaller jobs, or {raised('tasks')}")])


def waits_of(terms: JobSubmitted) -> Waits:
    """What waits of a job that is submitted."""
    return Waits((terms.resource_group, terms.consumer), terms.user, terms.count)


def _too_many(name: str, limit: int, value: int) -> InputError:
    what = f"the limit `{name}` is {limit}, and this would make {value}"
    return InputError([Fault("too-many", what, f"wait until some have ended, or {raised(name)}")])
