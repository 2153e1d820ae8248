"""Golden stories that are no experiments: storms of events, cycles on files, copies of a live cluster."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

from fairhold.cycle.document import run_cycle
from fairhold.cycle.projection import course_of
from fairhold.errors import InputError
from fairhold.orchestrator.freeze import freeze
from fairhold.orchestrator.instructions import WakeAt
from fairhold.planio.state import parse_state, state_document
from fairhold.sim.counterfactual import Counterfactual
from fairhold.sim.effect import Standing, effect_of, effect_over_time
from fairhold.sim.forecast import Lookout, Past, starts
from fairhold.sim.log import Log, line_of
from fairhold.sim.play import Simulation
from tests.cycle.test_cases import CASES
from tests.golden import plans
from tests.golden.scenes import SCENES
from tests.golden.stories import HOUR, MONDAY, SECOND, plan_of
from tests.lab.logs import lines_of, recorded, replayed
from tests.orchestrator.storm import Storm
from tests.orchestrator.test_storm import SETTINGS
from tests.orchestrator.vector_storm import VectorStorm
from tests.pools.dense import dense_story
from tests.pools.strategies import after, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.model.plan import Plan
    from fairhold.orchestrator.events import Event
    from fairhold.orchestrator.handle import Orchestrator
    from tests.golden.stories import EventTrace, Json, Write

AHEAD = 4 * HOUR


def _line(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str) + "\n"


class _Told:
    """What makes a golden story of a storm: events go to one orchestrator, which now and then starts again."""

    live: Orchestrator
    write: Write

    def take(self: Any, event: Event) -> None:
        try:
            out = self.live.handle(event, self.now)
        except InputError as error:
            self.write(_line([self.now, type(event).__name__, error.faults[0].code]))
            return
        for change in self.live.changes:
            self.write(line_of(self.now, change))
        self.wake = next((each.instant for each in out if isinstance(each, WakeAt)), None)

    def start_again(self: Any) -> None:
        self.live = self._orchestrator(self.live.cluster)
        self.live.now, self.wake = self.now, self.now
        self.live.changed_all()


class _Slots(_Told, Storm):
    """Of slots."""


class _Vectors(_Told, VectorStorm):
    """Of vectors."""


def storm_of(kind: type[_Slots | _Vectors], seed: int, steps: int, **settings: object) -> EventTrace:
    """Random events, one after another."""

    def story(write: Write) -> None:
        storm = kind(Random(seed), forgets=seed % 2 == 0, **settings)
        storm.write = write
        storm.run(steps)

    return story


def dense_cycles(first: int, last: int) -> EventTrace:
    """Cycles of `multidimensional` on files: documents and the states after them."""

    def story(write: Write) -> None:
        for number in range(first, last):
            plan_document, document, turns = dense_story(number)
            if number % 3 == 1:
                plan_document["policies"][0]["settings"]["packing"] = "exclusive"
            if number % 5 == 4:
                plan_document["policies"][0]["settings"]["rebalance_interval"] = "10s"
            plan, state = read(plan_document, document)
            for turn in turns:
                cycle = run_cycle(plan, state)
                told = state_document(plan, cycle.after)
                write(_line([number, cycle.document, told]))
                state = after(parse_state(json.dumps(told), plan, "state.json"), turn)

    return story


def files_of(plan_document: Json, seed: int, turns: int, *, vectors: bool) -> EventTrace:
    """Cycles on a state file that each cycle writes anew, while demand goes up and down and hosts fail."""

    def story(write: Write) -> None:
        plan, random = plan_of(plan_document), Random(seed)
        asked: list[Json] = [_asked(random, at, vectors=vectors) for at in range(16)]
        hosts = [host.name for group in plan.resource_groups.values() for host in group.hosts]
        document: Json = {"fairhold_state": 1, "now": "2026-01-05T07:30:00Z", "requests": asked}
        for turn in range(1, turns + 1):
            state = parse_state(json.dumps(document), plan, "state.json")
            cycle = run_cycle(plan, state)
            document = state_document(plan, cycle.after)
            write(_line([turn, cycle.document, document]))
            document = json.loads(json.dumps(document)) | {
                "now": f"2026-01-05T{7 + turn // 2:02}:{turn % 2 * 30:02}:41Z"
            }
            for request in random.sample(document["requests"], 5):
                request["count"] = max(request.get("min_count", 1), random.randint(1, 9))
            if hosts and turn % 4 == 0:
                document["hosts_down"] = random.sample(hosts, 1)
            _fit(document)

    return story


def _asked(random: Random, at: int, *, vectors: bool) -> Json:
    unit = random.choice(({"cpu": 2, "gpu": 1}, {"cpu": 3, "memory": 8}, {"cpu": 1, "gpu": 0.5}))
    found: Json = {"id": f"r{at}", "consumer": random.choice(plans.LEAVES), "count": random.randint(2, 9)}
    found |= {"priority": random.choice((0, 0, 5)), "submitted": f"2026-01-05T07:{random.randint(10, 29)}:00Z"}
    found |= {"min_count": 2} if vectors and random.random() < 0.3 else {}
    return found | ({"unit": unit} if vectors else {})


def _fit(document: Json) -> None:
    """Who holds more than it wants now has ended the last of its units."""
    held: dict[str, int] = {}
    most = {request["id"]: request["count"] for request in document["requests"]}
    kept = []
    for row in document.get("allocations", ()):
        units = min(row["units"], most[row["request"]] - held.get(row["request"], 0))
        held[row["request"]] = held.get(row["request"], 0) + units
        if units < row["units"]:
            row.pop("lenders", None)
            document.pop("reclaims", None)
        if units:
            kept.append(row | {"units": units})
    document["allocations"] = kept


def cases_of(name: str) -> EventTrace:
    """The worked cases of a file, whole documents of them and of a second cycle."""

    def story(write: Write) -> None:
        for case in json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))["cases"]:
            if "plan" not in case or "state" not in case:
                continue
            try:
                plan = plan_of(case["plan"])
                state = parse_state(json.dumps(case["state"]), plan, "state.json")
            except InputError as error:
                write(_line([case["id"], [fault.code for fault in error.faults]]))
                continue
            for _ in range(2):
                cycle = run_cycle(plan, state)
                write(_line([case["id"], cycle.document, state_document(plan, cycle.after)]))
                state = cycle.after

    return story


def _halfway(name: str, hours: float) -> tuple[Plan, Simulation, list[tuple[str, int]]]:
    """A simulation that has come so far, and how long its finished attempts ran."""
    experiment = SCENES[name]()
    began: dict[int, tuple[str, int]] = {}
    past: list[tuple[str, int]] = []

    class Watch(Log):
        def note(self, now: int, changes: Any) -> None:
            for change in changes:
                if type(change).__name__ == "Started":
                    began[change.attempt] = experiment.workload.consumers[rows[change.job]], now
                elif type(change).__name__ == "Ended" and change.reason == "finished":
                    leaf, since = began[change.attempt]
                    past.append((leaf, now - since))

    rows = {job: experiment.workload.consumer[row] for row, job in enumerate(experiment.workload.name)}
    simulation = Simulation(experiment, [Watch()])
    while simulation.now < MONDAY + round(hours * HOUR) and simulation.step():
        pass
    return experiment.plan, simulation, past


def forecast_of(name: str, hours: float, draws: int = 6) -> EventTrace:
    """When all that waits starts, in a few draws."""

    def story(write: Write) -> None:
        plan, simulation, past = _halfway(name, hours)
        cluster = simulation.live.cluster
        waiting = sorted(job.name for job in cluster.jobs.values() if job.waiting)
        look = Lookout(plan, freeze(cluster), "", simulation.now, Past(past))
        for job, instants in sorted(starts(look, waiting, draws, 7, 24 * HOUR).of.items()):
            write(_line([job, instants]))

    return story


def other_plan_of(name: str, hours: float, document: Json) -> EventTrace:
    """What another plan would do to a live cluster: now, at windows, over time; told of, and on, a state file, too."""

    def story(write: Write) -> None:
        plan, simulation, _ = _halfway(name, hours)
        standing = Standing(plan, simulation.now, freeze(simulation.live.cluster))
        other = plan_of(document)
        effect = effect_of(standing, other, {}, AHEAD)
        del effect["summary"]  # words about the rest
        write(_line(effect))
        found = effect_over_time(
            *(standing, other, {}, AHEAD),
            end_of=lambda _, attempt: attempt.started + 900 * SECOND * (1 + attempt.name % 5),
        )
        write(_line(found))

    return story


def record_of(name: str, text: Json, other: Json) -> EventTrace:
    """A record of a simulation: it is played as it was, and under another plan."""

    def story(write: Write) -> None:
        experiment = replace(SCENES[name](), plan=plan_of(text))
        lines = lines_of(experiment)
        found = recorded(lines.all, json.dumps(text), experiment.start)
        for line in replayed(found, experiment):
            write(line)
        under = replace(
            experiment,
            plan=plan_of(other),
            start=found.event_trace.begin,
            end=found.event_trace.end,
            event_trace=found.event_trace,
        )
        Counterfactual(under, [Log(write)]).run()

    return story


def course_of_file(plan_document: Json, seed: int, *, vectors: bool) -> EventTrace:
    """The course of a state file: who holds what at every full hour, and what is stopped."""

    def story(write: Write) -> None:
        plan, random = plan_of(plan_document), Random(seed)
        unit: Json = {"unit": {"cpu": 2, "gpu": 1}} if vectors else {}
        requests = [
            {"id": f"r{at}", "consumer": random.choice(plans.LEAVES), "count": random.randint(1, 9)} | unit
            for at in range(14)
        ]
        state = {"fairhold_state": 1, "now": "2026-01-05T07:30:00Z", "requests": requests}
        before = parse_state(json.dumps(state), plan, "state.json")
        course = course_of(plan, before, run_cycle(plan, before), [MONDAY + at * HOUR for at in range(1, 5)])
        for each in course.stops:
            write(_line(each))
        for held in course.held:
            write(_line(sorted((*key, sorted(amounts.items())) for key, amounts in held.items())))

    return story


FILES: dict[str, Json] = {
    "hybrid": plans.slots(plans.entry("hybrid", plans.OWNED), hosts=plans.HOSTS),
    "share_ratio": plans.slots(plans.entry("share_ratio", plans.SHARES), hosts=plans.HOSTS),
    "ownership": plans.slots(plans.entry("ownership", plans.LISTS)),
    "multidimensional": plans.vectors(plans.pools()),
    "fair_share": plans.vectors(plans.queues()),
    "fair_share as KAI": plans.vectors(plans.queues(division="kai", consolidation=True)),
}
"""Plans under which cycles run on files."""


def _other_plans() -> Iterator[tuple[str, Callable[[], EventTrace]]]:
    entry, slots, vectors = plans.entry, plans.slots, plans.vectors
    shares = slots(entry("share_ratio", plans.SHARES))
    yield "another plan: shares", partial(other_plan_of, "hybrid", 5, shares)
    yield (
        "another plan: windows",
        partial(
            other_plan_of,
            "windows",
            1,
            slots(entry("hybrid", plans.OWNED, window="Mon-Fri 10:00-11:00"), entry("ownership", plans.LISTS)),
        ),
    )
    yield "another plan: queues", partial(other_plan_of, "multidimensional", 2, vectors(plans.queues()))
    yield "another plan: pools", partial(other_plan_of, "fair_share", 3, vectors(plans.pools()))


def _stories() -> Iterator[tuple[str, Callable[[], EventTrace]]]:
    entry, slots, vectors = plans.entry, plans.slots, plans.vectors
    shares, hybrid = slots(entry("share_ratio", plans.SHARES)), slots(entry("hybrid", plans.OWNED))
    for at, settings in enumerate(SETTINGS):
        yield f"storm of slots {at}", partial(storm_of, _Slots, 100 + at, 3000, **settings)
    for at in range(2):
        yield f"storm of vectors {at}", partial(storm_of, _Vectors, 200 + at, 1200)
    for name, of_files in FILES.items():
        yield f"files of {name}", partial(files_of, of_files, 300, 24, vectors="pool" in of_files["resource_groups"])
    yield "dense cycles", partial(dense_cycles, 0, 60)
    for name in ("hybrid", "share_ratio", "ownership", "lending", "multidimensional", "cycles"):
        yield f"cases of {name}", partial(cases_of, name)
    for name, hours in (("windows", 1.5), ("budgets", 9), ("multidimensional", 2), ("fair_share", 3)):
        yield f"forecast of {name}", partial(forecast_of, name, hours)
    yield from _other_plans()
    yield "record of slots", partial(record_of, "hybrid", hybrid, shares)
    yield (
        "record of vectors",
        partial(record_of, "multidimensional failing hosts", vectors(plans.pools()), vectors(plans.queues())),
    )
    yield (
        "course of slots",
        partial(
            course_of_file,
            slots(entry("hybrid", plans.OWNED, window="Mon-Fri 09:00-10:30"), entry("share_ratio", plans.SHARES)),
            3,
            vectors=False,
        ),
    )
    yield (
        "course of vectors",
        partial(course_of_file, vectors(plans.queues(window="Mon-Fri 09:00-10:30"), plans.pools()), 4, vectors=True),
    )


OTHERS: dict[str, Callable[[], EventTrace]] = dict(_stories())
"""Name → what makes the story."""
