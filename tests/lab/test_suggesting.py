"""The smallest change of a plan under which somebody waits no longer than asked."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from fairhold.cli.suggesting import suggest_plan
from fairhold.errors import InputError, UsageError
from fairhold.lab.candidates import candidates
from fairhold.lab.changing import KINDS, Candidate, Part, changed
from fairhold.lab.expecting import parse_expectation
from fairhold.lab.scenario import parse_scenario
from fairhold.lab.suggesting import Bench, Suggested, _different, suggest
from fairhold.planio.plan import parse_plan
from tests.lab.test_scenario import WORKLOAD

if TYPE_CHECKING:
    from pathlib import Path

Document = dict[str, Any]
TREE: Document = {"A": {"reclaim_grace": "20s"}, "B": {"reclaim_grace": "20s"}, "C": {"reclaim_grace": "10s"}}
SLOTS: Document = {
    "fairhold": 1,
    "resource_groups": {"compute": {"slots": 8}},
    "consumers": TREE,
    "policies": [
        {
            "resource_groups": ["compute"],
            "policy": "hybrid",
            "consumers": {"/A": {"owned": 1}, "/B": {"owned": 5}, "/C": {"owned": 1}},
        }
    ],
}
JOBS = "who,at,tasks,takes\nB,0,8,900\n" + "".join(f"A,{at},2,60\n" for at in range(30, 400, 40))
MANY = f"{JOBS}A,400,20,900\n"
"""Whatever is changed, some of the last ones wait."""
SCENARIO: Document = {"fairhold_scenario": 1, "plan": "plan.yaml", "workload": WORKLOAD}


def bench(folder: Path, wait: str, plan: Document = SLOTS, path: str = "/A", jobs: str = JOBS) -> Bench:
    (folder / "plan.yaml").write_text(json.dumps(plan))
    (folder / "jobs.csv").write_text(jobs)
    (folder / "scenario.yaml").write_text(json.dumps(SCENARIO))
    scenario = parse_scenario(json.dumps(SCENARIO), "scenario.yaml", folder)
    statistic, bound = wait.split(" ", 1)
    return Bench([scenario], plan, parse_expectation(f"wait.{statistic}({path}) {bound}"))


def found_in(one: Bench, path: str = "/A", **options: Any) -> Suggested:
    return suggest(one, candidates(parse_plan(json.dumps(one.document), "plan")[0], one.document, path), **options)


def brute(one: Bench, candidate: Candidate) -> int | None:
    """The smallest value that will do, all of them played."""
    values = range(1, candidate.most + 1)
    return next((value for value in values if one.will_do(one.play([(candidate, value)]))), None)


def test_the_smallest_value_of_every_change_is_found(tmp_path: Path) -> None:
    one = bench(tmp_path, "p95 < 60s")
    found = found_in(one)
    assert not found.is_kept
    assert not one.will_do(found.before)
    of = {each.changes[0][0].words: each for each in found.tried}
    assert {words: each.changes[0][1] if each.will_do else None for words, each in of.items()} == {
        words: brute(one, each.changes[0][0]) for words, each in of.items()
    }
    best = found.best
    assert best is not None
    assert best.size == min(each.size for each in found.tried if each.will_do)
    assert one.will_do(one.play(best.changes))
    candidate, value = best.changes[0]
    assert not one.will_do(one.play([(candidate, value - 1)] if value > 1 else ()))
    will_do = [each.will_do for each in found.tried]
    assert will_do == sorted(will_do, reverse=True)


def test_it_is_the_same_on_any_number_of_processes(tmp_path: Path) -> None:
    one = bench(tmp_path, "p95 < 60s")
    assert found_in(one) == found_in(bench(tmp_path, "p95 < 60s"), processes=2)


def test_what_is_so_already_is_not_changed(tmp_path: Path) -> None:
    found = found_in(bench(tmp_path, "p95 < 10d"))
    assert (found.is_kept, found.tried, found.played, found.best) == (True, [], 1, None)


def test_who_never_starts_has_waited_until_the_end(tmp_path: Path) -> None:
    one = bench(tmp_path, "max < 900s")
    assert one.play(()).worst < 900_000_000
    short = replace(
        one.scenarios[0], experiments={"plan": replace(one.scenarios[0].experiments["plan"], end=500_000_000)}
    )
    waits = Bench([short], SLOTS, parse_expectation("wait.max(/B) < 1s")).play(()).worst
    assert waits == 0
    narrow = SLOTS | {"resource_groups": {"compute": {"slots": 1}}}
    narrow["policies"] = [SLOTS["policies"][0] | {"consumers": {"/B": {"owned": 1}}}]
    assert Bench([short], narrow, one.asked).play(()).worst == 470_000_000


def test_where_nothing_will_do_it_is_told_what_came_nearest(tmp_path: Path) -> None:
    found = found_in(bench(tmp_path, "max < 1ms", jobs=MANY))
    assert found.best is None
    single, *_ = found.tried
    assert single.measured.worst == min(each.measured.worst for each in found.tried if each.measured.numbers)
    assert any(len(each.changes) == 2 for each in found.tried)  # pairs were tried, too


def test_two_changes_where_one_is_not_enough(tmp_path: Path) -> None:
    plan = json.loads(json.dumps(SLOTS))
    plan["policies"][0]["consumers"] = {
        "/A": {"owned": 1, "limit": 1},
        "/B": {"owned": 7},
        "/C": {},
    }
    plan["resource_groups"]["compute"]["slots"] = 8
    one = bench(tmp_path, "p95 < 60s", plan)
    best = found_in(one).best
    assert best is not None
    assert len(best.changes) == 2
    assert {each.kind for each, _ in best.changes} >= {"limit"}
    assert one.will_do(one.play(best.changes))


HOST = {"name": "g[1-3]", "gpu": 4, "cpu": 16}
OF_VECTORS: Document = {
    "resources": {"gpu": {}, "cpu": {}},
    "resource_groups": {"compute": {"hosts": [HOST]}},
    "consumers": {"A": {"rank": 2, "reclaim_grace": "5s", "consumers": {"a1": {}, "a2": {}}}, "B": TREE["B"]},
}
PLANS: dict[str, tuple[Document, set[str]]] = {
    "hybrid": (
        {"/A": {"owned": 4, "limit": 6}, "/A/a1": {"owned": 1, "limit": 5}, "/A/a2": {"owned": 2}, "/B": {"owned": 3}},
        {"owned", "reserved", "limit", "reclaim_grace", "rank", "hosts"},
    ),
    "ownership": (
        {
            "/A": {"owned": 4},
            "/A/a1": {"owned": 1, "borrow_from": [{"consumer": "/B", "limit": 1}]},
            "/A/a2": {"owned": 2},
            "/B": {"owned": 3, "lend_to": [{"consumer": "/A/a1"}]},
        },
        {"owned", "reserved", "loans", "reclaim_grace", "rank", "hosts"},
    ),
    "share_ratio": (
        {"/A": {"share_ratio": 2, "limit": 6}, "/B": {"share_ratio": 3}},
        {"share_ratio", "limit", "reclaim_grace", "rank", "hosts"},
    ),
    "multidimensional": (
        {
            "/A": {"own": [{"resource_group": "compute", "hosts": 1}], "share_limit": {"gpu": 6}},
            "/B": {"own": [{"resource_group": "compute", "hosts": 2}], "share_priority": 3},
        },
        {"own", "share_ratio", "share_priority", "share_limit", "reclaim_grace", "rank", "hosts"},
    ),
    "fair_share": (
        {
            "/A": {"deserved": {"gpu": 4}, "limit": {"gpu": 8}},
            "/A/a1": {"deserved": {"gpu": 2}},
            "/B": {"deserved": {"gpu": 4}, "priority": 200},
        },
        {"deserved", "limit", "over_quota_weight", "priority", "reclaim_grace", "rank", "hosts"},
    ),
}


@pytest.mark.parametrize("policy", PLANS)
def test_every_policy_has_its_changes_and_their_plans_hold(policy: str) -> None:
    consumers, kinds = PLANS[policy]
    document = SLOTS | {"resource_groups": {"compute": {"slots": 8}}} | {"consumers": OF_VECTORS["consumers"]}
    if policy in {"multidimensional", "fair_share"}:
        document |= OF_VECTORS
    document["policies"] = [{"resource_groups": ["compute"], "policy": policy, "consumers": consumers}]
    plan = parse_plan(json.dumps(document), "plan")[0]
    found = candidates(plan, document, "/A/a1")
    assert {each.kind for each in found} == kinds <= set(KINDS)
    assert len({each.words for each in found}) == len(found)
    for each in found:
        assert 0 < each.size(1) <= each.size(each.most)
        for value in {1, (each.most + 1) // 2, each.most}:
            other = parse_plan(changed(document, [(each, value)]), "plan")[0]  # the plan check holds
            assert other != plan
            assert changed(document, [(each, value)]) != json.dumps(document)
        assert all(row["old"] != row["new"] for row in each.settings(document, each.most))


def test_others_can_be_taken_from_before_they_have_run_as_long(tmp_path: Path) -> None:
    """B lends all that A owns, and its units run for ten minutes before they are taken back."""
    (entry,) = SLOTS["policies"]
    slow = entry | {"consumers": {"/A": {"owned": 3}, "/B": {"owned": 5, "min_runtime": "10m"}}}
    plan = SLOTS | {"consumers": {"A": {}, "B": {}}, "policies": [slow]}
    one = bench(tmp_path, "p95 < 200s", plan)
    (shorter,) = [each for each in found_in(one).tried if each.changes[0][0].kind == "min_runtime"]
    ((candidate, value),) = shorter.changes
    assert shorter.will_do
    assert candidate.words == "min_runtime of /B"
    assert candidate.most == 600
    assert 0 < value < 600
    (setting,) = candidate.settings(plan, value)
    assert setting == {"place": "policies[0].consumers./B.min_runtime", "old": "10m", "new": f"{600 - value}s"}


def test_parts_of_a_change() -> None:
    place = ("a", 1, "b")
    one = Candidate("owned", "x", 3, 30, (Part(place, 4, -1, 2), Part(("c",), said="h[1-{}]")))
    document: Document = {"a": [{}]}
    one.apply(document, 1)
    assert document == {"a": [{}, {"b": 1.5}], "c": "h[1-1]"}
    assert one.size(3) == 100
    assert one.settings({}, 2)[0] == {"place": "a[1].b", "old": None, "new": 1}


def asked(
    folder: Path, consumer: str = "/A", wait: str = "p95 < 60s", output: Path | None = None, jobs: str = JOBS
) -> int:
    bench(folder, "p95 < 60s", jobs=jobs)
    return suggest_plan(folder / "scenario.yaml", consumer, wait, "", output, draws=1, processes=1, as_json=False)


def test_the_command_writes_the_plan_that_will_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "better.yaml"
    assert asked(tmp_path, output=out) == 0
    said = capsys.readouterr().out
    assert said.startswith("wait.p95(/A) is ")
    assert "\nThe smallest:\n" in said
    better = bench(tmp_path, "p95 < 60s", yaml.safe_load(out.read_text()))
    assert found_in(better).is_kept
    assert asked(tmp_path, wait="max < 1ms", jobs=MANY) == 1
    assert "The nearest:" in capsys.readouterr().out
    assert asked(tmp_path, wait="max < 10d") == 0
    assert "already as asked" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("consumer", "wait", "code"),
    [
        ("/X", "p95 < 60s", "unknown-consumer"),
        ("/C", "p95 < 60s", "expectation"),
        ("/A", "p95", "expectation"),
        ("/A", "p95 > 1s", "expectation"),
        ("/A", "p42 < 1s", "expectation"),
        ("/A", "count < 1", "expectation"),
        ("/A", "p95 < soon", "expectation"),
    ],
)
def test_what_cannot_be_asked_is_told(tmp_path: Path, consumer: str, wait: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        asked(tmp_path, consumer, wait)
    assert [fault.code for fault in caught.value.faults] == [code]


def test_a_consumer_is_a_path(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a path"):
        asked(tmp_path, "A")


def test_a_change_that_sets_the_same_is_tried_once() -> None:
    one = Candidate("rank", "rank of /A", 3, 1, (Part(("consumers", "A", "rank"), 3, -1),))
    same, other = replace(one, words="rank of /A, again"), replace(one, most=2)
    assert _different([one, same, other]) == [(one,), (other,)]
