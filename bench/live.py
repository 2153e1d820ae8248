"""The live service as its users find it: a real one for every figure, in a directory that goes afterwards."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.live_service import DISK, LiveService, live_service, plan_text
from bench.live_store import Writer
from fairhold.orchestrator.events import Woken
from fairhold.planio.plan import parse_plan
from fairhold.runtime.live.contents import LiveContents
from fairhold.runtime.live.desk import SLICE
from fairhold.runtime.live.recovery import Frozen
from fairhold.store import check_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.model.plan import Plan
    from fairhold.runtime.live.core import Core

    Row = dict[str, Any]

PATH = {"PATH": "/usr/bin:/bin"}
PAUSE = 0.12
"""Seconds between the end of a job and the next submit: cycles are 50 ms apart at least, and none is due by then."""
TASKS = 10_000
SLOTS = 16
WAITING = 100_000
EVENTS = 20_000


def live() -> dict[str, Row]:
    """All figures of the live service."""
    return {
        **latency("submit to process, idle slots", busy=0, goals=(8, 40)),
        **latency("submit to process, both cores busy", busy=2 * (os.cpu_count() or 1), goals=(40, 200)),
        **throughput(),
        **waiting(),
        **start(),
        **replay(),
        **check(),
        **snapshot(),
        **replanned(),
    }


def latency(name: str, *, busy: int, goals: tuple[float, float], jobs: int = 200) -> dict[str, Row]:
    """Milliseconds from a client's submit to the first act of the process, which tells the time.

    busy : tasks that keep the processors busy meanwhile
    """
    times = []
    with live_service(busy + 4) as service:
        if busy:
            service.submit("sh", "-c", "while :; do :; done", count=busy, consumer="/B", environment=PATH)
            time.sleep(1)
        for _ in range(jobs):
            begun = time.time_ns()
            job = service.submit("date", "+%s%N", environment=PATH)
            service.finish(job)
            told = (service.state / "jobs" / job / "0.1.out").read_text()
            times.append((int(told) - begun) / 1e6)
            time.sleep(PAUSE)
    times.sort()
    return {
        f"{name}, median": {"ms": round(median(times), 2), "goal_ms": goals[0]},
        f"{name}, 99th of 100": {"ms": round(times[len(times) * 99 // 100], 2), "goal_ms": goals[1]},
    }


def throughput(tasks: int = TASKS) -> dict[str, Row]:
    """Tasks of `true` in a second, durable, from submit to exit; and GNU parallel's with as many at a time."""
    name = f"{tasks:,} tasks of `true`, {SLOTS} at a time"
    with live_service(SLOTS) as service:
        begun = time.perf_counter()
        done = service.finish(service.submit("true", count=tasks, environment=PATH))
        rate = tasks / (time.perf_counter() - begun)
        assert done["tasks"]["done"] == tasks
    rows: dict[str, Row] = {name: {"per_s": round(rate), "goal_per_s": 450}}
    other = _parallel(tasks)
    if other is None:
        return rows | {f"{name}, of GNU parallel": {"skipped": "GNU parallel is not there"}}
    return rows | {f"{name}, of GNU parallel": {"ratio": round(rate / other, 2), "goal_ratio": 1.2}}


def _parallel(tasks: int) -> float | None:
    command = shutil.which("parallel")
    if command is None:
        return None
    with tempfile.TemporaryDirectory(dir=DISK) as folder:
        begun = time.perf_counter()
        subprocess.run(
            [command, "--will-cite", "-j", str(SLOTS), "true", ":::", *map(str, range(tasks))],
            check=True,
            env={**PATH, "HOME": folder, "TMPDIR": folder},
        )
        return tasks / (time.perf_counter() - begun)


def waiting(jobs: int = WAITING) -> dict[str, Row]:
    """A service with so many jobs of one task that wait: its memory, and a page of jobs out of their midst."""
    with live_service(4, starts=False) as service:
        _written(service, lambda writer: writer.pause().submit(jobs).snapshot())
        service.start()
        pages = [
            _timed(partial(service.get, f"/v1/jobs?limit=100&cursor=live-{jobs * part // 20}")) for part in range(1, 21)
        ]
        return {
            f"{jobs:,} waiting tasks, without compiled kernels": {"mb": service.rss_mb(), "goal_mb": 130},
            f"{jobs:,} waiting tasks, a page of jobs": {"ms": round(median(pages), 2), "goal_ms": 50},
        }


def start(events: int = EVENTS) -> dict[str, Row]:
    """Seconds from the command to the first answer, with a snapshot and so many entries of the log to read."""
    with live_service(64, starts=False) as service:
        _written(service, lambda writer: writer.submit(events).snapshot().run(events).pause())
        took = [_timed(service.launch)]
        for _ in range(2):
            service.kill()
            took.append(_timed(service.launch))
        return {f"start from a snapshot and {events:,} entries": {"ms": round(median(took)), "goal_ms": 1500}}


def replay(events: int = 10 * EVENTS) -> dict[str, Row]:
    """Entries a second of a replay of a whole log."""
    with tempfile.TemporaryDirectory(dir=DISK) as folder:
        writer = Writer(Path(folder) / "state", 64)
        writer.submit(1, count=events)
        writer.run(events)
        entries = writer.store.last
        writer.close()
        rates = []
        for _ in range(3):
            begun = time.perf_counter()
            Writer(Path(folder) / "state", 64).close()
            rates.append(entries / (time.perf_counter() - begun))
        return {"replay of a whole log": {"per_s": round(median(rates)), "goal_per_s": 50_000}}


def check(events: int = EVENTS) -> dict[str, Row]:
    """Milliseconds that a check of a store takes: all that is kept is read, and a start is tried with it."""
    with tempfile.TemporaryDirectory(dir=DISK) as folder:
        state = Path(folder) / "state"
        Writer(state, 64).submit(events).snapshot().run(events).close()
        took = []
        for _ in range(3):
            found: list[object] = []
            took.append(_timed(lambda: found.extend(check_store(state, LiveContents))))  # noqa: B023 - called at once
            assert not found
        name = f"store check: a snapshot, {events:,} entries after it, {events:,} jobs"
        return {name: {"ms": round(median(took)), "goal_ms": 3000}}


def snapshot(jobs: int = WAITING) -> dict[str, Row]:
    """The longest that a snapshot of so many jobs keeps the desk from its work."""
    with tempfile.TemporaryDirectory(dir=DISK) as folder:
        writer = Writer(Path(folder) / "state", 4)
        writer.submit(jobs)
        begun = time.perf_counter()
        frozen, more = Frozen(writer.core), True
        stalls = [(time.perf_counter() - begun) * 1e3]
        while more:
            begun = time.perf_counter()
            more = frozen.step(SLICE)
            stalls.append((time.perf_counter() - begun) * 1e3)
        stalls.append(_timed(frozen.end))
        writer.close()
        return {f"snapshot of {jobs:,} jobs, longest stall": {"ms": round(max(stalls), 2), "goal_ms": 20}}


def replanned(jobs: int = WAITING, running: int = 1_000) -> dict[str, Row]:
    """How long another plan keeps the desk from its work, until it is in force and durable, by what it changes."""
    rows = {}
    with tempfile.TemporaryDirectory(dir=DISK) as folder:
        for slots in (4, running):
            writer = Writer(Path(folder) / f"{slots}", slots).submit(jobs)
            if slots == running:
                writer.core.feed(Woken())
                writer.core.commit()
            before = f"{jobs:,} jobs, {running:,} of them running" if slots == running else f"{jobs:,} waiting jobs"
            for change, text in _changes(slots):
                took = []
                for each in (text, plan_text(slots)) * 3:  # there and back
                    plan = parse_plan(each, "plan", places=True)[0]
                    took.append(_timed(partial(_put, writer.core, each, plan)))
                rows[f"plan in force, {before}: {change}"] = {"ms": round(median(took[::2]), 2), "goal_ms": 100}
            writer.close()
    return rows


def _changes(slots: int) -> Iterator[tuple[str, str]]:
    """What is another in a plan, and its text."""
    for change in ("one quota", "a consumer more", "a window"):
        plan = json.loads(plan_text(slots))
        (entry,) = plan["policies"]
        if change == "one quota":
            entry["consumers"]["/A"]["owned"] += 1
        elif change == "a consumer more":
            plan["consumers"] = {"0": {}} | plan["consumers"]
        else:
            plan["time_zone"] = "UTC"
            plan["policies"] = [entry | {"window": "Mon 00:00-12:00"}, entry]
        yield change, json.dumps(plan)


def _put(core: Core, text: str, plan: Plan) -> None:
    core.apply_plan(text, "bench", "", core.version, plan=plan)
    core.commit()


def _timed(call: Callable[[], object]) -> float:
    """Milliseconds."""
    begun = time.perf_counter()
    call()
    return (time.perf_counter() - begun) * 1e3


def _written(service: LiveService, fill: Callable[[Writer], object]) -> None:
    """A store for a service that is to be started, made in a process that goes afterwards."""
    child = os.fork()
    if not child:
        code = 1
        try:
            writer = Writer(service.state, service.slots)
            fill(writer)
            writer.close()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
