"""The tables of the page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from fairhold.lab.report.amounts import duration, number, percent, times
from fairhold.lab.report.verdict import deficit, first_level, hours, mean_amount, preempted_again

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from fairhold.lab.report.amounts import Unit
    from fairhold.lab.report.data import Resource

    Document = Mapping[str, Any]
    Show = Callable[[float], str]

MOST_ROWS = 12
"""Consumers in a comparison."""


def table(head: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]], *, name: str = "") -> str:
    """An HTML table: the first cell of a row is its head, the others are numbers.

    rows : (class, cells as HTML)
    """
    cells = "".join(f'<th scope="col">{each}</th>' for each in head)
    body = "".join(
        f'<tr class="{kind}"><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'
        for kind, (first, *rest) in rows
    )
    return f'<div class="wide"><table class="{name}"><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>'


def consumers_table(document: Document, shared: Document, unit: Unit) -> str:
    """All consumers: on the first level the largest deficit and loss first, and below each its own, likewise."""
    below: dict[str, list[str]] = {}
    for path in sorted(shared["consumers"]):
        if path != "/":
            below.setdefault(path.rpartition("/")[0] or "/", []).append(path)
    again: dict[str, int] = {}
    for holder, _, count in shared["preempted_again"]:
        for path in _line(holder):
            again[path] = again.get(path, 0) + count
    rows: list[tuple[str, Sequence[str]]] = []
    # Depth first, without recursion: trees are as deep as somebody wrote them.
    stack = [(path, 1) for path in reversed(_ordered(shared, below.get("/", [])))]
    while stack:
        path, depth = stack.pop()
        rows.append(("first" if depth == 1 else "below", _cells(document, shared, unit, path, again.get(path, 0))))
        stack += [(each, depth + 1) for each in reversed(_ordered(shared, below.get(path, [])))]
    hour = unit.hour
    head = (
        "consumer",
        *("owned, mean", "allocated, mean", "borrowed of it", "longest deficit", f"deficit, {hour}"),
        *("wait, p50", "wait, p95", "wait, longest", "slowdown, p95", "notified", "stopped"),
        *("preempted again", f"lost, {hour}", "waiting at the end"),
    )
    return table(head, rows, name="consumers")


def _ordered(shared: Document, paths: Iterable[str]) -> list[str]:
    of = shared["consumers"]
    return sorted(paths, key=lambda path: (-(of[path]["deficit"] + of[path]["lost"]), -of[path]["demand"], path))


def _cells(document: Document, shared: Document, unit: Unit, path: str, again: int) -> list[str]:
    each = shared["consumers"][path]
    wait, count = each["wait"], each["wait"]["count"]
    indent = "\u2003" * (path.count("/") - 1)
    return [
        indent + escape(path),
        mean_amount(each["owned"], document, unit),
        mean_amount(each["use"], document, unit),
        percent(each["borrowed"], each["use"]),
        _unless_zero(each["longest"], duration),
        _unless_zero(each["deficit"], lambda value: hours(value, unit)),
        *(duration(wait[name]) if count else "" for name in ("p50", "p95", "max")),
        times(each["slowdown"]["p95"]) if each["slowdown"]["count"] else "",
        *(_unless_zero(value, lambda value: f"{value:,}") for value in (each["notified"], each["stopped"], again)),
        _unless_zero(each["lost"], lambda value: hours(value, unit)),
        _unless_zero(each["left_waiting"], lambda value: number(value / unit.base)),
    ]


def _unless_zero(value: int, show: Callable[[int], str]) -> str:
    return show(value) if value else ""


def _line(path: str) -> list[str]:
    """A path and all above it."""
    found = []
    while path:
        found.append(path)
        path = path.rpartition("/")[0]
    return found


# Comparisons


def plans_table(resource: Resource) -> str:
    """The numbers of all plans beside each other, what differs most first.

    What is in unit-hours comes before the rest and is compared as it is, the rest in parts of the largest; what is
    neither good nor bad is at the end.
    """
    unit, plans = resource.unit, list(resource.of)
    rows = []
    for name, show, better, values in _measures(resource):
        largest, spread = max(map(abs, values)), max(values) - min(values)
        best = min(values) if better < 0 else max(values)
        cells = [
            f"{show(value)}{_marked(value, best, spread, better)}{_change(value, values[0]) if at else ''}"
            for at, value in enumerate(values)
        ]
        part = spread / largest if largest else 0
        rows.append(
            (
                (not better, "{}" not in name, -(spread if "{}" in name else part)),
                ("", [escape(name.format(unit.hour)), *cells]),
            )
        )
    rows.sort(key=lambda row: row[0])
    return table(["what", *map(escape, plans)], [row[1] for row in rows], name="plans")


def _measures(resource: Resource) -> list[tuple[str, Show, int, list[int]]]:
    """(name, how it is shown, -1 = less is better, 1 = more is, 0 = neither; the number under each plan)."""
    unit, found = resource.unit, [shared for _, shared in resource.of.values()]

    def of_all(name: str, part: str = "") -> list[int]:
        return [each["consumers"]["/"][name][part] if part else each["consumers"]["/"][name] for each in found]

    def of_first(name: str) -> list[list[int]]:
        return [[each[name] for each in first_level(shared).values()] or [0] for shared in found]

    def in_hours(value: float) -> str:
        return hours(int(value), unit)

    def length(value: float) -> str:
        return duration(int(value))

    def whole(value: float) -> str:
        return f"{int(value):,}"

    return [
        ("deficit, {}", in_hours, -1, [deficit(shared) for shared in found]),
        ("longest deficit", length, -1, [max(each) for each in of_first("longest")]),
        (
            "waiting, {}",
            in_hours,
            -1,
            [one - two for one, two in zip(of_all("demand"), of_all("use"), strict=True)],
        ),
        ("wait, mean", length, -1, of_all("wait", "mean")),
        ("wait, p95", length, -1, of_all("wait", "p95")),
        ("wait, longest", length, -1, of_all("wait", "max")),
        ("slowdown, p95", lambda value: times(int(value)), -1, of_all("slowdown", "p95")),
        ("utilisation", lambda value: percent(int(value), 1_000_000), 1, [shared["utilisation"] for shared in found]),
        ("borrowed, {}", in_hours, 0, [sum(each) for each in of_first("borrowed")]),
        ("work lost, {}", in_hours, -1, [sum(each) for each in of_first("lost")]),
        ("attempts notified", whole, -1, of_all("notified")),
        ("of them preempted again", whole, -1, [preempted_again(shared) for shared in found]),
        ("tasks finished", whole, 1, of_all("finished")),
        ("waiting at the end", lambda value: number(value / unit.base), -1, of_all("left_waiting")),
        ("Jain's index", lambda value: f"{value / 1_000_000:.3f}", 1, [shared["fairness"] for shared in found]),
    ]


def _marked(value: int, best: int, spread: int, better: int) -> str:
    return ' <span class="best" title="best">★</span>' if better and spread and value == best else ""


def _change(value: int, first: int) -> str:
    if value == first:
        return ' <span class="change">=</span>'
    if not first:
        return ""
    part = 100 * (value - first) / first
    words = f"{part:+.0f} %" if abs(part) < 1000 else times(1000 * value // first)
    return f' <span class="change">{words}</span>'


def gains_table(resource: Resource) -> str:
    """For whom the plans differ: what each waited for, its deficit and its loss, the largest difference first."""
    unit, plans = resource.unit, list(resource.of)
    paths = dict.fromkeys(path for _, shared in resource.of.values() for path in first_level(shared))
    rows = []
    for path in paths:
        cells, sums = [], []
        for _, shared in resource.of.values():
            each = shared["consumers"].get(path)
            if each is None:
                cells.append("not in the plan")
                continue
            waited = each["demand"] - each["use"]
            sums.append(waited + each["deficit"] + each["lost"])
            words = [f"{hours(waited, unit)} waited"]
            words += [f"{hours(each['deficit'], unit)} deficit"] if each["deficit"] else []
            words += [f"{hours(each['lost'], unit)} lost"] if each["lost"] else []
            cells.append(f"{'; '.join(words)}<br><small>p95 {duration(each['wait']['p95'])}</small>")
        rows.append((min(sums) - max(sums), path, ("first", [escape(path), *cells])))
    rows.sort(key=lambda row: row[:2])
    head = [f"consumer, {unit.hour}", *map(escape, plans)]
    more = f"<p>{len(rows) - MOST_ROWS} more consumers differ less.</p>" if len(rows) > MOST_ROWS else ""
    return table(head, [row[2] for row in rows[:MOST_ROWS]], name="gains") + more
