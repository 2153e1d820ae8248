"""One service of several leads a cluster: the others wait, and one that leads no more ends."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.api import Api
from fairhold.engines.kubernetes.leader import Leader
from fairhold.leadership import Terms
from fairhold.orchestrator.events import Exit, JobCancelled, Outcome, TaskEnded
from fairhold.ports import Retention
from fairhold.runtime.live.led import StoppedWhileWaitingError, check_leads, on_signals

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.engines.kubernetes.access import Access
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.opening import ClusterSettings

TERM = "lease-term"
"""Key of what a store says of the last time that its service led."""
_LOG = logging.getLogger("fairhold")
_LOOK = 0.2
"""Seconds between two looks whether a signal has come."""


def open_leader(access: Access, settings: ClusterSettings, on_changed: Callable[[], None]) -> Leader | None:
    """One who may lead, None where there is no other."""
    namespace = lease_namespace(access, settings)
    return Leader(Api(access), namespace, Terms(settings.lease), on_changed) if namespace else None


def lease_namespace(access: Access, settings: ClusterSettings) -> str:
    """Where the lease is, empty = there is none."""
    return (settings.lease_namespace or access.namespace) if settings.lease else ""


def take_over(core: Core, term: tuple[str, int]) -> None:
    """Write down that this service leads. Where another has led since it last did, its own jobs are out of date.

    They end, and the pods that are there get new ones, those that run on the nodes where they run.

    term : the lease, and how often it has changed hands
    """
    text = core.store.meta().get(TERM, "")
    lease, _, number = text.partition(" ")
    if text and (lease, int(number) + 1) != term:
        _forget_jobs(core)
    core.journal.write(lambda batch: batch.put_meta(TERM, f"{term[0]} {term[1]}"))
    core.commit()


def _forget_jobs(core: Core) -> None:
    jobs = list(core.cluster.jobs)
    if jobs:
        _LOG.info("another service has led since: %d jobs of before end here, and pods get new ones", len(jobs))
    while core.store.compact(Retention(keys=core.now() + 1)):  # a pod's key would find its old job
        pass
    for name in jobs:
        core.feed(JobCancelled(name))
    for attempt in list(core.cluster.attempts):
        core.feed(TaskEnded(attempt, Outcome.LOST, Exit("host_lost", detail="another service has led since")))


def follow(leader: Leader) -> None:
    """Wait until it leads.

    Raises ApiError, InputError, and StoppedWhileWaitingError after SIGTERM, SIGINT or SIGHUP.
    """
    came: list[None] = []
    with on_signals(lambda: came.append(None)):
        leader.start()
        while not leader.wait(_LOOK):
            if came:
                raise StoppedWhileWaitingError("stopped while another service leads")
            check_leads(leader)


def end_while_waiting() -> None:
    """End a service that waits for its plan, whatever it is doing."""
    raise StoppedWhileWaitingError("stopped while there is no plan")
