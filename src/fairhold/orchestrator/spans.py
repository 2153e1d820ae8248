"""Usage in a span of time, kept so that the usage in any part of it is exact (docs/reference/usage.md)."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.model.vector import Told

OWN, BORROWED, LENT, LOST = "own", "borrowed", "lent", "lost"
HELD = (OWN, BORROWED)
"""The kinds that tell apart what is held; together they are all of it."""
UP, DOWN, RESERVED = "up", "down", "reserved"
"""What there is of the cluster, accounts of `/`: on hosts that are up, and not; of the first, idle and never lent."""
CAPACITY = (UP, DOWN, RESERVED)
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


class Span(NamedTuple):
    """All that was used from `begin` to before `end`.

    steps : of own, borrowed and lent units
    lost  : (instant, unit-microseconds) of the attempts whose work was thrown away
    """

    begin: int
    end: int
    steps: Mapping[Key, Sequence[Step]]
    lost: Mapping[Key, Sequence[tuple[int, int]]]

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
        return found

    def document(self) -> list[Any]:
        """For JSON, by account; instants are counted from the begin."""
        begin = self.begin
        return [
            begin,
            self.end,
            [
                [*key, [[first - begin, last - begin, rate] for first, last, rate in steps]]
                for key, steps in sorted(self.steps.items())
                if steps
            ],
            [[*key, [[at - begin, units] for at, units in ends]] for key, ends in sorted(self.lost.items()) if ends],
        ]


def span_of(document: Sequence[Any]) -> Span:
    """The reverse of `Span.document`. Earlier spans, the first ones of format 6 too, record otherwise what was lent."""
    begin, end, steps, lost, *before = document
    found = {_key(key): [(first + begin, last + begin, rate) for first, last, rate in each] for *key, each in steps}
    for _, leaves, lots in before[0] if before else ():
        for path, more in zip(leaves, _lent(begin, end, lots, len(leaves)), strict=True):
            if more:
                found.setdefault(Key(path, "", "", LENT, ""), []).extend(more)
    return Span(begin, end, found, {_key(key): [(at + begin, units) for at, units in each] for *key, each in lost})


def _lent(begin: int, end: int, lots: Sequence[Any], leaves: int) -> list[list[Step]]:
    """What every leaf lent, of the earlier record.

    lots : (instant, slots that are lent together, (place, slots) of leaves that have another room from then on)
    """
    room, steps = [0] * leaves, [list[Step]() for _ in range(leaves)]
    for (at, amount, changed), (later, *_) in pairwise((*lots, (end - begin,))):
        for place, slots in changed:
            room[place] = slots
        for mine, part in zip(steps, apportion(amount, room), strict=True):
            if part and later > at:
                mine.append((at + begin, later + begin, part))
    return steps
