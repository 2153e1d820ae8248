"""Books with some values changed, for their quotas only: what a change would give is tried on them."""

from __future__ import annotations

from array import array
from copy import copy
from typing import TYPE_CHECKING

from fairhold.ledger import transitions
from fairhold.ledger.books import Books
from fairhold.ledger.rows import lay_out, with_spent

if TYPE_CHECKING:
    from fairhold.cycle.explain.parameter import Files
    from fairhold.ledger.rows import Rows
    from fairhold.model.budget import Budget


def apart(books: Books, now: int) -> Books:
    """A copy of all that quotas depend on, for a search that goes on while the books change.

    Who stands where is copied only where whole hosts go to one consumer. Notices and what cycles have left for the next
    one are no part of it.
    """
    other = Books(books.rows)
    other.is_trial = True
    for name in ("demand", "held", "noticed", "kept"):
        setattr(other, name, getattr(books, name)[:])
    if books.spending is not None and other.spending is not None:
        for node, used in books.spending.used(now).items():
            other.spending.set(node, used[0], now)
    other.hosts, other.requests = books.hosts.apart(), books.requests.apart()
    if books.rows.is_exclusive:
        other.allocations = books.allocations.apart()
    return other


class Trials:
    """Books as they would be opened of changed files. What does not change is shared with the books, which must stay.

    files : as the books were opened; of the state only what parameters change: hosts that are not up, requests with a
            name, demand and slots of the group where they are others
    """

    def __init__(self, books: Books, files: Files) -> None:
        self.books, self.files = books, files

    def open(self, files: Files) -> Books:
        """The books of files with some other values."""
        books, rows = self.books, self._rows(files)
        other = copy(books)
        other.is_trial, other.spending = True, None
        other.demand, other.kept = array("q", books.demand), array("q", books.kept)
        for (node, _), units in files.state.demand.items():
            other.demand[node] = units
        self._change_hosts(other, files)
        other.use(rows)
        if files.state.requests is not self.files.state.requests:
            self._change_requests(other, files)
        return other

    def _rows(self, files: Files) -> Rows:
        rows, plan = self.books.rows, files.plan
        if plan is self.files.plan:
            return rows
        again = lay_out(plan, rows.group.name, rows.force, rows.spent)
        enough = {at for at in rows.spent if self._is_enough(at, again.stated(at).budget)}
        return with_spent(again, rows.spent - enough) if enough else again

    def _is_enough(self, node: int, budget: Budget | None) -> bool:
        """Whether a budget would not be used up."""
        if budget is None or self.books.spending is None:
            return False
        return not budget.is_used_up({0: self.books.spending.meters[node, budget.period, 0].amount})

    def _change_hosts(self, other: Books, files: Files) -> None:
        was, will, group = self.files, files, self.books.rows.group
        up = (was.state.hosts_down - will.state.hosts_down) | (was.state.hosts_closed - will.state.hosts_closed)
        hosts = zip(group.hosts, will.plan.resource_groups[group.name].hosts, strict=True)
        sizes = {old.name: new.slots - old.slots for old, new in hosts if old.slots != new.slots}
        if not up and not sizes and not will.state.slots:
            return
        table = other.hosts = self.books.hosts.apart()
        planned = {host.name: host.slots for host in group.hosts}
        for name in up:
            transitions.set_host(other, table.row_of[name], slots=planned[name], up=True, closed=False)
        for name, more in sizes.items():
            transitions.set_host(other, table.row_of[name], slots=table.slots[table.row_of[name]] + more)
        for slots in will.state.slots.values():
            first = next(iter(each for each, is_up in enumerate(table.up) if is_up))
            transitions.set_host(other, first, slots=table.slots[first] + slots - self.books.slots)
        transitions.shut(other)

    def _change_requests(self, other: Books, files: Files) -> None:
        old, requests = {each.id: each for each in self.files.state.requests}, other.requests.apart()
        other.requests, row_of = requests, requests.row_of
        for request in files.state.requests:
            if request != old[request.id]:
                row = row_of[request.id]
                transitions.ask(other, row, request.min_count, request.siting)
                transitions.rank(other, row, request.priority)
                transitions.want(other, row, request.count)
