"""`status` and `state` of a real service, and the question of `plan apply` on a terminal."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from typing import TYPE_CHECKING

from tests.cli.live.served import LONGEST, ME, PLAN, ROOT, Served, until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def ask(
    served: Served,
    answer: str | signal.Signals,
    *args: str,
    meanwhile: Callable[[], object] | None = None,
    ahead: str = "",
) -> tuple[int, str]:
    """A command on a terminal at which somebody answers; the exit status and what is shown.

    meanwhile : is called while the question stands
    ahead     : is typed before the question
    """
    reader, writer = pty.openpty()
    environment = served.environment | {"TERM": "xterm", "COLUMNS": "200"}
    with subprocess.Popen([*ME, *args], stdin=writer, stdout=writer, stderr=writer, cwd=ROOT, env=environment) as child:
        os.close(writer)
        os.write(reader, ahead.encode())
        shown, is_answered = b"", False
        while True:
            try:
                piece = os.read(reader, 4096)
            except OSError:  # it has ended
                break
            if not piece:
                break
            shown += piece
            if b"[y/N] " in shown and not is_answered:
                if meanwhile is not None:
                    meanwhile()
                if isinstance(answer, str):
                    os.write(reader, answer.encode())
                else:
                    child.send_signal(answer)
                is_answered = True
        code = child.wait(LONGEST)
    os.close(reader)
    return code, shown.decode().replace("\r\n", "\n")


def version(served: Served) -> int:
    return int(served.json("status")["plan"]["version"])


def test_one_screen_says_how_the_service_is(live: Served) -> None:
    job = live.submit("/Research/Models", "-n", "9", "--", "sleep", "600")
    until(lambda: live.json("status")["waiting"]["tasks"])
    found = live.json("status")
    assert found["service"]["directory"] == str(live.state)
    assert found["hosts"]["up"] == found["hosts"]["all"] == 1
    assert found["waiting"]["oldest"]["job"] == job
    told = live("status")
    assert [line.split("  ")[0] for line in told.splitlines()] == [
        *("service", "leads", "since", "state", "plan", "hosts", "compute", "waiting", "under notice", "last cycle")
    ]
    assert found["service"]["address"] in told
    assert "4/4 slots used" in told


def test_with_no_service_it_says_so(tmp_path: Path) -> None:
    for command in (["status"], ["state"], ["status", "--json"]):
        environment = os.environ | {"FAIRHOLD_STATE": str(tmp_path)}
        done = subprocess.run([*ME, *command], capture_output=True, text=True, check=False, cwd=ROOT, env=environment)
        assert done.returncode == 3
        assert "fairhold serve" in done.stderr


def test_every_command_on_files_takes_the_state_that_is_written(live: Served, tmp_path: Path) -> None:
    live.submit("/Research/Models", "-n", "9", "--", "sleep", "600")
    until(lambda: live.json("status")["resource_groups"]["compute"]["slots"]["used"] == 4)
    plan, state, result = (str(tmp_path / name) for name in ("plan.yaml", "state.json", "result.json"))
    said = live("state", "--output", state, "--plan", plan)
    assert said == f"{state}: the state under plan {version(live)}; it is in {plan}\n"
    assert live("plan", "show") == (tmp_path / "plan.yaml").read_text()
    decided = live.json("cycle", plan, state)
    assert [decided[kind] for kind in ("grants", "reclaims", "withdrawn")] == [[], [], []]
    (tmp_path / "result.json").write_text(json.dumps(decided))
    assert "obeys the rules" in live("verify", plan, state, result)
    for path in ("/Research/Models", "/Trading"):
        (of_file,), (of_live,) = live.json("explain", plan, state, path), live.json("explain", path)["explanations"]
        assert of_file["levels"] == of_live["levels"]
        assert of_file["quota"] == of_live["quota"]
    assert "/Research/Models" in live("quota", plan, state)
    assert live("diff", plan, plan, state).startswith("No value changed. Nothing is stopped")
    assert "owned" in live("explore", plan, state, "--set", "/Trading:owned=1")
    assert live("plan", "draw", plan, "--state", state).startswith("<svg")
    document = json.loads(live("state"))
    assert document["fairhold_state"] == 1
    assert live("state", "-o", state).endswith(
        f"get it with `fairhold plan show --version {version(live)} > plan.yaml`\n"
    )


def test_on_a_terminal_a_plan_is_shown_and_asked_for_before_it_is_in_force(live: Served, tmp_path: Path) -> None:
    before = version(live)
    file = tmp_path / "more.yaml"
    file.write_text(PLAN.replace("limit: 2", "limit: 3"))
    for answer in ("n\n", "\n", "what\n", "\x04"):
        code, shown = ask(live, answer, "plan", "apply", str(file))
        assert code == 1
        assert "1 value changed: /Research/Backtests limit +1. Nothing is stopped" in shown
        assert f"nothing was changed; plan {before} is in force\n" in shown
        assert version(live) == before
    code, shown = ask(live, "y\n", "plan", "apply", str(file))
    assert (code, version(live)) == (0, before + 1)
    assert shown.endswith(f"\nplan {before + 1} is in force\n")
    for more in (["--yes"], ["--dry-run"], ["--json"]):
        code, shown = ask(live, "n\n", "plan", "apply", str(file), *more)
        assert code == 0
        assert "[y/N]" not in shown
    assert live("plan", "apply", str(file)).endswith(f"\nplan {version(live)} is in force\n")


def test_what_is_typed_before_the_question_counts_as_a_whole_line_or_not_at_all(live: Served, tmp_path: Path) -> None:
    file = tmp_path / "more.yaml"
    for at, (ahead, answer, status) in enumerate(
        [("y\n", "", 0), ("n\n", "", 1), ("y", "y\n", 0), ("y", "\n", 1), ("", "y\x04", 0)]
    ):
        file.write_text(PLAN.replace("limit: 2", f"limit: {3 + at}"))
        before = version(live)
        code, shown = ask(live, answer, "plan", "apply", str(file), ahead=ahead)
        assert (code, version(live) - before) == (status, 1 - status), (ahead, answer, shown)


def test_an_interrupted_question_changes_nothing_and_says_so(live: Served, tmp_path: Path) -> None:
    file = tmp_path / "more.yaml"
    file.write_text(PLAN.replace("limit: 2", "limit: 9"))
    before = version(live)
    code, shown = ask(live, signal.SIGINT, "plan", "apply", str(file))
    assert (code, version(live)) == (130, before)
    assert shown.endswith(f"\nnothing was changed; plan {before} is in force\n")


def test_a_plan_that_was_changed_while_the_question_stood_is_not_applied(live: Served, tmp_path: Path) -> None:
    file = tmp_path / "more.yaml"
    file.write_text(PLAN.replace("limit: 2", "limit: 4"))
    other = tmp_path / "other.yaml"
    other.write_text(PLAN.replace("limit: 2", "limit: 1"))
    before = version(live)
    code, shown = ask(live, "y\n", "plan", "apply", str(file), meanwhile=lambda: live("plan", "apply", str(other)))
    assert code == 1
    assert "[plan-changed]" in shown.split("[y/N]")[1]
    assert version(live) == before + 1
    assert live("plan", "show") == other.read_text()
    code, shown = ask(live, "y\n", "plan", "apply", str(file), "--from-version", str(before))
    assert code == 1
    assert "[y/N]" not in shown


def test_a_revert_can_be_looked_at_first(live: Served, tmp_path: Path) -> None:
    file = tmp_path / "other.yaml"
    file.write_text(PLAN.replace("limit: 2", "limit: 1"))
    live("plan", "apply", "-", stdin=PLAN)
    live("plan", "apply", str(file))
    now = version(live)
    said = live("plan", "revert", str(now - 1), "--dry-run")
    assert said.startswith("1 value changed: /Research/Backtests limit +1. Nothing is stopped")
    assert said.endswith(f"\nnothing was changed; plan {now} is in force\n")
    assert version(live) == now
    assert live("plan", "revert", str(now - 1)).endswith(f"\nplan {now + 1} is in force\n")


def test_a_difference_warns_as_an_apply_does(live: Served, tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    file.write_text(PLAN.replace("/Trading: {owned: 2}", "/Trading: {owned: 9}"))
    warned = [live.done("plan", *words, str(file)).stderr for words in (["diff"], ["apply", "--dry-run"])]
    assert "[overcommitted]" in warned[0]
    assert warned[0] == warned[1]
    assert "overcommitted" in json.dumps(live.json("plan", "diff", str(file))["warnings"])
