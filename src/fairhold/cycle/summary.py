"""What a change of plan comes to, in a few facts: values that differ, and why what stays does so.

Everything is read off the two cycles that `diff` compares; what becomes of the work is told by `coming`.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.cycle.diff import is_of_queues
from fairhold.cycle.projection import groups_of_hosts
from fairhold.errors import place_text
from fairhold.model.hostnames import fold
from fairhold.model.tree import moved_path
from fairhold.model.vector import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fairhold.cycle.document import Cycle
    from fairhold.cycle.plan_diff import Changed
    from fairhold.errors import Step
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Document = dict[str, Any]
Exact = int | Fraction
MOST_KEPT = 20
"""Consumers of whom is said why they keep what they have, at most."""
SLOTS = "slots"
HOLDS_ALL, HAS_ALL, LIMIT, OWNED, SHARE = "holds all", "has all", "limit", "owned", "share"
"""Why a quota stays: all that is wanted is held; or may be had; it is the limit; what is owned; the division gives as
much as before."""
NOBODY_WANTS, IDLE, ENTITLED = "nobody wants", "idle", "entitled"
"""Why nothing is taken back: nobody asks for more than it holds; idle capacity covers it; nobody holds more than it is
entitled to."""


class Sides(NamedTuple):
    """What is compared.

    plans, cycles : old and new
    changed : where the plans differ
    moved   : old path → new path
    vectors : the state of all that is shared in vectors before the new cycle, None = nothing is
    """

    plans: tuple[Plan, Plan]
    cycles: tuple[Cycle, Cycle]
    changed: Sequence[Changed]
    moved: Mapping[str, str]
    vectors: State | None = None


def summary(sides: Sides, found: Document) -> Document:
    """Values that differ, the same ones together; notices; why consumers keep their quota, and nothing is taken back.

    found : what `diff` says of the two cycles
    """
    added = found["reclaims"]["added"]
    changes = changes_together(sides)
    before, after = (_divisions(cycle) for cycle in sides.cycles)
    before = {
        division: {moved_path(path, sides.moved): each for path, each in rows.items()}
        for division, rows in before.items()
    }
    kept, more = _first_of(_kept(sides, changes, before, after) if changes else ())
    return {
        "values": len(sides.changed),
        "changes": changes,
        "notices": {
            "units": sum(row["units"] for row in added),
            "by": max((row["deadline"] for row in added), default=None),
        },
        "kept": kept,
        "kept_more": more,
        "nothing_taken": None if sides.cycles[1].document["reclaims"] else _nothing_taken(sides, after),
    }


# Values


def changes_together(sides: Sides) -> list[Document]:
    """The values that differ; what is the same in several policy entries, or of several hosts, once."""
    together: dict[str, Document] = {}
    for each in sides.changed:
        entry, rest = _of_entry(each.place)
        host, rest = _of_host(rest)
        key = str((rest, host is None, each.old, each.new))
        if key not in together:
            inside = rest[1] if len(rest) > 1 and rest[0] == "consumers" else None
            group = rest[1] if len(rest) > 2 and rest[0] == "resource_groups" else None
            together[key] = {"at": place_text(rest), "consumer": inside, "resource_group": group, "key": _key(rest)}
            together[key] |= {"old": each.old, "new": each.new, "entries": [], "windows": [], "hosts": [], "places": []}
        row = together[key]
        row["places"].append(place_text(each.place))
        if entry is not None and entry not in row["entries"]:
            row["entries"].append(entry)
            row["windows"].append(_window(sides.plans, entry))
        if host is not None and host not in row["hosts"]:
            row["hosts"].append(host)
    return [row | {"hosts": fold(row["hosts"])} for row in together.values()]


def _of_entry(place: tuple[Step, ...]) -> tuple[int | None, tuple[Step, ...]]:
    """The position of a policy entry, and the place inside it."""
    if place[0] == "policies" and len(place) > 2 and isinstance(place[1], int):
        return place[1], place[2:]
    return None, place


def _of_host(place: tuple[Step, ...]) -> tuple[str | None, tuple[Step, ...]]:
    """The name of a host, and the place without it."""
    if len(place) > 4 and place[0] == "resource_groups" and place[2] == "hosts":
        return str(place[3]), (*place[:3], *place[4:])
    return None, place


def _key(place: tuple[Step, ...]) -> str:
    """A setting without whose it is."""
    return place_text(place[2:] if place[0] in {"consumers", "resource_groups"} else place)


def _window(plans: tuple[Plan, Plan], entry: int) -> str | None:
    """The window of an entry as the plan says it; None = it has none, or it is gone."""
    return plans[1].policies[entry].window or None if entry < len(plans[1].policies) else None


# Who keeps what


class _Place(NamedTuple):
    """How a consumer stands in one division: of slots, of a resource of queues, of a pool."""

    quota: Exact
    wants: Exact
    holds: Exact
    limit: Exact | None = None
    owned: Exact | None = None

    def reason(self) -> str:
        """Why its quota is no larger."""
        if self.wants <= self.holds:
            return HOLDS_ALL
        if self.wants <= self.quota:
            return HAS_ALL
        if self.limit is not None and self.quota >= self.limit:
            return LIMIT
        return OWNED if self.owned is not None and self.quota == self.owned else SHARE


_Division = tuple[str, str, str]
"""(resource group or entry, pool, resource); pool and resource may be empty."""
_Divisions = dict[_Division, dict[str, _Place]]
"""Division → path of a consumer → how it stands."""


def _divisions(cycle: Cycle) -> _Divisions:
    """Every division of a cycle."""
    found: _Divisions = {}
    for name, group in cycle.document["resource_groups"].items():
        if is_of_queues(group):
            for resource in group["amounts"]:
                found[name, "", resource] = {
                    path: _of_queue(each, resource) for path, each in group["consumers"].items()
                }
        else:
            found[name, "", SLOTS] = {path: _of_slots(each) for path, each in group["consumers"].items()}
    for force, cycled in cycle.pooled:
        for pool, values in ({} if cycled.queues else cycled.pools).items():
            found[force.name, pool, ""] = {path: _of_pool(each) for path, each in values["consumers"].items()}
    return found


def _exact(value: object) -> Exact:
    return value if isinstance(value, int) else Fraction(str(value))


def _of_slots(row: Document) -> _Place:
    limit = None if row["limit"] is None else _exact(row["limit"])
    quota, wants, holds = (_exact(row[key]) for key in ("quota", "demand", "allocated"))
    return _Place(quota, wants, holds, limit, _exact(row["owned"]))


def _of_queue(row: Document, resource: str) -> _Place:
    limit, deserved = (
        None if row[key].get(resource) is None else _exact(row[key][resource]) for key in ("limit", "deserved")
    )
    fair, wants, holds = (_exact(row[key].get(resource, 0)) for key in ("fair_share", "requested", "allocated"))
    return _Place(fair, wants, holds, limit, deserved)


def _of_pool(row: Document) -> _Place:
    return _Place(*(_exact(row[key]) for key in ("usage_quota", "usage_demand", "usage")))


def _kept(sides: Sides, changes: list[Document], before: _Divisions, after: _Divisions) -> Iterator[Document]:
    """Consumers of whom the change could have altered a quota and altered none, those that were changed first."""
    changed = dict.fromkeys(row["consumer"] for row in changes if row["consumer"] not in {None, "/"})
    divisions = _concerned(changes, before, after)
    for path in [*changed, *(path for path in _near(sides, changed) if path not in changed)]:
        pairs = [(division, before[division].get(path), after[division].get(path)) for division in divisions]
        stays = [(division, will) for division, was, will in pairs if was and will and was.quota == will.quota]
        if path in changed and len(stays) < sum(will is not None for _, _, will in pairs):
            continue
        for (group, pool, resource), will in stays:
            if will.quota or will.wants:
                yield {
                    "consumer": path,
                    "resource_group": group,
                    "pool": pool or None,
                    "resource": resource or None,
                    "quota": number(Fraction(will.quota)) if resource else str(will.quota),
                    "reason": will.reason(),
                    "changed": path in changed,
                }


def _first_of(rows: Iterable[Document]) -> tuple[list[Document], dict[str, int]]:
    """The first rows, and how many consumers there are beyond them, by the reason that comes first."""
    left = iter(rows)
    first = list(islice(left, MOST_KEPT))
    others: dict[str, str] = {}
    for row in left:
        others.setdefault(row["consumer"], row["reason"])
    for row in first:
        others.pop(row["consumer"], None)
    return first, dict(Counter(others.values()))


def _concerned(changes: list[Document], before: _Divisions, after: _Divisions) -> list[_Division]:
    """Divisions in which quotas differ; where there are none, those of the resources that are named, or all."""
    both = [division for division in after if division in before]
    differ = [each for each in both if _quotas(before[each]) != _quotas(after[each])]
    named = {name for row in changes for side in (row["old"], row["new"]) if isinstance(side, dict) for name in side}
    return differ or [each for each in both if each[2] in named] or both


def _quotas(rows: dict[str, _Place]) -> dict[str, Exact]:
    return {path: each.quota for path, each in rows.items()}


def _near(sides: Sides, changed: Mapping[str, None]) -> list[str]:
    """Siblings of changed consumers, in plan order; where there are none, the first level."""
    tree = sides.plans[1].tree
    parents = dict.fromkeys(tree.parent[tree.rows[path]] for path in changed if path in tree.rows) or {0: None}
    return [tree.paths[child] for parent in parents for child in tree.children[parent]]


# Why nothing is taken back


def _nothing_taken(sides: Sides, divisions: _Divisions) -> Document | None:
    """Why no unit gets notice under the new plan; None = no simple reason."""
    rows = [each for division in divisions.values() for path, each in division.items() if path != "/"]
    if all(each.wants <= each.holds for each in rows) and not _waits(sides.vectors):
        return {"reason": NOBODY_WANTS, "idle": {}, "granted": {}}
    document = sides.cycles[1].document
    idle = _idle(sides)
    if document["grants"] and idle:
        return {"reason": IDLE, "idle": idle, "granted": _granted(document)}
    if all(each.holds <= each.quota for each in rows):
        return {"reason": ENTITLED, "idle": {}, "granted": {}}
    return None


def _waits(vectors: State | None) -> bool:
    """Whether a request has fewer units than it asks for; no usage demand has what a limit keeps from it."""
    if vectors is None:
        return False
    held: Counter[str] = Counter()
    for each in vectors.allocations:
        held[each.request] += each.units
    return any(each.count > held[each.id] for each in vectors.requests)


def _granted(document: Document) -> dict[str, int]:
    """Consumer → units that the new cycle grants, most first."""
    units: Counter[str] = Counter()
    for row in document["grants"]:
        units[row["consumer"]] += row["units"]
    return dict(sorted(units.items(), key=lambda item: (-item[1], item[0])))


def _idle(sides: Sides) -> Document:
    """What stands idle before the new cycle: slots, then resources."""
    document, plan = sides.cycles[1].document, sides.plans[1]
    granted = sum(row["units"] for row in document["grants"] if row["resource_group"] in sides.cycles[1].results)
    slots = sum(group.get("idle", 0) for group in document["resource_groups"].values()) + granted
    found: Document = {SLOTS: slots} if slots else {}
    state = sides.vectors
    if state is None:
        return found
    group_of = groups_of_hosts(plan)
    out = state.hosts_down | state.hosts_closed
    left = [0] * len(plan.resources)
    hosts = [host for group in plan.resource_groups.values() for host in group.hosts if host.name in group_of]
    for host in hosts:
        if host.name not in out:
            left = [one + more for one, more in zip(left, host.amounts, strict=True)]
    units = {request.id: request.unit for request in state.requests}
    for each in state.allocations:
        unit = units[each.request]
        if unit and each.host not in out:
            left = [one - each.units * less for one, less in zip(left, unit, strict=True)]
    idle = zip(plan.resources, left, strict=True)
    return found | {each.name: number(Fraction(amount, each.base)) for each, amount in idle if amount > 0}
