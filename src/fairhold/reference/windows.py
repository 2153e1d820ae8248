"""The policy entries in force, found directly from their windows (R-WINDOW-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.window import DAY, MINUTE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.window import Windows, Zone

_EPOCH_WEEKDAY = 3


def entries_now(plan: Plan, group: str, instant: int) -> dict[int, PolicyEntry]:
    """First-level consumer → its entry in force: the one whose window is open, or opens next within its lead time."""
    return dict(zip(plan.tree.children[0], _in_force(plan, group, instant)[1], strict=True))


def earliest_deadline(plan: Plan, group: str, instant: int) -> int:
    """The instant at which the windows in force open, where they are in force before it; else the given instant."""
    return _in_force(plan, group, instant)[0]


def _in_force(plan: Plan, group: str, instant: int) -> tuple[int, list[PolicyEntry]]:
    entries = [at for at, entry in enumerate(plan.policies) if group in entry.resource_groups]
    now = _open(plan, group, entries, instant)
    if plan.calendar is None:
        return instant, [plan.policies[at] for at in now]
    windows = plan.calendar.windows
    # Windows open on full minutes: look at each of them as far as somebody leads.
    minute = instant - instant % MINUTE
    for ahead in range(minute + MINUTE, instant + max(map(_lead(windows), entries)) + 1, MINUTE):
        then = _open(plan, group, entries, ahead)
        if then != now:
            opens = [at for at, open_before in zip(then, now, strict=True) if at != open_before]
            if ahead - max(map(_lead(windows), opens)) <= instant:
                return ahead, [plan.policies[at] for at in then]
            break
    return instant, [plan.policies[at] for at in now]


def _lead(windows: Windows) -> Callable[[int], int]:
    return lambda entry: windows.lead.get(entry, 0)


def _open(plan: Plan, group: str, entries: Sequence[int], instant: int) -> list[int]:
    """First-level consumer → the entry whose window is open, else the entry without a window.

    In a mixed group a consumer is only under the entries that list it (R-MIX-1).
    """
    top, first = plan.tree.first_level, plan.tree.children[0]
    lists = {at: {top[row] for row in plan.policies[at].consumers} for at in entries}
    is_divided = len(entries) > 1 and (plan.calendar is None or len(plan.calendar.windows.tracks[group]) > 1)
    mine = {row: [at for at in entries if row in lists[at]] if is_divided else list(entries) for row in first}
    if plan.calendar is None:
        return [mine[row][0] for row in first]
    found = set(_whose_window_is_open(plan, entries, instant))
    always = {at for at in entries if not plan.policies[at].spans}
    return [next(at for chosen in (found, always) for at in mine[row] if at in chosen) for row in first]


def open_entries(plan: Plan, group: str, instant: int) -> list[int]:
    """Positions of the entries in force of a group that is not mixed: with an open window, else without a window."""
    entries = [at for at, entry in enumerate(plan.policies) if group in entry.resource_groups]
    opened = _whose_window_is_open(plan, entries, instant)
    return opened or [at for at in entries if not plan.policies[at].spans]


def _whose_window_is_open(plan: Plan, entries: Sequence[int], instant: int) -> list[int]:
    if plan.calendar is None:
        return []
    windows = plan.calendar.windows
    day, rest = divmod(_shown(windows.zone, instant), DAY * MINUTE)
    places = {(_kind(windows, day), rest // MINUTE), (_kind(windows, day - 1), rest // MINUTE + DAY)}
    return [
        at
        for at in entries
        if any(s.day == kind and s.start <= minute < s.end for s in plan.policies[at].spans for kind, minute in places)
    ]


def _kind(windows: Windows, day: int) -> int:
    return windows.special.get(day, (day + _EPOCH_WEEKDAY) % 7)


def _shown(zone: Zone, instant: int) -> int:
    """The latest local time shown up to an instant; of an hour that occurs twice the first counts."""
    later = 0
    if zone.repeat is not None:
        begin, period = zone.repeat
        while instant >= begin:
            instant, later = instant - period, later + period
    offset = zone.offset[0]
    shown = instant + offset
    for since, new in zip(zone.since, zone.offset, strict=True):
        if since > instant:
            break
        shown = max(since - 1 + offset, instant + new)
        offset = new
    return shown + later
