"""Long queues of equal requests: a cycle looks at the first few, and counts only the demand of those behind.

Two requests are of one kind if their leaf, unit, number of units and gang minimum are equal, neither holds a unit, no
unit is held or on its way for them, and they ask for no certain hosts. Requests of a kind are served in order, and what
bars one of them bars all behind it. So a cycle looks at the first of each kind; those behind only add to the demand of
their leaf (R-USAGE-2), as the last of the first ones does. If that one got a unit, or a unit was reclaimed for it,
those behind might get some too: then the cycle is run again with all of them.

All requests are looked at where each counts by itself: with user limits or share limits, which are used up request by
request, and where a control counts what a leaf misses.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from operator import attrgetter
from typing import TYPE_CHECKING

from fairhold.ledger.pool_terms import terms_of
from fairhold.ledger.pools import PendingRequest
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from fairhold.ledger.pools import PoolBooks
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import Request

    Entry = tuple[int, int, str]
    """A request in its line: minus priority, submitted, id."""

DEPTH = 8
"""Requests of a kind that are looked at: more than what comes free at a time can mostly serve."""
_place = attrgetter("place")


class RequestLines:
    """The requests of a policy entry that are in its books: all but those behind the first of their kind.

    place : place of a request among all, by its id
    gone  : requests that ask for nothing any more, as `read` found it last
    """

    def __init__(self, plan: Plan, entry: PolicyEntry, place: Callable[[str], int]) -> None:
        self.place = place
        self._is_used = not entry.policy.has_queues and _is_plain(plan, entry)
        self._lines: dict[object, list[Entry]] = {}
        self._nouns: dict[str, Request] = {}
        self._shown: dict[object, dict[str, None]] = {}
        """Kind → ids of it that stand in the books, maybe beside some that stand in no line any more."""
        self._changed: dict[object, None] = {}
        self.gone: list[PendingRequest] = []

    @property
    def backlog(self) -> dict[str, int]:
        """Id of the last request of a kind that is in the books → number of requests behind it."""
        return {line[DEPTH - 1][2]: len(line) - DEPTH for line in self._lines.values() if len(line) > DEPTH}

    def read(self, books: PoolBooks, requests: Mapping[str, Request | None]) -> bool:
        """Update requests, with all of these in the books.

        False: one asks for another unit than before, or is another job with the name of one that is over.
        """
        self.gone = []
        for name, noun in requests.items():
            found = books.asked.get(name)
            self._leave(name)
            if noun is None:
                if found is not None:
                    _hide(books, found)
                    self.gone.append(found)
            elif found is None:
                self._show(books, noun)
            elif (found.leaf, found.unit, found.model.siting, found.place) != (
                *(noun.consumer, noun.unit, noun.siting),
                self.place(name),
            ):
                return False
            else:
                found.becomes(noun)
        return True

    def sort(self, books: PoolBooks, names: Iterable[str], reserved: Collection[str]) -> None:
        """Sort these requests into the lines of their kinds again; those behind leave the books, others move up.

        reserved : requests for which something is held or on its way
        """
        for name in names:
            found = books.asked.get(name)
            if found is None:
                if name not in reserved or name not in self._nouns:
                    continue
                found = self._show(books, self._nouns[name])
            self._leave(name)
            if found.count > found.held:
                books.wanting[found] = None
            else:
                books.wanting.pop(found, None)
            if self._is_used and not found.held and found.siting is None and name not in reserved:
                self._enter(found.model)
        for kind in self._changed:
            self._cut(books, kind, DEPTH)
        self._changed.clear()

    def show_all(self, books: PoolBooks) -> None:
        """Put all requests into the books, until they are sorted again."""
        self._changed = {kind: None for kind, line in self._lines.items() if len(line) > DEPTH}
        for kind in self._changed:
            self._cut(books, kind, UNLIMITED)

    def _enter(self, noun: Request) -> None:
        kind = _kind_of(noun)
        insort(self._lines.setdefault(kind, []), _entry(noun))
        self._nouns[noun.id] = noun
        self._shown.setdefault(kind, {})[noun.id] = self._changed[kind] = None

    def _leave(self, name: str) -> None:
        noun = self._nouns.pop(name, None)
        if noun is not None:
            kind = _kind_of(noun)
            line = self._lines[kind]
            del line[bisect_left(line, _entry(noun))]
            self._changed[kind] = None

    def _cut(self, books: PoolBooks, kind: object, depth: int) -> None:
        """So many of a kind stand in the books."""
        first = dict.fromkeys([name for _, _, name in self._lines[kind][:depth]])
        for name in self._shown[kind]:
            noun = self._nouns.get(name)
            if name not in first and noun is not None and _kind_of(noun) == kind:
                _hide(books, books.asked[name])
        for name in first:
            if name not in books.asked:
                self._show(books, self._nouns[name])
        self._shown[kind] = first
        if not first:
            del self._lines[kind], self._shown[kind]

    def _show(self, books: PoolBooks, noun: Request) -> PendingRequest:
        found = books.asked[noun.id] = PendingRequest(noun, self.place(noun.id))
        insort(books.by_leaf[found.leaf], found, key=_place)
        books.wanting[found] = None
        return found


def _hide(books: PoolBooks, asked: PendingRequest) -> None:
    del books.asked[asked.model.id]
    line = books.by_leaf[asked.leaf]
    del line[bisect_left(line, asked.place, key=_place)]
    books.wanting.pop(asked, None)


def _kind_of(noun: Request) -> object:
    return noun.consumer, noun.unit, noun.count, noun.min_count


def _entry(noun: Request) -> Entry:
    return -noun.priority, noun.submitted, noun.id


def _is_plain(plan: Plan, entry: PolicyEntry) -> bool:
    """Whether nothing counts requests one by one."""
    settings, terms = entry.settings, terms_of(plan, entry)
    is_held_back = (
        settings.dead_zone or settings.await_ends or settings.observe_only or settings.max_reclaims is not None
    )
    return not (
        is_held_back
        or terms.limit
        or terms.waiting
        or any(most < UNLIMITED for most in terms.user_limit)
        or any(terms.min_runtime)
    )
