"""A live core without a desk, agents or a clock: random histories on a real store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.model.spec import Spec
from fairhold.orchestrator.ending import OUTCOMES
from fairhold.orchestrator.events import (
    Dependency,
    Event,
    Exit,
    GroupPaused,
    Held,
    JobCancelled,
    JobChanged,
    JobHeld,
    JobReleased,
    JobRequeued,
    JobSubmitted,
    MachineClosed,
    MachineOpened,
    MachineReported,
    MachineSilent,
    TaskEnded,
    TaskRunning,
)
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.recovery import frozen
from fairhold.runtime.live.submitting import Submission
from fairhold.store import open_store

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from fairhold.ports import Store

START = 1_767_600_000_000_000
Groups = dict[str, Any]
PLAIN: Groups = {"compute": {"slots": 8}}
MIXED: Groups = {"compute": {"hosts": [{"name": "h1", "slots": 4}, {"name": "h2", "slots": 3}]}, "gpu": {"slots": 3}}


def plan_text(groups: Groups, owned: dict[str, dict[str, int]] | None = None, within: str = "users") -> str:
    """A plan of /A/a1, /A/a2, /B and /C in these groups."""
    owned = owned or {"/A": {"owned": 4, "reserved": 1}, "/A/a1": {"owned": 2}, "/B": {"owned": 3}, "/C": {"limit": 3}}
    policies = [
        {"resource_groups": list(groups), "policy": "hybrid", "settings": {"within": within}, "consumers": owned}
    ]
    consumers = {
        "A": {"reclaim_grace": "2s", "consumers": {"a1": {"rank": 1}, "a2": {}}},
        "B": {"reclaim_grace": "0s"},
        "C": {"reclaim_grace": "1s"},
    }
    plan = {"fairhold": 1, "resource_groups": groups, "consumers": consumers, "policies": policies}
    return json.dumps(plan)


class Clock:
    """Time that rises by a microsecond with every look."""

    def __init__(self) -> None:
        self.instant = START

    def __call__(self) -> int:
        self.instant += 1
        return self.instant


class Play:
    """A core on a store in a directory."""

    def __init__(self, directory: Path, plan: str, *, most: int = 12, own: str = "") -> None:
        self.directory, self.most, self.own = directory, most, own
        self.clock = Clock()
        self.store: Store
        self.core: Core
        self.open(plan)

    def open(self, plan: str = "") -> None:
        """Start, or start again."""
        self.store = open_store(self.directory / "state", cluster="", node="n1", now=self.clock())
        self.core = Core(self.store, self.clock, own=self.own, cycle_min_gap=10_000)
        self.core.usage._most = self.most
        self.core.open(plan, "plan", "ann")
        for machine in list(self.core.cluster.machines):
            self.report(machine)
        self.commit()

    def restart(self, *, snapshot: bool) -> None:
        """Stop and start again."""
        self.commit()
        if snapshot:
            self.snapshot()
        self.store.close()
        self.open()

    def snapshot(self) -> None:
        self.commit()
        self.store.save_snapshot(self.store.last, self.store.last_at, frozen(self.core).encode())

    def commit(self) -> None:
        self.core.commit()
        self.core.outbox.take()
        self.core.over.clear()

    def feed(self, *events: Event) -> None:
        for event in events:
            self.core.feed(event)

    def pass_time(self, micros: int) -> None:
        """Time goes on; what is due in it happens when it is due."""
        end = self.clock.instant + micros
        while (due := self.core.due) is not None and due < end:
            self.clock.instant = max(self.clock.instant, due)
            self.core.pass_time()
        self.clock.instant = max(self.clock.instant, end)

    def submit(self, consumer: str, count: int = 1, *, user: str = "ann", group: str = "compute", **terms: Any) -> str:
        asked = JobSubmitted("", consumer, group, count, **terms)
        return self.core.submit(Submission(user, "", asked, Spec(consumer, ("true", "{index}"), name=f"{user}'s")))

    def report(self, machine: str) -> None:
        """A machine's agent connects and has all that it should have."""
        mine = [attempt for attempt in self.core.cluster.on(machine) if attempt.machine == machine]
        held = tuple(Held(attempt.name, is_alive=True, exit=None) for attempt in mine)
        self.feed(MachineReported(machine, "boot", self.core.cluster.next_attempt - 1, held))

    def end(self, attempt: int, reason: str = "finished") -> None:
        code = {"finished": 0, "yielded": 75, "failed": 3}.get(reason, -1)
        self.feed(TaskEnded(attempt, OUTCOMES[reason], Exit(reason, code, detail="so it was")))

    def live(self) -> list[int]:
        return list(self.core.cluster.attempts)

    # Random histories

    def wander(self, random: Random, steps: int, plans: list[str]) -> None:
        """Let a number of things happen."""
        weights = {self._submit: 5, self._end: 8, self._run: 3, self._change: 2}
        weights |= dict.fromkeys((self._machine, self._stop, self._pause), 1)
        for _ in range(steps):
            self.pass_time(random.choice([0, 1, 700, 20_000, 60_000, 900_000, 40_000_000]))
            random.choices(list(weights), list(weights.values()))[0](random)
            if random.random() < 0.03:
                self.core.apply_plan(random.choice(plans), "ann", "", self.core.version)
            if random.random() < 0.2:
                self.commit()
            if random.random() < 0.03:
                self.snapshot()
            if random.random() < 0.03:
                self.restart(snapshot=random.random() < 0.5)
        self.pass_time(100_000)
        self.commit()

    def _submit(self, random: Random) -> None:
        groups = list(self.core.orchestrator.books)
        names = list(self.core.orchestrator.jobs)
        after = (Dependency(random.choice(names), "any"),) if names and random.random() < 0.15 else ()
        self.submit(
            random.choice(["/A/a1", "/A/a2", "/B", "/C"]),
            random.randint(1, 9),
            user=random.choice(["ann", "bob", "cy"]),
            group=random.choice(groups),
            units=random.choice([1, 1, 1, 2, 3]),
            throttle=random.choice([0, 0, 2]),
            retries=random.choice([0, 2]),
            backoff=random.choice([0, 30_000_000]),
            priority=random.choice([0, 0, 1]),
            is_held=random.random() < 0.1,
            after=after,
        )

    def _end(self, random: Random) -> None:
        for number in random.sample(self.live(), min(len(self.live()), random.randint(1, 3))):
            attempt = self.core.cluster.attempts.get(number)
            if attempt is None:
                continue
            reasons = ["finished", "finished", "failed", "time_limit", "refused", "host_lost"]
            if attempt.noticed:
                reasons += ["yielded", "reclaim", "failed"]
            if attempt.stopping:
                reasons = [attempt.stopping if attempt.stopping in OUTCOMES else "reclaim"]
            self.end(number, random.choice(reasons))

    def _run(self, random: Random) -> None:
        for number in self.live():
            if random.random() < 0.6:
                self.feed(TaskRunning(number))

    def _change(self, random: Random) -> None:
        jobs = [job for job in self.core.orchestrator.jobs.values() if not job.is_over]
        if not jobs:
            return
        job = random.choice(jobs).name
        leaf = random.choice(["/A/a1", "/A/a2", "/B", "/C"])
        events: list[Event] = [JobHeld(job, "why"), JobReleased(job), JobChanged(job, priority=random.randint(-1, 2))]
        self.feed(random.choice([*events, JobChanged(job, consumer=leaf), JobChanged(job, consumer=leaf)]))

    def _machine(self, random: Random) -> None:
        machine = random.choice(list(self.core.cluster.machines))
        record = self.core.cluster.machines[machine]
        if record.is_silent:
            self.report(machine)
        elif record.shut is not None:
            self.feed(MachineOpened(machine))
        else:
            closed: list[Event] = [MachineSilent(machine), MachineClosed(machine, "dust", random.random() < 0.5)]
            self.feed(random.choice(closed))

    def _stop(self, random: Random) -> None:
        jobs = [job for job in self.core.orchestrator.jobs.values() if not job.is_over]
        if jobs:
            name = random.choice(jobs).name
            self.feed(JobCancelled(name) if random.random() < 0.5 else JobRequeued(name))

    def _pause(self, random: Random) -> None:
        group = random.choice(list(self.core.orchestrator.books))
        self.feed(GroupPaused(group, random.random() < 0.2, random.random() < 0.2))
