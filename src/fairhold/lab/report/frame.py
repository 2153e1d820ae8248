"""What all plots have in common: colours, letters, the axis of time, plans beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import altair as alt

from fairhold.drawing.colours import NOBODY, colour

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.lab.report.amounts import Unit

    Chart = alt.TopLevelMixin

PALETTE = (*(colour(key).strong for key in range(1, 8)), "#8a63d2", "#8c564b", "#6b8e23", NOBODY.strong)
"""Ten consumers and the others."""
_LONG_AGO = 315_532_800_000
"""Milliseconds; before 1980 a run has an invented calendar, and the time since its begin is shown."""
_MINUTE, _DAY = 60_000, 86_400_000
_STEPS = (
    *(_MINUTE * count for count in (1, 5, 15, 30, 60, 120, 180, 360, 720)),
    *(_DAY * count for count in (1, 2, 5, 10, 30, 90, 180, 360)),
)
"""Milliseconds between marks of the calendar."""
GREY = "#7b8794"
"""Of lines that are no consumer's: it can be seen on light and on dark."""
WIDTH = 1000
"""Pixels of a whole row; axes come in addition."""


class Plot(NamedTuple):
    """One plot.

    name  : of its file; title, says: for people, what it shows and how to read it
    needs : names of the data that it shows
    chart : the plot, without data
    """

    name: str
    title: str
    says: str
    needs: tuple[str, ...]
    chart: Any


class Frame(NamedTuple):
    """What all plots of a resource have in common.

    names : of the plans, in order; begin, end: of what is shown, instants in milliseconds
    """

    unit: Unit
    names: Sequence[str]
    begin: float
    end: float

    @property
    def columns(self) -> int:
        """Plans beside each other."""
        return min(3, len(self.names))

    @property
    def width(self) -> int:
        """Of one of them, in pixels."""
        return WIDTH if self.columns == 1 else (WIDTH - 70 * (self.columns - 1)) // self.columns


def theme(ink: str, paper: str | None) -> dict[str, Any]:
    """Colours and letters; ink: of text and lines, paper: behind them, None = what is there."""
    axis = {"labelColor": ink, "titleColor": ink, "tickColor": ink, "domainColor": ink, "gridColor": ink}
    quiet = {
        "gridOpacity": 0.14,
        "domainOpacity": 0.4,
        "tickOpacity": 0.4,
        "titleFontWeight": "normal",
        "labelLimit": 240,
    }
    titles = {"labelColor": ink, "titleColor": ink}
    return {
        "background": paper,
        "font": "system-ui, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif",
        "view": {"stroke": ink, "strokeOpacity": 0.15},
        "axis": axis | quiet,
        "axisXQuantitative": {"tickCount": 8},
        "legend": titles | {"orient": "top", "columns": 6, "labelLimit": 200, "title": None, "symbolType": "square"},
        "header": titles | {"labelFontWeight": "bold", "title": None, "labelLimit": 300},
        "title": {"color": ink},
        "range": {"category": list(PALETTE)},
        "text": {"color": ink},
        "rule": {"color": ink},
    }


def time(frame: Frame, width: int = WIDTH) -> alt.X:
    """The axis of time: the calendar in UTC, or the time since the begin where the calendar is invented."""
    if frame.begin >= _LONG_AGO:
        midnight = "utchours(datum.value) == 0 && utcminutes(datum.value) == 0"
        label = f"utcFormat(datum.value, {midnight} ? '%a %d %b' : '%H:%M')"
        axis = alt.Axis(labelExpr=label, labelOverlap="greedy", labelSeparation=6, values=_marks(frame, width))
        return alt.X("t:T", title=None, scale=alt.Scale(type="utc", nice=False), axis=axis)
    hours = f"(datum.value - {frame.begin}) / 3600000"
    label = f"{hours} >= 48 ? format({hours} / 24, '.3~r') + ' d' : format({hours}, '.3~r') + ' h'"
    return alt.X(
        "t:Q", title="since the begin", scale=alt.Scale(nice=False, zero=False), axis=alt.Axis(labelExpr=label)
    )


def _marks(frame: Frame, width: int) -> list[int]:
    """Instants of the calendar, as many as there is room for their words."""
    most = max(2, width // 83)
    step = next((each for each in _STEPS if frame.end - frame.begin <= each * most), _STEPS[-1])
    return list(range(-int(-frame.begin // step) * step, int(frame.end) + 1, step))


def consumers() -> alt.Color:
    """A colour for each consumer of a view."""
    return alt.Color("consumer:N", sort=alt.EncodingSortField("rank", op="min"))


def plans(frame: Frame) -> alt.Color:
    """A colour for each plan."""
    legend = alt.Undefined if len(frame.names) > 1 else None
    return alt.Color("plan:N", sort=list(frame.names), legend=legend)


def beside(frame: Frame, chart: Any, name: str) -> Any:  # noqa: ANN401 - charts of Altair have no type in common
    """A plot for each plan, of data that have this name; the chart itself has none, or all plans would show all."""
    data = alt.NamedData(name)
    if len(frame.names) == 1:
        return chart.properties(data=data)
    facet = alt.Facet("plan:N", sort=list(frame.names), title=None)
    return chart.facet(facet=facet, columns=frame.columns, data=data)


def stacked(frame: Frame, column: str, title: str) -> alt.Chart:
    """A number over time, consumers on top of each other; has no data yet."""
    chart: alt.Chart = (
        alt.Chart()
        .mark_area(interpolate="step-after", line=False, clip=True)
        .encode(
            x=time(frame, frame.width),
            y=alt.Y(f"{column}:Q", title=title, stack="zero"),
            color=consumers(),
            order=alt.Order("rank:Q"),
        )
        .properties(width=frame.width, height=230)
    )
    return chart


def over_plans(frame: Frame, column: str, title: str, **scale: Any) -> alt.Chart:  # noqa: ANN401
    """A number of all consumers together over time, a line for each plan."""
    chart: alt.Chart = (
        alt.Chart(alt.NamedData("total"))
        .mark_line(interpolate="step-after", strokeWidth=1.6, clip=True)
        .encode(x=time(frame), y=alt.Y(f"{column}:Q", title=title, scale=alt.Scale(**scale)), color=plans(frame))
        .properties(width=WIDTH, height=170)
    )
    return chart


def with_data(plot: Plot, data: Mapping[str, list[dict[str, Any]]]) -> Any:  # noqa: ANN401
    """A plot that stands by itself."""
    return plot.chart.properties(datasets={name: data[name] for name in plot.needs})
