"""What the service would do to the pods of a cluster now: the next cycle, on a copy of what the cluster has."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.engines.kubernetes.work import standing
from fairhold.orchestrator import changes as said
from fairhold.orchestrator.events import Woken
from fairhold.orchestrator.handle import Orchestrator
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairhold.engines.kubernetes.governor import Governor
    from fairhold.orchestrator.changes import Change
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.sim.effect import Standing

Document = dict[str, Any]
START, NOTICE, STOP = "start", "notice", "stop"


class Seen(NamedTuple):
    """A pod as the cluster has it."""

    namespace: str
    pod: str
    runs: bool


Seats = dict[tuple[str, int], Seen]
"""Job and number of its task → its pod."""


def seats_of(governor: Governor) -> tuple[Seats, int]:
    """The pods that have a job, and how many have none; in the desk's thread."""
    works = [work for work in governor.works.of.values() if not work.is_told]
    seats = {work.seat: Seen(work.pod.namespace, work.pod.name, bool(work.attempt)) for work in works if work.job}
    return seats, sum(standing(work) == "refused" for work in works)


def would_do(state: Standing, seats: Mapping[tuple[str, int], Seen], refused: int, most: int) -> Document:
    """What would be done now.

    refused : how many pods have no job; most: how many actions are told one by one
    """
    cluster = state.under(state.plan, {})
    actions = [row for change in decided(cluster, state.now) for row in _told(cluster, change, seats)]
    actions.sort(key=lambda row: (row["action"], row["namespace"], row["pod"]))
    done = Counter(row["action"] for row in actions)
    runs = sum(seen.runs for seen in seats.values())
    waits = len(seats) - runs
    return {
        "at": format_instant(state.now),
        "running": {
            "keep": max(0, runs - done[NOTICE] - done[STOP]),
            "notice": done[NOTICE],
            "stop": done[STOP],
        },
        "waiting": {"start": done[START], "wait": max(0, waits - done[START]), "refused": refused},
        "actions": actions[:most],
        "left_out": max(0, len(actions) - most),
    }


def decided(cluster: Cluster, now: int) -> tuple[Change, ...]:
    """What is decided in a cluster at an instant; the cluster is changed by it."""
    live = Orchestrator(cluster, reopens=True)
    for group in live.books:
        live.now = now
        live.changed(group, at_once=True)
    found: tuple[Change, ...] = ()
    for _ in range(2):  # a switch of windows asks to be woken again at once, for its cycle
        live.handle(Woken(), now)
        found += tuple(live.changes)
    return found


def _told(cluster: Cluster, change: Change, seats: Mapping[tuple[str, int], Seen]) -> Iterator[Document]:
    """What a change says of a pod; nothing where it is about none."""
    more: Document = {}
    if isinstance(change, said.Started):
        action, job, task, node = START, change.job, change.task, change.places[0][0]
    elif isinstance(change, (said.Noticed, said.Stopping)) and change.attempt in cluster.attempts:
        attempt = cluster.attempts[change.attempt]
        job, task, node = attempt.job.name, attempt.index, attempt.places[0][0]
        action, more = STOP, {"reason": change.reason}
        if isinstance(change, said.Noticed):
            action = NOTICE
            more |= {"deadline": format_instant(change.deadline), "taker": change.taker or None}
    else:
        return
    seen = seats.get((job, task))
    if seen is None:
        return
    named = {"action": action, "namespace": seen.namespace, "pod": seen.pod, "job": job, "task": task, "node": node}
    yield named | {"consumer": cluster.jobs[job].consumer} | dict.fromkeys(("deadline", "taker", "reason")) | more
