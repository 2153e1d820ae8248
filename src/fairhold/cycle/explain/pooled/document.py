"""The explanation of one consumer's numbers and requests in all policy entries that share vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.explain.pooled.budgets import used_up_around
from fairhold.cycle.explain.pooled.candidates import kinds
from fairhold.cycle.explain.pooled.inquiry import Inquiry
from fairhold.cycle.explain.pooled.moves import moves_of
from fairhold.cycle.explain.pooled.owned import borrowed, lent, owned
from fairhold.cycle.explain.pooled.pool_parameters import PoolParameters
from fairhold.cycle.explain.pooled.requests import request_document
from fairhold.cycle.explain.pooled.sharing import limits_of, pool_document
from fairhold.cycle.explain.pooled.waiting import Why, waiting_document
from fairhold.cycle.explain.pooled.whatif import Search
from fairhold.cycle.explain.queued.document import explain_queue, queue_teller
from fairhold.cycle.pooled.active_entries import entries_at
from fairhold.cycle.pooled.run import run_pools
from fairhold.ledger.pools import PUBLIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.cycle.explain.pooled.inquiry import Document
    from fairhold.cycle.pooled.run import PooledCycle
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
    found = []
    for inquiry in _inquiries(plan, state, path, group, request):
        if inquiry.force.entry.policy.has_queues:
            told = explain_queue(inquiry, what_if=what_if)
        else:
            told = _explained(inquiry, Search(inquiry, PoolParameters(inquiry)) if what_if else None)
        budgets = used_up_around(inquiry)
        found.append(told | ({"budgets": budgets} if budgets else {}))
    return found


class RequestExplanations:
    """The requests of one consumer, each explained when it is asked for, without what would help it.

    cycles : of the entries in force, by their resource groups, as far as they are known; those that run are added
    """

    def __init__(self, plan: Plan, state: State, path: str, cycles: dict[tuple[str, ...], PooledCycle]) -> None:
        self._of: dict[str, tuple[PendingRequest, Callable[[PendingRequest], Document]]] = {}
        for inquiry in _inquiries(plan, state, path, cycles=cycles):
            tell = _teller(inquiry)
            self._of |= {asked.model.id: (asked, tell) for asked in inquiry.asked()}

    def of(self, request: str) -> Document | None:
        """What `explain_pools` says of a request; None = it is none of the consumer's."""
        asked, tell = self._of.get(request, (None, None))
        return None if asked is None or tell is None else tell(asked)


def _inquiries(
    plan: Plan,
    state: State,
    path: str,
    group: str = "",
    request: str = "",
    *,
    cycles: dict[tuple[str, ...], PooledCycle] | None = None,
) -> Iterator[Inquiry]:
    row, known = plan.tree.rows[path], {} if cycles is None else cycles
    for force in entries_at(plan, state):  # pools of one do not touch those of another
        takes_part, groups = row == PUBLIC or plan.tree.first_level[row] in force.members, force.entry.resource_groups
        if takes_part and group in {"", *groups}:
            if groups not in known:
                known[groups] = run_pools(plan, force.entry, force.part_of(plan, state), force.members)
            yield Inquiry(plan, state, force, known[groups], row, request)


def _teller(inquiry: Inquiry) -> Callable[[PendingRequest], Document]:
    if inquiry.force.entry.policy.has_queues:
        return queue_teller(inquiry)
    why, new = Why(inquiry), set(inquiry.cycle.sweeps.placed)
    return lambda asked: _request(inquiry, why, None, asked, new)


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
