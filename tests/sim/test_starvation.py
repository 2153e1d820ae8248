"""Who waits for what they own, told apart from who waits for what is too small for what they wait with."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.owned import amount_of, owned_amounts
from fairhold.planio.plan import parse_plan
from fairhold.sim.account import Spans
from fairhold.sim.experiment import Experiment, Outage
from fairhold.sim.measures import Measures
from fairhold.sim.play import Simulation
from fairhold.sim.summary import summarize
from tests.examples import FEW
from tests.sim.scenes import SECOND, jobs_of, plan_of, random_jobs

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.workload import Workload
    from fairhold.orchestrator.cluster import Cluster

SLOTS = ("hybrid", "share_ratio", "ownership")
HALF = plan_of({"/A": {"owned": 8}, "/B": {"owned": 8}}, slots=16, tree={"A": {}, "B": {"reclaim_grace": "10s"}})


def consumers_of(experiment: Experiment, begin: int = 0) -> dict[str, Any]:
    watches: list[Measures] = []
    simulation = Simulation(experiment, watches)
    measures = Measures(simulation.live.cluster, "compute", "slots", Spans(begin, 60 * SECOND))
    watches.append(measures)
    simulation.run()
    measures.close(simulation.now)
    found: dict[str, Any] = summarize([measures], {}, "")["shared"][0]["consumers"]
    return found


def test_a_gang_waits_for_its_own_as_long_as_the_grace() -> None:
    """B holds all 16; A's gang of 8 is its own, and comes back when B's grace is over."""
    jobs = jobs_of((0, "/B", 16, 300), (20, "/A", 8, 30))
    jobs = replace(jobs, min_count=[0, 8])
    found = consumers_of(Experiment(HALF, jobs, 0, end=100 * SECOND))
    assert (found["/A"]["starvation"]["count"], found["/A"]["starvation"]["max"]) == (1, 10 * SECOND)
    assert found["/A"]["job_wait"] == {**found["/A"]["wait"], "count": 1}
    assert found["/"]["starvation"] == found["/A"]["starvation"]
    assert found["/B"]["starvation"]["count"] == 0


def test_units_that_are_too_few_for_what_waits_do_not_starve() -> None:
    """A holds 5 of its 8 and a gang of 8 waits: three idle units are due by number, and nobody withholds them."""
    jobs = jobs_of((0, "/A", 5, 60), (1, "/B", 8, 90), (5, "/A", 8, 10))
    jobs = replace(jobs, min_count=[5, 0, 8])
    found = consumers_of(Experiment(HALF, jobs, 0, end=100 * SECOND))
    assert found["/A"]["longest"] == 55 * SECOND
    assert found["/A"]["starvation"]["count"] == 0
    assert found["/A"]["wait"]["max"] == 55 * SECOND


def test_the_smaller_one_behind_a_gang_that_does_not_fit_counts() -> None:
    """Three of A's eight are free to it and B has them: its single task is starvation, the older gang of 8 is not."""
    jobs = jobs_of((0, "/A", 5, 60), (0, "/B", 11, 90), (5, "/A", 8, 10), (20, "/A", 1, 10))
    jobs = replace(jobs, min_count=[5, 0, 8, 0])
    found = consumers_of(Experiment(HALF, jobs, 0, end=55 * SECOND))
    assert (found["/A"]["starvation"]["count"], found["/A"]["starvation"]["max"]) == (1, 10 * SECOND)


def test_where_two_fit_but_not_both_the_first_by_priority_starves() -> None:
    jobs = jobs_of((0, "/B", 16, 300), (20, "/A", 5, 100), (24, "/A", 5, 100))
    jobs = replace(jobs, min_count=[0, 5, 5], priority=[0, 0, 9])
    found = consumers_of(Experiment(HALF, jobs, 0, end=100 * SECOND))
    starvation = found["/A"]["starvation"]
    assert (starvation["count"], starvation["mean"], starvation["max"]) == (2, 5 * SECOND, 6 * SECOND)


def test_of_what_still_starves_the_time_so_far_counts_and_the_warm_up_does_not() -> None:
    jobs = jobs_of((0, "/B", 16, 300), (20, "/A", 3, 30))
    found = consumers_of(Experiment(HALF, jobs, 0, end=26 * SECOND), begin=22 * SECOND)
    assert found["/A"]["starvation"]["count"] == 3
    assert found["/A"]["starvation"]["max"] == 4 * SECOND


@pytest.mark.parametrize(
    ("policy", "waited"), [("hybrid", 14), ("share_ratio", 14), ("multidimensional", 10), ("fair_share", 10)]
)
def test_slots_that_come_together_for_a_gang_may_go_to_another_owner_first(policy: str, waited: int) -> None:
    """C has all, and a grace of 10 s; one of its tasks ends by itself at 3 s, and the notice of another is withdrawn.

    B's gang of 2, of 1 s, cannot use the one slot that is idle. A comes at 5 s and does, and C is told again. Vectors
    are held for whom they were freed.
    """
    jobs = jobs_of(*[(0, "/C", 1, 100)] * 5, (0, "/C", 1, 3), (1, "/B", 2, 30), (5, "/A", 1, 30))
    jobs = replace(jobs, min_count=[2 if tasks == 2 else 0 for tasks in jobs.tasks])
    experiment = Experiment(plan_for(policy, 2, grace=10), jobs, 0, end=60 * SECOND, slot=(("gpu", "1"), ("cpu", "1")))
    watches: list[Any] = []
    simulation = Simulation(experiment, watches)
    group, resource = ("compute", "slots") if policy in SLOTS else (POOLED, "gpu")
    measures = Measures(simulation.live.cluster, group, resource, Spans(0, 60 * SECOND))
    watches.append(measures)
    simulation.run()
    measures.close(simulation.now)
    assert list(measures.starvation.stretches("/B")) == [waited * SECOND]


def stretches(owned: dict[str, int], jobs: Workload, leaf: str) -> list[int]:
    """Seconds for which pieces of a leaf were starvation, of which the last of the leaves has a grace of 10 s."""
    *_, last = owned
    tree: dict[str, Any] = {name: {} for name in owned} | {last: {"reclaim_grace": "10s"}}
    stated = {f"/{name}": {"owned": units} for name, units in owned.items()}
    plan = plan_of(stated, slots=sum(owned.values()), tree=tree)
    watches: list[Measures] = []
    simulation = Simulation(Experiment(plan, jobs, 0, end=60 * SECOND), watches)
    watches.append(Measures(simulation.live.cluster, "compute", "slots", Spans(0, 60 * SECOND)))
    simulation.run()
    watches[0].close(simulation.now)
    return [length // SECOND for length in watches[0].starvation.stretches(leaf)]


def test_a_slot_that_was_taken_back_goes_to_the_first_owner_in_path_order() -> None:
    """C is told for B at 1 s, for A at 6 s: `for` binds nothing (R-FOR-1). A has that of 11 s, B that of 16 s."""
    owned = {"A": 1, "B": 1, "C": 2}
    jobs = jobs_of((0, "/C", 4, 100), (1, "/B", 1, 30), (6, "/A", 1, 30))
    assert (stretches(owned, jobs, "/A"), stretches(owned, jobs, "/B")) == ([5], [15])


def test_a_gang_that_stops_whole_takes_the_place_of_who_was_told_before() -> None:
    """B's single task is told at 1 s. At 6 s two are missed: its gang of 2 gives both, in its own grace."""
    jobs = jobs_of((0, "/B", 2, 100), (0, "/B", 1, 100), (1, "/A", 1, 30), (6, "/A", 1, 30))
    jobs = replace(jobs, min_count=[2, 0, 0, 0])
    assert stretches({"A": 2, "B": 1}, jobs, "/A") == [15, 10]


def test_a_gang_that_is_told_again_in_the_same_cycle_goes_by_when_it_was_to_go() -> None:
    """E's gang of 4 on A's host is told at 1 s for A's first pair, which at 4 s finds room that C has left.

    Its notice is withdrawn, and given anew for A's second pair, which since 2 s has waited for what the gang frees; it
    stops at 11 s all the same.
    """
    own = {
        name: {"own": [{"resource_group": "compute", "hosts": [host]}]} for name, host in (("/A", "h1"), ("/C", "h2"))
    }
    document = {
        "fairhold": 1,
        "resources": {"gpu": {}},
        "resource_groups": {"compute": {"hosts": [{"name": "h[1-2]", "gpu": 4}]}},
        "consumers": {name: {"reclaim_grace": "10s"} for name in "ACE"},
        "policies": [{"resource_groups": ["compute"], "policy": "multidimensional", "consumers": own}],
    }
    plan = parse_plan(json.dumps(document), "plan")[0]
    jobs = jobs_of((0, "/C", 2, 100), (0, "/C", 2, 4), (0.5, "/E", 4, 100), (1, "/A", 2, 30), (2, "/A", 2, 30))
    jobs = replace(jobs, min_count=list(jobs.tasks))
    watches: list[Any] = []
    simulation = Simulation(Experiment(plan, jobs, 0, end=60 * SECOND, slot=(("gpu", "1"),)), watches)
    measures = Measures(simulation.live.cluster, POOLED, "gpu", Spans(0, 60 * SECOND))
    watches.append(measures)
    simulation.run()
    measures.close(simulation.now)
    assert list(measures.starvation.stretches("/A")) == [3 * SECOND, 9 * SECOND]


@pytest.mark.parametrize("lead", [0, 20])
@pytest.mark.parametrize("policy", [*SLOTS, "multidimensional", "fair_share"])
def test_nobody_starves_for_what_is_down(policy: str, lead: int) -> None:
    """Each is entitled to 5 of 15; of the three hosts C's is gone for 50 s, told before it or not.

    A and B hold what is theirs of the ten that are left, and C lacks what nobody could give it; or it holds what it
    does, and others do.
    """
    jobs = jobs_of((0, "/A", 9, 300), (0, "/B", 9, 300), (0, "/C", 9, 300))
    outages = (Outage("h3", 30 * SECOND, 80 * SECOND, lead=lead * SECOND),)
    experiment = Experiment(plan_for(policy), jobs, 0, 120 * SECOND, outages=outages, slot=(("gpu", "1"), ("cpu", "1")))
    watches: list[Any] = []
    simulation = Simulation(experiment, watches)
    group, resource = ("compute", "slots") if policy in SLOTS else (POOLED, "gpu")
    measures = Measures(simulation.live.cluster, group, resource, Spans(0, 60 * SECOND))
    watches.append(measures)
    simulation.run()
    measures.close(simulation.now)
    longest = [max(measures.starvation.stretches(path), default=0) for path in ("/A", "/B", "/C")]
    assert max(longest) <= 4 * SECOND, longest  # the grace of 2 s, and who went meanwhile
    if not lead:
        assert measures.room.use == (70 * 15 + 50 * 10) * measures.base * SECOND


class Twin:
    """Everything counted anew after every change, by the definition alone."""

    def __init__(self, cluster: Cluster, group: str, resources: list[str]) -> None:
        self._cluster, self._group, self._resources = cluster, group, resources
        self.since: dict[tuple[str, str], list[int]] = {}  # leaf and job → since when each piece is starvation
        self.stretches: list[tuple[str, int]] = []

    def note(self, now: int, _changes: object) -> None:
        books = self._cluster.books[self._group]
        room = {
            path: [owned_amounts(self._cluster, self._group, each, now).get(path, 0) for each in self._resources]
            for path in books.rows.paths
        }
        jobs = [job for job in self._cluster.jobs.values() if not job.is_over]
        unit = {
            job.name: [amount_of(books, job.terms.unit, job.units, each) for each in self._resources] for job in jobs
        }
        for job in jobs:
            of = room[job.consumer]
            of[:] = [have - job.running * one for have, one in zip(of, unit[job.name], strict=True)]
        free = self._free(now)
        for of in room.values():
            of[:] = map(min, of, free)
        counts: dict[tuple[str, str], int] = {}
        for job in sorted(jobs, key=lambda job: (-job.priority, job.submitted)):
            path, wait = job.consumer, job.startable
            together = max(1, min(job.terms.min_count, job.running + wait) - job.running)
            sizes = ([together] if wait else []) + [1] * (wait - together)
            for size in sizes:
                need = [size * one for one in unit[job.name]]
                if any(have < asked for have, asked in zip(room[path], need, strict=True)):
                    break
                room[path][:] = [have - asked for have, asked in zip(room[path], need, strict=True)]
                counts[path, job.name] = counts.get((path, job.name), 0) + 1
        self._count(counts, now)

    def _free(self, now: int) -> list[int]:
        """On hosts that start work, less what leaves hold there of what they are entitled to."""
        cluster, books, found = self._cluster, self._cluster.books[self._group], []
        able = [
            host.name
            for host in books.rows.source.resource_groups["compute"].hosts
            if cluster.accepts(host.name) and cluster.hosts[self._group, host.name].is_up
        ]
        for at, resource in enumerate(self._resources):
            hosts = {host.name: host for host in books.rows.source.resource_groups["compute"].hosts}
            there = sum(hosts[name].amounts[at] if self._group == POOLED else hosts[name].slots for name in able)
            held: dict[str, int] = {}
            for attempt in cluster.attempts.values():
                if attempt.places[0][0] in able:
                    job = attempt.job
                    amount = amount_of(books, job.terms.unit, job.units, resource)
                    path = job.consumer
                    held[path] = held.get(path, 0) + amount
            of = owned_amounts(cluster, self._group, resource, now)
            found.append(max(0, there - sum(min(units, of.get(path, 0)) for path, units in held.items())))
        return found

    def _count(self, counts: dict[tuple[str, str], int], now: int) -> None:
        for key in {**self.since, **counts}:
            owed = self.since.setdefault(key, [])
            owed += [now] * (counts.get(key, 0) - len(owed))
            while len(owed) > counts.get(key, 0):
                length = now - owed.pop(0)
                self.stretches += [(key[0], length)] if length else []

    def close(self, now: int) -> None:
        self._count({}, now)

    def lost(self, *_: object) -> None: ...
    def cycled(self, *_: object) -> None: ...
    def cycled_vectors(self, *_: object) -> None: ...


def plan_for(policy: str, each: int = 5, *, grace: int = 2) -> Plan:
    """Three leaves with so many slots or GPUs each, and the same grace in seconds."""
    tree = {name: {"reclaim_grace": f"{grace}s"} for name in "ABC"}
    if policy in SLOTS:
        told: dict[str, Any] = {"share_ratio": 1} if policy == "share_ratio" else {"owned": each}
        group = {"hosts": [{"name": "h[1-3]", "slots": each}]}
        return plan_of(dict.fromkeys(("/A", "/B", "/C"), told), policy=policy, tree=tree, group=group)
    own = {"own": [{"resource_group": "compute", "total": {"gpu": each}}]}
    deserved = {"deserved": {"gpu": each, "cpu": 2 * each}}
    consumers = dict.fromkeys(("/A", "/B", "/C"), own if policy == "multidimensional" else deserved)
    document = {
        "fairhold": 1,
        "resources": {"gpu": {}, "cpu": {}},
        "resource_groups": {"compute": {"hosts": [{"name": "h[1-3]", "gpu": each, "cpu": 2 * each}]}},
        "consumers": tree,
        "policies": [{"resource_groups": ["compute"], "policy": policy, "consumers": consumers}],
    }
    return parse_plan(json.dumps(document), "plan")[0]


@pytest.mark.parametrize("policy", ["hybrid", "share_ratio", "ownership", "multidimensional", "fair_share"])
@given(seed=st.integers(0, 10_000))
@FEW
def test_it_is_what_the_definition_says(policy: str, seed: int) -> None:
    plan = plan_for(policy)
    jobs = random_jobs(seed, ["/A", "/B", "/C"], jobs=25, most=4, gangs=True)
    is_pooled = policy not in SLOTS
    if is_pooled:
        jobs = replace(jobs, units=((("gpu", "1"), ("cpu", "1")), (("gpu", "1"), ("cpu", "4"))))
        jobs = replace(jobs, unit=[at % 2 for at in range(len(jobs))])
    group, resources = (POOLED, ["gpu", "cpu"]) if is_pooled else ("compute", ["slots"])
    watches: list[Any] = []
    outages = (Outage(f"h{seed % 3 + 1}", 15 * SECOND, 35 * SECOND, lead=seed % 2 * 4 * SECOND),)
    experiment = Experiment(plan, jobs, 0, end=50 * SECOND, outages=outages if seed % 5 else ())
    simulation = Simulation(experiment, watches)
    measures = Measures(simulation.live.cluster, group, resources[0], Spans(0, 60 * SECOND))
    twin = Twin(simulation.live.cluster, group, resources)
    watches += [measures, twin]
    simulation.run()
    measures.close(simulation.now)
    twin.close(simulation.now)
    found = [(path, length) for path in ("/A", "/B", "/C") for length in measures.starvation.stretches(path)]
    assert sorted(found) == sorted(twin.stretches)
