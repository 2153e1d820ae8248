"""The state after a cycle of slots, part by part, as `document` reads it: that of before, with what the cycle tells."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from fairhold.reference.expected import groups_of_slots

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.model.plan import Plan
    from fairhold.model.state import Request, State
    from fairhold.reference.rows import Told
    from fairhold.reference.situation import Unit
    from fairhold.reference.slots.cycle import SlotCycle

Parts = dict[str, dict[Any, Any]]


def usual_slots(plan: Plan, found: Mapping[str, SlotCycle]) -> dict[str, int]:
    """Resource group → slots that it has where a state does not say it."""
    groups = {name: plan.resource_groups[name] for name in groups_of_slots(plan)}
    return {name: found[name].before.slots if group.hosts else group.slots for name, group in groups.items()}


def state_after(plan: Plan, state: State, found: Mapping[str, SlotCycle], told: Told) -> Parts:
    """Every part of the state. told : the rows of the result, which are known to be right."""
    paths = plan.tree.paths
    parts: Parts = {
        "fairhold_state": {"": 1},
        "now": {"": state.now},
        "previous_cycle": {"": state.now},
        "resource_groups": usual_slots(plan, found) | dict(state.slots),
        "hosts_down": Counter(state.hosts_down - state.hosts_never_seen),
        "hosts_never_seen": Counter(state.hosts_never_seen),
        "hosts_closed": Counter(state.hosts_closed),
        "demand": {(paths[row], name): units for (row, name), units in state.demand.items() if units},
        "spent": {(paths[row], name): units for (row, name), units in state.spent.items() if units},
        "requests": {each.id: _request(plan, each) for each in state.requests},
    }
    for key in ("allocated", "allocations", "reclaims", "held", "shortages", "borrowed"):
        parts[key] = {}
    for mine in found.values():
        _add_group(parts, mine, told)
    return parts


def _request(plan: Plan, each: Request) -> tuple[object, ...]:
    since = each.submitted if each.since is None else each.since
    return (
        *(plan.tree.paths[each.consumer], each.resource_group, each.count, each.min_count, each.priority),
        *(each.submitted, each.user, each.time_limit, since),
        *(each.siting.need, each.siting.prefer, each.siting.avoid, each.siting.place),
    )


def _add_group(parts: Parts, mine: SlotCycle, told: Told) -> None:
    before, name = mine.before, mine.before.group
    held: Counter[tuple[str, str, int]] = Counter((each.wish, each.host, each.started) for each in before.units)
    for (wish, host), units in told.of("grants", name).items():
        held[wish, host, before.now] += units
    if before.has_requests:
        parts["allocations"] |= dict(held)
    else:
        for (leaf, _, _), units in held.items():
            parts["allocated"][leaf, name] = parts["allocated"].get((leaf, name), 0) + units
    parts["reclaims"] |= _notices(mine, told)
    parts["held"] |= {(wish, host): units for (host, wish), units in mine.held.items()}
    parts["shortages"] |= {(leaf, name): row for leaf, row in mine.shortages.items()}
    parts["borrowed"] |= {(*pair, name): units for pair, units in mine.loans.items() if units}


def _notices(mine: SlotCycle, told: Told) -> dict[Any, int]:
    """Those of before that are not withdrawn, the latest deadline first and then the last listed, and the new ones."""
    before, name = mine.before, mine.before.group
    paths = before.consumers.plan.tree.paths
    stays = [(at, unit) for at, unit in enumerate(before.units) if unit.notice is not None]
    gone = told.of("withdrawn", name)
    listed = list(before.state.notices)

    def lateness(pair: tuple[int, Unit]) -> tuple[int, int]:
        notice = pair[1].notice
        return (notice.deadline, listed.index(notice)) if notice else (0, 0)

    for pair in sorted(stays, key=lateness, reverse=True):
        unit = pair[1]
        if gone[unit.wish, unit.host] > 0:
            gone[unit.wish, unit.host] -= 1
            stays.remove(pair)
    found: Counter[Any] = Counter()
    by_switch = Counter(mine.by_switch)
    for _, unit in stays:
        notice = unit.notice
        if notice is not None:
            taker = paths[notice.taker] if notice.taker >= 0 else None
            where = unit.leaf, name, "" if before.wishes[unit.wish].is_count else unit.wish, unit.host
            reason = "window" if by_switch[unit.leaf] > 0 else notice.reason  # R-SWITCH-1
            by_switch[unit.leaf] -= 1
            found[(*where, notice.deadline, reason, taker)] += 1
    for row in told.notices:
        if row["resource_group"] == name and row["is_told"]:
            where = row["consumer"], name, row.get("request", ""), row.get("host", "")
            found[(*where, row["deadline"], row["reason"], row["for"])] += row["units"]
    return dict(found)
