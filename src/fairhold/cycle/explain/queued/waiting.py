"""Why a request of a queue waits: it is not placed, and takes nothing back (R-SERVE-2, R-CONTEST-1 to 5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from fairhold.cycle.explain.pooled.budgets import waited_for
from fairhold.cycle.explain.pooled.held_back import held_back, without_controls
from fairhold.cycle.explain.pooled.rooms import Rooms, nearest
from fairhold.cycle.explain.queued.contests import Contests, own_queue
from fairhold.cycle.queued.open import count_all
from fairhold.kernels.vectors import add
from fairhold.ledger.pools import PUBLIC
from fairhold.ledger.queues import amounts_of, is_preemptible
from fairhold.rules.pools.infeasible import labels_asked, why_unplaceable
from fairhold.rules.pools.siting import could_stand, kinds_of_hosts
from fairhold.rules.queues.queue_metrics import breaks_guarantee, breaks_limit
from fairhold.units import UNLIMITED, format_instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.cycle.explain.pooled.held_back import HeldBack
    from fairhold.cycle.explain.pooled.inquiry import Document
    from fairhold.cycle.explain.pooled.rooms import Spaces
    from fairhold.cycle.explain.pooled.spaces import Gap, Space
    from fairhold.cycle.explain.queued.asking import Asking
    from fairhold.cycle.pooled.decide import Decided
    from fairhold.kernels.vectors import Vector
    from fairhold.ledger.pools import PendingRequest
    from fairhold.ledger.queues import Amount, Queues

RULE_OF = {
    "no hosts": "R-QUEUE-1",
    "on the way": "R-HELD-1",
    "gang first": "R-CONTEST-1",
    "stopping": "R-TAKE-4",
    "unplaceable": "R-POOL-3",
    "never fits": "R-GANG-2",
    "user limit": "R-USER-2",
    "budget": "R-BUDGET-8",
    "queue limit": "R-SERVE-2",
    "beyond deserved": "R-SERVE-2",
    "held for others": "R-HELD-1",
    "closed": "R-LIVE-2",
    "gang": "R-CONTEST-4",
    "next cycle": "R-SERVE-2",
    "control": "R-CONTROL-6",
    "delay": "R-CONTEST-4",
    "above fair share": "R-CONTEST-1",
    "nobody else": "R-CONTEST-1",
    "strategy": "R-CONTEST-1",
    "not preemptible": "R-CONTEST-3",
    "young": "R-CONTEST-3",
    "granted now": "R-SERVE-3",
    "order": "R-CONTEST-2",
    "no room": "R-CONTEST-4",
}
"""Reasons for which a request of a queue waits, and the rule behind each."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why a request waits.

    gap     : the host where the least is missing beside what is idle, and what
    bar     : (row, place of the resource) of the queue of which a limit, or what is deserved for good, is reached
    used    : what counts there, what is on its way left out; coming: what is on its way
    need    : base units of every resource that it wants in one go, where something of that is barred
    gang    : units that it wants in one go, and how many fit
    until   : instant up to which it may not take anything
    others  : what it finds among other queues, where it comes to that; own: in its own one
    """

    reason: str
    gap: Gap | None = None
    bar: tuple[int, int] | None = None
    used: Amount = 0
    coming: Amount = 0
    need: Sequence[int] = ()
    gang: tuple[int, int] | None = None
    until: int | None = None
    control: HeldBack | None = None
    others: Contests | None = None
    own: Document | None = None
    more: Document = field(default_factory=dict)


class Why:
    """Finds the reasons of all requests of one inquiry."""

    def __init__(self, asking: Asking) -> None:
        self.asking, self.inquiry = asking, asking.inquiry
        self._rooms = Rooms(asking.inquiry)
        self._known: dict[object, Contests] = {}
        self._moved: dict[object, Document] = {}

    @cached_property
    def _free(self) -> Decided | None:
        """The cycle as it would be if no control held it back."""
        return without_controls(self.inquiry)

    @cached_property
    def _here(self) -> Queues:
        """What queues hold without what is on its way."""
        return count_all(self.inquiry.books, self.asking.stood)

    def of(self, asked: PendingRequest) -> Waiting | None:
        """Why a request waits; None where it does not."""
        if not asked.lacking:
            return None
        if not self.asking.has_hosts:
            return Waiting("no hosts")
        if asked.lacking <= self.inquiry.reservations.new_units(asked):
            return Waiting("on the way")
        never = self._never(asked)
        if never is not None:
            return never
        if not self.inquiry.left(asked):
            return self._beyond_user(asked)
        return self._looked(asked) if self.asking.reclaimer.wants(asked) else Waiting("gang first")

    def _never(self, asked: PendingRequest) -> Waiting | None:
        """Why no host could take a unit of it, or its gang can never start; None where they can."""
        if not could_stand(asked, kinds_of_hosts(self.inquiry.books.hosts)):
            because = why_unplaceable(self.inquiry.books, asked)
            gap = None if because == "down" else nearest(asked.unit, [self._rooms.whole(asked)], _whole)
            labels = labels_asked(asked, because)
            more = {"because": because, "labels": labels} if labels else {"because": because}
            return Waiting("unplaceable", gap, more={} if because == "size" else more)
        return Waiting("never fits", more={"never": asked.never._asdict()}) if asked.never is not None else None

    def _beyond_user(self, asked: PendingRequest) -> Waiting:
        budget = waited_for(self.inquiry, asked.leaf)
        if budget is not None:
            return Waiting("budget", more={"budget": budget})
        if asked.is_stopping:
            return Waiting("stopping")
        user = asked.model.user
        if self.inquiry.terms.user_limit[asked.leaf] >= UNLIMITED or not user:
            return Waiting("on the way")
        held = sum(each.held for each in self.inquiry.books.by_leaf[asked.leaf] if each.model.user == user)
        limit = self.inquiry.terms.user_limit[asked.leaf]
        return Waiting("user limit", more={"user": {"name": user, "limit": limit, "held": held}})

    def _looked(self, asked: PendingRequest) -> Waiting:
        """Why it is not placed on what is idle, then why it takes nothing."""
        asking, unit, wants = self.asking, asked.unit, self.asking.reclaimer.wants(asked)
        need = amounts_of(unit, wants)
        spaces = self._rooms.pool(asked, PUBLIC, frozenset())
        gap = nearest(unit, [spaces], _free)
        fit = spaces.units(unit, _free)
        control = held_back(self.inquiry, asked, self._free)
        if control is not None:
            return Waiting("control", gap, control=control)
        stands = asking.used if fit else asking.now
        bar = breaks_limit(stands, asked.leaf, need)
        if bar is not None:
            return self._barred("queue limit", gap, bar, stands, need)
        bar = None if is_preemptible(asked) else breaks_guarantee(stands, asked.leaf, need)
        if bar is not None:
            return self._barred("beyond deserved", gap, bar, stands, need)
        if fit >= wants:
            return Waiting("next cycle", gap)
        until = asking.reclaimer.waits_until(asked)
        if until is not None:
            return Waiting("delay", gap, until=until)
        others = self._others(asked, wants)
        reason = others.reason
        if reason == "nobody else":
            reason = self._idle(spaces, unit, fit)
        more = self._moves(asked, wants)
        own, gang = own_queue(asking, asked), (wants, fit) if wants > 1 else None
        return Waiting(reason, gap, gang=gang, others=others, own=own, more=more)

    def _barred(
        self, reason: str, gap: Gap | None, bar: tuple[int, int], stands: Queues, need: Sequence[int]
    ) -> Waiting:
        """A bound is reached by what stands: of that, what is on its way is told apart."""
        row, at = bar
        is_limit = reason == "queue limit"
        counts, used, held = (each.held if is_limit else each.fixed for each in (stands, self.asking.used, self._here))
        coming = used[at][row] - held[at][row]
        return Waiting(reason, gap, bar, counts[at][row] - coming, coming, need)

    def _moves(self, asked: PendingRequest, wants: int) -> Document:
        """Who would have to move to make room for it; looked for once for all that find the same."""
        alike = asked.leaf, asked.unit, wants, asked if asked.units or asked.siting else None
        if alike not in self._moved:
            self._moved[alike] = self._moves_for(asked)
        return self._moved[alike]

    def _moves_for(self, asked: PendingRequest) -> Document:
        """Who would have to move to make room for it (R-CONTEST-6); nothing where no move does."""
        inquiry, moves = self.inquiry, self.asking.reclaimer.look_for_moves(asked)
        if moves is None or not moves.places:
            return {}
        found: dict[tuple[str, str, str], int] = {}
        for unit, host in moves.places.items():
            key = unit.asked.model.id, unit.host.name, host.name
            found[key] = found.get(key, 0) + 1
        rows = [
            {"request": name, "consumer": inquiry.path(inquiry.books.asked[name].leaf)}
            | {"from": one, "to": other, "units": units}
            for (name, one, other), units in found.items()
        ]
        is_on = self.asking.terms.settings.consolidation
        return {"consolidation": {"is_on": is_on, "moves": rows, "rule": "R-CONTEST-6"}}

    def _others(self, asked: PendingRequest, wants: int) -> Contests:
        """What it finds among other queues; looked for once for all that find the same."""
        alike = asked.leaf, asked.unit, asked.siting, wants, None if asked.siting is None else asked
        if alike not in self._known:
            self._known[alike] = Contests(self.asking, asked)
        return self._known[alike]

    def _idle(self, spaces: Spaces, unit: Vector, fit: int) -> str:
        """Why nothing idle will do where nobody else has anything."""
        if fit:
            return "gang"
        if spaces.has(unit, _with_kept):
            return "held for others"
        return "closed" if spaces.has(unit, _shut) else "nobody else"


def waiting_document(asking: Asking, waiting: Waiting) -> Document:
    """Why a request waits, as data."""
    gap = waiting.gap
    found: Document = {
        "reason": waiting.reason,
        "rule": RULE_OF[waiting.reason],
        "nearest": None if gap is None else {"host": gap[0].host.name, "missing": asking.inquiry.amounts(gap[1])},
    } | waiting.more
    if waiting.bar is not None:
        row, at = waiting.bar
        is_limit = waiting.reason == "queue limit"
        bounds = asking.terms.limit if is_limit else asking.terms.deserved
        found["bound"] = {
            "consumer": asking.inquiry.path(row),
            "resource": asking.name(at),
            "limit" if is_limit else "deserved": asking.number(at, bounds[at][row]),
            "used": asking.number(at, waiting.used),
            "on_the_way": asking.number(at, waiting.coming),
            "need": asking.number(at, waiting.need[at]),
        }
    if waiting.gang is not None:
        found["gang"] = dict(zip(("units", "room_for"), waiting.gang, strict=True))
    if waiting.until is not None:
        found["until"] = format_instant(waiting.until)
    if waiting.control is not None:
        found |= waiting.control.document()
    if waiting.others is not None:
        found["others"] = waiting.others.document | {"own_queue": waiting.own}
    return found


def _whole(space: Space) -> Vector:
    return space.whole


def _free(space: Space) -> Vector:
    return space.free


def _with_kept(space: Space) -> Vector:
    return add(space.free, space.kept)


def _shut(space: Space) -> Vector:
    return space.shut if space.is_closed else tuple(0 for _ in space.whole)
