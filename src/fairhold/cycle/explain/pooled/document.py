"""The explanation of one consumer's numbers and requests in all policy entries that share vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.pooled.candidates import kinds
from fairhold.cycle.explain.pooled.inquiry import Inquiry
from fairhold.cycle.explain.pooled.moves import moves_of
from fairhold.cycle.explain.pooled.owned import borrowed, lent, owned
from fairhold.cycle.explain.pooled.pool_parameters import PoolParameters
from fairhold.cycle.explain.pooled.requests import request_document
from fairhold.cycle.explain.pooled.sharing import limits_of, pool_document
from fairhold.cycle.explain.pooled.waiting import Why, waiting_document
from fairhold.cycle.explain.pooled.whatif import Search
from fairhold.cycle.explain.queued.document import explain_queue
from fairhold.cycle.pooled.active_entries import entries_in_force
from fairhold.cycle.pooled.run import run_pools
from fairhold.ledger.pools import PUBLIC

if TYPE_CHECKING:
    from fairhold.cycle.explain.pooled.inquiry import Document
    from fairhold.ledger.pools import PendingRequest, Unit
    from fairhold.model.plan import Plan
    from fairhold.model.state import State


def explain_pools(
    plan: Plan, state: State, path: str, group: str = "", request: str = "", *, what_if: bool = True
) -> list[Document]:
    """Explain one consumer in a cycle of every policy entry in force in which it takes part.

    group   : only entries that share this resource group; empty = all
    request : the only one of its requests for which is sought what would help it; empty = all
    what_if : also search for what would help requests that wait, which takes the longest
    """
    row = plan.tree.rows[path]
    found = []
    for force in entries_in_force(plan, state.now):  # pools of one do not touch those of another
        takes_part = row == PUBLIC or plan.tree.first_level[row] in force.members
        if takes_part and group in {"", *force.entry.resource_groups}:
            cycle = run_pools(plan, force.entry, force.part_of(plan, state), force.members)
            inquiry = Inquiry(plan, state, force, cycle, row, request)
            if force.entry.policy.has_queues:
                found.append(explain_queue(inquiry, what_if=what_if))
                continue
            found.append(_explained(inquiry, Search(inquiry, PoolParameters(inquiry)) if what_if else None))
    return found


def _explained(inquiry: Inquiry, search: Search | None) -> Document:
    why, new = Why(inquiry), set(inquiry.cycle.sweeps.placed)
    return {
        "consumer": inquiry.path(inquiry.row),
        "policy": inquiry.force.entry.policy.name,
        "resource_groups": list(inquiry.force.entry.resource_groups),
        "owned": list(owned(inquiry)),
        "lent": lent(inquiry),
        "borrowed": borrowed(inquiry),
        "share_limits": list(limits_of(inquiry)),
        "pools": [pool_document(inquiry, standing) for standing in inquiry.pools(inquiry.row)],
        "requests": [_request(inquiry, why, search, asked, new) for asked in inquiry.asked()],
        "moves": list(moves_of(inquiry)),
    }


def _request(inquiry: Inquiry, why: Why, search: Search | None, asked: PendingRequest, new: set[Unit]) -> Document:
    waiting = why.of(asked)
    found = request_document(inquiry, asked, new) | {"waits": None}
    if waiting is not None:
        found["waits"] = waiting_document(inquiry, waiting)
        if search is not None and inquiry.is_about(asked) and asked.lacking > inquiry.reservations.units(asked):
            found |= search.of(asked, kinds(search.parameters, asked, waiting))
    return found
