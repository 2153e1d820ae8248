"""Options that are empty, and options that say two things at once, are a wrong call: nothing is asked of a service."""

from __future__ import annotations

import shlex

import pytest

from tests.cli.live.test_live_commands import fairhold


@pytest.mark.parametrize(
    "line",
    [
        "serve plan.yaml --state ''",
        "serve plan.yaml --listen ''",
        "serve plan.yaml --host ''",
        "serve plan.yaml --name bank --name ''",
        "serve --kubernetes --plan-object ''",
        "submit /Research --name '' -- true",
        "submit /Research --key '' -- true",
        "submit /Research --label team=a --label '' -- true",
        "submit /Research --need '' -- true",
        "submit --file '' ",
        "jobs --user ''",
        "jobs --consumer ''",
        "jobs --state ''",
        "hold 1 --reason ''",
        "hosts --service ''",
        "hosts close g1 --reason ''",
        "plan show --service ''",
        "usage --by ''",
        "store check --state ''",
        "forecast 1 --at ''",
    ],
)
def test_an_option_that_is_empty_is_named(line: str) -> None:
    words = shlex.split(line)
    option = words[words.index("") - 1]
    assert fairhold(*words, exits=2).stderr == f"{option} is empty: write what is meant, or leave it out [usage]\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "serve --observe-only p.yaml",
            "--kubeconfig, --context, --lease-namespace, --plan-object and --observe-only are",
        ),
        (
            "serve p.yaml --kubernetes --observe-only --lease-namespace here",
            "--no-lease and --observe-only, which needs none, exclude --lease-namespace",
        ),
        (
            "serve --plan-object research",
            "--kubeconfig, --context, --lease-namespace, --plan-object and --observe-only are of a cluster",
        ),
        ("submit /Research --spread --pack -- true", "--spread and --pack exclude each other"),
        ("submit /Research --unit cpu=1 --unit gpu=1 --units 2 -- true", "--units is for slots, and --unit for"),
        ("submit /Research --unit cpu=1 --unit cpu=2 -- true", "--unit cpu=1,cpu=2: write each resource once"),
        ("submit /Research --unit cpu=1 --units 2 -- true", "--units is for slots, and --unit for resources of hosts"),
        ("submit /Research --unit cpu=1 --group compute -- true", "--group is for slots: units of resources stand on"),
        ("submit /Research --min-count 2 -- true", "--min-count goes with --unit"),
        ("submit /Research --time-limit 0s -- true", "--time-limit is 0: leave out --time-limit for none"),
        ("submit /Research --time-limit 0 -- true", "--time-limit is 0: leave out --time-limit for none"),
        ("submit /Research --backoff 5s -- true", "--backoff goes with --retries"),
        ("submit --file jobs.yaml -n 5", "`submit --file` takes what jobs are from the file; with it go "),
        ("submit --file jobs.yaml --min-count 5", "`submit --file` takes what jobs are from the file; with it go "),
        ("jobs --all --state running", "--all shows ended jobs, and --state running jobs that have not ended"),
        ("logs 1 --attempt 0", "invalid value for `--attempt`: 0 is not in the range x>=1"),
        ("cancel -1", "no such option: -1"),
        ("show -1", "no such option: -1"),
        ("plan apply plan.yaml --for 0s", "invalid value for `--for`: `0s` is not above 0 and up to 366d"),
        ("plan apply plan.yaml --for 0", "invalid value for `--for`: `0` is not above 0 and up to 366d"),
        ("plan apply plan.yaml --for 367d", "invalid value for `--for`: `367d` is not above 0 and up to 366d"),
        ("plan apply plan.yaml --for -5m", "invalid value for `--for`: `-5m` is not a duration; write it as 30s, 10m"),
        ("plan diff plan.yaml --next 0s", "invalid value for `--next`: `0s` is not above 0 and up to 366d"),
        ("plan diff plan.yaml --checkpoint 0s", "invalid value for `--checkpoint`: `0s` is not above 0 and up to"),
        ("stop --drain --kill", "--drain and --kill exclude each other"),
        ("forecast 1 --state . --record .", "--state and --record exclude each other"),
        ("forecast 1 --service http://a:1 --state .", "--service and --state exclude each other"),
        ("forecast 1 --backtest .", "--backtest tries forecasts on its record: leave JOB, --service and --record out"),
        ("forecast 1 --at 2026-01-05T09:00:00Z", "--at is an instant of a record; name it by --record"),
    ],
)
def test_options_that_cannot_go_together_are_named(line: str, said: str) -> None:
    assert fairhold(*shlex.split(line), exits=2).stderr.startswith(said)
