"""Queues as a plain document: what `quota --json` and `cycle --json` print of `fair_share` (SPEC §11)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.model.vector import amount, amounts_document, number
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.ledger.queues import Amount, Queues
    from fairhold.model.plan import Plan
    from fairhold.model.vector import Resource

Document = dict[str, Any]


def queues_document(plan: Plan, queues: Queues) -> Document:
    """What the hosts have, and of every queue what it is entitled to, deserves, asks for and holds."""
    terms, consumers = queues.terms, {}
    rows = [0]
    while rows:
        row = rows.pop()
        rows += reversed(terms.children[row])
        consumers[plan.tree.paths[row]] = {
            "fair_share": {each.name: _number(each, queues.fair[at][row]) for at, each in enumerate(plan.resources)},
            "deserved": {each.name: _bound(each, terms.deserved[at][row]) for at, each in enumerate(plan.resources)},
            "limit": {each.name: _bound(each, terms.limit[at][row]) for at, each in enumerate(plan.resources)},
            "requested": amounts_document(plan.resources, tuple(each[row] for each in queues.requested)),
            "allocated": amounts_document(plan.resources, tuple(each[row] for each in queues.held)),
            "saturation": {
                each.name: saturation_text(queues.held[at][row], queues.fair[at][row])
                for at, each in enumerate(plan.resources)
            },
        }
        if terms.settings.k:
            used = {each.name: queues.usage[at].get(row, Fraction(0)) for at, each in enumerate(plan.resources)}
            consumers[plan.tree.paths[row]]["usage"] = {name: number(part) for name, part in used.items()}
    return {"amounts": amounts_document(plan.resources, queues.total), "consumers": consumers}


def oversubscribed(plan: Plan, queues: Queues) -> list[Document]:
    """Warnings that children are entitled to more than their parent, as they deserve it (R-QUEUE-2)."""
    found = []
    for row, children in enumerate(queues.terms.children):
        for at, resource in enumerate(plan.resources):
            total, fair = sum(queues.fair[at][child] for child in children), queues.fair[at][row]
            if total > fair:
                what = f"{_text(resource, total)} of {resource.name}, and it to {_text(resource, fair)}"
                message = f"those below it are entitled to {what}"
                path = plan.tree.paths[row]
                found.append({"consumer": path, "code": "oversubscribed", "message": message})
    return found


def _text(resource: Resource, units: Amount) -> str:
    return str(_number(resource, units))


def _number(resource: Resource, units: Amount) -> int | float | str:
    """An amount in the declared unit; of KAI's doubles the double."""
    if isinstance(units, int):
        return amount(resource, units)
    found = float(units / resource.base)
    return int(found) if found.is_integer() else found


def _bound(resource: Resource, units: int) -> int | float | str | None:
    return None if units >= UNLIMITED else amount(resource, units)


def saturation_text(held: int, fair: Amount) -> str:
    """What is held for what one is entitled to, exactly; without bound where that is nothing."""
    if not fair:
        return "unbounded" if held else "0"
    return str(Fraction(held) / Fraction(fair))
