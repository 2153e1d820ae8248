"""Scenario files: what is read, and every fault with its place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from fairhold.errors import InputError
from fairhold.lab.expecting import parse_expectation
from fairhold.lab.runs import Way, play_at_once, play_plan
from fairhold.lab.scenario import Asked, parse_scenario
from fairhold.lab.simulating import simulate
from fairhold.sim.experiment import Resizing, Work
from fairhold.units import UNLIMITED

SECOND = 1_000_000
PLAN = """
fairhold: 1
resource_groups: {compute: {slots: 4}}
consumers: {A: {reclaim_grace: 2s}, B: {reclaim_grace: 2s}}
policies: [{resource_groups: [compute], policy: hybrid, consumers: {/A: {owned: 2}, /B: {owned: 2}}}]
"""
HOSTS = PLAN.replace("{slots: 4}", '{hosts: [{name: "h[1-2]", slots: 2}]}')
JOBS = "who,at,tasks,takes\nB,0,4,100\nA,30,2,10\n"
WORKLOAD = {
    "kind": "csv",
    "file": "jobs.csv",
    "columns": {
        "submit": "at",
        "duration": {"column": "takes", "unit": "s"},
        "tasks": "tasks",
    },
    "consumers": [{"to": "/{who}"}],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "hosts.yaml").write_text(HOSTS)
    (tmp_path / "jobs.csv").write_text(JOBS)
    return tmp_path


def text_of(**more: Any) -> str:
    return yaml.safe_dump({"fairhold_scenario": 1, "plan": "plan.yaml", "workload": WORKLOAD} | more, sort_keys=False)


def faults(folder: Path, **more: Any) -> list[tuple[str, str]]:
    with pytest.raises(InputError) as error:
        parse_scenario(text_of(**more), "s.yaml", folder)
    return [(fault.code, ".".join(map(str, fault.place))) for fault in error.value.faults]


def test_a_scenario_is_played(folder: Path) -> None:
    scenario = parse_scenario(text_of(expect=["longest(/A) <= 2s"]), "s.yaml", folder)
    document = simulate(scenario, "plan")
    (shared,) = document["shared"]
    assert shared["consumers"]["/A"]["longest"] == 2 * SECOND
    assert shared["consumers"]["/B"]["stopped"] == 2
    assert scenario.expect[0].holds(shared)


def test_everything_that_a_scenario_can_say(folder: Path) -> None:
    stated = {
        "start": "1970-01-01T00:00:10Z",
        "end": "1h",
        "warm_up": "5s",
        "slot": {"gpu": 1, "cpu": 0.5},
        "work": {"start_delay": "1s", "restart": "2s", "stop_delay": "3s", "checkpoint": "1m", "yields": True},
        "cycle": {"min_gap": "1s", "max_interval": "30s"},
        "slots": [{"at": "10s", "resource_group": "compute", "slots": 2}],
    }
    scenario = parse_scenario(text_of(**stated), "s.yaml", folder)
    experiment = scenario.experiments["plan"]
    assert (experiment.start, experiment.end, scenario.begin) == (10 * SECOND, 3610 * SECOND, 15 * SECOND)
    assert experiment.slot == (("gpu", "1"), ("cpu", "0.5"))
    assert experiment.work == Work(SECOND, 2 * SECOND, 3 * SECOND, 60 * SECOND, yields=True)
    assert (experiment.min_gap, experiment.max_interval) == (SECOND, 30 * SECOND)
    assert experiment.resizings == (Resizing(20 * SECOND, "compute", 2),)


def test_outages_are_stated_or_drawn(folder: Path) -> None:
    stated = {"hosts": "h1", "down": "10s", "up": "20s", "lead": "5s"}
    chance = {"hosts": "h[1-2]", "every": "1h", "lasts": "5m", "seed": 3}
    scenario = parse_scenario(text_of(plan="hosts.yaml", outages=[stated], end="10h"), "s.yaml", folder)
    (outage,) = scenario.experiments["plan"].outages
    assert (outage.host, outage.down, outage.up, outage.lead) == ("h1", 10 * SECOND, 20 * SECOND, 5 * SECOND)
    drawn = [
        parse_scenario(text_of(plan="hosts.yaml", outages=[chance], end="100h"), "s.yaml", folder)
        .experiments["plan"]
        .outages
        for _ in range(2)
    ]
    assert drawn[0] == drawn[1]
    assert 120 < len(drawn[0]) < 260
    gone = sum(each.up - each.down for each in drawn[0]) / len(drawn[0])
    assert 200 * SECOND < gone < 400 * SECOND
    assert all(each.up < UNLIMITED for each in drawn[0])


def test_plans_give_the_same_on_any_number_of_processes(folder: Path) -> None:
    text = text_of(plans={"one": "plan.yaml", "two": "hosts.yaml"}).replace("plan: plan.yaml\n", "")
    scenario = parse_scenario(text, "s.yaml", folder)
    alone = [(name, play_plan(scenario, Way(), name)) for name in ("one", "two")]
    assert list(play_at_once(scenario, Way(), ["one", "two"], 2)) == alone


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"plan": 3}, [("not-a-string", "plan")]),
        ({"plans": {}}, [("duplicate-key", "plan"), ("missing-key", "plans")]),
        ({"wrokload": 1}, [("unknown-key", "wrokload")]),
        ({"work": {"start_delay": 5}}, [("duration", "work.start_delay")]),
        ({"work": {"delay": "5s"}}, [("unknown-key", "work.delay")]),
        ({"slot": {"gpu": 0}}, [("amount", "slot.gpu")]),
        ({"slot": {"gpu": "many"}}, [("amount", "slot.gpu")]),
        ({"end": "0s"}, [("out-of-range", "end")]),
        (
            {"end": "soon", "start": 3, "slot": {"gpu": 0}},
            [("duration", "end"), ("instant", "start"), ("amount", "slot.gpu")],
        ),
        ({"warm_up": "2h", "end": "1h"}, [("out-of-range", "end")]),
        ({"slots": [{"resource_group": "gpu", "slots": 2}]}, [("unknown-resource-group", "slots.0.resource_group")]),
        ({"slots": [{"slots": 2}]}, [("missing-key", "slots.0")]),
        ({"slots": [{"resource_group": "compute", "slots": -2}]}, [("negative", "slots.0.slots")]),
        ({"outages": [{"hosts": "h1", "down": "1s"}]}, [("unknown-host", "outages.0.hosts")]),
        ({"expect": ["wait < 3"]}, [("expectation", "expect.0")]),
        ({"expect": [3]}, [("not-a-string", "expect.0"), ("expectation", "expect.0")]),
    ],
)
def test_faults_of_scenarios(folder: Path, more: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert faults(folder, **more) == expected


@pytest.mark.parametrize(
    ("outage", "code"),
    [
        ({"hosts": "h1", "down": "10s", "up": "10s"}, "out-of-range"),
        ({"hosts": ["h[1-"], "down": "10s"}, "name"),
        ({"hosts": "h1", "every": "0s", "lasts": "1s"}, "out-of-range"),
        ({"hosts": "h1", "every": "1s", "down": "1s", "lasts": "1s"}, "unknown-key"),
        ({"hosts": "h[1-2]", "every": "1ms", "lasts": "1ms"}, "out-of-range"),
    ],
)
def test_faults_of_outages(folder: Path, outage: dict[str, Any], code: str) -> None:
    found = faults(folder, plan="hosts.yaml", outages=[outage], end="10h")
    assert found[0][0] == code


def test_outages_of_a_host_do_not_overlap(folder: Path) -> None:
    two = [{"hosts": "h1", "down": "1s", "up": "9s"}, {"hosts": "h1", "down": "10s", "up": "20s", "lead": "2s"}]
    assert faults(folder, plan="hosts.yaml", outages=two) == [("outages-overlap", "outages.1")]
    whenever = [{"hosts": "h1", "down": "1s", "up": "9s"}, {"hosts": "h1", "down": "1970-01-01T00:00:05Z"}]
    assert faults(folder, plan="hosts.yaml", outages=whenever) == [("outages-overlap", "outages.1")]


def test_all_that_needs_no_job_is_told_at_once_and_before_any_is_read(folder: Path) -> None:
    """With its lines, and what is wrong with the plans, too: of the trace, that it is not there."""
    (folder / "jobs.csv").unlink()
    (folder / "broken.yaml").write_text(HOSTS.replace("/B", "/C"))
    stated = {
        "warm_up": "2h",
        "end": "1h",
        "outages": [{"hosts": "h1", "down": "2h", "up": "1h"}, {"hosts": "h9", "every": "0s", "lasts": "1s"}],
        "slots": [{"resource_group": "gpu", "slots": 2}],
        "expect": ["wait.p95(/X) < 60s"],
        "workload": WORKLOAD | {"form": "csv"},
    }
    with pytest.raises(InputError) as error:
        parse_scenario(text_of(plan="hosts.yaml", **stated), "s.yaml", folder)
    found = [(fault.code, fault.file, fault.line > 0) for fault in error.value.faults]
    codes = [
        "cannot-read",
        "unknown-key",
        "out-of-range",
        "out-of-range",
        "unknown-host",
        "out-of-range",
        "unknown-resource-group",
    ]
    assert found == [(code, "s.yaml", True) for code in [*codes, "unknown-consumer"]]
    with pytest.raises(InputError) as error:
        parse_scenario(text_of(plan="broken.yaml", **stated), "s.yaml", folder)
    assert {Path(fault.file).name for fault in error.value.faults} == {"s.yaml", "broken.yaml"}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"end": "1970-01-01T00:00:20Z", "warm_up": "20s"}, [("out-of-range", "end")]),
        (
            {"plan": "hosts.yaml", "outages": [{"hosts": "h1", "down": "1970-01-01T00:00:02Z", "up": "1s"}]},
            [("out-of-range", "outages.0.up")],
        ),
    ],
)
def test_what_only_the_first_submit_lets_tell_is_told_too(
    folder: Path, more: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert faults(folder, **more) == expected


def test_before_a_trace_is_read_it_is_told_that_it_is_not_there(folder: Path) -> None:
    with pytest.raises(InputError) as error:
        parse_scenario(text_of(workload=WORKLOAD | {"file": "job.csv"}, end="0s"), "s.yaml", folder)
    assert [(fault.code, fault.place) for fault in error.value.faults] == [
        ("cannot-read", ("workload", "file")),
        ("out-of-range", ("end",)),
    ]
    assert str(folder / "job.csv") in error.value.faults[0].what
    assert error.value.faults[0].mend == "did you mean `jobs.csv`?"


def test_what_is_wrong_with_tenants_is_told_with_the_rest(folder: Path) -> None:
    (folder / "tenants.yaml").write_text("fairhold_tenants: 1\nbegin: never\ntenants: {/A: {}}\n")
    with pytest.raises(InputError) as error:
        parse_scenario(text_of(workload={"kind": "tenants", "file": "tenants.yaml"}, end="0s"), "s.yaml", folder)
    assert {Path(fault.file).name for fault in error.value.faults} == {"s.yaml", "tenants.yaml"}


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"start": "2026-02-01T00:00:00Z"}, "start"),
        ({"end": "2026-01-01T00:00:00Z"}, "end"),
        ({"end": "2026-01-01T00:09:00Z", "warm_up": "10m"}, "end"),
        ({"start": "2025-12-31T00:00:00Z", "end": "1d"}, "end"),
    ],
)
def test_a_time_in_which_no_job_comes_is_told_before_the_trace_is_read(
    folder: Path, more: dict[str, Any], place: str
) -> None:
    (folder / "jobs.csv").write_text("nothing of it is read")
    between = {"from": "2026-01-01T00:00:00Z", "until": "2026-02-01T00:00:00Z"}
    assert faults(folder, workload=WORKLOAD | between, **more) == [("out-of-range", place)]


def test_an_instant_that_is_none_is_one_fault(folder: Path) -> None:
    between = {"from": "2026-01-01T00:00:00Z", "until": "soon"}
    assert faults(folder, workload=WORKLOAD | between) == [("instant", "workload.until")]


def test_what_is_asked_of_consumers_that_are_not_there_is_told_before_the_jobs_are_read(folder: Path) -> None:
    (folder / "jobs.csv").write_text("nothing of it is read")
    (folder / "other.yaml").write_text(PLAN.replace("B", "C"))
    text = text_of(plans={"plan": "plan.yaml", "other": "other.yaml"}, expect=["notified(/B) < 1"])
    text = text.replace("plan: plan.yaml\n", "", 1)
    with pytest.raises(InputError) as error:
        parse_scenario(text, "s.yaml", folder, asked=Asked("", (parse_expectation("notified(/D) < 1"),)))
    assert [(fault.file, fault.what) for fault in error.value.faults] == [
        ("s.yaml", "`notified(/B) < 1`: there is no consumer `/B` in `other`"),
        ("", "`notified(/D) < 1`: there is no consumer `/D`"),
    ]
    with pytest.raises(InputError) as error:
        parse_scenario(text, "s.yaml", folder, asked=Asked("plan", (parse_expectation("notified(/C) < 1"),)))
    assert [fault.what for fault in error.value.faults] == ["`notified(/C) < 1`: there is no consumer `/C`"]


@pytest.mark.parametrize("text", ["", "[]", "fairhold_scenario: 2\n", "a: {b", "\x00"])
def test_what_is_no_scenario_is_refused(folder: Path, text: str) -> None:
    with pytest.raises(InputError):
        parse_scenario(text, "s.yaml", folder)


def test_a_broken_plan_is_told_with_its_place(folder: Path) -> None:
    (folder / "plan.yaml").write_text(PLAN.replace("/B", "/C"))
    with pytest.raises(InputError, match=r"plan\.yaml:"):
        parse_scenario(text_of(), "s.yaml", folder)


def test_the_reference_explains_every_code() -> None:
    root = Path(__file__).parents[2]
    sources = "".join(path.read_text() for path in (root / "src/fairhold/lab").glob("*.py"))
    codes = {*re.findall(r'(?:fault|Fault)\(\s*"([a-z-]+)"', sources), "expectation"}
    pages = "".join((root / f"docs/reference/{name}.md").read_text() for name in ("errors", "scenario", "record"))
    assert [code for code in sorted(codes) if f"`{code}`" not in pages] == []


@pytest.mark.parametrize(
    ("jobs", "more", "place"),
    [
        ("", {}, "workload"),
        ("A,1970-01-01T00:00:10Z,1,5\n", {"start": "1970-01-01T00:00:11Z"}, "start"),
        ("A,1970-01-01T01:00:00Z,1,5\n", {"start": "1970-01-01T00:00:00Z", "end": "1h"}, "end"),
        ("A,10,1,5\n", {"warm_up": "1h"}, "warm_up"),
    ],
)
def test_a_scenario_in_which_nothing_is_played_or_measured_passes_no_gate(
    folder: Path, jobs: str, more: dict[str, Any], place: str
) -> None:
    (folder / "jobs.csv").write_text(f"who,at,tasks,takes\n{jobs}")
    assert faults(folder, **more) == [("out-of-range", place)]


@pytest.mark.parametrize(
    "more", [{"begin": "2999-01-01T00:00:00Z"}, {"scale": {"time": 1_000_000}}, {"scale": {"load": 1_000_000}}]
)
def test_a_workload_beyond_all_sense_is_refused_before_it_is_made(folder: Path, more: dict[str, Any]) -> None:
    (folder / "jobs.csv").write_text("who,at,tasks,takes\n" + "A,0,1,5\nB,9000000,1,1\n" * 20)
    assert [code for code, _ in faults(folder, workload=WORKLOAD | more)] == ["out-of-range"]
