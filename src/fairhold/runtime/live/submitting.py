"""What is accepted from users, and how much of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.errors import Fault, InputError
from fairhold.orchestrator.changes import DONE
from fairhold.runtime.live.archive import consumer_of

if TYPE_CHECKING:
    from fairhold.model.spec import Spec
    from fairhold.orchestrator.events import Dependency, JobSubmitted
    from fairhold.runtime.live.core import Core

_COUNT_EVERY = 1_000_000
"""Microseconds between two counts of what waits, when a limit is reached."""


class Submission(NamedTuple):
    """A job that somebody wants run.

    user : who asks; key : made by the client, the same key again is the same job
    terms : `job` is given by the core
    """

    user: str
    key: str
    terms: JobSubmitted
    spec: Spec


class Limits(NamedTuple):
    """How much is accepted; `fairhold serve --limit NAME=N` sets each.

    One leaf alone cannot reach `waiting`: whoever fills his own leaf keeps nobody else out.

    waiting, waiting_in_leaf : tasks that wait, in all and of one leaf
    jobs   : that are not over
    tasks  : of one job
    """

    waiting: int = 100_000_000
    waiting_in_leaf: int = 10_000_000
    jobs: int = 1_000_000
    tasks: int = 10_000_000


def raised(limit: str) -> str:
    """How a limit is made higher, as the end of a sentence for people."""
    return f"have the service started with a higher one: `fairhold serve --limit {limit}=N`"


def still_waited_for(core: Core, after: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
    """Dependencies on jobs that are not over; those on finished ones are met, or the job is refused."""
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
            what = f"job `{needed.job}` is over as {done.state}, so that this job could never start"
            raise InputError([Fault("never-ready", what, "wait for `any`, or leave the dependency out")])
    return tuple(waited)


class Waiting:
    """How many tasks wait, in all and by leaf, held and blocked ones too.

    They were counted some time ago, and what was accepted since was added: most submits need no look at all jobs. They
    are counted anew where a limit seems to be reached. So a limit is kept but for what ran, or belonged to another
    leaf, at the last count.
    """

    def __init__(self) -> None:
        self._counted_at: int | None = None
        self._version = 0
        self._all = 0
        self._of_leaf: dict[tuple[str, str], int] = {}

    def check(self, core: Core, terms: JobSubmitted) -> None:
        """Raise InputError with the code `too-many` where a job would go beyond a limit."""
        if self._version != core.version or (self._beyond(core, terms) and self._is_old(core)):
            self._count(core)
        beyond = self._beyond(core, terms)
        if beyond:
            raise _too_many(*beyond)

    def add(self, terms: JobSubmitted) -> None:
        """A job was accepted."""
        leaf = (terms.resource_group, terms.consumer)
        self._all += terms.count
        self._of_leaf[leaf] = self._of_leaf.get(leaf, 0) + terms.count

    def _beyond(self, core: Core, terms: JobSubmitted) -> tuple[str, int, int] | None:
        leaf = (terms.resource_group, terms.consumer)
        for name, limit, value in (
            ("waiting", core.limits.waiting, self._all + terms.count),
            ("waiting_in_leaf", core.limits.waiting_in_leaf, self._of_leaf.get(leaf, 0) + terms.count),
        ):
            if value > limit:
                return name, limit, value
        return None

    def _is_old(self, core: Core) -> bool:
        return self._counted_at is None or core.now() - self._counted_at >= _COUNT_EVERY

    def _count(self, core: Core) -> None:
        self._counted_at, self._version = core.now(), core.version
        self._all, self._of_leaf = 0, {}
        for job in core.orchestrator.jobs.values():
            leaf = (job.resource_group, consumer_of(job, core.cluster))
            tasks = job.waiting + len(job.delays or ())
            self._all += tasks
            self._of_leaf[leaf] = self._of_leaf.get(leaf, 0) + tasks


def check_limits(core: Core, terms: JobSubmitted) -> None:
    """Raise InputError where a job goes beyond a limit: `too-large`, or `too-many` where it may be taken later."""
    if terms.count > core.limits.tasks:
        what = f"the limit `tasks` of one job is {core.limits.tasks}, and this one has {terms.count}"
        raise InputError([Fault("too-large", what, f"submit several smaller jobs, or {raised('tasks')}")])
    if len(core.orchestrator.jobs) >= core.limits.jobs:
        raise _too_many("jobs", core.limits.jobs, len(core.orchestrator.jobs) + 1)
    core.waiting.check(core, terms)


def _too_many(name: str, limit: int, value: int) -> InputError:
    what = f"the limit `{name}` is {limit}, and this would make {value}"
    return InputError([Fault("too-many", what, f"wait until some are over, or {raised(name)}")])
