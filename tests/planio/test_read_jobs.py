"""Job files: what they mean under a plan, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.errors import InputError
from fairhold.model.job import Job, Needed
from fairhold.planio.jobs import parse_jobs, read_jobs
from fairhold.planio.plan import parse_plan
from fairhold.units import SECOND
from tests.planio.support import HOSTS, SMALL

if TYPE_CHECKING:
    from pathlib import Path

PLAN = parse_plan(SMALL, "plan.yaml")[0]
JOBS = """\
fairhold_jobs: 1
jobs:
  - {consumer: /Research, argv: [sleep, "1"]}
  - name: train
    consumer: /Trading/Risk
    resource_group: compute
    argv: [python, train.py, "{index}"]
    count: 40
    submit: 1m
    priority: 5
    directory: work
    environment: {SEED: "7"}
"""


def test_jobs_are_read_whole() -> None:
    risk, research = PLAN.tree.rows["/Trading/Risk"], PLAN.tree.rows["/Research"]
    assert parse_jobs(JOBS, PLAN, "f") == (
        Job("job-1", research, "compute", ("sleep", "1")),
        Job("train", risk, "compute", ("python", "train.py", "{index}"), 40, 60 * SECOND, 5, "work", {"SEED": "7"}),
    )


TERMS = """\
fairhold_jobs: 1
jobs:
  - {name: train, consumer: /Research, argv: [x]}
  - name: score
    consumer: /Research
    argv: [x]
    units: 4
    throttle: 2
    after: [{job: train}, {job: 17, on: any}]
    retries: 3
    backoff: 1m
    hold: true
    time_limit: 1h
    memory: 512M
    labels: {run: nightly}
    stdin: in.txt
    signal: SIGUSR1
    lead: 500ms
"""


def test_terms_of_a_job_are_read_whole(tmp_path: Path) -> None:
    job = parse_jobs(TERMS, PLAN, "f")[1]
    assert job == Job(
        "score",
        PLAN.tree.rows["/Research"],
        "compute",
        ("x",),
        units=4,
        throttle=2,
        after=(Needed("train", "ok"), Needed("17", "any")),
        retries=3,
        backoff=60 * SECOND,
        hold=True,
        time_limit=3600 * SECOND,
        memory=512 * 2**20,
        labels={"run": "nightly"},
        stdin="in.txt",
        signal="USR1",
        lead=SECOND // 2,
    )
    (tmp_path / "jobs.yaml").write_text(TERMS)
    assert read_jobs(tmp_path / "jobs.yaml", PLAN)[1].stdin == str(tmp_path / "in.txt")


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("units: 4", "units: 0", "out-of-range", 7),
        ("units: 4", "unit: 4", "wrong-unit", 7),
        ("throttle: 2", "throttle: -1", "negative", 8),
        ("{job: train}", "{job: trian}", "unknown-job", 9),
        ("{job: train}", '{job: ""}', "unknown-job", 9),
        ("{job: train}", "train", "wrong-type", 9),
        ("{job: train}", "{on: ok}", "missing-key", 9),
        ("{job: train}", "{jobs: train, job: train}", "unknown-key", 9),
        ("{job: train}", "{job: score}", "waits-for-itself", 9),
        ("job: 17", "job: 0", "out-of-range", 9),
        ("on: any", "on: all", "unknown-word", 9),
        ("retries: 3", "retries: 1001", "out-of-range", 10),
        ("backoff: 1m", "backoff: 60", "duration", 11),
        ("hold: true", "hold: yes", "wrong-type", 12),
        ("time_limit: 1h", "time_limit: none", "duration", 13),
        ("memory: 512M", "memory: 512X", "wrong-type", 14),
        ("memory: 512M", "memory: 512", "amount-unit", 14),
        ("memory: 512M", "memory: -512", "negative", 14),
        ("memory: 512M", "memory: 2000000G", "out-of-range", 14),
        ("run: nightly", "a b: nightly", "name", 15),
        ("run: nightly", "run: 7", "not-a-string", 15),
        ("stdin: in.txt", 'stdin: "a\\0"', "not-text", 16),
        ("signal: SIGUSR1", "signal: KILL", "unknown-word", 17),
        ("lead: 500ms", "lead: -1s", "duration", 18),
    ],
)
def test_bad_terms_are_refused_with_their_line(old: str, new: str, code: str, line: int) -> None:
    assert old in TERMS
    with pytest.raises(InputError) as caught:
        parse_jobs(TERMS.replace(old, new, 1), PLAN, "f")
    assert [(fault.code, fault.line) for fault in caught.value.faults] == [(code, line)]


def test_a_circle_of_jobs_is_told_with_its_names() -> None:
    with pytest.raises(InputError, match="waits-for-itself") as caught:
        parse_jobs(TERMS.replace("argv: [x]}", "argv: [x], after: [{job: score}]}"), PLAN, "f")
    assert "`score`" in caught.value.faults[0].what
    assert "`train`" in caught.value.faults[0].what


def test_a_job_that_was_meant_is_named() -> None:
    with pytest.raises(InputError) as caught:
        parse_jobs(TERMS.replace("{job: train}", "{job: trian}"), PLAN, "f")
    assert caught.value.faults[0].mend == "did you mean `train`?"


def test_directories_start_at_the_folder_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "jobs.yaml").write_text(JOBS + "  - {consumer: /Research, argv: [ls], directory: /tmp}\n")
    monkeypatch.chdir(tmp_path)
    directories = [job.directory for job in read_jobs("inner/jobs.yaml", PLAN)]
    assert directories == [str(tmp_path / "inner"), str(tmp_path / "inner" / "work"), "/tmp"]


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("fairhold_jobs: 1", "fairhold_jobs: 0", "version", 1),
        ("argv: [sleep, ", "argv: [sleep, 1, ", "not-a-string", 3),
        ('argv: [sleep, "1"]', "argv: []", "missing-key", 3),
        ('argv: [sleep, "1"]', 'argv: [""]', "missing-key", 3),
        ('argv: [sleep, "1"]', "argv: sleep 1", "wrong-type", 3),
        ('argv: [sleep, "1"]', 'argv: ["a\\0b"]', "not-text", 3),
        (', argv: [sleep, "1"]', "", "missing-key", 3),
        ("consumer: /Research, ", "", "missing-key", 3),
        ("/Research", "/Trading", "not-a-leaf", 3),
        ("/Research", "/Reserch", "unknown-consumer", 3),
        ("{consumer", "{name: train, consumer", "duplicate-job", 4),
        ("name: train", "name: job-1", "duplicate-job", 4),
        ("name: train", 'name: ""', "name", 4),
        ("name: train", "nme: train", "unknown-key", 4),
        ("resource_group: compute", "resource_group: computer", "unknown-resource-group", 6),
        ("count: 40", "count: 0", "out-of-range", 8),
        ("count: 40", "count: 1000000000001", "out-of-range", 8),
        ("submit: 1m", "submit: 60", "duration", 9),
        ("priority: 5", "priority: high", "not-whole", 10),
        ("directory: work", "directory: 3", "not-a-string", 11),
        ('{SEED: "7"}', "{SEED: 7}", "not-a-string", 12),
        ('{SEED: "7"}', '{"A=B": "7"}', "name", 12),
    ],
)
def test_a_bad_job_file_is_refused_with_its_line(old: str, new: str, code: str, line: int) -> None:
    assert old in JOBS
    with pytest.raises(InputError) as caught:
        parse_jobs(JOBS.replace(old, new, 1), PLAN, "jobs.yaml")
    (fault,) = caught.value.faults
    assert (fault.code, fault.line, fault.file) == (code, line, "jobs.yaml")


@pytest.mark.parametrize("item", ["7", "", "[a]", "sleep"])
def test_what_is_no_job_at_all_is_one_fault(item: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_jobs(f"{JOBS}  - {item}\n", PLAN, "jobs.yaml")
    (fault,) = caught.value.faults
    assert (fault.code, fault.line) == ("wrong-type", 13)
    assert fault.what.startswith("expected a job, found ")


def test_a_name_that_nobody_wrote_is_not_blamed() -> None:
    unnamed = "  - {consumer: /Research, argv: [ls]}\n"
    with pytest.raises(InputError) as caught:
        parse_jobs(JOBS.replace("name: train", "name: job-3") + unnamed, PLAN, "f")
    (fault,) = caught.value.faults
    assert (fault.code, fault.place, fault.mend) == ("duplicate-job", ("jobs", 2), "add `name:`")
    assert fault.what == "this job has no name, and the name from its number, `job-3`, is taken by another job"
    with pytest.raises(InputError) as caught:
        parse_jobs(JOBS.replace("name: train", "name: job-1"), PLAN, "f")
    (fault,) = caught.value.faults
    assert fault.what == "there are two jobs `job-1`; the first has no name, so its number is its name"


def test_how_many_tasks_are_taken_is_the_limit_of_the_service() -> None:
    assert parse_jobs(JOBS.replace("count: 40", "count: 20000000"), PLAN, "f")[1].count == 20_000_000


@pytest.mark.parametrize("written", ["1", "010", "+5", "0x1F", "0o17", "-0", "1.50", "1e3"])
def test_a_number_in_a_command_is_to_be_quoted_as_it_is_written(written: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_jobs(JOBS.replace('"1"', written), PLAN, "f")
    (fault,) = caught.value.faults
    assert (fault.what, fault.mend) == (f"expected an argument, found `{written}`", f'quote it: `"{written}"`')


@pytest.mark.parametrize(
    "text", ["fairhold_jobs: 1\n", "fairhold_jobs: 1\njobs: []\n", "[]", "fairhold_jobs: 1\njobs: {}\n"]
)
def test_a_file_without_jobs_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_jobs(text, PLAN, "f")


def test_a_job_names_its_group_where_the_plan_shares_several() -> None:
    plan = parse_plan(HOSTS, "f")[0]
    text = "fairhold_jobs: 1\njobs: [{consumer: /A, argv: [ls]}]\n"
    with pytest.raises(InputError, match="resource_group"):
        parse_jobs(text, plan, "f")
    (job,) = parse_jobs(text.replace("argv", "resource_group: cpu, argv"), plan, "f")
    assert job.resource_group == "cpu"


def test_a_file_that_cannot_be_found_from_a_folder_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(InputError, match="cannot be read"):
        read_jobs("jobs.yaml", PLAN)
