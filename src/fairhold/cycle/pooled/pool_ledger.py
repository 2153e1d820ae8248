"""The books of vectors of a live cluster, kept from cycle to cycle: only what has changed is opened again.

The bookings on a host follow from its parcels and from its units, in their order. If both are unchanged, and the last
cycle placed no unit there and holds nothing there, the bookings are unchanged: idle, held and used amounts of a parcel
always add up to the parcel. So the books equal those that `open_settled` makes from the whole state. Only two things
may differ: numbers of which only the order counts, and requests behind others of their kind (`request_lines`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.cycle.pooled.open import Opening, kind_of, open_anew, stand
from fairhold.cycle.pooled.request_lines import RequestLines
from fairhold.ledger.backlog import Backlog
from fairhold.ledger.pools import PoolBooks, Unit
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.ledger.pools import Machine
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import Allocation, Request, State
    from fairhold.rules.pools.sweeps import Sweeps


@dataclass(frozen=True, slots=True)
class News:
    """What may have changed in a live cluster since the cycle before.

    requests    : id → what is asked for now, None = nothing
    allocations : number of an attempt → where its unit runs now, None = nowhere
    place       : place of a request among all, by its id
    whole       : gives the whole state, for when the books have to be opened anew
    """

    requests: Mapping[str, Request | None]
    allocations: Mapping[int, Allocation | None]
    place: Callable[[str], int]
    whole: Callable[[], State]


class PoolLedger:
    """The books of one policy entry as a cycle has left them."""

    def __init__(self) -> None:
        self._opened: Opening | None = None
        self._sweeps: Sweeps | None = None
        self._lines: RequestLines | None = None
        self._reserved: set[str] = set()

    def open(self, plan: Plan, entry: PolicyEntry, state: State, news: News) -> Opening:
        """The books of the next cycle; those of the cycle before must not be read any more.

        state : without its requests and allocations
        """
        opened, sweeps, lines = self._opened, self._sweeps, self._lines
        self._opened = self._sweeps = self._lines = None
        reserved = _reserved_in(state)
        dirty = None
        if opened is not None and sweeps is not None and lines is not None:
            touched = dict.fromkeys(self._reserved ^ reserved)
            dirty = _renew(opened, sweeps, lines, plan, entry, state, news, touched)
            if dirty is not None:
                lines.sort(opened.books, touched, reserved)
                asked = opened.books.asked
                opened.count_again([asked[name] for name in touched if name in asked])
                opened.count_again(lines.gone)
        if opened is None or lines is None or dirty is None:
            opened, lines = _open_anew(plan, entry, news, reserved)
        self._reserved = reserved
        return self._stand(opened, lines, state, dirty)

    def open_all(self) -> Opening:
        """The same with all requests, for a cycle that the first of each kind were not enough for."""
        opened, sweeps, lines = self._opened, self._sweeps, self._lines
        assert opened is not None
        assert sweeps is not None
        assert lines is not None
        nothing = News({}, {}, lines.place, lambda: opened.state)
        dirty = _renew(opened, sweeps, lines, opened.plan, opened.entry, opened.state, nothing, {})
        assert dirty is not None
        lines.show_all(opened.books)
        self._stand(opened, lines, opened.state, dirty)
        opened.books.backlog = Backlog()
        return opened

    def swept(self, sweeps: Sweeps) -> None:
        """The cycle is over."""
        self._sweeps = sweeps

    def _stand(self, opened: Opening, lines: RequestLines, state: State, dirty: dict[Machine, None] | None) -> Opening:
        books = opened.books
        books.backlog = Backlog({books.asked[name]: number for name, number in lines.backlog.items()})
        stand(opened.plan, opened.entry, opened, state, dirty)
        opened.count_again(books.bounded)
        opened.state = state
        self._opened, self._lines = opened, lines
        return opened


def _open_anew(plan: Plan, entry: PolicyEntry, news: News, reserved: set[str]) -> tuple[Opening, RequestLines]:
    opened, lines = open_anew(plan, entry, news.whole()), RequestLines(plan, entry, news.place)
    books = opened.books
    for name, asked in books.asked.items():
        asked.place = news.place(name)
    lines.sort(books, list(books.asked), reserved)
    return opened, lines


def _renew(  # noqa: PLR0917 - what books are of
    opened: Opening,
    sweeps: Sweeps,
    lines: RequestLines,
    plan: Plan,
    entry: PolicyEntry,
    state: State,
    news: News,
    touched: dict[str, None],
) -> dict[Machine, None] | None:
    """Update hosts, requests and units in the books; returns the hosts on which units have to be booked again.

    touched : changed requests are added to it
    None = the books have to be opened anew.
    """
    old = opened.books
    if plan is not opened.plan or entry is not opened.entry or old.away or not _are_same_hosts(opened.state, state):
        return None
    dirty: dict[Machine, None] = {}
    for unit in sweeps.placed:
        if unit in unit.asked.units:
            del unit.asked.units[unit], unit.host.units[unit]
        dirty[unit.host] = touched[unit.asked.model.id] = None
    for unit in [*old.told, *sweeps.noticed]:
        unit.notice = None
    dirty.update(old.holding)
    old.holding.clear()
    for host in old.hosts if old.hosts_of else ():
        for parcel in host.parcels:
            parcel.level = parcel.owner
    for asked in old.bounded:
        asked.most, asked.never = UNLIMITED, None
    opened.count_again(old.bounded)
    same = old.terms, old.hosts, old.asked, old.by_leaf, old.host_of
    books = PoolBooks(*same, state.now, serial=old.serial, hosts_down=old.hosts_down)
    books.wanting, books.holding, books.needed = old.wanting, old.holding, old.needed
    if not lines.read(books, news.requests) or not _units(opened, books, news.allocations, dirty, touched):
        return None
    touched.update(dict.fromkeys(news.requests))
    for host in dirty:
        host.taken = None
    opened.books = books
    return dirty


def _are_same_hosts(before: State, now: State) -> bool:
    is_same = before.hosts_down == now.hosts_down and before.hosts_closed == now.hosts_closed
    return is_same and before.labels == now.labels


def _reserved_in(state: State) -> set[str]:
    """Requests for which something is held or on its way."""
    found = {each.request for each in state.held}
    found.update([request for request, _ in state.freed])
    found.update([each.taker_request for each in state.notices])
    return found


def _units(
    opened: Opening,
    books: PoolBooks,
    allocations: Mapping[int, Allocation | None],
    dirty: dict[Machine, None],
    touched: dict[str, None],
) -> bool:
    """Update the units and their hosts; False if these books do not know something about them."""
    units, stated = opened.units, opened.stated
    last = next(reversed(units), 0)
    for number, said in allocations.items():
        unit = units.get(number)
        if said is None:
            if unit is not None:
                del units[number], unit.asked.units[unit], unit.host.units[unit], stated[unit]
                dirty[unit.host] = touched[unit.asked.model.id] = None
            continue
        asked, host = books.asked.get(said.request), books.host_of.get(said.host)
        if unit is None:
            if asked is None:  # another entry's
                continue
            if host is None or number <= last:
                return False
            unit = units[number] = Unit(asked, host, said.started, books.next_serial(), 0)
            asked.units[unit] = host.units[unit] = None
            last = number
        elif unit.asked is not asked:
            return False
        unit.said = said
        stated[unit] = kind_of(opened.plan, said)
        dirty[unit.host] = touched[unit.asked.model.id] = None
    return True
