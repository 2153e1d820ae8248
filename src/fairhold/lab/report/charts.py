"""The plots, in Altair: each names its data, so that the same plot shows any part of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from fairhold.drawing.colours import NOBODY, colour
from fairhold.lab.report.frame import (
    GREY,
    WIDTH,
    Frame,
    Plot,
    beside,
    consumers,
    over_plans,
    plans,
    stacked,
    time,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OWN, MISSING, BORROWED = "allocated, owned", "deficit", "allocated, borrowed"
_KINDS = {OWN: colour(1).strong, MISSING: colour(5).strong, BORROWED: colour(7).strong}
_FATES = {
    "stopped, and done again later": colour(5).strong,
    "notified, finished in time": colour(2).strong,
    "notified, withdrawn": NOBODY.strong,
}
_LASTS = {1: "≤ 1 s", 10: "10 s", 60: "1 min", 600: "10 min", 3600: "1 h", 21600: "6 h", 86400: "1 d", 604800: "1 w"}


def plots_of(frame: Frame) -> list[Plot]:
    """All plots of a resource."""
    return [make(frame) for make in _ALL]


def _allocation(frame: Frame) -> Plot:
    capacity = (
        alt.Chart()
        .transform_filter("datum.rank == 0")
        .mark_line(interpolate="step-after", strokeDash=[5, 3], strokeWidth=1.5)
        .encode(x=time(frame, frame.width), y="capacity:Q", stroke=alt.value(GREY))
    )
    used = stacked(frame, "used", f"{frame.unit.many} used").transform_calculate(used="datum.own + datum.borrowed")
    chart = beside(frame, alt.layer(used, capacity), "over")
    says = "Who used how much; the dashed line is the capacity."
    return Plot("allocation", "Allocation over time", says, ("over",), chart)


def _against_own(frame: Frame) -> Plot:
    rows = alt.Row("consumer:N", sort=alt.EncodingSortField("rank", op="min"), title=None)
    height = 54
    base = alt.Chart().properties(width=WIDTH - 40, height=height)
    owned = _line(frame, base, "owned", GREY, [4, 2])
    if len(frame.names) == 1:
        names = list(_KINDS)
        kinds = alt.Color("kind:N", scale=alt.Scale(domain=names, range=list(_KINDS.values())))
        held = (
            base.transform_fold(["own", "deficit", "borrowed"], as_=["column", "amount"])
            .transform_calculate(
                kind=f"datum.column == 'own' ? '{OWN}' : datum.column == 'deficit' ? '{MISSING}' : '{BORROWED}'",
                order="datum.column == 'own' ? 0 : datum.column == 'deficit' ? 1 : 2",
            )
            .mark_area(interpolate="step-after")
            .encode(x=time(frame), y=alt.Y("amount:Q", title=None, stack="zero"), color=kinds, order="order:Q")
        )
        says = "Allocated, owned and borrowed, by consumer. The dashed line is what it owns; demand up to"
        says += " it should be met. The dotted line is its quota. Every row has its own scale."
    else:
        held = (
            base.transform_calculate(held="datum.own + datum.borrowed")
            .mark_line(interpolate="step-after", strokeWidth=1.4)
            .encode(x=time(frame), y=alt.Y("held:Q", title=None), color=plans(frame))
        )
        says = "What each used under every plan; the dashed line is what it owns. Every row has its own scale."
    quota = _line(frame, base.transform_filter("isValid(datum.quota)"), "quota", colour(3).strong, [1, 2])
    lines = [owned, quota] if len(frame.names) == 1 else [owned]
    chart = (
        alt.layer(held, *lines, data=alt.NamedData("over"))
        .facet(row=rows, spacing=10)
        .resolve_scale(y="independent")
        .configure_axisY(tickCount=3)
    )
    return Plot("entitlement", "Each consumer against what it owns", says, ("over",), chart)


def _line(frame: Frame, base: alt.Chart, column: str, ink: str, dashes: list[int]) -> alt.Chart:
    """A broken line of a number over time."""
    line = base.mark_line(interpolate="step-after", strokeWidth=1.5, strokeDash=dashes)
    found: alt.Chart = line.encode(x=time(frame), y=f"{column}:Q", stroke=alt.value(ink))
    return found


def _lending(frame: Frame) -> Plot:
    hour = frame.unit.hour
    base = alt.Chart().encode(
        x=alt.X(
            "borrower:N",
            sort=None,
            title="borrowed by",
            axis=alt.Axis(labelAngle=-30),
        ),
        y=alt.Y("lender:N", sort=None, title="lent by"),
    )
    shade = alt.Color("hours:Q", scale=alt.Scale(scheme="blues", zero=True), legend=None)
    cells = base.mark_rect().encode(
        color=alt.condition("datum.hours > 0", shade, alt.value("transparent")),
        tooltip=["plan:N", "lender:N", "borrower:N", alt.Tooltip("hours:Q", title=hour, format=",.3~r")],
    )
    shades = alt.condition("datum.is_dark", alt.value("#fff"), alt.value("#123"))
    words = base.mark_text(fontSize=10).encode(text="text:N", color=shades)
    chart = alt.layer(cells, words).properties(width=max(200, frame.width - 140), height=alt.Step(24))
    says = f"{hour[0].upper()}{hour[1:]} that the row owned and did not use while the column used more than it owned."
    return Plot("lending", "Who lent to whom", says, ("lending",), beside(frame, chart, "lending"))


def _waiting(frame: Frame) -> Plot:
    chart = stacked(frame, "waiting", f"{frame.unit.many} waited for").properties(height=170)
    says = "What is wanted and not allocated, whether or not it is owned."
    return Plot("waiting", "Waiting over time", says, ("over",), beside(frame, chart, "over"))


def _deficit(frame: Frame) -> Plot:
    chart = stacked(frame, "deficit", f"{frame.unit.many} of deficit").properties(height=170)
    says = (
        "What is owned, wanted and not allocated. In a good plan it is zero again when the grace of borrowers is over."
    )
    return Plot("deficit", "Deficit over time", says, ("over",), beside(frame, chart, "over"))


def _utilisation(frame: Frame) -> Plot:
    used = over_plans(frame, "used", "% of what is there", domain=[0, 130], clamp=True)
    wanted = used.encode(y=alt.Y("wanted:Q"), strokeDash=alt.value([2, 2]), opacity=alt.value(0.7))
    says = "Used (line) and wanted (dots, cut at 130 %). Where dots lie above a line below 100 %, work waited although"
    says += " resources were idle."
    return Plot("utilisation", "Utilisation", says, ("total",), alt.layer(used, wanted))


def _fairness(frame: Frame) -> Plot:
    chart = over_plans(frame, "jain", "Jain's index", domain=[0, 1])
    says = "Of allocated / owned over the first-level consumers with demand: 1 where this is the same"
    says += " for all. It falls where one borrows much or wants little, so read it together with the plot above."
    return Plot("fairness", "Fairness over time", says, ("total",), chart)


def _reclaims(frame: Frame) -> Plot:
    told = over_plans(frame, "notified", "attempts notified").properties(height=120)
    lost = over_plans(frame, "lost", f"{frame.unit.hour} lost").properties(height=120)
    says = "How often units were reclaimed, and how much work was lost by it and by failed hosts."
    return Plot("reclaims", "Reclaimed and lost over time", says, ("total",), told & lost)


def _losses(frame: Frame) -> Plot:
    base = alt.Chart(alt.NamedData("sufferings")).encode(
        y=alt.Y("consumer:N", sort=alt.EncodingSortField("rank", op="min"), title=None)
    )
    height = alt.Step(18 if len(frame.names) == 1 else 10)
    fates = alt.Color("what:N", scale=alt.Scale(domain=list(_FATES), range=list(_FATES.values())))
    by_plan = {} if len(frame.names) == 1 else {"yOffset": alt.YOffset("plan:N", sort=list(frame.names))}
    counts = (
        base.transform_filter("datum.what != 'lost'")
        .mark_bar()
        .encode(
            x=alt.X("count:Q", title="attempts"),
            color=fates,
            tooltip=["plan:N", "consumer:N", "what:N", "count:Q"],
            **by_plan,
        )
        .properties(width=WIDTH // 2 - 130, height=height)
    )
    lost = (
        base.transform_filter("datum.what == 'lost'")
        .mark_bar(color=colour(5).strong)
        .encode(
            x=alt.X("hours:Q", title=f"{frame.unit.hour} lost"), tooltip=["plan:N", "consumer:N", "hours:Q"], **by_plan
        )
        .properties(width=WIDTH // 2 - 130, height=height)
    )
    if len(frame.names) > 1:
        lost = lost.encode(color=plans(frame))
    says = "Who had to give back, and the work lost."
    if len(frame.names) > 1:
        says += f" Bars of a consumer from above: {', '.join(frame.names)}."
    chart = alt.hconcat(counts, lost).resolve_scale(color="independent")
    return Plot("losses", "Reclaimed and lost, by consumer", says, ("sufferings",), chart)


def _spread(frame: Frame, name: str, axis: alt.Axis, title: str) -> Any:  # noqa: ANN401
    chart = (
        alt.Chart()
        .mark_line(point=alt.OverlayMarkDef(size=14), strokeWidth=1.6)
        .encode(
            x=alt.X("bound:Q", scale=alt.Scale(type="log", nice=False), title=title, axis=axis),
            y=alt.Y("part:Q", title="% of the tasks", scale=alt.Scale(domain=[0, 100])),
            color=consumers(),
            tooltip=[
                "plan:N",
                "consumer:N",
                alt.Tooltip("bound:Q", format=",.4~r"),
                alt.Tooltip("part:Q", format=".1f"),
            ],
        )
        .properties(width=frame.width, height=230)
    )
    return beside(frame, chart, name)


def _waits(frame: Frame) -> Plot:
    axis = alt.Axis(
        values=list(_LASTS), labelExpr=f"({ {str(key): word for key, word in _LASTS.items()} })[datum.value]"
    )
    says = "Percentage of tasks that began within this time; higher on the left is better."
    chart = _spread(frame, "waits", axis, "waited until the first start")
    return Plot("waits", "How long tasks waited", says, ("waits",), chart)


def _slowdowns(frame: Frame) -> Plot:
    values = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384]
    axis = alt.Axis(values=values, labelExpr="format(datum.value, ',d') + ' \u00d7'")
    says = "Time from submission to end, divided by the run time (at least 10 s): 1 is a task that never waited."
    return Plot("slowdowns", "Slowdown", says, ("slowdowns",), _spread(frame, "slowdowns", axis, "slowdown"))


def _preempted_again(frame: Frame) -> Plot:
    base = alt.Chart().encode(y=alt.Y("way:N", sort=None, title=None))
    columns = ["plan:N", "holder:N", "taker:N", "taken:Q", "preempted_again:Q"]
    bars = base.mark_bar(opacity=0.55).encode(x=alt.X("taken:Q", title="attempts notified"), tooltip=columns)
    again = base.mark_bar(color=colour(5).strong, height=6).encode(x="preempted_again:Q", tooltip=columns)
    chart = alt.layer(bars, again).properties(width=max(180, frame.width - 190), height=alt.Step(18))
    says = (
        "The twelve most frequent pairs, holder → taker; the narrow bar: preempted again within ten minutes of having"
    )
    says += " been preempted the other way round."
    return Plot(
        "preempted_again",
        "Preempted by holder and taker, and preempted again",
        says,
        ("taken",),
        beside(frame, chart, "taken"),
    )


_ALL: Sequence[Callable[[Frame], Plot]] = (
    *(_allocation, _against_own, _deficit, _waiting, _lending, _utilisation, _preempted_again, _reclaims, _losses),
    *(_waits, _slowdowns, _fairness),
)
