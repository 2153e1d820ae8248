"""Commands on jobs, against a real service that runs real tasks."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.live.served import LONGEST, ME, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.live.served import Served

YIELDS = """
trap 'echo told; exit 75' TERM
echo attempt $FAIRHOLD_ATTEMPT
while [ $FAIRHOLD_ATTEMPT = 1 -a ! -e end ]; do sleep 0.1; done
"""


def test_a_job_ends_with_its_own_code_and_its_output_is_kept(live: Served) -> None:
    args = ["--stdin", "-", "--env", "A=b c", "--label", "team=quants", "--name", "first", "--wait"]
    done = live.done("submit", "/Trading", *args, "--", "sh", "-c", 'cat; echo "$A"; exit 4', exits=4, stdin="in\n")
    job = done.stdout.strip()
    assert done.stderr == ""
    assert live("logs", job) == "in\nb c\n"
    shown = live("show", job)
    assert re.search(r"^state +failed$", shown, re.MULTILINE)
    assert re.search(r"^ +0 +1 +failed +failed +4 ", shown, re.MULTILINE)
    listed = live("jobs", "--all", "--label", "team=quants").splitlines()
    assert [line.split()[:2] for line in listed[1:]] == [[job, "failed"]]
    numbers = [int(line.split()[0]) for line in live("jobs", "--all", "--sort", "-job").splitlines()[1:]]
    assert numbers == sorted(numbers, reverse=True)
    numbers = [int(line.split()[0]) for line in live("jobs", "--all", "--sort", "-ended").splitlines()[1:]]
    assert [int(line.split()[0]) for line in live("jobs", "--all", "--sort=ended").splitlines()[1:]] == numbers[::-1]
    assert "unknown-word" in live.done("jobs", "--sort", "colour", exits=1).stderr
    assert live("explain", job) == f"job {job} is over: failed\n\ntask 0: exit code 4\n"


def test_wait_says_why_where_the_code_does_not(live: Served) -> None:
    missing = live.done("submit", "/Trading", "--wait", "--", "no-such-command", exits=1)
    job = missing.stdout.strip()
    assert missing.stderr == (
        f"fairhold: job {job}: task 0: not_started: cannot start no-such-command: No such file or directory\n"
    )
    lost = live.done("submit", "/Trading", "--directory", "/nowhere", "--wait", "--", "true", exits=1)
    warning, ended = lost.stderr.splitlines()
    assert warning.startswith("warning: there is no directory /nowhere on this machine: a task that starts here, ")
    assert ended.endswith(": task 0: not_started: cannot work in the directory /nowhere: No such file or directory")
    late = live.done("submit", "/Trading", "--time-limit", "1s", "--wait", "--", "sleep", "30", exits=143)
    assert "task 0: time_limit: it ran longer than 1 s" in late.stderr
    dead = live.done("submit", "/Trading", "-n", "2", "--wait", "--", "sh", "-c", "kill -SEGV $$", exits=1)
    assert dead.stderr.count("signal 11 (SIGSEGV)") == 2
    tried = live.done("submit", "/Trading", "--retries", "1", "--backoff", "0", "--wait", "--", "false", exits=1)
    assert [each["number"] for each in live.json("show", tried.stdout.strip())["tasks"][0]["attempts"]] == [1, 2]


@pytest.mark.parametrize("command", ["cancel", "show", "hold", "requeue"])
@pytest.mark.parametrize("name", ["0", "x", "99999", "1.2"])
def test_what_is_no_number_of_a_job_is_refused(live: Served, command: str, name: str) -> None:
    refused = live.done(command, name, exits=2)
    assert refused.stderr == f"there is no job `{name}` [unknown-job]\n    `fairhold jobs --all` shows what there is\n"
    assert live(command, "--", "-1", exits=2).startswith("there is no job `-1` [unknown-job]\n")


def test_an_array_keeps_to_its_throttle_and_what_waits_stands_in_one_row(live: Served) -> None:
    job = live.submit("/Research/Models", "-n", "1000000%1", "--", "sh", "-c", "echo {index}; exec sleep 60")
    until(lambda: live.state_of(job) == "running")
    shown = live("show", job)
    assert re.search(r"^ *1-999999 .*waiting", shown, re.MULTILINE)
    assert "state      running (throttle)" in shown
    until(lambda: live.logs(f"{job}.0") == "0\n")
    assert live("cancel", job) in {f"job {job}: cancelled{more}\n" for more in ("", ", 1 task still ending")}
    until(lambda: live.state_of(job) == "cancelled")
    assert live("cancel", job) == f"job {job}: cancelled\n"


def test_jobs_are_held_moved_and_given_another_priority(live: Served) -> None:
    job = live.submit("/Research/Models", "--hold", "-n", "2", "--", "sleep", "60")
    assert re.search(rf"^ *{job} +held +held ", live("jobs"), re.MULTILINE)
    assert live("priority", job, "-5") == f"job {job}: held, priority -5\n"
    assert live("move", job, "/Research/Backtests") == f"job {job}: held, of /Research/Backtests\n"
    assert "did you mean `/Research/Models`?" in live("move", job, "/Research/Model", exits=2)
    live("release", job)
    until(lambda: live.json("show", job)["job"]["tasks"]["running"] == 2)
    assert live("requeue", job) == f"job {job}: 2 tasks to end and wait again\n"
    until(lambda: "requeue" in live("show", job))
    assert re.search(rf"^job {job}: cancelled", live("cancel", job))


def test_jobs_wait_for_others_as_they_say(live: Served) -> None:
    first = live.submit("/Trading", "--hold", "--", "false")
    good = live.submit("/Trading", "--after", f"ok:{first}", "--", "true")
    bad = live.submit("/Trading", "--after", f"fail:{first}", "--", "true")
    both = live.submit("/Trading", "--after", f"any:{first}", "--after", f"any:{bad}", "--", "true")
    assert f"state      blocked (dependency)\nwhy        it waits for job {first}" in live("show", good)
    live("release", first)
    until(lambda: live.state_of(both) == "done")
    assert [live.state_of(job) for job in (first, good, bad)] == ["failed", "cancelled", "done"]
    assert "could never start [never-ready]" in live("submit", "/Trading", "--after", first, "--", "true", exits=1)


def test_the_same_key_is_the_same_job(live: Served, tmp_path: Path) -> None:
    jobs = {live.submit("/Trading", "--key", "mine", "--", "true") for _ in range(2)}
    assert len(jobs) == 1
    file = tmp_path / "jobs.yaml"
    file.write_text(
        "fairhold_jobs: 1\njobs:\n  - {consumer: /Trading, argv: [echo, '{index}'], count: 2, name: pair}\n"
    )
    lines = live("submit", "--file", str(file), "--key", "file", "--wait").splitlines()
    assert live("submit", "--file", str(file), "--key", "file").splitlines() == lines
    assert (
        live("logs", lines[0].split()[0]) == f"==> {lines[0].split()[0]}.0 <==\n0\n==> {lines[0].split()[0]}.1 <==\n1\n"
    )


def test_what_is_reclaimed_is_followed_and_explained(live: Served, tmp_path: Path) -> None:
    borrower = live.submit("/Research/Models", "-n", "4", "--directory", str(tmp_path), "--", "sh", "-c", YIELDS)
    until(lambda: live.json("show", borrower)["job"]["tasks"]["running"] == 4)
    following = [
        subprocess.Popen(
            [*ME, "logs", "-f", f"{borrower}.{task}"], env=live.environment, stdout=-1, stderr=-1, text=True
        )
        for task in range(4)
    ]
    for process in following:
        assert process.stdout is not None
        assert process.stdout.readline() == "attempt 1\n"
    owner = live.submit("/Trading", "-n", "2", "--wait", "--", "sh", "-c", "sleep 0.2")
    (tmp_path / "end").touch()
    taken = live.json("explain", borrower)["reclaims"][0]
    followed = [process.communicate(timeout=LONGEST) for process in following]
    assert [stdout.endswith("told\nattempt 2\n") for stdout, _ in followed if stdout] == [True, True]
    assert f"attempt 2 of {borrower}.{taken['task']}:" in followed[taken["task"]][1]
    said = live("explain", borrower)
    row = next(line.split() for line in said.splitlines() if line.split()[:2] == [str(taken["task"]), "1"])
    assert row[2:4] == [str(taken["cycle"]), taken["rule"]]
    assert row[-2:] == ["yielded", "/Trading"]
    assert live.state_of(owner) == "done"
    kinds = {row["kind"] for row in live.json("usage", "--by", "kind")["rows"]}
    assert {"own", "borrowed", "lent"} <= kinds
    table = live("usage").splitlines()
    assert table[0].startswith("slot-hours from the start to ")
    assert table[1].split() == ["own", "borrowed", "lent", "lost", "consumer"]
    assert "borrowed: allocated and not its own" in "\n".join(table)


def test_a_job_that_waits_is_told_its_place_and_who_has_the_units(live: Served) -> None:
    job = live.submit("/Research/Backtests", "-n", "9", "--", "sleep", "60")
    until(lambda: live.json("show", job)["job"]["tasks"]["running"] == 2)
    said = live("explain", job)
    running = f"job {job} is running, and more of its tasks wait (limit)"
    assert said.startswith(f"{running}: /Research/Backtests holds 2 of its limit of 2\n")
    assert "It is the next of its leaf." in said
    assert "limit 2; bound by limit" in said
    derived = live("explain", "/Research/Backtests")
    assert "/Research divides" in derived
    assert live.json("explain", "/Research/Backtests")["explanations"][0]["quota"] == 2
    assert "did you mean `/Research/Backtests`?" in live("explain", "backtests", exits=2)
    assert "name one below it: /Research/Models, /Research/Backtests" in live(
        "submit", "/Research", "--", "true", exits=1
    )
    live("cancel", job)


def test_who_explains_a_job_by_its_name_is_told_its_number(live: Served) -> None:
    job = live("submit", "/Trading", "--name", "valuation", "--", "sleep", "600").strip()
    for name in ("valuation", "valuatoin"):
        told = live("explain", name, exits=2)
        assert f"there is no consumer `{name}`, and jobs are named by their numbers [unknown-consumer]" in told
        assert f"did you mean {job}, the job `valuation`?" in told
    live("cancel", job)


def test_unknown_names_say_what_was_meant(live: Served) -> None:
    for args, exits, told in (
        (("submit", "Research/Models", "--", "true"), 2, "did you mean `/Research/Models`? "),
        (("submit", "/", "--", "true"), 1, "`/` is not a leaf, and only leaves have jobs [not-a-leaf]"),
        (("submit", "/Trading", "--key", "a b", "--", "true"), 2, "a key is 1 to 200 printable ASCII"),
        (("submit", "/Trading", "--stdin", "/nowhere", "--", "true"), 1, "name an existing file"),
        (("jobs", "--consumer", "/Nobody"), 2, "there is no consumer `/Nobody` [unknown-consumer]"),
        (("jobs", "--state", "runing"), 2, "--state runing: write one of waiting, blocked"),
        (("show", "99999"), 2, "there is no job `99999` [unknown-job]"),
        (("sumbit",), 2, "Did you mean `submit`?"),
        (("submit", "/Trading", "--memory", "5x", "--", "true"), 2, "invalid value for `--memory`: `5x` is not a size"),
        (("submit", "/Trading", "--memory", "10", "--", "true"), 2, "`10` has no unit; write 10MiB or 10GiB"),
        (("submit", "/Trading", "--time-limit", "5", "--", "true"), 2, "`5` has no unit of time; write 5s for seconds"),
        (("pause", "comput"), 2, "shared are compute"),
        (("hosts", "open", "nowhere"), 2, "`fairhold hosts` shows"),
    ):
        assert told.strip() in live(*args, exits=exits)


def test_a_task_may_ask_the_service_itself(live: Served) -> None:
    url = json.loads((live.state / "service.json").read_text())["url"]
    job = live.submit("/Trading", "--wait", "--", "sh", "-c", f"{' '.join(ME)} jobs --service {url} --json")
    assert f'"job": "{job}"' in live("logs", job)


def test_of_a_job_file_all_is_checked_before_the_first_job_is_submitted(live: Served, tmp_path: Path) -> None:
    file = tmp_path / "jobs.yaml"
    head = "fairhold_jobs: 1\njobs:\n  - {name: one, consumer: /Trading, argv: [sleep, '9'], hold: true}\n"
    two = "  - {name: two, consumer: /Research/Backtests, argv: ['true'], units: 3, after: [{job: one}]}\n"
    three = "  - {name: three, consumer: /Trading, argv: ['true'], after: [{job: one}, {job: 999999}]}\n"
    file.write_text(head + two + three)
    said = live("submit", "--file", str(file), exits=1)
    assert f"{file}: jobs[1]: a task of 3 slots at once can never start" in said
    assert f"{file}: jobs[2]: there is no job `999999` to wait for" in said
    assert "submitted" not in said
    assert live.json("jobs")["jobs"] == []
    file.write_text(head + two.replace("units: 3", "units: 2"))
    assert re.fullmatch(r"\d+  one\n\d+  two\n", live("submit", "--file", str(file)))
