"""The main job: a service shares this machine between a bank's departments, and every result is checked.

Starts `fairhold serve examples/bank.yaml`, submits several hundred prices (`bank-waves.yaml`) in waves through the
client library, watches who lends, borrows and gives back, and checks every result. Ends with a table, and with why a
quota was as it was and why slots were taken back. On a terminal the service stays up afterwards and it is said how to
look at it; without one it ends by itself within a minute and leaves nothing behind: on a machine that is too slow for
that, what is not done by then is cancelled, and the table says so (not with `--whole`). Exits 1 where anything is off.

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
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.live import Live

import fairhold
from fairhold.cli.live.drawing import in_colours
from fairhold.cli.words import document_in_words
from fairhold.planio.jobs import read_jobs
from fairhold.planio.plan import read_plan
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairhold.client.answers import Consumer, Job
    from fairhold.client.synchronous import Client
    from fairhold.model.job import Job as Wave
    from fairhold.model.plan import Plan

HERE = Path(__file__).resolve().parent
PLAN, WAVES = HERE / "bank.yaml", HERE / "bank-waves.yaml"
LONGEST = 150.0
"""Seconds after which something has certainly gone wrong, also on a slow machine."""
LAST_WAVE, CUT = 42.0, 49.0
"""Seconds from the start of this program on after which nothing more is submitted, and what is not done is cancelled,
where there is no terminal: the rest of a minute is for the checks and for the service to end.
"""
BEGAN = time.monotonic()
PACE, LINE = 0.2, 2.0
"""Seconds between two looks, and between two lines where there is no terminal."""


@dataclass
class Watch:
    """What was seen of the leaves while the work ran.

    quota   : consumer, instant and explanation of a quota while the consumer had to give slots back
    is_told : it gave them to another department
    cut     : what was not done for want of time, empty = all was done
    """

    owned: dict[str, int] = field(default_factory=dict)
    borrowed: Counter[str] = field(default_factory=Counter)
    lent: Counter[str] = field(default_factory=Counter)
    quota: tuple[str, float, str] | None = None
    is_told: bool = False
    cut: str = ""

    def see(self, client: Client, consumers: Sequence[Consumer], elapsed: float) -> None:
        """Keep the largest numbers, and the first explanation that says something."""
        for consumer in consumers:
            if consumer.is_leaf:
                path = consumer.path
                self.owned[path] = consumer.owned
                self.borrowed[path] = max(self.borrowed[path], consumer.borrowed)
                self.lent[path] = max(self.lent[path], consumer.lent)
                if consumer.document["reclaiming"] and not self.is_told:
                    self._explain(client, path, elapsed)
                elif consumer.borrowed and self.quota is None:  # a busy machine may be asked too late for a reclaim
                    self.quota = path, elapsed, document_in_words(client.explain_consumer(path)["explanations"][0])

    def _explain(self, client: Client, path: str, elapsed: float) -> None:
        """Keep why a consumer that gives slots back has its quota; best where another department gets them."""
        found = client.explain_consumer(path)["explanations"][0]
        takers = [move["for"] for move in found["moves"] if move["consumer"] == path and move["for"]]
        if takers:
            self.is_told = any(department(taker) != department(path) for taker in takers)
            self.quota = path, elapsed, document_in_words(found)


class Stage:
    """Where the run is shown: drawn anew all the time on a terminal, else a line now and then."""

    def __init__(self) -> None:
        self._console = Console()
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._told = 0.0
        if sys.stdout.isatty():
            self._live.start()

    def close(self) -> None:
        """Draw no more."""
        self._live.stop()

    def say(self, text: str) -> None:
        """A line that stays."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def show(self, consumers: Sequence[Consumer], elapsed: float) -> None:
        """Who holds how much."""
        if self._live.is_started:
            drawn = in_colours(as_asked(consumers), self._console.width)
            self._live.update(drawn.append(f"{elapsed:.0f} s", style="dim"), refresh=True)
        elif elapsed - self._told >= LINE:
            self._told = elapsed
            self.say(f"{elapsed:5.1f} s  " + summary(consumers))


def as_asked(consumers: Sequence[Consumer]) -> dict[str, Any]:
    """The consumers of the only resource group, as the service says them."""
    ((name, group),) = read_plan(PLAN)[0].resource_groups.items()
    held = sum(consumer.allocated for consumer in consumers if consumer.is_leaf)
    rows = [consumer.document for consumer in consumers]
    return {"resource_groups": {name: {"slots": group.slots, "idle": group.slots - held, "consumers": rows}}}


def summary(consumers: Sequence[Consumer]) -> str:
    """Who holds how much, in a line."""
    leaves = [consumer for consumer in consumers if consumer.is_leaf]
    return "  ".join(
        f"{leaf.path.rpartition('/')[2]} {leaf.allocated}"
        + (f"+{leaf.waiting}" if leaf.waiting else "")
        + (f" (borrows {leaf.borrowed})" if leaf.borrowed else f" (lends {leaf.lent})" if leaf.lent else "")
        for leaf in leaves
    )


def main() -> int:
    """Run and check; returns the exit code."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    state = Path(tempfile.mkdtemp(prefix="fairhold-service-"))
    service = start(state)
    faults, is_done = ["it did not come to an end"], False
    try:
        wait_for_it(state, service)
        with fairhold.connect(f"unix:{state / 'api.sock'}") as client:
            faults = list(carry_out(client, state))
        is_done = True
        if not faults and sys.stdout.isatty():
            stay(state, service)
    except KeyboardInterrupt:
        print("\nIt is being stopped, with all that it runs.", flush=True)
        faults = []
    finally:
        stop(state, service)
        if not faults:
            shutil.rmtree(state)
    for fault in faults:
        print(f"bank: {fault}", file=sys.stderr)
    if faults:
        print(f"bank: the service's log is {state / 'service.log'}", file=sys.stderr)
    return 1 if faults else 0 if is_done else 128 + signal.SIGINT


def start(state: Path) -> subprocess.Popen[bytes]:
    """Start the service, in a session of its own: Ctrl-C is for this program."""
    command = [sys.executable, "-m", "fairhold", "serve", str(PLAN), "--state", str(state), "--port", "0"]
    with (state / "service.log").open("a") as log:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=_environment(state),
            start_new_session=True,
        )


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


def carry_out(client: Client, state: Path) -> Iterator[str]:
    """Submit the waves, watch, and check; what is off."""
    plan, _ = read_plan(PLAN)
    watch = Watch()
    with closing(Stage()) as stage:
        sent = work(client, stage, watch, plan)
    if not all(client.job(job.name).is_over for _, job in sent):
        yield "it takes too long"
        return
    missing = [*explain(client, sent, watch, state)]
    yield from judge(client, sent, watch, plan.tree.paths)
    if not any(watch.borrowed.values()) or not any(watch.lent.values()):
        missing.append("nothing was lent or borrowed")
    if not watch.cut:  # else there was no time for all that there is to see
        yield from missing


def work(client: Client, stage: Stage, watch: Watch, plan: Plan) -> list[tuple[Wave, Job]]:
    """Submit every wave when its time comes, and watch until all are over, or it takes too long."""
    waves = sorted(read_jobs(WAVES, plan), key=lambda wave: wave.submit)
    sent: list[tuple[Wave, Job]] = []
    began = time.monotonic()
    while (elapsed := time.monotonic() - began) < LONGEST:
        while len(sent) < len(waves) and waves[len(sent)].submit <= elapsed * SECOND and is_time_for(LAST_WAVE):
            wave = waves[len(sent)]
            path = plan.tree.paths[wave.consumer]
            job = client.submit(path, wave.argv, name=wave.name, count=wave.count, directory=wave.directory)
            sent.append((wave, job))
            stage.say(f"{elapsed:5.1f} s  {wave.name}: {wave.count} tasks for {path}")
        consumers = client.consumers()
        watch.see(client, consumers, elapsed)
        stage.show(consumers, elapsed)
        if (len(sent) == len(waves) or not is_time_for(LAST_WAVE)) and not client.jobs(limit=1):
            break
        if not watch.cut and not is_time_for(CUT):
            watch.cut = cut_short(client, sent, len(waves))
        time.sleep(PACE)
    if len(sent) < len(waves):
        watch.cut = watch.cut or f"{len(waves) - len(sent)} of {len(waves)} waves came too late"
    return sent


def is_time_for(seconds: float) -> bool:
    """Whether it is not so late yet; somebody who watches has the time."""
    return sys.stdout.isatty() or "--whole" in sys.argv or time.monotonic() - BEGAN < seconds


def cut_short(client: Client, sent: Sequence[tuple[Wave, Job]], waves: int) -> str:
    """Cancel what is not over; what is not done by that."""
    left = 0
    for _, job in sent:
        tasks = client.job(job.name).tasks
        left += tasks["waiting"] + tasks["delayed"] + tasks["running"]
        client.cancel(job)
    return f"{left} tasks were cancelled, {waves - len(sent)} of {waves} waves not submitted"


def judge(client: Client, jobs: Sequence[tuple[Wave, Job]], watch: Watch, paths: Sequence[str]) -> Iterator[str]:
    """Check every result, and print what every leaf got."""
    reclaimed: Counter[str] = Counter()
    right: Counter[str] = Counter()
    waits: dict[str, list[float]] = {}
    for wave, job in jobs:
        path = paths[wave.consumer]
        for task in client.tasks(job.name):
            reclaimed[path] += sum(attempt.reason in {"reclaim", "yielded"} for attempt in task.attempts)
            first = task.attempts[0].started if task.attempts else None
            if first is not None and job.submitted is not None:
                waits.setdefault(path, []).append((first - job.submitted).total_seconds())
        results = client.results(job.name)
        if len(results) != wave.count:
            yield f"{wave.name} has {len(results)} results of {wave.count}"
        for result in results:
            if watch.cut and result.state == "cancelled":
                continue
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
    total = sum(wave.count for wave, _ in jobs)
    if watch.cut:
        print(f"cut short to end within a minute, for this machine is slow: {watch.cut}")
    print("borrowed and lent: the most at once; waited: the median from the submission to the first start")
    print(f"{sum(right.values())} of {total} results are right, each by its seed, its strike and the formula")
    if not any(reclaimed.values()) and not watch.cut:
        yield "nothing was reclaimed"
    if not any(right.values()):
        yield "nothing came to its end"


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


def explain(client: Client, jobs: Sequence[tuple[Wave, Job]], watch: Watch, state: Path) -> Iterator[str]:
    """Say why a quota was as it was, and why slots were taken back."""
    if watch.quota is None:
        yield "no quota was explained"
    else:
        path, elapsed, text = watch.quota
        print(f"\nWhy this quota of {path} after {elapsed:.1f} s? `fairhold explain {path}` said then:\n\n{text}")
    reclaims = [(job, row) for _, job in jobs for row in client.explain(job)["reclaims"] if row["for"]]
    if not reclaims:
        yield "no reclaim was explained"
        return
    # One between departments says more than one inside a department.
    job, reclaim = max(reclaims, key=lambda each: department(each[0].consumer) != department(each[1]["for"]))
    print(f"\nWhy did {job.consumer} have to give slots to {reclaim['for']}? `fairhold explain {job.name}` says:\n")
    sys.stdout.flush()
    command = [sys.executable, "-m", "fairhold", "explain", job.name]
    if subprocess.run(command, env=_environment(state), check=False).returncode:
        yield f"`fairhold explain {job.name}` failed"


def department(path: str) -> str:
    """The first level of a path."""
    return path.split("/")[1]


def stay(state: Path, service: subprocess.Popen[bytes]) -> None:
    """On a terminal the service stays until Ctrl-C."""
    command = Path(sys.executable).with_name("fairhold")
    with fairhold.connect(f"unix:{state / 'api.sock'}") as client:
        address = client.status()["service"]["address"]
    print("\nThe service stays up. To look at it from another terminal:\n")
    print(f"  export FAIRHOLD_STATE={state}")
    for words in ("console", "top", "jobs --all", "submit /Research/Models -n 20 -- sleep 5", "explain 1", "usage"):
        print(f"  {command} {words}")
    print(f"\nIts web console is at {address}/console/; the first command opens it, signed in.")
    print("Ctrl-C stops it, with all that it runs.", flush=True)
    service.wait()


def stop(state: Path, service: subprocess.Popen[bytes]) -> None:
    """Stop the service with all that runs; nothing is left behind."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if service.poll() == 0:  # somebody has stopped it, and its tasks may run on
        service = start(state)
        wait_for_it(state, service)
    command = [sys.executable, "-m", "fairhold", "stop", "--kill"]
    try:
        if service.poll() is None:
            subprocess.run(command, env=_environment(state), check=False, stdout=subprocess.DEVNULL, timeout=LONGEST)
        service.wait(LONGEST)
    except subprocess.TimeoutExpired:
        service.kill()
        service.wait()
    wait_for_agent(state)


def wait_for_agent(state: Path) -> None:
    """Wait until the agent, which ends after the service, has gone from the directory."""
    end = time.monotonic() + LONGEST
    while any(str(state).encode() in words for words in commands()) and time.monotonic() < end:
        time.sleep(0.02)


def commands() -> Iterator[bytes]:
    """How the processes of this machine were started."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            yield file.read_bytes()


if __name__ == "__main__":
    sys.exit(main())
