"""Usage in a span of time, kept so that the usage in any part of it is exact (docs/reference/usage.md)."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairhold.model.vector import Told

OWN, BORROWED, LENT, LOST = "own", "borrowed", "lent", "lost"
HELD = (OWN, BORROWED)
"""The kinds that tell apart what is held; together they are all of it."""
Step = tuple[int, int, int]
"""From an instant, to before another, so many units."""


UNKNOWN = "?"
"""A unit of which nobody knows any more what it was."""


class Key(NamedTuple):
    """An account of usage: consumer, user, job, and the unit that is counted.

    user, job : empty for what a leaf lends
    unit : what one unit is: empty = a slot, else amounts of resources as `unit_text` writes them, or `UNKNOWN`
    """

    consumer: str
    user: str
    job: str
    kind: str
    unit: str


def unit_text(unit: Told) -> str:
    """A unit of resources for `Key`."""
    return json.dumps(dict(unit), separators=(",", ":"))


def _key(fields: Sequence[str]) -> Key:
    """Before format 6 a key did not say the unit."""
    consumer, user, job, kind, *unit = fields
    return Key(consumer, user, job, kind, *(unit or (UNKNOWN,)))


def apportion(amount: int, room: Sequence[int]) -> list[int]:
    """Divide an amount in proportion to room, at most that: whole parts, then one each in order."""
    total = sum(room)
    amount = min(amount, total)
    if amount <= 0:
        return [0] * len(room)
    parts = [amount * most // total for most in room]
    left = amount - sum(parts)
    for place, most in enumerate(room):
        if not left:
            break
        if parts[place] < most:
            parts[place] += 1
            left -= 1
    return parts


class Lot(NamedTuple):
    """The total of slots lent in a group from an instant on, and the slots that its leaves have to lend.

    room : (place among the leaves, slots) of leaves for which this number has changed
    """

    at: int
    amount: int
    room: tuple[tuple[int, int], ...]


class Trail(NamedTuple):
    """How the lending of a resource group went in a span.

    leaves : paths of the resource group, in path order
    lots   : in order; the first is at the span's begin, with every room that is not 0
    """

    resource_group: str
    leaves: tuple[str, ...]
    lots: tuple[Lot, ...]

    def lent(self, since: int, until: int) -> dict[str, int]:
        """Unit-microseconds that every leaf lent from `since` to before `until`, inside the span."""
        room, sums = [0] * len(self.leaves), [0] * len(self.leaves)
        for lot, later in pairwise((*self.lots, Lot(until, 0, ()))):
            for place, slots in lot.room:
                room[place] = slots
            length = min(later.at, until) - max(lot.at, since)
            if length > 0 and lot.amount > 0:
                sums = [before + part * length for before, part in zip(sums, apportion(lot.amount, room), strict=True)]
        return {path: amount for path, amount in zip(self.leaves, sums, strict=True) if amount}


class Span(NamedTuple):
    """All that was used from `begin` to before `end`.

    steps : of own and borrowed units
    lost  : (instant, unit-microseconds) of the attempts whose work was thrown away
    trails : of the resource groups
    lent  : consumer → what it lent in the whole span; a sum that the trails give too, but slowly
    """

    begin: int
    end: int
    steps: Mapping[Key, Sequence[Step]]
    lost: Mapping[Key, Sequence[tuple[int, int]]]
    trails: tuple[Trail, ...]
    lent: Mapping[str, int]

    def totals(self, since: int = 0, until: int = 2**62) -> dict[Key, int]:
        """Unit-microseconds from `since` to before `until`, as far as they are in the span; those above 0."""
        since, until = max(since, self.begin), min(until, self.end)
        found: dict[Key, int] = {}
        if since >= until:
            return found
        for key, steps in self.steps.items():
            amount = sum(rate * max(0, min(last, until) - max(first, since)) for first, last, rate in steps)
            if amount:
                found[key] = amount
        for key, ends in self.lost.items():
            amount = sum(units for at, units in ends if since <= at < until)
            if amount:
                found[key] = amount
        is_whole = (since, until) == (self.begin, self.end)
        for lent in (self.lent,) if is_whole else (trail.lent(since, until) for trail in self.trails):
            for path, amount in lent.items():
                key = Key(path, "", "", LENT, "")
                found[key] = found.get(key, 0) + amount
        return found

    def document(self) -> list[Any]:
        """For JSON; instants are counted from the begin."""
        begin = self.begin
        return [
            begin,
            self.end,
            [
                [*key, [[first - begin, last - begin, rate] for first, last, rate in steps]]
                for key, steps in self.steps.items()
                if steps
            ],
            [[*key, [[at - begin, units] for at, units in ends]] for key, ends in self.lost.items() if ends],
            [
                [trail.resource_group, trail.leaves, [[lot.at - begin, lot.amount, lot.room] for lot in trail.lots]]
                for trail in self.trails
                if any(lot.amount for lot in trail.lots)
            ],
            self.lent,
        ]


def span_of(document: Sequence[Any]) -> Span:
    """The reverse of `Span.document`."""
    begin, end, steps, lost, trails, lent = document
    return Span(
        begin,
        end,
        {_key(key): [(first + begin, last + begin, rate) for first, last, rate in each] for *key, each in steps},
        {_key(key): [(at + begin, units) for at, units in each] for *key, each in lost},
        tuple(Trail(group, tuple(leaves), tuple(_lots(begin, lots))) for group, leaves, lots in trails),
        lent,
    )


def _lots(begin: int, lots: Sequence[Any]) -> Iterable[Lot]:
    for at, amount, room in lots:
        yield Lot(at + begin, amount, tuple((place, slots) for place, slots in room))
