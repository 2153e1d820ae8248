"""`consumers:` of a workload: the rules that lead from users, groups or queues to consumers."""

from __future__ import annotations

import re
from fnmatch import translate
from pathlib import Path
from typing import TYPE_CHECKING

from fairhold.errors import InputError
from fairhold.planio.report import kind, shown
from fairhold.traces.findings import HEADER, PATTERN
from fairhold.traces.opening import read_trace
from fairhold.traces.rules import Rule, highest_group, path_fault
from fairhold.traces.tables import rows_of

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

KEYS = ("match", "like", "table", "column", "to", "else")
_FORM = 'write `{match: {group: "vo(\\\\d+)"}, to: "/VO/\\\\1"}`, `{to: "/{group}"}` or `{else: /PATH}`'


def read_rules(report: Report, value: Value, place: Place, folder: Path) -> tuple[Rule, ...]:
    """Read the rules in order; `else` can only be the last."""
    rules = []
    items = report.sequence(value, place, what="rules")
    if value == []:
        report.fault("missing-key", "there are no rules", _FORM, place)
    for at, item in enumerate(items):
        here = (*place, at)
        if not isinstance(item, dict):
            report.fault("wrong-type", f"expected a rule, found {kind(item)}", _FORM, here)
            continue
        report.keys(item, KEYS, here, {})
        if "else" in item:
            if at < len(items) - 1 or len(item) > 1:
                what = "`else` is for jobs that no other rule matches"
                report.fault("wrong-place", what, "write it without other keys, as the last rule", (*here, "else"))
            rules.append(Rule(_read_path(report, item["else"], (*here, "else"))))
        else:
            rules.append(_read_rule(report, item, here, folder))
    return tuple(rules)


def _read_rule(report: Report, item: dict[str, Value], place: Place, folder: Path) -> Rule:
    found = []
    for key in ("match", "like"):
        stated = report.mapping(item.get(key), (*place, key), what="columns with patterns")
        for name, each in stated.items():
            found.append((name, read_pattern(report, each, (*place, key, name), is_wild=key == "like")))
    match = tuple((name, pattern) for name, pattern in found if pattern is not None)
    has_table = "table" in item
    if has_table != ("column" in item):
        report.missing(item, ("table", "column"), place, "a rule with a table")
    if not has_table:
        report.missing(item, ("to",), place, "a rule")
    table = read_table(report, item["table"], (*place, "table"), folder) if has_table else None
    column = report.text(item.get("column", ""), (*place, "column"), what="the name of a column")
    to = report.text(item.get("to", "{}" if has_table else ""), (*place, "to"), what="a path")
    groups = sum(pattern.groups for _, pattern in match)
    if highest_group(to) > groups:
        what = f"`{shown(to)}` names a group, and the expressions have {groups}"
        report.fault("out-of-range", what, "put the part to be used in parentheses, as `vo(\\d+)`", (*place, "to"))
        to = "/"
    if "{}" in to and not has_table:
        report.fault(
            "out-of-range",
            "`{}` stands for an entry of a table, and the rule has no table",
            "name a column in it",
            (*place, "to"),
        )
    if to and not to.startswith(("/", "{}")):
        report.fault("name", f"`{shown(to)}` is not a path", "write it with `/` first, as `/VO/\\1`", (*place, "to"))
    return Rule(to, match, column, table)


def read_pattern(report: Report, value: Value, place: Place, *, is_wild: bool = False) -> re.Pattern[str] | None:
    """A regular expression, or a pattern with `*`, `?` and `[…]`; a list fits where one of its patterns does."""
    texts = [shown(each) for each in (value if isinstance(value, list) else [value])]
    if not texts or any(
        isinstance(each, (dict, list)) or each is None for each in (value if isinstance(value, list) else [value])
    ):
        report.fault("wrong-type", f"expected a pattern, found {kind(value)}", "write a string", place)
        return None
    try:
        return re.compile("|".join(translate(text) if is_wild else text for text in texts))
    except (re.error, OverflowError, RecursionError) as error:
        report.fault(PATTERN, f"the expression cannot be read: {error}", "correct it, or use `like:`", place)
        return None


def read_table(report: Report, value: Value, place: Place, folder: Path = Path()) -> dict[str, str]:
    """What texts stand for: a mapping, or a CSV file."""
    if isinstance(value, str):
        return _read_entries(report, value, place, folder / value)
    stated = report.mapping(value, place, what="texts with their replacements, or the name of a CSV file")
    return {text: each if isinstance(each, str) else shown(each) for text, each in stated.items()}


def _read_entries(report: Report, value: str, place: Place, path: Path) -> dict[str, str]:
    """What the lines of a CSV file say: a text, what it stands for, and what nobody reads."""
    table = f"the table `{shown(value)}`"
    try:
        rows, lines = rows_of(read_trace(path), str(path), ",")
    except InputError as error:
        fault = error.faults[0]
        report.fault(fault.code, f"{table}: {fault.what}", fault.mend or "name another file", place)
        return {}
    found: dict[str, str] = {}
    for row, line in zip(rows, lines, strict=True):
        if len(row) == 1:
            report.fault(HEADER, f"{table} has one value in line {line}", "write `text,entry` lines", place)
            return {}
        if row and found.setdefault(row[0], row[1]) != row[1]:
            what = f"{table} has `{shown(row[0])}` in line {line} a second time, with another entry"
            report.fault("duplicate-key", what, "keep one of the two", place)
    return found


def _read_path(report: Report, value: Value, place: Place) -> str:
    path = report.text(value, place, what="the path of a consumer")
    wrong = path_fault(path) if isinstance(value, str) else ""
    if wrong:
        report.fault("name", wrong, "write the path of a leaf, as `/Other`", place)
    return path
