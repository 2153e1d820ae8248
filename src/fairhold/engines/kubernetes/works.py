"""All governed pods: what was ordered for each, what became of it, and what is to be written and told."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.making import Making
from fairhold.engines.kubernetes.ordering import stop
from fairhold.engines.kubernetes.refusing import MOST as MOST_REFUSALS
from fairhold.engines.kubernetes.refusing import Refusals
from fairhold.engines.kubernetes.starting import watch_start, watch_trouble
from fairhold.engines.kubernetes.vacancies import Vacancies
from fairhold.engines.kubernetes.work import UNSTARTED, reason_of
from fairhold.engines.kubernetes.writes import EXPLAIN
from fairhold.orchestrator.ending import OUTCOMES
from fairhold.orchestrator.events import (
    Exit,
    JobHeld,
    Outcome,
    TaskCancelled,
    TaskEnded,
    TaskRunning,
)
from fairhold.ports.governor import AWAITED, REFUSED, Parted
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.engines.kubernetes.avoiding import Avoided
    from fairhold.engines.kubernetes.work import Work
    from fairhold.engines.kubernetes.writes import Write
    from fairhold.orchestrator.events import Event
    from fairhold.ports.governor import Family, Replaced, Seat

PATIENCE = 660 * SECOND
"""How long a job waits for a pod that takes the place of one that was stopped: Jobs wait ten minutes at most."""
MOST_EXPLAINING = 4
"""Requests on their way at once that say why pods wait; other requests come before the rest of them."""
_AGAIN = {Outcome.STOPPED, Outcome.YIELDED, Outcome.LOST}


class Works:
    """Governed pods by uid.

    of_job    : job → number of the task → uid of its pod; vacancies: tasks that wait for another pod
    least     : job of a gang → pods without which it does not go on
    of_attempt : attempt → uid of its pod; ended: the same, of those whose end was told and is not recorded
    avoided   : nodes on which kube-scheduler could not bind pods
    news      : what the service is to be told, with the pods that have changed their places
    anew      : bare pods to make anew; asking: pods that are to get another job
    now       : the service's clock; start_within: microseconds that a pod has which cannot start, 0 = any time
    """

    def __init__(self, now: Callable[[], int], avoided: Avoided) -> None:
        self.now, self.avoided = now, avoided
        self.of: dict[str, Work] = {}
        self.of_job: dict[str, dict[int, str]] = {}
        self.vacancies = Vacancies()
        self.least: dict[str, int] = {}
        self.news: list[Event | Replaced | Parted] = []
        self.touched: dict[str, None] = {}
        self._to_explain: dict[str, None] = {}
        self._explaining: set[str] = set()
        self.of_attempt: dict[int, str] = {}
        self.ended: dict[int, str] = {}
        self._timers: list[tuple[int, str]] = []
        self.start_within = 0
        self.anew = Making(self.vacancies)
        self.refusals = Refusals()
        self.asking: list[Work] = []

    def take_news(self) -> list[Event | Replaced | Parted]:
        """What the service is to be told; it counts as told."""
        news, self.news = [*self.news, *self.refusals.over(self.now())], []
        return news

    # What becomes of a pod

    def look(self, work: Work) -> None:
        """Tell what is new of a pod that was let go, and see later whether something is to be written."""
        pod = work.pod
        self.touched[pod.uid] = None
        if work.is_told or not work.attempt:
            return
        watch_start(self, work)
        if pod.trouble and not pod.node and not work.is_leaving and not pod.is_gated:
            watch_trouble(self, work)
        if pod.end is not None:
            self._end(work, pod.end)
        elif pod.is_running and not work.is_running:
            work.is_running = True
            self.news.append(TaskRunning(work.attempt))
        elif pod.family and not work.is_moving and (pod.is_released or (pod.is_deleting and work.is_leaving)):
            self.vacancies.open(pod.family, work.seat)

    def lose(self, uid: str) -> Work | None:
        """The object of a pod is gone; returns what was known of it."""
        work = self.of.pop(uid, None)
        self._explaining.discard(uid)
        if work is None:
            return None
        if work.job and not work.is_told:
            self._leave_out(work)
            if work.attempt:
                self._tell_end(work, Exit("host_lost", detail="its object was deleted before its end was read"))
        self.ended.pop(work.attempt, None)
        if work.is_replaced and work.pod.manifest and work.pod.family:
            self.anew.add(work.pod.family, work.made_as or work.pod.manifest)
        self._unseat(work)
        return work

    def pod_of(self, seat: Seat) -> str:
        """Uid of the pod of a task, empty = it has none."""
        return self.of_job.get(seat[0], {}).get(seat[1], "")

    def seat(self, work: Work, seat: Seat) -> None:
        """A pod is the one of a task from now on."""
        work.job, work.index = seat
        work.asked = work.pod.wishes
        self.of_job.setdefault(work.job, {})[work.index] = work.pod.uid

    def drop(self, job: str) -> None:
        """A job is over."""
        self.vacancies.drop(job)
        self.least.pop(job, None)
        self.refusals.drop(job)

    def is_held(self, attempt: int) -> bool:
        """Whether a pod has this attempt and is not over."""
        return attempt in self.of_attempt

    def grant(self, work: Work, attempt: int, host: str) -> None:
        """A pod has an attempt on a host."""
        work.attempt, work.host = attempt, host
        self.of_attempt[attempt] = work.pod.uid
        self.touched[work.pod.uid] = None

    def awaits(self, seat: Seat, family: Family) -> None:
        """A task waits for a pod that takes the place of one that is gone."""
        until = self.now() + PATIENCE
        self.vacancies.open(family, seat)
        self.vacancies.await_until(family, seat, until)
        self.wake_at(until)

    def make_anew(self, family: Family, manifest: bytes) -> None:
        """Make a bare pod anew that is gone; where it is still there, when it is."""
        for work in self.of.values():
            if work.pod.family == family:
                work.is_replaced |= work.is_told or work.is_unwanted
                return
        self.anew.add(family, manifest)

    def made(self, name: str, *, is_done: bool) -> None:
        """A request to make a bare pod anew was answered: from now on its task waits for it."""
        family = (name, "")
        if retry_at := self.anew.answered(family, self.now(), is_done=is_done):
            self.wake_at(retry_at)
        for seat in self.vacancies.seats(family):
            self.awaits(seat, family)

    def lose_host(self, name: str) -> None:
        """Nothing of a node runs any more, as an operator says."""
        for work in self.of.values():
            if work.host != name or not work.attempt or work.is_told:
                continue
            if work.pod.is_gated:
                stop(self, work, "host_lost")
            else:
                self._end(work, Exit("host_lost", detail="its node is out of service"))

    def _end(self, work: Work, end: Exit) -> None:
        """A pod is over: of one that was stopped, its controller makes another, which takes its place."""
        pod = work.pod
        end = end._replace(reason=reason_of(work, end.reason))
        if end.reason == UNSTARTED and work.stopping:
            end = end._replace(detail=work.why[1])
        waits = not work.is_moving and OUTCOMES.get(end.reason, Outcome.FAILED) in _AGAIN and end.reason != "cancel"
        work.is_replaced = (waits or work.is_moving) and pod.family is not None
        if waits and pod.family is not None:
            if self.pod_of(work.seat) != pod.uid:
                pass  # another has taken its place already
            elif self._does_without(work):
                self._leave_out(work)
            else:
                self.awaits(work.seat, pod.family)
                self.news.append(JobHeld(work.job, AWAITED))
        elif waits or end.reason == "cancel":
            self._leave_out(work)
        self._tell_end(work, end)
        if not (waits or work.is_moving or end.reason == "cancel"):
            self._unseat_heir(work)

    def _does_without(self, work: Work) -> bool:
        """Whether the others of its job go on when a pod has ended, and no other has taken its place."""
        least = self.least.get(work.job, 0)
        return len([each for each in self.members(work.job) if each is not work]) >= least > 0

    def _leave_out(self, work: Work) -> None:
        """A task has no pod any more, and waits for none; with its last task a job is over."""
        if self.pod_of(work.seat) == work.pod.uid:
            self.news.append(TaskCancelled(*work.seat))
            self.vacancies.leave(work.seat)

    def _unseat_heir(self, work: Work) -> None:
        """A task is over by itself: the pod that was to take the place of its own, as its Job wants it, asks anew."""
        if work.pod.family is not None:
            self.vacancies.close(work.pod.family, work.seat)
        other = self.of.get(self.pod_of(work.seat))
        if other is not None and other is not work:
            self.ask_anew(other)

    def ask_anew(self, work: Work) -> None:
        """A pod is not the one of its task any more, and gets a job of its own."""
        self.news.append(Parted(work.pod.uid, work.pod.namespace, *work.seat))
        self.part(work)
        self.asking.append(work)

    def part(self, work: Work) -> None:
        """A pod is not the one of its task any more, nor of its attempt."""
        self._unseat(work)
        self.of_attempt.pop(work.attempt, None)
        work.job, work.index, work.attempt = "", 0, 0

    def _unseat(self, work: Work) -> None:
        """A pod is not the one of its task any more."""
        if self.pod_of(work.seat) == work.pod.uid:
            del self.of_job[work.job][work.index]
            if not self.of_job[work.job]:
                del self.of_job[work.job]

    def members(self, job: str) -> list[Work]:
        """Pods of a job that are not over, one of each task."""
        return [work for uid in self.of_job.get(job, {}).values() if not (work := self.of[uid]).is_told]

    def _tell_end(self, work: Work, end: Exit) -> None:
        work.is_told, work.end = True, end
        self.of_attempt.pop(work.attempt, None)
        self.ended[work.attempt] = work.pod.uid
        self.news.append(TaskEnded(work.attempt, OUTCOMES.get(end.reason, Outcome.FAILED), end))

    # What is written

    def writes(self, host_name: Callable[[str], str]) -> list[Write]:
        """Requests to make now; host_name: value of the label by which pods are pinned to a node."""
        now = self.now()
        found = list(self.anew.writes(now))
        self.ring(now)
        touched, self.touched = self.touched, {}
        for uid in touched:
            work = self.of.get(uid)
            if work is None or work.is_busy:
                continue
            write = work.next_write(now, host_name(work.host)) if work.retry_at <= now else None
            if write is None:
                if (due := work.due()) > now:
                    self.wake_at(due, uid)
            elif write.what == EXPLAIN:
                self._to_explain[uid] = None
            else:
                work.is_busy = True
                found.append(write)
        return found + list(self._explanations(now, host_name))

    def _explanations(self, now: int, host_name: Callable[[str], str]) -> Iterator[Write]:
        """Requests that only tell something, a few at a time: thousands of them would keep what is granted waiting."""
        while self._to_explain and len(self._explaining) < MOST_EXPLAINING:
            uid = next(iter(self._to_explain))
            del self._to_explain[uid]
            work = self.of.get(uid)
            write = work.next_write(now, host_name(work.host)) if work is not None and not work.is_busy else None
            if work is None or write is None:
                continue
            work.is_busy = True
            if write.what == EXPLAIN:
                self._explaining.add(uid)
            yield write

    def ring(self, now: int) -> None:
        """Look again at the pods whose time has come."""
        while self._timers and self._timers[0][0] <= now:
            work = self.of.get(heapq.heappop(self._timers)[1])
            if work is not None:
                self.look(work)

    def wake_at(self, instant: int, uid: str = "") -> None:
        """There is something to do at an instant, about a pod or another thing."""
        heapq.heappush(self._timers, (instant, uid))

    def answered(self, work: Work, *, is_done: bool, refusal: str = "") -> None:
        """A request about a pod was answered; refusal: what the API server said that will not do it, as it looks."""
        self._explaining.discard(work.pod.uid)
        work.count_try(self.now(), is_done=is_done)
        self.touched[work.pod.uid] = None
        if work.stopping and work.pod.is_gated and work.attempt and not work.is_told:
            stop(self, work, work.stopping)
        elif not work.pod.is_gated:
            self.refusals.drop(work.job)
        elif refusal and work.attempt and work.tries >= MOST_REFUSALS:
            self.news.append(JobHeld(work.job, f"{REFUSED}{refusal}"))
            stop(self, work, "requeue")
            self.wake_at(self.refusals.add(work.job, self.now()))

    def failed(self, uid: str) -> None:
        """What became of a request is not known: it is made again later, if it is still due."""
        if (work := self.of.get(uid)) is not None:
            self.answered(work, is_done=False)
        else:
            self.made(uid, is_done=False)

    def due(self) -> int:
        """Instant at which there is something to do that nothing seen tells of; 0 = never."""
        return self._timers[0][0] if self._timers else 0
