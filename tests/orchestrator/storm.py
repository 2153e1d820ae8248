"""A storm of events on an orchestrator, and on two others that must stay its equals: one replayed, one thawed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.cycle.invariants import check, sums_are_those_of_the_tables
from fairhold.cycle.open import open_books
from fairhold.cycle.run import run
from fairhold.cycle.slot_ledger import MarkedCycle
from fairhold.errors import InputError
from fairhold.model.state import State
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.events import (
    Dependency,
    Event,
    Exit,
    GroupPaused,
    Held,
    HostJoined,
    HostLost,
    JobCancelled,
    JobChanged,
    JobHeld,
    JobReleased,
    JobRequeued,
    JobSubmitted,
    MachineClosed,
    MachineGone,
    MachineOpened,
    MachineReported,
    MachineSilent,
    Outcome,
    TaskCancelled,
    TaskEnded,
    TaskRunning,
    Woken,
)
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.instructions import Start, WakeAt
from fairhold.planio.plan import parse_plan

if TYPE_CHECKING:
    from random import Random

    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.ledger.books import Books
    from fairhold.orchestrator.tasks import JobRecord

SECOND = 1_000_000
OWN = "here"
GROUPS = ("cpu", "gpu")
LEAVES = ("/A/a1", "/A/a2", "/B", "/C")
ENDS = {
    "finished": Outcome.FINISHED,
    "failed": Outcome.FAILED,
    "time_limit": Outcome.FAILED,
    "yielded": Outcome.YIELDED,
    "reclaim": Outcome.STOPPED,
    "requeue": Outcome.STOPPED,
    "refused": Outcome.LOST,
    "host_lost": Outcome.LOST,
    "supervisor_lost": Outcome.LOST,
    "no_account": Outcome.LOST,
}


def plan_document(**settings: object) -> dict[str, Any]:
    return {
        "fairhold": 1,
        "resource_groups": {
            "cpu": {"hosts": [{"name": name, "slots": slots} for name, slots in ((OWN, 3), ("h2", 3), ("h3", 2))]},
            "gpu": {"hosts": [{"name": name, "slots": 2} for name in ("g1", "g2")]},
        },
        "consumers": {
            "A": {"reclaim_grace": "2s", "consumers": {"a1": {"rank": 1}, "a2": {}}},
            "B": {"reclaim_grace": "0s"},
            "C": {"reclaim_grace": "1s"},
        },
        "policies": [
            {
                "resource_groups": list(GROUPS),
                "policy": "hybrid",
                "settings": settings,
                "consumers": {
                    "/A": {"owned": 2, "reserved": 1},
                    "/A/a1": {"owned": 1},
                    "/B": {"owned": 2},
                    "/C": {"limit": 6},
                },
            }
        ],
    }


def fresh_books(**settings: object) -> dict[str, Books]:
    plan, _ = parse_plan(json.dumps(plan_document(**settings)), "plan")
    return open_books(plan, State(now=0))


def written(change: say.Change) -> say.Change:
    """A change as a log gives it back."""
    name, *fields = json.loads(json.dumps([type(change).__name__, *change]))
    return say.KINDS[name](*(_tuples(each) for each in fields))


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


class Storm:
    """One live orchestrator under random events, with its equals."""

    def __init__(self, random: Random, *, forgets: bool, **settings: object) -> None:
        self.random = random
        self.settings = settings
        self.forgets = forgets
        self.live = self._orchestrator(Cluster(self.fresh(), forgets=forgets, own=OWN))
        self.live.on_cycle = self._check_cycle
        self.twin = self._orchestrator(Cluster(self.fresh(), forgets=forgets, own=OWN))
        self.replayed = Cluster(self.fresh(), forgets=forgets, own=OWN)
        self.now = 0
        self.wake: int | None = None
        self.jobs = 0
        self.cycles = 0
        self.seen: dict[str, int] = {}

    def fresh(self) -> dict[str, Books]:
        """Empty books of the plan."""
        return fresh_books(**self.settings)

    def _orchestrator(self, cluster: Cluster) -> Orchestrator:
        return Orchestrator(cluster)

    def _check_cycle(self, result: SlotCycle, cause: str) -> None:
        assert cause
        if isinstance(result, MarkedCycle):
            whole = run(result.books, result.now)
            of_leaves = result.books.rows.of_leaves
            assert (result.decision, result.idle) == (whole.decision, whole.idle)
            assert of_leaves(result.quota) == of_leaves(whole.quota)
            result = whole
        assert check(result) == ()
        books, plan, tree = result.snapshot.books, result.snapshot.rows.plan, result.snapshot.rows.tree
        for notice in result.decision.notices:
            if books.allocations.host[notice.allocation] in books.hosts.closed:  # only where a limit asks for it
                row = books.requests.leaf[books.allocations.request[notice.allocation]]
                while row > 0 and result.draft.held[row] <= plan.limit[row]:
                    row = tree.parent[row]
                assert row > 0
        self.cycles += 1

    def run(self, steps: int) -> None:
        """So many events, each checked; now and then everybody starts again."""
        for _ in range(steps):
            self.now += self.random.choice((0, 0, 1, 1000, 60_000, SECOND))
            if self.wake is not None and (self.wake <= self.now or self.random.random() < 0.3):
                self.now = max(self.now, self.wake)
                self.take(Woken())
            else:
                self.take(self.draw())
            if self.random.random() < 0.04:
                self.start_again()

    def start_again(self) -> None:
        """The live one loses what is not in its cluster; its twin is thawed from its document."""
        document = json.loads(json.dumps(freeze(self.live.cluster)))
        thawed = thaw(document, self.fresh(), forgets=self.forgets, own=OWN, moved={})
        assert freeze(thawed) == document
        check_cluster(thawed)
        self.live = self._orchestrator(self.live.cluster)
        self.live.on_cycle = self._check_cycle
        self.twin = self._orchestrator(thawed)
        for each in (self.live, self.twin):
            each.now = self.now
            each.changed_all()
        self.wake = self.now

    def take(self, event: Event) -> None:
        """All three take an event, and are equals after it."""
        before = freeze(self.live.cluster)
        try:
            out = self.live.handle(event, self.now)
        except InputError:
            assert freeze(self.live.cluster) == before, event
            return
        self.seen[type(event).__name__] = self.seen.get(type(event).__name__, 0) + 1
        assert self.twin.handle(event, self.now) == out, event
        assert self.twin.changes == self.live.changes
        for change in self.live.changes:
            self.replayed.apply(written(change), self.now)
        after = freeze(self.live.cluster)
        assert freeze(self.replayed) == after, event
        assert freeze(self.twin.cluster) == after
        self.wake = next((each.instant for each in out if isinstance(each, WakeAt)), None)
        assert self.wake is None or self.wake >= 0
        check_cluster(self.live.cluster)
        for each in out:
            if isinstance(each, Start) and each.attempt in self.live.attempts:
                self._check_start(each)

    def _check_start(self, start: Start) -> None:
        cluster = self.live.cluster
        places = start.places or ((start.host, start.units),)
        assert sum(units for _, units in places) == start.units == cluster.attempts[start.attempt].units
        for host, _ in places:
            record = cluster.hosts[start.resource_group, host]
            assert record.is_up or cluster.attempts[start.attempt].started < self.now
            if cluster.attempts[start.attempt].started == self.now:
                assert cluster.books[start.resource_group].hosts.used[record.row] <= record.slots

    # Random events

    def draw(self) -> Event:
        random, attempts = self.random, self.live.attempts
        some = random.choice(list(attempts) or [1])
        job = random.choice([*self.live.jobs][-8:] or ["j1"])
        machine = random.choice(("", "", "h2", "h3", "g1"))
        group = random.choice(GROUPS)
        events = (
            (6, self._submit),
            (2, lambda: JobCancelled(job)),
            (1, lambda: JobHeld(job, "because")),
            (2, lambda: JobReleased(job)),
            (1, lambda: JobRequeued(job)),
            (1, lambda: JobChanged(job, random.choice((None, 0, 3, 2**50)), random.choice(("", *LEAVES, "/A")))),
            (1, lambda: JobChanged(job, tasks=random.choice((0, 2, 9)), min_count=random.choice((None, 0, 2, 4)))),
            (1, lambda: TaskCancelled(job, random.randrange(6))),
            (6, lambda: TaskRunning(some)),
            (10, lambda: self._end(some)),
            (1, lambda: TaskEnded(max(1, some - 3), Outcome.FINISHED)),
            (2, lambda: MachineSilent(machine)),
            (5, lambda: self._report(machine)),
            (1, lambda: MachineGone(machine)),
            (1, lambda: MachineClosed(machine, "out of order", random.random() < 0.6)),
            (2, lambda: MachineOpened(random.choice((machine, "nobody")))),
            (
                1,
                lambda: HostJoined(
                    group, random.choice(("h2", "h3", "g1", "x1", "x2")), random.choice((1, 2, 3, 2**60))
                ),
            ),
            (1, lambda: HostLost(group, random.choice(("h2", "g1", "x1")))),
            (1, lambda: GroupPaused(group, random.random() < 0.3, random.random() < 0.3)),
            (2, Woken),
        )
        make: Any = random.choices([each for _, each in events], [weight for weight, _ in events])[0]
        event: Event = make()
        return event

    def _submit(self) -> Event:
        random = self.random
        self.jobs += 1
        others = [*self.live.jobs][-4:]
        after = tuple(
            Dependency(random.choice(others), random.choice(("ok", "fail", "any")))
            for _ in range(random.choice((0, 0, 0, 1, 2)))
            if others
        )
        return JobSubmitted(
            f"j{self.jobs}" if random.random() < 0.95 else "j1",
            random.choice(LEAVES),
            random.choice(GROUPS) if random.random() < 0.97 else "none",
            random.choice((1, 1, 2, 5, 12, 0)),
            priority=random.choice((0, 0, 0, 1, -1)),
            user=random.choice(("", "ann", "bob")),
            units=random.choice((1, 1, 1, 2, 3, 5)),
            throttle=random.choice((0, 0, 0, 1, 2)),
            retries=random.choice((0, 0, 1, 3)),
            backoff=random.choice((0, 1000, SECOND)),
            is_held=random.random() < 0.1,
            after=after,
            min_count=random.choice((0, 0, 0, 2, 4)),
        )

    def _end(self, attempt: int) -> Event:
        reason = self.random.choice([*ENDS, "finished", "failed", "finished"])
        return TaskEnded(attempt, ENDS[reason], Exit(reason) if self.random.random() < 0.8 else None)

    def _report(self, machine: str) -> Event:
        random, held = self.random, []
        mine = [each for each in self.live.cluster.on(machine) if each.machine == machine]
        last = max([each.name for each in mine if random.random() < 0.8], default=0)
        for each in mine:
            fate = random.random()
            if fate < 0.7 and (each.name <= last or each.is_running):
                held.append(Held(each.name, is_alive=random.random() < 0.9, exit=None))
            elif fate < 0.85 and each.name <= last:
                held.append(Held(each.name, is_alive=False, exit=Exit(random.choice([*ENDS, "unheard of"]))))
        if random.random() < 0.2:
            held.append(Held(100_000, is_alive=True, exit=None))
            held.append(Held(100_001, is_alive=False, exit=Exit("finished")))
        if random.random() < 0.02:
            last = self.live.cluster.next_attempt + 3
        return MachineReported(machine, random.choice(("b1", "b2")), last, tuple(held))


def check_cluster(cluster: Cluster) -> None:
    """What is true between any two events."""
    for group, books in cluster.books.items():
        assert list(sums_are_those_of_the_tables(books)) == []
        _check_lines(books)
        used: dict[str, int] = dict.fromkeys(books.hosts.row_of, 0)
        allocations: dict[int, int] = {}
        for attempt in cluster.attempts.values():
            if attempt.job.resource_group != group:
                continue
            for allocation, (host, units) in zip(attempt.allocations, attempt.places, strict=True):
                assert books.allocations.request[allocation] == attempt.request
                assert books.allocations.host[allocation] == books.hosts.row_of[host]
                assert books.allocations.units[allocation] == units
                assert allocation not in allocations
                allocations[allocation] = attempt.name
                used[host] += units
                is_noticed = attempt.notice is not None and attempt.notice[1] != "host"
                assert books.allocations.noticed[allocation] == (units if is_noticed else 0)
            assert attempt.units == attempt.job.units
            assert cluster.job_of[group][attempt.request] is attempt.job
        assert {row: attempt.name for row, attempt in cluster.attempt_of[group].items()} == allocations
        assert {row for mine in books.allocations.by_request.values() for row in mine} == set(allocations)
        assert list(books.hosts.used) == [used[name] for name in books.hosts.name]
        for (of, name), record in cluster.hosts.items():
            if of == group:
                is_open = record.is_up and cluster.accepts(name)
                most = record.slots if is_open else min(record.slots, used[name])
                assert (books.hosts.slots[record.row], bool(books.hosts.up[record.row])) == (most, record.is_up)
                assert (record.row in books.hosts.closed) == (not is_open)
    for job in cluster.jobs.values():
        _check_job(cluster, job)


def _check_job(cluster: Cluster, job: JobRecord) -> None:
    delayed = len(job.delays or {})
    over = job.finished + job.failed + job.cancelled + job.dropped
    assert job.waiting + delayed + job.running + over == job.terms.tasks
    assert job.running == len(job.attempts) == sum(each.job is job for each in cluster.attempts.values())
    assert job.running <= (job.terms.throttle or job.running)
    assert not job.needs or not job.running
    assert 0 <= job.needs <= len(job.terms.after)
    books = cluster.books[job.resource_group]
    wanted = sum(books.requests.count[row] for row in cluster.requests(job))
    assert {books.requests.leaf[row] for row in cluster.requests(job)} <= {cluster.leaf_of(job)}
    if job.is_over:
        assert wanted == 0
    elif job.units == 1:
        assert wanted == job.running + job.startable
    else:
        assert wanted == job.units * (job.running + len(job.gangs or ()))
        assert bool(job.gangs) == bool(job.startable)
    tasks = [cluster.attempts[name].index for name in job.attempts]
    tasks += [*job.tried()] if not job.is_cancelled else []
    assert len(tasks) == len(set(tasks))


def _check_lines(books: Books) -> None:
    requests = books.requests
    found = {}
    for leaf, queues in requests.lines.of.items():
        for (rank, user), queue in queues.items():
            assert list(queue) == sorted(queue, key=requests.lines.key)
            for row in queue:
                assert (requests.leaf[row], -requests.priority[row], requests.user[row]) == (leaf, rank, user)
                found[row] = True
    waiting = {row for mine in requests.by_leaf.values() for row in mine if requests.count[row] > requests.held[row]}
    assert set(found) == waiting
