"""The part of the demand that counts: units that can be granted (R-SITE-2, R-USER-1, R-BUDGET-2)."""

from __future__ import annotations

from array import array
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from fairhold.ledger.sited import is_on_one, open_hosts_for
from fairhold.ledger.tables import NO_USER
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.ledger.books import Books

Alike = tuple[frozenset[str], frozenset[str]]
"""What requests need and avoid that share the same slots."""


class Counted(NamedTuple):
    """The part of the demand of a leaf's requests that counts.

    never    : request → units that it wants and that hosts or its user limit do not allow
    twice    : units on slots that count for another request, too
    together : units that requests sharing slots count for together
    """

    never: dict[int, int]
    twice: int
    together: dict[Alike, int]


def demand_that_counts(books: Books) -> array[int]:
    """(rows,) demand of leaves that counts: held units, plus wanted ones as far as hosts and controls allow."""
    demand, requests, controls = array("q", books.demand), books.requests, books.rows.controls
    sited = {requests.leaf[row] for row in requests.siting}
    for leaf in sited:
        never, twice, _ = what_counts(books, leaf)
        demand[leaf] = max(min(demand[leaf], books.held[leaf]), demand[leaf] - sum(never.values()) - twice)
    for leaf in controls.with_user_limit:
        if leaf not in sited:
            demand[leaf] -= _beyond_user_limit(books, leaf)
    for leaf in controls.waiting_leaves:
        demand[leaf] = min(demand[leaf], books.held[leaf])
    return demand


def what_counts(books: Books, leaf: int) -> Counted:
    """The demand of a leaf's requests that counts, where hosts or user limits could bar some."""
    is_limited = books.rows.controls.user_limit[leaf] < UNLIMITED
    if is_limited or books.requests.siting:
        return count_requests(books, leaf, is_limited)
    return Counted({}, 0, {})


def alike(books: Books, row: int) -> Alike | None:
    """What a request shares its slots by; None for one for which any host will do."""
    siting = books.requests.siting.get(row)
    return None if siting is None else (frozenset(siting.need), frozenset(siting.avoid))


def beyond_hosts(books: Books) -> dict[int, int]:
    """Request → units that it wants beyond what the hosts that will do could ever take (R-SITE-2)."""
    requests, found = books.requests, dict[int, int]()
    for leaf in {requests.leaf[row] for row in requests.siting}:
        found |= count_requests(books, leaf, is_limited=False).never
    return found


def requests_of(books: Books, leaf: int) -> set[int]:
    """Requests of a leaf that hold units or want some."""
    requests = books.requests
    queues = requests.lines.of.get(leaf, {}).values()
    return {*requests.holders.get(leaf, ()), *(row for queue in queues for row in queue)}


def line_key(books: Books, row: int) -> tuple[int, bool, int, str]:
    """Place of a request where it is asked what fits: priority, then gangs before others, submitted, id."""
    requests = books.requests
    return -requests.priority[row], not requests.minimum[row], requests.submitted[row], requests.id[row]


def room_of_user(books: Books, leaf: int, user: int) -> int:
    """Units that a user may be granted in a leaf with a user limit; requests without a user have no limit."""
    requests = books.requests
    if user == NO_USER:
        return requests.lines.waiting.get((leaf, user), 0)
    return max(0, books.rows.controls.user_limit[leaf] - requests.used_by.get((leaf, user), 0))


def count_requests(books: Books, leaf: int, is_limited: bool) -> Counted:  # noqa: FBT001 - a plain fact
    """The demand of a leaf's requests that counts, request by request, bounded by shared slots and user limits.

    Slots are shared as if none was held, so that a grant does not change what counts. A user's room is his limit minus
    what he holds.

    is_limited : whether the room of users counts
    """
    requests = books.requests
    shared: dict[Alike, _Shared] = {}
    users: dict[int, int] = {}
    never: dict[int, int] = {}
    for row in sorted(requests_of(books, leaf), key=lambda row: line_key(books, row)):
        user, key, count = requests.user[row], alike(books, row), requests.count[row]
        held, apart = min(requests.held[row], count), 0
        most = min(count, held + users.setdefault(user, room_of_user(books, leaf, user))) if is_limited else count
        slots = None
        if key is not None:
            if key not in shared:
                shared[key] = _Shared(books, open_hosts_for(books, requests.siting[row]))
            slots = shared[key]
        room = most
        if slots is not None:  # what stands on hosts that will not do takes none of the slots
            apart = min(held, slots.apart(books, row))
            room = apart + min(slots.left, slots.largest if is_on_one(books, row) else slots.left)
        most = min(most, room)
        if most < requests.minimum[row]:
            most = min(held, room)
        if is_limited:
            users[user] -= max(0, most - held)
        if slots is not None:
            slots.use(held, most, apart)
        if count > max(held, most):
            never[row] = count - max(held, most)
    twice = sum(slots.twice for slots in shared.values())
    return Counted(never, twice, {key: slots.together for key, slots in shared.items()})


class _Shared:
    """Slots that requests of a leaf share which need and avoid the same.

    hosts   : that will do
    left    : slots that those before have not taken
    largest : slots of one host
    """

    def __init__(self, books: Books, hosts: list[int]) -> None:
        sizes = [books.hosts.slots[host] for host in hosts]
        self.hosts = set(hosts)
        self.left, self.largest = sum(sizes), max(sizes, default=0)
        self._held = self._taken = self._most = 0

    def apart(self, books: Books, row: int) -> int:
        """Units of a request that stand on other hosts, as after a change of labels."""
        allocations = books.allocations
        mine = allocations.by_request.get(row, ())
        return sum(allocations.units[each] for each in mine if allocations.host[each] not in self.hosts)

    def use(self, held: int, taken: int, apart: int) -> None:
        """A request takes some, those apart from elsewhere; it counts at least for what it holds."""
        self.left -= max(0, taken - apart)
        self._held += held
        self._taken += taken
        self._most += max(held, taken)

    @property
    def together(self) -> int:
        """Units that all take together, or hold together, whichever is more."""
        return max(self._held, self._taken)

    @property
    def twice(self) -> int:
        """Units that count beyond that."""
        return self._most - self.together


def _beyond_user_limit(books: Books, leaf: int) -> int:
    """Waiting units that the user limit does not allow, or that cannot start within the rest of it."""
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
    gangs = sorted(requests.lines.gangs.get(leaf, ()), key=lambda row: line_key(books, row))
    for name in sorted(name for name in queues if name[1] == user):
        first = [row for row in gangs if (-requests.priority[row], requests.user[row]) == name]
        for row in chain(first, (row for row in queues[name] if not requests.minimum[row])):
            if not left:
                return room
            if requests.minimum[row] - requests.held[row] <= left:
                left -= min(left, requests.count[row] - requests.held[row])
    return room - left
