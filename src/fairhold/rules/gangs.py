"""Gangs that never fit do not count as demand, so that no slot idles and none is reclaimed for them (R-GANG-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.effective_demand import alike, line_key, requests_of, what_counts
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterator

    from fairhold.ledger.books import Books
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.effective_demand import Alike
    from fairhold.ledger.snapshot import Snapshot

    Divide = Callable[[], CycleContext]
    Quotas = Callable[[], array[int]]

NEVER = -1
MOST_TURNS = 50
"""Leaves that give way one by one; whoever is left then gives way at once."""


def settle_gangs(snapshot: Snapshot, divide: Divide, quotas: Quotas) -> CycleContext:
    """Quotas such that no leaf has more than its requests could use, except for its reserve (R-GANG-1).

    Leaves give way one after another, the worst path first: what one leaves may be enough for another. Then, in path
    order, each counts in full again unless a leaf would then have a quota that it cannot use. Running gangs are
    treated like waiting ones; otherwise two gangs would be stopped for each other in turn.

    divide : makes a draft with the quotas that follow from the snapshot; quotas: returns only these quotas
    """
    requests = snapshot.books.requests
    if not (requests.lines.gangs or _has_started(snapshot)):
        return divide()
    quota = quotas()
    leaves = sorted({*requests.gangs, *requests.lines.gangs}, key=snapshot.rows.position.__getitem__)
    turns = _Turns(snapshot, leaves)
    lowered: dict[int, None] = {}
    while stuck := turns.stuck(quota):
        for leaf in [*stuck][-1:] if len(lowered) < MOST_TURNS else stuck:
            turns.bound[leaf] = stuck[leaf]
            lowered[leaf] = None
        quota = quotas()
    if len(lowered) > 1:
        for leaf in [leaf for leaf in leaves if leaf in lowered][:MOST_TURNS]:
            before, turns.bound[leaf] = turns.bound[leaf], turns.whole[leaf]
            if any(turns.each_stuck(quotas())):
                turns.bound[leaf] = before
    return divide()


def _has_started(snapshot: Snapshot) -> bool:
    """Whether units of a gang started just now: it waited before, so that a second cycle asks as the first did."""
    requests, allocations = snapshot.books.requests, snapshot.books.allocations
    return allocations.latest_gang >= snapshot.now and any(
        allocations.started[each] >= snapshot.now
        for mine in requests.gangs.values()
        for row in mine
        for each in allocations.by_request.get(row, ())
    )


class _Turns:
    """The leaves that give way to others, as their quota is too small for a gang.

    wanted : (rows,) demand of leaves that could be granted
    whole  : (rows,) the part of it that they could use if gangs did not matter
    bound  : (rows,) the same while some give way: input of their quotas, or bound of fixed shares
    _usable : leaf → quota → units that its requests could use of it
    """

    def __init__(self, snapshot: Snapshot, leaves: list[int]) -> None:
        self.snapshot = snapshot
        self.leaves = leaves
        self.bound = snapshot.most if snapshot.rows.is_fixed else snapshot.usable
        self.whole = self.bound[:]
        self.wanted = snapshot.counted
        self._usable: dict[int, dict[int, int]] = {leaf: {} for leaf in leaves}

    def stuck(self, quota: array[int]) -> dict[int, int]:
        """Leaf → units that its requests could use, where these are fewer than its quota and what counts; by path."""
        return dict(self.each_stuck(quota))

    def each_stuck(self, quota: array[int]) -> Iterator[tuple[int, int]]:
        """The same, leaf by leaf."""
        books, now, wanted, bound = self.snapshot.books, self.snapshot.now, self.wanted, self.bound
        for leaf, known in self._usable.items():
            most = quota[leaf]
            if wanted[leaf] <= most:  # it could use all, and its quota is made of no more than that
                continue
            units = known.get(most)
            if units is None:
                units = known[most] = usable(books, leaf, now, wanted[leaf], most)
            if units < most and units < bound[leaf]:
                yield leaf, units


def usable(books: Books, leaf: int, now: int, wanted: int, quota: int) -> int:
    """Units of its quota that the requests of a leaf could use, if they got all of it.

    They are counted by priority, within a priority gangs first, then by submitted and id. A gang is left out if the
    rest of the quota is too small for it. Units of running gangs are counted before all others where that gives a
    larger sum: these gangs keep running. A gang that starts now does not count as running, so that a second cycle
    counts the same.
    """
    if wanted <= quota:
        return wanted
    if books.is_trial or books.requests.siting or books.rows.controls.user_limit[leaf] < UNLIMITED:
        return count_usable(books, leaf, now, wanted, quota)
    lines = books.requests.lines
    more = max(0, wanted - books.demand[leaf])  # where it is asked what a leaf would get that wanted more
    if more + books.demand[leaf] - lines.in_gangs.get(leaf, 0) >= quota:
        return quota
    # What starts at this instant counts otherwise than what ran before: then the answer is for this instant alone.
    question = (quota, more, now if books.allocations.latest_gang >= now else NEVER)
    answers = lines.answers.setdefault(leaf, {})
    if question not in answers:
        is_plain = len(lines.priorities[leaf]) == 1
        answers[question] = (_look if is_plain else count_usable)(books, leaf, now, wanted, quota)
    return answers[question]


def count_usable(books: Books, leaf: int, now: int, wanted: int, quota: int) -> int:
    """What `usable` says where more is wanted than the quota, counted request by request."""
    requests, counted = books.requests, what_counts(books, leaf)
    mine = {row: requests.count[row] - counted.never.get(row, 0) for row in requests_of(books, leaf)}
    total = sum(mine.values()) - counted.twice
    more = max(0, wanted - total)  # where it is asked what a leaf would get that wanted more
    fits = sum(units for row, units in mine.items() if not (requests.minimum[row] or row in requests.siting))
    if more + fits >= quota:
        return quota
    line = sorted(mine, key=lambda row: line_key(books, row))
    runs = {row: min(mine[row], units) for row in line if (units := _runs_with(books, row, now))}
    left = min(_fill(_Rest(books, quota, counted.together), books, line, mine, first) for first in ({}, runs))
    return quota - left + min(left, more)


def _look(books: Books, leaf: int, now: int, wanted: int, quota: int) -> int:
    """What `count_usable` says of a leaf whose requests have one priority and no bound of their own.

    There the line is all gangs, in the order in which they stand in the books, and then all others, who take whatever
    is left: of them only the sum matters.
    """
    requests, loose = books.requests, books.demand[leaf] - books.requests.lines.in_gangs.get(leaf, 0)
    count, least, held = requests.count, requests.minimum, requests.held
    line = [row for *_, row in requests.lines.gang_line.get(leaf, ())]
    are_fresh = books.allocations.latest_gang >= now
    runs: dict[int, int] = {}
    for row in line:
        if least[row] <= held[row]:
            most = min(count[row], _runs_with(books, row, now) if are_fresh else held[row])
            if most:
                runs[row] = most
    left = quota
    for row in line:
        if least[row] <= left:
            left -= min(left, count[row])
    if runs and left > loose:
        other, taken = quota, dict[int, int]()
        for row, most in runs.items():
            if least[row] <= other:
                taken[row] = min(other, most)
                other -= taken[row]
        for row in line:
            if row in taken:
                other -= min(other, count[row] - taken[row])
            elif least[row] <= other:
                other -= min(other, count[row])
        left = min(left, other)
    return quota - left + min(left, loose + max(0, wanted - books.demand[leaf]))


def _runs_with(books: Books, row: int, now: int) -> int:
    """Units with which a gang runs since before this instant; 0 where it does not, or for a request that is none."""
    least, allocations = books.requests.minimum[row], books.allocations
    if not 0 < least <= books.requests.held[row]:
        return 0
    mine = allocations.by_request.get(row, ())
    units = sum(allocations.units[each] for each in mine if allocations.started[each] < now)
    return units if units >= least else 0


class _Rest:
    """What is left of a quota, and of what requests that share slots count for together (R-SITE-2)."""

    def __init__(self, books: Books, quota: int, together: dict[Alike, int]) -> None:
        self._books = books
        self.left = quota
        self._together = together.copy()

    def take(self, row: int, units: int, least: int) -> int:
        """A request takes some of it, at most so many, or none where that is fewer than it needs to run."""
        key = alike(self._books, row)
        room = self.left if key is None else min(self.left, self._together[key])
        taken = min(room, units) if least <= room else 0
        self.left -= taken
        if key is not None:
            self._together[key] -= taken
        return taken


def _fill(rest: _Rest, books: Books, line: list[int], mine: dict[int, int], runs: dict[int, int]) -> int:
    """What the requests of a line leave of a quota, where those with which gangs run are counted before all."""
    least = books.requests.minimum
    taken = {row: units for row, most in runs.items() if (units := rest.take(row, most, least[row]))}
    for row in line:
        rest.take(row, mine[row] - taken.get(row, 0), 0 if row in taken else least[row])
    return rest.left


def waiting_gangs(books: Books, leaf: int) -> list[int]:
    """Gangs of a leaf that do not run."""
    requests = books.requests
    return [row for row in requests.lines.gangs.get(leaf, ()) if requests.held[row] < requests.minimum[row]]
