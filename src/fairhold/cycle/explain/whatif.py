"""The smallest change that gives a consumer one slot more: searched by trying, so that it is true when tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.cycle.explain.changes import Change, Kind, kinds, look_inside
from fairhold.cycle.run import quotas

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.model.plan import Plan

_WORK = 100_000
"""Rows and requests looked at while every size is tried, some tenths of a second."""
_TRIAL = 10
"""Rows that a trial costs by itself."""


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """Changes that together give a consumer at least one slot more.

    size    : by how much the first named value changes; the same value changed by one less gives nothing
    changes : the first is the change itself, the others are what it needs to be valid or to matter
    quota   : the consumer's quota then
    """

    size: int
    changes: tuple[Change, ...]
    quota: int


def one_more(plan: Plan, books: Books, row: int, now: int = 0) -> Counterfactual | None:
    """The smallest change after which the quota of `row` is larger; None where no single kind of change helps.

    Tried are, in this order among equally small ones: more demand, a higher limit (of a consumer below, its own or of a
    consumer above), a better rank (its own or above), more owned slots (likewise, with what must grow above it), more
    slots in the group or on its last host that is up; each alone, then each together with one slot more wanted.

    Small sizes are tried one by one: rounding level by level can take away with a slot more what it gave with one
    fewer. Only beyond them the size of a kind is doubled until it helps, and halved again.
    """
    draft = quotas(books, now).draft
    search = Search(books, row, draft.quota[row], now)
    tried = kinds(plan, books, row, look_inside(books, row, draft.needs.need, draft.needs.reserve))
    each = max(1, _WORK // ((len(books.rows) + _looked_at(books) + _TRIAL) * len(tried)))
    for size in range(1, min(each, max(kind.largest for kind in tried)) + 1):
        for kind in tried:
            found = search.helps(kind, size)
            if found is not None:
                return found
    best: Counterfactual | None = None
    for kind in tried:
        found = search.smallest(kind, each, kind.largest if best is None else min(kind.largest, best.size - 1))
        best = found or best
    return best


def _looked_at(books: Books) -> int:
    """Requests that a trial looks at one by one."""
    requests = books.requests
    queues = (requests.lines.of.get(leaf, {}).values() for leaf in books.rows.controls.with_user_limit)
    return len(requests.siting) + sum(len(queue) for each in queues for queue in each)


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched for: a larger quota of one row; now : says which gangs have waited too long."""

    books: Books
    row: int
    quota: int
    now: int = 0

    def helps(self, kind: Kind, size: int) -> Counterfactual | None:
        """The change of one kind and size where it is valid and helps."""
        if size > kind.largest:
            return None
        books, changes = kind.trial(size)
        quota = quotas(books, self.now).draft.quota[books.rows.row[self.books.rows.node[self.row]]]
        return Counterfactual(size, changes, quota) if quota > self.quota else None

    def smallest(self, kind: Kind, low: int, largest: int) -> Counterfactual | None:
        """A change above `low`, at most `largest`, of which one less does not help; None where none is found."""
        high, best = low, None
        while best is None and high < largest:
            low, high = high, min(2 * high, largest)
            best = self.helps(kind, high)
        while best is not None and high - low > 1:
            middle = (low + high) // 2
            found = self.helps(kind, middle)
            if found is None:
                low = middle
            else:
                high, best = middle, found
        return best
