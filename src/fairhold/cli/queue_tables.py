"""Queues for people: of every resource what each is entitled to, deserves, asks for and holds."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.cli.table import table
from fairhold.errors import printable
from fairhold.model.vector import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Document = dict[str, Any]
_HEAD = ("consumer", "resource", "fair share", "deserved", "limit", "requested", "allocated", "saturation")


def is_of_queues(group: Document) -> bool:
    """Whether a resource group of a result is shared by queues."""
    return "amounts" in group


def queue_table(name: str, group: Document) -> str:
    """A table of one group: a line for each resource of which a queue has or wants anything."""
    has = ", ".join(f"{printable(key)} {value}" for key, value in group["amounts"].items())
    rows = []
    counts = any("usage" in values for values in group["consumers"].values())
    for path, values in group["consumers"].items():
        for resource, fair in values["fair_share"].items():
            requested, allocated = values["requested"].get(resource, 0), values["allocated"].get(resource, 0)
            deserved = values["deserved"][resource]
            if path != "/" and (fair or requested or allocated or deserved):
                said = "all" if deserved is None else deserved
                saturation = _part(values["saturation"][resource])
                limit = values["limit"][resource]
                used = (f"{float(Fraction(values['usage'][resource])):.3f}",) if counts else ()
                rows.append((path, resource, fair, said, limit, requested, allocated, saturation, *used))
    return f"{printable(name)}: {has or 'empty'}\n" + table((*_HEAD, *(("history",) if counts else ())), rows)


def queue_columns(groups: Iterable[Document]) -> tuple[str, ...]:
    """The columns of the tables of groups."""
    counts = any("usage" in values for group in groups if is_of_queues(group) for values in group["consumers"].values())
    return (*_HEAD, "history") if counts else _HEAD


def _part(text: str) -> str:
    """A ratio as a number of two places: 1 is all of what one is entitled to."""
    if text == "unbounded":
        return text
    hundredths = round(Fraction(text) * 100)
    return f"{hundredths // 100}.{hundredths % 100:02}"


def changed_queues(name: str, group: Document) -> Iterator[str]:
    """What a difference of two plans says of the queues of a group; nothing where no numbers change."""
    changed = {path: values for path, values in group["consumers"].items() if "fair_share" in values and path != "/"}
    if not changed:
        return
    was, will = group["amounts"]
    now = 0 if will is None else 1
    one, other = was if will is None else will, will if was is None else was  # of one policy, or of both
    keys = dict.fromkeys((*one, *other))
    has = ", ".join(f"{printable(key)} {_arrow(other.get(key, 0), one.get(key, 0))}" for key in keys)
    rows = []
    for path, values in changed.items():
        called = f"{path} (was {values['was']})" if "was" in values else path
        for resource, (before, after) in values["fair_share"].items():
            deserved, limit = (
                (word if each is None else each for each in values[key][resource])
                for key, word in (("deserved", "all"), ("limit", "none"))
            )
            cells = _arrow(before, after), _arrow(*deserved), _arrow(*limit), values["allocated"][resource][now]
            rows.append((called, resource, _change(before, after), *cells))
    head = ("consumer", "resource", "fair share +/-", "fair share", "deserved", "limit", "allocated")
    yield f"{printable(name)}: {has or 'empty'}\n" + table(head, rows)


def _arrow(was: object, will: object) -> str:
    return str(will) if was == will else f"{was} -> {will}"


def _change(was: object, will: object) -> str:
    """By how much an amount grows: `+4`; `=` where it stays."""
    more = Fraction(str(will)) - Fraction(str(was))
    return f"{'+' if more > 0 else '-'}{number(abs(more))}" if more else "="
