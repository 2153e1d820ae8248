"""Commands on the plan, hosts, groups and the store, against a real service; and how it stops and starts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.live.served import LONGEST, ME, PLAN, Served, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Served]:
    """A service of one test alone."""
    with Served(tmp_path) as found:
        yield found


def test_a_plan_is_tried_applied_for_a_time_and_taken_back(live: Served) -> None:
    tighter = PLAN.replace("limit: 2", "limit: 1")
    file = live.place / "tighter.yaml"
    file.write_text(tighter)
    first = live.json("plan", "versions")["versions"][0]["version"]
    assert "2 -> 1" in live("plan", "diff", str(file))
    assert live("plan", "apply", "-", "--dry-run", stdin=tighter).endswith(
        f"nothing was changed; plan {first} is in force\n"
    )
    assert live("plan", "apply", str(file), "--comment", "less", "--for", "1h").endswith(
        f"plan {first + 1} is in force\n"
    )
    assert live("plan", "show") == tighter
    row = live.json("plan", "versions")["versions"][0]
    assert (row["comment"], bool(row["until"])) == ("less", True)
    assert "[plan-changed]" in live("plan", "apply", str(file), "--from-version", str(first), exits=1)
    assert live("plan", "revert", str(first)).endswith(f"plan {first + 2} is in force\n")
    file.write_text(PLAN.replace("owned: 1", "owned: 9"))
    assert f"{file}:" in live("plan", "apply", str(file), exits=1)


def test_a_consumer_that_is_renamed_keeps_its_jobs(live: Served) -> None:
    job = live.submit("/Research/Models", "--hold", "--", "true")
    file = live.place / "renamed.yaml"
    file.write_text(PLAN.replace("Models", "Pricing"))
    assert f"`{job}` [consumer-in-use]" in live("plan", "apply", str(file), exits=1)
    live("plan", "apply", str(file), "--was", "/Research/Pricing=/Research/Models")
    assert live.json("show", job)["job"]["consumer"] == "/Research/Pricing"
    live("cancel", job)
    live("plan", "apply", str(live.plan), "--was", "/Research/Models=/Research/Pricing")


def test_a_host_is_closed_and_opened_and_what_is_planned_is_shown(live: Served) -> None:
    assert live("hosts", "close", "-", "--reason", "new disk") == "host -: closed (new disk)\n"
    job = live.submit("/Trading", "--", "true")
    assert live.json("show", job)["job"]["reason"] == "no_host"
    assert live("hosts", "open", "-") == "host -: up\n"
    until(lambda: live.state_of(job) == "done")
    said = live("hosts", "drain", "-", "--at", "2999-01-01T00:00:00Z", "--until", "2999-01-02T00:00:00Z")
    assert re.fullmatch(r"host -: up \(.*closes 2999-01-01 .*; opens 2999-01-0.*\)\n", said)
    assert "closes 2999" in live("hosts")
    live("hosts", "open", "-")
    assert "closes" not in live("hosts")


def test_grants_are_paused_and_the_tree_says_so(live: Served) -> None:
    assert live("pause", "compute", "--grants") == "compute: grants paused\n"
    job = live.submit("/Trading", "--", "true")
    assert live.json("show", job)["job"]["reason"] == "paused"
    assert "no grants: paused" in live("top")
    assert live("resume") == "compute: goes on\n"
    until(lambda: live.state_of(job) == "done")


def test_who_waits_for_a_job_of_a_paused_group_is_told_so(live: Served) -> None:
    live("pause", "compute")
    command = [*ME, "submit", "/Trading", "--wait", "--", "true"]
    with subprocess.Popen(
        command, env=live.environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as one:
        assert one.stderr is not None
        assert " waits (paused): grants are paused in compute; " in one.stderr.readline()
        live("resume")
        assert one.wait(LONGEST) == 0


def test_a_store_is_checked_copied_and_restored_while_it_is_used(live: Served, tmp_path: Path) -> None:
    assert live("store", "check") == f"{live.state}: good\n"
    copy, other = tmp_path / "copy.sqlite", tmp_path / "other"
    assert live("store", "backup", str(copy)) == f"{live.state}: copied to {copy}\n"
    assert "[backup-exists]" in live("store", "backup", str(copy), exits=1)
    live("store", "restore", str(copy), "--state", str(other))
    assert live("store", "check", "--state", str(other)) == f"{other}: good\n"
    assert "--replace" in live("store", "restore", str(copy), "--state", str(other), exits=1)


def test_tasks_run_on_while_the_service_is_away(own: Served) -> None:
    script = "echo begun; while [ ! -e end ]; do sleep 0.05; done; echo ended"
    job = own.submit("/Trading", "--directory", str(own.place), "--", "sh", "-c", script)
    until(lambda: own.logs(job) == "begun\n")
    assert own("stop") == "the service has stopped; its tasks run on\n"
    assert own.ended() == 0
    assert "no service runs here (it has stopped)" in own("jobs", exits=3)
    own.start()
    assert own.state_of(job) == "running"
    own.kill()
    (own.place / "end").touch()
    own.start()
    until(lambda: own.state_of(job) == "done")
    assert own("logs", job) == "begun\nended\n"
    assert len(own.json("show", job)["tasks"][0]["attempts"]) == 1


def test_stop_drains_or_kills_what_runs(own: Served) -> None:
    short = own.submit("/Trading", "--", "sleep", "4")
    waiting = own.submit("/Trading", "--hold", "--", "sh", "-c", "echo begun; exec sleep 60")
    until(lambda: own.state_of(short) == "running")
    assert own("stop", "--drain") == "the service has stopped; none of its tasks runs\n"
    assert own.ended() == 0
    own.start()
    assert own.state_of(short) == "done"
    own("release", waiting)
    until(lambda: own.logs(waiting) == "begun\n")
    assert own("stop", "--kill").startswith("the service and its tasks have stopped")
    assert own.ended() == 0
    until(lambda: not own.processes())


def test_serve_says_what_is_missing(live: Served, tmp_path: Path) -> None:
    assert "has no plan yet" in live("serve", "--state", str(tmp_path / "new"), exits=2)
    assert "[tls-needed]" in live("serve", str(live.plan), "--listen", "0.0.0.0", exits=1)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("fairhold submit /Res", ["/Research/Models", "/Research/Backtests"]),
        ("fairhold jobs --state w", ["waiting"]),
        ("fairhold usage --by user,c", ["user,consumer"]),
        ("fairhold pause c", ["compute"]),
        ("fairhold plan ap", ["apply"]),
    ],
)
def test_a_shell_completes_words(live: Served, words: str, expected: list[str]) -> None:
    environment = live.environment | {
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
        "_FAIRHOLD_COMPLETE": "complete_bash",
    }
    command = [sys.executable, "-c", "import sys; sys.argv[0] = 'fairhold'; from fairhold.cli.main import main; main()"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == expected


def test_a_pipe_that_closes_ends_a_command_quietly(live: Served) -> None:
    command = " ".join([*ME, "plan", "show", "|", "head", "-1"])
    done = subprocess.run(command, shell=True, env=live.environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("fairhold: 1\n", "")


def test_json_is_whole_everywhere(live: Served) -> None:
    for args in (["jobs", "--all"], ["hosts"], ["top"], ["usage"], ["plan", "show"], ["plan", "versions"]):
        assert isinstance(json.loads(live(*args, "--json")), dict), args
