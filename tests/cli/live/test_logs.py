"""`logs` ends with 1, and a line with a code, whatever it is that cannot be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import fairhold
from tests.cli.live.served import until
from tests.cli.live.test_live_commands import fairhold as command

if TYPE_CHECKING:
    from tests.cli.live.served import Served
    from tests.client.fake import Fake


def test_what_is_not_there_and_what_has_not_begun_are_told_alike(live: Served) -> None:
    job = live.submit("/Research/Models", "--hold", "--", "true")
    two = live.submit("/Research/Models", "--hold", "-n", "2", "--", "true")
    for name, code in (
        ("99999", "unknown-job"),
        ("99999.0", "unknown-job"),
        (f"{job}.7", "unknown-task"),
        (job, "no-output"),
        (f"{job}.0", "no-output"),
        (two, "no-output"),
    ):
        said = live.done("logs", name, exits=1)
        assert (said.stdout, said.stderr.splitlines()[0].endswith(f" [{code}]")) == ("", True), said
    assert f"task 0 of job {job} has not begun [no-output]" in live("logs", job, exits=1)
    assert f"no task of job {two} has begun [no-output]" in live("logs", two, exits=1)


def test_nothing_that_was_written_is_all_there_is(live: Served) -> None:
    job = live.submit("/Research/Models", "--wait", "--", "true").strip()
    assert live("logs", job) == ""
    assert "has no attempt 9 [unknown-attempt]" in live("logs", job, "--attempt", "9", exits=1)
    (live.state / "jobs" / job / "0.1.out").unlink(missing_ok=True)
    (live.state / "jobs" / job).rename(live.state / "jobs" / f"{job}.gone")
    assert "[no-output]" in live("logs", job, exits=1)


def test_who_follows_what_never_ran_is_told_when_it_is_over(live: Served) -> None:
    job = live.submit("/Research/Models", "--hold", "--", "true")
    with fairhold.connect(f"unix:{live.state / 'api.sock'}") as client:
        client.cancel(job)
        until(lambda: client.job(job).is_over)
    assert f"task 0 of job {job} has not begun [no-output]" in live("logs", "-f", job, exits=1)


def test_an_output_that_is_not_here_hides_none_of_the_others(fake: Fake) -> None:
    fake.add({"consumer": "/Research", "argv": ["x"], "count": 3})
    fake.run("1", [b"a\n", b"b\n", b"c\n"])
    del fake.outputs["1", 1, 1]
    done = command("logs", "1", exits=1)
    assert done.stdout == "==> 1.0 <==\na\n==> 1.1 <==\n==> 1.2 <==\nc\n"
    assert done.stderr.count("[") == 1
