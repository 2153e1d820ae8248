"""Requests that wait and are alike, taken together: what bars one of them bars all (SPEC §7, R-SERVE-1, R-CONTEST-4).

Requests of one queue that hold nothing, for which nothing is held or on its way, and that say nothing of hosts and of
users that count, differ in their age and in how many units they want in all alone. What each takes in one turn is the
same, so that what is idle, what limits leave, and what others would have to give for it are the same, too. As long as
nothing changes, all of them get nothing where one of them did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.ledger.pools import PendingRequest, PoolBooks
    from fairhold.model.state import Request


class Crowd:
    """Some that are alike.

    line  : in the order in which they are served
    units : that they ask for together
    """

    __slots__ = ("_alone", "line", "units")

    def __init__(self, alone: dict[PendingRequest, None]) -> None:
        self.line: list[PendingRequest] = []
        self.units = 0
        self._alone = alone

    def leave(self, at: int) -> None:
        """One gets something, or something is on its way to it: it stands alone from now on."""
        asked = self.line.pop(at)
        self.units -= asked.count
        self._alone[asked] = None


class Crowds:
    """All requests of some books: `alone` are those that are in no crowd; of: what is the same in a crowd → it."""

    def __init__(self) -> None:
        self.alone: dict[PendingRequest, None] = {}
        self.of: dict[object, Crowd] = {}

    @property
    def all(self) -> Iterable[Crowd]:
        """The crowds; some may be empty by now."""
        return self.of.values()

    @property
    def kinds(self) -> list[PendingRequest]:
        """All that are alone, and one of every crowd."""
        return [*self.alone, *(crowd.line[0] for crowd in self.all if crowd.line)]

    @property
    def waiting(self) -> list[PendingRequest]:
        """Those alone that want more than they hold, and may."""
        return [asked for asked in self.alone if asked.count > len(asked.units) and asked.waiting]


def gather(books: PoolBooks) -> Crowds:
    """The requests of books as they were opened."""
    found = Crowds()
    alone, of = found.alone, found.of
    takers = {asked for asked, _ in books.keeps}
    takers.update(unit.notice.taker for unit in books.told if unit.notice is not None and unit.notice.taker is not None)
    for asked in books.asked.values():
        is_alone = asked.units or asked.away or asked.siting is not None or asked.most < UNLIMITED or not asked.count
        if is_alone or asked in takers:
            alone[asked] = None
            continue
        kind = kind_of(asked.model)
        crowd = of.get(kind)
        if crowd is None:
            crowd = of[kind] = Crowd(alone)
        crowd.line.append(asked)
        crowd.units += asked.count
    for crowd in of.values():
        crowd.line.sort(key=_age)
    return found


def kind_of(model: Request) -> object:
    """What is the same in a crowd."""
    return model.consumer, model.unit, model.min_count, model.priority, model.preemptible


def _age(asked: PendingRequest) -> tuple[int, str, int]:
    return asked.model.submitted, asked.model.id, asked.place
