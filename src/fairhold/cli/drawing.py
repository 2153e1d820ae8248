"""`plan draw`: a plan as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cli.files import open_plan, print_text, unknown
from fairhold.cli.writing import STANDARD_OUTPUT, refuse_same, write_whole
from fairhold.drawing.picture import draw
from fairhold.errors import ArgumentError
from fairhold.planio.state import read_state

if TYPE_CHECKING:
    from pathlib import Path


def draw_plan(plan_path: Path, state_path: Path | None, group: str, output: Path | None) -> None:
    """Print the picture, or write it to a file whole or not at all.

    group : resource group; empty = all
    """
    for source, name in ((plan_path, "plan"), (state_path, "state")):
        if output is not None and source is not None:
            refuse_same(output, source, f"--output names the {name}")
    plan = open_plan(plan_path)
    if group and group not in plan.resource_groups:
        raise ArgumentError([unknown("resource group", group, tuple(plan.resource_groups))])
    state = None if state_path is None else read_state(state_path, plan)
    picture = draw(plan, state, group)
    if output is None or output == STANDARD_OUTPUT:
        print_text(picture)
    else:
        write_whole(output, f"{picture}\n")
