"""`windows` and `diff` on files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairhold.cli.differing import Look, print_diff
from fairhold.cli.windows import print_windows
from fairhold.cycle.open import open_books
from fairhold.errors import UsageError
from fairhold.planio.plan import read_plan
from fairhold.planio.state import read_state
from fairhold.units import SECOND, parse_instant

FOLDER = Path(__file__).parents[2] / "examples/windows"
PLAN, STATE = FOLDER / "plan.yaml", FOLDER / "state.yaml"


def told(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_every_switch_has_its_reclaims_on_what_the_one_before_has_left(capsys: pytest.CaptureFixture[str]) -> None:
    print_windows(PLAN, STATE, "14d", "", as_json=True)
    document = told(capsys)
    assert [(row["day"], row["local"]) for row in document["switches"]][:3] == [
        ("Wed", "2026-12-30T18:00:00+01:00"),
        ("quarter_end", "2026-12-31T05:50:00+01:00"),
        ("closed", "2027-01-01T00:00:00+01:00"),
    ]
    assert document["switches"][1]["opens"] == "2026-12-31T05:00:00Z"
    assert document["switches"][1]["consumers"] == {"/Trading": {"owned": [20, 80]}, "/Research": {"owned": [80, 20]}}
    taken = [(row["consumer"], row["units"]) for each in document["switches"] for row in each["reclaims"]]
    assert taken == [("/Trading", 60), ("/Research", 60)] * (len(document["switches"]) // 2)


def test_without_a_grace_each_switch_takes_back_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN.read_text().replace("30s", "0s").replace("10m", "0s"))
    print_windows(plan, STATE, "14d", "", as_json=True)
    rows = told(capsys)["switches"]
    taken = [(row["consumer"], row["units"]) for each in rows for row in each["reclaims"]]
    assert taken == [("/Trading", 60), ("/Research", 60)] * (len(rows) // 2)


@pytest.mark.parametrize(("zone", "head"), [("UTC", ["UTC"]), ("Europe/Zurich", ["Europe/Zurich", "UTC"])])
def test_local_time_that_is_utc_has_one_column(
    zone: str, head: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN.read_text().replace("Europe/Zurich", zone))
    print_windows(plan, None, "2d", "2027-01-03T23:30:00Z", as_json=False)
    line = capsys.readouterr().out.splitlines()[2]
    assert line.split()[: line.split().index("window")] == head


def test_a_plan_without_windows_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        json.dumps(
            {
                "fairhold": 1,
                "resource_groups": {"c": {"slots": 1}},
                "consumers": {"A": {}},
                "policies": [{"resource_groups": ["c"], "policy": "hybrid"}],
            }
        )
    )
    print_windows(plan, None, "7d", "", as_json=False)
    assert "no policy entry has a window" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("ahead", "begin", "state"),
    [("soon", "", None), ("400d", "", None), ("1d", "now", None), ("1d", "2026-01-01T00:00:00Z", STATE)],
)
def test_wrong_calls(ahead: str, begin: str, state: Path | None) -> None:
    with pytest.raises(UsageError):
        print_windows(PLAN, state, ahead, begin, as_json=True)


def test_diff_looks_at_the_coming_switches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = tmp_path / "new.yaml"
    new.write_text(PLAN.read_text().replace("/Research: {owned: 80}", "/Research: {owned: 70}"))
    print_diff(PLAN, new, STATE, Look("1d"), as_json=True)
    document = told(capsys)
    assert document["resource_groups"] == {"compute": {"consumers": {}}}
    night = document["windows"][0]
    assert (night["now"], night["day"]) == ("2026-12-30T17:00:00Z", "Wed")
    quotas = {path: row["quota"] for path, row in night["resource_groups"]["compute"]["consumers"].items()}
    assert quotas == {"/Trading": [20, 23], "/Research": [80, 77]}
    assert [(row["consumer"], row["units"]) for row in night["reclaims"]["removed"]] == [("/Trading", 3)]


def test_a_state_sees_a_switch_since_its_last_cycle() -> None:
    plan = read_plan(PLAN)[0]
    state = read_state(STATE, plan)
    evening = parse_instant("2026-12-30T17:00:00Z")
    assert evening is not None
    switched = replace(state, now=evening + SECOND, previous_cycle=evening - SECOND)
    books = open_books(plan, switched)["compute"]
    assert (books.before, books.rows.force) == ((0,), (1,))
    assert open_books(plan, replace(switched, previous_cycle=evening))["compute"].before == ()
