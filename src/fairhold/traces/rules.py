"""Which consumer a row belongs to: rules in order, the first that fits holds."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairhold.planio.names import name_fault
from fairhold.traces.findings import CONSUMER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.traces.tables import Table

_PIECE = re.compile(r"\{([^{}]*)\}|\\([0-9]{1,2})")


@dataclass(frozen=True, slots=True)
class Rule:
    r"""One rule.

    match : (column, expression that its whole value has to fit), all of them
    to    : path, where `{column}` stands for a value and `\1` for a group of the expressions, counted through
    table : value of `column` → what `{}` in `to` stands for; None = no table
    """

    to: str
    match: tuple[tuple[str, re.Pattern[str]], ...] = ()
    column: str = ""
    table: Mapping[str, str] | None = field(default=None, hash=False)

    def columns(self) -> tuple[str, ...]:
        """Every column that it looks at."""
        named = [name for name, _ in _PIECE.findall(self.to) if name]
        return (*(name for name, _ in self.match), *((self.column,) if self.column else ()), *named)

    def path(self, row: Mapping[str, str]) -> str:
        """The path of a row, empty where the rule does not fit it, or a value that it needs is empty."""
        groups: list[str] = []
        for name, pattern in self.match:
            match = pattern.fullmatch(row[name])
            if match is None:
                return ""
            groups += [group or "" for group in match.groups()]
        entry = "" if self.table is None else self.table.get(row[self.column], "")
        if self.table is not None and not entry:
            return ""
        found = ""
        at = 0
        for piece in _PIECE.finditer(self.to):
            value = groups[int(piece[2]) - 1] if piece[2] else row[piece[1]] if piece[1] else entry
            if not value:
                return ""
            found += self.to[at : piece.start()] + value
            at = piece.end()
        return found + self.to[at:]


def highest_group(to: str) -> int:
    r"""The largest number of a group that a path names, 0 for none; `\0` counts as one that no expression has."""
    return max((int(group) or 100 for _, group in _PIECE.findall(to) if group), default=0)


def path_fault(path: str) -> str:
    """What is wrong with the path of a consumer; empty where nothing is."""
    if not path.startswith("/"):
        return f"`{path}` does not start with `/`"
    return next(filter(None, map(name_fault, path[1:].split("/"))), "")


def consumers_of(table: Table, rules: Sequence[Rule]) -> tuple[list[int | None], tuple[str, ...]]:
    """The place of each row's consumer among the paths, in the order in which they are met; None with a finding."""
    names = tuple(dict.fromkeys(name for rule in rules for name in rule.columns()))
    if not names and rules:
        return [0] * len(table), (rules[0].to,)
    cells = [table.cells(name) for name in names]
    places: dict[str, int] = {}
    place_of: dict[tuple[str, ...], int | None] = {}
    found: list[int | None] = []
    for row, values in enumerate(zip(*cells, strict=True)):
        if values not in place_of:
            told = dict(zip(names, values, strict=True))
            path = next(filter(None, (rule.path(told) for rule in rules)), "")
            is_good = path and not path_fault(path)
            place_of[values] = places.setdefault(path, len(places)) if is_good else None
        place = place_of[values]
        if place is None:
            said = ", ".join(f"{name}: {value}" for name, value in zip(names, values, strict=True))
            table.findings.add(CONSUMER, "no rule matches", table.lines[row], said)
        found.append(place)
    return found, tuple(places)
