"""The live commands as a user meets them, against a service that follows the contract."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.client.fake import PLAN, Fake, Problem, fault
from tests.client.serving import cuts_of

ROOT = Path(__file__).parents[3]
ME = [sys.executable, "-m", "fairhold"]


def fairhold(*args: str, exits: int = 0, stdin: str = "") -> subprocess.CompletedProcess[str]:
    done = subprocess.run([*ME, *args], input=stdin, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == exits, done.stderr
    assert "Traceback" not in done.stderr
    return done


def on_terminal(columns: int, *args: str, keys: bytes = b"", number: int = 0) -> str:
    """What a command shows on a terminal of some columns; keys, or a signal, are sent as soon as it has drawn."""
    here, there = pty.openpty()
    termios.tcsetwinsize(there, (24, columns))
    environment = os.environ | {"TERM": "xterm"}
    with subprocess.Popen([*ME, *args], stdin=there, stdout=there, stderr=there, env=environment, cwd=ROOT) as process:
        os.close(there)
        shown = b""
        while True:
            try:
                part = os.read(here, 65_536)
            except OSError:
                break
            shown += part
            if keys and b"leaves" in shown:
                os.write(here, keys)
                keys = b""
            if number and b"leaves" in shown and not process.poll():
                process.send_signal(number)
            if not part:
                break
    os.close(here)
    assert process.returncode == (128 + number if number else 0), shown.decode()
    return shown.decode().replace("\r\n", "\n")


def test_submit_sends_all_that_its_options_say(fake: Fake) -> None:
    args = ["-n", "500%10", "--units", "2", "--priority", "-3", "--time-limit", "1h", "--name", "sweep", "--hold"]
    args += ["--label", "team=quants", "--after", "any:4", "--retries", "2", "--backoff", "5s", "--memory", "1.5G"]
    args += [
        "--stdin",
        "-",
        "--clean-env",
        "--env",
        "A=b=c",
        "--directory",
        "/srv",
        "--signal",
        "SIGUSR1",
        "--lead",
        "2s",
    ]
    done = fairhold("submit", "/Research", *args, "--", "price", "-n", "{index}", stdin="data")
    assert done.stdout == "1\n"
    assert fake.asked[0][2] == {
        "consumer": "/Research",
        "argv": ["price", "-n", "{index}"],
        "environment": {"A": "b=c"},
        "directory": "/srv",
        "stdin": "ZGF0YQ==",
        "count": 500,
        "throttle": 10,
        "units": 2,
        "priority": -3,
        "name": "sweep",
        "labels": {"team": "quants"},
        "time_limit": "1h",
        "memory": 1_610_612_736,
        "after": [{"job": "4", "on": "any"}],
        "retries": 2,
        "backoff": "5s",
        "hold": True,
        "signal": "USR1",
        "lead": "2s",
    }


@pytest.mark.parametrize("where", ["before", "during", "after"])
def test_a_submission_that_is_cut_anywhere_is_one_job(fake: Fake, where: str) -> None:
    fake.cuts = cuts_of(where)
    assert fairhold("submit", "/Research", "--", "true").stdout == "1\n"
    assert list(fake.jobs) == ["1"]


def test_wait_ends_with_the_exit_code_of_the_job(fake: Fake) -> None:
    fake.on_wait = lambda name: fake.end(name, 7)
    assert fairhold("submit", "/Research", "--wait", "--", "false", exits=7).stdout == "1\n"
    document = json.loads(fairhold("submit", "/Research", "--wait", "--json", "--", "false", exits=7).stdout)
    assert (document["job"], document["exit_code"]) == ("2", 7)


def test_ctrl_c_leaves_the_job_running_and_says_so(fake: Fake) -> None:
    command = [*ME, "submit", "/Research", "--wait", "--", "sleep", "9"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "1\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert (
        said.splitlines()[-1] == "fairhold: job 1 goes on; to stop: `fairhold cancel 1`"
    )  # perhaps after why it waits
    assert fake.jobs["1"]["state"] == "waiting"


def test_a_job_file_is_submitted_under_keys_that_can_be_used_again(fake: Fake, tmp_path: Path) -> None:
    file = tmp_path / "jobs.yaml"
    job = "{consumer: /Research, argv: [echo, '{index}'], count: 3, environment: {A: b}}"
    file.write_text(f"fairhold_jobs: 1\njobs:\n  - {job}\n  - {{consumer: /Trading, argv: ['true'], name: quick}}\n")
    assert fairhold("submit", "--file", str(file), "--key", "k").stdout == "1  job-1\n2  quick\n"
    assert list(fake.keys) == ["k-0", "k-1"]
    assert fake.jobs["1"]["directory"] == str(tmp_path)
    assert fairhold("submit", "--file", str(file), "--key", "k").stdout == "1  job-1\n2  quick\n"
    fake.problems["jobs"] = Problem(429, fault("too-many", "the limit `waiting` is 10"))
    said = fairhold("submit", "--file", str(file), "--key", "other", exits=3).stderr
    assert "0 of 2 jobs submitted; `--key other` submits only the rest" in said
    assert "the limit `waiting` is 10 [too-many]" in said
    file.write_text("fairhold_jobs: 1\njobs:\n  - {consumer: /Nobody, argv: [x]}\n")
    assert "jobs.yaml:3: jobs[0].consumer" in fairhold("submit", "--file", str(file), exits=1).stderr


def test_jobs_show_why_each_waits(fake: Fake) -> None:
    assert fairhold("jobs").stdout == "no jobs that have not ended; `--all` shows ended ones too\n"
    fake.add({"consumer": "/Research", "argv": ["x"], "name": "a\x1b[2Jb", "count": 5})
    fake.add({"consumer": "/Trading", "argv": ["x"], "hold": True})
    fake.end("2")
    lines = fairhold("jobs").stdout.splitlines()
    assert lines[0].split()[:3] == ["job", "state", "reason"]
    assert lines[1].split()[:3] == ["1", "waiting", "no-slots"]
    assert "a\\x1b[2Jb" in lines[1]
    assert [line.split()[1] for line in fairhold("jobs", "--all").stdout.splitlines()[1:]] == ["done", "waiting"]
    assert [row["job"] for row in json.loads(fairhold("jobs", "--json").stdout)["jobs"]] == ["1"]
    more = fairhold("jobs", "--all", "--limit", "1")
    assert more.stderr == "fairhold: there are more jobs; `--limit 0` shows all\n"
    fairhold("jobs", "--label", "team=quants", "--user", "ann", "--consumer", "/Research")
    assert "label=team%3Aquants" in fake.asked[-1][1]


def test_columns_without_values_are_left_out_and_tasks_and_name_stay(fake: Fake) -> None:
    fake.add({"consumer": "/Research", "argv": ["x"], "name": "prices", "priority": 3})
    fake.add({"consumer": "/Research", "argv": ["x"]})
    assert "priority" in fairhold("jobs").stdout.splitlines()[0].split()
    narrow = on_terminal(50, "jobs").splitlines()[0].split()
    assert {"tasks", "name"} <= set(narrow)
    assert not {"priority", "running"} & set(narrow)
    fake.jobs["1"].update(priority=0, name="")
    assert not {"priority", "name"} & set(fairhold("jobs").stdout.splitlines()[0].split())


@pytest.mark.parametrize("columns", [30, 60, 100])
def test_tables_fit_narrow_terminals(fake: Fake, columns: int) -> None:
    fake.add({"consumer": "/Research", "argv": ["x"], "name": "a-long-name-of-a-job"})
    fake.jobs["1"]["consumer"] = "/Research/" + "Deep/" * 12 + "Leaf"
    for command in (["jobs"], ["top", "--once"], ["hosts"]):
        shown = on_terminal(columns, *command).splitlines()
        assert max(map(len, shown)) <= max(columns, 40 if command[0] == "jobs" else 68), command
    assert "Leaf" in on_terminal(columns, "jobs")


def test_show_has_the_job_and_its_attempts(fake: Fake) -> None:
    fake.add({"consumer": "/Research", "argv": ["echo", "a b"], "count": 2, "labels": {"team": "quants"}})
    fake.run("1", [b"", b""], 3)
    said = fairhold("show", "1").stdout
    assert "command    echo 'a b'" in said
    assert "tasks      2: 2 failed" in said
    assert "exit code  3" in said
    rows = [line.split() for line in said.splitlines()[-2:]]
    assert [row[:5] for row in rows] == [[str(at), "1", "ended", "finished", "3"] for at in (0, 1)]
    assert json.loads(fairhold("show", "1", "--json").stdout)["job"]["labels"] == {"team": "quants"}
    fault_text = fairhold("show", "99", exits=2).stderr
    assert fault_text == "there is no job `99` [unknown-job]\n    `fairhold jobs --all` shows them\n"


def test_logs_print_bytes_as_they_are(fake: Fake) -> None:
    fake.page = 4
    fake.add({"consumer": "/Research", "argv": ["x"], "count": 2})
    fake.run("1", [b"0123456789\n", b"\xff\xfe"])
    raw = subprocess.run([*ME, "logs", "1.1"], capture_output=True, check=True, cwd=ROOT).stdout
    assert raw == b"\xff\xfe"
    every = subprocess.run([*ME, "logs", "1"], capture_output=True, check=True, cwd=ROOT).stdout
    assert every == b"==> 1.0 <==\n0123456789\n==> 1.1 <==\n\xff\xfe"
    assert "no attempt 9" in fairhold("logs", "1.0", "--attempt", "9", exits=1).stderr
    assert "name the one to follow, as 1.0" in fairhold("logs", "1", "-f", exits=2).stderr
    assert "is not a task" in fairhold("logs", "1.x", exits=2).stderr


def test_logs_follow_a_task_over_its_attempts(fake: Fake) -> None:
    fake.add({"consumer": "/Research", "argv": ["x"]})
    fake.jobs["1"]["state"] = "running"
    fake.jobs["1"]["tasks"] |= {"waiting": 0, "running": 1}
    fake.outputs["1", 0, 1] = b"first "
    fake.tasks["1"] = [{"task": 0, "state": "running", "attempts": [fake.attempt(1, None, None)]}]
    seen = []

    def go_on(_name: str) -> None:
        seen.append(1)
        if len(seen) == 3:
            fake.outputs["1", 0, 1] += b"half\n"
        if len(seen) == 5:
            fake.tasks["1"][0]["attempts"] = [fake.attempt(1, "reclaim", 75), fake.attempt(2, "finished", 0)]
            fake.outputs["1", 0, 2] = b"second\n"
            fake.end("1")

    fake.on_wait = go_on
    done = fairhold("logs", "1", "--follow")
    assert done.stdout == "first half\nsecond\n"
    assert done.stderr == "fairhold: attempt 2 of 1.0:\n"


def test_jobs_are_changed_each_for_itself(fake: Fake) -> None:
    for _ in range(2):
        fake.add({"consumer": "/Research", "argv": ["x"]})
    assert fairhold("hold", "1", "2", "--reason", "later").stdout == "job 1: held\njob 2: held\n"
    assert fake.asked[-1][2] == {"reason": "later"}
    assert fairhold("release", "1").stdout == "job 1: waiting\n"
    assert fairhold("priority", "1", "-5").stdout == "job 1: waiting, priority -5\n"
    assert fairhold("move", "1", "/Trading").stdout == "job 1: waiting, of /Trading\n"
    assert fairhold("requeue", "1").stdout == "job 1: waiting\n"
    done = fairhold("cancel", "1", "77", "2", exits=2)
    assert done.stdout == "job 1: cancelled\njob 2: cancelled\n"
    assert done.stderr.startswith("there is no job `77` [unknown-job]")
    assert "job `1` is over [job-over]" in fairhold("hold", "1", exits=1).stderr


def test_explain_a_job_or_a_live_consumer(fake: Fake) -> None:
    fake.add({"consumer": "/Research", "argv": ["x"]})
    said = fairhold("explain", "1").stdout
    assert said.startswith("job 1 is waiting (no-slots): all slots of its leaf are in use\n")
    assert "3 tasks of its leaf are served before it." in said
    assert "bound by ratio" in said
    assert "R-RECLAIM-4" in said
    assert json.loads(fairhold("explain", "1", "--json").stdout)["place"] == 3
    assert "explain takes PLAN STATE CONSUMER" in fairhold("explain", "a", "b", exits=2).stderr


def test_top_draws_bars_of_what_is_own_borrowed_lent_and_waited_for(fake: Fake) -> None:
    said = fairhold("top", "--once").stdout
    lines = said.splitlines()
    assert lines[0] == "compute  10 slots, 1 idle"
    assert lines[1].split() == ["consumer", "owned", "entitled", "allocated", "borrowed", "lent", "waiting"]
    assert lines[3].split() == ["Risk", "6", "2", "2", "·", "4", "·", "██░░░░"]
    research = lines[4].split()
    assert research[:7] == ["Research", "4", "8", "7", "3", "·", "20"]
    assert research[7].startswith("████▓▓▒·")
    assert json.loads(fairhold("top", "--json").stdout) == {"resource_groups": fake.groups}
    ascii_only = subprocess.run(
        [*ME, "top", "--once"],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
        cwd=ROOT,
    )
    assert b"##----" in ascii_only.stdout
    assert b"\\u" not in ascii_only.stdout


def test_top_on_a_terminal_is_left_with_q(fake: Fake) -> None:
    shown = on_terminal(80, "top", keys=b"q")
    assert "Research" in shown
    assert "q leaves" in shown
    assert shown.rstrip().endswith("\x1b[?25h") or "\x1b[?1049l" in shown
    assert len([path for _, path, _ in fake.asked if path == "/v1/consumers"]) <= 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_top_that_is_ended_leaves_the_terminal_as_it_was(fake: Fake, number: signal.Signals) -> None:
    shown = on_terminal(80, "top", number=number)
    assert "\x1b[?25h" in shown.rpartition("Research")[2]
    assert "\x1b[?1049l" in shown
    assert fake.asked


def test_a_directory_that_is_gone_is_told(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = ["/bin/sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", *ME, "store", "backup", "copy"]
    environment = os.environ | {"FAIRHOLD_STATE": str(tmp_path / "state")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=gone, env=environment)
    assert done.returncode in {1, 2, 3}
    assert "Traceback" not in done.stderr
    file = ["serve", "examples/bank.yaml", "--state", "/proc/x"]
    assert fairhold(*file, exits=1).stderr.startswith("/proc/x: the state directory cannot be made: ")


@pytest.mark.parametrize(("unit", "is_warned"), [("gpu=0.5", True), ("cpu=0.5,gpu=2.0", False), ("cpu=1", False)])
def test_who_asks_for_a_part_of_a_gpu_is_told_that_it_has_no_number(fake: Fake, unit: str, is_warned: bool) -> None:  # noqa: FBT001
    done = fairhold("submit", "/Research", "--unit", unit, "--", "true")
    assert ("warning: gpu=0.5: who asks for a part of a GPU" in done.stderr) is is_warned
    assert len(fake.jobs) == 1


def test_the_plan_is_shown_compared_applied_and_reverted(fake: Fake, tmp_path: Path) -> None:
    assert fairhold("plan", "show").stdout == PLAN
    file = tmp_path / "plan.yaml"
    file.write_text(PLAN + "# more\n")
    assert "compute: no numbers change" in fairhold("plan", "diff", str(file)).stdout
    dry = fairhold("plan", "apply", str(file), "--dry-run").stdout
    assert dry.endswith("nothing was changed; plan 1 is in force\n")
    assert len(fake.plans) == 1
    args = ["--comment", "why", "--for", "2h", "--was", "/Research/New=/Research"]
    assert fairhold("plan", "apply", str(file), *args).stdout.endswith("\nplan 2 is in force\n")
    assert [method for method, *_ in fake.asked].count("PUT") == 2  # the dry run above, and one that says it all
    assert {name: fake.asked[-1][2][name] for name in ("comment", "for", "was")} == {
        "comment": "why",
        "for": "2h",
        "was": {"/Research/New": "/Research"},
    }
    assert (
        "plan 2 is in force [plan-changed]"
        in fairhold("plan", "apply", str(file), "--from-version", "1", exits=1).stderr
    )
    assert fairhold("plan", "revert", "--was", "/Research=/Research/New").stdout.endswith("\nplan 3 is in force\n")
    assert fake.asked[-1][2] == {"was": {"/Research": "/Research/New"}}
    assert [line.split()[0] for line in fairhold("plan", "versions").stdout.splitlines()] == ["version", "3", "2", "1"]
    assert fairhold("plan", "show", "--version", "2").stdout == PLAN + "# more\n"
    file.write_text("broken: 1\n")
    said = fairhold("plan", "apply", str(file), exits=1).stderr
    assert said == f"{file}:3: broken: `broken` means nothing here [unknown-key]\n    remove it\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x", "`x` is not an instant; write it as 2026-01-05T09:00:00Z"),
        ("2026-01-05T09:00:00", "it has no offset from UTC; add `Z`"),
        ("1969-01-01T00:00:00Z", "it is before 1970"),
        ("9999-12-31T23:59:59-12:00", "it is after the year 8999"),
    ],
)
def test_an_instant_that_is_none_is_a_wrong_call(fake: Fake, text: str, why: str) -> None:
    for args in (["usage", "--from", text], ["usage", "--to", text], ["hosts", "drain", "g1", "--by", text]):
        said = fairhold(*args, exits=2).stderr
        assert why in said
        assert f"invalid value for `{args[-2]}`" in said
        assert "[usage]" in said
    for option in ("--at", "--until"):
        assert why in fairhold("hosts", "close", "g1", "--reason", "dust", option, text, exits=2).stderr
    assert fake.asked == []


def test_stop_says_how(fake: Fake) -> None:
    assert fairhold("stop", "--drain", "--no-wait").stdout == "the service is stopping\n"
    assert fake.stopped == ["drain"]
    fairhold("stop", "--drain", "--kill", exits=2)
    fake.problems["health"] = Problem(500, fault("internal", "gone"))
    fairhold("stop", exits=3)
    assert fake.stopped == ["drain"]


def test_a_service_that_is_not_there_gives_one_line_and_exit_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRHOLD_STATE", str(tmp_path))
    monkeypatch.delenv("FAIRHOLD_SERVICE", raising=False)
    for args in (["jobs"], ["submit", "/A", "--", "true"], ["top"], ["explain", "7"], ["plan", "show"], ["stop"]):
        said = fairhold(*args, exits=3).stderr
        assert said.startswith("no service runs here (")
        assert said.endswith("start one with `fairhold serve PLAN`, or name one with `--service` or "
                             "FAIRHOLD_SERVICE [no-service]\n")  # fmt: skip
        assert said.count("\n") == 1
    said = fairhold("jobs", "--service", "http://127.0.0.1:1", exits=3).stderr
    assert said.startswith("the service at http://127.0.0.1:1 does not answer: Connection refused; ")
    assert said.count("\n") == 1
