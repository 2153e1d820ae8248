"""What another plan does to queues: who gains and loses, what is taken, now and at the coming windows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fairhold.cli.differing import Look, print_diff
from fairhold.errors import InputError

FOLDER = Path(__file__).parents[2] / "examples/queues"
PLAN, STATE = FOLDER / "plan.yaml", FOLDER / "state.yaml"
POOLS = """\
  - resource_groups: [train]
    policy: multidimensional
    consumers: {/Research: {own: [{resource_group: train, hosts: 1}]}}
"""
SLOTS = """\
fairhold: 1
resource_groups: {train: {hosts: [{name: "g[1-2]", slots: 8}]}}
consumers: {Research: {consumers: {Vision: {}, Speech: {}}}, Product: {}}
policies: [{resource_groups: [train], policy: hybrid}]
"""


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def changed(path: Path, **words: str) -> Path:
    """The plan of the examples with some text in place of other."""
    text = PLAN.read_text()
    for old, new in words.items():
        old_text = old.replace("__", ": ")
        assert old_text in text
        text = text.replace(old_text, new)
    return written(path, text)


def told(capsys: pytest.CaptureFixture[str], old: Path, new: Path, state: Path = STATE, **more: Any) -> Any:
    print_diff(old, new, state, Look("1d"), as_json=True, **more)
    return json.loads(capsys.readouterr().out)


def test_a_queue_that_deserves_more_gains_and_others_lose(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = changed(tmp_path / "new.yaml", priority__50="priority: 150, limit: {gpu: 9}")
    document = told(capsys, PLAN, new)
    group = document["resource_groups"]["train"]
    assert group["amounts"] == [{"gpu": 16}, {"gpu": 16}]
    assert group["consumers"]["/Product"] == {
        "fair_share": {"gpu": [4, 8]},
        "deserved": {"gpu": [4, 4]},
        "limit": {"gpu": [None, 9]},
        "allocated": {"gpu": [6, 6]},
    }
    assert {path: each["fair_share"]["gpu"] for path, each in group["consumers"].items()} == {
        "/Research": [12, 8],
        "/Research/Vision": [7, 4],
        "/Research/Speech": [5, 4],
        "/Product": [4, 8],
    }
    assert [(row["request"], row["units"]) for row in document["reclaims"]["added"]] == [("images", 4)]
    assert [(row["request"], row["units"]) for row in document["reclaims"]["removed"]] == [("serving", 2)]
    assert "pools" not in document
    assert "ownership" not in document


def test_the_same_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = changed(tmp_path / "new.yaml", priority__50="priority: 150, limit: {gpu: 9}")
    print_diff(PLAN, new, STATE, Look("1d"), as_json=False)
    text = capsys.readouterr().out
    assert "/Product          gpu       +4              4 -> 8      4         none -> 9          6\n" in text
    assert "Change hands" not in text
    print_diff(PLAN, PLAN, STATE, Look("1d"), as_json=False, is_full=True)
    assert "train: no numbers change\n" in capsys.readouterr().out


def test_a_queue_that_is_called_otherwise_is_the_same_queue(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = written(tmp_path / "new.yaml", PLAN.read_text().replace("Product", "Sales"))
    document = told(capsys, PLAN, new, was={"/Sales": "/Product"})
    assert document["resource_groups"]["train"]["consumers"] == {"/Sales": {"was": "/Product"}}
    assert document["reclaims"] == {"added": [], "removed": []}


def test_pools_become_queues_and_the_other_way_round(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pools = written(tmp_path / "pools.yaml", PLAN.read_text().split("  - resource_groups")[0] + POOLS)
    document = told(capsys, pools, PLAN)
    group = document["resource_groups"]["train"]
    assert group["amounts"] == [None, {"gpu": 16}]
    assert group["consumers"]["/Product"]["fair_share"] == {"gpu": [0, 4]}
    assert document["pools"]["/"]["amounts"][1] is None
    assert document["ownership"] == [{"host": "g1", "from": "/Research", "to": None, "amounts": {"gpu": 8}}]
    document = told(capsys, PLAN, pools)
    assert document["resource_groups"]["train"]["consumers"]["/Product"]["deserved"] == {"gpu": [4, 0]}
    assert document["ownership"] == [{"host": "g1", "from": None, "to": "/Research", "amounts": {"gpu": 8}}]
    print_diff(PLAN, pools, STATE, Look("1d"), as_json=False)
    assert "\ntrain: gpu 16\n" in capsys.readouterr().out


def test_of_slots_and_resources_a_state_fits_one_alone(tmp_path: Path) -> None:
    slots = written(tmp_path / "slots.yaml", SLOTS)
    with pytest.raises(InputError) as caught:
        print_diff(PLAN, slots, STATE, Look("1d"), as_json=False)
    (fault,) = caught.value.faults
    assert fault.code == "slots-and-vectors"
    assert "shared in slots here and in resources there" in fault.what
    # Where the state says nothing of the group it fits both.
    empty = written(tmp_path / "state.yaml", "fairhold_state: 1\nnow: 2026-01-05T09:00:00Z\n")
    print_diff(slots, PLAN, empty, Look("1d"), as_json=False)


def test_coming_windows_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head, _, entry = PLAN.read_text().partition("  - resource_groups")
    day = "  - resource_groups" + entry.replace(
        "    consumers:\n", '    window: "Mon-Fri 08:00-18:00"\n    consumers:\n', 1
    )
    night = "  - resource_groups" + entry
    old = written(tmp_path / "old.yaml", head + day + night)
    new = written(tmp_path / "new.yaml", head + day + night.replace("gpu: 4}, priority: 50", "gpu: 8}, priority: 150"))
    document = told(capsys, old, new)
    assert document["resource_groups"]["train"]["consumers"] == {}
    evening, morning = document["windows"]
    assert evening["local"] == "2026-01-05T18:00:00+00:00"
    assert evening["resource_groups"]["train"]["consumers"]["/Product"]["fair_share"] == {"gpu": [4, 8]}
    assert [row["deadline"] for row in evening["reclaims"]["added"]] == ["2026-01-05T18:00:30Z"]
    assert morning["resource_groups"]["train"]["consumers"] == {}
