"""A plan as a picture: everything that it shares, one below the other, as the text of an SVG file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.document import quota_document
from fairhold.drawing.colours import definitions
from fairhold.drawing.legend import heading
from fairhold.drawing.letters import wrap
from fairhold.drawing.marks import EMPTY, FAINT, PAPER, RULE, SMALL, Block, below, box, element, put, text, words
from fairhold.drawing.queues import draw_queues
from fairhold.drawing.scenes import scenes
from fairhold.drawing.slots import draw_slots
from fairhold.drawing.terms import settings_said
from fairhold.drawing.vectors import draw_vectors
from fairhold.model.state import State
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fairhold.drawing.scenes import Scene
    from fairhold.model.plan import Plan

_MARGIN, _GAP = 20, 28
_LEAST = 420
_FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"


def draw(plan: Plan, state: State | None = None, group: str = "") -> str:
    """A plan as SVG.

    state : with it, what is held and wanted is drawn as it is, and what is in force at its instant alone
    group : resource group; empty = all
    """
    shown = [scene for scene in scenes(plan, state) if group in ("", *scene.groups)]
    numbers: dict[int, Mapping[str, Any]] = {}
    parts = []
    for scene in shown:
        seen = state or State(scene.instant)
        if scene.pooled is None and scene.instant not in numbers:
            numbers[scene.instant] = quota_document(plan, seen)["resource_groups"]
        parts.append(_scene(plan, scene, seen, numbers.get(scene.instant, {}), has_state=state is not None))
    return _file(plan, state, below(parts, _GAP), ", ".join(dict.fromkeys(_name(plan, each) for each in shown)))


def _name(plan: Plan, scene: Scene, size: str = "") -> str:
    when = scene.when(plan)
    return f"{', '.join(scene.groups)}{size}: {scene.policies(plan)}" + (f", {when}" if when else "")


def _scene(plan: Plan, scene: Scene, state: State, numbers: Mapping[str, Any], *, has_state: bool) -> Block:
    """One picture with its heading."""
    if scene.pooled is not None:
        of_entry = draw_queues if scene.pooled.entry.policy.has_queues else draw_vectors
        drawn = of_entry(plan, scene.pooled, state, has_state=has_state)
        size = ""
    else:
        group = scene.groups[0]
        drawn = draw_slots(plan, group, scene.force, state, numbers[group], has_state=has_state)
        slots, stated = numbers[group]["slots"], plan.resource_groups[group].slots
        size = f", {slots} slots" + (f" of {stated}" if slots != stated else "")
    when = f", at {format_instant(state.now)}" if has_state else ""
    return below([heading(f"{_name(plan, scene, size)}{when}"), _settings(plan, scene, drawn.width), drawn], 8)


def _settings(plan: Plan, scene: Scene, room: int) -> Block:
    """Switches that are not as usual."""
    said = (settings_said(plan.policies[at], plan.tree.paths) for at in dict.fromkeys(scene.force))
    line = "; ".join(each for each in said if each)
    if not line:
        return EMPTY
    lines = wrap(line, max(room, _LEAST), SMALL)
    marks = (text(0, 11 + at * 15, each, SMALL, fill=FAINT) for at, each in enumerate(lines))
    return Block(room, 15 * len(lines), tuple(marks))


def _file(plan: Plan, state: State | None, drawn: Block, shown: str) -> str:
    """The whole file: letters beyond ASCII as numbers, so that it is the same in every encoding."""
    width, height = max(_LEAST, drawn.width) + 2 * _MARGIN, drawn.height + 2 * _MARGIN
    of = f"The plan of {plan.cluster}" if plan.cluster else "A plan"
    when = f" at {format_instant(state.now)}" if state else ""
    said = f"{len(plan.tree) - 1} consumers. {shown or 'Nothing is shared'}."
    body = (
        element("title", words(of + when), id="title"),
        element("desc", words(said), id="desc"),
        definitions(),
        box(0, 0, width, height, rx=6, fill=PAPER, stroke=RULE),
        put(drawn, _MARGIN, _MARGIN),
    )
    svg = element(
        "svg",
        *(f"\n{part}" for part in body),
        "\n",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        font_family=_FONT,
        role="img",
        aria_labelledby="title desc",
    )
    return svg.replace("<g", "\n<g").encode("ascii", "xmlcharrefreplace").decode()
