"""A plan and a state become books; books become a state again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.ledger import transitions
from fairhold.ledger.books import Books
from fairhold.ledger.decision import Shortage as OfLeaf
from fairhold.ledger.rows import in_force, lay_out, with_spent
from fairhold.ledger.spending import used_up
from fairhold.ledger.tables import NOBODY
from fairhold.model.siting import ANYWHERE, label_set
from fairhold.model.state import REASONS, Allocation, HeldUnits, Loan, Notice, Request, Shortage, State
from fairhold.rules.aging import is_young
from fairhold.rules.victims import victim_order
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairhold.ledger.rows import Rows
    from fairhold.model.plan import Plan, ResourceGroup


class Stop(NamedTuple):
    """Units whose grace ran out: they leave their holder (R-SETTLE-1)."""

    consumer: int
    resource_group: str
    units: int
    request: str
    host: str


def open_books(plan: Plan, state: State, force: Mapping[str, tuple[int, ...]] | None = None) -> dict[str, Books]:
    """The books of every resource group whose slots a policy shares, in plan order.

    force : resource group → policy entries in force, where it is not the calendar that says so (R-WINDOW-1)
    """
    groups = [group for group in plan.resource_groups if not plan.resource_groups[group].shares_vectors]
    forces = {group: in_force(plan, group, state.now) for group in groups} | dict(force or {})
    books = {group: Books(_rows(plan, group, forces[group], state)) for group in groups if forces[group]}
    for group, book in books.items():
        if state.previous_cycle is not None:
            before = in_force(plan, group, state.previous_cycle)
            book.before = before if before != book.rows.force else ()
            book.ran = state.previous_cycle
        _add_hosts(book, plan.resource_groups[group], state)
    _book_counts(books, state)
    _book_requests(books, state)
    for book in books.values():
        transitions.shut(book)
    for loan in state.borrowed:
        book = books[loan.resource_group]
        book.borrowed[loan.borrower, loan.lender] = loan.units
    _book_spent(books, state)
    for short in state.shortages:
        if short.resource_group not in books:
            continue  # of vectors
        book = books[short.resource_group]
        book.shortages[short.consumer] = OfLeaf(short.since, short.is_taking)
    return books


def _add_hosts(book: Books, resource_group: ResourceGroup, state: State) -> None:
    """The hosts of a group; a plain number of slots is one without a name.

    Of a host that is down there is what is booked on it (R-UP-1); of counts nobody says where they stand, so nothing.
    """
    if resource_group.hosts:
        name = resource_group.name
        is_counted = any(group == name for of in (state.demand, state.allocated) for _, group in of)
        for machine in resource_group.hosts:
            is_down = machine.name in state.hosts_down
            row = transitions.add_host(book, machine.name, 0 if is_down and is_counted else machine.slots)
            is_closed = machine.name in state.hosts_closed or (is_down and not is_counted)
            transitions.set_host(book, row, up=not is_down, closed=is_closed)
            transitions.label_host(book, row, label_set(machine.labels))
    else:
        transitions.add_host(book, "", state.slots.get(resource_group.name, resource_group.slots))


def _book_requests(books: dict[str, Books], state: State) -> None:
    """Requests, what they hold, what is kept for them, and all notices."""
    of_request = {request.id: request for request in state.requests if not request.unit}
    for request in of_request.values():
        book = books[request.resource_group]
        transitions.submit(
            book,
            request.consumer,
            request.count,
            name=request.id,
            minimum=request.min_count,
            priority=request.priority,
            submitted=request.submitted,
            user=request.user,
            siting=request.siting,
            time_limit=request.time_limit,
            since=request.since,
        )
    row_of = {group: book.requests.row_of for group, book in books.items()}
    for allocation in state.allocations:
        if allocation.request not in of_request:
            continue
        group = of_request[allocation.request].resource_group
        book, request_row = books[group], row_of[group][allocation.request]
        host = book.hosts.row_of[allocation.host]
        transitions.grant(book, request_row, host, allocation.units, allocation.started)
    _keep(books, state, row_of, of_request)
    for notice in state.notices:
        group = notice.resource_group
        if group:
            _book_notice(books[group], notice, row_of[group], state.now)


def _book_spent(books: dict[str, Books], state: State) -> None:
    """What consumers with budgets have used; who has none any more is left away."""
    for (node, group), seconds in state.spent.items():
        spending = books[group].spending
        if spending is not None:
            spending.set(node, seconds * SECOND, state.now)


def _rows(plan: Plan, group: str, force: tuple[int, ...], state: State) -> Rows:
    """The columns of a group, with the budgets used up that the state says are."""
    rows = lay_out(plan, group, force)
    used = {row: {0: seconds * SECOND} for (row, name), seconds in state.spent.items() if name == group}
    spent = used_up(rows.controls.budgets, used) if used else frozenset()
    return with_spent(rows, spent) if spent else rows


def _book_counts(books: dict[str, Books], state: State) -> None:
    """Plain counts: one nameless request stands for all that a leaf wants."""
    for consumer, group in dict.fromkeys((*state.demand, *state.allocated)):
        book = books[group]
        request = transitions.submit(book, consumer, state.demand.get((consumer, group), 0))
        left = state.allocated.get((consumer, group), 0)
        for host in range(len(book.hosts.name)):
            # A group with hosts but only counts: they stand on the hosts in inventory order.
            is_last = host == len(book.hosts.name) - 1
            room = book.hosts.slots[host] - book.hosts.used[host] if book.hosts.up[host] else 0
            units = left if is_last else max(0, min(left, room))
            if units:
                transitions.grant(book, request, host, units, state.now)
                left -= units


def _book_notice(book: Books, notice: Notice, row_of: Mapping[str, int], now: int) -> None:
    """A notice of the state on the allocations of its holder, in the order in which they give, as far as none is there.

    That is the order of `victims`, those first that have run for their least time: so they were chosen (R-CONTROL-5).
    """
    taker = max(notice.taker, NOBODY)
    left = notice.units
    for allocation in _held_by(book, notice, row_of, now):
        units = min(left, book.allocations.units[allocation] - book.allocations.noticed[allocation])
        if units:
            reason = REASONS.index(notice.reason)
            transitions.give_notice(book, allocation, units, taker, notice.deadline, reason)
            left -= units
    assert left == 0, "the reader checks that nobody has more units under notice than it holds"


def _keep(
    books: Mapping[str, Books], state: State, row_of: Mapping[str, Mapping[str, int]], of_request: Mapping[str, Request]
) -> None:
    """What a state holds for requests; for none more than it wants beyond what it has (R-HOLD-1)."""
    wanted: dict[str, int] = {}
    for held in state.held:
        if held.request not in of_request:
            continue
        group = of_request[held.request].resource_group
        book, row = books[group], row_of[group][held.request]
        more = wanted.setdefault(held.request, book.requests.count[row] - book.requests.held[row])
        wanted[held.request] -= held.units
        if more > 0:
            transitions.keep(book, row, book.hosts.row_of[held.host], min(held.units, more))


def _held_by(book: Books, notice: Notice, row_of: Mapping[str, int], now: int) -> list[int]:
    requests, allocations = book.requests, book.allocations
    if notice.request:
        mine: list[int] = [row_of[notice.request]]
    else:
        mine = list(requests.holders.get(notice.consumer, ()))
    held = [row for request in mine for row in allocations.by_request.get(request, ())]
    if notice.host:
        held = [row for row in held if book.hosts.name[allocations.host[row]] == notice.host]
    return sorted(victim_order(book, held), key=lambda row: is_young(book, row, now))


def settle(books: Mapping[str, Books], state: State) -> list[Stop]:
    """Graces that ran out become stops: the units are idle and their work waits again, in front (R-SETTLE-1, S1.60).

    Where the state's own cycle ran at this very instant no time has passed, so that no grace can have run out: a
    second cycle on the state after the first changes nothing.
    """
    if state.previous_cycle is not None and state.previous_cycle >= state.now:
        return []
    stops = []
    for group, book in books.items():
        due = transitions.take_expired(book, state.now)
        # Read first: a release takes the earliest deadline of an allocation, whichever notice it is done for.
        for allocation, units in [(book.notices.allocation[row], book.notices.units[row]) for row in due]:
            request = book.allocations.request[allocation]
            host = book.hosts.name[book.allocations.host[allocation]]
            stops.append(Stop(book.requests.leaf[request], group, units, book.requests.id[request], host))
            transitions.release(book, allocation, units)
        transitions.shut(book)
    return stops


def close_books(books: Mapping[str, Books], state: State) -> State:
    """The state that the books say, one instant after `state`'s cycle."""
    demand: dict[tuple[int, str], int] = {}
    allocated: dict[tuple[int, str], int] = {}
    requests: list[Request] = []
    for group, book in books.items():
        by_leaf = book.requests.by_leaf
        for leaf in book.rows.leaves:
            for row in by_leaf.get(leaf, ()):
                if book.requests.id[row]:
                    requests.append(request_of(book, group, row))
                    continue
                demand[leaf, group] = book.requests.count[row]
                if book.requests.held[row]:
                    allocated[leaf, group] = book.requests.held[row]
    return State(
        now=state.now,
        slots=state.slots,
        hosts_down=state.hosts_down,
        hosts_never_seen=state.hosts_never_seen,
        hosts_closed=state.hosts_closed,
        demand=demand,
        allocated=allocated,
        requests=tuple(requests),
        allocations=tuple(row for book in books.values() for row in _allocations(book)),
        notices=tuple(notice for group, book in books.items() for notice in _notices(book, group)),
        held=tuple(row for book in books.values() for row in _held_units(book)),
        borrowed=tuple(loan for group, book in books.items() for loan in _loans(book, group)),
        shortages=tuple(
            Shortage(leaf, group, *short) for group, book in books.items() for leaf, short in book.shortages.items()
        ),
        spent=state.spent,
        spent_amounts=state.spent_amounts,
        previous_cycle=state.now,
    )


def request_of(book: Books, group: str, row: int) -> Request:
    """A request of the books as a state says it."""
    requests = book.requests
    return Request(
        id=requests.id[row],
        consumer=requests.leaf[row],
        resource_group=group,
        count=requests.count[row],
        min_count=requests.minimum[row],
        priority=requests.priority[row],
        submitted=requests.submitted[row],
        user=requests.users[requests.user[row]],
        time_limit=requests.time_limit[row],
        since=None if requests.since[row] == requests.submitted[row] else requests.since[row],
        siting=requests.siting.get(row, ANYWHERE),
    )


def _allocations(book: Books) -> Iterator[Allocation]:
    """One entry for units of one request on one host that started together."""
    allocations = book.allocations
    units: dict[tuple[int, int, int], int] = {}
    for request, mine in allocations.by_request.items():
        for row in mine if book.requests.id[request] else ():
            key = (request, allocations.host[row], allocations.started[row])
            units[key] = units.get(key, 0) + allocations.units[row]
    for (request, host, started), count in units.items():
        yield Allocation(book.requests.id[request], book.hosts.name[host], count, started)


def _notices(book: Books, group: str) -> Iterator[Notice]:
    """One entry for units of one holder that have taker, deadline and reason in common, in the order given."""
    notices, allocations, requests = book.notices, book.allocations, book.requests
    live = sorted((row for mine in notices.by_allocation.values() for row in mine), key=notices.serial.__getitem__)
    units: dict[tuple[int, str, int, int, str, str, str], int] = {}
    for row in live:
        allocation = notices.allocation[row]
        request = allocations.request[allocation]
        named = requests.id[request] != ""
        taker = notices.taker[row]
        key = (
            requests.leaf[request],
            group,
            taker,
            notices.deadline[row],
            REASONS[notices.reason[row]],
            requests.id[request],
            book.hosts.name[allocations.host[allocation]] if named else "",
        )
        units[key] = units.get(key, 0) + notices.units[row]
    for (consumer, where, taker, deadline, reason, request_id, host), count in units.items():
        yield Notice(consumer, where, count, taker, deadline, reason, request_id, host)


def _loans(book: Books, group: str) -> Iterator[Loan]:
    """Loans in path order of the borrowers, each borrower's in the order in which it asks its lenders."""
    for (borrower, lender), units in book.borrowed.items():
        yield Loan(borrower, lender, group, units)


def _held_units(book: Books) -> Iterator[HeldUnits]:
    for row in book.keeps.live:
        name = book.requests.id[book.keeps.request[row]]
        yield HeldUnits(name, book.hosts.name[book.keeps.host[row]], book.keeps.units[row])
