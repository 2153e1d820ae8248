"""A run of a scenario under one of its plans, and its summary."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fairhold.errors import Fault, InputError
from fairhold.kernels._jit import prefer_compiled
from fairhold.lab.scenariokeys import on_hosts
from fairhold.lab.twin import Twin
from fairhold.ledger.vectors import POOLED
from fairhold.planio.report import listed, shown
from fairhold.sim.account import Spans
from fairhold.sim.checking import Truths, Watcher
from fairhold.sim.counterfactual import Counterfactual
from fairhold.sim.littles_law import Little
from fairhold.sim.log import Log
from fairhold.sim.measures import Measures
from fairhold.sim.play import Simulation
from fairhold.sim.quotas import Quotas, VectorQuotas
from fairhold.sim.replay import RecordDriver, Replay
from fairhold.sim.summary import summarize
from fairhold.sim.verifying import Recomputed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairhold.lab.scenario import Scenario
    from fairhold.model.plan import Plan
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.sim.driver import Watch
    from fairhold.sim.experiment import Experiment
    from fairhold.sim.replay import OnPlan

    OnProgress = Callable[[int, int, int], None]

MANY_ROWS, MANY_JOBS = 60, 2_000
"""From so many consumers and jobs on, cycles pay for the half second that compiled kernels need to start."""
EVERY = 200
"""Steps between two reports of progress."""
Document = dict[str, Any]


def simulate(
    scenario: Scenario,
    plan: str,
    *,
    write: Callable[[str], object] | None = None,
    on_progress: OnProgress | None = None,
    watches: Sequence[Watch] = (),
    check: bool = False,
) -> Document:
    """Play the scenario under one of its plans; returns the summary.

    write       : is given every line of the event log
    check       : look at every cycle whether what must hold of it does, let the independent check compute again what it
                  decides, and hold the run against Little's law; raises BrokenRuleError where something is wrong
    on_progress : is told how many jobs have come so far, how many of them are over, and how many there will be
    """
    experiment = scenario.experiments[plan]
    recorded = experiment.event_trace
    if len(experiment.plan.tree) >= MANY_ROWS and len(experiment.workload) >= MANY_JOBS:
        prefer_compiled(MANY_ROWS)
    log = Log(write)
    told: list[Watch] = [log, *watches, *((Truths(experiment.plan),) if check else ())]
    twin = Twin(recorded.decided, experiment.end or 0) if recorded is not None and experiment.is_replay else None
    told += [] if twin is None else [twin]
    simulation = simulation_of(experiment, told)
    measures = measures_of(scenario, simulation.live.cluster)
    if isinstance(simulation, RecordDriver):
        simulation.on_plan = _replanned(told)
    of_vectors = VectorQuotas(experiment.plan)
    told += [of_vectors] if any(each.group == POOLED for each in measures) else []
    for each in measures:
        each.quotas = Quotas(each.spans, partial(_quotas, simulation, of_vectors, each))
        each.take_over(simulation.live.cluster, experiment.start)
    told += measures
    laws = _laws(measures, experiment, simulation.live.cluster) if check else []
    told += [*laws, Recomputed(experiment.plan, simulation.live.cluster)] if check else []
    first, last, step = simulation.arrived, simulation.last, simulation.step
    goes_on = True
    while goes_on:
        for _ in range(EVERY):
            if not step():
                goes_on = False
                break
        if on_progress is not None:
            come = simulation.arrived - first
            on_progress(come, come - len(simulation.live.jobs), last - first)
    end = max(simulation.now, scenario.begin)
    for each in measures:
        each.close(end)
    _hold(laws, end)
    document: Document = {"plan": plan} | summarize(measures, simulation.refused, log.digest)
    if twin is not None and recorded is not None and recorded.decided:
        document["as_recorded"] = twin.document(is_whole=experiment.end == recorded.end)
    elif isinstance(simulation, Counterfactual):
        document["otherwise"] = {"passed_over": simulation.passed_over, "guessed": simulation.guessed}
    return document


def simulation_of(experiment: Experiment, told: Sequence[Watch]) -> Simulation | Replay | Counterfactual:
    """What plays an experiment: a workload, or a record as it was or under another plan."""
    if experiment.event_trace is None:
        return Simulation(experiment, told)
    return (Replay if experiment.is_replay else Counterfactual)(experiment, told)


def _laws(measures: Sequence[Measures], experiment: Experiment, cluster: Cluster) -> list[Little]:
    """Who holds what is measured against Little's law."""
    laws = [Little(each, cluster) for each in measures]
    for law in laws:
        law.take_over(cluster, experiment.start)
    return laws


def _hold(laws: Sequence[Little], now: int) -> None:
    """A run that is measured is over: raises BrokenRuleError where it does not keep the law."""
    for law in laws:
        law.close(now)


def _quotas(
    simulation: Simulation | Replay | Counterfactual, of_vectors: VectorQuotas, measures: Measures
) -> Sequence[int] | None:
    """Of who decides now: a replay goes on with another orchestrator where the plan changes."""
    live, group = simulation.live, measures.group
    if group != POOLED or group not in live.books:
        return live.quotas_of(group)
    books = live.books[group]
    return of_vectors.column(books, measures.resource, measures.held(books.rows))


def _replanned(told: Sequence[Watch]) -> OnPlan:
    """Lets whoever looks go on with another plan."""

    def tell(plan: Plan, cluster: Cluster) -> None:
        for each in told:
            if isinstance(each, Measures | Little):
                each.replan(cluster)
            elif isinstance(each, Watcher):
                each.replan(plan, cluster)

    return tell


def measures_of(scenario: Scenario, cluster: Cluster) -> list[Measures]:
    """What is measured: the slots of every group, and the resources of vectors that were asked for."""
    found = [
        Measures(cluster, group, "slots", Spans(scenario.begin, scenario.piece))
        for group in cluster.books
        if group != POOLED
    ]
    if POOLED in cluster.books:
        there = on_hosts(cluster.books[POOLED].rows.source)
        for name in scenario.resources:
            if name not in there:
                what, mend = f"no host has the resource `{shown(name)}`", f"use {listed(there)}"
                raise InputError([Fault("unknown-resource", what, mend, ("resources",))])
        names = scenario.resources or there
        found += [Measures(cluster, POOLED, name, Spans(scenario.begin, scenario.piece)) for name in names]
    return found
