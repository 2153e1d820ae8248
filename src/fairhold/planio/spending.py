"""`spent` and `spent_resources` of a state: what was used in the periods at hand (R-BUDGET-1, R-BUDGET-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.tree import ROOT
from fairhold.planio.controls import countable
from fairhold.planio.names import unknown_path
from fairhold.planio.resources import read_amounts
from fairhold.planio.scalars import is_whole
from fairhold.units import LARGEST

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.planio.stateview import StateView
    from fairhold.planio.values import Value

MOST = LARGEST * 3600
"""Units, or base units, times seconds of the largest budget."""


def read_spent(view: StateView, value: Value) -> dict[tuple[int, str], int]:
    """(row, resource group) → unit-seconds since the period began; a plain number where only one group is shared.

    Who has no budget may be named: `diff` reads one state under two plans.
    """
    report, spent = view.report, {}
    for path, node in report.mapping(value, ("spent",), what="paths with their unit-seconds").items():
        row = _read_row(view, path, ("spent", path))
        by_group: dict[str, Value] = {view.shared[0]: node} if is_whole(node) and len(view.shared) == 1 else {}
        place = ("spent", path) if by_group else None
        for name, seconds in (by_group or report.mapping(node, ("spent", path), what="unit-seconds by group")).items():
            here = place or ("spent", path, name)
            if not view.group(name, here):
                continue
            amount = report.whole(seconds, here, most=MOST)
            if row >= 0:
                spent[row, name] = amount
    return spent


def read_spent_resources(view: StateView, value: Value) -> dict[int, tuple[tuple[int, int], ...]]:
    """Row → (place in `model.budget.counted`, base units times seconds) since the period began; as `read_spent`."""
    report, spent, of = view.report, dict[int, tuple[tuple[int, int], ...]](), countable(view.resources)
    for path, node in report.mapping(value, ("spent_resources",), what="paths with seconds by resource").items():
        place = ("spent_resources", path)
        row = _read_row(view, path, place)
        amounts = read_amounts(report, node, place, of, what="seconds by resource", most=MOST)
        if row > ROOT:
            spent[row] = amounts
    return spent


def _read_row(view: StateView, path: str, place: Place) -> int:
    """The row of a consumer; -1, and a fault, where it is none."""
    row = view.tree.rows.get(path, -1)
    if row < 0:
        unknown_path(view.report, view.tree, path, place)
    elif row == ROOT:
        what = "the root `/` is the cluster and has no budget"
        view.report.fault("name", what, "name the consumer that has the budget", place)
    return row
