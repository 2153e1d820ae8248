"""Laws that hold in every queue: Erlang's, Little's, and that equal shares get equal parts."""

from __future__ import annotations

from math import factorial
from random import Random
from statistics import mean, stdev

from hypothesis import given
from hypothesis import strategies as st

from fairhold.model.workload import Workload
from fairhold.sim.account import Spans
from fairhold.sim.experiment import Experiment, Work
from fairhold.sim.measures import Measures
from fairhold.sim.play import Simulation
from tests.examples import FEW
from tests.sim.scenes import SECOND, jobs_of, plan_of, random_jobs

SLOTS = 4


def erlang_c(servers: int, load: float) -> float:
    """The part of those who wait, of a queue with exponential arrivals and work; load: arrivals times work."""
    last = load**servers / factorial(servers) * servers / (servers - load)
    return last / (sum(load**n / factorial(n) for n in range(servers)) + last)


def measured(experiment: Experiment) -> Measures:
    watches: list[Measures] = []
    simulation = Simulation(experiment, watches)
    measures = Measures(simulation.live.cluster, "compute", "slots", Spans(experiment.start, SECOND * 60))
    watches.append(measures)
    simulation.run()
    measures.close(simulation.now)
    return measures


def test_exponential_arrivals_wait_as_erlang_says() -> None:
    random, jobs, load = Random(11), 3_000, 2.6
    work = 100.0
    submit, at = [], 0.0
    for _ in range(jobs):
        at += random.expovariate(load / work)
        submit.append(round(at * SECOND))
    duration = [round(random.expovariate(1 / work) * SECOND) for _ in range(jobs)]
    workload = Workload([str(at) for at in range(jobs)], submit, [0] * jobs, [1] * jobs, duration, consumers=("/A",))
    waits = measured(Experiment(plan_of({"/A": {"owned": SLOTS}}, slots=SLOTS), workload, 0)).tallies["/A"].waits
    expected = erlang_c(SLOTS, load) * work / (SLOTS - load)
    batches = [mean(waits[at : at + 150]) / SECOND for at in range(0, jobs, 150)]
    error = stdev(batches) / len(batches) ** 0.5
    assert abs(mean(batches) - expected) < 2.1 * error
    assert error < expected / 5


def test_two_with_equal_shares_get_equal_parts_while_both_want_all() -> None:
    rows = [(0.0, path, 400, 7.0 if path == "/A" else 11.0) for path in ("/A", "/B")]
    experiment = Experiment(
        plan_of({"/A": {"owned": 4}, "/B": {"owned": 4}}, slots=8), jobs_of(*rows), 0, end=600 * SECOND
    )
    accounts = measured(experiment).accounts
    assert accounts["/A"].use == accounts["/B"].use == 4 * 600 * SECOND


@FEW
@given(st.integers(0, 2**32))
def test_what_waits_over_time_is_the_sum_of_all_waits(seed: int) -> None:
    """Little's law, exact where nothing is taken back."""
    plan = plan_of({"/A": {"owned": 3, "limit": 5}, "/B": {"owned": 2}}, slots=6, tree={"A": {}, "B": {}})
    workload = random_jobs(seed, ["/A"], jobs=25, most=5)
    measures = measured(Experiment(plan, workload, 0))
    root = measures.accounts["/"]
    assert root.demand - root.use == sum(measures.tallies["/A"].waits)
    tasks = zip(workload.tasks, workload.duration, strict=True)
    assert root.use == sum(count * duration for count, duration in tasks)
    assert root.wanted == root.held == 0


@FEW
@given(st.integers(0, 2**32), st.booleans())
def test_work_is_done_once_and_lost_work_again(seed: int, gangs: bool) -> None:  # noqa: FBT001
    """Units held are work, what was lost of it, and what starting and stopping takes."""
    plan = plan_of({"/A": {"owned": 5}, "/B": {"owned": 3}, "/C": {}}, slots=8)
    workload = random_jobs(seed, ["/A", "/B", "/C"], jobs=25, most=5, gangs=gangs)
    measures = measured(Experiment(plan, workload, 0, work=Work(checkpoint=2 * SECOND)))
    whole = sum(count * duration for count, duration in zip(workload.tasks, workload.duration, strict=True))
    lost = sum(each.lost for each in measures.tallies.values())
    assert measures.accounts["/"].use == whole + lost
    assert sum(each.finished for each in measures.tallies.values()) > 0
