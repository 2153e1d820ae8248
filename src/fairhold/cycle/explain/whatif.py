"""The smallest change that gives a consumer one slot more: searched by trying, so that it is true when tried."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairhold.cycle.explain.changes import kinds, look_inside
from fairhold.cycle.explain.parameter import Files, put_all, several
from fairhold.cycle.explain.search import ChangeSearch
from fairhold.cycle.explain.slot_parameters import SlotParameters
from fairhold.cycle.explain.trials import Trials
from fairhold.cycle.run import quotas
from fairhold.model.state import State
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from fairhold.cycle.explain.changes import Kind
    from fairhold.cycle.explain.parameter import Change, Settings
    from fairhold.cycle.explain.search import Course
    from fairhold.cycle.run import CycleResult
    from fairhold.ledger.books import Books
    from fairhold.model.plan import Plan

GROUPS = ("consumers", "requests", "hosts", "settings", "other requests", "other consumers")
"""What the values that are tried one after the other are of; `consumers`: it, those above and those below it."""
_WORK = 15_000
"""Rows and requests looked at while every size is tried, some tenths of a second."""
_TRIAL = 10
"""Rows that a trial costs by itself."""
_PART = 4
"""Of the work of a search where pools are shared a search for slots may do one part in so many."""


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """Changes that together give a consumer at least one slot more.

    size    : by how much the first named value changes; the same value changed by one less gives nothing
    changes : the first is the change itself, the others are what it needs to be valid or to matter
    quota   : the consumer's quota then
    is_smallest : every smaller change was tried
    """

    size: int
    changes: tuple[Change, ...]
    quota: int
    is_smallest: bool = True


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What would give a consumer one slot more, hosts that could be up first, and how it was searched for."""

    helps: tuple[Counterfactual, ...]
    search: dict[str, Any]


def one_more(
    plan: Plan, books: Books, row: int, now: int = 0, unseen: Collection[str] = (), *, wants_more: bool = True
) -> WhatIf:
    """What would make the quota of `row` larger.

    First hosts that are not up and could be. Then the smallest change of those that its bounds point at, in this order
    among equally small ones: more demand, a higher limit (of a consumer below, its own or of a consumer above), a
    better rank (its own or above), more owned slots (likewise, with what must grow above it), more slots in the group
    or on its last host that is up; each alone, then each together with one slot more wanted. Where none of that helps,
    limits that bar it together; then every value that there is, until one does.

    unseen     : hosts that are down and were never up
    wants_more : whether more demand of the consumer counts, and a quota that nothing wants. Neither does anything for a
                 request that waits already
    """
    search = SlotSearch(plan, books, row, now, unseen, wants_more=wants_more)
    hosts = search.hosts_up()
    smallest = search.smallest_of_all()
    if hosts.found or smallest is not None:
        found = [*search.told(hosts), *([] if smallest is None else [smallest])]
        return WhatIf(tuple(found), search.document(hosts) | {"left_out": list(GROUPS)})
    others = search.others()
    return WhatIf(tuple(search.told(others)), search.document(others))


class SlotSearch(ChangeSearch):
    """Searches for a larger quota of one row.

    now : says which gangs have waited too long

    No quota is above a limit: where one is reached, nothing is tried that leaves it as it is.
    """

    def __init__(
        self,
        plan: Plan,
        books: Books,
        row: int,
        now: int = 0,
        unseen: Collection[str] = (),
        *,
        wants_more: bool = True,
    ) -> None:
        self.books, self.row, self.now = books, row, now
        self.parameters = SlotParameters(plan, books, unseen, fixed=-1 if wants_more else row)
        result = quotas(books, now)
        draft, self.quota = result.draft, result.draft.quota[row]
        self._had = self._usable(result)
        self.inside = look_inside(books, row, draft.needs.need, draft.needs.reserve)
        self._cost = len(books.rows) + _looked_at(books) + _TRIAL
        super().__init__(_PART * self._cost)
        hosts = books.hosts
        names = [name for name in hosts.name if name]
        self._files = Files(
            plan,
            State(
                now,
                hosts_down=frozenset(name for name in names if not hosts.up[hosts.row_of[name]]),
                hosts_closed=frozenset(hosts.name[each] for each in hosts.closed),
                requests=self.parameters.requests(),
            ),
        )
        self._trials = Trials(books, self._files)
        self._sets: dict[tuple[str, ...], None] = {}
        self._cycles = 0
        limit, line = books.rows.plan.limit, self.parameters.line(row)
        self._full = [self.parameters.limit(above) for above in line if limit[above] <= self.quota]

    def _run(self, settings: Settings) -> dict[str, tuple[int, int]]:
        books = self._trials.open(put_all(self._files, settings))
        result = quotas(books, self.now)
        return {"": (self._usable(result), 0), "quota": (result.draft.quota[self.row], 0)}

    def _usable(self, result: CycleResult) -> int:
        """Its quota; where no more demand counts, as far as what it wants already can use it."""
        quota = result.draft.quota[self.row]
        return quota if self.parameters.fixed < 0 else min(quota, result.snapshot.counted[self.row])

    def hosts_up(self) -> Course:
        """Hosts that are not up, up and open: as few as it takes."""
        able = () if self._full else self.parameters.able()
        sized = ((slots, (slots, labels, what), ((flag, False),)) for (slots, labels, what), flag in able)
        return self.find("", self._had, iter([several(sized)]), {})

    def others(self) -> Course:
        """What bars it together, then every value."""
        groups = self.parameters.groups(self.row)
        if self._full:
            groups = {name: iter(self._full if name == GROUPS[0] and len(self._full) == 1 else ()) for name in GROUPS}
        return self.find("", self._had, self._together(), groups)

    def _may_help(self, settings: Settings) -> bool:
        """Whether every limit that the quota has reached becomes another."""
        return {each.key for each in self._full} <= {parameter.key for parameter, _ in settings}

    def _together(self) -> Iterator[Iterator[Settings]]:
        """Everything that may bar one leaf after another without its bound, with one slot more wanted, too."""
        rows, start = self.books.rows, self.books.rows.position[self.row]
        for leaf in rows.tree.path[start : start + rows.size[self.row]]:
            if rows.is_leaf(leaf):
                yield self._without_bars(leaf)

    def _without_bars(self, leaf: int) -> Iterator[Settings]:
        bars = [each for above in self.parameters.line(leaf) for each in self.parameters.bars(above)]
        found = [(each, each.values[-1]) for each in bars if each.values and each.old < UNLIMITED]
        demand = self.parameters.demand(leaf)
        if len(found) > 1:
            yield tuple(found)
        if found and self.parameters.fixed < 0:
            yield (*found, (demand, demand.old + 1))

    def smallest_of_all(self) -> Counterfactual | None:
        """The smallest change that helps of all kinds that bounds point at; None where no single kind helps.

        Small sizes are tried one by one: rounding level by level can take away with a slot more what it gave with one
        fewer. Only beyond them the size of a kind is doubled until it helps, and halved again.
        """
        tried = [
            kind
            for kind in kinds(self.parameters, self.row, self.inside)
            if kind.largest and self._may_help(kind.settings(1))
        ]
        left, size = _WORK // self._cost, 0
        while (open_ := [kind for kind in tried if kind.largest > size]) and (not size or left >= len(open_)):
            size, left = size + 1, left - len(open_)
            for kind in open_:
                found = self.helps(kind, size)
                if found is not None:
                    return found
        best: Counterfactual | None = None
        for kind in tried:
            found = self.smallest(kind, size, kind.largest if best is None else min(kind.largest, best.size - 1))
            best = found or best
        return best

    def helps(self, kind: Kind, size: int) -> Counterfactual | None:
        """The change of one kind and size where it is valid and helps."""
        if size > kind.largest:
            return None
        settings = kind.settings(size)
        first, value = settings[0]
        self._sets |= dict.fromkeys(parameter.key for parameter, _ in settings)
        if not first.step and value not in first.values:  # it would stand to the others as now
            return None
        self._cycles += 1
        outcome = self.once(settings)
        return self._counterfactual(settings, outcome["quota"][0]) if outcome[""][0] > self._had else None

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
        return best and replace(best, is_smallest=False)

    @staticmethod
    def _counterfactual(settings: Settings, quota: int, *, is_smallest: bool = True) -> Counterfactual:
        first, value = settings[0]
        size = abs(value - first.old) if isinstance(value, int) else 1
        return Counterfactual(size, tuple(each.becomes(new) for each, new in settings), quota, is_smallest)

    def told(self, course: Course) -> Iterator[Counterfactual]:
        """What a search has found."""
        for kind in course.told():
            quota, _ = self.once(course.found[kind])["quota"]
            yield self._counterfactual(course.found[kind], quota, is_smallest=kind not in course.loose)

    def document(self, course: Course) -> dict[str, Any]:
        """How the search went, with the kinds that bounds point at."""
        found = course.document()
        values = self._sets | course.tried
        found |= {"values": len(values), "cycles": self._cycles + course.values}
        found |= {"only": "limit"} if self._full else {}
        return found | {"of": list(dict.fromkeys(key[0] for key in values))}


def _looked_at(books: Books) -> int:
    """Requests that a trial looks at one by one."""
    requests = books.requests
    queues = (requests.lines.of.get(leaf, {}).values() for leaf in books.rows.controls.with_user_limit)
    return len(requests.siting) + sum(len(queue) for each in queues for queue in each)
