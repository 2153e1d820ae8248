"""What users and budgets allow a leaf, for units of any size (R-USER-2, R-BUDGET-7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.rules.pools.siting import could_stand, kinds_of_hosts
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.ledger.pools import Machine, PendingRequest, PoolBooks


def share_rooms(books: PoolBooks) -> None:
    """Divide the user limit of a leaf among a user's requests, in their order.

    Requests that no host could run, gangs that can never start, and gangs whose minimum exceeds the rest get nothing of
    it. Requests without a user have no limit. Of a leaf whose budget is used up no request gets more than it has.
    """
    terms = books.terms
    for leaf in terms.leaves if terms.waiting else ():
        if leaf in terms.waiting:
            for asked in books.by_leaf[leaf]:
                asked.most = asked.held
            books.bounded += books.by_leaf[leaf]
    if min(terms.user_limit) >= UNLIMITED:
        return
    limited = [leaf for leaf in terms.leaves if terms.user_limit[leaf] < UNLIMITED and leaf not in terms.waiting]
    hosts = kinds_of_hosts(books.hosts) if limited else []
    for leaf in limited:
        mine: dict[str, list[PendingRequest]] = {}
        for asked in books.by_leaf[leaf]:
            if asked.model.user:
                mine.setdefault(asked.model.user, []).append(asked)
        for line in mine.values():
            _share_room(line, terms.user_limit[leaf], hosts)
            books.bounded += line


def _share_room(line: list[PendingRequest], limit: int, hosts: list[Machine]) -> None:
    room = max(0, limit - sum(asked.held for asked in line))
    for asked in sorted(line, key=lambda each: each.order):
        units = min(asked.lacking, room)
        if asked.never or asked.held + units < asked.model.min_count or not could_stand(asked, hosts):
            units = 0
        asked.most = asked.held + units
        room -= units
