"""The main job: a bank's three departments share this machine for half a minute, and every result is checked.

Runs `fairhold run examples/bank.yaml examples/bank-jobs.yaml`, then looks only at what the run has left on disk: every
task must have exactly one good result, slots must have been lent, borrowed and taken back, and no rule of the plan may
have been broken on the way. Ends with two questions to `fairhold explain`: why this quota, why this reclaim.
Exits 1 where anything is off.

    python examples/bank.py [OUTPUT]
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairhold.planio.jobs import read_jobs
from fairhold.planio.plan import read_plan
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairhold.model.job import Job
    from fairhold.model.plan import Plan

HERE = Path(__file__).resolve().parent
PLAN, JOBS = HERE / "bank.yaml", HERE / "bank-jobs.yaml"
LONGEST = 150
"""Seconds after which a run has certainly gone wrong, also on a slow machine."""
Line = dict[str, Any]


def main(arguments: Sequence[str]) -> int:
    """Run and check; returns the exit code."""
    output = Path(arguments[0]) if arguments else Path(tempfile.mkdtemp(prefix="fairhold-bank-"))
    code = fairhold("run", PLAN, JOBS, "--output", output)
    if code:
        print(f"bank: `fairhold run` ended with {code}", file=sys.stderr)
        return 1
    plan, _ = read_plan(PLAN)
    jobs = read_jobs(JOBS, plan)
    lines = [json.loads(line) for line in (output / "record.jsonl").read_text(encoding="utf-8").splitlines()]
    course = Course(plan, {job.name: job for job in jobs})
    faults = [*wrong_results(jobs, output, finished_attempts(lines)), *course.follow(lines)]
    if not faults:
        print(f"\n{sum(job.count for job in jobs)} results checked, each there once and right; {course}")
        faults += explain(lines, output)
    for fault in faults:
        print(f"bank: {fault}", file=sys.stderr)
    return 1 if faults else 0


def fairhold(*arguments: str | Path) -> int:
    """Call the command; returns its exit code."""
    # The jobs call `python3`: let it be the interpreter that runs this.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    command = [sys.executable, "-m", "fairhold", *map(str, arguments)]
    sys.stdout.flush()
    return subprocess.run(command, env={**os.environ, "PATH": path}, timeout=LONGEST, check=False).returncode


def finished_attempts(lines: Sequence[Line]) -> dict[tuple[str, int], list[int]]:
    """Job and index of every task → numbers of its attempts that finished, by the record.

    What another attempt has printed is no result: it may have been stopped just before its end and is then run again.
    """
    starts = {row["attempt"]: row for line in lines for row in line.get("instructions", ()) if row["kind"] == "Start"}
    finished: dict[tuple[str, int], list[int]] = {}
    for line in lines:
        if line["kind"] == "TaskEnded" and line["outcome"] == "finished":
            start = starts[line["attempt"]]
            finished.setdefault((start["job"], start["index"]), []).append(start["number"])
    return finished


def wrong_results(
    jobs: Sequence[Job], output: Path, finished: Mapping[tuple[str, int], Sequence[int]]
) -> Iterator[str]:
    """What is wrong with the results: each task must have exactly one, with its own seed and the right price."""
    for job in jobs:
        for index in range(job.count):
            files = [output / job.name / f"{index}.{number}.out" for number in finished.get((job.name, index), ())]
            texts = [file.read_text(encoding="utf-8") for file in files]
            results = [json.loads(text) for text in texts if text.startswith("{") and text.endswith("}\n")]
            if len(results) != 1 or len(files) != 1:
                yield f"{job.name}[{index}] has {len(results)} results of {len(files)} attempts that finished"
            for result in results:
                seed = job.argv[job.argv.index("--seed") + 1].replace("{index}", str(index))
                strike = float(job.argv[job.argv.index("--strike") + 1])
                if str(result["seed"]) != seed or result["strike"] != strike:
                    yield f"{job.name}[{index}] answers another question: {result}"
                if not result["is_right"] or abs(result["price"] - black_scholes(strike)) > 5 * result["error"]:
                    yield f"{job.name}[{index}] has a wrong price: {result}"


def black_scholes(strike: float) -> float:
    """The price of the call of `price.py`, worked out anew: spot 100, one year, 2 % rate, 20 % volatility."""

    def normal(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    first = (math.log(100 / strike) + 0.02 + 0.02) / 0.2
    return 100 * normal(first) - strike * math.exp(-0.02) * normal(first - 0.2)


@dataclass
class Course:
    """The course of the run, followed line by line through its record."""

    plan: Plan
    jobs: dict[str, Job]
    held: Counter[str] = field(default_factory=Counter)
    running: dict[int, str] = field(default_factory=dict)
    noticed: set[int] = field(default_factory=set)
    most_borrowed: int = 0
    most_lent: int = 0
    taken_back: int = 0

    def __str__(self) -> str:
        return f"at most {self.most_borrowed} slots borrowed and {self.most_lent} lent, {self.taken_back} taken back"

    def follow(self, lines: Sequence[Line]) -> Iterator[str]:
        """Go through the record; what is off."""
        for line in lines:
            if line["kind"] == "TaskEnded":
                self._end(line["attempt"])
            for instruction in line.get("instructions", ()):
                self._carry_out(instruction)
            yield from self._broken_rules(line["now"])
        if self.running:
            yield f"{len(self.running)} attempts never ended"
        if not (self.most_borrowed and self.most_lent and self.taken_back):
            yield f"nothing was shared: {self}"

    def _end(self, attempt: int) -> None:
        self.held[self.running.pop(attempt)] -= 1
        self.taken_back += attempt in self.noticed

    def _carry_out(self, instruction: Line) -> None:
        attempt = instruction["attempt"]
        if instruction["kind"] == "Start":
            path = self.plan.tree.paths[self.jobs[instruction["job"]].consumer]
            self.running[attempt] = path
            self.held[path] += 1
        elif instruction["kind"] == "Notify":
            self.noticed.add(attempt)
        elif instruction["kind"] == "Withdraw":
            self.noticed.discard(attempt)

    def _broken_rules(self, now: str) -> Iterator[str]:
        """Slots and limits that are exceeded, reserves that are used by others; counts loans on the way."""
        settings = {self.plan.tree.paths[row]: own for row, own in self.plan.policies[0].consumers.items()}
        slots = self.plan.resource_groups["compute"].slots
        if sum(self.held.values()) > slots:
            yield f"{now}: more than {slots} slots are used"
        borrowed = lent = idle_reserves = 0
        for row, path in enumerate(self.plan.tree.paths):
            if self.plan.tree.is_leaf(row):
                own, held = settings[path], self.held[path]
                if held > min(own.limit, UNLIMITED):
                    yield f"{now}: {path} uses {held} slots, its limit is {own.limit}"
                borrowed += max(0, held - own.owned)
                lent += max(0, own.owned - max(held, own.reserved))
                idle_reserves += max(0, own.reserved - held)
        if sum(self.held.values()) > slots - idle_reserves:
            yield f"{now}: reserved slots are used by others"
        self.most_borrowed = max(self.most_borrowed, borrowed)
        self.most_lent = max(self.most_lent, min(borrowed, lent))


def explain(lines: Sequence[Line], output: Path) -> Iterator[str]:
    """Let `fairhold explain` say why a consumer has its quota, and why a slot was taken from its holder."""
    reclaims = [(line, row) for line in lines for row in line.get("reclaims", ()) if row["reason"] == "quota"]
    # One between departments says more than one inside a department.
    line, reclaim = max(reclaims, key=lambda each: department(each[1]["for"]) != department(each[1]["consumer"]))
    for question, consumer in (("quota", reclaim["for"]), ("reclaim", reclaim["consumer"])):
        print(f"\nWhy this {question} of {consumer}, cycle {line['cycle']} at {line['now']}?\n")
        code = fairhold("explain", PLAN, output / line["state"], consumer)
        if code:
            yield f"`fairhold explain` of the {question} of {consumer} ended with {code}"


def department(path: str) -> str:
    """The first level of a path."""
    return path.split("/")[1]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
