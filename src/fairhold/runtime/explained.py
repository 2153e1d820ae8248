"""All explanations of one consumer: of every resource group with slots, then of every pool and every set of queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.cycle.explain import explain
from fairhold.cycle.explain.pooled.document import explain_pools
from fairhold.cycle.open import open_books, settle
from fairhold.cycle.run import run
from fairhold.runtime import explaining, explaining_pools

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Document = dict[str, Any]


def of_slots(plan: Plan, state: State, path: str, group: str = "", *, wants_more: bool = True) -> list[Document]:
    """Of resource groups with slots.

    group      : the only one, empty = all
    wants_more : whether more demand counts as what would help; it does not help a request that waits already
    """
    books = open_books(plan, state)
    settle(books, state)
    results = [run(book, state.now) for name, book in books.items() if group in ("", name)]
    unseen = state.hosts_never_seen
    return [
        explaining.as_document(explain(plan, result, path, unseen=unseen, wants_more=wants_more)) for result in results
    ]


def of_pools(plan: Plan, state: State, path: str, group: str = "", request: str = "") -> list[Document]:
    """Of pools and queues.

    group   : the only one, empty = all
    request : whose requests alike are not told together, empty = nobody's
    """
    return [explaining_pools.as_document(told) for told in explain_pools(plan, state, path, group, request)]
