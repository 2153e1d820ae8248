"""`plan suggest`: the smallest change of a plan under which a consumer waits no longer than asked, and its price."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import yaml

from fairhold.cli.advance import INTERRUPTED, Advance
from fairhold.cli.files import print_json, print_text, unknown
from fairhold.cli.one_plan import read_of_one_plan
from fairhold.cli.table import table
from fairhold.cli.writing import write_whole
from fairhold.errors import ArgumentError, Fault, InputError, UsageError, count
from fairhold.lab.candidates import candidates
from fairhold.lab.changing import changed
from fairhold.lab.expecting import parse_expectation
from fairhold.lab.scenario import plan_document
from fairhold.lab.suggesting import Bench, suggest
from fairhold.planio.report import shown
from fairhold.runtime.outlet import warn
from fairhold.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairhold.lab.expecting import Expectation
    from fairhold.lab.suggesting import Found, Measured, Suggested

Document = dict[str, Any]
_WAIT = re.compile(r"\s*([a-z0-9]+)\s*(<=?)\s*(\S+)\s*")
_HOUR = 3_600_000_000
MOST = 10
"""Changes that are shown; `--json` has all."""


def suggest_plan(
    path: Path,
    consumer: str,
    wait: str,
    only: str,
    output: Path | None,
    *,
    draws: int,
    processes: int,
    as_json: bool,
) -> int:
    """Search and print; 1 where no change will do."""
    asked = _asked(consumer, wait)
    scenarios = [read_of_one_plan(path, only, draw) for draw in range(draws)]
    ((name, experiment),) = scenarios[0].experiments.items()
    if consumer not in experiment.plan.tree.rows:
        raise ArgumentError([replace(unknown("consumer", consumer, experiment.plan.tree.paths), place=("--consumer",))])
    for fault in scenarios[0].findings.faults():
        warn(str(fault))
    document = plan_document(path, name)
    bench = Bench(scenarios, document, asked)
    advance = Advance()
    try:
        found = suggest(
            bench,
            candidates(experiment.plan_with_all_nodes, document, consumer),
            processes,
            lambda done, whole: advance.show(f"{done:,} of {count(whole, 'change')}", done, whole),
        )
    finally:
        advance.close()
    if output is not None and found.best is not None:
        text = json.loads(changed(document, found.best.changes))
        write_whole(output, yaml.safe_dump(text, sort_keys=False, allow_unicode=True, width=120))
    if found.before.never:
        jobs = count(found.before.never, "job")
        warn(f"{jobs} of `{shown(consumer)}` can never run under this plan; they are not part of any wait shown here")
    if not found.is_whole:
        warn(f"interrupted: {len(found.tried):,} changes were tried, and not all; a smaller one may be enough")
    if as_json:
        print_json(_document(found, asked, document))
    else:
        print_text(_text(found, asked, document))
    if not found.is_whole:
        return INTERRUPTED
    return 0 if found.is_kept or found.best is not None else 1


def _asked(consumer: str, wait: str) -> Expectation:
    match = _WAIT.fullmatch(wait)
    if match is None:
        what = f"`{shown(wait)}` is not a bound of a wait"
        raise InputError([Fault("expectation", what, "write it as `p95 < 60s`", ("--wait",))])
    statistic, sign, bound = match.groups()
    if statistic == "count":
        raise InputError([Fault("expectation", "`count` is not a wait", "write it as `p95 < 60s`", ("--wait",))])
    if any(each in consumer for each in "() ") or not consumer.startswith("/"):
        raise UsageError(f"--consumer: `{shown(consumer)}` is not a path; write it as /Trading/Risk")
    return parse_expectation(f"wait.{statistic}({consumer}) {sign} {bound}")


# What is printed


def _document(found: Suggested, asked: Expectation, plan: Document) -> Document:
    return {
        "asked": asked.text,
        "is_kept": found.is_kept,
        "is_whole": found.is_whole,
        "played": found.played,
        "before": {
            "numbers": list(found.before.numbers),
            "consumers": found.before.costs,
            "never_run": found.before.never,
        },
        "changes": [
            {
                "will_do": each.will_do,
                "size": each.size,
                "steps": [{"what": one.words, "kind": one.kind, "by": value} for one, value in each.changes],
                "settings": _settings(each, plan),
                "numbers": list(each.measured.numbers),
                "fault": each.measured.fault or None,
                "is_steady": each.is_steady,
                "played": each.played,
                "consumers": each.measured.costs,
                "never_run": each.measured.never,
            }
            for each in found.tried
        ],
    }


def _settings(found: Found, plan: Document) -> list[Document]:
    """Every setting that is changed; of a pair that changes the same twice, what it says in the end."""
    last: dict[str, Document] = {}
    for candidate, value in found.changes:
        for row in candidate.settings(plan, value):
            last[row["place"]] = row
    return list(last.values())


def _text(found: Suggested, asked: Expectation, plan: Document) -> str:
    now = f"{asked.number} is {asked.words(found.before.worst)}"
    if found.is_kept:
        return f"{now}: already as asked, {asked.text}"
    best = found.best
    plans = f"{count(found.played, 'plan')} {'was' if found.played == 1 else 'were'} played"
    if best is None:
        rows = [_row(each, found.before, asked) for each in found.tried[:MOST] if each.measured.numbers]
        told = f"{now}; no change that was tried is enough for {asked.text} ({plans})"
        return f"{told}. The nearest:\n{table(_HEAD, rows)}" if rows else f"{told}"
    good = [each for each in found.tried if each.will_do]
    settings = [(row["place"], _said(row["old"]), _said(row["new"])) for row in _settings(best, plan)]
    texts = [
        f"{now}, asked is {asked.text}; {plans}. Changes that are enough, the smallest first:",
        table(_HEAD, [_row(each, found.before, asked) for each in good[:MOST]]),
        *([f"and {len(good) - MOST} more; --json has all"] if len(good) > MOST else []),
        "",
        "The smallest:",
        table(("place", "old", "new"), settings),
        "",
        "Its effect on all consumers:",
        _costs(found.before, best.measured),
    ]
    if not best.is_steady:
        texts.append(
            "One step more is not enough: a larger value does not always help here; try values near it with `sweep`."
        )
    return "\n".join(texts)


_HEAD = ("size", "change", "by", "wait", "mean wait of all", "lost h")


def _row(found: Found, before: Measured, asked: Expectation) -> Sequence[object]:
    more = found.measured.costs["/"]["wait.mean"] - before.costs["/"]["wait.mean"]
    lost = [each.costs["/"]["lost"] / _HOUR for each in (before, found.measured)]
    return (
        found.size,
        " and ".join(each.words for each, _ in found.changes),
        " and ".join(str(value) for _, value in found.changes),
        asked.words(_seconds(found.measured.worst)),
        f"{'-' if more < 0 else '+'}{format_duration(_seconds(abs(more)))}",
        f"{lost[0]:.1f} -> {lost[1]:.1f}",
    )


def _costs(before: Measured, after: Measured) -> str:
    rows = []
    for path, was in before.costs.items():
        will = after.costs[path]
        waits = (
            f"{format_duration(_seconds(was[name]))} -> {format_duration(_seconds(will[name]))}"
            for name in ("wait.mean", "wait.p95")
        )
        sums = (f"{was[name] / _HOUR:.1f} -> {will[name] / _HOUR:.1f}" for name in ("deficit", "lost"))
        rows.append((path, *waits, *sums))
    return table(("consumer", "wait mean", "p95", "deficit h", "lost h"), rows)


def _seconds(micros: int) -> int:
    """A wait to the second, where it is longer than one."""
    return micros - micros % 1_000_000 if micros > 1_000_000 else micros


def _said(value: object) -> object:
    return json.dumps(value) if isinstance(value, (dict, list)) else value
