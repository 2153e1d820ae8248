"""What of the demand counts: units that somebody may be granted (R-USER-1, R-BUDGET-2)."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from fairhold.ledger.sited import beyond_hosts
from fairhold.ledger.tables import NO_USER
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.ledger.books import Books


def demand_that_counts(books: Books) -> array[int]:
    """(rows,) units that leaves want and may have: held ones, and no more others than hosts and controls allow."""
    demand, controls, held = array("q", books.demand), books.rows.controls, books.held
    siting = beyond_hosts(books) if books.requests.siting else {}
    for leaf in controls.with_user_limit:
        demand[leaf] -= sum(_beyond_users(books, leaf, siting).values()) if siting else _beyond_user_limit(books, leaf)
    for request, units in siting.items():
        leaf = books.requests.leaf[request]
        demand[leaf] = max(min(demand[leaf], held[leaf]), demand[leaf] - units)
    for leaf in controls.waiting_leaves:
        demand[leaf] = min(demand[leaf], held[leaf])
    return demand


def beyond(books: Books, leaf: int) -> dict[int, int]:
    """Request → units that it wants and that neither hosts nor the room of its user allow; also of other leaves."""
    siting = beyond_hosts(books) if books.requests.siting else {}
    if books.rows.controls.user_limit[leaf] >= UNLIMITED:
        return siting
    users = _beyond_users(books, leaf, siting)
    return {row: siting.get(row, 0) + users.get(row, 0) for row in {**siting, **users}}


def room_of_user(books: Books, leaf: int, user: int) -> int:
    """Units that a user may be granted in a leaf with a user limit; nobody counts for requests without a user."""
    requests = books.requests
    if user == NO_USER:
        return requests.lines.waiting.get((leaf, user), 0)
    return max(0, books.rows.controls.user_limit[leaf] - requests.used_by.get((leaf, user), 0))


def _beyond_users(books: Books, leaf: int, siting: Mapping[int, int]) -> dict[int, int]:
    """Request → units that it waits for and that its user may not have, beside those that no host could take."""
    requests, found = books.requests, {}
    queues = requests.lines.of.get(leaf, {})
    room = {user: room_of_user(books, leaf, user) for _, user in queues}
    for name in sorted(queues):
        user = name[1]
        for row in queues[name]:
            wanted = requests.count[row] - requests.held[row] - siting.get(row, 0)
            starts = requests.minimum[row] - requests.held[row]
            taken = min(wanted, room[user]) if starts <= min(wanted, room[user]) else 0
            room[user] -= taken
            if wanted > taken:
                found[row] = wanted - taken
    return found


def _beyond_user_limit(books: Books, leaf: int) -> int:
    """Units that wait and that their users may not have, or cannot start with in the room that is left to them."""
    waiting, beyond = books.requests.lines.waiting, 0
    for user in {user for _, user in books.requests.lines.of.get(leaf, ())}:
        wanted, room = waiting[leaf, user], room_of_user(books, leaf, user)
        if wanted > room:
            beyond += wanted - _usable(books, leaf, user, room)
    return beyond


def _usable(books: Books, leaf: int, user: int, room: int) -> int:
    """Units that a user's requests would take, one after another, of so much room."""
    requests, left = books.requests, room
    queues = requests.lines.of[leaf]
    for name in sorted(name for name in queues if name[1] == user):
        for row in queues[name]:
            if not left:
                return room
            if requests.minimum[row] - requests.held[row] <= left:
                left -= min(left, requests.count[row] - requests.held[row])
    return room - left
