"""Which pictures a plan has: one for everything that is in force at some time (SPEC §9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.cycle.pooled.active_entries import entries_at, entries_in_force
from fairhold.ledger.rows import in_force
from fairhold.model.window import DAY, MINUTE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.pooled.active_entries import InForce
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

_FIRST_MONDAY, _WEEK = 4, 7
"""Days since 1970-01-01, and days."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What is shared in one way, and an instant at which it is.

    groups  : resource groups
    force   : positions of the entries in force
    pooled  : the entry that shares vectors, with what follows for whose budget is used up; None = slots
    """

    groups: tuple[str, ...]
    force: tuple[int, ...]
    instant: int
    pooled: InForce | None = None

    def policies(self, plan: Plan) -> str:
        """Names of its policies."""
        return " and ".join(dict.fromkeys(plan.policies[at].policy.name for at in self.force))

    def when(self, plan: Plan) -> str:
        """When it is in force; empty = always."""
        windows = plan.calendar.windows.tracks if plan.calendar is not None else {}
        tracks = [track for group in self.groups for track in windows.get(group, ())]
        rests = {track.rest for track in tracks if track.windows}
        stated = [plan.policies[at].window or ("at all other times" if at in rests else "") for at in self.force]
        return "; ".join(dict.fromkeys(filter(None, stated)))


def scenes(plan: Plan, state: State | None) -> list[Scene]:
    """All pictures, by resource group and policy entry; with a state those of what is in force at its instant."""
    instants = sorted(set(_instants(plan))) if state is None else [state.now]
    found: dict[object, Scene] = {}
    for group in plan.resource_groups:
        mine = [scene for instant in instants for scene in _at(plan, group, instant, state)]
        for scene in sorted(mine, key=lambda scene: scene.force):
            members = scene.pooled.members if scene.pooled else None
            found.setdefault((scene.groups, scene.force, members), scene)
    return list(found.values())


def _at(plan: Plan, group: str, instant: int, state: State | None) -> Iterator[Scene]:
    """What a group begins with: its slots, or the pools of which it is the first group."""
    if not plan.resource_groups[group].shares_vectors:
        force = in_force(plan, group, instant)
        if force:
            yield Scene((group,), force, instant)
        return
    for each in entries_at(plan, state) if state else entries_in_force(plan, instant):
        if each.entry.resource_groups[0] == group:
            yield Scene(each.entry.resource_groups, (each.at,), instant, each)


def _instants(plan: Plan) -> Iterator[int]:
    """Instants at which everything that the windows of a plan bring is in force once, whatever day it is now."""
    calendar = plan.calendar
    if calendar is None:
        yield 0
        return
    windows = calendar.windows
    monday = _FIRST_MONDAY
    while any(monday - 1 <= day <= monday + _WEEK for day in windows.special):
        monday += _WEEK
    days = [(monday, _WEEK), *((min(each.dates) - 1, 3) for each in windows.special_days if each.dates)]
    for day, length in days:
        begin, end = (windows.zone.instant(at * DAY * MINUTE) for at in (day, day + length))
        yield begin
        yield from (switch.instant for switch in calendar.switches(begin, end))
