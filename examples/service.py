"""The main job: a service shares this machine between a bank's departments, and every result is checked.

Starts `fairhold serve examples/bank.yaml`, submits several hundred prices (`bank-waves.yaml`) in waves through the
client library, watches who lends, borrows and gives back, and checks every result. Ends with a table. On a terminal the
service stays up afterwards and it is said how to look at it; without one it ends by itself and leaves nothing behind.
Exits 1 where anything is off.

    python examples/service.py
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import fairhold
from fairhold.planio.jobs import read_jobs
from fairhold.planio.plan import read_plan
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairhold.client.answers import Consumer, Job
    from fairhold.client.synchronous import Client
    from fairhold.model.job import Job as Wave

HERE = Path(__file__).resolve().parent
PLAN, WAVES = HERE / "bank.yaml", HERE / "bank-waves.yaml"
LONGEST = 150.0
"""Seconds after which something has certainly gone wrong, also on a slow machine."""
PACE = 0.2


@dataclass
class Watch:
    """What was seen of the leaves while the work ran."""

    owned: dict[str, int] = field(default_factory=dict)
    borrowed: Counter[str] = field(default_factory=Counter)
    lent: Counter[str] = field(default_factory=Counter)

    def see(self, consumers: Sequence[Consumer]) -> None:
        """Keep the largest numbers."""
        for consumer in consumers:
            if consumer.is_leaf:
                self.owned[consumer.path] = consumer.owned
                self.borrowed[consumer.path] = max(self.borrowed[consumer.path], consumer.borrowed)
                self.lent[consumer.path] = max(self.lent[consumer.path], consumer.lent)


def main() -> int:
    """Run and check; returns the exit code."""
    state = Path(tempfile.mkdtemp(prefix="fairhold-bank-"))
    with (state / "service.log").open("w") as log:
        command = [sys.executable, "-m", "fairhold", "serve", str(PLAN), "--state", str(state), "--port", "0"]
        service = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=_environment(state))
    faults = ["it did not come to an end"]
    try:
        wait_for_it(state, service)
        with fairhold.connect(f"unix:{state / 'api.sock'}") as client:
            faults = list(carry_out(client))
        if not faults and sys.stdout.isatty():
            stay(state, service)
    finally:
        stop(state, service)
    for fault in faults:
        print(f"bank: {fault}", file=sys.stderr)
    if faults:
        print(f"bank: the service's log is {state / 'service.log'}", file=sys.stderr)
        return 1
    shutil.rmtree(state)
    return 0


def _environment(state: Path) -> dict[str, str]:
    """The jobs call `python3`: let it be the interpreter that runs this."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**os.environ, "PATH": path, "FAIRHOLD_STATE": str(state)}


def wait_for_it(state: Path, service: subprocess.Popen[bytes]) -> None:
    """Wait until the service listens."""
    end = time.monotonic() + LONGEST
    while not (state / "service.json").exists():
        if service.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"bank: the service did not start:\n{(state / 'service.log').read_text()}")
        time.sleep(0.02)


def carry_out(client: Client) -> Iterator[str]:
    """Submit the waves, watch, and check; what is off."""
    plan, _ = read_plan(PLAN)
    waves = sorted(read_jobs(WAVES, plan), key=lambda wave: wave.submit)
    began = time.monotonic()
    watch, jobs = Watch(), list[tuple["Wave", "Job"]]()
    told = 0.0
    while True:
        elapsed = time.monotonic() - began
        while len(jobs) < len(waves) and waves[len(jobs)].submit <= elapsed * SECOND:
            wave = waves[len(jobs)]
            jobs.append((wave, submit(client, wave, plan.tree.paths[wave.consumer])))
            print(f"{elapsed:5.1f} s  {wave.name}: {wave.count} tasks for {plan.tree.paths[wave.consumer]}")
        consumers = client.consumers()
        watch.see(consumers)
        if elapsed - told >= 2:
            told = elapsed
            print(f"{elapsed:5.1f} s  " + summary(consumers))
        if len(jobs) == len(waves) and all(client.job(job.name).is_over for _, job in jobs):
            break
        if elapsed > LONGEST:
            yield "it takes too long"
            return
        time.sleep(PACE)
    yield from judge(client, jobs, watch, plan.tree.paths)
    if not any(watch.borrowed.values()) or not any(watch.lent.values()):
        yield "nothing was lent or borrowed"


def submit(client: Client, wave: Wave, path: str) -> Job:
    """Submit one wave."""
    return client.submit(path, wave.argv, name=wave.name, count=wave.count, directory=wave.directory)


def summary(consumers: Sequence[Consumer]) -> str:
    """Who holds how much, in a line."""
    leaves = [consumer for consumer in consumers if consumer.is_leaf]
    return "  ".join(
        f"{leaf.path.rpartition('/')[2]} {leaf.allocated}"
        + (f"+{leaf.waiting}" if leaf.waiting else "")
        + (f" (borrows {leaf.borrowed})" if leaf.borrowed else f" (lends {leaf.lent})" if leaf.lent else "")
        for leaf in leaves
    )


def judge(client: Client, jobs: Sequence[tuple[Wave, Job]], watch: Watch, paths: Sequence[str]) -> Iterator[str]:
    """Check every result, and print what every leaf got."""
    reclaimed: Counter[str] = Counter()
    right: Counter[str] = Counter()
    waits: dict[str, list[float]] = {}
    for wave, job in jobs:
        path = paths[wave.consumer]
        for task in client.tasks(job.name):
            reclaimed[path] += sum(attempt.reason in {"reclaim", "yielded"} for attempt in task.attempts)
            first = task.attempts[0].started
            if first is not None and job.submitted is not None:
                waits.setdefault(path, []).append((first - job.submitted).total_seconds())
        results = client.results(job.name)
        if len(results) != wave.count:
            yield f"{wave.name} has {len(results)} results of {wave.count}"
        for result in results:
            fault = wrong(wave, result.index, result.state, result.text)
            if fault:
                yield f"{wave.name}[{result.index}] {fault}"
            else:
                right[path] += 1
    print(f"\n{'leaf':24}{'owned':>6}{'borrowed':>10}{'lent':>6}{'reclaimed':>11}{'waited':>9}{'right':>7}")
    for path, owned in watch.owned.items():
        mine = sorted(waits.get(path, [0.0]))
        print(
            f"{path:24}{owned:>6}{watch.borrowed[path]:>10}{watch.lent[path]:>6}{reclaimed[path]:>11}"
            f"{mine[len(mine) // 2]:>7.1f} s{right[path]:>7}"
        )
    print("borrowed and lent: the most at once; waited: the median from the submission to the first start\n")
    if not any(reclaimed.values()):
        yield "nothing was reclaimed"


def wrong(wave: Wave, index: int, state: str, text: str) -> str:
    """What is wrong with one result, empty = nothing."""
    if state != "done":
        return f"is {state}: {text[:200]}"
    try:
        result = json.loads(text)
    except ValueError:
        return f"printed no result: {text[:200]!r}"
    strike = float(wave.argv[wave.argv.index("--strike") + 1])
    seed = wave.argv[wave.argv.index("--seed") + 1].replace("{index}", str(index))
    if (str(result["seed"]), result["strike"]) != (seed, strike):
        return f"answers another question: {text[:200]}"
    if not result["is_right"] or abs(result["price"] - black_scholes(strike)) > 5 * result["error"]:
        return f"has a wrong price: {text[:200]}"
    return ""


def black_scholes(strike: float) -> float:
    """The price of the call of `price.py`, worked out anew: spot 100, one year, 2 % rate, 20 % volatility."""

    def normal(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    first = (math.log(100 / strike) + 0.02 + 0.02) / 0.2
    return 100 * normal(first) - strike * math.exp(-0.02) * normal(first - 0.2)


def stay(state: Path, service: subprocess.Popen[bytes]) -> None:
    """On a terminal the service stays until Ctrl-C."""
    command = f"FAIRHOLD_STATE={state} {Path(sys.executable).parent / 'fairhold'}"
    print(f"The service stays up. In another terminal: {command} top")
    print(f"  or: {command} submit /Research/Models -- sleep 5")
    print("Ctrl-C stops it, with all that it runs.")
    try:
        service.wait()
    except KeyboardInterrupt:
        print()


def stop(state: Path, service: subprocess.Popen[bytes]) -> None:
    """Stop the service with all that runs; nothing is left behind."""
    if service.poll() is None:
        command = [sys.executable, "-m", "fairhold", "stop", "--kill"]
        subprocess.run(command, env=_environment(state), check=False, stdout=subprocess.DEVNULL, timeout=LONGEST)
    try:
        service.wait(LONGEST)
    except subprocess.TimeoutExpired:
        service.send_signal(signal.SIGKILL)
        service.wait()


if __name__ == "__main__":
    sys.exit(main())
