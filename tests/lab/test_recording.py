"""What a log says is played again, and comes out as it was; what it does not say is told."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.errors import InputError
from fairhold.lab.recording import record
from fairhold.lab.records import read_record, write_record
from fairhold.lab.scenario import read_scenario
from fairhold.lab.simulating import simulate
from fairhold.orchestrator import changes as said
from fairhold.planio.plan import parse_plan
from fairhold.sim.event_trace import Began
from fairhold.sim.experiment import Experiment, Outage, Work
from tests.lab.logs import Written, lines_of, recorded, replayed
from tests.sim.scenes import SECOND, random_jobs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def story_of(seed: int) -> tuple[Experiment, str]:
    """A random experiment of slots or vectors, with hosts that fail, gangs, delays; and the text of its plan."""
    random = Random(seed)
    with_hosts = random.random() < 0.6
    hosts = [{"name": f"h{at}", "slots": random.randint(2, 6)} for at in range(4)]
    policy = random.choice(["hybrid", "share_ratio"])
    consumers: dict[str, Any] = {"/A": {"owned": 3}, "/B": {"owned": 3}, "/C": {}}
    if policy == "share_ratio":
        consumers = {path: {"share_ratio": random.randint(1, 3)} for path in consumers}
    document = {
        "fairhold": 1,
        "resource_groups": {"compute": {"hosts": hosts} if with_hosts else {"slots": random.randint(4, 20)}},
        "consumers": {path[1:]: {"reclaim_grace": f"{random.randint(0, 5)}s"} for path in consumers},
        "policies": [{"resource_groups": ["compute"], "policy": policy, "consumers": consumers}],
    }
    text = json.dumps(document)
    work = Work(
        random.choice([0, SECOND]),
        random.choice([0, SECOND]),
        random.choice([0, 300_000]),
        random.choice([0, SECOND]),
        yields=random.random() < 0.5,
    )
    outages = [
        Outage(f"h{at}", down := random.randint(10, 70) * SECOND, down + random.randint(1, 20) * SECOND, lead * SECOND)
        for at, lead in enumerate(random.choices([0, 5], k=random.randint(0, 3)))
        if with_hosts
    ]
    jobs = random_jobs(seed, list(consumers), gangs=random.random() < 0.5)
    outages.sort(key=lambda each: (each.down, each.host))
    return Experiment(parse_plan(text, "plan")[0], jobs, 0, None, work, tuple(outages)), text


@pytest.mark.parametrize("with_cycles", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_a_story_comes_out_as_it_was(seed: int, *, with_cycles: bool) -> None:
    experiment, text = story_of(seed)
    lines = lines_of(experiment)
    found = recorded(lines.all if with_cycles else lines.without_cycles(), text, 0)
    assert found.event_trace.has_cycles is with_cycles
    assert replayed(found, experiment) == lines.told()


def vectors_of(seed: int) -> tuple[Experiment, str]:
    """The same of units of several resources, by turns owned and deserved."""
    random = Random(seed)
    hosts = [{"name": f"h{at}", "cpu": random.randint(4, 8), "gpu": random.randint(1, 4)} for at in range(3)]
    own = [{"resource_group": "pool", "hosts": 1}]
    policy = "fair_share" if seed % 2 else "multidimensional"
    consumers: dict[str, Any] = {"/A": {"own": own, "share_ratio": 1}, "/B": {"own": own}, "/C": {"share_ratio": 1}}
    if seed % 2:
        consumers = {path: {"deserved": {"gpu": random.randint(0, 3), "cpu": 3}} for path in consumers}
    document = {
        "fairhold": 1,
        "resources": {"cpu": {}, "gpu": {}},
        "resource_groups": {"pool": {"hosts": hosts}},
        "consumers": {path[1:]: {"reclaim_grace": f"{random.randint(0, 5)}s"} for path in consumers},
        "policies": [{"resource_groups": ["pool"], "policy": policy, "consumers": consumers}],
    }
    text = json.dumps(document)
    units = ((("cpu", "1"),), (("cpu", "1"), ("gpu", "1")), (("gpu", "0.5"),))
    jobs = random_jobs(seed, list(consumers), jobs=20, most=4, gangs=random.random() < 0.5)
    jobs = replace(jobs, units=units, unit=[random.randrange(3) for _ in jobs.name])
    outages = (Outage("h2", 20 * SECOND, 30 * SECOND, random.choice([0, 5]) * SECOND),)
    return Experiment(parse_plan(text, "plan")[0], jobs, 0, None, Work(yields=random.random() < 0.5), outages), text


@pytest.mark.parametrize("seed", range(4))
def test_a_story_of_vectors_comes_out_as_it_was(seed: int) -> None:
    experiment, text = vectors_of(seed)
    lines = lines_of(experiment)
    assert replayed(recorded(lines.all, text, 0), experiment) == lines.told()


@pytest.mark.parametrize("since", [7_123_457, 15_123_457, 30_000_000])
@pytest.mark.parametrize("make", [story_of, vectors_of])
@pytest.mark.parametrize("seed", [0, 5, 6, 27])
def test_a_record_begins_anywhere(
    seed: int, make: Callable[[int], tuple[Experiment, str]], since: int, tmp_path: Path
) -> None:
    """Also where a unit is handed on before the first cycle, by the quotas of the last one before (R-HAND-1)."""
    experiment, text = make(seed)
    lines = lines_of(experiment)
    found = recorded(lines.all, text, 0, since)
    assert found.event_trace.state is not None
    assert (list(found.event_trace.quotas) == ["compute"]) is (make is story_of)
    write_record(tmp_path / "mine", found)
    assert read_record(tmp_path / "mine" / "story.jsonl").event_trace == found.event_trace
    assert replayed(found, experiment) == [line for line in lines.told() if json.loads(line)[0] >= since]


def test_a_folder_says_all_of_it(tmp_path: Path) -> None:
    experiment, text = story_of(3)
    lines = lines_of(experiment)
    found = recorded(lines.all, text, 0)
    write_record(tmp_path / "it", found)
    assert read_record(tmp_path / "it" / "story.jsonl").event_trace == found.event_trace
    summary = simulate(read_scenario(tmp_path / "it" / "scenario.yaml"), "plan")
    assert summary["as_recorded"] == {"lines": len(lines.told()), "is_same": True}
    with pytest.raises(InputError, match="record-exists"):
        write_record(tmp_path / "it", found)


def test_a_record_that_was_changed_says_where_it_differs(tmp_path: Path) -> None:
    experiment, text = story_of(3)
    lines = lines_of(experiment)
    write_record(tmp_path / "it", recorded(lines.all, text, 0))
    story = tmp_path / "it" / "story.jsonl"
    rows = story.read_text().splitlines(keepends=True)
    at = next(at for at, row in enumerate(rows) if '"JobSubmitted"' in row and '"priority"' not in row)
    rows[at] = rows[at].replace('"job"', '"priority":9,"job"')
    story.write_text("".join(rows))
    twin = simulate(read_scenario(tmp_path / "it" / "scenario.yaml"), "plan")["as_recorded"]
    assert not twin["is_same"]
    assert json.loads(twin["recorded"])[1] == json.loads(twin["played"])[1] == "JobAdded"


@pytest.mark.parametrize("seed", range(4))
def test_the_same_plan_by_another_name_is_nearly_the_same(seed: int, tmp_path: Path) -> None:
    """Played by lengths, not by instants: with cycles at once and nobody stopped, waits are the same."""
    experiment, text = story_of(seed)
    lines = lines_of(experiment)
    write_record(tmp_path / "it", recorded(lines.all, text, 0))
    (tmp_path / "other.yaml").write_text(f"# the same\n{text}")
    scenario = read_scenario(tmp_path / "it" / "scenario.yaml", other=tmp_path / "other.yaml")
    first, other = (simulate(scenario, name) for name in scenario.experiments)
    assert "as_recorded" in first
    assert other["otherwise"]["passed_over"] == 0
    one, two = (each["shared"][0]["consumers"]["/"] for each in (first, other))
    assert one["submitted"] == two["submitted"]
    assert abs(one["use"] - two["use"]) <= one["use"] // 5


def test_without_plan_and_log_there_is_nothing_to_record() -> None:
    experiment, text = story_of(1)
    lines = lines_of(experiment)
    for begin, end, code in ((10**15, 2 * 10**15, "record-empty"), (5, 4, "out-of-range")):
        with pytest.raises(InputError, match=code):
            record(Written(lines.all, text, 0), begin, end)
    gone = Written(lines.all, text, 0)
    del gone.all[:5]
    with pytest.raises(InputError, match="record-gone"):
        record(gone)
    broken = Written(lines.all, text, 0)
    broken.all[7] = broken.all[7]._replace(body='["Started",1')
    with pytest.raises(InputError, match="entry 8 of the log cannot be read"):
        record(broken)
    strange = Written(lines.all, text, 0)
    place = next(at for at, each in enumerate(lines.all) if isinstance(each[1], said.Started))
    del strange.all[place + 1]
    with pytest.raises(InputError, match="does not fit"):
        record(strange)


def test_attempts_are_told_with_their_tasks() -> None:
    experiment, text = story_of(1)
    lines = lines_of(experiment)
    began = [line.what for line in recorded(lines.all, text, 0).event_trace.lines if isinstance(line.what, Began)]
    started = [change for _, change in lines.all if isinstance(change, said.Started)]
    assert [(each.attempt, each.job, each.task) for each in began] == [
        (each.attempt, each.job, each.task) for each in started
    ]


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("[5]", "cannot be read"),
        ('[9999999999999,"Flood",{}]', "there is no entry kind"),
        ('[9999999999999,"JobCancelled",{}]', "cannot be read"),
        ('[-5,"JobCancelled",{"job":"j1"}]', "earlier than the one above"),
    ],
)
def test_a_broken_story_is_told_with_its_line(row: str, what: str, tmp_path: Path) -> None:
    experiment, text = story_of(1)
    write_record(tmp_path / "it", recorded(lines_of(experiment).all, text, 0))
    story = tmp_path / "it" / "story.jsonl"
    story.write_text(story.read_text() + row + "\n")
    with pytest.raises(InputError, match="record-damaged") as error:
        read_scenario(tmp_path / "it" / "scenario.yaml")
    assert what in str(error.value)


@pytest.mark.parametrize("kept", [1, 2, -1])
def test_a_story_that_was_cut_at_the_end_of_a_line_is_told(kept: int, tmp_path: Path) -> None:
    experiment, text = story_of(1)
    write_record(tmp_path / "it", recorded(lines_of(experiment).all, text, 0))
    story = tmp_path / "it" / "story.jsonl"
    rows = story.read_text().splitlines(keepends=True)
    story.write_text("".join(rows[:kept]))
    with pytest.raises(InputError, match="record-damaged") as error:
        read_scenario(tmp_path / "it" / "scenario.yaml")
    assert f"says that {len(rows) - 1} lines follow, and there are {len(rows[:kept]) - 1}" in str(error.value)


@pytest.mark.parametrize(
    ("head", "code"), [('{"fairhold_record":9}', "record-version"), ("", "record-damaged"), ("{", "record-damaged")]
)
def test_the_first_line_is_looked_at(head: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "story.jsonl").write_text(head)
    with pytest.raises(InputError, match=code):
        read_record(tmp_path / "story.jsonl")


def test_a_record_has_no_keys_of_what_it_says_itself(tmp_path: Path) -> None:
    experiment, text = story_of(1)
    write_record(tmp_path / "it", recorded(lines_of(experiment).all, text, 0))
    scenario = tmp_path / "it" / "scenario.yaml"
    scenario.write_text(scenario.read_text() + "work: {stop_delay: 3s}\n")
    with pytest.raises(InputError, match="duplicate-key"):
        read_scenario(scenario)
