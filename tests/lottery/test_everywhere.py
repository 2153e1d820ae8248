"""Every command and the live service work with the package, which they find by its entry point alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.live.served import Served, until
from tests.lottery.package import PACKAGE, installed

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
MOST_FILES = 8
SCENARIO = """\
fairhold_scenario: 1
plans: {drawn: plan.yaml, again: again.yaml}
workload: {kind: tenants, file: tenants.yaml}
end: 1d
"""
TENANTS = """\
fairhold_tenants: 1
seed: 7
begin: 2026-01-05T00:00:00Z
length: 1d
tenants:
  /Physics:
    jobs_per_day: 200
    jobs: [{tasks: {sizes: [4], weights: [1]}, duration: {shape: lognormal, median: 40m, p90: 5h}}]
  /Guests/Ann: {jobs_per_day: 90, jobs: [{duration: {shape: lognormal, median: 40m, p90: 5h}}]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The package as if it were installed, with its plan and state."""
    installed(tmp_path / "site")
    for name in ("plan.yaml", "state.yaml"):
        shutil.copy(PACKAGE / name, tmp_path)
    (tmp_path / "again.yaml").write_text((PACKAGE / "plan.yaml").read_text().replace("seed: 2026", "seed: 2027"))
    return tmp_path


def fairhold(folder: Path, *args: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "fairhold", *args],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{folder / 'site'}:{PACKAGE}", **environment},
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def test_the_package_is_small_and_nothing_of_ours_names_it() -> None:
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert len(files) <= MOST_FILES
    named = [path for path in (ROOT / "src").rglob("*.py") if "lottery" in path.read_text().lower()]
    assert named == []


def test_check_quota_cycle_and_verify(folder: Path) -> None:
    assert "good; 5 consumers, 1 policy entry" in fairhold(folder, "check", "plan.yaml")
    told = json.loads(fairhold(folder, "quota", "plan.yaml", "state.yaml", "--json"))
    quota = {path: row["quota"] for path, row in told["resource_groups"]["compute"]["consumers"].items()}
    assert quota["/Physics"] >= 6
    assert quota["/Biology"] >= 4
    assert quota["/Physics"] + quota["/Biology"] + quota["/Guests"] == quota["/"] == 20
    first = fairhold(folder, "cycle", "plan.yaml", "state.yaml", "--check", "--json", PYTHONHASHSEED="1")
    assert first == fairhold(
        folder, "cycle", "plan.yaml", "state.yaml", "--json", PYTHONHASHSEED="2", FAIRHOLD_JIT="on"
    )
    (folder / "result.json").write_text(first)
    assert "obeys the rules" in fairhold(folder, "verify", "plan.yaml", "state.yaml", "result.json")
    (folder / "after.json").write_text(json.dumps(json.loads(first)["state"]))
    after = json.loads(fairhold(folder, "cycle", "plan.yaml", "after.json", "--json"))
    assert (after["grants"], after["reclaims"], after["withdrawn"]) == ([], [], [])


def test_explain_tells_the_draws_and_what_would_help(folder: Path) -> None:
    told = fairhold(folder, "explain", "plan.yaml", "state.yaml", "/Physics")
    assert "others want more too, and it has won" in told
    assert "[LOT-3]" in told
    assert "/ divides 20: 10 are sure, and lots are drawn for 10:" in told
    assert "tickets: weight in the lottery" in told
    assert "One slot more: with /Physics's" in told


def test_plans_are_compared_explored_drawn_and_described(folder: Path) -> None:
    told = json.loads(fairhold(folder, "diff", "plan.yaml", "again.yaml", "state.yaml", "--json"))
    assert told["settings"] == [{"place": "policies[0].settings.seed", "old": 2026, "new": 2027}]
    assert "quota" in fairhold(folder, "explore", "plan.yaml", "state.yaml", "--set", "/Guests:tickets=9")
    assert "tickets 3" in fairhold(folder, "plan", "draw", "plan.yaml", "--state", "state.yaml")
    assert '"tickets"' in fairhold(folder, "schema", "plan")


def test_a_window_draws_anew_and_goes_by_turns_with_other_policies(folder: Path) -> None:
    plan = (folder / "plan.yaml").read_text()
    head, entry = plan.split("policies:\n")
    weekend = entry.replace("policy: lottery", "policy: lottery\n    window: Sat-Sun 00:00-24:00").replace(
        "2026", "2027"
    )
    monday = entry.replace("policy: lottery", "policy: hybrid\n    window: Mon 00:00-24:00").replace(
        "    settings: {seed: 2026}\n", ""
    )
    for number in (3, 2):
        monday = monday.replace(f", tickets: {number}", "")
    (folder / "week.yaml").write_text(f"{head}policies:\n{entry}{weekend}{monday}")
    quotas = {}
    for day in ("05", "06", "10"):
        state = (folder / "state.yaml").read_text().replace("2026-01-05", f"2026-01-{day}")
        (folder / "day.yaml").write_text(state)
        cycle = fairhold(folder, "cycle", "week.yaml", "day.yaml", "--check", "--json")
        (folder / "result.json").write_text(cycle)
        assert "obeys the rules" in fairhold(folder, "verify", "week.yaml", "day.yaml", "result.json")
        consumers = json.loads(cycle)["resource_groups"]["compute"]["consumers"]
        quotas[day] = tuple(row["quota"] for row in consumers.values())
    assert len({*quotas.values()}) == 3, quotas
    told = json.loads(fairhold(folder, "windows", "week.yaml", "--from", "2026-01-05T12:00:00Z", "--json"))
    assert told["switches"][0]["consumers"]["/Physics"] == {"policy": ["hybrid", "lottery"], "tickets": [1, 3]}


def test_simulate_plays_it_and_every_cycle_holds(folder: Path) -> None:
    (folder / "scenario.yaml").write_text(SCENARIO)
    (folder / "tenants.yaml").write_text(TENANTS)
    one = fairhold(folder, "simulate", "scenario.yaml", "--output", "one", "--no-report", "--check", "--json")
    fairhold(folder, "simulate", "scenario.yaml", "--output", "two", "--no-report", "--jobs", "2", "--json")
    assert json.loads(one)["plans"].keys() == {"drawn", "again"}
    logs = {
        out: {path.parent.name: path.read_bytes() for path in (folder / out).rglob("events-*")}
        for out in ("one", "two")
    }
    assert logs["one"] == logs["two"], "with every cycle made whole, and with those left out that decide nothing"
    assert logs["one"]["drawn"] != logs["one"]["again"], "another seed, other winners"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service of six slots."""
    place = tmp_path_factory.mktemp("lot")
    served = Served(place)
    served.environment["PYTHONPATH"] = installed(place / "site")
    text = (PACKAGE / "plan.yaml").read_text()
    for old, new in (("slots: 20", "slots: 6"), ("owned: 6", "owned: 1"), ("owned: 4", "owned: 1")):
        text = text.replace(old, new)
    served.plan.write_text(text.replace(", configured_slots: 20", ""))
    with served:
        yield served


def test_the_live_service_decides_and_explains_by_it(live: Served) -> None:
    jobs = [live.submit(leaf, "-n", "9", "--", "sleep", "60") for leaf in ("/Physics", "/Guests/Ann")]
    until(lambda: sum(row["tasks"]["running"] for row in live.json("jobs")["jobs"]) == 6)
    told = live("explain", "/Physics")
    assert "draws [LOT-3]" in told
    assert "tickets: weight in the lottery" in told
    assert live.json("explain", jobs[0])["bounds"][0]["rule"] == "LOT-3"
    other = live.place / "other.yaml"
    other.write_text(live.plan.read_text().replace("tickets: 3", "tickets: 0"))
    assert "/Physics tickets -3" in live("plan", "diff", str(other))
    live("plan", "apply", str(other), "--yes")
    assert "[LOT-2]" in live("explain", "/Physics")
    until(
        lambda: live.json("show", jobs[1])["job"]["tasks"]["running"] == 5
    )  # the winners' work has been stopped for it
    live.kill()
    live.start()
    assert "[LOT-2]" in live("explain", "/Physics")
    live("cancel", *jobs)
