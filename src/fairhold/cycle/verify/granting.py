"""Distribution of idle units (SPEC §8.3), on counts per leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.cycle.verify.sheet import TOP
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.verify.quotas import Quotas
    from fairhold.cycle.verify.sheet import Sheet


@dataclass
class Idle:
    """Idle units: `aside[path]` for the subtree of `path` only, `common` for every leaf.

    budget : the common units that consumers of `hybrid` may have in a mixed group (R-MIX-3)
    """

    aside: dict[str, int]
    common: int
    budget: int = 0

    def open_to(self, sheet: Sheet, path: str) -> int:
        """Common units that a consumer may have."""
        return min(self.common, self.budget) if sheet.is_bounded(path) else self.common

    def reach(self, sheet: Sheet, leaf: str) -> int:
        """Idle units that a leaf may be granted."""
        return self.open_to(sheet, leaf) + sum(self.aside[path] for path in sheet.chain(leaf))

    def below_limits(self, sheet: Sheet, leaf: str, held: Mapping[str, int]) -> int:
        """Units that a leaf may get below limits: its own set aside; beyond them, units set aside count as held."""
        room, near = UNLIMITED, 0
        for path in sheet.chain(leaf):
            near += self.aside[path]
            if sheet.limit[path] < UNLIMITED:
                aside = sum(self.aside[each] for each in sheet.inside(path))
                below = sheet.limit[path] - held[path]
                room = min(room, below, near + max(0, below - aside))
        return room

    def take(self, sheet: Sheet, leaf: str, units: int) -> None:
        """Use up idle units: the leaf's own, then its ancestors' from the nearest up, then common ones."""
        for path in sheet.chain(leaf):
            taken = min(units, self.aside[path])
            self.aside[path] -= taken
            units -= taken
        self.common -= units
        self.budget -= units if sheet.is_bounded(leaf) else 0
        if self.common < 0 or self.budget < 0:
            raise AssertionError(f"{leaf} was granted more than is idle")


def set_aside(sheet: Sheet, quotas: Quotas, held: Mapping[str, int], kept: Mapping[str, int]) -> Idle:
    """Set idle units aside for reserves, level by level; those of children before the parent's (R-ASIDE-1, S1.12).

    held : every consumer → units held
    kept : leaf → freed units that are kept for its requests
    """
    wish: dict[str, int] = {}
    for path in reversed(sheet.paths):
        below = sum(wish[child] for child in sheet.children[path])
        wish[path] = max(below, quotas.reserve[path] - held[path], kept.get(path, 0))
    idle = max(0, sheet.slots - held[TOP])
    amount = {TOP: min(idle, wish[TOP])}
    aside: dict[str, int] = {}
    budget = sheet.budget(held) if sheet.is_mixed else 0
    for path in sheet.paths:
        left = amount[path]
        for child in sheet.children[path]:
            amount[child] = min(left, wish[child])
            if path == TOP and sheet.is_bounded(child):
                amount[child] = min(amount[child], budget)
                budget -= amount[child]
            left -= amount[child]
        aside[path] = 0 if path == TOP else left
    return Idle(aside, idle - sum(amount[top] for top in sheet.children[TOP]), budget)


def grant(sheet: Sheet, quotas: Quotas, held: Mapping[str, int], idle: Idle, room: Mapping[str, int]) -> dict[str, int]:
    """Leaf → granted units; reduces `idle` by them (R-GRANT-1, R-GRANT-2; R-SHARE-8).

    Both passes run twice: first each leaf is bounded by what it may take back, then by its quota.

    room : leaf → units that it can use, at most min(quota, demand) - held; `fixed`: min(need, demand) - held
    """
    bound = quotas.quota if sheet.owns_exactly else quotas.entitled
    first = {leaf: min(room[leaf], max(0, bound[leaf] - held[leaf])) for leaf in sheet.leaves}
    granted = _both_passes(sheet, quotas, held, idle, first)
    if sheet.is_fixed or first == room:
        return granted
    now_held = {path: held[path] + units for path, units in sheet.summed(granted).items()}
    rest = {leaf: room[leaf] - granted[leaf] for leaf in sheet.leaves}
    more = _both_passes(sheet, quotas, now_held, idle, rest)
    return {leaf: granted[leaf] + more[leaf] for leaf in sheet.leaves}


def _both_passes(
    sheet: Sheet, quotas: Quotas, held: Mapping[str, int], idle: Idle, room: Mapping[str, int]
) -> dict[str, int]:
    granted = _first_pass(sheet, quotas, held, idle, room)
    for leaf, units in granted.items():
        idle.take(sheet, leaf, units)
    now_held = {path: held[path] + units for path, units in sheet.summed(granted).items()}
    for leaf in sheet.leaves:  # R-GRANT-2: what is still idle, by path, within the limits on the path
        bounds = idle.below_limits(sheet, leaf, now_held), idle.reach(sheet, leaf)
        units = min(room[leaf] - granted[leaf], *bounds)
        if units > 0:
            idle.take(sheet, leaf, units)
            granted[leaf] += units
            for path in sheet.chain(leaf):
                now_held[path] += units
    return granted


def _first_pass(
    sheet: Sheet, quotas: Quotas, held: Mapping[str, int], idle: Idle, room: Mapping[str, int]
) -> dict[str, int]:
    """Pass 1: top-down in rank order, nobody above its quota (R-GRANT-1, S1.49-52).

    alone  : units that a consumer can be granted from those set aside inside it
    beyond : further units from outside that it can use; it is granted no more
    """
    alone: dict[str, int] = {}
    beyond: dict[str, int] = {}
    aside: dict[str, int] = {}
    for path in reversed(sheet.paths):
        below = sheet.children[path]
        top = path == TOP
        can = sheet.slots if top else max(0, quotas.entitled[path] - held[path]) if below else room.get(path, 0)
        inside = sum(alone[child] for child in below)
        outside = sum(beyond[child] for child in below) if below else can
        aside[path] = idle.aside[path] + sum(aside[child] for child in below)
        if below and not top:  # under a limit what is set aside counts as held
            near = idle.aside[path] + inside
            can = min(can, near + max(0, sheet.limit[path] - held[path] - aside[path]))
        alone[path] = min(can, inside + min(idle.aside[path], outside))
        beyond[path] = min(can, inside + outside) - alone[path]
    part = {TOP: alone[TOP] + min(idle.common, beyond[TOP])}
    for path in sheet.paths:
        left = part[path]
        shared = idle.aside[path] + max(0, left - alone[path])
        budget = idle.budget
        for child in sheet.children[path]:
            near = min(shared, budget) if path == TOP and sheet.is_bounded(child) else shared
            part[child] = min(left, alone[child] + min(near, beyond[child]))
            left -= part[child]
            far = max(0, part[child] - alone[child])
            shared -= far
            budget -= far if sheet.is_bounded(child) else 0
    return {leaf: part[leaf] for leaf in sheet.leaves}
