"""The cluster of a scenario at one instant: what it would be if the scenario were played so far under a plan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from fairhold.errors import Fault, InputError
from fairhold.lab.outages import moment
from fairhold.lab.scenario import parse_scenario
from fairhold.model.workload import ENDLESS
from fairhold.orchestrator.freeze import freeze
from fairhold.planio.document import parse_document, read_text
from fairhold.planio.report import Report
from fairhold.sim.effect import Standing
from fairhold.sim.play import Simulation

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.model.plan import Plan
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.tasks import Attempt
    from fairhold.sim.onward import EndOf
    from fairhold.sim.scene import Work

NAME = "scenario.yaml"
"""The scenario of a folder."""


class Played(NamedTuple):
    """A scenario that was played up to an instant.

    end_of : when attempts end by themselves, as the workload says
    work   : what starting and stopping costs there
    """

    standing: Standing
    end_of: EndOf
    work: Work


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
    """Play a scenario under a plan, whatever plans it names, up to an instant.

    at : instant, or duration since the start

    Raises InputError as `read_scenario`, and where nothing runs or waits there by then.
    """
    text = read_text(path)
    scenario = parse_scenario(text, str(path), path.absolute().parent)
    scene = next(iter(scenario.scenes.values()))
    report = Report(parse_document(text, str(path)))
    instant = moment(report, at, ("--at",), scene.start)
    report.settle()
    simulation = Simulation(replace(scene, plan=plan, end=instant))
    simulation.run()
    cluster = simulation.live.cluster
    if not cluster.jobs:
        what = f"at `{at}` nothing of the scenario runs or waits"
        raise InputError([Fault("out-of-range", what, "choose another instant", ("--at",))])
    length = dict(zip(scene.workload.name, scene.workload.duration, strict=True))

    def end_of(_: Cluster, attempt: Attempt) -> int | None:
        duration = length[attempt.job.name]
        delay = scene.work.start_delay + (scene.work.restart if attempt.number > 1 else 0)
        return None if duration == ENDLESS else attempt.started + delay + duration

    return Played(Standing(plan, instant, freeze(cluster)), end_of, scene.work)
