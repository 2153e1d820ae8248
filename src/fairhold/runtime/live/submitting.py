"""What is accepted from users, and how much of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.errors import Fault, InputError
from fairhold.orchestrator.changes import DONE

if TYPE_CHECKING:
    from fairhold.model.spec import Spec
    from fairhold.orchestrator.events import Dependency, JobSubmitted
    from fairhold.runtime.live.core import Core


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
    """How much is accepted.

    waiting, waiting_in_leaf : tasks that wait, in all and of one leaf
    jobs   : that are not over
    tasks  : of one job
    """

    waiting: int = 100_000_000
    waiting_in_leaf: int = 100_000_000
    jobs: int = 1_000_000
    tasks: int = 10_000_000


def still_waited_for(core: Core, after: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
    """Dependencies on jobs that are not over; those on finished ones are met, or the job is refused."""
    waited = []
    for needed in after:
        if needed.job in core.orchestrator.jobs:
            waited.append(needed)
            continue
        done = core.store.job(needed.job)
        if done is None:
            what = f"there is no job `{needed.job}` to wait for"
            raise InputError([Fault("unknown-job", what, "`fairhold jobs --all` shows what there is")])
        if needed.on != "any" and (needed.on == "ok") != (done.state == DONE):
            what = f"job `{needed.job}` is over as {done.state}, so that this job could never start"
            raise InputError([Fault("never-ready", what, "wait for `any`, or leave the dependency out")])
    return tuple(waited)


def check_limits(core: Core, terms: JobSubmitted) -> None:
    """Raise InputError with the code `too-many` where a job would go beyond a limit."""
    waiting = sum(sum(books.demand) for books in core.orchestrator.books.values())
    for name, value, limit in (
        ("tasks", terms.count, core.limits.tasks),
        ("jobs", len(core.orchestrator.jobs) + 1, core.limits.jobs),
        ("waiting", waiting + terms.count, core.limits.waiting),
    ):
        if value > limit:
            what = f"the limit `{name}` is {limit}, and this would make {value}"
            raise InputError([Fault("too-many", what, "wait until some are over, or ask for a higher limit")])
    books = core.orchestrator.books.get(terms.resource_group)
    row = books.rows.by_path.get(terms.consumer) if books else None
    if books and row is not None and books.demand[row] + terms.count > core.limits.waiting_in_leaf:
        what = f"the limit `waiting_in_leaf` is {core.limits.waiting_in_leaf}"
        raise InputError([Fault("too-many", what, "wait until some are over, or ask for a higher limit")])
