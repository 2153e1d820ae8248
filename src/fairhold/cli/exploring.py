"""`explore`: what changes of a plan would change, once as text, or on a page of this machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.cli.explaining import explanations_in_words
from fairhold.cli.files import fault_document, print_json, print_text, unknown
from fairhold.cli.table import table
from fairhold.cli.windows import begin_of
from fairhold.cli.writing import STANDARD_OUTPUT, refuse_same, write_whole
from fairhold.errors import ArgumentError, BrokenRuleError, UsageError
from fairhold.lab.explorer import Explorer, nobody_wants
from fairhold.lab.explorer.numbers import number
from fairhold.planio.document import read_text
from fairhold.runtime.outlet import warn
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairhold.lab.explorer import Explored

CHANGED = "changed"
"""In the place of a consumer: all of whom any number differs."""
MOST_ROWS = 40
_NOBODY = "a state without demand"


def open_explorer(plan: Path, state: Path | None, begin: str) -> Explorer:
    """Read the files.

    begin : instant of a state that is not there, empty = now
    """
    if state is not None and begin:
        raise UsageError("with a STATE, its `now` is used; leave `--from` out")
    if state is None:
        text, name = nobody_wants(begin_of(None, begin) // SECOND * SECOND), _NOBODY
    else:
        text, name = read_text(state), str(state)
    return Explorer(read_text(plan), str(plan), text, name)


def print_explored(
    explorer: Explorer,
    changes: Sequence[str],
    consumers: Sequence[str],
    *,
    inputs: Sequence[Path],
    output: Path | None,
    state_output: Path | None,
    as_json: bool,
) -> None:
    """Print what changes, and why; write the changed files.

    consumers : whose explanations are wanted
    inputs    : files that are not written over

    Raises BrokenRuleError where the independent check finds the numbers wrong, and nothing is written then.
    """
    for target, option in ((output, "--output"), (state_output, "--state-output")):
        for source in inputs:
            if target is not None:
                refuse_same(target, source, f"{option} names an input")
    if output is not None and output == state_output:
        raise UsageError("`--output` and `--state-output` name one file; name two")
    explored = explorer.explore(changes)
    paths = _paths(explorer, explored, consumers)
    if explored.findings:
        raise BrokenRuleError("\n".join(map(str, explored.findings)))
    written = {output: explored.plan_document, state_output: explored.state_document}
    for target, document in written.items():
        if target not in (None, STANDARD_OUTPUT):
            write_whole(target, json.dumps(document, indent=1) + "\n")
    if STANDARD_OUTPUT in written:
        print_json(written[STANDARD_OUTPUT])
        return
    if as_json:
        print_json(_document(explorer, explored, changes, paths))
        return
    for warning in explored.warnings:
        warn(str(warning))
    print_text(_differences(explored))
    for path in paths:
        for when, of in (("before", None), ("after", explored)):
            told = explanations_in_words(explorer.why(path, of)) or f"{path} takes no part in any resource group"
            print_text(f"\n# {path}, {when}\n{told}")


def _paths(explorer: Explorer, explored: Explored, consumers: Sequence[str]) -> list[str]:
    """Whose explanations are wanted, each once."""
    found: dict[str, None] = {}
    for name in consumers:
        if name != CHANGED and name not in explorer.plan.tree.rows:
            raise ArgumentError([unknown("consumer", name, explorer.plan.tree.paths)])
        found |= dict.fromkeys(explored.changed() if name == CHANGED else [name])
    return list(found)


def _document(explorer: Explorer, explored: Explored, changes: Sequence[str], paths: Sequence[str]) -> dict[str, Any]:
    return {
        "changes": [*changes],
        "before": explorer.quotas,
        "after": explored.quotas,
        "differences": explored.differences,
        "warnings": [fault_document(fault) for fault in explored.warnings],
        "findings": [],
        "explanations": {path: {"before": explorer.why(path), "after": explorer.why(path, explored)} for path in paths},
    }


def _differences(explored: Explored) -> str:
    rows = explored.differences
    checked = "checked: every new number was computed again by independent code"
    if not rows:
        return f"no number differs; {checked}"
    cells = [
        (row.get("consumer", "-"), _group(row), row["key"], _end(row, "before"), _end(row, "after"), _by(row))
        for row in rows[:MOST_ROWS]
    ]
    text = table(("consumer", "in", "number", "before", "after", "by"), cells)
    more = f"\nand {len(rows) - MOST_ROWS:,} more numbers; --json has all" if len(rows) > MOST_ROWS else ""
    return f"{text}{more}\n{checked}"


def _group(row: dict[str, Any]) -> str:
    """A resource group, or a pool, with its groups where there are several of the same name."""
    parts = [row.get("resource_group"), f"pool {row['pool']}" if "pool" in row else None]
    return ", ".join(filter(None, parts))


def _end(row: dict[str, Any], end: str) -> object:
    """A number; that something is not there is no number."""
    return row.get(end, "none")


def _by(row: dict[str, Any]) -> str:
    old, new = number(row.get("before")), number(row.get("after"))
    return "" if old is None or new is None else f"{'+' if new > old else ''}{new - old}"
