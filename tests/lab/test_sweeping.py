"""Sweeps: which plans are tried, and what is told of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from fairhold.errors import InputError
from fairhold.lab.expecting import parse_expectation
from fairhold.lab.scenario import parse_scenario
from fairhold.lab.sweeping import Tried, sweep
from fairhold.lab.varying import combinations, parse_variation, varied
from tests.cli.test_commands import fairhold
from tests.lab.test_scenario import JOBS, PLAN, text_of

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENT: dict[str, Any] = yaml.safe_load(PLAN)
WAIT = parse_expectation("wait.max(/A) >= 0s")


def tried(folder: Path, *vary: str, **options: Any) -> list[Tried]:
    (folder / "plan.yaml").write_text(PLAN)
    (folder / "jobs.csv").write_text(JOBS)
    scenario = parse_scenario(text_of(), "s.yaml", folder)
    played = sweep(scenario, DOCUMENT, [parse_variation(each) for each in vary], [WAIT], **options)
    assert played.is_whole
    return played.results


def test_every_combination_is_tried(tmp_path: Path) -> None:
    found = tried(tmp_path, "/A:owned=0..2", "/A:reclaim_grace=1s,5s")
    assert [(each.values, each.numbers) for each in found if not each.fault] == [
        ((0, "1s"), (70_000_000,)),
        ((0, "5s"), (70_000_000,)),
        ((1, "1s"), (2_000_000,)),
        ((1, "5s"), (2_000_000,)),
        ((2, "1s"), (2_000_000,)),
        ((2, "5s"), (2_000_000,)),
    ]


def test_a_plan_that_cannot_be_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    bad, good = tried(tmp_path, "/A:limit=1,4")
    assert "1" in bad.fault
    assert bad.numbers == ()
    assert good.fault == ""


def test_it_is_the_same_on_any_number_of_processes(tmp_path: Path) -> None:
    assert tried(tmp_path, "compute:slots=3..6") == tried(tmp_path, "compute:slots=3..6", processes=2)


def test_combinations_by_chance_are_those_of_the_seed() -> None:
    variations = [parse_variation("/A:owned=0..9"), parse_variation("settings:victims=youngest,oldest")]
    one, same, other = (list(combinations(variations, 5, seed)) for seed in (1, 1, 2))
    assert one == same != other
    assert len(one) == len(set(one)) <= 5
    assert all(0 <= owned <= 9 and victims in {"youngest", "oldest"} for owned, victims in one)


def test_where_values_go() -> None:
    texts = ("/A:owned=1", "/C:rank=3", "settings:victims=oldest", "compute:slots=9")
    variations = [parse_variation(each) for each in texts]
    plan = json.loads(varied(DOCUMENT, variations, (1, 3, "oldest", 9)))
    assert plan["resource_groups"]["compute"] == {"slots": 9}
    assert plan["policies"][0]["settings"] == {"victims": "oldest"}
    assert plan["policies"][0]["consumers"] == {"/A": {"owned": 1}, "/B": {"owned": 2}, "/C": {"rank": 3}}
    assert yaml.safe_load(PLAN) == DOCUMENT


@pytest.mark.parametrize(
    "text",
    ["", "owned=3", "/A:owned", "/A:owned=", "/A:owned=9..1", "/A:owned=1..9:0", "/A:owned=[1", "/A:owned=1..99999"],
)
def test_what_says_nothing_to_vary_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"variation|syntax"):
        parse_variation(text)


@pytest.mark.parametrize("text", ["gpu:slots=3", "compute:hosts=3"])
def test_a_place_that_is_not_there_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a setting"):
        varied(DOCUMENT, [parse_variation(text)], (3,))


def test_a_value_that_is_there_twice_counts_once() -> None:
    assert parse_variation("/A:owned=3,1..4,3").values == (3, 1, 2, 4)
    assert parse_variation("/A:capped=1,true,1").values == (1, True)


@pytest.mark.parametrize("count", [0, 3])
def test_a_place_that_is_varied_twice_is_refused(count: int) -> None:
    variations = [parse_variation(each) for each in ("/A:owned=1,2", "/B:owned=1", "/A:owned=3")]
    with pytest.raises(InputError, match="`/A:owned` is varied twice"):
        combinations(variations, count, 0)


def test_a_sweep_of_too_many_plans_is_refused() -> None:
    variations = [parse_variation("/A:owned=1..200"), parse_variation("/B:owned=1..200")]
    with pytest.raises(InputError, match="40,000 plans"):
        combinations(variations, 0, 0)


def test_the_command_prints_the_best_first_and_exits_1_where_none_will_do(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "jobs.csv").write_text(JOBS)
    scenario = tmp_path / "s.yaml"
    scenario.write_text(text_of(expect=["wait.max(/A) <= 10s"]))
    call = ("sweep", str(scenario), "--vary", "/A:owned=0..2", "--show", "wait.max(/A)")
    lines = [line.split() for line in fairhold(*call).stdout.splitlines()]
    assert lines[1:] == [["1", "2s", "yes"], ["2", "2s", "yes"], ["0", "1m10s", "no"]]
    scenario.write_text(text_of(expect=["wait.max(/A) <= 1s"]))
    assert len(json.loads(fairhold(*call, "--json", exits=1).stdout)) == 3


def test_what_is_varied_of_nobody_is_told_before_anything_is_played(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "s.yaml").write_text(text_of())
    errors = fairhold(
        "sweep", str(tmp_path / "s.yaml"), "--vary", "/C:owned=1,2", "--show", "notified(/A)", exits=1
    ).stderr
    assert "`/C:owned`: there is no consumer `/C` [variation]" in errors
    errors = fairhold(
        "sweep", str(tmp_path / "s.yaml"), "--vary", "/A:owned=1", "--show", "notified(/C)", exits=1
    ).stderr
    assert "there is no consumer `/C` [unknown-consumer]" in errors


def test_what_is_left_to_nobody_s_chance_is_told_before_it_is_compared(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "jobs.csv").write_text(JOBS)
    text = text_of(plans={"a": "plan.yaml", "b": "plan.yaml"}).replace("plan: plan.yaml\n", "")
    (tmp_path / "s.yaml").write_text(text)
    assert "every draw is the same" in fairhold("compare", str(tmp_path / "s.yaml"), exits=2).stderr
    named = tmp_path / "plan.yaml"
    other = f"{named.parent}/./{named.name}"
    assert "longest" in fairhold("simulate", str(tmp_path / "s.yaml"), "--plan", other).stdout
