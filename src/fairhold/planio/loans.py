"""`borrowed:` of a state: who uses whose slots (SPEC §4; R-LEND-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.state import Loan
from fairhold.planio.report import shown

if TYPE_CHECKING:
    from fairhold.planio.stateview import StateView
    from fairhold.planio.values import Value

LOAN_KEYS = ("borrower", "lender", "resource_group", "units")


def read_loans(view: StateView, value: Value) -> tuple[Loan, ...]:
    """Units that leaves have borrowed, each pair of borrower and lender once."""
    report, loans = view.report, []
    seen: set[tuple[int, int, str]] = set()
    for at, item in enumerate(view.items(value, ("borrowed",), "units borrowed")):
        place = ("borrowed", at)
        node = report.mapping(item, place, what="units borrowed")
        report.keys(node, LOAN_KEYS, place, {})
        report.missing(node, ("borrower", "lender", "units"), place, "an entry of `borrowed`")
        units = report.whole(node.get("units", 1), (*place, "units"), least=1)
        ends = [view.leaf(node[key], (*place, key)) if key in node else -1 for key in ("borrower", "lender")]
        group = view.group_of(node, place)
        if min(ends) < 0 or not group:
            continue
        borrower, lender = ends
        path = view.tree.paths[borrower]
        if borrower == lender:
            what = f"`{shown(path)}` borrows from itself"
            report.fault("lends-to-itself", what, "name the leaf that owns the slots", (*place, "lender"))
        elif not any(entry.policy.owns_exactly and group in entry.resource_groups for entry in view.plan.policies):
            what = f"no policy entry of `{shown(group)}` is `ownership`, so nobody borrows there by agreement"
            report.fault("other-policy", what, "leave it out", place)
        elif (borrower, lender, group) in seen:
            what = f"`{shown(path)}` and its lender are listed twice under `borrowed`"
            report.fault("listed-twice", what, "add the units up in one entry", place)
        else:
            seen.add((borrower, lender, group))
            loans.append(Loan(borrower, lender, group, units))
    return tuple(loans)
