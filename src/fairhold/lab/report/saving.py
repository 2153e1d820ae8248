"""Plots as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import vl_convert

from fairhold.lab.report.charts import plots_of
from fairhold.lab.report.data import in_rows, resources_of
from fairhold.lab.report.frame import Frame, theme, with_data
from fairhold.lab.whole import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    Document = Mapping[str, Any]

INK, PAPER = "#1b2733", "#ffffff"
_SHARP = 2.0
"""Pixels of a PNG for one of a plot."""


def plots(documents: Mapping[str, Document]) -> dict[str, Any]:
    """Name → plot of the first level, by itself: `compute-slots-allocation`."""
    found = {}
    for resource in resources_of(documents):
        view, points = resource.views[0]
        data = in_rows(resource.data(view, points))
        frame = Frame(resource.unit, list(resource.of), resource.begin, resource.end)
        stem = "-".join(_plain(each) for each in resource.key if each)
        for plot in plots_of(frame):
            if any(data[name] for name in plot.needs):
                found[f"{stem}-{plot.name}"] = with_data(plot, data).properties(title=plot.title, background=PAPER)
    return found


def save(folder: Path, documents: Mapping[str, Document], forms: tuple[str, ...]) -> list[Path]:
    """Write every plot into a folder, each file whole or not at all; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, chart in plots(documents).items():
        text = vl_convert.vegalite_to_svg(chart.to_dict(), config=theme(INK, PAPER))
        for form in forms:
            content = text.encode() if form == "svg" else vl_convert.svg_to_png(text, scale=_SHARP)
            path = folder / f"{name}.{form}"
            write_whole(path, content)
            written.append(path)
    return written


def _plain(text: str) -> str:
    return "".join(each if each.isalnum() or each in "-_." else "_" for each in text)
