"""Commands on jobs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairhold.cli.live.options import (
    STATES,
    Consumer,
    Duration,
    JobArgument,
    JobArguments,
    Json,
    Pair,
    Service,
    Size,
    complete_consumer,
    complete_group,
    complete_job,
    complete_state,
)
from fairhold.errors import UsageError, printable

if TYPE_CHECKING:
    from fairhold.cli.live.submitting import Wishes

_WHEN = Duration()


JobFile = Annotated[Path | None, typer.Option("--file", metavar="JOBS", help="Submit the jobs of a job file instead.")]
Count = Annotated[
    str,
    typer.Option("-n", "--count", metavar="COUNT[%THROTTLE]", help="Tasks; after %, how many may run at once."),
]
Unit = Annotated[
    list[str] | None,
    typer.Option(
        "--unit", metavar="NAME=AMOUNT,...", help="What each task needs of resources, as cpu=4,gpu=1; may be repeated."
    ),
]
MinCount = Annotated[
    int, typer.Option("--min-count", metavar="N", help="With --unit: number of tasks that start together.", min=0)
]
Preemptible = Annotated[
    bool | None,
    typer.Option(
        "--preemptible/--no-preemptible",
        help="In a queue: whether units may be reclaimed; default: yes below priority 100.",
    ),
]
Units = Annotated[int, typer.Option("--units", metavar="N", help="Number of slots of each task.", min=1)]
Group = Annotated[str, typer.Option("--group", metavar="GROUP", help="Resource group.", autocompletion=complete_group)]
Priority = Annotated[
    int, typer.Option("--priority", metavar="N", help="Higher numbers are served first within the leaf.")
]
Name = Annotated[str, typer.Option("--name", metavar="NAME", help="Name of the job.")]
Labels = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="NAME=VALUE", help="Label of the job. Repeatable.", click_type=Pair()),
]
TimeLimit = Annotated[
    str | None,
    typer.Option("--time-limit", metavar="DURATION", help="Longest run time of an attempt.", click_type=_WHEN),
]
Memory = Annotated[
    int | None, typer.Option("--memory", metavar="SIZE", help="Memory limit of an attempt, as 2GiB.", click_type=Size())
]
After = Annotated[
    list[str] | None,
    typer.Option(
        "--after",
        metavar="ok:JOB",
        help="Start after a job has ended: ok:17, fail:17 or any:17. Repeatable.",
        autocompletion=complete_job,
    ),
]
Retries = Annotated[int, typer.Option("--retries", metavar="N", help="Number of retries of a task that fails.", min=0)]
Backoff = Annotated[
    str | None, typer.Option("--backoff", metavar="DURATION", help="Delay before the first retry.", click_type=_WHEN)
]
Hold = Annotated[bool, typer.Option("--hold", help="Hold the job until it is released.")]
Stdin = Annotated[
    Path | None, typer.Option("--stdin", metavar="FILE", help="File that tasks read; `-` is standard input.")
]
Env = Annotated[
    list[str] | None,
    typer.Option("--env", metavar="NAME=VALUE", help="Environment variable. Repeatable.", click_type=Pair()),
]
CleanEnv = Annotated[bool, typer.Option("--clean-env", help="Set only the variables of --env.")]
Directory = Annotated[
    Path | None, typer.Option("--directory", metavar="DIRECTORY", help="Working directory; default: the current one.")
]
SignalName = Annotated[str, typer.Option("--signal", metavar="NAME", help="Signal of a notice; default: TERM.")]
Lead = Annotated[
    str | None,
    typer.Option(
        "--lead",
        metavar="DURATION",
        help="How long before the deadline the signal is sent; default: at once.",
        click_type=_WHEN,
    ),
]
Need = Annotated[
    list[str] | None,
    typer.Option("--need", metavar="LABEL", help="Label that the host must have: NAME=VALUE or NAME. Repeatable."),
]
Prefer = Annotated[
    list[str] | None,
    typer.Option("--prefer", metavar="LABEL", help="Label of preferred hosts. Repeatable."),
]
Avoid = Annotated[
    list[str] | None, typer.Option("--avoid", metavar="LABEL", help="A host must not have it. May be repeated.")
]
Spread = Annotated[bool, typer.Option("--spread", help="Tasks, and units of a task, go on different hosts.")]
Pack = Annotated[bool, typer.Option("--pack", help="Tasks go side by side, all units of a task on one host.")]
Wait = Annotated[bool, typer.Option("--wait", help="End when the job is over, with its exit code.")]
Owner = Annotated[str, typer.Option("--user", metavar="USER", help="Submit in the name of this user.")]
Notify = Annotated[
    str | None, typer.Option("--notify", metavar="EVENTS", help="Tell its owner: start,reclaim,withdrawn,end, or none.")
]
Key = Annotated[str, typer.Option("--key", metavar="KEY", help="The same key again is the same job.")]


def submit(
    consumer: Annotated[
        str, typer.Argument(metavar="CONSUMER", help="Full path of a leaf.", autocompletion=complete_consumer)
    ] = "",
    argv: Annotated[list[str] | None, typer.Argument(metavar="ARGV...", help="The command, after `--`.")] = None,
    *,
    file: JobFile = None,
    count: Count = "1",
    units: Units = 1,
    unit: Unit = None,
    min_count: MinCount = 0,
    preemptible: Preemptible = None,
    group: Group = "",
    priority: Priority = 0,
    name: Name = "",
    labels: Labels = None,
    time_limit: TimeLimit = None,
    memory: Memory = None,
    after: After = None,
    retries: Retries = 0,
    backoff: Backoff = None,
    hold: Hold = False,
    stdin: Stdin = None,
    env: Env = None,
    clean_env: CleanEnv = False,
    directory: Directory = None,
    signal: SignalName = "",
    lead: Lead = None,
    need: Need = None,
    prefer: Prefer = None,
    avoid: Avoid = None,
    spread: Spread = False,
    pack: Pack = False,
    user: Owner = "",
    notify: Notify = None,
    wait: Wait = False,
    key: Key = "",
    service: Service = "",
    json: Json = False,
) -> None:
    """Submit a job and print its number."""
    from fairhold.cli.live.jobfile import submit_file  # noqa: PLC0415
    from fairhold.cli.live.submitting import Wishes, submit_job  # noqa: PLC0415

    _refuse(("--time-limit is 0: leave out --time-limit for none", _is_zero(time_limit)))
    wishes = Wishes(
        count=count,
        units=units,
        unit=",".join(unit or ()),
        min_count=min_count,
        preemptible=preemptible,
        resource_group=group,
        priority=priority,
        name=name,
        labels=labels or [],
        time_limit=time_limit,
        memory=memory,
        after=after or [],
        retries=retries,
        backoff=backoff,
        hold=hold,
        stdin=stdin,
        env=env or [],
        clean_env=clean_env,
        directory=directory,
        signal=signal,
        lead=lead,
        need=need or [],
        prefer=prefer or [],
        avoid=avoid or [],
        place="spread" if spread else "pack" if pack else "",
        user=user,
        notify=notify,
    )
    _refuse(("--spread and --pack exclude each other", spread and pack), *_at_odds(wishes, is_file=file is not None))
    if file is not None:
        raise typer.Exit(submit_file(service, file, consumer, wishes, key, wait=wait, as_json=json))
    raise typer.Exit(submit_job(service, consumer, argv or [], wishes, key, wait=wait, as_json=json))


def _at_odds(wishes: Wishes, *, is_file: bool) -> tuple[tuple[str, bool], ...]:
    """What options do not go together, and whether they are."""
    has_unit = bool(wishes.unit)
    is_late = wishes.backoff is not None and not wishes.retries
    return (
        ("--units is for slots, and --unit for resources of hosts: write one of them", has_unit and wishes.units != 1),
        (
            "--group is for slots: units of resources stand on any host of their policy entry",
            has_unit and bool(wishes.resource_group),
        ),
        ("--min-count goes with --unit", bool(wishes.min_count) and not has_unit and not is_file),
        ("--backoff goes with --retries", is_late and not is_file),
    )


def _is_zero(duration: str | None) -> bool:
    from fairhold.units import parse_duration  # noqa: PLC0415

    return duration is not None and not parse_duration(str(duration))


def _refuse(*wrong: tuple[str, bool]) -> None:
    """Raise UsageError with the first that is so."""
    for what, is_so in wrong:
        if is_so:
            raise UsageError(what)


When = Annotated[bool, typer.Option("--when", help="Also show the place in the line, and the expected start.")]


def jobs(
    *,
    consumer: Annotated[
        str, typer.Option("--consumer", metavar="CONSUMER", help="Of this one.", autocompletion=complete_consumer)
    ] = "",
    state: Annotated[
        str,
        typer.Option(
            "--state", metavar="STATE", help="waiting, blocked, held, running, …", autocompletion=complete_state
        ),
    ] = "",
    user: Annotated[str, typer.Option("--user", metavar="USER", help="Of this user.")] = "",
    label: Annotated[
        str | None, typer.Option("--label", metavar="NAME=VALUE", help="With this label.", click_type=Pair())
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Finished ones too, the latest end first.")] = False,
    sort: Annotated[str, typer.Option("--sort", metavar="COLUMN", help="By this column; -COLUMN = downwards.")] = "",
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most so many; 0 = all.", min=0)] = 100,
    when: When = False,
    service: Service = "",
    json: Json = False,
) -> None:
    """List jobs; waiting jobs with the reason."""
    from fairhold.cli.live.listing import list_jobs  # noqa: PLC0415

    if state and state not in STATES:
        raise UsageError(f"--state {printable(state)}: write one of {', '.join(STATES)}")
    is_over = state in {"done", "failed", "cancelled"}
    _refuse(
        (
            f"--all shows ended jobs, and --state {state} jobs that have not ended",
            everything and bool(state) and not is_over,
        )
    )
    name, _, value = (label or "").partition("=")
    query = {
        "consumer": consumer or None,
        "state": state or None,
        "user": user or None,
        "label": f"{name}:{value}" if label else None,
        "all": 1 if everything or is_over else None,
        "sort": sort or None,
        "expected": 1 if when else None,
    }
    list_jobs(service, query, limit, as_json=json)


def show(
    job: JobArgument,
    *,
    tasks: Annotated[int, typer.Option("--tasks", metavar="N", help="At most so many; 0 = all.", min=0)] = 20,
    when: When = False,
    service: Service = "",
    json: Json = False,
) -> None:
    """Show a job with its tasks and their attempts."""
    from fairhold.cli.live.listing import show_job  # noqa: PLC0415

    show_job(service, job, tasks, has_start=when, as_json=json)


TaskArgument = Annotated[
    str, typer.Argument(metavar="JOB[.TASK]", help="Number of the job, and of a task.", autocompletion=complete_job)
]
Attempt = Annotated[
    int | None,
    typer.Option("--attempt", metavar="N", help="Number of the attempt, from 1; default: the latest.", min=1),
]


def logs(
    job: TaskArgument,
    *,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Follow the output until the task has ended.")] = False,
    attempt: Attempt = None,
    service: Service = "",
) -> None:
    """Print the output of tasks."""
    from fairhold.cli.live.output import print_output  # noqa: PLC0415

    raise typer.Exit(print_output(service, job, attempt or 0, follow=follow))


def files(
    job: TaskArgument,
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="In the job directory; default: the job directory itself.")
    ] = "",
    *,
    attempt: Attempt = None,
    service: Service = "",
    json: Json = False,
) -> None:
    """List what a task has left in its job directory."""
    from fairhold.cli.live.job_files import list_files  # noqa: PLC0415

    list_files(service, job, folder, attempt or 0, as_json=json)


def fetch(
    job: TaskArgument,
    path: Annotated[str, typer.Argument(metavar="PATH", help="Of a file in the job directory.")],
    *,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="File to write; default: the last part of PATH.")
    ] = "",
    attempt: Attempt = None,
    service: Service = "",
) -> None:
    """Copy a file from the job directory of a task; `-o -` prints it."""
    from fairhold.cli.live.job_files import fetch_file  # noqa: PLC0415

    fetch_file(service, job, path, output, attempt or 0)


def cancel(job: JobArguments, *, service: Service = "", json: Json = False) -> None:
    """Stop jobs and all of their tasks."""
    _change(service, job, "cancel", json=json)


def hold(
    job: JobArguments,
    *,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")] = "",
    service: Service = "",
    json: Json = False,
) -> None:
    """Hold jobs: no more of their tasks start; running tasks continue."""
    _change(service, job, "hold", {"reason": reason} if reason else {}, json=json)


def release(job: JobArguments, *, service: Service = "", json: Json = False) -> None:
    """Release held jobs."""
    _change(service, job, "release", json=json)


def requeue(job: JobArguments, *, service: Service = "", json: Json = False) -> None:
    """Stop the running tasks of jobs and queue them again."""
    _change(service, job, "requeue", json=json)


def move(job: JobArgument, consumer: Consumer, *, service: Service = "", json: Json = False) -> None:
    """Move a job to another leaf."""
    _change(service, [job], "", {"consumer": consumer}, json=json)


def priority(
    job: JobArgument,
    number: Annotated[int, typer.Argument(metavar="N", help="Higher numbers are served first within the leaf.")],
    *,
    service: Service = "",
    json: Json = False,
) -> None:
    """Change the priority of a job."""
    _change(service, [job], "", {"priority": number}, json=json)


def _change(service: str, jobs: list[str], verb: str, body: dict[str, object] | None = None, *, json: bool) -> None:
    from fairhold.cli.live.changing import change_jobs  # noqa: PLC0415

    raise typer.Exit(change_jobs(service, jobs, verb, body or {}, as_json=json))
