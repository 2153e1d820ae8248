"""The page of a report of usage: tables, and plots as pictures; it needs no network and no script."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import altair as alt
import vl_convert

from fairhold.drawing.colours import NOBODY, colour
from fairhold.drawing.look import look
from fairhold.lab.report.frame import PALETTE, WIDTH, theme
from fairhold.lab.report.saving import INK, PAPER
from fairhold.lab.report.tables import table
from fairhold.lab.report.usage_rows import (
    ALL,
    KINDS,
    STATES,
    dominant_rows,
    is_known,
    line_of,
    number,
    utilisations,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.lab.report.usage_rows import Dominant, ReportRow

    Document = Mapping[str, Any]

MOST = 10
"""Consumers with a colour of their own; the others share one."""
OTHERS = "others"
_ALONE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STATES = dict(zip(STATES, (colour(1).strong, colour(2).strong, NOBODY.strong, colour(5).strong), strict=True))
_OF_KIND = dict(zip(KINDS, (colour(1).strong, colour(7).strong, colour(3).strong, colour(5).strong), strict=True))


def page(answer: Document, over_time: Document, told: tuple[Sequence[str], Sequence[ReportRow], str, int]) -> str:
    """The page as HTML.

    answer    : usage by the keys of the report and kind
    over_time : usage by consumer, time and kind
    told      : the keys, the rows of the report, the key of the time, and `top` as of `report_rows`
    """
    keys, rows, time, top = told
    title = f"Usage from {answer['from']} to {answer['to']}"
    body = [f"<header><h1>{escape(title)}</h1>{_head(answer)}</header>\n"]
    for resource in dict.fromkeys(row.resource for row in rows):
        mine = [row for row in rows if row.resource == resource]
        name = f"{resource or 'unsized'} {mine[0].unit}".rstrip()
        body.append(f"<section><h2>{escape(name)}-hours</h2>\n{_table(answer, keys, mine)}\n")
        body += [_figure(*each) for each in _plots(answer, over_time, mine, (resource, time)) if each]
        body.append("</section>\n")
    if len({row.resource for row in rows}) > 1:
        body.append(_dominant(rows, keys, top))
    return "".join(
        (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_ALONE}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>{look()}{(files(__package__) / 'page.css').read_text(encoding='utf-8')}</style></head><body>\n",
            *body,
            "</body></html>\n",
        )
    )


def _head(answer: Document) -> str:
    """The cost in all, and what became of all there was."""
    found = []
    if answer.get("currency"):
        free = ", ".join(escape(each or "unsized") for each in answer["unpriced"])
        more = f" (without a price: {free})" if free else ""
        found.append(
            f"<p>Cost in all: {escape(number(Fraction(answer['cost']), 2))} {escape(answer['currency'])}{more}</p>"
        )
    if is_known(answer):
        lines = [
            ("", [escape(each.resource), number(each.total, 2), *map(_percent, each.parts().values())])
            for each in utilisations(answer).values()
        ]
        found.append(table(("resource", "hours there", *STATES), lines))
    found += [
        f"<p>lent and borrowed {escape(each['resource'])} differ: {escape(each['why'])}</p>"
        for each in answer["balance"]
        if each["why"]
    ]
    return "".join(found)


def _percent(part: Fraction) -> str:
    return f"{number(part * 100, 1)} %"


def _table(answer: Document, keys: Sequence[str], rows: Sequence[ReportRow]) -> str:
    currency = answer.get("currency")
    lines = []
    for row in rows:
        cells = [_name(row), number(row.held, 2), *(number(row.hours[kind], 2) for kind in KINDS)]
        cells += ["" if row.cost is None else number(row.cost, 2)] if currency else []
        lines.append(("first" if row.of == ALL else "", cells))
    return table([escape(", ".join(keys)), "held", *KINDS, *([escape(currency)] if currency else [])], lines)


def _name(row: ReportRow) -> str:
    return " ".join(filter(None, (*(escape(each) or "-" for each in row.names), row.of if row.of != ALL else "")))


def _dominant(rows: Sequence[ReportRow], keys: Sequence[str], top: int) -> str:
    """Who held the largest part of any resource; nothing where that is not known."""
    found = dominant_rows(rows, keys, top)
    lines = [
        ("first" if row.of == ALL else "", [ALL if row.of == ALL else _name(row), *_cells(most)]) for row, most in found
    ]
    head = (escape(", ".join(keys)), "dominant share", "of", "cluster hours")
    return f"<section><h2>Dominant share</h2>\n{table(head, lines)}\n</section>\n" if found else ""


def _cells(most: Dominant) -> tuple[str, str, str]:
    return _percent(most.share), escape(most.resource), number(most.hours, 2)


def _figure(title: str, says: str, chart: alt.TopLevelMixin) -> str:
    picture = vl_convert.vegalite_to_svg(chart.to_dict(), config=theme(INK, PAPER))
    caption = f"<figcaption><h3>{escape(title)}</h3><p>{escape(says)}</p></figcaption>"
    return f'<figure>{caption}<div class="wide"><div class="plot">{picture}</div></div></figure>\n'


Figure = tuple[str, str, Any]


def _plots(
    answer: Document, over_time: Document, rows: Sequence[ReportRow], what: tuple[str, str]
) -> list[Figure | None]:
    """The plots of a resource. what : its name, and the key of the time."""
    resource, time = what
    x = alt.X(f"{time}:O", title=None)
    held = _held_over_time(over_time, resource, time)
    names = list(dict.fromkeys(each["consumer"] for each in held))
    scale = alt.Scale(domain=names, range=list(PALETTE[: len(names)]))
    used = (
        alt.Chart(alt.InlineData(held))
        .mark_bar()
        .encode(x=x, y=alt.Y("hours:Q", title="hours"), color=alt.Color("consumer:N", scale=scale, sort=None))
        .properties(width=WIDTH - 200, height=220)
    )
    figures: list[Figure | None] = [("Used over time", f"Hours held in each {time} (UTC), by consumer.", used)]
    figures.append(_states(over_time, what) if is_known(answer) else None)
    data = [
        {"name": " ".join((*row.names, row.of)).strip(), "kind": kind, "hours": float(hours), "rank": at}
        for at, row in enumerate(row for row in rows if row.of != ALL)
        for kind, hours in row.hours.items()
        if hours and at < 4 * MOST
    ]
    y = alt.Y("name:N", title=None, sort=alt.EncodingSortField("rank", op="min"))
    kinds = alt.Color("kind:N", scale=alt.Scale(domain=list(_OF_KIND), range=list(_OF_KIND.values())))
    bars = alt.Chart(alt.InlineData(data)).mark_bar().encode(y=y, x=alt.X("hours:Q"), color=kinds)
    bars = bars.encode(yOffset=alt.YOffset("kind:N", sort=list(KINDS))).properties(width=WIDTH - 300)
    figures.append(("Own, borrowed, lent, lost", "Hours of each row of the table.", bars))
    costs = [
        {"name": " ".join((*row.names, row.of)).strip(), "cost": float(row.cost), "rank": at}
        for at, row in enumerate(rows)
        if row.cost is not None and row.of != ALL and at < 4 * MOST
    ]
    cost = alt.Chart(alt.InlineData(costs)).mark_bar(color=colour(2).strong).encode(y=y, x=alt.X("cost:Q"))
    figures.append(("Cost", f"In {answer.get('currency')}.", cost.properties(width=WIDTH - 300)) if costs else None)
    return figures


def _states(over_time: Document, what: tuple[str, str]) -> Figure:
    """What became of all there was, over time."""
    resource, time = what
    data = [
        {time: at, "state": state, "part": float(100 * part), "order": order}
        for (at, name), each in utilisations(over_time, time).items()
        if name == resource
        for order, (state, part) in enumerate(each.parts().items())
    ]
    states = alt.Color("state:N", scale=alt.Scale(domain=list(_STATES), range=list(_STATES.values())))
    chart = (
        alt.Chart(alt.InlineData(data))
        .mark_bar()
        .encode(x=alt.X(f"{time}:O", title=None), y=alt.Y("part:Q", title="%"), color=states, order="order:Q")
        .properties(width=WIDTH - 200, height=160)
    )
    return (
        "Utilisation over time",
        "Parts of all there was: allocated; reserved or else idle, on hosts that were up; down.",
        chart,
    )


def _held_over_time(over_time: Document, resource: str, time: str) -> list[dict[str, Any]]:
    """Hours of the first-level consumers that held most, and of all others together."""
    sums: dict[tuple[str, str], Fraction] = {}
    whole: dict[str, Fraction] = {}
    for each in over_time["rows"]:
        if each["resource"] == resource and each["kind"] in KINDS[:2]:
            top, hours = line_of(each["consumer"])[0], Fraction(each["resource_seconds"]) / 3600
            sums[each[time], top] = sums.get((each[time], top), Fraction(0)) + hours
            whole[top] = whole.get(top, Fraction(0)) + hours
    largest = sorted(whole, key=lambda name: (-whole[name], name))[:MOST]
    rows: dict[tuple[str, str], Fraction] = {}
    for (at, top), hours in sums.items():
        place = at, top if top in largest else OTHERS
        rows[place] = rows.get(place, Fraction(0)) + hours
    rank = {name: at for at, name in enumerate((*largest, OTHERS))}
    order = sorted(rows, key=lambda place: (rank[place[1]], place[0]))
    return [{time: at, "consumer": name, "hours": float(rows[at, name])} for at, name in order]
