"""Classes of equal waiting requests: what bars one of them bars all (SPEC §7, R-SERVE-1, R-CONTEST-4).

Requests of a class belong to one queue, hold nothing, have nothing held or on its way for them, and have the same
constraints on hosts and no user limit. They differ only in age and in the number of units that they want. Each takes
the same in one turn, so idle space, room under limits and victims are the same for all. As long as nothing changes, if
one of them gets nothing, none does.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from typing import TYPE_CHECKING

from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.ledger.pools import PendingRequest, PoolBooks
    from fairhold.model.state import Request


class RequestClass:
    """Equal waiting requests.

    line  : in the order in which they are served
    units : that they ask for together
    """

    __slots__ = ("_classes", "line", "units")

    def __init__(self, classes: RequestClasses) -> None:
        self.line: list[PendingRequest] = []
        self.units = 0
        self._classes = classes

    def leave(self, at: int) -> None:
        """One gets something, or something is on its way to it: it stands alone from now on."""
        self._classes.stand_alone(self.line[at])


class RequestClasses:
    """All requests of some books; of: what is the same in a class → the class.

    alone : those of no class → their priority

    left : those that have left their class since they were sorted
    hungry : those alone that wanted more than they held when the cycle began
    """

    def __init__(self) -> None:
        self.alone: dict[PendingRequest, int] = {}
        self.of: dict[object, RequestClass] = {}
        self.left: list[PendingRequest] = []
        self.hungry: dict[PendingRequest, None] = {}
        self._where: dict[PendingRequest, tuple[RequestClass, int]] = {}
        """Request of a class → the class, and the units that it counts for there."""
        self._wanting: dict[PendingRequest, None] = {}
        self._priorities: dict[int, Counter[int]] = {}
        """Leaf → priority → how many of those alone have it."""

    @property
    def all(self) -> Iterable[RequestClass]:
        """The classes; some may be empty by now."""
        return self.of.values()

    @property
    def waiting(self) -> list[PendingRequest]:
        """Those alone that want more than they hold, and may."""
        return [asked for asked in self.hungry if asked.waiting]

    @property
    def kinds(self) -> list[PendingRequest]:
        """Those alone that wanted more when the cycle began, and the first of every class."""
        return [*self.hungry, *(request_class.line[0] for request_class in self.all if request_class.line)]

    def holds_less_urgent(self, asked: PendingRequest) -> bool:
        """Whether another request of its leaf holds units and has a lower priority."""
        mine, leaf = asked.model.priority, asked.leaf
        known = self._priorities.get(leaf)
        if known is None or min(known) >= mine:
            return False
        return any(each.leaf == leaf and each.units and each.model.priority < mine for each in self.alone)

    def sort(self, books: PoolBooks, requests: Iterable[PendingRequest]) -> None:
        """Put requests where they belong as books are now; those that are not in them are nowhere."""
        self.left.clear()
        for kind in [kind for kind, request_class in self.of.items() if not request_class.line]:
            del self.of[kind]
        self._wanting = books.wanting
        takers = {asked for asked, _ in books.keeps}
        for unit in books.told:
            if unit.notice is not None and unit.notice.taker is not None:
                takers.add(unit.notice.taker)
        for asked in requests:
            self._drop(asked)
            if books.asked.get(asked.model.id) is not asked:
                continue
            is_alone = asked.units or asked.away or asked.most < UNLIMITED
            if is_alone or not asked.count or asked in takers:
                self._stand(asked)
            else:
                self._put(asked)

    def stand_alone(self, asked: PendingRequest) -> None:
        """A request leaves its class."""
        self._drop(asked)
        self._stand(asked)
        self.left.append(asked)

    def _stand(self, asked: PendingRequest) -> None:
        """It is of no class."""
        self.alone[asked] = asked.model.priority
        self._priorities.setdefault(asked.leaf, Counter())[asked.model.priority] += 1
        if asked in self._wanting:
            self.hungry[asked] = None

    def _put(self, asked: PendingRequest) -> None:
        kind = kind_of(asked.model)
        request_class = self.of.get(kind)
        if request_class is None:
            request_class = self.of[kind] = RequestClass(self)
        insort(request_class.line, asked, key=_age)
        request_class.units += asked.count
        self._where[asked] = request_class, asked.count

    def _drop(self, asked: PendingRequest) -> None:
        priority = self.alone.pop(asked, None)
        if priority is not None:
            self.hungry.pop(asked, None)
            of_leaf = self._priorities[asked.leaf]
            of_leaf[priority] -= 1
            if not of_leaf[priority]:
                del of_leaf[priority]
                if not of_leaf:
                    del self._priorities[asked.leaf]
        where = self._where.pop(asked, None)
        if where is not None:
            request_class, units = where
            del request_class.line[bisect_left(request_class.line, _age(asked), key=_age)]
            request_class.units -= units


def gather(books: PoolBooks) -> RequestClasses:
    """The requests of books as they were opened."""
    found = RequestClasses()
    found.sort(books, books.asked.values())
    return found


def kind_of(model: Request) -> object:
    """What is the same for all requests of a class."""
    return model.consumer, model.unit, model.min_count, model.priority, model.preemptible, model.siting


def _age(asked: PendingRequest) -> tuple[int, str]:
    return asked.model.submitted, asked.model.id
