"""`make bench`: measure everything, print a table, keep the figures in `bench/results/`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.clusters import busy_books, full_plan_text, plan_of, settled_books, twenty_consumers, wide_plan_text
from bench.following import following
from bench.golden import golden
from bench.kubernetes import kubernetes
from bench.live import live
from bench.machine import describe
from bench.pairs import pairs
from bench.people import people
from bench.pools import pools
from bench.queues import queues
from bench.simulations import simulations
from bench.vectors import vectors
from fairhold.cycle.run import run
from fairhold.kernels import _jit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

RESULTS = Path(__file__).parent / "results" / "latest.json"
COMMAND = Path(sys.executable).parent / "fairhold"


def timed(call: Callable[[], object], runs: int) -> float:
    """Median milliseconds of a call, after one that does not count."""
    call()
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        call()
        times.append((time.perf_counter() - started) * 1e3)
    return round(median(times), 3)


def peak_mb(command: Sequence[str]) -> float:
    """The most memory that a process holds at once, in MB."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, ending, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(ending)
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes here
    return round(usage.ru_maxrss * unit / 1e6, 1)


def processes() -> dict[str, dict[str, float]]:
    """Whole processes: start to exit."""
    with tempfile.TemporaryDirectory() as folder:
        plan, state = Path(folder) / "plan.json", Path(folder) / "state.json"
        for path, text in zip((plan, state), twenty_consumers(), strict=True):
            path.write_text(text)
        wide = Path(folder) / "wide.yaml"
        wide.write_text(wide_plan_text(200_000))
        full = Path(folder) / "full.yaml"
        full.write_text(full_plan_text(200_000))
        completion = {"_FAIRHOLD_COMPLETE": "complete_bash", "COMP_WORDS": "fairhold qu", "COMP_CWORD": "1"}

        def command(*args: object, **environment: str) -> Callable[[], object]:
            line = [str(COMMAND), *map(str, args)]
            return lambda: subprocess.run(line, check=False, capture_output=True, env={**os.environ, **environment})

        return {
            "--version": {"ms": timed(command("--version"), 15), "goal_ms": 100},
            "completion": {"ms": timed(command(**completion), 15), "goal_ms": 100},
            "quota, 20 consumers": {"ms": timed(command("quota", plan, state), 15), "goal_ms": 250},
            "check, 200,000 consumers": {
                "ms": timed(command("check", wide), 3),
                "goal_ms": 4000,
                "peak_mb": peak_mb([str(COMMAND), "check", str(wide)]),
            },
            "check, 200,000 consumers, every setting stated": {
                "ms": timed(command("check", full), 3),
                "peak_mb": peak_mb([str(COMMAND), "check", str(full)]),
            },
        }


def cycles() -> dict[str, dict[str, float]]:
    """One cycle, plain and compiled: at rest but for one leaf in a hundred, and when half of the leaves return."""
    found: dict[str, dict[str, float]] = {}
    for leaves, units, goal in ((1_000, 10_000, 5), (10_000, 100_000, 0), (100_000, 1_000_000, 100)):
        plan = plan_of(leaves)
        _jit.prefer_compiled(0)
        for experiment, books in (
            ("1 % changed", settled_books(plan, units, 0.01)),
            ("half returns", busy_books(plan, units)),
        ):
            for name, few_rows in (("plain", sys.maxsize), ("compiled", 0)):
                _jit.prefer_compiled(few_rows)
                result = run(books, 0)
                figures: dict[str, float] = {"ms": timed(partial(run, books, 0), 5 if leaves > 10_000 else 15)}
                if goal:  # the base install, without the compiler, is held to no goal: it is shown for information
                    figures["goal_ms" if name == "compiled" else "goal_compiled_ms"] = goal
                figures["reclaimed"] = sum(notice.units for notice in result.decision.notices)
                figures["granted"] = sum(grant.units for grant in result.decision.grants)
                found[f"cycle, {leaves:,} leaves, {units:,} units, {experiment}, {name}"] = figures
    return found


UNITS = {"ms": "ms", "mb": "MB", "per_s": "/s", "ratio": "times", "percent": "%", "cores": "cores"}
AT_LEAST = {"per_s", "ratio"}
"""Units of figures that are to be above their goal; the others are to be below."""


def is_missed(row: Mapping[str, Any]) -> bool:
    """Whether a figure is on the wrong side of its goal."""
    return any(
        row[unit] < row[f"goal_{unit}"] if unit in AT_LEAST else row[unit] > row[f"goal_{unit}"]
        for unit in UNITS
        if f"goal_{unit}" in row
    )


def line(name: str, row: Mapping[str, Any]) -> str:
    """One figure as it is printed."""
    if "skipped" in row:
        return f"{name:65} not measured: {row['skipped']}\n"
    if "ms" not in row:
        unit = next(each for each in UNITS if each in row)
        missed = " MISSED" if is_missed(row) else ""
        return f"{name:65} {row[unit]:10.2f} {UNITS[unit]:5} goal {row[f'goal_{unit}']:g}{missed}\n"
    goal = f"   goal {row['goal_ms']:g}{' MISSED' if is_missed(row) else ''}" if "goal_ms" in row else ""
    goal += f"   (no goal; {row['goal_compiled_ms']:g} where compiled)" if "goal_compiled_ms" in row else ""
    goal += f"   {row['peak_mb']:g} MB at most" if "peak_mb" in row else ""
    extra = f"   {row['granted']:g} granted, {row['reclaimed']:g} reclaimed" if "granted" in row else ""
    extra += f"   {row['jobs_per_s']:,} jobs/s, {row['events_per_s']:,} events/s" if "jobs_per_s" in row else ""
    return f"{name:65} {row['ms']:10.2f} ms{goal}{extra}\n"


PARTS: dict[str, Callable[[], Mapping[str, Mapping[str, Any]]]] = {
    "processes": processes,
    "cycles": cycles,
    "people": people,
    "following": following,
    "pools": pools,
    "queues": queues,
    "vectors": vectors,
    "simulations": simulations,
    "golden": golden,
    "live": live,
    "kubernetes": kubernetes,
    "pairs": pairs,
}


def main() -> None:
    """Measure, print, keep; only the parts that are named as arguments, and then without keeping."""
    machine = describe()
    chosen = sys.argv[1:] or [*PARTS]
    figures = {name: row for part in chosen for name, row in PARTS[part]().items()}
    for name, row in figures.items():
        sys.stdout.write(line(name, row))
    missed = [name for name, row in figures.items() if is_missed(row)]
    if missed:
        sys.stdout.write(f"GOALS MISSED: {'; '.join(missed)}\n")
    sys.stdout.write(f"{machine}\n")
    if chosen != [*PARTS]:
        return
    RESULTS.write_text(json.dumps({"machine": machine, "figures": figures}, indent=1) + "\n")


if __name__ == "__main__":
    main()
