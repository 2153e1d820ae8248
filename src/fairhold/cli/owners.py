"""Who would own which hosts of a plan, were they assigned afresh: what `check` says of `multidimensional`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.cli.table import table
from fairhold.cycle.pooled.close import parcels_of
from fairhold.cycle.pooled.open import open_pools
from fairhold.kernels.vectors import add
from fairhold.model.state import State
from fairhold.model.vector import amounts_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.kernels.vectors import Vector
    from fairhold.model.plan import Plan

Document = dict[str, Any]
_NAMED = 4
"""Hosts that are named in one line at most."""


def owners(plan: Plan) -> list[Document]:
    """What each consumer owns in each resource group, less what those below it own: entries, groups, then plan order.

    hosts   : those that it owns as a whole; parts: of other hosts, by host
    amounts : of all of them together
    entry   : position under `policies:`, where the plan has windows
    """
    return [
        row | ({} if plan.calendar is None else {"entry": at})
        for at, entry in enumerate(plan.policies)
        if entry.policy.shares_vectors and not entry.policy.has_queues
        for row in _of_entry(plan, at)
    ]


def _of_entry(plan: Plan, at: int) -> Iterator[Document]:
    entry = plan.policies[at]
    books = open_pools(plan, entry, State(now=0))
    found: dict[tuple[int, int], list[tuple[str, Vector, bool]]] = {}
    for parcel in parcels_of(books):
        host = books.host_of[parcel.host]
        key = entry.resource_groups.index(host.group), parcel.consumer
        found.setdefault(key, []).append((parcel.host, parcel.amounts, parcel.amounts == host.plain))
    for (group, consumer), rows in sorted(found.items()):
        total = rows[0][1]
        for _, amounts, _ in rows[1:]:
            total = add(total, amounts)
        yield {
            "consumer": plan.tree.paths[consumer],
            "resource_group": entry.resource_groups[group],
            "hosts": [name for name, _, is_whole in rows if is_whole],
            "parts": {name: amounts_document(plan.resources, part) for name, part, is_whole in rows if not is_whole},
            "amounts": amounts_document(plan.resources, total),
        }


def owners_text(rows: list[Document]) -> str:
    """The same as a table, with the names of the first hosts."""
    has_entries = "entry" in rows[0]
    head = ("consumer", "group", *(("entry",) if has_entries else ()), "owns", "on")
    cells = [
        (
            row["consumer"],
            row["resource_group"],
            *((f"policies[{row['entry']}]",) if has_entries else ()),
            ", ".join(f"{name} {value}" for name, value in row["amounts"].items()),
            "; ".join(_hosts(row)),
        )
        for row in rows
    ]
    return table(head, cells, room=0)


def _hosts(row: Document) -> Iterator[str]:
    if row["hosts"]:
        yield _named(row["hosts"])
    if row["parts"]:
        yield f"parts of {_named(list(row['parts']))}"


def _named(hosts: list[str]) -> str:
    others = len(hosts) - _NAMED
    return ", ".join(hosts[:_NAMED]) + (f" and {others} more" if others > 0 else "")
