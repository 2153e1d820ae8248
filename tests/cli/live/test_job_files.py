"""Job files: what is sent of them to a service, and what `run` refuses without one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.cli.live.test_live_commands import fairhold
from tests.runtime.support import Case, plan_document

if TYPE_CHECKING:
    from pathlib import Path

    from tests.client.fake import Fake


def test_terms_of_a_job_file_are_submitted_and_names_become_numbers(fake: Fake, tmp_path: Path) -> None:
    file = tmp_path / "jobs.yaml"
    more = "units: 2, throttle: 3, retries: 1, backoff: 0, time_limit: 90s, memory: 1K, signal: USR1, lead: 1500ms"
    first = f"{{name: late, consumer: /Research, argv: [x], after: [{{job: early}}, {{job: 9, on: any}}], {more}}}"
    file.write_text(
        f"fairhold_jobs: 1\njobs:\n  - {first}\n"
        "  - {name: early, consumer: /Research, argv: [y], hold: true, labels: {a: b, c: d}, stdin: in}\n"
    )
    said = fairhold("submit", "--file", str(file), exits=1).stderr
    assert "jobs[1].stdin" in said
    assert "name an existing file" in said
    assert not fake.jobs
    (tmp_path / "in").write_bytes(b"input")
    assert fairhold("submit", "--file", str(file), "--key", "k", "--label", "a=z").stdout == "1  early\n2  late\n"
    early, late = (body for method, url, body in fake.asked if (method, url) == ("POST", "/v1/jobs"))
    assert (early["hold"], early["labels"], early["stdin"]) == (True, {"a": "z", "c": "d"}, "aW5wdXQ=")
    assert late["after"] == [{"job": "1", "on": "ok"}, {"job": "9", "on": "any"}]
    assert {name: late[name] for name in ("units", "throttle", "retries", "memory", "signal")} == {
        "units": 2,
        "throttle": 3,
        "retries": 1,
        "memory": 1024,
        "signal": "USR1",
    }
    assert [late[name] for name in ("backoff", "time_limit", "lead")] == ["0.000000s", "90.000000s", "1.500000s"]


def test_run_refuses_by_name_what_only_the_service_does(tmp_path: Path) -> None:
    plain = {"consumer": "/A", "argv": ["touch", str(tmp_path / "ran")]}
    more = {"units": 2, "after": [{"job": "job-1"}], "retries": 1, "hold": True, "memory": "5B", "stdin": "in"}
    case = Case(tmp_path, plan_document(2, {"/A": {}}), [plain, plain | more])
    said = fairhold("run", str(case.plan), str(case.jobs), "--output", str(case.output), exits=1).stderr
    for key in more:
        assert f"{case.jobs}:1: jobs[1].{key}: `{key}` is only for the live service" in said
    assert said.count("[needs-service]") == len(more)
    assert "fairhold submit --file" in said
    assert not (tmp_path / "ran").exists()


def test_run_keeps_a_throttle(tmp_path: Path) -> None:
    job = {"consumer": "/A", "argv": ["sleep", "0.05"], "count": 3, "throttle": 1}
    case = Case(tmp_path, plan_document(3, {"/A": {}}), [job])
    fairhold("run", str(case.plan), str(case.jobs), "--output", str(case.output), "--plain")
    running = most = 0
    for line in case.record():
        running -= line["kind"] == "TaskEnded"
        running += sum(each["kind"] == "Start" for each in line.get("instructions", ()))
        most = max(most, running)
    assert (running, most) == (0, 1)


def test_serve_refuses_a_pace_that_is_none(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(plan_document(2, {"/A": {}})))
    for words in (["--cycle-gap", "2s"], ["--cycle-interval", "1ms"], ["--cycle-interval", "2h"]):
        said = fairhold("serve", str(plan), "--state", str(tmp_path / "state"), *words, exits=2).stderr
        assert "--cycle-gap, --cycle-interval: write" in said
    assert not (tmp_path / "state").exists()
