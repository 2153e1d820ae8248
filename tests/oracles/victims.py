"""Who is served next and who gives way to whom, slowly, with the rules as they are written (SPEC §7, fair-share.md).

Nothing of the product is used. Pieces are gathered in the order of R-CONTEST-3; which of them are needed is found by a
look at all their subsets. Amounts are fractions; one resource; hosts, queues and requests are small.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cmp_to_key
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

INFINITE = Fraction(10**9)
Piece = tuple["Unit", ...]


@dataclass(eq=False)
class Queue:
    """A queue; `up` is itself, then those above it, the topmost last.

    spares, spares_inside : how long units run before others, or more important ones of its own, take them
    held : as moved
    """

    path: str
    place: int
    up: tuple[str, ...]
    children: tuple[str, ...]
    deserved: Fraction
    limit: Fraction
    priority: int
    fair: Fraction
    spares: int = 0
    spares_inside: int = 0
    held: Fraction = Fraction(0)

    @property
    def threshold(self) -> Fraction:
        return min(self.limit, max(self.deserved, self.fair))


@dataclass(eq=False)
class Request:
    """A request; the larger `place` is listed later; fixed = nobody takes it back."""

    name: str
    place: int
    queue: str
    unit: Fraction
    count: int
    least: int
    priority: int
    submitted: int
    is_fixed: bool
    units: list[Unit] = field(default_factory=list)


@dataclass(eq=False)
class Unit:
    """A unit on a host; the larger `at` came later; `gone` = it is under notice."""

    request: Request
    host: str
    started: int
    at: int
    gone: bool = False


def ratio(held: Fraction, of: Fraction) -> Fraction:
    """0/0 = 0, of nothing it is more than any number."""
    return held / of if of else INFINITE if held else Fraction(0)


class Quest(NamedTuple):
    """What is looked for: by which strategy, side → the taker's side, what all held before, who is above the taker."""

    need: Fraction
    strategy: str
    rivals: dict[str, str]
    before: dict[str, Fraction]
    above: set[str]


@dataclass
class Cluster:
    """Everything; `room` is what is idle on each host, and `coming` the units on their way to the one who takes.

    freed : host → what those leave who go for it
    """

    queues: dict[str, Queue]
    requests: list[Request]
    room: dict[str, Fraction]
    multiplier: Fraction
    now: int
    coming: dict[str, int] = field(default_factory=dict)
    freed: dict[str, Fraction] = field(default_factory=dict)

    # --- whose turn it is

    def served_first(self, waiting: Iterable[Request], units: Callable[[Request], int]) -> Request | None:
        """From the top down: the best of siblings by each criterion in turn, standing for what it would serve next."""
        line = list(waiting)

        def of(path: str) -> Request | None:
            queue = self.queues[path] if path else None
            below = queue.children if queue else tuple(name for name, each in self.queues.items() if len(each.up) == 1)
            if queue and not queue.children:
                mine = [each for each in line if each.queue == path]
                return min(mine, key=cmp_to_key(_earlier), default=None)
            stands = [(self.queues[child], found) for child in below if (found := of(child))]
            best = None
            for each in stands:
                best = each if best is None or self._better(each, best, units) < 0 else best
            return best[1] if best else None

        return of("")

    def _better(self, one: tuple[Queue, Request], other: tuple[Queue, Request], units: Callable[[Request], int]) -> int:
        (mine, first), (theirs, second) = one, other
        needs = first.unit * units(first), second.unit * units(second)
        pairs = (
            (mine.held > mine.fair, theirs.held > theirs.fair),
            (mine.held + needs[0] > mine.deserved, theirs.held + needs[1] > theirs.deserved),
            (-mine.priority, -theirs.priority),
            (ratio(mine.held + needs[0], mine.threshold), ratio(theirs.held + needs[1], theirs.threshold)),
            (ratio(mine.held, mine.threshold), ratio(theirs.held, theirs.threshold)),
            (mine.place, theirs.place),
        )
        return next((-1 if a < b else 1 for a, b in pairs if a != b), 0)

    def count(self, request: Request, units: int) -> None:
        """So many units more of a request."""
        for path in self.queues[request.queue].up:
            self.queues[path].held += request.unit * units

    # --- who gives way

    def within_limits(self, request: Request, need: Fraction) -> bool:
        return all(self.queues[path].held + need <= self.queues[path].limit for path in self.queues[request.queue].up)

    def may_be_fixed(self, request: Request, need: Fraction) -> bool:
        """What is never taken back stays within what is deserved, at every level."""
        fixed = [each for each in self.requests if each.is_fixed]
        for path in self.queues[request.queue].up if request.is_fixed else ():
            mine = [each for each in fixed if path in self.queues[each.queue].up]
            units = sum(each.unit * (len(each.units) + (self.on_way if each is request else 0)) for each in mine)
            if units + need > self.queues[path].deserved:
                return False
        return True

    @property
    def on_way(self) -> int:
        return sum(self.coming.values())

    def fits(self, request: Request, units: int, gone: Iterable[Piece]) -> bool:
        """Whether so many more fit beside those on their way: what is idle, what goes for it already, and some more."""
        left = {host: room + self.freed.get(host, 0) for host, room in self.room.items()}
        for unit in (unit for piece in gone for unit in piece):
            left[unit.host] += unit.request.unit
        return sum(int(room // request.unit) - self.coming.get(host, 0) for host, room in left.items()) >= units

    def take(self, request: Request, units: int) -> list[Unit] | None:
        """Who goes for so many units of a request: of other queues by fair shares, else by quotas; None = nobody."""
        need, mine = request.unit * units, self.queues[request.queue]
        if mine.held + need > mine.fair or not self.may_be_fixed(request, need):
            return None
        rivals = {
            side: row
            for row in mine.up
            for side, queue in self.queues.items()
            if side != row and queue.up[1:] == self.queues[row].up[1:]
        }
        for strategy in ("fair share", "quota"):
            places: list[str | None] = [None, *self.room] if units == 1 else [None]
            for host in places:
                found = self._search(request, need, strategy, rivals, host)
                if found is not None:
                    return found
        return None

    def _is_open(self, strategy: str, mine: Queue, theirs: Queue, need: Fraction) -> bool:
        if strategy == "fair share":
            return theirs.held > theirs.threshold
        return mine.held + need <= mine.deserved and theirs.held > theirs.deserved

    def _search(
        self, request: Request, need: Fraction, strategy: str, rivals: dict[str, str], host: str | None
    ) -> list[Unit] | None:
        before = {path: queue.held for path, queue in self.queues.items()}
        quest = Quest(need, strategy, rivals, before, set(self.queues[request.queue].up))
        units = int(need / request.unit)
        taken: list[tuple[str, Piece]] = []
        tried: set[Piece] = set()
        found = None
        able = [s for s, row in rivals.items() if self._is_open(strategy, self.queues[row], self.queues[s], need)]
        while found is None and (next_ := self._first(able, tried, host)) is not None:
            side, piece = next_
            tried.add(piece)
            whole = with_broken(piece, [each for _, each in taken])
            ours, theirs = self.queues[rivals[side]], self.queues[side]
            if self._is_young(whole, theirs.spares) or not self._is_open(strategy, ours, theirs, need):
                continue
            self._go(whole, 1)
            if not self._keeps(quest, side, {unit.request.queue for unit in whole}):
                self._go(whole, -1)
                continue
            taken.append((side, whole))
            if self._is_enough(request, units, need, [each for _, each in taken]):
                found = self._fewest(request, units, need, taken)
        for _, piece in taken:
            self._go(piece, -1)
        is_kept = found is not None and (len(found) == len(taken) or self._ends_well(quest, found))
        return [unit for _, piece in found for unit in piece] if found is not None and is_kept else None

    def _keeps(self, quest: Quest, side: str, leaves: Iterable[str]) -> bool:
        """(A) of those who give, (B) and (C) of a side, as all stand now."""
        after = {path: q.held + (quest.need if path in quest.above else 0) for path, q in self.queues.items()}
        for path in {path for leaf in leaves for path in self.queues[leaf].up}:
            least, was = self.queues[path].deserved, quest.before[path]
            if after[path] < least and (was >= least or (after[path] < was and path not in quest.above)):
                return False
        ours, theirs = self.queues[quest.rivals[side]], self.queues[side]
        mine, other = ratio(after[ours.path], ours.fair), ratio(after[side], theirs.fair)
        if mine > 1 and not mine * self.multiplier < other:
            return False
        was_above = ratio(quest.before[ours.path], ours.fair) > ratio(quest.before[side], theirs.fair)
        return quest.strategy != "fair share" or was_above or mine <= other

    def _ends_well(self, quest: Quest, found: list[tuple[str, Piece]]) -> bool:
        """Whether the order is kept by what goes alone: what makes no room does not go to keep it."""
        for _, piece in found:
            self._go(piece, 1)
        is_kept = True
        for side in {side for side, _ in found}:
            ours = self.queues[quest.rivals[side]]
            is_within = quest.strategy != "quota" or ours.held + quest.need <= ours.deserved
            is_kept = is_kept and is_within and self._keeps(quest, side, ())
        for _, piece in found:
            self._go(piece, -1)
        return is_kept

    def _is_enough(self, request: Request, units: int, need: Fraction, gone: list[Piece]) -> bool:
        return self.within_limits(request, need) and self.fits(request, units, gone)

    def _fewest(
        self, request: Request, units: int, need: Fraction, taken: list[tuple[str, Piece]]
    ) -> list[tuple[str, Piece]]:
        """Of all subsets that are enough and break no gang, the one without the last, then without the one before, …"""
        best: tuple[bool, ...] | None = None
        for goes in product((False, True), repeat=len(taken)):
            some = [piece for is_in, (_, piece) in zip(goes, taken, strict=True) if is_in]
            stays = [piece for is_in, (_, piece) in zip(goes, taken, strict=True) if not is_in]
            for piece in stays:
                self._go(piece, -1)
            if self._is_enough(request, units, need, some) and not any(_breaks(piece, some) for piece in some):
                best = goes if best is None or goes[::-1] < best[::-1] else best
            for piece in stays:
                self._go(piece, 1)
        assert best is not None
        return [each for is_in, each in zip(best, taken, strict=True) if is_in]

    def _go(self, piece: Piece, sign: int) -> None:
        for unit in piece:
            self.count(unit.request, -sign)

    def _is_young(self, piece: Piece, least: int) -> bool:
        """It has not run longer than that."""
        return bool(least) and any(self.now - unit.started <= least for unit in piece)

    def _first(self, sides: list[str], tried: set[Piece], host: str | None) -> tuple[str, Piece] | None:
        """The most saturated side, then inside it level by level; lowest request priority, then youngest."""

        def of(path: str) -> Piece | None:
            children = self.queues[path].children
            if children:
                stands = [(child, found) for child in children if (found := of(child))]
                return min(stands, key=key)[1] if stands else None
            for piece in self.pieces(path):
                if piece not in tried and (host is None or any(unit.host == host for unit in piece)):
                    return piece
            return None

        def key(each: tuple[str, Piece]) -> tuple[object, ...]:
            queue, unit = self.queues[each[0]], each[1][0]
            mine = unit.request
            young = (-mine.submitted, -mine.place, -unit.started, -unit.at)
            return -ratio(queue.held, queue.fair), mine.priority, *young

        found = [(side, piece) for side in sides if (piece := of(side))]
        return min(found, key=key) if found else None

    def pieces(self, path: str, below: int | None = None) -> list[Piece]:
        """What a leaf gives: lowest priority, then youngest; a gang's surplus before its core, which goes whole."""
        mine = [each for each in self.requests if each.queue == path and not each.is_fixed]
        mine = [each for each in mine if below is None or each.priority < below]
        found: list[Piece] = []
        for each in sorted(mine, key=lambda request: (request.priority, -request.submitted, -request.place)):
            units = sorted((u for u in each.units if not u.gone), key=lambda unit: (-unit.started, -unit.at))
            surplus = max(0, len(units) - each.least) if each.least else len(units)
            found += [(unit,) for unit in units[:surplus]] + ([tuple(units[surplus:])] if units[surplus:] else [])
        return found

    def preempt(self, request: Request, units: int) -> list[Unit] | None:
        """Who goes of its own queue: strictly lower priorities, as many as are needed."""
        need, taken = request.unit * units, list[tuple[str, Piece]]()
        least = self.queues[request.queue].spares_inside
        if not self.may_be_fixed(request, need):
            return None
        found = None
        for piece in self.pieces(request.queue, below=request.priority):
            if any(self.now - unit.started < least for unit in with_broken(piece, [each for _, each in taken])):
                continue
            taken.append((request.queue, with_broken(piece, [each for _, each in taken])))
            self._go(taken[-1][1], 1)
            if self._is_enough(request, units, need, [each for _, each in taken]):
                found = self._fewest(request, units, need, taken)
                break
        for _, piece in taken:
            self._go(piece, -1)
        return None if found is None else [unit for _, piece in found for unit in piece]


def _earlier(one: Request, other: Request) -> int:
    """Inside a queue: priority, below the minimum of its gang first, submitted, id."""
    if one.priority != other.priority:
        return -1 if one.priority > other.priority else 1
    if (len(one.units) < one.least) != (len(other.units) < other.least):
        return -1 if len(one.units) < one.least else 1
    if one.submitted != other.submitted:
        return -1 if one.submitted < other.submitted else 1
    return -1 if one.name < other.name else 1


def with_broken(piece: Piece, gone: list[Piece]) -> Piece:
    """With all of its gang that would go on below the minimum."""
    request, taken = piece[0].request, {unit for each in (piece, *gone) for unit in each}
    stays = [unit for unit in request.units if not unit.gone and unit not in taken]
    return (*piece, *stays) if len(stays) < request.least else piece


def _breaks(piece: Piece, gone: list[Piece]) -> bool:
    """Whether a gang of which this goes is left below its minimum."""
    request, taken = piece[0].request, {unit for each in gone for unit in each}
    stays = [unit for unit in request.units if not unit.gone and unit not in taken]
    return 0 < len(stays) < request.least
