"""What `serve` says when it listens, and when it does not come to that."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from fairhold.cli.live.serving import Wanted, _say_ready, _settings
from fairhold.runtime.clock import WallClock
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.opening import LiveSettings
from fairhold.runtime.live.retention import DAY, Keep
from fairhold.service.settings import ServiceSettings
from fairhold.store import open_store
from tests.cli.live.served import LONGEST, ME, PLAN

if TYPE_CHECKING:
    from pathlib import Path


def test_a_service_that_is_refused_does_not_say_how_to_use_it(tmp_path: Path) -> None:
    (tmp_path / "current").write_text(json.dumps({"token_file": "/elsewhere/token", "pid": os.getpid()}))
    (tmp_path / "plan.yaml").write_text(PLAN)
    command = [*ME, "serve", str(tmp_path / "plan.yaml"), "--state", str(tmp_path / "own"), "--listen", "0.0.0.0"]
    environment = os.environ | {"FAIRHOLD_STATE": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST)
    assert (done.returncode, done.stdout) == (1, "")
    assert "[tls-needed]" in done.stderr


def test_a_limit_that_is_none_is_refused_with_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    command = [*ME, "serve", str(tmp_path / "plan.yaml"), "--state", str(tmp_path / "own"), "--limit", "waitings=5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST)
    assert (done.returncode, done.stdout) == (2, "")
    assert "write one of waiting, waiting_in_leaf, jobs, tasks, head, body" in done.stderr


@pytest.mark.parametrize("wrong", ["taken", "not-ours", "no-host"])
def test_a_wrong_address_for_agents_is_refused_before_a_plan_is_in_force(tmp_path: Path, wrong: str) -> None:
    plan, state = tmp_path / "plan.yaml", tmp_path / "own"
    plan.write_text(PLAN)
    with closing(open_store(state, cluster="bank", node="n", now=1)) as store:
        core = Core(store, WallClock().now)
        core.open(PLAN, str(plan), "ann")
        core.commit()
    plan.write_text(PLAN + "# another\n")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        agents = {"taken": f"127.0.0.1:{port}", "not-ours": "203.0.113.5:7879", "no-host": "host.invalid:7879"}[wrong]
        command = [*ME, "serve", str(plan), "--state", str(state), "--port", "0", "--agents", agents]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"cannot listen for agents at {agents}: ")
    assert "[cannot-listen]" in done.stderr
    with closing(open_store(state, cluster="bank", node="n", now=1)) as store:
        assert [each.version for each in store.plans()] == [1]
    assert not (state / "agents.sock").exists()


def test_how_long_things_are_kept_is_an_option(tmp_path: Path) -> None:
    wanted = Wanted(None, None, "", "127.0.0.1", 0, None, None, "", "10m", 0, (), "INFO")
    assert _settings(wanted, tmp_path)[0].keep == Keep()
    wanted = wanted._replace(keep_jobs="1d", keep_log=0, keep_usage="1095d", keep_audit="3650d")
    keep = _settings(wanted, tmp_path)[0].keep
    assert keep == Keep(0, 0, DAY, 0, 0, 1_095 * DAY, 3_650 * DAY)


def ready(directory: Path, agents: tuple[str, int] | None, *, is_alone: bool) -> None:
    pointers = (directory / "current",) if is_alone else ()
    _say_ready(
        "http://here", LiveSettings(None, directory, agents=agents), ServiceSettings(directory, pointers=pointers)
    )


@pytest.mark.parametrize("agents", [None, ("127.0.0.1", 7879), ("::1", 7879), ("localhost", 7879)])
def test_a_service_that_listens_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], agents: tuple[str, int] | None
) -> None:
    ready(tmp_path, agents, is_alone=True)
    told, warned = capsys.readouterr()
    assert told.splitlines() == [
        f"listening at http://here, state in {tmp_path}",
        f"commands without --service use this service from now on, as {tmp_path / 'current'} says",
    ]
    assert not warned
    ready(tmp_path, agents, is_alone=False)
    said = capsys.readouterr().out.splitlines()
    assert said[1] == f"another service runs here; use this one with --service unix:{tmp_path / 'api.sock'}"


@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.0.1", "node7"])
def test_it_warns_that_agents_of_other_machines_are_heard_in_clear_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], host: str
) -> None:
    ready(tmp_path, (host, 7879), is_alone=True)
    warning = capsys.readouterr().err
    assert warning.startswith(f"warning: agents may connect at {host}:7879; ")
    assert "not encrypted" in warning
    assert warning.count("\n") == 1
