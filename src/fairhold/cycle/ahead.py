"""The coming windows of a plan: its switches, what each changes for whom and, of a state, what each would reclaim."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from fairhold.cycle.diff import diff
from fairhold.cycle.document import run_cycle
from fairhold.ledger.rows import in_force, in_other_window, lay_out
from fairhold.model.plan import ConsumerSettings
from fairhold.model.window import DAY, MINUTE, WEEKDAYS
from fairhold.units import SECOND, UNLIMITED, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairhold.cycle.document import Cycle
    from fairhold.ledger.rows import Rows
    from fairhold.model.calendar import Switch
    from fairhold.model.plan import Plan
    from fairhold.model.state import State
    from fairhold.model.window import Windows

Document = dict[str, Any]
MOST_CYCLES = 10_000
"""Cycles between two switches at most; under constant demand they end long before."""
_DEFAULT = ConsumerSettings()
_SETTINGS = tuple(field.name for field in fields(ConsumerSettings))


def switches(plan: Plan, begin: int, end: int) -> list[Switch]:
    """The switches after one instant and before another, in the order of time."""
    return [] if plan.calendar is None else plan.calendar.switches(begin + 1, end)


def look_ahead(plan: Plan, state: State, instants: Iterable[int]) -> list[Cycle]:
    """The cycles at instants after a state's own, rising, if nobody wants more or less and nothing ends by itself.

    Between them cycles run whenever a grace runs out, so that each finds what the ones before have left.
    """
    found = []
    for instant in instants:
        cycle = run_cycle(plan, replace(_carried_on(plan, state, instant), now=instant))
        found.append(cycle)
        state = cycle.after
    return found


def _carried_on(plan: Plan, state: State, until: int) -> State:
    for _ in range(MOST_CYCLES):
        state = run_cycle(plan, state).after
        # Without a grace the units are there at the next instant: a cycle settles what was told before it.
        due = min((max(each.deadline, state.now + 1) for each in state.notices), default=until)
        if due >= until:
            break
        state = replace(state, now=due)
    return state


def calendar_document(plan: Plan, begin: int, end: int, state: State | None = None) -> Document:
    """The entries in force at an instant and every switch after it and before another, for `windows --json`.

    state : of `begin`; with it every switch has the reclaims of its first cycle
    """
    found = switches(plan, begin, end)
    instants = list(dict.fromkeys(switch.instant for switch in found))
    cycles = dict(zip(instants, look_ahead(plan, state, instants), strict=True)) if state is not None else {}
    rows = {
        group: lay_out(plan, group, force) for group in plan.resource_groups if (force := in_force(plan, group, begin))
    }
    document: Document = {
        "time_zone": plan.time_zone,
        "from": format_instant(begin),
        "to": format_instant(end),
        "in_force": {group: _entries(plan, each.force) for group, each in rows.items()},
        "switches": [],
    }
    for switch in found:
        group = switch.resource_group
        assert plan.calendar is not None
        row: Document = {"at": format_instant(switch.instant)} | local_time(plan.calendar.windows, switch.instant)
        if switch.opens != switch.instant:
            row["opens"] = format_instant(switch.opens)
        row |= {"resource_group": group, "from": _entries(plan, switch.before), "to": _entries(plan, switch.after)}
        row["consumers"] = changes(
            in_other_window(rows[group], switch.before), in_other_window(rows[group], switch.after)
        )
        if state is not None:
            reclaims = cycles[switch.instant].document["reclaims"]
            row["reclaims"] = [each for each in reclaims if each["resource_group"] == group]
        document["switches"].append(row)
    return document


def local_time(windows: Windows, instant: int) -> Document:
    """What the clocks of the plan's time zone show: `{"local": "2026-01-05T18:00:00+01:00", "day": "Mon"}`.

    A special day has its name in place of the weekday's.
    """
    ahead = windows.zone.ahead(instant)
    wall = instant + ahead
    day = wall // (DAY * MINUTE)
    name = next((each.name for each in windows.special_days if day in each.dates), WEEKDAYS[(day + 3) % 7])
    minutes = abs(ahead) // MINUTE
    offset = f"{'-' if ahead < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}"
    seconds = abs(ahead) // SECOND % 60
    return {"local": format_instant(wall).rstrip("Z") + offset + (f":{seconds:02d}" if seconds else ""), "day": name}


def _entries(plan: Plan, force: Sequence[int]) -> list[Document]:
    return [
        {"entry": at, "policy": plan.policies[at].policy, "window": plan.policies[at].window or None}
        for at in dict.fromkeys(force)
    ]


def changes(before: Rows, after: Rows) -> Document:
    """Path → setting → [before, after] of all consumers for which a switch changes what entries state."""
    found: Document = {}
    for node, path in enumerate(before.paths):
        old, new = _stated(before, node), _stated(after, node)
        if old != new:
            found[path] = {key: [old[key], new[key]] for key in old if old[key] != new[key]}
    return found


def _stated(rows: Rows, node: int) -> Document:
    entry = rows.entries[rows.chosen[rows.row[node]]]
    stated = entry.consumers.get(node, _DEFAULT)
    values = {"policy": entry.policy} if node else {}
    return values | {name: _plain(getattr(stated, name), rows.paths) for name in _SETTINGS}


def _plain(value: object, paths: tuple[str, ...]) -> object:
    if isinstance(value, tuple):  # a lend or borrow list
        return [{"consumer": paths[peer.consumer], "limit": _plain(peer.limit, paths)} for peer in value]
    return None if value == UNLIMITED else value


def diff_windows(old: tuple[Plan, State], new: tuple[Plan, State], until: int) -> list[Document] | None:
    """What is different at every coming switch of two plans, with the states that a cycle under each has left.

    Each item is what `diff` says, and the time as `local_time` tells it. None where no plan has windows.
    """
    if old[0].calendar is None and new[0].calendar is None:
        return None
    found = {switch.instant: plan for plan, state in (new, old) for switch in switches(plan, state.now, until)}
    instants = sorted(found)
    cycles = zip(instants, look_ahead(*old, instants), look_ahead(*new, instants), strict=True)
    return [diff(before, after) | _shown(found[instant], instant) for instant, before, after in cycles]


def _shown(plan: Plan, instant: int) -> Document:
    assert plan.calendar is not None
    return local_time(plan.calendar.windows, instant)
