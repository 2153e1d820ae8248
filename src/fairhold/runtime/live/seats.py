"""Which pod is the one of which task, as the labels of jobs say it: a start after a crash knows it by them alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.orchestrator.events import JobChanged, TaskCancelled
from fairhold.runtime.live.submitting import give_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.model.spec import Spec
    from fairhold.ports.governor import Appeared, GangKey, Parted, Seat
    from fairhold.runtime.live.core import Core


def seats(core: Core) -> dict[str, Seat]:
    """Uid of a pod → job that has not ended, and the number of its task."""
    found: dict[str, Seat] = {}
    for job in core.cluster.jobs:
        spec = core.specs.of(job)
        if spec is not None and "uid" in spec.labels:
            found |= {uid: (job, index) for index, uid in enumerate(spec.labels["uid"].split(",")) if uid}
    return found


def gangs(core: Core) -> Iterator[tuple[str, GangKey]]:
    """Jobs of gangs that have not ended."""
    for job in core.cluster.jobs:
        spec = core.specs.of(job)
        if spec is not None and (key := gang_of(spec)) is not None:
            yield job, key


def gang_of(spec: Spec) -> GangKey | None:
    """The gang whose job it is."""
    said = spec.labels.get("gang", "").split("/", 2)
    return (said[0], said[1], said[2]) if len(said) > 2 else None


def seat_of_going(core: Core, asked: Appeared) -> Seat:
    """The task of a pod that is ending and whose place another has taken: its attempt runs, of a pod of its family."""
    attempt = core.cluster.attempts.get(asked.attempt) if asked.is_going else None
    spec = core.specs.of(attempt.job.name) if attempt is not None else None
    if attempt is None or spec is None or not asked.spec.labels["owner"]:
        return "", 0
    owners = spec.labels.get("owner", "").split(",")
    is_its = attempt.index < len(owners) and owners[attempt.index] == asked.spec.labels["owner"]
    return (attempt.job.name, attempt.index) if is_its else ("", 0)


def part(core: Core, parted: Parted) -> None:
    """A task ends without its pod, which goes on: no later start finds one by the other.

    The label says nothing of the pod any more, and the pod's key no job: who is asked about it again accepts it anew.
    """
    spec = core.specs.of(parted.job)
    uids = spec.labels.get("uid", "").split(",") if spec else []
    if spec is not None and parted.uid in uids:
        uids[uids.index(parted.uid)] = ""
        core.change(JobChanged(parted.job), {**spec.labels, "uid": ",".join(uids)})
    give_key(core, parted.user, parted.uid)
    core.feed(TaskCancelled(parted.job, parted.index))
