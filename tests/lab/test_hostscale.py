"""`scale: {hosts: …}`: plans with so many times as many hosts, exactly, under names that stay."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from fairhold.errors import InputError
from fairhold.lab.cluster_at import standing_at
from fairhold.lab.scenario import parse_scenario, plan_document
from fairhold.lab.simulating import simulate
from tests.cli.test_commands import fairhold
from tests.lab.test_scenario import JOBS, PLAN, text_of

if TYPE_CHECKING:
    from pathlib import Path

MIXED = PLAN.replace(
    "{compute: {slots: 4}}",
    '{compute: {hosts: [{name: "h[1-4]", slots: 2}, {name: big, slots: 8, labels: {kind: big}},'
    ' {name: "h[5-6]", slots: 2}, {name: huge, slots: 8, labels: {kind: big}}]}, rest: {slots: 6}}',
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("plan.yaml", PLAN), ("mixed.yaml", MIXED), ("jobs.csv", JOBS)):
        (tmp_path / name).write_text(text)
    return tmp_path


def hosts(folder: Path, factor: Any, plan: str = "mixed.yaml") -> tuple[list[str], int]:
    scenario = parse_scenario(text_of(plan=plan, scale={"hosts": factor}), "s.yaml", folder)
    groups = scenario.experiments["plan"].plan.resource_groups
    rest = groups["rest"].slots if "rest" in groups else 0
    return [host.name for host in groups["compute"].hosts], rest


def test_every_kind_of_host_is_scaled_by_itself(folder: Path) -> None:
    there = ["h1", "h2", "h3", "h4", "big", "h5", "h6", "huge"]
    assert hosts(folder, 1) == (there, 6)
    assert hosts(folder, 2) == ([*there, *(f"{name}~2" for name in there)], 12)
    assert hosts(folder, 1.5) == ([*there, "h1~2", "h2~2", "h3~2", "big~2"], 9)
    assert hosts(folder, "1/2") == (["h1", "h2", "h3", "big"], 3)
    assert hosts(folder, {"compute": 1.5}) == ([*there, "h1~2", "h2~2", "h3~2", "big~2"], 6)


def test_what_a_host_has_its_copies_have(folder: Path) -> None:
    scenario = parse_scenario(text_of(plan="mixed.yaml", scale={"hosts": 2}), "s.yaml", folder)
    group = scenario.experiments["plan"].plan.resource_groups["compute"]
    assert group.slots == 56
    assert group.hosts[-1].labels == (("kind", "big"),)


def test_more_slots_let_waiting_tasks_start(folder: Path) -> None:
    def wait(**more: Any) -> int:
        document = simulate(parse_scenario(text_of(**more), "s.yaml", folder), "plan")
        return int(document["shared"][0]["consumers"]["/A"]["wait"]["max"])

    assert wait() == 2_000_000
    assert wait(scale={"hosts": 1.5}) == 0


@pytest.mark.parametrize(
    ("scale", "code", "place", "words"),
    [
        ({"hosts": 1.25}, "host-scale", "scale.hosts", "write a multiple of `1/2`"),
        ({"hosts": {"rest": 1.25}}, "host-scale", "scale.hosts.rest", "write a multiple of `1/6`"),
        ({"hosts": 200_000}, "host-scale", "scale.hosts", "choose a smaller factor"),
        ({"hosts": 0}, "out-of-range", "scale.hosts", "above 0"),
        ({"hosts": "many"}, "not-a-number", "scale.hosts", "1.5"),
        ({"hosts": {"gpu": 2}}, "unknown-resource-group", "scale.hosts.gpu", "name one that is"),
        ({"load": 2}, "unknown-key", "scale.load", "workload"),
        ({"host": 2}, "unknown-key", "scale.host", "hosts"),
    ],
)
def test_faults_are_told_with_their_place_and_a_mend(
    folder: Path, scale: dict[str, Any], code: str, place: str, words: str
) -> None:
    (folder / "jobs.csv").write_text("nothing of it is read")
    with pytest.raises(InputError) as error:
        parse_scenario(text_of(plan="mixed.yaml", scale=scale), "s.yaml", folder)
    (fault,) = error.value.faults
    assert (fault.code, ".".join(map(str, fault.place))) == (code, place)
    assert words in fault.mend
    assert fault.line > 0


def test_a_plan_that_is_none_with_so_many_hosts_is_refused(folder: Path) -> None:
    two = "{hosts: [{name: h, slots: 2}, {name: h~2, slots: 2}]}"
    (folder / "taken.yaml").write_text(PLAN.replace("{slots: 4}", two))
    with pytest.raises(InputError) as error:
        parse_scenario(text_of(plan="taken.yaml", scale={"hosts": 2}), "s.yaml", folder)
    (fault,) = error.value.faults
    assert (fault.code, fault.place) == ("host-scale", ("scale", "hosts"))
    assert fault.what.endswith("has a fault: there are two hosts `h~2`")


def test_sweeps_and_suggestions_change_the_scaled_plan(folder: Path) -> None:
    (folder / "s.yaml").write_text(text_of(scale={"hosts": 2}))
    assert plan_document(folder / "s.yaml", "plan")["resource_groups"] == {"compute": {"slots": 8}}
    swept = fairhold("sweep", str(folder / "s.yaml"), "--vary", "/A:owned=2", "--show", "wait.max(/A)", "--json")
    assert json.loads(swept.stdout)[0]["numbers"] == {"wait.max(/A)": 0}


def test_where_it_means_nothing_it_is_refused(folder: Path) -> None:
    text = text_of(scale={"hosts": 2})
    (folder / "s.yaml").write_text(text)
    plan = parse_scenario(text_of(), "s.yaml", folder).experiments["plan"].plan
    with pytest.raises(InputError, match="compared plans are used as they are"):
        standing_at(folder / "s.yaml", plan, "10s")
    record = yaml.safe_dump(
        {"fairhold_scenario": 1, "plan": "plan.yaml", "record": "story.jsonl", "scale": {"hosts": 2}}
    )
    with pytest.raises(InputError, match="a record has its own `scale`"):
        parse_scenario(record, "s.yaml", folder)
