"""Why a request waits: at each level in order what keeps it from more, and where the least is missing (R-SWEEP-2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, partial
from operator import attrgetter
from typing import TYPE_CHECKING

from fairhold.cycle.explain.pooled.budgets import waited_for
from fairhold.cycle.explain.pooled.comparing import comparisons, holders_of
from fairhold.cycle.explain.pooled.held_back import held_back, without_controls
from fairhold.cycle.explain.pooled.limiting import on_the_way, reached
from fairhold.cycle.explain.pooled.rooms import Rooms, nearest
from fairhold.kernels.vectors import add, times
from fairhold.ledger.pools import OWN, PUBLIC
from fairhold.rules.pools.infeasible import labels_asked, why_unplaceable
from fairhold.rules.pools.limits import Limits
from fairhold.rules.pools.reservations import limits_as_moved
from fairhold.rules.pools.siting import could_stand, kinds_of_hosts, packs_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain.pooled.bounds import Bound
    from fairhold.cycle.explain.pooled.comparing import Comparison
    from fairhold.cycle.explain.pooled.held_back import HeldBack
    from fairhold.cycle.explain.pooled.inquiry import Document, Inquiry
    from fairhold.cycle.explain.pooled.limiting import Reached
    from fairhold.cycle.explain.pooled.rooms import Spaces
    from fairhold.cycle.explain.pooled.spaces import Gap, Space
    from fairhold.cycle.pooled.decide import Decided
    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.infeasible import Never
    from fairhold.ledger.pools import PendingRequest
    from fairhold.rules.pools.pool_usage import Standing

RULE_OF = {
    "on the way": "R-HELD-1",
    "user limit": "R-USER-2",
    "budget": "R-BUDGET-7",
    "gang first": "R-TAKE-4",
    "stopping": "R-TAKE-4",
    "control": "R-CONTROL-6",
    "unplaceable": "R-POOL-3",
    "never fits": "R-GANG-2",
    "too large": "R-POOL-3",
    "ratio 0": "R-SHARE-2",
    "share limit": "R-LIMIT-1",
    "bound": "R-LEND-6",
    "held for others": "R-HELD-1",
    "closed": "R-LIVE-2",
    "packing": "R-HOSTS-3",
    "in use": "R-SWEEP-1",
    "nobody else": "R-TAKE-1",
    "usage quota": "R-USAGE-3",
    "comparison": "R-TAKE-1",
    "granted now": "R-SERVE-3",
    "no room": "R-TAKE-3",
    "gang": "R-TAKE-4",
    "next cycle": "R-SWEEP-1",
}
"""Reasons for which a request waits, all in all or at one level, and the rule behind each."""


@dataclass(frozen=True, slots=True)
class Level:
    """One level at which a request finds nothing more.

    pool     : OWN or a pool; preference: of OWN parcels, else None
    gap      : the host where the least is missing, and what; None where nothing is, or no host has anything there
    passed   : (owner, bound) of parcels that it may not use
    limits   : share limits that one more unit would break, the nearest first
    gang     : units that it wants in one go, units for which there is room
    closed   : the first host with room that starts nothing, where that is the reason
    """

    pool: int
    reason: str
    preference: int | None = None
    gap: Gap | None = None
    passed: tuple[tuple[int, Bound], ...] = ()
    limits: tuple[Reached, ...] = ()
    gang: tuple[int, int] | None = None
    comparisons: tuple[Comparison, ...] = ()
    closed: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why a request waits.

    levels : those at which it looked, in their order; none where it does not come to that
    gap    : the host where the least is missing beside what is idle for it, and what
    control: that keeps it from what it would take back
    budget : the one that is used up and lets nothing start
    user   : its user, what he may hold in its leaf, and what he holds, where that keeps it from more
    because : of a unit that no host could take: `size`, `labels` or `down`; labels: which it asks for, then
    never  : why a gang can never start
    closed : as of a level
    """

    reason: str
    levels: tuple[Level, ...] = ()
    gap: Gap | None = None
    control: HeldBack | None = None
    budget: Document | None = None
    user: tuple[str, int, int] | None = None
    because: str = ""
    labels: str = ""
    never: Never | None = None
    closed: str = ""


class Why:
    """Finds the reasons of all requests of one inquiry."""

    def __init__(self, inquiry: Inquiry) -> None:
        self.inquiry = inquiry
        self._rooms = Rooms(inquiry)
        self._holders = cache(partial(holders_of, inquiry))
        self._known: dict[tuple[object, ...], Waiting] = {}

    @cached_property
    def _free(self) -> Decided | None:
        """The cycle without controls."""
        return without_controls(self.inquiry)

    @cached_property
    def _keeps(self) -> set[PendingRequest]:
        """For whom space was held before."""
        return {asked for asked, _ in self.inquiry.books.keeps}

    @cached_property
    def _held(self) -> Limits:
        """What counts under share limits where something idle is placed."""
        found = Limits(self.inquiry.books, self.inquiry.books.units())
        found.expect(self.inquiry.reservations.shared())
        return found

    @cached_property
    def _moved(self) -> Limits:
        """What counts where something is taken: what is under notice is gone, what is on its way is there."""
        return limits_as_moved(self.inquiry.books, self.inquiry.reservations)

    @cached_property
    def _coming(self) -> Limits:
        """Of that, what is on its way."""
        return on_the_way(self.inquiry)

    def wants(self, asked: PendingRequest) -> int:
        """Units that a request asks for in one go: one, or all that a gang misses of its minimum; 0 = not now."""
        if asked.missing:
            return max(0, asked.missing - self.inquiry.reservations.units(asked))
        return min(1, self.inquiry.left(asked))

    def of(self, asked: PendingRequest) -> Waiting | None:
        """Why a request waits; None where it does not."""
        if not asked.lacking:
            return None
        if asked.lacking > self.inquiry.reservations.units(asked) and not self.inquiry.left(asked):
            return self._holds_all(asked)
        return self._waits(asked)

    def _holds_all(self, asked: PendingRequest) -> Waiting:
        """Why a request may have no more for now: of hosts, as it never fits or stops, of a budget or of its user."""
        if not could_stand(asked, kinds_of_hosts(self.inquiry.books.hosts)):
            return self._looked(asked)
        if asked.never is not None and asked.never.because != "user limit":
            return Waiting("never fits", tuple(self._in_the_way(asked, asked.never)), never=asked.never)
        if (budget := waited_for(self.inquiry, asked.leaf)) is not None:
            return Waiting("budget", budget=budget)
        if asked.never is None and asked.is_stopping:
            return Waiting("stopping")
        user = asked.model.user
        held = sum(each.held for each in self.inquiry.books.by_leaf[asked.leaf] if each.model.user == user)
        return Waiting(
            "never fits" if asked.never else "user limit",
            user=(user, self.inquiry.terms.user_limit[asked.leaf], held),
            never=asked.never,
        )

    def _in_the_way(self, asked: PendingRequest, never: Never) -> Iterator[Level]:
        """Where a gang could start but for a limit, a bound or a ratio of 0."""
        if never.because == "share limit":
            limits = Limits(self.inquiry.books, asked.units, [asked])
            yield Level(PUBLIC, "share limit", limits=reached(self.inquiry, limits, asked, never.units, None))
        for standing in self.inquiry.pools(asked.leaf) if never.because == "reach" else ():
            line = self.inquiry.terms.above[asked.leaf]
            passed = self._rooms.pool(asked, standing.pool, frozenset()).passed
            if not all(self.inquiry.terms.ratio[row] for row in line[: line.index(standing.pool)]):
                yield Level(standing.pool, "ratio 0")
            elif passed:
                yield Level(standing.pool, "bound", passed=passed)

    def _waits(self, asked: PendingRequest) -> Waiting:
        """Why a request waits for what its user may hold."""
        if not self.inquiry.left(asked):
            return Waiting("on the way")
        if not self.wants(asked):
            return Waiting("gang first")
        control = held_back(self.inquiry, asked, self._free)
        if control is not None:
            return Waiting("control", control=control)
        if asked in self.inquiry.reservations.of or asked in self._keeps or packs_whole(asked):
            return self._looked(asked)
        # What is kept for nobody of them makes no difference.
        alike = asked.leaf, asked.unit, asked.siting, self.wants(asked)
        if alike not in self._known:
            self._known[alike] = self._looked(asked)
        return self._known[alike]

    def _looked(self, asked: PendingRequest) -> Waiting:
        """Why a request finds nothing at any level."""
        unit, hosts = asked.unit, self._rooms.whole(asked)
        if not hosts.has(unit, _whole):
            because = why_unplaceable(self.inquiry.books, asked)
            gap = None if because == "down" else nearest(unit, [hosts], _whole)
            return Waiting("unplaceable", gap=gap, because=because, labels=labels_asked(asked, because))
        found = [
            (_own_level(unit, self.wants(asked), spaces, preference), spaces)
            for preference, spaces in self._rooms.own(asked)
        ]
        found += [self._pool(asked, standing) for standing in self.inquiry.pools(asked.leaf)]
        gap = nearest(unit, [spaces for _, spaces in found], _free)
        last = found[-1][0]
        return Waiting(last.reason, tuple(level for level, _ in found), gap, closed=last.closed)

    def _pool(self, asked: PendingRequest, standing: Standing) -> tuple[Level, Spaces]:
        pool, unit, terms = standing.pool, asked.unit, self.inquiry.terms
        compared = tuple(comparisons(self.inquiry, asked, standing, self._holders(standing, unit, asked.siting)))
        spaces = self._rooms.pool(asked, pool, frozenset(each.leaf for each in compared if not each.because))
        line = terms.above[asked.leaf]
        if not all(terms.ratio[row] for row in line[: line.index(pool)]):
            return Level(pool, "ratio 0"), spaces
        if not spaces.has(unit, _whole):  # on the hosts that will do
            return Level(pool, "too large", gap=nearest(unit, [spaces], _whole), passed=spaces.passed), spaces
        return self._in_pool(asked, standing, spaces, compared), spaces

    def _in_pool(
        self, asked: PendingRequest, standing: Standing, spaces: Spaces, compared: tuple[Comparison, ...]
    ) -> Level:
        """Why a request has no more of a pool that has room for its units when it is free."""
        pool, unit, wants, passed = standing.pool, asked.unit, self.wants(asked), spaces.passed
        fit = spaces.units(unit, _open)
        limits = reached(self.inquiry, self._held if fit else self._moved, asked, wants, self._coming)
        if limits:
            return Level(pool, "share limit", limits=limits, passed=passed)
        if fit:
            return Level(pool, "gang" if fit < wants else "next cycle", gang=(wants, fit), passed=passed)
        for reason, room in (("bound", _barred), ("held for others", _kept), ("closed", _shut)):
            if spaces.has(unit, room):
                gap = nearest(unit, [spaces], _free)
                closed = spaces.first(unit, room) if room is _shut else ""
                return Level(pool, reason, gap=gap, passed=passed, comparisons=compared, closed=closed)
        if spaces.has(unit, _free):
            return Level(pool, "packing", passed=passed)
        if not spaces.has(unit, _usable):
            return Level(pool, "bound", gap=nearest(unit, [spaces], _usable), passed=passed)
        return self._no_taking(asked, standing, spaces, compared)

    def _no_taking(
        self, asked: PendingRequest, standing: Standing, spaces: Spaces, compared: tuple[Comparison, ...]
    ) -> Level:
        """Why a request takes nothing in a pool in which nothing is idle for it."""
        pool, unit, wants = standing.pool, asked.unit, self.wants(asked)
        levels = [spaces, self._rooms.lent(asked, pool)] if pool else [spaces]
        has_back = bool(pool) and bool(levels[1].spaces)
        taking = sum(each.units(unit, _taking) for each in levels)
        reason = "no room"
        if not compared and not has_back:
            reason = "nobody else"
        elif any(each.has(unit, _taking) for each in levels):
            reason = "gang" if taking < wants else "comparison"
        elif any(each.has(unit, _taking_and_granted) for each in levels):
            reason = "granted now"
        elif compared and not has_back and all(each.because for each in compared):
            reason = "usage quota" if all(each.because == "own quota" for each in compared) else "comparison"
        elif any(each.has(unit, _taking_beside) for each in levels):
            reason = "packing"
        return Level(
            pool,
            reason,
            gap=None if reason == "gang" else nearest(unit, levels, _taking),
            gang=(wants, taking) if reason == "gang" else None,
            passed=spaces.passed,
            comparisons=compared,
        )


def _own_level(unit: Vector, wants: int, spaces: Spaces, preference: int) -> Level:
    """Why a leaf has no more of what it owns with one preference."""
    fit, taking = (spaces.units(unit, room) for room in (_open, _taking))
    if not spaces.has(unit, _whole):
        return Level(OWN, "too large", preference, gap=nearest(unit, [spaces], _whole))
    if fit >= wants:
        return Level(OWN, "next cycle", preference)
    if taking:
        return Level(OWN, "gang" if taking < wants else "next cycle", preference, gang=(wants, taking))
    reason, closed = "in use", ""
    if spaces.has(unit, _taking_and_granted):
        reason = "granted now"
    elif spaces.has(unit, _taking_and_kept):
        reason = "held for others"
    elif spaces.has(unit, _shut):
        reason, closed = "closed", spaces.first(unit, _shut)
    elif spaces.has(unit, _taking_beside):
        reason = "packing"
    return Level(OWN, reason, preference, gap=nearest(unit, [spaces], _taking), closed=closed)


_whole, _usable, _free = attrgetter("whole"), attrgetter("usable"), attrgetter("free")


def _taking(space: Space) -> Vector:
    return _taking_beside(space) if space.is_left else _nothing(space)


def _taking_beside(space: Space) -> Vector:
    return add(space.free, space.freed)


def _taking_and_kept(space: Space) -> Vector:
    return add(_taking(space), space.kept) if space.is_left else _nothing(space)


def _taking_and_granted(space: Space) -> Vector:
    return add(_taking(space), space.granted) if space.is_left else _nothing(space)


def _open(space: Space) -> Vector:
    return space.free if space.is_open else _nothing(space)


def _barred(space: Space) -> Vector:
    return add(space.free, space.barred) if space.is_open else _nothing(space)


def _kept(space: Space) -> Vector:
    return add(space.free, space.kept) if space.is_open else _nothing(space)


def _shut(space: Space) -> Vector:
    return space.shut if space.is_open or space.is_closed else _nothing(space)


def _nothing(space: Space) -> Vector:
    return times(space.whole, 0)


def waiting_document(inquiry: Inquiry, waiting: Waiting) -> Document:
    """Why a request waits, as data."""
    found: Document = {
        "reason": waiting.reason,
        "rule": RULE_OF[waiting.reason],
        "nearest": _gap_document(inquiry, waiting.gap),
        "levels": [level_document(inquiry, level) for level in waiting.levels],
    }
    if waiting.because not in {"", "size"}:
        found["because"] = waiting.because
    if waiting.labels:
        found["labels"] = waiting.labels
    if waiting.never is not None:
        found["never"] = waiting.never._asdict()
    if waiting.closed:
        found["closed"] = waiting.closed
    if waiting.budget is not None:
        found["budget"] = waiting.budget
    if waiting.user is not None:
        found["user"] = dict(zip(("name", "limit", "held"), waiting.user, strict=True))
    return found | waiting.control.document() if waiting.control is not None else found


def level_document(inquiry: Inquiry, level: Level) -> Document:
    """One level, as data; what does not matter for its reason is left out."""
    found: Document = {"pool": inquiry.pool(level.pool), "reason": level.reason, "rule": RULE_OF[level.reason]}
    if level.preference is not None:
        found["preference"] = level.preference
    if level.gap is not None:
        found["nearest"] = _gap_document(inquiry, level.gap)
    if level.closed:
        found["closed"] = level.closed
    if level.passed:
        found["passed_over"] = [
            {"owner": inquiry.owner(owner), "bound": bound.document(inquiry)} for owner, bound in level.passed
        ]
    if level.limits:
        first, *others = (each.document(inquiry) for each in level.limits)
        found |= {"limit": first} | ({"further_limits": others} if others else {})
    if level.gang is not None:
        found["gang"] = {"units": level.gang[0], "room_for": level.gang[1]}
    if level.comparisons:
        found["comparisons"] = [each.document(inquiry) for each in level.comparisons]
    return found


def _gap_document(inquiry: Inquiry, gap: Gap | None) -> Document | None:
    if gap is None:
        return None
    return {"host": gap[0].host.name, "missing": inquiry.amounts(gap[1])}
