"""What a change of plan comes to, in words: one line first, then what matters, with equal rows folded into one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.cli.keeping import kept_lines, nothing_stopped, waits_text
from fairhold.cli.plan_timeline import hours_word, lost_text
from fairhold.cli.table import table
from fairhold.cli.values import change_text, settings_table
from fairhold.model.hostnames import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Document = dict[str, Any]
Clock = Callable[[str], str | None]
"""An instant as it is shown."""
_NAMED = 3
"""Values and consumers that the first line names; the others are counted."""
_MOST = 20
"""Rows of a table."""
_HOUR = 3600


def as_it_is(instant: str) -> str:
    """An instant in UTC, as documents have it."""
    return instant


def first_line(document: Document, clock: Clock = as_it_is) -> str:
    """How many values change, what is stopped and lost, and who waits longer."""
    summary, coming = document["summary"], document.get("over_time")
    parts = [_values(summary), _stopped(summary, coming, clock)]
    if coming:
        parts[-1] += f"; {waits_text(coming['waits'])}"
    if document.get("in_the_way"):
        parts.append("It cannot be in force yet, see below")
    return " ".join(f"{part}." for part in parts)


def _values(summary: Document) -> str:
    number, changes = summary["values"], summary["changes"]
    if not number:
        return "No value changed"
    named = ", ".join(map(change_text, changes[:_NAMED]))
    more = f" and {len(changes) - _NAMED} more" if len(changes) > _NAMED else ""
    return f"{number} {'value' if number == 1 else 'values'} changed: {named}{more}"


def _stopped(summary: Document, coming: Document | None, clock: Clock) -> str:
    if coming is None:  # the plan is in force by now
        told = summary["notices"]
        if not told["units"]:
            return nothing_stopped(summary) if summary["nothing_taken"] else "Nothing is reclaimed because of it"
        return f"{_count(told['units'], 'unit')} to give back by {clock(told['by'])}"
    alone = coming["alone"]
    if not alone["units"]:
        return "Nothing is stopped because of it" if coming["stops"] else nothing_stopped(summary)
    what = _count(alone["units"], "unit") if alone["tasks"] is None else _count(alone["tasks"], "task")
    return f"{what} stopped by {clock(alone['by'])}{_lost(coming)}"


def _lost(coming: Document) -> str:
    """What of the resource of which the most is lost: `, 0.1 gpu-hours lost`."""
    lost = coming["alone"]["lost"]
    first = next((each for each in coming["resources"] if each["resource"] in lost), None)
    if first is None:
        return ", no work lost"
    hours = Fraction(str(lost[first["resource"]])) / _HOUR
    said = f"{float(hours):.1f}" if hours >= Fraction(1, 10) else f"{float(hours):.2f}"
    return f", {'less than 0.01' if said == '0.00' else said} {hours_word(first)} lost"


def brief_text(
    document: Document, numbers: Callable[[Document], list[str]], when: Callable[[Document], str], clock: Clock
) -> str:
    """What matters of a difference below its first line.

    numbers : tables of those whose numbers differ now; when : when a switch of windows is
    """
    texts = [settings_table(document["summary"]["changes"])] if document["summary"]["values"] else []
    texts += numbers(document) or ["No numbers change now."]
    texts += _at_windows(document, numbers, when)
    coming, reclaims = document.get("over_time"), document["reclaims"]
    if coming:
        alone = [row | {"units": row["units"] - row["anyway"]} for row in coming["stops"]]
        stops = [row for row in alone if row["units"]]
        texts += [f"Stopped only by the new plan:\n{_moves(stops, clock, coming['resources'])}"] if stops else []
        texts += _over_time(coming, clock)
    elif reclaims["added"]:
        texts.append(f"Reclaimed by the new plan:\n{_moves(reclaims['added'], clock)}")
    if reclaims["removed"]:
        texts.append(f"No longer reclaimed:\n{_moves(reclaims['removed'], clock)}")
    lines = list(kept_lines(document["summary"]))
    texts += ["Why the rest stays:\n" + "\n".join(f"- {line}" for line in lines)] if lines else []
    return "\n\n".join(texts)


def _at_windows(
    document: Document, numbers: Callable[[Document], list[str]], when: Callable[[Document], str]
) -> Iterator[str]:
    """What differs at the coming switches, the same once with the first of them, and how many there are."""
    alike: dict[str, list[Document]] = {}
    for each in document.get("windows") or ():
        told = "\n\n".join(numbers(each))
        if told:
            alike.setdefault(told, []).append(each)
    for told, switches in alike.items():
        more = f", and the same at {_count(len(switches) - 1, 'more switch', 'es')}" if len(switches) > 1 else ""
        yield f"{when(switches[0])}{more}:\n{told}"


def _over_time(coming: Document, clock: Clock) -> Iterator[str]:
    """Stops and lost work in all, where they differ by more than what is stopped of what is held now."""
    sums = coming["consumers"].values()
    was, will = (sum(each["stopped"][side] for each in sums) for side in (0, 1))
    if will - was != coming["alone"]["units"]:
        lost = lost_text([_sum(each["lost_of"][side] for each in sums) for side in (0, 1)], coming["resources"])
        yield f"Until {clock(coming['until'])}: {was} -> {will} units stopped, {lost or 'no work'} lost"


def _sum(lost: Iterable[Document]) -> Document:
    """Amounts of several, by resource."""
    found: dict[str, Fraction] = {}
    for each in lost:
        for name, amount in each.items():
            found[name] = found.get(name, Fraction(0)) + Fraction(str(amount))
    return found


def _moves(rows: list[Document], clock: Clock, resources: Sequence[Document] = ()) -> str:
    """Rows of units that go, one for each consumer, taker and reason; hosts and requests folded.

    resources : those of which work is lost
    """
    together: dict[tuple[object, ...], list[Document]] = {}
    for row in rows:
        key = tuple(row.get(name) for name in ("consumer", "resource_group", "for", "reason"))
        together.setdefault(key, []).append(row)
    has_hosts, has_requests = (any(row.get(name) for row in rows) for name in ("host", "request"))
    is_lost = any("lost" in row for row in rows)
    head = ["consumer", "group", *(["requests"] if has_requests else []), *(["hosts"] if has_hosts else [])]
    cells = [
        [
            *key[:2],
            *([_few([str(row["request"]) for row in mine if row.get("request")])] if has_requests else []),
            *([_few(fold(row["host"] for row in mine if row.get("host")))] if has_hosts else []),
            sum(row["units"] for row in mine),
            clock(max(row["deadline"] for row in mine)),
            *key[2:],
            *([lost_text([_sum(row["lost_of"] for row in mine)], resources)] if is_lost else []),
        ]
        for key, mine in list(together.items())[:_MOST]
    ]
    more = len(together) - _MOST
    rest = f"\nand {more} rows more; --full shows all" if more > 0 else ""
    return table((*head, "units", "by", "for", "reason", *(["lost"] if is_lost else [])), cells) + rest


def _few(names: list[str]) -> str | None:
    """Some names, each once, and how many there are more."""
    found = list(dict.fromkeys(names))
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return ", ".join(found[:_NAMED]) + more or None


def _count(number: int, what: str, plural: str = "s") -> str:
    return f"{number} {what}{'' if number == 1 else plural}"
