"""Turns a job as clients write it into a submission to the core."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairhold.errors import InputError
from fairhold.ledger.vectors import POOLED, vector_groups
from fairhold.model.siting import Siting
from fairhold.model.spec import Spec
from fairhold.orchestrator.events import Dependency, JobSubmitted
from fairhold.planio.units import told_unit
from fairhold.runtime.live.path_suggestions import better
from fairhold.runtime.live.submitting import Submission
from fairhold.runtime.live.views.jobs import accepted_document
from fairhold.service.allowing import sees_job
from fairhold.service.problems import refused
from fairhold.service.subscribing import check_watch, watch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.model.vector import Told
    from fairhold.runtime.live.core import Core
    from fairhold.service.auth import Caller
    from fairhold.service.models.requests import SubmitBody


_NO_UNIT = "the hosts of this resource group are shared in resources, and the job does not say what a task needs"


def submission(body: SubmitBody, user: str, key: str, group: str, unit: Told = ()) -> Submission:
    """A submission to one resource group, or of units of a vector."""
    terms = JobSubmitted(
        job="",
        consumer=body.consumer,
        resource_group=group,
        count=body.count,
        priority=body.priority,
        user=user,
        units=body.units,
        throttle=body.throttle,
        retries=body.retries,
        backoff=body.backoff,
        is_held=body.hold,
        after=tuple(Dependency(each.job, each.on) for each in body.after),
        siting=Siting(tuple(body.need), tuple(body.prefer), tuple(body.avoid), body.place or ""),
        time_limit=body.time_limit,
        unit=unit,
        min_count=body.min_count,
        preemptible=body.preemptible,
    )
    spec = Spec(
        consumer=body.consumer,
        argv=tuple(body.argv),
        environment=body.environment,
        directory=body.directory,
        stdin=body.stdin,
        time_limit=body.time_limit,
        memory=body.memory,
        notice=body.signal,
        lead=body.lead,
        user=user,
        name=body.name,
        labels=body.labels,
    )
    return Submission(user, key, terms, spec)


def submit(core: Core, body: SubmitBody, user: str, key: str, caller: Caller) -> tuple[str, dict[str, Any] | None]:
    """Accept a job; its name, and its document where it is new. In the desk's thread."""
    before = core.next_job
    asked = _allowed(core, body, _asked(core, body, user, key), caller)
    told = None if body.notify is None else check_watch(core, caller, "", user, body.notify)
    with _in_words(core, before, body.consumer, caller):
        name = core.submit(asked)
    if told is not None and core.next_job != before:
        watch(core, told, name, body.notify or ())
    return name, None if core.next_job == before else accepted_document(core, core.orchestrator.jobs[name])


def check(core: Core, body: SubmitBody, user: str, key: str, caller: Caller) -> dict[str, Any]:
    """What a job would ask for, where it would be accepted now. In the desk's thread."""
    asked = _allowed(core, body, _asked(core, body, user, key), caller)
    if body.notify is not None:
        check_watch(core, caller, "", user, body.notify)
    with _in_words(core, core.next_job, body.consumer, caller):
        core.check(asked)
    group = asked.terms.resource_group
    return {"resource_group": group, "tasks": body.count, "units": body.units, "unit": dict(asked.terms.unit) or None}


def _allowed(core: Core, body: SubmitBody, asked: Submission, caller: Caller) -> Submission:
    """The same with what its owner may have wait; InputError where it waits for jobs that the caller does not see."""
    for needed in body.after:
        if not (caller.rights.sees_all or sees_job(core, caller.rights, needed.job)):
            what = f"there is no job `{needed.job}` to wait for"  # as where there is none
            raise refused("unknown-job", what, "`fairhold jobs --all` shows what there is")
    spec = replace(asked.spec, account=caller.account) if asked.user == caller.user else asked.spec
    return asked._replace(spec=spec, most_waiting=most_waiting(core, caller, asked.user))


def most_waiting(core: Core, caller: Caller, owner: str) -> int:
    """How many tasks of an owner may wait in one leaf, 0 = any number; none is set for who runs the service."""
    return 0 if caller.is_built_in and owner == caller.user else core.people.access.limits_of(owner).waiting_in_leaf


def _asked(core: Core, body: SubmitBody, user: str, key: str) -> Submission:
    vectors = vector_groups(core.plan)
    of_slots = [group for group in core.orchestrator.books if group != POOLED]
    if not body.unit and (of_slots or not vectors):
        if body.min_count:
            mend = "write `units`: the slots that a task needs at once"
            raise refused("wrong-unit", "`min_count` goes with `unit`", mend)
        if body.resource_group in vectors:
            raise refused("missing-unit", _NO_UNIT, "add `unit`, as `--unit cpu=1`, and leave `resource_group` out")
        return submission(body, user, key, body.resource_group or only_group(of_slots))
    if body.resource_group:
        what = "units of resources may run on any host of their consumer's policy entry"
        raise refused("wrong-place", what, "leave `resource_group` out")
    if not vectors:
        raise refused("wrong-unit", "the plan shares slots, not resources of hosts", "write `units` instead of `unit`")
    return submission(body, user, key, POOLED, told_unit(core.plan, body.unit) if body.unit else ())


@contextmanager
def _in_words(core: Core, number: int, consumer: str, caller: Caller) -> Iterator[None]:
    """Refusals without the number that the job would have had, which nobody was told; with the leaf that was meant."""
    try:
        yield
    except InputError as error:
        head = f"job `{number}`: "
        faults = [replace(fault, what=fault.what.removeprefix(head)) for fault in error.faults]
        refusal = InputError(faults)
        raise (better(refusal, core.plan.tree, consumer) if caller.rights.sees_all else refusal) from None


def only_group(groups: Iterable[str]) -> str:
    """The resource group that is meant where none is named. InputError `missing-key` where it could be any."""
    names = list(groups)
    if len(names) != 1:
        mend = f"name one: {', '.join(names[:10])}"
        raise refused("missing-key", "the plan shares several resource groups, and `resource_group` is missing", mend)
    return names[0]
