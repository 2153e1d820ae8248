"""Who may take from whom, and the order that is kept (R-CONTEST-1, R-CONTEST-2)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fairhold.reference.vectors import times

if TYPE_CHECKING:
    from collections.abc import Collection

    from fairhold.model.vector import Vector
    from fairhold.reference.queues.cluster import Ask
    from fairhold.reference.queues.table import Table

FAIR, QUOTA = "fair share", "quota"


@dataclass
class Quest:
    """What a request takes for, in which resources sides are compared, and by which test.

    before : path → what everybody held before the take
    """

    ask: Ask
    need: Vector
    short: list[int]
    test: str
    before: dict[str, Vector] = field(default_factory=dict)

    def ended(self) -> Quest:
        """The same where what it takes for counts as there."""
        return replace(self, need=times(self.need, 0))


Pair = tuple[str, str]
"""The two queues right below the lowest one above both: the taker's side, the other side."""


def pairs(table: Table, ask: Ask) -> list[Pair]:
    """All sides that a request is compared with, from below."""
    return [
        (mine, other) for mine in table.up(ask.leaf) for other in table.children[table.parent[mine]] if other != mine
    ]


def pair_of(table: Table, taker: str, victim: str) -> Pair:
    """The sides of two leaves."""
    mine, theirs = table.up(taker)[::-1], table.up(victim)[::-1]
    return next((one, two) for one, two in zip(mine, theirs, strict=False) if one != two)


def is_within_share(table: Table, ask: Ask, need: Vector) -> bool:
    """Whether its leaf stays within its fair share of all that is asked for."""
    holds = table.holds[ask.leaf]
    return all(holds[at] + need[at] <= table.fair[ask.leaf][at] for at in ask.asked)


def may_give(table: Table, quest: Quest, pair: Pair) -> bool:
    """R-CONTEST-1: by fair shares or by quotas."""
    mine, theirs = pair
    holds, others = table.holds[mine], table.holds[theirs]
    if quest.test == FAIR:
        return any(others[at] > table.threshold(theirs, at) for at in quest.short)
    is_within = all(holds[at] + quest.need[at] <= table.deserved(mine, at) for at in quest.short)
    return is_within and any(others[at] > table.deserved(theirs, at) for at in quest.short)


def keeps_order(table: Table, quest: Quest, pair: Pair, losers: Collection[str]) -> bool:
    """R-CONTEST-2, after some units have left. losers : the leaves that they are of."""
    return not any(_is_below_deserved(table, quest, leaf) for leaf in losers) and _is_saturation_kept(
        table, quest, pair
    )


def _is_below_deserved(table: Table, quest: Quest, leaf: str) -> bool:
    """(A) for a queue that loses some, and those above it."""
    takers = table.up(quest.ask.leaf)
    for path in table.up(leaf):
        for at in quest.short:
            ends = table.holds[path][at] + (quest.need[at] if path in takers else 0)
            if ends >= table.deserved(path, at):
                continue
            if path not in takers or quest.before[path][at] >= table.deserved(path, at):
                return True
    return False


def _is_saturation_kept(table: Table, quest: Quest, pair: Pair) -> bool:
    """(B) and (C)."""
    mine, theirs = pair
    for at in quest.short:
        after = table.saturation(mine, at, table.holds[mine][at] + quest.need[at])
        other = table.saturation(theirs, at)
        if after > 1 and after * table.settings.multiplier >= other:
            return False
        was_above = table.saturation(mine, at, quest.before[mine][at]) > table.saturation(
            theirs, at, quest.before[theirs][at]
        )
        if quest.test == FAIR and after > other and not was_above:
            return False
    return True
