"""`spent:` of a state: what consumers with a budget have used in the periods at hand (R-BUDGET-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.tree import ROOT
from fairhold.planio.names import unknown_path
from fairhold.planio.scalars import is_whole
from fairhold.units import LARGEST

if TYPE_CHECKING:
    from fairhold.planio.stateview import StateView
    from fairhold.planio.values import Value

MOST = LARGEST * 3600
"""Unit-seconds of the largest budget."""


def read_spent(view: StateView, value: Value) -> dict[tuple[int, str], int]:
    """(row, resource group) → unit-seconds since the period began; a plain number where only one group is shared.

    Who has no budget may be named: `diff` reads one state under two plans.
    """
    report, spent = view.report, {}
    for path, node in report.mapping(value, ("spent",), what="paths with their unit-seconds").items():
        row = view.tree.rows.get(path, -1)
        if row < 0:
            unknown_path(report, view.tree, path, ("spent", path))
        elif row == ROOT:
            what = "the root `/` is the cluster and has no budget"
            report.fault("name", what, "name the consumer that has the budget", ("spent", path))
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
