"""What `fairhold quota --json` and `fairhold cycle --json` print by the rules, for all that share slots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.reference.quotas import entitled_in
from fairhold.reference.situation import read_situation
from fairhold.reference.slots.cycle import cycle_of_slots
from fairhold.reference.slots.reports import free_slots
from fairhold.units import UNLIMITED, format_instant

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping

    from fairhold.model.plan import Plan
    from fairhold.model.state import State
    from fairhold.reference.quotas.level import Entitlement
    from fairhold.reference.situation import Situation
    from fairhold.reference.slots.cycle import Row, SlotCycle

Json = dict[str, Any]


def groups_of_slots(plan: Plan) -> list[str]:
    """The resource groups of slots that an entry names, in plan order."""
    named = {group for entry in plan.policies for group in entry.resource_groups if not entry.policy.shares_vectors}
    return [group for group in plan.resource_groups if group in named]


def cycles(plan: Plan, state: State) -> dict[str, SlotCycle]:
    """Resource group → what a cycle decides."""
    return {name: cycle_of_slots(read_situation(plan, state, name)) for name in groups_of_slots(plan)}


def quota_document(plan: Plan, state: State) -> Json:
    """What `quota` prints, but for the hosts that are not up."""
    tables = {}
    for name in groups_of_slots(plan):
        situation = read_situation(plan, state, name)
        entitled = entitled_in(situation)
        tables[name] = {**_slots(situation, entitled), "consumers": _table(situation, entitled, situation)}
    return {"now": format_instant(state.now), "resource_groups": tables}


def cycle_document(state: State, found: Mapping[str, SlotCycle]) -> Json:
    """What `cycle` prints, but for the hosts that are not up and the state after it."""
    result: Json = {"now": format_instant(state.now), "resource_groups": {}}
    for name, each in found.items():
        numbers = {**_slots(each.before, each.entitled), "idle": each.idle}
        result["resource_groups"][name] = numbers | {"consumers": _table(each.before, each.entitled, each.after)}
    for kind in ("stops", "grants", "withdrawn"):
        result[kind] = [row for each in found.values() for row in _rows(each, getattr(each, kind))]
    result["reclaims"] = [row for each in found.values() for row in _notices(each, each.new)]
    if observed := [row for each in found.values() for row in _notices(each, each.observed)]:
        result["observed"] = observed
    return result | {"warnings": []}


def hosts_document(plan: Plan, state: State) -> Json:
    """Resource group → its hosts that are not up (R-UP-1)."""
    found: Json = {}
    words = {
        "unseen": state.hosts_never_seen,
        "down": state.hosts_down - state.hosts_never_seen,
        "closed": state.hosts_closed - state.hosts_down,
    }
    for name in {group: None for entry in plan.policies for group in entry.resource_groups}:
        every = [host.name for host in plan.resource_groups[name].hosts]
        absent = {word: [host for host in every if host in those] for word, those in words.items()}
        rows = [{"state": word, "since": None, "hosts": hosts} for word, hosts in absent.items() if hosts]
        if rows:
            up = len(every) - sum(map(len, absent.values()))
            found[name] = {"up": up, "all": len(every), "not_up": rows}
    return found


def _slots(situation: Situation, entitled: Entitlement) -> Json:
    is_exclusive = situation.consumers["/"].entry.settings.packing == "exclusive"
    return {"slots": situation.slots} | ({"blocked": entitled.blocked} if is_exclusive else {})


def _table(situation: Situation, entitled: Entitlement, after: Situation) -> Json:
    consumers = situation.consumers
    free, wanted = free_slots(after, entitled), _wanted(situation)
    found: Json = {}
    for path, mine in consumers.by_path.items():
        found[path] = {
            "demand": wanted[path],
            "need": entitled.need[path],
            "owned": mine.owned,
            "reserve": entitled.reserve[path],
            "limit": None if mine.limit >= UNLIMITED else mine.limit,
            "allocated": situation.held[path],
            "quota": entitled.quota[path],
            "free": free[path],
        }
        if consumers["/"].entry.policy.divides_by_ratio:
            planned = entitled.planned
            whole = planned[path] if path != "/" else sum(planned[child] for child in mine.children)
            found[path] |= {"share_ratio": None if path == "/" else mine.ratio, "planned": str(whole)}
    return found


def _wanted(situation: Situation) -> dict[str, int]:
    """Path → all that is wanted, whether it counts or not."""
    found: dict[str, int] = {}
    for path in situation.consumers.upward:
        children = situation.consumers[path].children
        mine = sum(wish.count for wish in situation.wishes.values() if wish.leaf == path)
        found[path] = sum(found[child] for child in children) if children else mine
    return found


def _rows(mine: SlotCycle, counted: Counter[Row]) -> list[Json]:
    found = []
    for (name, host), units in counted.items():
        wish = mine.before.wishes[name]
        row: Json = {"consumer": wish.leaf, "resource_group": mine.before.group, "units": units}
        row |= {} if wish.is_count else {"request": name}
        found.append(row | ({"host": host} if host else {}))
    return found


def _notices(mine: SlotCycle, counted: Counter[Row]) -> list[Json]:
    """Rows with takers, deadlines and one of the reasons that hold."""
    found = []
    takers: dict[str, list[str]] = {holder: [] for holder, _ in mine.takers}
    for (holder, taker), units in mine.takers.items():
        takers[holder] += [taker] * units
    for row in _rows(mine, counted):
        queue = takers.get(row["consumer"], [])
        mine_of_row, queue[:] = queue[: row["units"]], queue[row["units"] :]
        for taker in dict.fromkeys(mine_of_row):
            reason = "quota" if taker else mine.reasons(row["consumer"])[0]
            more = {"for": taker or None, "deadline": format_instant(mine.deadlines[row["consumer"]]), "reason": reason}
            found.append(row | {"units": mine_of_row.count(taker)} | more)
    return found
