"""Everything that changes the books: plain functions that the live orchestrator and the simulator both call.

Each records one thing that happened, keeps the sums per consumer up to date and decides nothing. Preconditions, which
the caller must ensure, are asserted.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from fairhold.model.siting import ANYWHERE
from fairhold.model.state import REASONS

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.model.siting import Siting

WINDOW = REASONS.index("window")
SAME = -1
"""A minimum that stays as it is."""
AS_BEFORE = -1
"""As many units are wanted as before."""


def add_host(books: Books, name: str, slots: int) -> int:
    """A host joins, up; returns its row."""
    assert name not in books.hosts.row_of
    row = books.hosts.add(slots, 0, 0, 1)
    books.hosts.name.append(name)
    books.hosts.row_of[name] = row
    return row


def label_host(books: Books, host: int, labels: frozenset[str]) -> None:
    """A host has other labels; what runs there stays."""
    books.hosts.labels.pop(host, None)
    if labels:
        books.hosts.labels[host] = labels


def set_host(
    books: Books, host: int, *, slots: int | None = None, up: bool | None = None, closed: bool | None = None
) -> None:
    """A host changes its size, goes down or comes up, closes or opens; what runs there stays until it is released."""
    if closed is not None:
        (books.hosts.closed.add if closed else books.hosts.closed.discard)(host)
    if slots is not None:
        books.hosts.slots[host] = slots
    if up is not None and up != bool(books.hosts.up[host]):
        sign = 1 if up else -1  # units that are kept on a host that is down are not there
        for row in books.keeps.live:
            if books.keeps.host[row] == host:
                _count_kept(books, row, sign * books.keeps.units[row])
        books.hosts.up[host] = int(up)


def shut(books: Books) -> None:
    """Hosts that start nothing have the slots in use there, and fewer with every one that is given back (R-UP-1)."""
    hosts = books.hosts
    for row in hosts.closed:
        hosts.slots[row] = min(hosts.slots[row], hosts.used[row])


def submit(
    books: Books,
    leaf: int,
    count: int,
    *,
    name: str = "",
    minimum: int = 0,
    priority: int = 0,
    submitted: int = 0,
    user: str = "",
    time_limit: int = 0,
    since: int | None = None,
    siting: Siting = ANYWHERE,
) -> int:
    """A leaf asks for `count` units; returns the request's row.

    time_limit : microseconds that a unit runs at most, 0 = any time
    since      : since when it could be served, None = since it was submitted
    siting     : what it says of hosts
    """
    requests = books.requests
    since = submitted if since is None else since
    user_row = requests.user_row(user)
    row = requests.add(leaf, count, minimum, priority, submitted, 0, 0, user_row, 0, time_limit, since)
    if row == len(requests.id):
        requests.id.append(name)
    else:
        requests.id[row] = name
    if siting != ANYWHERE:
        requests.siting[row] = siting
    requests.lines.rank(row)
    if count:
        books.demand[leaf] += count
        requests.lines.update(row)
    return row


def want(books: Books, request: int, count: int, minimum: int = SAME) -> None:
    """A request wants another number of units from now on, and is a gang of so many, 0 = none."""
    requests = books.requests
    if minimum not in {SAME, requests.minimum[request]}:
        ask(books, request, minimum, requests.siting.get(request, ANYWHERE))
    more = count - requests.count[request]
    if more:
        books.demand[requests.leaf[request]] += more
        requests.count[request] = count
        requests.lines.update(request)


def rank(books: Books, request: int, priority: int) -> None:
    """A request gets another priority inside its leaf."""
    books.requests.lines.leave(request)
    books.requests.priority[request] = priority
    books.requests.lines.rank(request)
    books.requests.lines.update(request)


def ask(books: Books, request: int, minimum: int, siting: Siting) -> None:
    """A request is another gang, or none, and says something else of hosts."""
    requests = books.requests
    requests.lines.leave(request)
    requests.minimum[request] = minimum
    requests.siting.pop(request, None)
    if siting != ANYWHERE:
        requests.siting[request] = siting
    holds = minimum > 0 and requests.held[request] > 0
    _count_holder(requests.gangs, requests.leaf[request], request, holds=holds)
    requests.lines.update(request)


def move(books: Books, request: int, leaf: int) -> None:
    """A request goes to another leaf with all that it wants, holds and is to give back."""
    requests = books.requests
    old, held, kept = requests.leaf[request], requests.held[request], _kept_by(books, request)
    requests.lines.leave(request)
    for column, units in (
        (books.demand, requests.count[request]),
        (books.noticed, requests.noticed[request]),
        (books.kept, kept),
    ):
        column[old] -= units
        column[leaf] += units
    if held:
        _hold(books, request, -held)
        requests.lines.leave(request)
    requests.leaf[request] = leaf
    requests.lines.rank(request)
    if held:
        _hold(books, request, held)
    requests.lines.update(request)


def _kept_by(books: Books, request: int) -> int:
    keeps = books.keeps
    return sum(
        keeps.units[row] for row in keeps.live if keeps.request[row] == request and books.hosts.up[keeps.host[row]]
    )


def forget(books: Books, request: int) -> None:
    """A request is over; it holds nothing any more."""
    requests = books.requests
    assert requests.held[request] == 0
    want(books, request, 0)
    for row in [row for row in books.keeps.live if books.keeps.request[row] == request]:
        unkeep(books, row, books.keeps.units[row])
    requests.id[request] = ""
    requests.siting.pop(request, None)
    requests.drop(request)


def grant(books: Books, request: int, host: int, units: int, now: int) -> int:
    """A request gets units on a host; returns the allocation's row."""
    allocations = books.allocations
    row = allocations.add(request, host, units, 0, now, allocations.next_serial)
    allocations.next_serial += 1
    if books.requests.minimum[request]:
        allocations.latest_gang = max(allocations.latest_gang, now)
    allocations.by_request.setdefault(request, {})[row] = None
    books.hosts.used[host] += units
    _hold(books, request, units)
    _use_kept(books, books.requests.leaf[request], units)
    return row


def _hold(books: Books, request: int, units: int) -> None:
    """A request holds more units, or fewer."""
    requests = books.requests
    leaf, before = requests.leaf[request], requests.held[request]
    held = requests.held[request] = before + units
    books.held[leaf] += units
    user = leaf, requests.user[request]
    used = requests.used_by.get(user, 0) + units
    if used:
        requests.used_by[user] = used
    else:
        requests.used_by.pop(user, None)
    if not (before and held):
        _count_holder(requests.holders, leaf, request, holds=held > 0)
        if requests.minimum[request]:
            _count_holder(requests.gangs, leaf, request, holds=held > 0)
    requests.lines.update(request)


def _count_holder(holders: dict[int, dict[int, None]], leaf: int, request: int, *, holds: bool) -> None:
    """A request is one of those of its leaf that hold units, or not any more."""
    if holds:
        holders.setdefault(leaf, {})[request] = None
        return
    mine = holders.get(leaf, {})
    mine.pop(request, None)
    if not mine:
        holders.pop(leaf, None)


def _use_kept(books: Books, leaf: int, units: int) -> None:
    """Take units granted to a leaf off those kept for its requests, the earliest kept first."""
    keeps = books.keeps
    if not keeps.live:
        return
    for row in [row for row in keeps.live if books.requests.leaf[keeps.request[row]] == leaf]:
        used = min(units, keeps.units[row]) if books.hosts.up[keeps.host[row]] else 0
        if used:
            unkeep(books, row, used)
            units -= used


def give_notice(  # noqa: PLR0917  # the fields of one decision, in its order
    books: Books, allocation: int, units: int, taker: int, deadline: int, reason: int
) -> int:
    """Units of an allocation are to be given back by the deadline; returns the notice's row."""
    notices = books.notices
    assert books.allocations.noticed[allocation] + units <= books.allocations.units[allocation]
    row = notices.add(allocation, units, taker, deadline, reason, notices.next_serial)
    heappush(notices.due, (deadline, notices.next_serial, row))
    notices.next_serial += 1
    notices.by_allocation.setdefault(allocation, {})[row] = None
    _count_noticed(books, allocation, units)
    return row


def withdraw(books: Books, notice: int, units: int) -> None:
    """Units of a notice may stay after all."""
    notices = books.notices
    allocation = notices.allocation[notice]
    assert units <= notices.units[notice]
    notices.units[notice] -= units
    _count_noticed(books, allocation, -units)
    if notices.units[notice] == 0:
        del notices.by_allocation[allocation][notice]
        if not notices.by_allocation[allocation]:
            del notices.by_allocation[allocation]
        notices.drop(notice)


def pin(books: Books, notice: int, units: int) -> None:
    """Units of a notice count for a switch of windows from now on; the others keep a notice of their own."""
    notices = books.notices
    if units < notices.units[notice]:
        left = notices.units[notice] - units
        rest = (notices.taker[notice], notices.deadline[notice], notices.reason[notice])
        withdraw(books, notice, left)
        give_notice(books, notices.allocation[notice], left, *rest)
    notices.reason[notice] = WINDOW


def release(books: Books, allocation: int, units: int, wanted: int = AS_BEFORE) -> None:
    """Units of an allocation are idle again; units under notice go first, earliest deadline first.

    wanted : how many the request wants from now on
    """
    allocations, notices, requests = books.allocations, books.notices, books.requests
    assert units <= allocations.units[allocation]
    if allocation in notices.by_allocation:
        left = units
        for notice in sorted(notices.by_allocation[allocation], key=lambda row: (notices.deadline[row], row)):
            given = min(left, notices.units[notice])
            withdraw(books, notice, given)
            left -= given
    request = allocations.request[allocation]
    if wanted != AS_BEFORE:
        books.demand[requests.leaf[request]] += wanted - requests.count[request]
        requests.count[request] = wanted
    allocations.units[allocation] -= units
    books.hosts.used[allocations.host[allocation]] -= units
    _hold(books, request, -units)
    if allocations.units[allocation] == 0:
        del allocations.by_request[request][allocation]
        if not allocations.by_request[request]:
            del allocations.by_request[request]
        allocations.drop(allocation)


def keep(books: Books, request: int, host: int, units: int) -> int:
    """Idle units on a host are kept for a request; returns the row."""
    row = books.keeps.add(request, host, units)
    books.keeps.live[row] = None
    if books.hosts.up[host]:
        _count_kept(books, row, units)
    return row


def unkeep(books: Books, row: int, units: int) -> None:
    """Kept units are used or no longer wanted."""
    keeps = books.keeps
    keeps.units[row] -= units
    if books.hosts.up[keeps.host[row]]:
        _count_kept(books, row, -units)
    if keeps.units[row] == 0:
        del keeps.live[row]
        keeps.drop(row)


def _count_kept(books: Books, row: int, units: int) -> None:
    books.hosts.kept[books.keeps.host[row]] += units
    books.kept[books.requests.leaf[books.keeps.request[row]]] += units


def take_expired(books: Books, now: int) -> list[int]:
    """Notices whose grace has run out, earliest deadline first; each is told once."""
    notices, found = books.notices, []
    while notices.due and notices.due[0][0] <= now:
        _, serial, row = heappop(notices.due)
        if _is_live(books, row, serial):
            found.append(row)
    return found


def next_deadline(books: Books) -> int | None:
    """When the next grace ends that `take_expired` has not told; None: there is none."""
    due = books.notices.due
    while due and not _is_live(books, due[0][2], due[0][1]):
        heappop(due)
    return due[0][0] if due else None


def _is_live(books: Books, notice: int, serial: int) -> bool:
    return books.notices.serial[notice] == serial and books.notices.units[notice] > 0


def _count_noticed(books: Books, allocation: int, units: int) -> None:
    request = books.allocations.request[allocation]
    books.allocations.noticed[allocation] += units
    books.requests.noticed[request] += units
    books.noticed[books.requests.leaf[request]] += units
