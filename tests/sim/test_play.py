"""The simulator's loop: invented hosts, work, and what stopping costs."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from fairhold.cycle.verify import Finding
from fairhold.errors import BrokenRuleError
from fairhold.ledger.vectors import POOLED
from fairhold.model.workload import ENDLESS, Workload
from fairhold.orchestrator import changes as said
from fairhold.orchestrator.instructions import Start
from fairhold.planio.plan import parse_plan
from fairhold.sim.account import Spans
from fairhold.sim.checking import Truths
from fairhold.sim.experiment import Experiment, Outage, Resizing, Work
from fairhold.sim.log import Log
from fairhold.sim.measures import Measures
from fairhold.sim.play import Simulation
from fairhold.sim.quotas import Quotas, VectorQuotas
from fairhold.sim.submitting import slots_of
from fairhold.sim.summary import histogram, jain, quantile, summarize
from fairhold.sim.verifying import Recomputed
from tests.orchestrator.drive import InventedEngine
from tests.orchestrator.test_two_drivers import demands_of, fresh_books
from tests.sim.scenes import SECOND, EventTrace, jobs_of, plan_of, played, random_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.sim.driver import Watch

TWO = plan_of({"/A": {"owned": 2}, "/B": {"owned": 2}}, slots=4)
HOSTS = plan_of({"/A": {"owned": 2}, "/B": {"owned": 2}}, group={"hosts": [{"name": "h[1-2]", "slots": 2}]})


def ends(experiment: Experiment) -> list[tuple[float, str, str]]:
    return [(now / SECOND, change.then, change.reason) for now, change in played(experiment).of(said.Ended)]


def test_the_story_is_that_of_the_orchestrator_with_an_invented_engine() -> None:
    demands = demands_of(3)
    books = fresh_books()
    engine = InventedEngine(fresh_books(), demands)
    engine.run()
    paths = tuple(books.rows.path(leaf) for leaf in books.rows.leaves)
    work = Workload(
        demands.name,
        demands.submit,
        [books.rows.leaves.index(leaf) for leaf in demands.leaf],
        demands.tasks,
        demands.duration,
        consumers=paths,
    )
    story = played(Experiment(books.rows.source, work, 0))
    starts = [(now, start.attempt, start.job) for now, start in story.of(said.Started)]
    assert starts == [
        (now, order.attempt, order.job) for now, _, orders in engine.log for order in orders if isinstance(order, Start)
    ]


def test_work_is_lent_taken_back_and_done_again_from_the_last_saved_state() -> None:
    jobs = jobs_of((0, "/B", 4, 100), (30, "/A", 2, 10))
    story = played(Experiment(TWO, jobs, 0, work=Work(checkpoint=20 * SECOND)))
    assert [now for now, _ in story.of(said.Noticed)] == [30 * SECOND] * 2
    stopped = [(now, end) for now, end in story.of(said.Ended) if end.then == said.AGAIN]
    assert [now for now, _ in stopped] == [32 * SECOND] * 2
    assert story.losses == {end.attempt: 12 * SECOND for _, end in stopped}
    # 20 s of the 100 were saved; a slot is idle again at 42 s.
    assert max(now for now, _ in story.of(said.Ended)) == 122 * SECOND


def test_a_task_that_saves_its_state_leaves_at_once_and_loses_nothing() -> None:
    jobs = jobs_of((0, "/B", 4, 100), (30, "/A", 2, 10))
    story = played(Experiment(TWO, jobs, 0, work=Work(yields=True, stop_delay=SECOND, restart=5 * SECOND)))
    assert story.losses == {}
    again = [now for now, end in story.of(said.Ended) if end.then == said.AGAIN]
    assert again == [31 * SECOND] * 2
    # 30 s are done; they begin again at 41 s and read their state for 5 s.
    assert max(now for now, _ in story.of(said.Ended)) == (41 + 5 + 70) * SECOND


def test_starting_and_stopping_take_their_time() -> None:
    jobs = jobs_of((0, "/A", 1, 10))
    assert ends(Experiment(TWO, jobs, 0, work=Work(start_delay=3 * SECOND))) == [(13, "done", "finished")]
    jobs = jobs_of((0, "/B", 4, 100), (30, "/A", 1, 10))
    story = played(Experiment(TWO, jobs, 0, work=Work(stop_delay=4 * SECOND)))
    assert [now for now, end in story.of(said.Ended) if end.then == said.AGAIN] == [36 * SECOND]


def test_what_runs_on_a_host_that_fails_is_lost_and_done_again() -> None:
    jobs = jobs_of((0, "/A", 4, 50))
    experiment = Experiment(HOSTS, jobs, 0, outages=(Outage("h1", 10 * SECOND, 20 * SECOND),))
    assert ends(experiment) == [
        (10, "again", "host_lost"),
        (10, "again", "host_lost"),
        (50, "done", "finished"),
        (50, "done", "finished"),
        (70, "done", "finished"),
        (70, "done", "finished"),
    ]


def test_a_planned_outage_is_drained_first() -> None:
    jobs = jobs_of((0, "/A", 4, 50))
    experiment = Experiment(HOSTS, jobs, 0, outages=(Outage("h2", 10 * SECOND, 20 * SECOND, lead=5 * SECOND),))
    assert [end for end in ends(experiment) if end[1] == "again"] == [(7, "again", "reclaim")] * 2
    assert max(ends(experiment))[0] == 70


def test_a_group_of_slots_can_have_fewer_for_a_while() -> None:
    jobs = jobs_of((0, "/A", 4, 50))
    changes = (Resizing(10 * SECOND, "compute", 2), Resizing(30 * SECOND, "compute", 4))
    story = played(Experiment(TWO, jobs, 0, resizings=changes))
    assert sum(end.then == said.AGAIN for _, end in story.of(said.Ended)) == 2
    assert max(now for now, _ in story.of(said.Ended)) == 80 * SECOND


def test_a_gang_begins_together_and_one_that_never_can_is_reported() -> None:
    jobs = jobs_of((0, "/A", 3, 10), (10, "/B", 2, 10), (12, "/B", 5, 10), gang=True)
    story = played(Experiment(TWO, jobs, 0))
    assert [(now, start.job, start.places) for now, start in story.of(said.Started)] == [
        (0, "j0", (("", 3),)),
        (10 * SECOND, "j1", (("", 2),)),
    ]
    simulation = Simulation(Experiment(TWO, jobs, 0))
    simulation.run()
    ((key, refused),) = simulation.refused.items()
    assert key == ("never-fits", "/B")
    assert (refused.job, refused.jobs) == ("j2", 1)


def test_an_unknown_consumer_is_reported_and_the_rest_goes_on() -> None:
    simulation = Simulation(Experiment(TWO, jobs_of((0, "/X", 3, 10), (1, "/B", 2, 10)), 0))
    simulation.run()
    assert list(simulation.refused) == [("not-a-leaf", "/X")]
    assert simulation.now == 11 * SECOND


@pytest.mark.parametrize(("end", "now"), [(None, 0), (9 * SECOND, 9 * SECOND)])
def test_a_run_without_jobs_ends_where_it_began_or_is_said_to_end(end: int | None, now: int) -> None:
    simulation = Simulation(Experiment(TWO, jobs_of(), 0, end=end))
    simulation.run()
    assert simulation.now == now


def test_services_run_to_the_end_of_the_scene() -> None:
    service = Workload(["s"], [0], [0], [2], [ENDLESS], consumers=("/A",))
    simulation = Simulation(Experiment(TWO, service, 0, end=60 * SECOND))
    simulation.run()
    assert simulation.now == 60 * SECOND
    assert len(simulation.live.attempts) == 2


OPEN = {"/A": {"owned": 4}, "/B": {"limit": 0}}
NIGHTS = parse_plan(
    json.dumps(
        {
            "fairhold": 1,
            "resource_groups": {"compute": {"slots": 4}},
            "consumers": {"A": {}, "B": {}},
            "policies": [
                {
                    "resource_groups": ["compute"],
                    "policy": "hybrid",
                    "consumers": OPEN,
                },
                {
                    "resource_groups": ["compute"],
                    "policy": "hybrid",
                    "window": "Mon-Sun 20:00-06:00",
                    "consumers": OPEN,
                },
            ],
        }
    ),
    "plan",
)[0]


@pytest.mark.parametrize(("path", "seconds"), [("/A", 30), ("/B", 1)])
def test_windows_that_open_for_ever_keep_no_run_from_its_end(path: str, seconds: int) -> None:
    simulation = Simulation(Experiment(NIGHTS, jobs_of((0, path, 1, 30)), 0))
    simulation.run()
    assert simulation.now >= seconds * SECOND
    assert simulation.now < 400 * 86_400 * SECOND


def test_a_service_without_an_end_is_left_running() -> None:
    service = Workload(["s"], [0], [0], [2], [ENDLESS], consumers=("/A",))
    simulation = Simulation(Experiment(NIGHTS, service, 0))
    simulation.run()
    assert len(simulation.live.attempts) == 2


def test_what_was_submitted_before_or_after_is_left_out() -> None:
    jobs = jobs_of((0, "/A", 1, 1), (10, "/A", 1, 1), (20, "/A", 1, 1))
    story = played(Experiment(TWO, jobs, 5 * SECOND, end=20 * SECOND))
    assert [change.job for _, change in story.of(said.JobAdded)] == ["j1"]


def measured(experiment: Experiment, end: int, piece: int = 10 * SECOND, begin: int = 0) -> dict[str, object]:
    watches: list[object] = []
    simulation = Simulation(experiment, watches)  # type: ignore[arg-type]
    measures = Measures(simulation.live.cluster, "compute", "slots", Spans(begin, piece))
    log = Log()
    measures.quotas = Quotas(measures.spans, lambda: simulation.live.quotas_of("compute"))
    watches += [log, measures]
    simulation.run()
    measures.close(end)
    return summarize([measures], simulation.refused, log.digest)


def test_who_held_what_of_whom() -> None:
    jobs = jobs_of((0, "/B", 4, 100), (30, "/A", 2, 10))
    shared = measured(Experiment(TWO, jobs, 0, end=60 * SECOND), 60 * SECOND)["shared"][0]  # type: ignore[index]
    a, b = shared["consumers"]["/A"], shared["consumers"]["/B"]
    assert b["use"] == (4 * 32 + 2 * 10 + 4 * 18) * SECOND
    assert b["borrowed"] == (2 * 32 + 2 * 18) * SECOND
    assert a["deficit"] == 2 * 2 * SECOND
    assert a["longest"] == 2 * SECOND
    assert a["wait"]["max"] == 2 * SECOND
    assert b["lost"] == 2 * 32 * SECOND
    assert (b["notified"], b["stopped"]) == (2, 2)
    assert shared["taken"] == [["/B", "/A", 2]]
    assert shared["utilisation"] == 1_000_000
    assert a["allocated_in"] == [0, 0, 0, 16 * SECOND, 4 * SECOND, 0]
    assert a["quota_in"] == [0, 0, 0, 20 * SECOND, 4 * SECOND, 0]
    assert b["quota_in"] == [40 * SECOND, 40 * SECOND, 40 * SECOND, 20 * SECOND, 36 * SECOND, 40 * SECOND]
    assert shared["consumers"]["/"]["quota_in"] == [40 * SECOND] * 6
    assert b["borrowed_in"] == [20 * SECOND, 20 * SECOND, 20 * SECOND, 4 * SECOND, 16 * SECOND, 20 * SECOND]
    assert sum(b["borrowed_in"]) == b["borrowed"]
    assert (shared["notified_in"], shared["lost_in"]) == ([[3, 2]], [[3, 64 * SECOND]])
    assert (shared["unit"], shared["base"]) == ("", 1)
    assert shared["capacity"] == 4 * 60 * SECOND


def test_quotas_of_resources_over_time() -> None:
    """B uses all 4 at first; A owns 2, and wants all 4 of them from 31 s on."""
    document = {
        "fairhold": 1,
        "resources": {"gpu": {}, "cpu": {}},
        "resource_groups": {"compute": {"hosts": [{"name": "h[1-2]", "gpu": 2, "cpu": 8}]}},
        "consumers": {"A": {"reclaim_grace": "1s"}, "B": {"reclaim_grace": "1s"}},
        "policies": [
            {
                "resource_groups": ["compute"],
                "policy": "multidimensional",
                "consumers": {"/A": {"own": [{"resource_group": "compute", "hosts": 1}]}},
            }
        ],
    }
    plan = parse_plan(json.dumps(document), "plan")[0]
    jobs = replace(jobs_of((0, "/B", 4, 100), (31, "/A", 4, 100)), units=((("gpu", "1"), ("cpu", "2")),))
    of_vectors = VectorQuotas(plan)
    watches: list[Watch] = [of_vectors]
    simulation = Simulation(Experiment(plan, jobs, 0, end=60 * SECOND), watches)
    books = simulation.live.books[POOLED]

    def asked(measures: Measures) -> Sequence[int]:
        return of_vectors.column(books, measures.resource, measures.held(books.rows))

    found = []
    for resource in ("gpu", "cpu"):
        measures = Measures(simulation.live.cluster, POOLED, resource, Spans(0, 10 * SECOND))
        measures.quotas = quotas = Quotas(measures.spans, partial(asked, measures))
        watches.append(measures)
        found.append(quotas)
    simulation.run()
    for each in found:
        each.close(60 * SECOND)
    gpu, cpu = found
    unit = 1000 * SECOND  # one GPU, or processor, for a second
    # From 32 s on, A uses its own 2, and half of the 2 others is due to it. Processors of its host that it leaves are
    # lent up: 4 of its own, and half of the 12 that are public.
    assert [each // unit for each in gpu.column("/A", 6)] == [0, 0, 0, 1 * 2 + 8 * 3, 30, 30]
    assert [each // unit for each in gpu.column("/B", 6)] == [40, 40, 40, 1 * 4 + 1 * 2 + 8 * 1, 10, 10]
    assert [each // unit for each in cpu.column("/A", 6)] == [0, 0, 0, 1 * 8 + 8 * 10, 100, 100]
    assert [each // unit for each in cpu.column("/", 6)] == [80, 80, 80, 1 * 8 + 9 * 16, 160, 160]


def test_the_warm_up_is_cut() -> None:
    jobs = jobs_of((0, "/B", 4, 100), (30, "/A", 2, 10))
    experiment = Experiment(TWO, jobs, 0, end=60 * SECOND)
    shared = measured(experiment, 60 * SECOND, begin=31 * SECOND)["shared"][0]  # type: ignore[index]
    assert shared["consumers"]["/A"]["submitted"] == 0
    assert shared["consumers"]["/A"]["use"] == 20 * SECOND
    assert shared["consumers"]["/B"]["notified"] == 0
    assert shared["capacity"] == 4 * 29 * SECOND


def test_the_same_scene_gives_the_same_document() -> None:
    jobs = jobs_of((0, "/B", 4, 100), (30, "/A", 2, 10))
    one, other = (measured(Experiment(TWO, jobs, 0, end=60 * SECOND), 60 * SECOND) for _ in range(2))
    assert one == other
    assert one["log"] == "22d83719c483c5728dacdf55c086d43a23bd3f2c0f079d5334e2960e1d8e41e4"


@pytest.mark.parametrize(
    ("unit", "slot", "slots"),
    [
        ((), (), 1),
        ((("gpu", "4"),), (("gpu", "1"),), 4),
        ((("gpu", "0.5"), ("cpu", "9")), (("gpu", "1"), ("cpu", "4")), 3),
    ],
)
def test_how_many_slots_a_unit_takes(
    unit: tuple[tuple[str, str], ...], slot: tuple[tuple[str, str], ...], slots: int
) -> None:
    assert slots_of(unit, slot) == slots


def test_arithmetic_of_summaries() -> None:
    assert [quantile([1, 2, 3, 4], percent) for percent in (0, 25, 50, 51, 100)] == [1, 1, 2, 3, 4]
    assert jain([5, 5, 5]) == 1_000_000
    assert jain([5, 0, 0, 0]) == 250_000
    assert jain([]) == 1_000_000
    assert histogram([0, 1, 2, 3, 4, 5, 900]) == [[1, 2], [2, 1], [4, 2], [8, 1], [1024, 1]]


@pytest.mark.parametrize("policy", ["hybrid", "multidimensional", "fair_share"])
def test_what_must_hold_holds_in_every_cycle(policy: str) -> None:
    told = {
        "hybrid": {"owned": 2},
        "multidimensional": {"own": [{"resource_group": "compute", "total": {"gpu": 2}}]},
        "fair_share": {"deserved": {"gpu": 2}},
    }[policy]
    hosts = {"hosts": [{"name": "h[1-2]", "gpu": 2}]}
    document = {
        "fairhold": 1,
        **({} if policy == "hybrid" else {"resources": {"gpu": {}}}),
        "resource_groups": {"compute": {"slots": 4} if policy == "hybrid" else hosts},
        "consumers": {"A": {"reclaim_grace": "1s"}, "B": {"reclaim_grace": "2s"}},
        "policies": [{"resource_groups": ["compute"], "policy": policy, "consumers": {"/A": told, "/B": told}}],
    }
    plan = parse_plan(json.dumps(document), "plan")[0]
    jobs = replace(random_jobs(5, ["/A", "/B"], jobs=15, most=3), units=((("gpu", "1"),),))
    truths = Truths(plan)
    story = EventTrace()
    watches: list[Watch] = [truths, story]
    simulation = Simulation(Experiment(plan, jobs, 0), watches)
    watches.append(recomputed := Recomputed(plan, simulation.live.cluster))
    simulation.run()
    assert truths.count > recomputed.count > 10
    assert len(story.of(said.Noticed)) > 0
    assert sum(end.then == said.DONE for _, end in story.of(said.Ended)) == sum(jobs.tasks)


def test_a_cycle_that_the_independent_check_computes_otherwise_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    finding = Finding("R-QUOTA-1", "compute /A", 1, 2, "one too many")
    monkeypatch.setattr("fairhold.sim.verifying.verify", lambda *_: (finding,))
    watches: list[Watch] = [EventTrace()]
    simulation = Simulation(Experiment(TWO, jobs_of((0, "/A", 1, 1)), 0), watches)
    watches.append(Recomputed(TWO, simulation.live.cluster))
    with pytest.raises(BrokenRuleError, match="compute /A: one too many"):
        simulation.run()


def test_a_cycle_that_breaks_a_rule_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairhold.sim.checking.check", lambda _: ("units_are_conserved /A: one too many",))
    with pytest.raises(BrokenRuleError, match="one too many"):
        Simulation(Experiment(TWO, jobs_of((0, "/A", 1, 1)), 0), [Truths(TWO)]).run()
