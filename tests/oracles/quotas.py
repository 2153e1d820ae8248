"""The quotas of a whole tree from plan and demand, by the words of SPEC §2 and §3, with fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from fairhold.model.plan import ConsumerSettings
from tests.oracles.filling import Number, fill, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.model.plan import Plan

_DEFAULTS = ConsumerSettings()


class Entitled(NamedTuple):
    """What one consumer needs and is entitled to; `exact` where no level is rounded."""

    reserve: int
    sure: int
    need: int
    quota: int
    exact: Fraction


@dataclass
class Tree:
    """One group of a plan: children in order of (rank, plan order), settings, the scale."""

    plan: Plan
    group: str
    slots: int
    demand: Mapping[int, int]

    def __post_init__(self) -> None:
        entry = next(entry for entry in self.plan.policies if self.group in entry.resource_groups)
        tree = self.plan.tree
        self.settings = [entry.consumers.get(row, _DEFAULTS) for row in range(len(tree))]
        self.evenly = entry.settings.distribute_evenly

        def rank(row: int) -> int:
            for stated in (self.settings[row].rank, tree.rank[row], self.plan.default_rank):
                if stated is not None:
                    return stated
            return 0

        self.children = [sorted(children, key=rank) for children in tree.children]
        first_level = sum(self.settings[row].owned for row in self.children[0])
        configured = self.plan.resource_groups[self.group].configured_slots
        configured = first_level if configured is None else configured
        self.scale = Fraction(self.slots, configured) if configured else Fraction(0)
        self.owned_now = [stated.owned * self.scale for stated in self.settings]


def entitlements(plan: Plan, group: str, slots: int, demand: Mapping[int, int]) -> list[Entitled]:
    """Reserve now, sure slots, need, quota and exact share of every row of the plan's tree, the root's included."""
    tree = Tree(plan, group, slots, demand)
    rows = range(len(plan.tree))
    reserve, sure, need, quota = ([0 for _ in rows] for _ in range(4))
    exact = [Fraction(0) for _ in rows]
    for row in reversed(rows[1:]):
        stated, below = tree.settings[row], tree.children[row]
        reserve[row] = max(min(stated.reserved, int(tree.owned_now[row])), sum(reserve[child] for child in below))
        wanted = sum(need[child] for child in below) if below else demand.get(row, 0)
        need[row] = min(stated.limit, max(wanted, reserve[row]))
        sure[row] = max(reserve[row], min(need[row], stated.owned, int(tree.owned_now[row])))
        if below:
            sure[row] = min(stated.limit, max(sure[row], sum(sure[child] for child in below)))
    quota[0], exact[0] = slots, Fraction(slots)
    for row in rows:
        below = tree.children[row]
        if below:
            share = divide(tree, below, Fraction(quota[row]), sure, need)
            units = whole(share, quota[row])
            exactly = divide(tree, below, exact[row], sure, need)
            for at, child in enumerate(below):
                quota[child], exact[child] = units[at], exactly[at]
    return [Entitled(*numbers) for numbers in zip(reserve, sure, need, quota, exact, strict=True)]


def divide(tree: Tree, rows: list[int], amount: Fraction, sure: list[int], need: list[int]) -> list[Fraction]:
    """Fill an amount over siblings, exactly."""
    owned = [tree.settings[row].owned for row in rows]
    floors, caps = [sure[row] for row in rows], [need[row] for row in rows]
    if tree.evenly:
        own = [max(Fraction(tree.settings[row].owned), tree.owned_now[row]) for row in rows]
        tops: list[Number] = [
            max(Fraction(floors[at]), min(Fraction(caps[at]), own[at])) if mine else floors[at]
            for at, mine in enumerate(owned)
        ]
        first = fill(amount, owned, floors, tops)
        rest = fill(
            amount - sum(first),
            [1] * len(rows),
            [0] * len(rows),
            [cap - got for cap, got in zip(caps, first, strict=True)],
        )
        return [one + two for one, two in zip(first, rest, strict=True)]
    first = fill(amount, owned, floors, caps)
    left = max(Fraction(0), amount - sum(first))
    poor = [at for at, mine in enumerate(owned) if not mine]
    rest = fill(left, [1] * len(poor), [0] * len(poor), [caps[at] - first[at] for at in poor])
    for at, more in zip(poor, rest, strict=True):
        first[at] += more
    return first
