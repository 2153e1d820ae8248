"""What `make bench` says of a figure."""

from __future__ import annotations

from bench.__main__ import is_missed, line
from bench.beside_kueue import plan_of_queues, pods_of_queues
from bench.clusters import full_plan_text
from fairhold.planio.plan import parse_plan


def test_a_goal_that_is_missed_is_marked() -> None:
    assert "goal 5 MISSED" in line("a cycle", {"ms": 5.1, "goal_ms": 5})
    assert line("a cycle", {"ms": 5.0, "goal_ms": 5}).split()[2:] == ["5.00", "ms", "goal", "5"]
    assert not is_missed({"ms": 1e9})


def test_what_has_no_goal_shows_that_of_its_compiled_twin() -> None:
    row = {"ms": 9.0, "goal_compiled_ms": 5.0}
    assert "(no goal; 5 where compiled)" in line("a cycle", row)
    assert not is_missed(row)


def test_the_full_plan_is_good_and_states_everything() -> None:
    plan, warnings = parse_plan(full_plan_text(2_000), "plan")
    assert [warning.code for warning in warnings] == []
    settings = plan.policies[0].consumers[plan.tree.rows["/d1/t999"]]
    assert None not in (settings.rank, settings.grace)
    assert settings.owned > settings.reserved > 0


def test_queues_of_a_run_of_kueue_are_consumers_and_its_work_pods_in_the_order_in_which_it_comes() -> None:
    small = {"className": "small", "runtimeMs": 200, "priority": 50, "request": "1"}
    large = small | {"className": "large", "request": "4", "runtimeMs": 1000}
    works = [{"count": 2, "creationIntervalMs": 100, "workloads": [small]}]
    works.append({"count": 1, "creationIntervalMs": 150, "workloads": [large]})
    queues = {"className": "cq", "count": 2, "nominalQuota": "20", "borrowingLimit": "100", "workloadsSets": works}
    shape = {"cohorts": [{"className": "cohort", "count": 2, "queuesSets": [queues]}]}
    plan = parse_plan(plan_of_queues(shape).format(pool="a"), "plan")[0]
    assert plan.tree.paths[1:4] == ("/cohort-0", "/cohort-0/cq-0-0", "/cohort-0/cq-0-1")
    terms = [plan.policies[0].consumers[plan.tree.rows[path]] for path in ("/cohort-1", "/cohort-1/cq-1-0")]
    amounts = [(queue.deserved[0][1], queue.limit[0][1]) for queue in (each.queue for each in terms)]
    assert amounts == [(40, 40), (20, 120)]
    pods = pods_of_queues(shape)
    assert [pod["gpus"] for pod in pods] == [1] * 4 + [4] * 4 + [1] * 4
    assert pods[4] == {
        "gpus": 4,
        "runs_for": 1.0,
        "labels": {"queue": "cq-0-0"},
        "spec": {"priorityClassName": "large"},
    }
