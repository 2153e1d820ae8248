"""The state directory and the own host, looked at before a service keeps or starts anything."""

from __future__ import annotations

import logging
import os
import stat
from typing import TYPE_CHECKING

import pytest

from fairhold.errors import InputError
from fairhold.planio.plan import parse_plan
from fairhold.runtime.live.opening import LiveSettings, open_live
from fairhold.runtime.live.place import check_own_host, make_state_directory, nothing_can_start
from tests.planio.support import HOSTS, SMALL, VECTORS

if TYPE_CHECKING:
    from pathlib import Path


def test_a_state_directory_is_made_for_its_owner_only(tmp_path: Path) -> None:
    make_state_directory(tmp_path / "a" / "b")
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700


def test_one_that_others_may_look_into_is_told_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tmp_path.chmod(0o755)
    with caplog.at_level(logging.WARNING, "fairhold"):
        make_state_directory(tmp_path)
        (tmp_path / "my jobs").mkdir(mode=0o755)
        make_state_directory(tmp_path / "my jobs")
    assert f"chmod 700 {tmp_path}" in caplog.text
    assert f"chmod 700 '{tmp_path}/my jobs'" in caplog.text, "as a shell takes it"


def test_one_that_is_not_ours_alone_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(InputError, match="state-directory"):
        make_state_directory(tmp_path)
    tmp_path.chmod(0o700)
    os.chown(tmp_path, 4321, -1) if os.geteuid() == 0 else monkeypatch.setattr(os, "geteuid", lambda: 4321)
    with pytest.raises(InputError, match="belongs to another user"):
        make_state_directory(tmp_path)


def test_a_host_that_the_plan_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match="the plan has no hosts") as caught:
        check_own_host(parse_plan(SMALL, "f")[0], "g1")
    assert caught.value.faults[0].mend == "leave --host out"
    plan = parse_plan(HOSTS, "f")[0]
    name = next(host.name for group in plan.resource_groups.values() for host in group.hosts)
    check_own_host(plan, name)
    check_own_host(plan, "")
    with pytest.raises(InputError, match="unknown-host") as caught:
        check_own_host(plan, f"{name}x")
    assert f"did you mean `{name}`?" in caught.value.faults[0].mend


def test_a_service_whose_hosts_can_never_come_up_says_so() -> None:
    plan, small = parse_plan(VECTORS, "f")[0], parse_plan(SMALL, "f")[0]
    assert "name this machine's host with --host" in nothing_can_start(plan, "", others=False)
    assert nothing_can_start(plan, "g1", others=False) == nothing_can_start(plan, "", others=True) == ""
    assert nothing_can_start(small, "", others=False) == ""


def test_a_service_of_no_host_of_its_plan_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(SMALL)
    with pytest.raises(InputError, match="unknown-host"):
        open_live(LiveSettings(tmp_path / "plan.yaml", tmp_path / "state", own="g1", launch=False))
    assert list((tmp_path / "state").iterdir()) == []
