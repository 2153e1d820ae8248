"""A plan that shares resources is for the service: `run` refuses it before anything is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.cli.run import run_jobs
from fairhold.errors import InputError
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


def test_the_service_takes_it() -> None:
    assert plan_check(VECTORS)["faults"] == []
