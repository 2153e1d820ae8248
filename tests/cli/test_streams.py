"""Standard streams that are full, closed, cut off or not UTF-8: never a traceback, never a wrong status."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from fairhold.cli.table import table
from fairhold.errors import Fault, printable
from tests.cli.test_commands import HOSTS, PLAN, ROOT, STATE

ME = f"{sys.executable} -m fairhold"
FULL = "standard output: cannot write it: No space left on device [cannot-write]\n"
CLOSED = "standard output: cannot write it: Bad file descriptor [cannot-write]\n"


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    "command",
    [
        f"check {PLAN}",
        f"check {PLAN} --json",
        f"explain {PLAN} {STATE} /Research",
        f"cycle {PLAN} {STATE} --after -",
        "schema plan",
        "--version",
        "--help",
        "run --help",
    ],
)
def test_an_output_that_is_full_or_closed_is_said_in_one_line(command: str) -> None:
    for where, said in ((">/dev/full", FULL), (">&-", CLOSED)):
        done = shell(f"{ME} {command} {where}")
        assert (done.returncode, done.stdout, done.stderr) == (3, "", said)


def test_all_streams_closed_at_once_change_no_file(tmp_path: Path) -> None:
    after = tmp_path / "after.json"
    assert shell(f"{ME} cycle {PLAN} {STATE} --after {after} <&- >&- 2>&-").returncode == 3
    assert after.read_text().startswith("{")
    assert shell(f"{ME} check {tmp_path}/none.yaml <&- >&- 2>&-").returncode == 1


def test_a_reader_that_has_seen_enough_gets_no_traceback_and_no_good_status() -> None:
    # More than a pipe holds, so that the reader has gone before all is written.
    done = shell(f"{ME} schema plan | head -1; echo ${{PIPESTATUS[0]}}")
    assert done.stdout in ("{\n0\n", "{\n141\n")
    assert done.stderr == ""
    reader, writer = os.pipe()
    os.close(reader)
    for command in (["check", PLAN], ["check", "--help"], ["--version"], ["schema", "plan"]):
        call = [sys.executable, "-m", "fairhold", *command]
        closed = subprocess.run(call, stdout=writer, stderr=subprocess.PIPE, check=False, cwd=ROOT)
        assert (closed.returncode, closed.stderr) == (141, b"")
    os.close(writer)


def test_a_warning_that_nobody_can_be_told_changes_no_status(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(Path(PLAN).read_text().replace("slots: 100", "slots: 50"))
    assert "warning: " in shell(f"{ME} check {plan}").stderr
    for where in ("2>/dev/full", "2>&-"):
        done = shell(f"{ME} check {plan} {where}")
        assert done.returncode == 0
        assert "good" in done.stdout


def test_an_encoding_without_the_characters_gets_escapes() -> None:
    done = shell(f"{ME} explain {PLAN} {STATE} /Research", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u03bb = 1 1/4" in done.stdout
    done = shell(f"{ME} check Überblick.yaml", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr.startswith("\\xdcberblick.yaml: ")) == (1, True)


def test_nothing_of_a_file_or_an_argument_steers_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07"
    plan, result = tmp_path / f"{evil}.yaml", tmp_path / "result.json"
    plan.write_text(Path(PLAN).read_text() + f'"{evil}": 1\n'.replace("\x1b", "\\e").replace("\x07", "\\a"))
    result.write_text('{"resource_groups": {"\\u001b[31m": {}}, "\\u001b[2J": 1}')
    calls = [
        ["check", str(plan)],
        ["check", str(tmp_path / f"{evil}{evil}")],
        ["explain", PLAN, STATE, f"/{evil}"],
        ["explain", PLAN, STATE, "/Research", "--group", evil],
        ["verify", PLAN, STATE, str(result)],
        ["schema", evil],
        ["check", f"--{evil}"],
        [evil],
    ]
    for call in calls:
        done = subprocess.run([sys.executable, "-m", "fairhold", *call], capture_output=True, check=False, cwd=ROOT)
        assert done.returncode in (1, 2)
        assert b"\\x1b" in done.stdout + done.stderr, call
        assert b"\x1b" not in done.stdout + done.stderr, call
    plan.write_text(Path(PLAN).read_text())
    done = subprocess.run([sys.executable, "-m", "fairhold", "check", str(plan)], capture_output=True, check=True)
    assert b"\\x1b]0;owned\\x07.yaml: good" in done.stdout


def test_what_is_printable_stays_as_it_is() -> None:
    assert printable("/Zürich/日本 λ") == "/Zürich/日本 λ"
    assert printable("a\x1b[0m\n\u202eb\udcff") == "a\\x1b[0m\\n\\u202eb\\udcff"
    assert str(Fault("name", "wrong", "mend\x07", ("a\x1b",), "p\r.yaml", 3)) == (
        "p\\r.yaml:3: a\\x1b: wrong [name]\n    mend\\x07"
    )


def test_cells_of_a_table_cannot_steer_a_terminal() -> None:
    assert table(("request",), [("a\x1b[2J",)], room=0) == "request\na\\x1b[2J"


def test_columns_are_aligned_by_the_cells_of_a_terminal() -> None:
    lines = table(("name", "n"), [("日本", 1), ("e\u0301a", 22), ("plain", 3)], room=0).splitlines()
    assert lines == ["name    n", "日本    1", "e\u0301a     22", "plain   3"]


def test_long_paths_are_cut_in_their_middle_where_there_is_no_room() -> None:
    rows = [("/Research/" + "x" * 80 + "/Models", 1), ("/R", 2)]
    lines = table(("consumer", "owned"), rows, room=40).splitlines()
    assert max(map(len, lines)) == 40
    assert lines[1].startswith("/Research/…x")
    assert lines[1].endswith("x/Models      1")
    assert rows[0][0] in table(("consumer", "owned"), rows, room=0)


def test_paths_are_cut_on_a_terminal_alone(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    long = "x" * 100
    plan.write_text(HOSTS.replace("A: {}", f"A: {{}}, {long}: {{}}"))
    state = tmp_path / "state.yaml"
    state.write_text("fairhold_state: 1\nnow: 2026-01-05T09:00:00Z\n")
    call = [sys.executable, "-m", "fairhold", "quota", str(plan), str(state)]
    assert long in subprocess.run(call, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    terminal, writer = pty.openpty()
    subprocess.run(["stty", "cols", "100"], stdin=writer, check=True)
    subprocess.run(call, stdout=writer, check=True, cwd=ROOT)
    os.close(writer)
    text = os.read(terminal, 65536).decode()
    os.close(terminal)
    assert max(map(len, text.splitlines())) <= 100
    assert "x…x" in text
