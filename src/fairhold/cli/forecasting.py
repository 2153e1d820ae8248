"""`forecast`: when a waiting job will start, by a service, its store or a record; and how often that came true."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairhold.cli.advance import Advance
from fairhold.cli.files import print_json, print_text
from fairhold.cli.live.connection import connect
from fairhold.client import steps
from fairhold.errors import Fault, InputError, UsageError, count
from fairhold.lab.backtesting import Known, backtest
from fairhold.lab.recording import end_of_log
from fairhold.lab.records import SCENARIO
from fairhold.lab.scenario import read_scenario
from fairhold.lab.sources import StoreSource
from fairhold.lab.whole import write_whole
from fairhold.orchestrator.freeze import freeze
from fairhold.planio.report import shown
from fairhold.sim.forecast import COVERAGE, Lookout, Past, forecast
from fairhold.sim.replay import Replay
from fairhold.store import read_store
from fairhold.units import LAST_INSTANT, SECOND, format_duration, parse_instant

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.sim.experiment import Experiment

    Document = dict[str, Any]


class Wanted:
    """How a forecast is made: draws, seed, microseconds ahead."""

    def __init__(self, draws: int, seed: int, ahead: int) -> None:
        self.draws, self.seed, self.ahead = draws, seed, ahead


def run_forecast(job: str, service: str, wanted: Wanted, *, as_json: bool) -> int:
    """Ask the service."""
    with closing(connect(service)) as connection:
        asked = steps.forecast(job, wanted.draws, wanted.seed, max(1, wanted.ahead // SECOND))
        found = connection.run(asked)
    return _say(found, as_json=as_json)


def forecast_from_store(job: str, state: Path, wanted: Wanted, *, as_json: bool) -> int:
    """From what a store holds, whether its service runs or not: the state at the end of its log."""
    with read_store(state.absolute()) as reader:
        rebuilt, known, now = end_of_log(StoreSource(reader))
    cluster, plan = rebuilt.cluster, rebuilt.plan
    assert cluster is not None
    assert plan is not None
    look = Lookout(plan, freeze(cluster), cluster.own, now, Past(known))
    found = forecast(look, job, wanted.draws, wanted.seed, wanted.ahead)
    return _say(found | {"coverage": _coverage(state)}, as_json=as_json)


def forecast_from_record(folder: Path, job: str, at: str, wanted: Wanted, *, as_json: bool) -> int:
    """From a record, at one of its instants, with what was known then."""
    experiment = _replay_of(folder)
    instant = parse_instant(at) if at else experiment.end
    if instant is None or not 0 <= instant <= LAST_INSTANT:
        raise UsageError(f"`--at`: `{at}` is not an instant; write it as 2026-01-05T09:00:00Z")
    return _of_scene(experiment, job, instant, folder, wanted, as_json=as_json)


def _of_scene(experiment: Experiment, job: str, now: int, folder: Path, wanted: Wanted, *, as_json: bool) -> int:
    watches: list[Known] = []
    replay = Replay(replace(experiment, end=max(now, experiment.start + 1)), watches)
    watches.append(Known(replay.live.cluster))
    plans = [experiment.plan]
    replay.on_plan = lambda plan, _: plans.append(plan)
    replay.run_until(now)
    look = Lookout(plans[-1], freeze(replay.live.cluster), replay.event_trace.own, now, Past(watches[0].rows))
    found = forecast(look, job, wanted.draws, wanted.seed, wanted.ahead)
    return _say(found | {"coverage": _coverage(folder)}, as_json=as_json)


def run_backtest(folder: Path, state: Path | None, instants: int, wanted: Wanted, *, as_json: bool) -> int:
    """Make forecasts on a record, and leave how many came true in it, and in a state directory."""
    if state is not None and not state.is_dir():
        raise UsageError(f"--state: there is no folder `{shown(str(state))}`")
    experiment = _replay_of(folder)
    advance = Advance()
    try:
        found = backtest(
            experiment,
            instants=instants,
            draws=wanted.draws,
            seed=wanted.seed,
            horizon=wanted.ahead,
            on_instant=lambda at: advance.show(f"forecasts at {at} of {count(instants, 'instant')}", at, instants),
        )
    finally:
        advance.close()
    text = json.dumps(found, indent=2).encode() + b"\n"
    for place in (folder, state):
        if place is not None:
            write_whole(place / COVERAGE, text)
    if as_json:
        print_json(found)
    else:
        print_text(coverage_words(found))
    return 0


def coverage_words(found: Document | None) -> str:
    """What a back-test came to."""
    if found is None:
        return "coverage: not measured; `fairhold forecast --backtest RECORD --state DIRECTORY` measures it"
    parts = [
        f"{found[name]['covered']} of {found[name]['told']} began by the {name} forecast "
        f"({found[name]['share'] / 10_000:.1f} %)"
        if found[name]["told"]
        else f"no {name} forecast can be compared with what happened"
        for name in ("p50", "p90")
    ]
    told, instants = count(found["forecasts"], "forecast"), count(found["instants"], "instant")
    return f"coverage of {told} at {instants}: {'; '.join(parts)}"


def _coverage(folder: Path) -> Document | None:
    try:
        found: Document = json.loads((folder / COVERAGE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found


def _replay_of(folder: Path) -> Experiment:
    """The run of a record under the plan of the record."""
    scenario = read_scenario(folder / SCENARIO if folder.is_dir() else folder)
    experiment = next((each for each in scenario.experiments.values() if each.is_replay), None)
    if experiment is None:
        what = "the scenario is not a record, or none of its plans is that of the record"
        raise InputError([Fault("no-record", what, "name a folder of `fairhold record`", file=str(folder))])
    return experiment


def _say(found: Document, *, as_json: bool) -> int:
    if as_json:
        print_json(found)
    else:
        print_text("\n".join(_words(found)))
    return 0


def _words(found: Document) -> list[str]:
    if found["never"] is not None:
        what = (
            f"nothing more of job {found['job']} starts" if found["started"] else f"job {found['job']} does not start"
        )
        return [f"{what}: {found['never']['text']} [{found['never']['code']}]"]
    begun, waiting = found["started"], found["waiting"]
    which = f": {begun} of {count(begun + waiting, 'task')} have begun; the next of those that wait" if begun else ""
    lines = [
        f"job {found['job']}, as of {found['at']}{which}:",
        f"  p50  {_when(found, 'p50')}",
        f"  p90  {_when(found, 'p90')}",
        f"{count(found['draws'], 'draw')}, in {found['begun']} of which it began by {found['horizon']}",
    ]
    for row in found["run_times"]:
        source = (
            "its limits: none is over yet" if row["from"] is None else f"{count(row['tasks'], 'task')} of {row['from']}"
        )
        lines.append(f"run times of {row['consumer']}: {source}")
    lines += [f"assumed: {each}" for each in found["assumptions"]]
    return [*lines, coverage_words(found["coverage"])]


def _when(found: Document, name: str) -> str:
    if found[name] is None:
        return f"not by {found['horizon']}"
    at, now = parse_instant(found[name]), parse_instant(found["at"])
    assert at is not None
    assert now is not None
    return f"{found[name]}, in {format_duration((at - now) // SECOND * SECOND)}"
