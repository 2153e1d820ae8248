"""Which queues may give to which, and the order that a take must keep, recomputed (R-CONTEST-1 to R-CONTEST-3)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.cycle.verify.pooled.stock import Asked, Unit
    from fairhold.cycle.verify.queued.table import Table

Piece = tuple["Unit", ...]
Order = tuple[bool, Fraction]
"""A ratio: (whether it is infinite, its value else)."""


class Quest(NamedTuple):
    """The search for victims of one request.

    need, short : of the taker, and places of the resources that are short; strategy : `fair share` or `quota`
    before : by resource and path, what everybody held before
    """

    asked: Asked
    need: tuple[int, ...]
    short: list[int]
    strategy: str
    before: list[dict[str, int]]


class Rival(NamedTuple):
    """A side that may give, and the taker's side that it is compared with."""

    theirs: str
    mine: str


def part(held: int, of: int | Fraction) -> Order:
    """A ratio; 0/0 is 0, and a positive amount / 0 is infinite."""
    return (bool(held), Fraction(0)) if not of else (False, Fraction(held) / Fraction(of))


def may_give(table: Table, quest: Quest, rival: Rival) -> bool:
    """Whether a side holds too much of a resource that is short, by the strategy (R-CONTEST-1)."""
    if quest.strategy == "fair share":
        return any(table.held[at][rival.theirs] > table.threshold(rival.theirs, at) for at in quest.short)
    too_much = any(table.held[at][rival.theirs] > table.deserves(rival.theirs, at) for at in quest.short)
    return too_much and stays_within(table, quest, rival.mine)


def stays_within(table: Table, quest: Quest, mine: str) -> bool:
    """Whether the taker's side has no more than it deserves, with what it needs."""
    return all(table.held[at][mine] + quest.need[at] <= table.deserves(mine, at) for at in quest.short)


def keeps_order(table: Table, quest: Quest, rival: Rival, leaves: Iterable[str]) -> bool:
    """R-CONTEST-2, A to C.

    leaves : that gave something
    """
    need, short, before = quest.need, quest.short, quest.before
    mine = frozenset(table.queues[quest.asked.leaf].up)

    def held(path: str, at: int) -> int:
        return table.held[at][path] + (need[at] if path in mine else 0)

    for path in {path for leaf in leaves for path in table.queues[leaf].up[:-1]}:
        for at in short:
            has, had = held(path, at), before[at][path]
            is_guarded = had >= table.deserves(path, at) if path in mine else has < had
            if is_guarded and has < table.deserves(path, at):
                return False
    for at in short:
        of_mine, of_theirs = table.fair[at][rival.mine], table.fair[at][rival.theirs]
        ours, theirs = part(held(rival.mine, at), of_mine), part(held(rival.theirs, at), of_theirs)
        if ours > (False, Fraction(1)) and not (ours[0], ours[1] * table.settings.multiplier) < theirs:
            return False
        was_above = part(before[at][rival.mine], of_mine) > part(before[at][rival.theirs], of_theirs)
        if quest.strategy == "fair share" and not was_above and ours > theirs:
            return False
    return True


def ends_well(table: Table, quest: Quest, rivals: Iterable[Rival], gone: Iterable[Piece]) -> bool:
    """Whether all pieces may go together, by what each queue holds in the end."""
    leaves = {piece[0].asked.leaf for piece in gone}
    for rival in rivals:
        given = {leaf for leaf in leaves if rival.theirs in table.queues[leaf].up}
        is_within = quest.strategy != "quota" or stays_within(table, quest, rival.mine)
        if given and not (is_within and keeps_order(table, quest, rival, given)):
            return False
    return True


class Pair(NamedTuple):
    """Two sides of a take that was told, the taker's first; free: places in which it may be the more saturated one."""

    strategy: str
    mine: str
    theirs: str
    short: tuple[int, ...]
    free: frozenset[int]


def paired(table: Table, quest: Quest, rival: Rival) -> Pair:
    """The conditions on both sides after notice is given."""

    def was(path: str, at: int) -> Order:
        return part(quest.before[at][path], table.fair[at][path])

    is_bound = quest.strategy == "fair share"
    free = (at for at in quest.short if not is_bound or was(rival.mine, at) > was(rival.theirs, at))
    return Pair(quest.strategy, rival.mine, rival.theirs, tuple(quest.short), frozenset(free))


def ends_in_order(table: Table, pair: Pair, at: int) -> bool:
    """Whether two sides keep what they have to of a resource, as they stand."""
    ours = part(table.held[at][pair.mine], table.fair[at][pair.mine])
    theirs = part(table.held[at][pair.theirs], table.fair[at][pair.theirs])
    if pair.strategy == "quota" and table.held[at][pair.mine] > table.deserves(pair.mine, at):
        return False
    if ours > (False, Fraction(1)) and not (ours[0], ours[1] * table.settings.multiplier) < theirs:
        return False
    return at in pair.free or ours <= theirs


def outlasts(spared: int) -> int:
    """Microseconds after which a unit has run longer than it is spared for; who is not spared needs none."""
    return spared and spared + 1


def gives(table: Table, path: str, piece: Piece, short: list[int]) -> tuple[object, ...]:
    """Sort key of victims: the most saturated queue, the lowest priority, the youngest (R-CONTEST-3)."""
    is_beyond, most = max(part(table.held[at][path], table.fair[at][path]) for at in short)
    model, first = piece[0].asked.model, piece[0]
    return not is_beyond, -most, model.priority, -model.submitted, -first.asked.place, -first.started, -first.at


def left_broken(asked: Asked, gone: Iterable[Piece]) -> Piece:
    """The rest of a gang after pieces go, where it is below its minimum."""
    taken = {unit for piece in gone for unit in piece if unit.asked is asked}
    left = tuple(unit for unit in asked.units if unit.notice is None and unit not in taken)
    return left if taken and len(left) < asked.model.min_count else ()
