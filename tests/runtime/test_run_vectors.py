"""Runs under a plan that shares resources of hosts: all hosts are this machine."""

from __future__ import annotations

import json
import re
from collections import Counter
from io import StringIO
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from fairhold.cli.run import run_jobs
from fairhold.cycle.pooled.merge_results import run_entries
from fairhold.errors import InputError
from fairhold.model.state import State
from fairhold.orchestrator.as_file import as_file, decided, together
from fairhold.orchestrator.events import JobSubmitted
from fairhold.planio.plan import read_plan
from fairhold.planio.state import parse_state, read_state, state_document
from fairhold.runtime.table import TableView
from fairhold.runtime.tally import Tally
from tests.orchestrator.house import House
from tests.runtime.support import Case, python, read_document

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.model.plan import Plan
    from fairhold.orchestrator.pooling import VectorCycle

UNIT = {"cpu": 1, "gpu": 1}
# Tells its GPU, and runs until the other side has had its turn; deaf, so that its unit is taken at the deadline.
WAITS = """
import os, pathlib, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(os.environ["CUDA_VISIBLE_DEVICES"], flush=True)
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
"""
TOUCHES = "import os, pathlib, sys; print(os.environ['FAIRHOLD_DEVICES']); pathlib.Path(sys.argv[1]).touch()"


def plan(own: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """Two hosts of one GPU; /Trading owns some, and /Research lets go within 300 ms."""
    entry = {
        "resource_groups": ["gpu"],
        "policy": "multidimensional",
        "settings": settings,
        "consumers": {"/Trading": {"own": [{"resource_group": "gpu", **own}]}},
    }
    return {
        "fairhold": 1,
        "resources": {"cpu": {}, "gpu": {}},
        "resource_groups": {"gpu": {"hosts": [{"name": name, "cpu": 2, "gpu": 1} for name in ("g1", "g2")]}},
        "consumers": {"Trading": {"consumers": {"Risk": {}}}, "Research": {"reclaim_grace": "300ms"}},
        "policies": [entry],
    }


def test_units_are_lent_and_taken_back_and_the_record_says_from_what(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gate = str(tmp_path / "gate")
    jobs: list[dict[str, Any]] = [
        {"name": "lent", "consumer": "/Research", "argv": python(WAITS, gate), "count": 2, "unit": UNIT},
        {"name": "own", "consumer": "/Trading/Risk", "argv": python(TOUCHES, gate), "submit": "500ms", "unit": UNIT},
    ]
    case = Case(tmp_path, plan({"hosts": ["g1"]}), jobs)
    assert run_jobs(case.plan, case.jobs, case.output) == 0
    said = capsys.readouterr().out
    assert "0.300s to give its unit back, for /Trading/Risk" in said
    rows = {line.split()[0]: line for line in said.splitlines() if line.startswith("/")}
    assert re.split("  +", rows["/Trading"])[1:7] == ["cpu 2, gpu 1", "0", "0", "0", "cpu 1, gpu 1", "0"]
    assert re.split("  +", rows["/Research"])[4:7] == ["cpu 2, gpu 2", "0", "cpu 1, gpu 1"]
    assert "3 tasks finished, 0 failed" in said
    totals = "at most cpu 2, gpu 2 borrowed at once; cpu 1, gpu 1 reclaimed, 1 attempt stopped and run again"
    assert totals in said

    outputs = {path.name: path.read_text().split() for path in case.output.glob("*/*.out")}
    assert sorted(outputs[f"{task}.1.out"] for task in (0, 1) if (case.output / "lent").exists()) == [["0"], ["1"]]
    (owner,) = (case.output / "own").glob("*.out")
    assert owner.read_text() == "0\n"
    (line,) = [row for row in case.record() if row["kind"] == "cycle" and row["reclaims"]]
    (row,) = line["reclaims"]
    assert (line["resource_group"], row["request"], row["host"], row["for"]) == ("gpu", "lent", "g1", "own")
    read = read_plan(case.plan)[0]
    state = read_state(case.output / line["state"], read)
    again = [each for _, cycle in run_entries(read, state) for each in cycle.reclaims]
    assert again == line["reclaims"]


class Recorded(House):
    """A cluster whose cycles are each run again from the state that a record keeps."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan=plan, forgets=True)
        self.live.on_vectors = self._check
        self.seen: Counter[str] = Counter()

    def _check(self, cycle: VectorCycle, _cause: str) -> None:
        kept = together(State(now=cycle.now), as_file(cycle.state))
        state = parse_state(json.dumps(state_document(self.plan, kept)), self.plan, "state.json")
        again = [each for _, each in run_entries(self.plan, state)]
        for kind, rows in decided(cycle).items():
            assert [row for each in again for row in getattr(each, kind)] == rows, kind
            self.seen[kind] += len(rows)


@pytest.mark.parametrize("seed", range(2))
def test_a_kept_state_gives_its_cycle_again(seed: int) -> None:
    """Units of several sizes come and go; notices stand, and space that was given back is held."""
    dice = Random(seed)
    house = Recorded(read_document(plan({"per_host": {"cpu": 1, "gpu": 1}})))
    for number in range(30):
        unit = dice.choice([(("cpu", "1"),), (("cpu", "2"),), (("cpu", "0.5"), ("gpu", "0.5")), (("gpu", "1"),)])
        leaf = dice.choice(("/Research", "/Trading/Risk"))
        house.take(JobSubmitted(f"j{number}", leaf, "", dice.randint(1, 3), priority=dice.randint(0, 1), unit=unit))
        house.wait(dice.choice((1_000, 100_000, 400_000)))
        for name in dice.sample(list(house.live.attempts), min(2, len(house.live.attempts))):
            house.end(name, house.live.attempts[name].stopping or "finished")
    assert min(house.seen[kind] for kind in ("grants", "reclaims")) > 0, house.seen


def test_what_waits_for_ever_says_why_and_what_never_fits_starts_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    waits = {"name": "w", "consumer": "/Research", "argv": ["true"], "unit": UNIT}
    case = Case(tmp_path, plan({"hosts": 2, "reserved": True}), [waits, waits | {"name": "x", "unit": {"gpu": 5}}])
    with pytest.raises(InputError) as caught:
        run_jobs(case.plan, case.jobs, case.output)
    (fault,) = caught.value.faults
    assert (fault.code, fault.place) == ("never-fits", ("jobs", 1, "unit"))
    assert not case.output.exists()
    case.jobs.write_text(json.dumps({"fairhold_jobs": 1, "jobs": [waits]}))
    assert run_jobs(case.plan, case.jobs, case.output) == 1
    told = capsys.readouterr().err
    assert "not done: job w of /Research, 1 of 1 task: " in told
    assert "no suitable host has enough for one unit; nearest is g1, cpu 1, gpu 1 short" in told


def test_the_table_says_what_is_owned_of_resources() -> None:
    house = House(plan=read_document(plan({"hosts": ["g1"]})), forgets=True)
    tally = Tally(house.live)
    house.take(JobSubmitted("j", "/Research", "", 3, unit=(("cpu", "1"), ("gpu", "1"))))
    view = TableView(house.live, tally, "x")
    shown = []
    for width in (140, 80):
        view._console = Console(file=StringIO(), width=width)
        with StringIO() as text:
            Console(file=text, width=width).print(view._table())
            shown.append([re.split("  +", line.strip()) for line in text.getvalue().splitlines()])
    view.close()
    wide, narrow = shown
    one, two = "cpu 1, gpu 1", "cpu 2, gpu 2"
    assert wide[2] == ["Trading", "cpu 2, gpu 1", "·", "·", one, "·", "·"]
    assert wide[4] == ["Research", "·", two, two, "·", "·", one, "██"]
    assert narrow[0][-1].endswith("; amounts are of gpu")
    assert narrow[2] == ["Trading", "1", "·", "·", "1", "·", "·"]
    assert narrow[4] == ["Research", "·", "2", "2", "·", "·", "1", "██"]
