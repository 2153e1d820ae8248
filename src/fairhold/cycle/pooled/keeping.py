"""Books of vectors from one cycle to the next: what nothing has happened to is not opened again.

How a host is opened follows from its parcels and from what the state says of the units that stand on it, in their
order. Where both are as they were, the host is as it was opened before, if the cycle since then left no unit there and
holds nothing there: what is idle of a parcel, held of it and used of it is always the whole of it, so that it is idle
again what was. All other hosts are opened anew, and what follows from all hosts together, who owns what, is worked out
anew. So the books are those that `open_settled` opens, but for numbers of which only the order counts.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from fairhold.cycle.pooled.open import Opening, kind_of, open_anew, stand
from fairhold.ledger.behind import Behind
from fairhold.ledger.pools import PendingRequest, PoolBooks, Unit
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.ledger.pools import Machine
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import State
    from fairhold.rules.pools.sweeps import Sweeps


class Kept:
    """The books of one policy entry as a cycle has left them, for the next one to open.

    opened : them, None = the next cycle opens its own
    sweeps : what the cycle did to them
    """

    def __init__(self) -> None:
        self.opened: Opening | None = None
        self.sweeps: Sweeps | None = None

    def open(self, plan: Plan, entry: PolicyEntry, state: State, behind: Mapping[str, int] | None = None) -> PoolBooks:
        """The books of a settled state; nobody reads those of the cycle before any more.

        behind : how many requests stand behind some, which are not in the state (`front`)
        """
        opened, sweeps = self.opened, self.sweeps
        self.opened = self.sweeps = None
        dirty = None if opened is None or sweeps is None else _renewed(opened, sweeps, plan, entry, state)
        if opened is None or dirty is None:
            opened, dirty = open_anew(plan, entry, state), None
            opened.books.is_brief = True
        books = opened.books
        books.behind = Behind({books.asked[name]: number for name, number in (behind or {}).items()})
        stand(plan, entry, opened, state, dirty)
        opened.state = state
        self.opened = opened
        return opened.books

    def swept(self, sweeps: Sweeps) -> None:
        """The cycle is over."""
        self.sweeps = sweeps


def _renewed(
    opened: Opening, sweeps: Sweeps, plan: Plan, entry: PolicyEntry, state: State
) -> dict[Machine, None] | None:
    """Let books be those of another state but for who stands on what; hosts on which that is open.

    None = they have to be opened anew.
    """
    before, old = opened.state, opened.books
    if plan is not opened.plan or entry is not opened.entry or old.away:
        return None
    hosts = state.hosts_down, state.hosts_closed, state.labels
    if hosts != (before.hosts_down, before.hosts_closed, before.labels) or not state.is_settled:
        return None
    dirty: dict[Machine, None] = {}
    opened.stood = {host: host.parcels for host in old.hosts}
    for unit in sweeps.placed:
        if unit in unit.asked.units:
            del unit.asked.units[unit], unit.host.units[unit]
        dirty[unit.host] = None
    for unit in [*old.told, *sweeps.noticed]:
        unit.notice = None
    for host in old.hosts:
        for parcel in host.parcels:
            parcel.level = parcel.owner
            if parcel.kept:
                dirty[host] = None
    if not _requests(old, state) or not _units(plan, opened, state, dirty):
        return None
    for host in dirty:
        host.taken = None
    same = old.terms, old.hosts, old.asked, old.by_leaf, old.host_of
    opened.books = PoolBooks(*same, state.now, is_brief=True, serial=old.serial, hosts_down=old.hosts_down)
    return dirty


def _requests(books: PoolBooks, state: State) -> bool:
    """Let the requests be those of a state; False: one asks for other units than it did."""
    asked, by_leaf = books.asked, books.by_leaf
    nouns = {noun.id: noun for noun in state.requests}
    gone = {asked.pop(name) for name in [name for name in asked if name not in nouns]}
    for leaf in {each.leaf for each in gone}:
        by_leaf[leaf] = [each for each in by_leaf[leaf] if each not in gone]
    place = next((each.place for each in reversed(asked.values())), -1)
    for name, noun in nouns.items():
        found = asked.get(name)
        if found is None:
            place += 1
            found = asked[name] = PendingRequest(noun, place)
            by_leaf[found.leaf].append(found)
        elif found.model is not noun:
            if (noun.consumer, noun.unit, noun.siting) != (found.leaf, found.unit, found.model.siting):
                return False
            found.becomes(noun)
        found.most, found.never = UNLIMITED, None
    if list(asked) != list(nouns):  # some stood behind others before
        inside = [asked[name] for name in nouns]
        asked.clear()
        for place, each in enumerate(inside):
            asked[each.model.id], each.place = each, place
        for line in by_leaf.values():
            line.sort(key=_place)
    return True


_place = attrgetter("place")


def _units(plan: Plan, opened: Opening, state: State, dirty: dict[Machine, None]) -> bool:
    """Let the units be those of a state, where they stand; False: something about them is new to these books."""
    books, units, stated = opened.books, opened.units, opened.stated
    nouns = {said.attempt: said for said in state.allocations}
    for number in [number for number in units if number not in nouns]:
        gone = units.pop(number)
        del gone.asked.units[gone], gone.host.units[gone], stated[gone]
        dirty[gone.host] = None
    for number, said in nouns.items():
        unit = units.get(number)
        if unit is None:
            asked, host = books.asked.get(said.request), books.host_of.get(said.host)
            if asked is None or host is None or not number:
                return False
            unit = units[number] = Unit(asked, host, said.started, books.next_serial(), 0)
            asked.units[unit] = host.units[unit] = None
        elif unit.said is said:
            continue
        elif unit.asked is not books.asked.get(said.request):
            return False
        unit.said = said
        stated[unit] = kind_of(plan, said)
        dirty[unit.host] = None
    return list(units) == [said.attempt for said in state.allocations]
