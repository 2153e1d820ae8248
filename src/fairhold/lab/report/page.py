"""The page: one file that needs no network, the same bytes for the same summaries."""

from __future__ import annotations

import json
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import vl_convert

from fairhold.drawing.look import look
from fairhold.lab.report.amounts import duration, title_of
from fairhold.lab.report.charts import plots_of
from fairhold.lab.report.data import SERIES, packed, resources_of
from fairhold.lab.report.frame import Frame, theme
from fairhold.lab.report.tables import consumers_table, gains_table, plans_table
from fairhold.lab.report.verdict import NAMED, bearable, sufferers, verdict
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.lab.report.data import Resource
    from fairhold.lab.report.frame import Plot

    Document = Mapping[str, Any]

_MARKS = {
    how: f'<span class="mark" title="{word}" aria-label="{word}">{mark}</span>'
    for how, mark, word in (
        ("good", "✓", "good"),
        ("fair", "!", "look"),
        ("bad", "✗", "bad"),
        ("plain", "·", "to know"),
    )
}
_ALONE = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data:"
"""What the page may load: nothing."""


def page(documents: Mapping[str, Document], title: str) -> str:
    """The page of some plans on one workload."""
    resources = resources_of(documents)
    sections, shown = [], []
    for at, resource in enumerate(resources):
        frame = Frame(resource.unit, list(resource.of), resource.begin, resource.end)
        plots = plots_of(frame)
        views = [(view, resource.data(view, points)) for view, points in resource.views]
        for _, data in views[1:]:
            del data["total"]  # the same for all
        plots = [plot for plot in plots if any(any(data.get(name) for name in plot.needs) for _, data in views)]
        sections.append(_section(at, resource, plots, [view.above for view, _ in views], has_many=bool(resources[1:])))
        charts = [{"id": f"plot-{at}-{plot.name}", "needs": plot.needs, "spec": _spec(plot)} for plot in plots]
        shown.append({"charts": charts, "views": [_packed(data) for _, data in views]})
    content = {"theme": theme("currentColor", None), "resources": shown}
    return "".join(
        (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_ALONE}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta name="color-scheme" content="light dark"><title>{escape(title)}</title>',
            f"<style>{look()}{_text('page.css')}</style></head><body>\n",
            f"<header><h1>{escape(title)}</h1>{_times(documents)}</header>\n",
            *sections,
            _foot(documents),
            f'<script type="application/json" id="content">{_json(content)}</script>\n',
            f"<script>{_bundle()}</script>\n<script>{_text('page.js')}</script>\n</body></html>\n",
        )
    )


def _times(documents: Mapping[str, Document]) -> str:
    begin = min(document["begin"] for document in documents.values())
    end = max(document["end"] for document in documents.values())
    text = f"Measured from {format_instant(begin // 1_000_000 * 1_000_000)} for {duration(end - begin)}"
    text += "; earlier time is not counted."
    plans = f" Plans on the same workload: {', '.join(map(escape, documents))}." if len(documents) > 1 else ""
    return f"<p>{text}{plans}</p>"


def _section(at: int, resource: Resource, plots: list[Plot], views: list[str], *, has_many: bool) -> str:
    """All about one resource."""
    _, first = next(iter(resource.of.values()))
    parts = [f'<section id="resource-{at}">']
    if has_many:
        parts.append(f"<h2>{escape(title_of(first))}</h2>")
    parts.append('<div class="cards">')
    parts += [_card(resource, plan) for plan in resource.of]
    parts.append("</div>")
    if len(resource.of) > 1:
        parts.append(
            "<h3>What differs</h3><p>What differs most comes first; ★ is the best, changes are against the first.</p>"
        )
        parts.append(plans_table(resource))
        parts.append("<h3>Consumers that differ</h3>")
        parts.append(gains_table(resource))
    parts.append(_consumers(resource))
    parts.append(_choice(at, views))
    for plot in plots:
        name = f"plot-{at}-{plot.name}"
        parts.append(f"<figure><figcaption><h3>{escape(plot.title)}</h3><p>{escape(plot.says)}</p></figcaption>")
        parts.append(
            f'<div class="wide"><div class="plot" id="{name}" role="img" aria-label="{escape(plot.title)}"></div></div>'
        )
        parts.append("</figure>")
    return "\n".join([*parts, "</section>\n"])


def _card(resource: Resource, plan: str) -> str:
    """The verdict on one plan."""
    document, shared = resource.of[plan]
    lines = "".join(
        f'<li class="{line.how}">{_MARKS[line.how]} {escape(line.text)}</li>'
        for line in verdict(document, shared, resource.unit)
    )
    suffer = sufferers(shared, resource.unit)
    if suffer:
        rows = "".join(f"<li><b>{escape(each.path)}</b> {escape(each.why)}</li>" for each in suffer[:NAMED])
        more = f"<p>And {len(suffer) - NAMED} more; the table has them all.</p>" if len(suffer) > NAMED else ""
        whom = f'<h3>Consumers that fare badly</h3><ul class="whom">{rows}</ul>{more}'
    else:
        whom = "<p>No first-level consumer fares badly.</p>"
    head = f"<h2>{escape(plan)}</h2>" if len(resource.of) > 1 else "<h2>In short</h2>"
    bound = (
        f"A wait for owned resources counts as long here above {duration(bearable(shared))}: a minute, or the longest"
    )
    bound += " time that a holder took to give back. The wait of a gang until all of it fits is included."
    return f'<article>{head}<ul class="verdict">{lines}</ul>{whom}<p><small>{bound}</small></p></article>'


def _consumers(resource: Resource) -> str:
    """The table of consumers of every plan, the first one open."""
    found = ["<h3>Consumers</h3>"]
    for at, (plan, (document, shared)) in enumerate(resource.of.items()):
        has_more = any(path.count("/") > 1 for path in shared["consumers"])
        choice = '<label class="deep"><input type="checkbox"> all levels</label>' if has_more else ""
        shown = consumers_table(document, shared, resource.unit)
        if len(resource.of) > 1:
            found.append(f"<details{'' if at else ' open'}><summary>{escape(plan)}</summary>{choice}{shown}</details>")
        else:
            found.append(f"<div>{choice}{shown}</div>")
    return "\n".join(found)


def _choice(at: int, views: list[str]) -> str:
    """What of the tree the plots show."""
    if len(views) < 2:
        return ""
    options = "".join(
        f'<option value="{place}">{"first level" if above == "/" else escape(above)}</option>'
        for place, above in enumerate(views)
    )
    return f'<p class="choice"><label>The plots show <select data-resource="{at}">{options}</select></label></p>'


def _foot(documents: Mapping[str, Document]) -> str:
    logs = "; ".join(f"{escape(name)} {escape(str(document['log']))}" for name, document in documents.items())
    return f"<footer><p>SHA-256 of the event log: {logs}</p></footer>\n"


def _packed(data: Mapping[str, list[Any]]) -> dict[str, Any]:
    return {name: each if name in SERIES else packed(each) for name, each in data.items()}


def _spec(plot: Plot) -> dict[str, Any]:
    spec: dict[str, Any] = plot.chart.to_dict()
    spec.pop("$schema", None)
    return spec


def _json(value: object) -> str:
    """JSON that ends no script, whatever names there are in it."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).replace("<", "\\u003c")


def _text(name: str) -> str:
    """How the page looks, or what it does: only the plots and the choice of what they show need its script."""
    return (files(__package__) / name).read_text(encoding="utf-8")


@cache
def _bundle() -> str:
    """Vega, Vega-Lite and the code that puts plots into a page."""
    text: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return text.replace("</script", "<\\/script")
