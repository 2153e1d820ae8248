"""Whether a result of `fairhold cycle --json` obeys the rules of slots: what it breaks, rule by rule.

Where the rules leave a choice, every choice is accepted: on which of the hosts that come next the requests of one leaf
stand, which host's notices go where hosts are given whole, and the words of a reason where several hold.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from fairhold.model.siting import ANYWHERE
from fairhold.reference.situation import read_situation
from fairhold.reference.slots.cycle import cycle_of_slots
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from fairhold.model.plan import Plan
    from fairhold.model.state import State
    from fairhold.reference.situation import Situation
    from fairhold.reference.slots.cycle import Row, SlotCycle

Violation = tuple[str, str]
"""The id of a rule, and what breaks it, in a sentence."""
_NUMBERS = {"need": "R-NEED-1", "reserve": "R-SCALE-2", "quota": "R-QUOTA-1", "planned": "R-SHARE-3"}


def cycle(plan: Plan, state: State) -> dict[str, SlotCycle]:
    """Resource group → what a cycle decides, for all that share slots."""
    shared = {name for entry in plan.policies if not entry.policy.shares_vectors for name in entry.resource_groups}
    return {name: cycle_of_slots(read_situation(plan, state, name)) for name in plan.resource_groups if name in shared}


def not_judged(plan: Plan, state: State, group: str) -> str:
    """The rule that is not looked at and that a group needs; empty where all of it is judged."""
    entries = [entry for entry in plan.policies if group in entry.resource_groups]
    mine = [request for request in state.requests if request.resource_group == group]
    if any(row.request in {request.id for request in mine} for row in state.held):
        return "R-HOLD-1"
    if any(entry.settings.hold_after is not None for entry in entries) and any(each.min_count for each in mine):
        return "R-HOLD-1"
    if any(request.siting != ANYWHERE for request in mine):
        return "R-SITE-4"
    is_fixed = any(entry.policy.divides_by_ratio and entry.settings.entitlement == "fixed" for entry in entries)
    return "R-SHARE-7" if is_fixed and any(each.min_count for each in mine) else ""


def violations(plan: Plan, state: State, result: Mapping[str, Any]) -> list[Violation]:
    """All that a result breaks, group by group; a group that is not judged is left out (`not_judged`)."""
    found: list[Violation] = []
    for group, mine in cycle(plan, state).items():
        if not not_judged(plan, state, group):
            found += [(rule, f"{group}: {sentence}") for rule, sentence in _of_group(mine, group, result)]
    return found


def _of_group(mine: SlotCycle, group: str, result: Mapping[str, Any]) -> Iterator[Violation]:
    told = result["resource_groups"][group]
    yield from _numbers(mine, told)
    rows = {key: [row for row in result.get(key, []) if row["resource_group"] == group] for key in _ROWS}
    for key, (rule, of) in _ROWS.items():
        yield from _differences(rule, key, _counted(mine, key, rows[key]), _shown(mine, key, of(mine)))
    yield from _hosts_of_grants(mine, rows["grants"])
    yield from _notices(mine, [*rows["reclaims"], *rows["observed"]])
    yield from _state_after(mine, group, result["state"], rows)


_ROWS: dict[str, tuple[str, Callable[[SlotCycle], Counter[Row]]]] = {
    "stops": ("R-SETTLE-1", lambda mine: mine.stops),
    "grants": ("R-GRANT-3", lambda mine: mine.grants),
    "reclaims": ("R-RECLAIM-4", lambda mine: mine.new),
    "observed": ("R-CONTROL-4", lambda mine: mine.observed),
    "withdrawn": ("R-NOTICE-1", lambda mine: mine.withdrawn),
}


def _numbers(mine: SlotCycle, told: Mapping[str, Any]) -> Iterator[Violation]:
    """What everybody is entitled to, and what is reported."""
    entitled, before = mine.entitled, mine.before
    for path, row in told["consumers"].items():
        expected: dict[str, Any] = {
            "need": entitled.need[path],
            "reserve": entitled.reserve[path],
            "quota": entitled.quota[path],
        }
        if entitled.planned and path != "/":
            expected["planned"] = str(entitled.planned[path])
        for key, value in expected.items():
            if str(row[key]) != str(value):
                yield _NUMBERS[key], f"{path} has {key} {row[key]}, by the rules {value}"
        if row["allocated"] != before.held[path]:
            yield "R-SETTLE-1", f"{path} holds {before.held[path]}, not {row['allocated']}"
        if row["free"] != mine.free[path]:
            yield "R-FREE-1", f"{path} has {row['free']} free, by the rules {mine.free[path]}"
    if told["slots"] != before.slots:
        yield "R-UP-1", f"{told['slots']} slots are divided, by the rules {before.slots}"
    if told["idle"] != mine.idle:
        yield "R-GRANT-2", f"{told['idle']} slots are idle, by the rules {mine.idle}"
    if told.get("blocked", entitled.blocked) != entitled.blocked:
        yield "R-HOSTS-2", f"{told['blocked']} slots are blocked, by the rules {entitled.blocked}"


def _counted(mine: SlotCycle, key: str, rows: list[Mapping[str, Any]]) -> Counter[Row]:
    found: Counter[Row] = Counter()
    for row in rows:
        found[row.get("request", row["consumer"]), row.get("host", "")] += row["units"]
    return _shown(mine, key, found)


def _shown(mine: SlotCycle, key: str, rows: Counter[Row]) -> Counter[Row]:
    """Rows without what is open: hosts of grants, and of whole hosts whose units of a leaf."""
    is_exclusive = mine.before.consumers["/"].entry.settings.packing == "exclusive"
    found: Counter[Row] = Counter()
    for (name, host), units in rows.items():
        leaf = mine.before.wishes[name].leaf if name in mine.before.wishes else name
        is_open = is_exclusive and key not in {"stops", "grants"}
        found[leaf if is_open else name, "" if is_open or key == "grants" else host] += units
    return +found


def _differences(rule: str, key: str, told: Counter[Row], mine: Counter[Row]) -> Iterator[Violation]:
    for name, host in sorted(set(told) | set(mine)):
        if told[name, host] != mine[name, host]:
            where = f" on {host}" if host else ""
            yield rule, f"{key}: {name}{where} has {told[name, host]}, by the rules {mine[name, host]}"


def _hosts_of_grants(mine: SlotCycle, rows: list[Mapping[str, Any]]) -> Iterator[Violation]:
    """Units of a leaf stand on the hosts that the packing gives, whichever of its requests stands where."""
    before = mine.before
    told: Counter[Row] = Counter()
    expected: Counter[Row] = Counter()
    for row in rows:
        told[row["consumer"], row.get("host", "")] += row["units"]
    for (name, host), units in mine.grants.items():
        expected[before.wishes[name].leaf, host] += units
    packing = before.consumers["/"].entry.settings.packing
    rule = {"balanced": "R-PLACE-2", "exclusive": "R-HOSTS-1"}.get(packing, "R-PLACE-1")
    yield from _differences(rule, "grants", told, expected)


def _notices(mine: SlotCycle, rows: list[Mapping[str, Any]]) -> Iterator[Violation]:
    """Deadlines, for whom units go, and reasons."""
    takers: Counter[Row] = Counter()
    for row in rows:
        takers[row["consumer"], row["for"] or ""] += row["units"]
        deadline = format_instant(mine.deadlines.get(row["consumer"], 0))
        if row["deadline"] != deadline:
            yield "R-GRACE-1", f"{row['consumer']} has until {row['deadline']}, by the rules {deadline}"
        if row["reason"] not in _reasons(mine, row["consumer"]):
            yield "R-RECLAIM-1", f"{row['consumer']} has no reason {row['reason']}"
    yield from _differences("R-FOR-1", "for", takers, mine.takers)


def _reasons(mine: SlotCycle, leaf: str) -> set[str]:
    """Reasons that a notice of a leaf may have."""
    after = mine.after
    found = {"quota"}
    if any(after.held[path] > after.consumers[path].limit for path in after.consumers.above(leaf)) or mine.fills_limit:
        found.add("limit")
    if after.held["/"] > after.slots:
        found.add("lost")
    if mine.by_switch.get(leaf, 0):
        found.add("window")
    return found


def _state_after(
    mine: SlotCycle, group: str, state: Mapping[str, Any], rows: Mapping[str, list[Mapping[str, Any]]]
) -> Iterator[Violation]:
    """What the state says after the cycle is what was before, with what the cycle tells."""
    before: Situation = mine.before
    held = Counter((unit.wish, unit.host) for unit in before.units)
    noticed = Counter((unit.wish, unit.host) for unit in before.units if unit.notice is not None)
    for key, of, sign in (("grants", held, 1), ("reclaims", noticed, 1), ("withdrawn", noticed, -1)):
        for row in rows[key]:
            of[row.get("request", row["consumer"]), row.get("host", "")] += sign * row["units"]
    if before.has_requests:
        told: Counter[Row] = Counter()
        for row in state.get("allocations", []):
            if row["request"] in before.wishes:
                told[row["request"], row.get("host", "")] += row["units"]
    else:
        of_group = {path: amounts.get(group, 0) for path, amounts in state.get("allocated", {}).items()}
        told = Counter({(path, ""): units for path, units in of_group.items() if units})
    yield from _differences("R-GRANT-1", "held in the state after", told, +held)
    under: Counter[Row] = Counter()
    for row in state.get("reclaims", []):
        name = row.get("request", row.get("consumer"))
        if name in before.wishes and row.get("resource_group", group) == group:
            under[name, row.get("host", "")] += row["units"]
    yield from _differences("R-NOTICE-1", "under notice in the state after", under, +noticed)
