"""Why a request takes nothing back from other queues: every inequality that fails, with both sides' numbers."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from fairhold.cycle.queued.document import saturation_text
from fairhold.rules.queues.contest import FAIR_SHARE, STRATEGIES, is_open, may_reclaim, sides
from fairhold.rules.queues.victims import Candidates
from fairhold.units import SECOND, format_duration, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fairhold.cycle.explain.pooled.inquiry import Document
    from fairhold.cycle.explain.queued.asking import Asking
    from fairhold.ledger.pools import PendingRequest, Unit
    from fairhold.ledger.queues import Amount
    from fairhold.rules.queues.contest import Looked

_RULES = {"young": "R-CONTEST-3", "granted now": "R-SERVE-3"}
"""Why a piece stays, for all that is not about numbers of two sides → the rule."""
TEST_OF = {"deserved": "A", "saturation": "B", "order": "C"}
"""Inequality that is kept → its letter in R-CONTEST-2."""
_MOST = 10
"""Sides, and causes, that are told at most: a plan may have thousands of queues."""


class Contests:
    """What one request finds among other queues.

    gate    : why it may take nothing at all, None = it may look
    short   : places of the resources that are short
    looked  : what the searches found, piece by piece
    """

    def __init__(self, asking: Asking, asked: PendingRequest) -> None:
        self.asking, self.asked, self.need = asking, asked, asking.need(asked)
        self.gate = may_reclaim(asking.now, asked.leaf, self.need)
        self.short, self.looked = asking.reclaimer.look(asked)
        above, children = asking.terms.above[asked.leaf], asking.terms.children
        self.rivals = {side: row for row, parent in pairwise(above) for side in children[parent] if side != row}

    @property
    def open_sides(self) -> list[int]:
        """Sides that hold too much by a strategy."""
        return [side for side, row in self.rivals.items() if any(self._is_open(each, row, side) for each in STRATEGIES)]

    @property
    def reason(self) -> str:
        """What keeps it from taking, in a word."""
        if self.gate is not None:
            return "above fair share"
        asking = self.asking
        if not any(asking.now.held[at][side] for side in self.rivals for at in self.short):
            return "nobody else"
        if not self.open_sides:
            return "strategy"
        if any(each.refused is None for each in self.looked) and not any(each.is_rest for each in self.looked):
            return "no room"
        if not self.looked:
            return "not preemptible"
        rules = {each.refused.rule for each in self.looked if each.refused is not None}
        if "granted now" in rules:
            rules = {"granted now"}
        return next((rule for rule in _RULES if rules == {rule}), "order")

    def _is_open(self, strategy: str, mine: int, theirs: int) -> bool:
        return is_open(self.asking.now, strategy, mine, theirs, self.need, self.short)

    @cached_property
    def document(self) -> Document:
        """All of it as data; of the sides those that hold something that is short, the most first."""
        asking, held = self.asking, self.asking.now.held
        sides_ = [side for side in self.rivals if any(held[at][side] for at in self.short)]
        sides_.sort(key=lambda side: [-held[at][side] for at in self.short])
        return {
            "need": {asking.name(at): asking.number(at, units) for at, units in enumerate(self.need) if units},
            "short": [asking.name(at) for at in self.short],
            "gate": self._gate(),
            "sides": [self._side(side, self.rivals[side]) for side in sides_[:_MOST]],
            "sides_left_out": max(0, len(sides_) - _MOST),
            "causes": list(islice(self._causes(), _MOST)),
        }

    def _gate(self) -> Document | None:
        """With what it needs its queue is above its fair share (R-CONTEST-1)."""
        if self.gate is None:
            return None
        _, row, at = self.gate
        held, fair = self.asking.now.held[at][row], self.asking.now.fair[at][row]
        return self._inequality("within fair share", row, at, held + self.need[at], fair)

    def _inequality(self, test: str, row: int, at: int, value: int, bound: Amount) -> Document:
        """A test that fails: a queue has `value` where it should be beyond, or within, `bound`; by how much."""
        asking = self.asking
        return {
            "test": test,
            "consumer": asking.inquiry.path(row),
            "resource": asking.name(at),
            "value": asking.number(at, value),
            "bound": asking.number(at, bound),
            "by": asking.number(
                at, abs(Fraction(value) - bound) if isinstance(bound, Fraction) else abs(value - bound)
            ),
        }

    def _side(self, side: int, row: int) -> Document:
        asking, now = self.asking, self.asking.now
        return {
            "consumer": asking.inquiry.path(side),
            "compared_with": asking.inquiry.path(row),
            "resources": {
                asking.name(at): {
                    "ours": self._numbers(at, row, self.need[at]),
                    "theirs": self._numbers(at, side, 0),
                }
                for at in self.short
            },
            "above_fair_share": any(now.held[at][side] > now.fair[at][side] for at in self.short),
            "strategies": [self._strategy(each, side, row) for each in STRATEGIES],
        }

    def _numbers(self, at: int, row: int, more: int) -> Document:
        asking, now = self.asking, self.asking.now
        found: Document = {
            "held": asking.number(at, now.held[at][row]),
            "fair_share": asking.number(at, now.fair[at][row]),
            "deserved": asking.number(at, asking.terms.deserved[at][row]),
            "threshold": asking.number(at, now.threshold(at, row)),
        }
        return found | ({"with_need": asking.number(at, now.held[at][row] + more)} if more else {})

    def _strategy(self, strategy: str, side: int, row: int) -> Document:
        """Whether a side may give by a strategy; if not, why; if so, which of its pieces are refused and why."""
        is_able = self._is_open(strategy, row, side)
        mine = [each for each in self.looked if each.strategy == strategy and each.theirs == side]
        rest = [each for each in self.looked if each.strategy == strategy and each.is_rest]
        return {
            "strategy": strategy,
            "may_give": is_able and self.gate is None,
            "fails": [] if is_able else list(self._closed(strategy, side, row)),
            "could_give": len(_units(each for each in mine if each.refused is None) - _units(rest)),
            "refused": self._refusals(mine),
        }

    def _closed(self, strategy: str, side: int, row: int) -> Iterator[Document]:
        """What a side would have to hold, or its taker's not, to give by a strategy (R-CONTEST-1)."""
        now, deserved = self.asking.now, self.asking.terms.deserved
        if strategy == FAIR_SHARE:
            for at in self.short:
                yield self._inequality("above threshold", side, at, now.held[at][side], now.threshold(at, side))
            return
        for at in self.short:
            if now.held[at][row] + self.need[at] > deserved[at][row]:
                value = now.held[at][row] + self.need[at]
                yield self._inequality("within deserved", row, at, value, deserved[at][row])
        if all(now.held[at][side] <= deserved[at][side] for at in self.short):
            for at in self.short:
                yield self._inequality("above deserved", side, at, now.held[at][side], deserved[at][side])

    def _least(self, rule: str, at: int, ours: int, mine: int, row: int) -> str:
        """What the other side has to be left with, exactly: beyond it for the saturation, that much for the order."""
        asking = self.asking
        fair, theirs = asking.now.fair[at][mine], asking.now.fair[at][row]
        if not fair:
            return saturation_text(ours, fair)
        times = asking.terms.settings.multiplier if rule == "saturation" else 1
        return str(Fraction(ours) / fair * theirs * times / asking.inquiry.plan.resources[at].base)

    def _refusals(self, looked: Sequence[Looked]) -> list[Document]:
        """What keeps pieces where they are, the first numbers of each inequality."""
        first: dict[object, Looked] = {}
        pieces: dict[object, set[object]] = {}
        for each in looked:
            if each.refused is not None:
                first.setdefault((each.refused, each.is_rest), each)
                pieces.setdefault((each.refused, each.is_rest), set()).add(each.piece)
        return [self._refusal(each) | {"pieces": len(pieces[refused])} for refused, each in first.items()]

    def _refusal(self, one: Looked) -> Document:
        assert one.refused is not None
        (rule, row, at), (ours, their, before) = one.refused, one.numbers
        asking, asked = self.asking, one.piece[0].asked
        found: Document = {
            "test": rule,
            "rule": "R-CONTEST-2" if rule in TEST_OF else _RULES.get(rule, "R-CONTEST-1"),
            "consumer": asking.inquiry.path(row),
            "resource": asking.name(at),
            "request": asked.model.id,
            "rest": len(one.piece) if one.is_rest else None,
        }
        if rule == "deserved":
            bound = asking.terms.deserved[at][row]
            found |= self._inequality(rule, row, at, their, bound) | {"before": asking.number(at, before)}
            return found | ({"gang": asked.model.id, "units": len(one.piece)} if len(one.piece) > 1 else {})
        if rule in TEST_OF:
            found["compared_with"] = asking.inquiry.path(one.mine)
            found["ours"] = saturation_text(ours, asking.now.fair[at][one.mine])
            found["theirs"] = saturation_text(their, asking.now.fair[at][row])
            found["left"] = asking.number(at, their)
            found["least"] = self._least(rule, at, ours, one.mine, row)
            return found | ({"multiplier": str(asking.terms.settings.multiplier)} if rule == "saturation" else {})
        if rule == "granted now":
            return found | {"until": format_instant(asking.inquiry.books.now + SECOND)}
        if rule == "young":
            runtime, started = asking.terms.reclaim_min_runtime[row], max(unit.started for unit in one.piece)
            found["runtime"], found["ran"] = map(format_duration, (runtime, asking.inquiry.books.now - started))
            found["until"] = format_instant(started + runtime)
            return found
        by_shares = one.strategy == FAIR_SHARE and rule == "strategy"
        most = asking.now.threshold(at, row) if by_shares else asking.terms.deserved[at][row]
        return found | self._inequality(rule, row, at, their, most)

    def _causes(self) -> Iterator[Document]:
        """Why another leaf that holds more keeps it: hierarchy, what is deserved, priority or weight (S4.21)."""
        asking, terms, leaf = self.asking, self.asking.terms, self.asked.leaf
        held = asking.now.held
        told: set[tuple[int, str]] = set()
        for other in asking.inquiry.terms.leaves:
            more = [at for at in self.short if held[at][other] > held[at][leaf]]
            if other == leaf or not more or terms.above[other][-2] not in terms.children[0]:
                continue
            row, side = sides(terms, leaf, other)
            at = more[0]
            settings = (
                ("deserved", asking.number(at, terms.deserved[at][row]), asking.number(at, terms.deserved[at][side])),
                ("priority", terms.priority[row], terms.priority[side]),
                ("weight", *(str(Fraction(terms.weight[at][each], terms.weight_of_one[at])) for each in (row, side))),
            )
            is_more = (
                terms.deserved[at][side] > terms.deserved[at][row],
                terms.priority[side] > terms.priority[row],
                terms.weight[at][side] > terms.weight[at][row],
            )
            causes = [each for each, yes in zip(settings, is_more, strict=True) if yes][:1]
            if (row, side) != (leaf, other):
                values = asking.number(at, held[at][row]), asking.number(at, held[at][side])
                causes.insert(0, ("hierarchy", *values))
            for cause, ours, theirs in causes:
                if (side, str(cause)) not in told:
                    told.add((side, str(cause)))
                    yield {
                        "cause": cause,
                        "consumer": asking.inquiry.path(other),
                        "resource": asking.name(at),
                        "held": [asking.number(at, held[at][leaf]), asking.number(at, held[at][other])],
                        "compared": [asking.inquiry.path(row), asking.inquiry.path(side)],
                        "values": [ours, theirs],
                    }


def _units(looked: Iterable[Looked]) -> set[Unit]:
    return {unit for each in looked for unit in each.piece}


def own_queue(asking: Asking, asked: PendingRequest) -> Document | None:
    """Units of lower priority in its own queue, and how many of them have not run long enough (R-CONTEST-5).

    None = there are none.
    """
    leaf, mine = asked.leaf, asked.model.priority
    candidates = Candidates(asking.now, asking.inquiry.books.by_leaf)
    pieces = candidates.inside(leaf, lambda other: other.model.priority < mine)
    sure, runtime = asking.inquiry.books.sure, asking.terms.preempt_min_runtime[leaf]
    ends = [unit.started + (max(runtime, SECOND) if unit in sure else runtime) for piece in pieces for unit in piece]
    young = [end for end in ends if end > asking.inquiry.books.now]
    if not ends:
        return None
    return {"units": len(ends), "young": len(young), "until": format_instant(max(young)) if young else None}
