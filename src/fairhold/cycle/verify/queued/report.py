"""The table of queues in the format of a result (SPEC §11)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.cycle.verify.pooled.terms import TOP
from fairhold.model.vector import amount, amounts_document, number
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.cycle.verify.pooled.stock import Stock
    from fairhold.cycle.verify.queued.table import Number, Table
    from fairhold.model.plan import Plan
    from fairhold.model.vector import Resource

Json = dict[str, Any]


def queue_rows(plan: Plan, table: Table, stock: Stock) -> Json:
    """What the hosts have, and of every queue what it may have, asks for and holds, units under notice too."""
    table.clear()
    for asked in stock.asked.values():
        table.came(asked, asked.held)
    found: Json = {}
    _below(plan, table, TOP, found)
    return {"amounts": amounts_document(plan.resources, table.total), "consumers": found}


def oversubscribed_rows(plan: Plan, table: Table) -> list[Json]:
    """Warnings of queues whose children are entitled to more than they are (R-QUEUE-2)."""
    found = []
    for path, queue in table.queues.items():
        for at, resource in enumerate(plan.resources):
            fair = table.fair[at]  # of those that take part
            total = sum(fair[child] for child in queue.children if child in fair)
            if total > fair.get(path, 0):
                amounts = f"{_said(resource, total)} of {resource.name}, and it to {_said(resource, fair[path])}"
                message = f"those below it are entitled to {amounts}"
                found.append({"consumer": path, "code": "oversubscribed", "message": message})
    return found


def _below(plan: Plan, table: Table, path: str, found: Json) -> None:
    names = [(at, resource) for at, resource in enumerate(plan.resources)]
    found[path] = {
        "fair_share": {each.name: _said(each, table.fair[at][path]) for at, each in names},
        "deserved": {each.name: _bound(each, table.deserves(path, at)) for at, each in names},
        "limit": {each.name: _bound(each, table.limit(path, at)) for at, each in names},
        "requested": amounts_document(plan.resources, tuple(each[path] for each in table.asked)),
        "allocated": amounts_document(plan.resources, tuple(each[path] for each in table.held)),
        "saturation": {each.name: _saturation(table.held[at][path], table.fair[at][path]) for at, each in names},
    }
    if table.settings.k:
        found[path]["usage"] = {each.name: number(table.used[at][path]) for at, each in names}
    for child in table.queues[path].children:
        _below(plan, table, child, found)


def _said(resource: Resource, units: Number) -> int | float | str:
    if isinstance(units, int):
        return amount(resource, units)
    found = float(units / resource.base)
    return int(found) if found == int(found) else found


def _bound(resource: Resource, units: Number) -> int | float | str | None:
    return amount(resource, int(units)) if units < UNLIMITED else None


def _saturation(held: int, fair: Number) -> str:
    if fair:
        return str(Fraction(held) / Fraction(fair))
    return "unbounded" if held else "0"
