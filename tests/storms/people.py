"""What users and operators do to the service, at any time and whether it is there or not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairhold.errors import InputError
from fairhold.ledger.vectors import POOLED
from fairhold.model.spec import Spec
from fairhold.orchestrator.events import (
    Dependency,
    GroupPaused,
    JobCancelled,
    JobChanged,
    JobHeld,
    JobReleased,
    JobRequeued,
    JobSubmitted,
    TaskCancelled,
)
from fairhold.ports import StoreWaits
from fairhold.runtime.live.desk import Freeing
from fairhold.runtime.live.submitting import Submission
from tests.storms.kernel import SECOND
from tests.storms.plans import LEAVES, OTHERS, UNITS

if TYPE_CHECKING:
    from concurrent.futures import Future

    from fairhold.orchestrator.events import Event
    from fairhold.runtime.live.core import Core
    from tests.storms.storm import Storm

MOST_LIVE = 14
"""Jobs that have not ended above which nobody submits another."""


@dataclass
class Wish:
    """A job that somebody wants run; accepted: its number, empty = not answered yet."""

    key: str
    terms: JobSubmitted
    spec: Spec
    user: str
    accepted: str = ""
    tries: int = field(default=0)


class People:
    """They ask, and ask again with the same key when there was no answer."""

    def __init__(self, storm: Storm) -> None:
        self.storm = storm
        self.wishes: dict[str, Wish] = {}
        self.count = 0
        self.returns = 0
        self.is_over = False

    def act(self) -> None:
        """Somebody does something, and somebody else a little later."""
        random, kernel = self.storm.kernel.random, self.storm.kernel
        if not self.is_over:
            kernel.after(int(random.expovariate(1 / (4 * SECOND))), self.act)
        desk = self.storm.service.desk
        if desk is None:
            return
        deeds = (
            (10, self._submit), (2, self._cancel), (2, self._hold), (2, self._requeue), (2, self._change),
            (2, self._close_machine), (1, self._plan), (1, self._pause), (2, self._ask_again),
        )  # fmt: skip
        random.choices([deed for _, deed in deeds], [weight for weight, _ in deeds])[0]()

    def has_wishes(self) -> bool:
        """Whether somebody still waits for an answer."""
        return any(not wish.accepted for wish in self.wishes.values())

    def let_go(self) -> None:
        """Whatever keeps work from ending goes: holds, pauses, closed machines; work that would run for long is cut."""
        storm = self.storm
        group = POOLED if storm.plans.has_vectors else "compute"
        self._feed(GroupPaused(group, grants=False, reclaims=False))
        for machine in ("", *OTHERS):
            self._ask(lambda core, machine=machine: core.open_machine(machine))
        for job in sorted(storm.judge.live):
            self._feed(JobReleased(job))
            if storm.kernel.random.random() < 0.1:
                self._feed(JobCancelled(job))

    def _ask(self, ask: Any) -> Future[Any] | None:
        desk, judge = self.storm.service.desk, self.storm.judge
        if desk is None:
            return None
        future = desk.write(ask)
        future.add_done_callback(judge.is_answered)
        return future

    def _feed(self, event: Event, *, frees: bool = False) -> None:
        def feed(core: Core) -> None:
            core.feed(event)

        self._ask(Freeing(feed) if frees else feed)

    def _some_job(self) -> str:
        jobs = [wish.accepted for wish in self.wishes.values() if wish.accepted]
        return self.storm.kernel.random.choice(jobs) if jobs else "1"

    def _submit(self) -> None:
        random, storm = self.storm.kernel.random, self.storm
        if len(storm.judge.live) >= MOST_LIVE:
            return
        self.count += 1
        user = random.choice(("ann", "bob", "cy"))
        after = (Dependency(self._some_job(), random.choice(("ok", "any", "fail"))),) if random.random() < 0.1 else ()
        has_vectors = storm.plans.has_vectors
        consumer = random.choice(LEAVES if storm.plans.policy != "fair_share" else LEAVES[:3])
        terms = JobSubmitted(
            "", consumer, "" if has_vectors else "compute",
            random.choice((1, 1, 2, 3, 5, 9)),
            units=1 if has_vectors else random.choice((1, 1, 1, 2, 3)),
            unit=random.choice(UNITS) if has_vectors else (),
            throttle=random.choice((0, 0, 0, 2)),
            retries=random.choice((0, 1, 3)),
            backoff=random.choice((0, 0, 5 * SECOND)),
            priority=random.choice((0, 0, 0, 1)),
            is_held=random.random() < 0.05,
            after=after,
        )  # fmt: skip
        time_limit = random.choice((0, 0, 0, 30 * SECOND))
        lead = random.choice((0, 0, 2 * SECOND))
        spec = Spec(consumer, ("/bin/task", "{index}"), time_limit=time_limit, lead=lead, user=user)
        self._try(Wish(f"k{self.count}", terms, spec, user))

    def _try(self, wish: Wish) -> None:
        """Ask for a job; without an answer, later again."""
        kernel = self.storm.kernel
        if wish.accepted:
            return
        wish.tries += 1
        kernel.after(int((5 + kernel.random.random() * 30) * SECOND), lambda: self._try(wish))
        if wish.key in self.wishes or wish.tries == 1:
            self.wishes[wish.key] = wish
        else:
            return
        asked = Submission(wish.user, wish.key, wish.terms, wish.spec)
        future = self._ask(lambda core: core.submit(asked))
        if future is not None:
            future.add_done_callback(lambda answer: self._answered(wish, answer))

    def _answered(self, wish: Wish, answer: Future[str]) -> None:
        if self.storm.judge.is_gone():
            return
        error = answer.exception()
        if error is None:
            self.storm.judge.is_accepted(wish, answer.result())
            wish.accepted = answer.result()
        elif isinstance(error, InputError) and not isinstance(error, StoreWaits):
            if {fault.code for fault in error.faults} & {"stopping", "failed"}:
                return
            self.wishes.pop(wish.key, None)

    def _ask_again(self) -> None:
        """Somebody who has an answer asks with the same key."""
        wishes = [wish for wish in self.wishes.values() if wish.accepted]
        if not wishes:
            return
        wish = self.storm.kernel.random.choice(wishes)
        asked = Submission(wish.user, wish.key, wish.terms, wish.spec)
        future = self._ask(lambda core: core.submit(asked))
        if future is not None:
            future.add_done_callback(lambda answer: self.storm.judge.is_same(wish, answer))

    def _cancel(self) -> None:
        random, job = self.storm.kernel.random, self._some_job()
        one = random.random() < 0.4
        self.storm.judge.wished.add(job)
        self._feed(TaskCancelled(job, random.randrange(4)) if one else JobCancelled(job), frees=random.random() < 0.9)

    def _hold(self) -> None:
        job = self._some_job()
        self._feed(JobHeld(job, "because") if self.storm.kernel.random.random() < 0.4 else JobReleased(job))

    def _requeue(self) -> None:
        job = self._some_job()
        self.storm.judge.wished.add(job)
        self._feed(JobRequeued(job))

    def _change(self) -> None:
        random, job = self.storm.kernel.random, self._some_job()
        asked = random.choice((
            JobChanged(job, priority=random.choice((-1, 0, 2))),
            JobChanged(job, consumer=random.choice(LEAVES[:3])),
            JobChanged(job, tasks=random.choice((3, 6))),
        ))  # fmt: skip
        labels = random.choice((None, None, {"team": "x"}))
        self._ask(lambda core: core.change(asked, labels))

    def _close_machine(self) -> None:
        random, now = self.storm.kernel.random, self.storm.kernel.now
        machine = random.choice(("", *OTHERS))
        if random.random() < 0.7:
            self._ask(lambda core: core.open_machine(machine))
            return
        drain = random.random() < 0.7
        at = now + random.choice((0, 0, 30 * SECOND))
        until = at + int(random.random() * 300 * SECOND) + SECOND
        by = at + 20 * SECOND if random.random() < 0.3 and drain else 0
        planned = at if at > now else 0
        self._ask(lambda core: core.close_machine(machine, "dust", drain=drain, at=planned, until=until, by=by))

    def _plan(self) -> None:
        random, text = self.storm.kernel.random, self.storm.plans.text()
        until = self.storm.kernel.now + int(random.random() * 900 * SECOND) if random.random() < 0.4 else 0
        stale = random.random() < 0.05
        self._ask(lambda core: core.apply_plan(text, "ann", "", core.version - stale, until=until))

    def _pause(self) -> None:
        random = self.storm.kernel.random
        group = POOLED if self.storm.plans.has_vectors else "compute"
        self._feed(GroupPaused(group, random.random() < 0.15, random.random() < 0.15))
