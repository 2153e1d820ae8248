"""Numbers of new jobs after an earlier state of the store came back."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING

from fairhold.model.spec import Spec
from fairhold.orchestrator.events import JobSubmitted
from fairhold.runtime.live.opening import Live, LiveSettings, open_live
from fairhold.runtime.live.submitting import Submission
from fairhold.store import backup_store, restore_store
from tests.live.serving import PLAN

if TYPE_CHECKING:
    from pathlib import Path


def service(place: Path, state: str = "state") -> closing[Live]:
    (place / "plan.yaml").write_text(PLAN)
    return closing(open_live(LiveSettings(place / "plan.yaml", place / state, launch=False)))


def submit(live: Live) -> int:
    spec = Spec("/A", ("true",), {}, "/")
    asked = Submission("ann", "", JobSubmitted("", "/A", "compute", 1), spec)
    return int(live.desk.write(lambda core: core.submit(asked)).result(20))


def test_new_jobs_are_numbered_above_every_folder_and_a_replay_knows_it(tmp_path: Path) -> None:
    with service(tmp_path) as live:
        assert submit(live) == 1
    for name in ("41", "7", "tmp", "9" * 16, "²"):
        (tmp_path / "state" / "jobs" / name).mkdir()
    with service(tmp_path) as live:
        assert submit(live) == 42
    (tmp_path / "state" / "jobs" / "41").rmdir()
    with service(tmp_path) as live:
        assert submit(live) == 43


def test_the_numbers_that_were_risen_above_are_in_the_log(tmp_path: Path) -> None:
    with service(tmp_path):
        pass
    (tmp_path / "state" / "jobs" / "41").mkdir()
    with service(tmp_path) as live:
        live.desk.read(lambda core: core.next_job).result(20)
        shutil.copytree(tmp_path / "state", tmp_path / "killed", ignore=shutil.ignore_patterns("*.sock"))
    for state in ("state", "killed"):  # with a snapshot of it, and without
        with service(tmp_path, state) as live:
            live.desk.read(lambda core: core.next_job).result(20)
            assert [entry.body for entry in live.store.entries(0)].count('["JobNumbersTaken",41]') == 1
            assert submit(live) == 42


def test_after_a_restore_numbers_go_on_far_above_once(tmp_path: Path) -> None:
    with service(tmp_path) as live:
        assert submit(live) == 1
        backup_store(tmp_path / "state", tmp_path / "copy")
        assert submit(live) == 2
    restore_store(tmp_path / "copy", tmp_path / "other")
    with service(tmp_path, "other") as live:
        assert submit(live) == 1_000_001
    with service(tmp_path, "other") as live:
        assert submit(live) == 1_000_002
        live.desk.write(lambda core: core.take_numbers(1_499_999)).result(20)
    backup_store(tmp_path / "other", tmp_path / "again")
    restore_store(tmp_path / "again", tmp_path / "third")
    with service(tmp_path, "third") as live:
        assert submit(live) == 2_000_001
    restore_store(tmp_path / "again", tmp_path / "other", replace=True)
    with service(tmp_path, "other") as live:
        assert submit(live) == 2_000_001
