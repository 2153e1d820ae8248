"""Nothing runs under a plan that shares resources yet: it is refused before anything is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.cli.run import run_jobs
from fairhold.errors import InputError
from fairhold.runtime.live.opening import LiveSettings, open_live
from fairhold.service.planning import plan_check
from tests.planio.support import VECTORS

if TYPE_CHECKING:
    from pathlib import Path

JOBS = "fairhold_jobs: 1\njobs: [{consumer: /Research, argv: [sleep, '1']}]\n"


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(VECTORS)
    return path


def test_run_refuses_it(plan: Path, tmp_path: Path) -> None:
    jobs, output = tmp_path / "jobs.yaml", tmp_path / "output"
    jobs.write_text(JOBS)
    with pytest.raises(InputError) as caught:
        run_jobs(plan, jobs, output)
    (fault,) = caught.value.faults
    assert (fault.code, fault.line) == ("not-supported-yet", 9)
    assert not output.exists()


def test_the_service_does_not_start_under_it(plan: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        open_live(LiveSettings(plan, tmp_path / "state"))
    assert [fault.code for fault in caught.value.faults] == ["not-supported-yet"]
    assert not list((tmp_path / "state").glob("*.db*"))


def test_the_service_says_so_where_it_is_asked() -> None:
    (fault,) = plan_check(VECTORS)["faults"]
    assert (fault["code"], fault["line"]) == ("not-supported-yet", 9)
