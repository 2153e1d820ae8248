"""The cluster of a scenario at one instant: what it would be if the scenario were played so far under a plan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from fairhold.errors import Fault, InputError
from fairhold.lab.moments import moment
from fairhold.lab.scenario import parse_scenario
from fairhold.lab.simulating import simulation_of
from fairhold.model.workload import ENDLESS
from fairhold.orchestrator.freeze import freeze
from fairhold.planio.document import parse_document, read_text
from fairhold.planio.nodes import with_nodes
from fairhold.planio.report import Report
from fairhold.sim.effect import Standing
from fairhold.sim.replay import RecordDriver
from fairhold.sim.task_durations import Courses

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.model.kubernetes import Node
    from fairhold.model.plan import Plan
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.sim.experiment import Work
    from fairhold.sim.projection import EndOf

NAME = "scenario.yaml"
"""The scenario of a folder."""


class Played(NamedTuple):
    """A scenario that was played up to an instant.

    end_of : when attempts end by themselves, as the workload says
    work   : what starting and stopping costs there
    nodes  : of the cluster then, of which plans take their hosts
    """

    standing: Standing
    end_of: EndOf
    work: Work
    nodes: tuple[Node, ...] = ()


def scenario_file(path: Path) -> Path | None:
    """The file of a scenario: the path itself, or the one in that folder; None where it is none."""
    if path.is_dir():
        return path / NAME
    try:
        document = parse_document(read_text(path), str(path)).value
    except InputError:
        return None  # whoever reads it as something else says what is wrong
    return path if isinstance(document, dict) and "fairhold_scenario" in document else None


def standing_at(path: Path, plan: Plan, at: str) -> Played:
    """Play a scenario, or a record, under a plan, whatever plans it names, up to an instant.

    at : instant, or duration since the start

    Raises InputError as `read_scenario`, and where nothing runs or waits there by then.
    """
    text = read_text(path)
    scenario = parse_scenario(text, str(path), path.absolute().parent)
    experiment = next(iter(scenario.experiments.values()))
    report = Report(parse_document(text, str(path)))
    if isinstance(top := report.document.value, dict) and "scale" in top:
        what = "the scenario scales the hosts of its plans, and compared plans are used as they are"
        report.fault("not-supported-yet", what, "leave it out, or write plans with the scaled hosts", ("scale",))
    instant = moment(report, at, ("--at",), experiment.start)
    report.settle()
    other = experiment.under(plan)
    played = replace(experiment if other.plan == experiment.plan else other, end=instant)
    simulation = simulation_of(played, ())
    simulation.run()
    cluster = simulation.live.cluster
    if not cluster.jobs:
        what = f"no job of the scenario runs or waits at `{at}`"
        raise InputError([Fault("out-of-range", what, "choose another instant", ("--at",))])
    length = dict(zip(experiment.workload.name, experiment.workload.duration, strict=True))
    courses = None if experiment.event_trace is None else Courses(experiment.event_trace)

    def end_of(_: Cluster, attempt: Attempt) -> int | None:
        job, task = attempt.job.name, attempt.index
        duration = length[job] if courses is None else courses.length(job, task)
        delay = experiment.work.start_delay + (experiment.work.restart if attempt.number > 1 else 0)
        return None if duration == ENDLESS else attempt.started + delay + duration

    own = "" if experiment.event_trace is None else experiment.event_trace.own
    nodes = tuple(simulation.nodes.values()) if isinstance(simulation, RecordDriver) else ()
    standing = Standing(with_nodes(plan, nodes), instant, freeze(cluster), own)
    return Played(standing, end_of, experiment.work, nodes)
