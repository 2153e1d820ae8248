"""Values that two plans say otherwise, in words: what is the same in several windows or of several hosts once."""

from __future__ import annotations

from fractions import Fraction
from itertools import takewhile
from operator import eq
from typing import TYPE_CHECKING, Any

from fairhold.cli.table import cut, table
from fairhold.model.hostnames import fold
from fairhold.model.vector import number

if TYPE_CHECKING:
    from collections.abc import Sequence

Document = dict[str, Any]
_LONGEST = 60
"""Cells of what a plan says at one place."""
_SHORT = 20
"""Characters of a value that the first line shows."""


def settings_text(settings: list[Document]) -> str:
    """What the new plan says otherwise, place by place; of long lists what differs."""
    if not settings:
        return "Changed in the plan: nothing"
    rows = [(row["place"], *_told_apart(row["old"], row["new"])) for row in settings]
    return "Changed in the plan:\n" + table(("place", "old", "new"), rows)


def settings_table(changes: list[Document]) -> str:
    """The same with equal changes in one row, and below the windows and the hosts that have them."""
    rows = [(_place(row), *_told_apart(row["old"], row["new"])) for row in changes]
    same = [f"{row['places'][0]}: the same in {_windows(row)}" for row in changes if len(row["entries"]) > 1]
    return "\n".join(["Changed in the plan:\n" + table(("place", "old", "new"), rows), *same])


def _place(row: Document) -> str:
    first: str = row["places"][0]
    if not row["hosts"]:
        return first
    group, _, key = row["at"].partition(".hosts.")
    return f"{group}.hosts.{', '.join(row['hosts'])}.{key}"


def _windows(row: Document) -> str:
    """The windows beyond the first one's that have the same change."""
    windows, entries = row["windows"][1:], row["entries"][1:]
    named = [window or f"policies[{entry}]" for window, entry in zip(windows, entries, strict=True)]
    if any(windows):
        return f"the {'window' if len(named) == 1 else 'windows'} {'; '.join(named)}"
    return ", ".join(named)


def change_text(row: Document) -> str:
    """One change in a few words: `/bio deserved +10 gpu`, `/Research limit none -> 40`."""
    whose = row["hosts"][:1] or [row["consumer"] or row["resource_group"]]
    where = " ".join(filter(None, (*whose, _last(row))))
    old, new = row["old"], row["new"]
    if _is_number(old) and _is_number(new):
        return f"{where} {_by(old, new)}"
    if isinstance(old, dict | None) and isinstance(new, dict | None) and _are_amounts(old or {}, new or {}):
        one, other = old or {}, new or {}
        more = [
            f"{_by(one.get(name, 0), other.get(name, 0))} {name}"
            for name in dict.fromkeys((*other, *one))
            if one.get(name, 0) != other.get(name, 0)
        ]
        return f"{where} {', '.join(more)}"
    if isinstance(old, list | None) and isinstance(new, list | None) and row["key"] in {"consumers", "hosts"}:
        return f"{where} {_members(old or [], new or [], is_hosts=row['key'] == 'hosts')}"
    told = f"{_word(old)} -> {_word(new)}"
    return f"{where} {told}" if _is_word(old) and _is_word(new) and len(told) <= 2 * _SHORT else where


def _last(row: Document) -> str:
    """A setting without what stands around it."""
    text: str = row["key"]
    return text.removeprefix("settings.").removeprefix("hosts." if row["hosts"] else "")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_amounts(one: Document, other: Document) -> bool:
    values = [*one.values(), *other.values()]
    return bool(values) and all(_is_number(each) for each in values)


def _is_word(value: object) -> bool:
    return not isinstance(value, dict | list)


def _word(value: object) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _by(old: object, new: object) -> str:
    """By how much an amount grows: `+4`."""
    more = Fraction(str(new)) - Fraction(str(old))
    return f"{'+' if more > 0 else '-'}{number(abs(more))}"


def _members(old: list[str], new: list[str], *, is_hosts: bool) -> str:
    """Which names came, and which went; hosts folded."""
    sides = [("+", [name for name in new if name not in old]), ("-", [name for name in old if name not in new])]
    both = [f"{sign}{name}" for sign, names in sides for name in (fold(names) if is_hosts else names)]
    return ", ".join(both[:3] or ["in another order"]) + (f" and {len(both) - 3} more" if len(both) > 3 else "")


def _told_apart(old: object, new: object) -> tuple[object, object]:
    """What stands at a place in two plans, in one line each; long lists without what both begin or end with."""
    one, other = _items(old), _items(new)
    if one is None or other is None or max(len(", ".join(one)), len(", ".join(other))) <= _LONGEST:
        return _line(old), _line(new)
    before = _alike(one, other)
    after = _alike(one[before:][::-1], other[before:][::-1])
    ends = "…" * (before > 0), "…" * (after > 0)
    left, right = (", ".join(each[before : len(each) - after]) for each in (one, other))
    same = _alike(left, right) if max(len(left), len(right)) > _LONGEST else 0
    if same > _LONGEST // 3:  # `cut` keeps the begin
        ends, left, right = ("…", ends[1]), left[same - _LONGEST // 6 :], right[same - _LONGEST // 6 :]
    return _cut(left.join(ends)), _cut(right.join(ends))


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many are the same from the begin on."""
    return sum(takewhile(bool, map(eq, one, other)))


def _items(value: object) -> list[str] | None:
    """What a list or a set of values consists of, in words; None = it is neither."""
    if isinstance(value, dict):
        return [f"{key}: {_stated(each)}" for key, each in value.items() if each is not None]
    return [str(_stated(each)) for each in value] if isinstance(value, list) else None


def _stated(value: object) -> object:
    """What stands in a plan, in one line."""
    items = _items(value)
    if items is None:
        return str(value).lower() if isinstance(value, bool) else value
    return ", ".join(items) or None


def _line(value: object) -> object:
    return _stated(value) if _items(value) is None else _cut(str(_stated(value) or "")) or None


def _cut(text: str) -> str:
    return cut(text, _LONGEST) if len(text) > _LONGEST else text
