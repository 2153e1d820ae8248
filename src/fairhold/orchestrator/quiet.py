"""Cycles of queues that decide nothing, told from what has happened since the one before (SPEC §7, §8).

A cycle follows from units, requests and time. Where no control waits for an instant and history does not count, time
plays no part. After a cycle that changed nothing, or that only placed units while nothing was on its way to anybody,
the next one would find every request that still waits where the last one left it: nothing idle takes it, as what is
idle only shrank while units were placed, and nobody gives to it, as the last search was made in just this state.

- Requests that came since change nothing, where each is one more of a crowd that waited in vain (`queues.crowds`), and
  fair shares are what they were: it would get what the others of its crowd get, and they get what they got before.
- Tasks that ended change nothing, where nobody waits and nothing is under notice or held: there is nobody to decide
  anything for (`pools.rest`).

Anything else that happened asks for a whole cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.pooled.active_entries import entries_in_force
from fairhold.kernels.vectors import fits
from fairhold.ledger.vectors import POOLED
from fairhold.model.siting import ANYWHERE
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.vectors import request_of
from fairhold.rules.pools.siting import kinds_of_hosts
from fairhold.rules.queues.request_classes import kind_of
from fairhold.rules.queues.shares import fair_shares
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.cycle.pooled.active_entries import InForce
    from fairhold.cycle.pooled.run import PooledCycle
    from fairhold.model.plan import Plan
    from fairhold.model.state import Request
    from fairhold.orchestrator.handle import Orchestrator
    from fairhold.orchestrator.pooling import VectorCycle

_ENDS = (say.Ended, say.JobEnded)


class Quiet:
    """What has happened since a cycle of queues; is_moving: something was on its way then, or under notice."""

    def __init__(self, plan: Plan, force: InForce, done: PooledCycle) -> None:
        self._plan, self._force, self._done = plan, force, done
        self._hosts = kinds_of_hosts(done.books)
        self.is_moving = bool(done.books.told) or any(done.sweeps.ways.of.values())
        self._came: list[str] = []
        self._has_ended = self._is_over = False

    def see(self, change: say.Change) -> None:
        """Something happened."""
        kind = type(change)
        if kind is say.JobAdded:
            self._came.append(change.job)  # type: ignore[union-attr]  # its kind was asked
        elif kind in _ENDS:
            self._has_ended = True
        elif kind is not say.CycleRan:
            self._is_over = True

    def holds(self, live: Orchestrator) -> bool:
        """Whether a cycle now would decide nothing."""
        forces = entries_in_force(self._plan, live.now)
        if self._is_over or len(forces) != 1 or forces[0] is not self._force:
            return False
        if self._has_ended:
            return not (self.is_moving or live.books[POOLED].requests.lines.of)
        jobs = [live.jobs[name] for name in self._came]
        self._came.clear()
        came = [request_of(live.books[POOLED], job) for job in jobs if job.startable]
        return not came or (all(map(self._is_one_more, came)) and self._shares_stay(came))

    def _is_one_more(self, noun: Request) -> bool:
        """Whether a request is like others that hold nothing, and wait in vain."""
        crowds, books = self._done.decided.crowds, self._done.books
        crowd = None if crowds is None else crowds.of.get(kind_of(noun))
        is_free = noun.siting == ANYWHERE and (not noun.user or books.terms.user_limit[noun.consumer] == UNLIMITED)
        return is_free and bool(crowd and crowd.line) and any(fits(noun.unit, each.total) for each in self._hosts)

    def _shares_stay(self, came: Sequence[Request]) -> bool:
        """Whether all are entitled to what they were, though more is asked for; that is counted from here on."""
        queues = self._done.decided.queues
        assert queues is not None
        terms, requested = queues.terms, queues.requested
        for noun in came:
            for at, need in enumerate(noun.unit):
                for row in terms.above[noun.consumer] if need else ():
                    requested[at][row] += need * noun.count
        shares = (fair_shares(terms, at, queues.total[at], requested[at], queues.usage[at]) for at in terms.resources)
        return all(mine == before for mine, before in zip(shares, queues.fair, strict=True))


def quiet_after(live: Orchestrator, cycle: VectorCycle, changes: Sequence[say.Change]) -> Quiet | None:
    """What is to be known after a cycle; None where the next one has to be made whole whatever happens.

    changes : that the cycle made
    """
    if len(cycle.cycles) != 1 or len(live.books) != 1 or cycle.due is not None:
        return None
    (force, done), plan = cycle.cycles[0], live.books[POOLED].rows.source
    settings, queues = force.entry.settings, done.stood
    if not force.entry.policy.has_queues or settings.observe_only or settings.dead_zone or settings.await_ends:
        return None
    if len(force.members) < len(plan.tree.children[0]):
        return None
    if queues is not None and (queues.terms.settings.k or any(queues.terms.delay)):
        return None
    started = [type(change) is say.Started for change in changes]
    is_still = len(started) == 1 and not done.sweeps.placed  # all that is told is that it ran
    is_placing = sum(started) == len(done.sweeps.placed) == len(started) - 1 and not done.books.unplaced
    found = Quiet(plan, force, done)
    return found if is_still or (is_placing and not found.is_moving) else None
