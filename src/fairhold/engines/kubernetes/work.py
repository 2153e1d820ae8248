"""A governed pod: what was decided about it, and the next change that brings its object there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.engines.kubernetes import writes
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from fairhold.engines.kubernetes.pods import Pod, Wishes
    from fairhold.engines.kubernetes.writes import Write
    from fairhold.errors import Fault
    from fairhold.model.kubernetes import Amounts
    from fairhold.orchestrator.events import Exit


RETRY = 250_000
"""Microseconds, doubled with each failure of a request, before it is made again."""
MOST_TRIES = 7
RUNS = ("Granted", "it was let go")
OUTGROWN = "Outgrown"
"""Reason of the condition of a pod that runs and asks for more than is booked for it."""
UNSTARTED = "not_started"
"""Why a pod is stopped whose containers cannot start: its end counts as a failure."""


class Tried:
    """Something about which requests are made, one at a time.

    is_busy : a request is on its way; retry_at: instant before which none is made, after `tries` that failed
    """

    __slots__ = ("is_busy", "retry_at", "tries")

    def __init__(self) -> None:
        self.is_busy = False
        self.retry_at = self.tries = 0

    def count_try(self, now: int, *, is_done: bool) -> None:
        """A request was answered: one that failed is made again later and later."""
        self.is_busy = False
        self.tries = 0 if is_done else min(self.tries + 1, MOST_TRIES)
        self.retry_at = 0 if is_done else now + (RETRY << self.tries)


class Work(Tried):
    """A pod of a job.

    pod      : as it was seen last
    job      : name of its job, empty = none was accepted; index: number of its task there
    attempt  : number of its attempt, 0 = it waits; host: node that was granted
    notice   : text of the notice that it is to have, empty = none; deadline: instant at which it ends, 0 = none
    stopping : why it is to be stopped, empty = it is not
    is_unwanted : its job is over, and it is not
    is_running  : that it runs was told
    is_told  : its end was told to the service; end: that; is_recorded: the service has written it down
    is_replaced : another pod takes its place; is_moving: kube-scheduler cannot bind it where it was let go to
    bound_by : instant by which kube-scheduler has to bind it, 0 = it had no trouble; start_by: the same, by which its
        containers have to start, or kube-scheduler to bind one that nobody makes anew
    made_as  : manifest of one that is made anew, from before it was let go; empty = it was not seen then
    why      : reason and message of why it waits, as its condition is to say; empty = it is not known
    fault    : why it has no job
    outgrown : why it holds less than it asks for, empty = it does not; excess: so much less
    asked    : what it asked for when it was accepted, None = it was not
    """

    __slots__ = (
        *("attempt", "bound_by", "deadline", "end", "fault", "host", "index", "is_moving", "is_recorded", "made_as"),
        *(
            "is_replaced",
            "is_running",
            "is_told",
            "is_unwanted",
            "job",
            "notice",
            "pod",
            "start_by",
            "stopping",
        ),
        *("asked", "excess", "outgrown", "why"),
    )

    def __init__(self, pod: Pod) -> None:
        super().__init__()
        self.pod = pod
        self.made_as = pod.manifest if pod.is_gated else b""
        self.job = self.host = self.notice = self.stopping = ""
        self.attempt = self.bound_by = self.deadline = self.index = self.start_by = 0
        self.is_told = self.is_recorded = self.is_running = self.is_unwanted = False
        self.is_replaced = self.is_moving = False
        self.why, self.outgrown = ("", ""), ""
        self.excess: Amounts = ()
        self.asked: Wishes | None = None
        self.end: Exit | None = None
        self.fault: Fault | None = None

    @property
    def seat(self) -> tuple[str, int]:
        """Its job and the number of its task."""
        return self.job, self.index

    @property
    def is_leaving(self) -> bool:
        """Whether it is to give way: it is under notice, or is stopped though it is not at fault."""
        return bool(self.notice or (self.stopping and self.stopping != UNSTARTED))

    def stop_at(self) -> int:
        """Instant at which its containers are told to end, so that they are killed when the notice ends; 0 = never."""
        if self.stopping:
            return 1
        return max(1, self.deadline - self.pod.grace * SECOND) if self.deadline else 0

    def next_write(self, now: int, host: str) -> Write | None:
        """What is to be written next; None where all is as it should be, or the time has not come.

        host : value of the label by which pods are pinned to the granted node
        """
        pod = self.pod
        if self.is_recorded or (self.is_unwanted and pod.end is not None):
            return self._to_end()
        if self.explains:
            is_refused = (pod.is_gated and self.fault is not None) or self.said[0] == OUTGROWN
            return writes.explain(pod, *self.said, is_granted=self.said == RUNS, is_refused=is_refused)
        if self.is_unwanted and not pod.is_deleting:
            return writes.delete(pod, pod.grace, "cancel")
        is_lost_on = pod.is_deleting and (pod.is_gated or not pod.is_kept)
        if not self.attempt or self.is_told or is_lost_on:
            return None
        return self._to_start(host) if pod.is_gated else self._to_leave(now)

    def _to_start(self, host: str) -> Write | None:
        """What is to be written so that a pod at the gate starts."""
        return None if self.stopping else writes.grant(self.pod, host, self.attempt)

    def refuse(self, fault: Fault) -> None:
        """It has no job, for this reason."""
        self.fault = fault
        self.why = (camel(fault.code), f"{fault.what}; {fault.mend}" if fault.mend else fault.what)

    @property
    def explains(self) -> bool:
        """Whether the pod's condition says something else than why it waits, or that it waits though it runs."""
        if self.is_told or self.is_unwanted or self.pod.is_deleting:
            return False
        if self.said == RUNS:
            return bool(self.pod.waits) and self.pod.is_running
        return bool(self.said[0]) and self.pod.waits != self.said[0]

    @property
    def said(self) -> tuple[str, str]:
        """Reason and message of its condition."""
        if self.pod.is_gated and not self.attempt:
            return self.why
        if self.outgrown and not self.pod.is_gated:
            return OUTGROWN, self.outgrown
        if not self.start_by or self.pod.is_gated:
            return RUNS
        return "CannotStart", f"it is stopped at {format_instant(self.start_by)}, if not before: {self.hindrance}"

    @property
    def hindrance(self) -> str:
        """Why it cannot start where it was let go to, though nobody makes another in its place; empty = it may."""
        pod = self.pod
        is_alone = pod.family is None and not pod.node and not pod.is_gated
        return pod.unstarted or (pod.trouble if is_alone else "")

    def _to_end(self) -> Write | None:
        """What is to be written of a pod whose end is recorded, so that its object may go."""
        if self.is_replaced and self.pod.is_of_job:
            return writes.release(self.pod)
        return writes.finish(self.pod) if self.pod.is_kept else None

    def _to_leave(self, now: int) -> Write | None:
        """What is to be written so that a pod that was let go knows of its notice, and ends when it has to."""
        pod = self.pod
        if pod.attempt != self.attempt or not pod.is_kept:
            return writes.keep(pod, self.attempt)
        return None if pod.is_deleting else self._to_tell(now)

    def _to_tell(self, now: int) -> Write | None:
        pod = self.pod
        is_due = not pod.is_disrupted if self.is_leaving else pod.is_marked
        if is_due:
            why = self.notice or self.stopping or "the notice was withdrawn"
            return writes.disrupt(pod, why, now, is_disrupted=self.is_leaving)
        if self.notice != pod.notice and not self.stopping:
            return writes.notice(pod, self.notice)
        at = self.stop_at()
        if not at or at > now:
            return None
        is_coming_back = self.stopping in {"", "reclaim", "requeue", "host_lost"} or self.is_moving
        if pod.is_of_job and is_coming_back:
            return writes.release(pod)
        return writes.delete(pod, self._grace(now), self.stopping or "reclaim", is_moving=self.is_moving)

    def _grace(self, now: int) -> int:
        """Seconds until the containers are killed: what is left of the notice, at most the pod's own grace."""
        if not self.deadline:
            return 1 if self.stopping == "reclaim" else self.pod.grace
        return min(self.pod.grace, max(1, (self.deadline - now) // SECOND))

    def due(self) -> int:
        """Instant at which there is something to write that nothing seen tells of; 0 = never."""
        if self.is_told or not self.attempt or self.pod.is_gated or self.pod.is_deleting:
            return self.retry_at
        return max(self.stop_at(), self.retry_at)


STANDINGS = ("waiting", "refused", "granted", "running", "notice", "stopping", "over")


def standing(work: Work) -> str:
    """Where a pod stands, one of `STANDINGS`; see `docs/reference/api.md`."""
    if work.is_told or (work.is_unwanted and work.pod.end is not None):
        return "over"
    if work.stopping or work.is_unwanted:
        return "stopping"
    if work.notice:
        return "notice"
    if work.attempt:
        return "running" if work.pod.is_running else "granted"
    return "refused" if work.fault is not None else "waiting"


def reason_of(work: Work, reason: str) -> str:
    """Why a pod has ended: what stopped it comes before how it took that.

    But its Job counts the end of a pod whose units were to be taken back, and that has ended before it was let go.
    """
    is_own_end = reason in {"finished", "yielded"} or not work.pod.is_deleting
    is_counted = work.stopping in {"reclaim", "requeue"} and not work.pod.is_released
    if work.stopping and not (is_own_end and is_counted):
        return work.stopping
    if is_own_end:
        return reason
    if work.notice or work.pod.notice:  # before a start, it may have been told so by another
        return "reclaim"
    return "host_lost" if work.pod.is_disrupted else "cancel"


def camel(code: str) -> str:
    """A code as reasons of conditions are written: `never-fits` is `NeverFits`."""
    return "".join(word.capitalize() for word in code.replace("_", "-").split("-"))
