"""What a change of plan does to a state: who gains, who loses, what would be reclaimed, by when."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.model.tree import moved_path
from fairhold.model.vector import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from fairhold.cycle.document import Cycle
    from fairhold.cycle.pooled.merge_results import Cycles

    Tell = Callable[[dict[str, Any], dict[str, Any]], tuple[bool, dict[str, Any]]]

Document = dict[str, Any]
_OF_SLOTS: dict[str, int | None] = {"owned": 0, "reserve": 0, "limit": None, "quota": 0}
_OF_SHARERS = ("share_ratio", "planned")
"""Values that only consumers have who share by ratio."""
_OF_POOLS = ("usage_quota", "share_quota", "approximate_share_quota")
_OF_QUEUES: dict[str, int | None] = {"fair_share": 0, "deserved": 0, "limit": None}
"""What is compared of slots, in pools and, of every resource, of queues; with what holds of a consumer not there."""


def diff(old: Cycle, new: Cycle, moved: Mapping[str, str] | None = None) -> Document:
    """Compare one cycle under the plan in force with one under the new plan, on the same state.

    What the plans themselves say otherwise is told by `stated.differences`.

    Returns {"resource_groups": {group: {"consumers": {path: {"quota": [old, new], …}}}}: only consumers of which
    something differs}, and "reclaims": the notices of each side that the other does not give, with their deadline.
    Where pools are shared also "pools", and "ownership": what changes hands. Of queues every value is by resource, and
    the group has "amounts".

    moved : old path → new path of consumers that the new plan calls otherwise, with all below them; each stands under
            its new path, also where nothing else differs, with the old one as "was"
    """
    name = _Names(moved or {})
    groups: Document = {}
    one_side, other_side = old.document["resource_groups"], new.document["resource_groups"]
    for group in dict.fromkeys((*one_side, *other_side)):
        was, will = one_side.get(group, {}), other_side.get(group, {})
        of_queues = queues_diff(was, will, name.new)
        groups[group] = of_queues or {"consumers": {}}
        one, other = ({} if is_of_queues(side) else side.get("consumers", {}) for side in (was, will))
        of_slots = _consumers(one, other, map(name.new, one), name.new, _slots)
        for path, values in of_slots.items():  # who leaves slots for a queue has both
            groups[group]["consumers"][path] = values | groups[group]["consumers"].get(path, {})
    renamed = [name.row(row) for row in old.document["reclaims"]]
    pooled: Document = {}
    has_pools = any(not cycle.queues for side in (old, new) for _, cycle in side.pooled)
    if has_pools:
        pooled["pools"] = pools_diff(old.pooled, new.pooled, name.new)
        before, after = (cycle.document.get("ownership", []) for cycle in (old, new))
        pooled["ownership"] = owners_diff(before, after, name.new)
    return {
        "now": old.document["now"],
        "resource_groups": groups,
        "reclaims": {
            "added": _beyond(new.document["reclaims"], renamed),
            "removed": _beyond(renamed, new.document["reclaims"]),
        },
    } | pooled


def _consumers(
    before: Document, after: Document, paths: Iterable[str], name: Callable[[str], str], tell: Tell
) -> Document:
    """Path under the new plan → what differs of a consumer; where it was called otherwise, "was" says how.

    before, after : path under its plan → values
    paths : those that come first
    tell  : (values before and now) → whether anything differs, and what is told of it then
    """
    one = {name(path): (path, values) for path, values in before.items()}
    changed: Document = {}
    for path in dict.fromkeys((*paths, *one, *after)):
        old_path, was = one.get(path, (path, {}))
        differs, found = tell(was, after.get(path, {}))
        if differs or old_path != path:
            changed[path] = found | ({"was": old_path} if old_path != path else {})
    return changed


def _slots(was: Document, will: Document) -> tuple[bool, Document]:
    """Of a consumer of a group that is shared in slots."""
    was, will = (values or _OF_SLOTS | {"allocated": 0} for values in (was, will))
    compared = (*_OF_SLOTS, *(value for value in _OF_SHARERS if value in was or value in will))
    found: Document = {value: [was.get(value), will.get(value)] for value in compared}
    return any(old != new for old, new in found.values()), found | {"allocated": will["allocated"]}


class _Names:
    """What consumers of the plan in force are called by the new one."""

    def __init__(self, moved: Mapping[str, str]) -> None:
        self._moved = moved

    def new(self, path: str) -> str:
        """The new path."""
        return moved_path(path, self._moved)

    def row(self, row: Document) -> Document:
        """A notice with the new paths of who gives and who gets."""
        return row | {key: self.new(row[key]) for key in ("consumer", "for") if row.get(key)}


def _beyond(rows: list[Document], others: list[Document]) -> list[Document]:
    """Units of `rows`, by holder, that `others` do not reclaim as well."""

    def key(row: Document) -> tuple[str | None, ...]:
        return row["consumer"], row["resource_group"], row.get("request"), row.get("host")

    spent: dict[tuple[str | None, ...], int] = {}
    for row in others:
        spent[key(row)] = spent.get(key(row), 0) + row["units"]
    beyond = []
    for row in rows:
        covered = min(row["units"], spent.get(key(row), 0))
        spent[key(row)] = spent.get(key(row), 0) - covered
        if row["units"] > covered:
            beyond.append(row | {"units": row["units"] - covered})
    return beyond


def pools_diff(old: Cycles, new: Cycles, name: Callable[[str], str]) -> Document:
    """Of every pool its amounts, and `[old, new]` values of each consumer whose quota differs; None = not there.

    Pools are named as in `cycle`: where several policy entries share vectors, the groups of the entry come first.

    name : path under the old plan → path under the new one
    """
    found: Document = {}
    for label, before, after in _pairs(old, new):
        if not before and not after:  # queues have no pools
            continue
        renamed = {name(pool): values for pool, values in before.items()}
        pools = dict.fromkeys((*after, *renamed))
        found[label] = {pool: _pool(renamed.get(pool), after.get(pool), name) for pool in pools}
    return next(iter(found.values())) if len(found) == 1 else found


def _pairs(old: Cycles, new: Cycles) -> Iterator[tuple[str, Document, Document]]:
    """Entries that are the same one: those of the same groups, then those that share one; (name, pools before, now)."""
    left = list(range(len(old)))
    before: dict[int, int] = {}
    for is_same in (lambda a, b: a == b, lambda a, b: bool(set(a) & set(b))):
        for at, (force, _) in enumerate(new):
            groups = force.entry.resource_groups
            found = [each for each in left if is_same(old[each][0].entry.resource_groups, groups)]
            if found and at not in before:
                before[at] = found[0]
                left.remove(found[0])
    for at, (force, cycle) in enumerate(new):
        yield force.name, old[before[at]][1].pools if at in before else {}, cycle.pools
    for each in left:
        yield old[each][0].name, old[each][1].pools, {}


def _pool(before: Document | None, after: Document | None, name: Callable[[str], str]) -> Document:
    """What differs in one pool."""
    one, other = (side["consumers"] if side else {} for side in (before, after))
    changed = _consumers(one, other, other, name, _in_pool)
    return {"amounts": [side["amounts"] if side else None for side in (before, after)], "consumers": changed}


def _in_pool(was: Document, will: Document) -> tuple[bool, Document]:
    """Of a consumer in a pool."""
    found = {value: [was.get(value), will.get(value)] for value in ("usage", *_OF_POOLS)}
    return any(found[value][0] != found[value][1] for value in _OF_POOLS), found


def owners_diff(old: Sequence[Document], new: Sequence[Document], name: Callable[[str], str]) -> list[Document]:
    """Changes of owner: rows of `{host, from, to, amounts}` in the order of the parcels; None = nobody.

    old, new : parcels as `cycle` has them, with amounts in the declared units
    """
    before, after = _by_host([row | {"consumer": name(row["consumer"])} for row in old]), _by_host(new)
    return [
        {"host": host, "from": giver, "to": taker, "amounts": amounts}
        for host in dict.fromkeys((*after, *before))
        for (giver, taker), amounts in _moves(before.get(host, {}), after.get(host, {})).items()
    ]


Owned = dict[str, dict[str, Fraction]]
"""Owner → resource → amount in the declared unit."""


def _by_host(rows: Sequence[Document]) -> dict[str, Owned]:
    found: dict[str, Owned] = {}
    for row in rows:
        amounts = {resource: Fraction(str(amount)) for resource, amount in row["amounts"].items()}
        found.setdefault(row["host"], {})[row["consumer"]] = amounts
    return found


def _moves(before: Owned, after: Owned) -> dict[tuple[str | None, str | None], Document]:
    """(who gives, who gets) → amounts, of one host; resource by resource, givers and takers in their order."""
    found: dict[tuple[str | None, str | None], Document] = {}
    resources = dict.fromkeys(key for side in (after, before) for amounts in side.values() for key in amounts)
    for resource in resources:
        one, other = (
            {owner: each.get(resource, Fraction(0)) for owner, each in side.items()} for side in (before, after)
        )
        more = {owner: other.get(owner, Fraction(0)) - one.get(owner, Fraction(0)) for owner in (*other, *one)}
        for pair, amount in _matched(more):
            found.setdefault(pair, {})[resource] = number(amount)
    return found


def _matched(more: Mapping[str, Fraction]) -> Iterator[tuple[tuple[str | None, str | None], Fraction]]:
    """Who has less gives to who has more; what is then left comes from nobody, or goes to nobody."""
    givers: list[tuple[str | None, Fraction]] = [(owner, -each) for owner, each in more.items() if each < 0]
    takers: list[tuple[str | None, Fraction]] = [(owner, each) for owner, each in more.items() if each > 0]
    rest = sum(more.values(), Fraction(0))
    (givers if rest > 0 else takers).append((None, abs(rest)))
    while givers and takers:
        (giver, gives), (taker, takes) = givers.pop(0), takers.pop(0)
        amount = min(gives, takes)
        if amount:
            yield (giver, taker), amount
        if gives > amount:
            givers.insert(0, (giver, gives - amount))
        if takes > amount:
            takers.insert(0, (taker, takes - amount))


def is_of_queues(group: Document) -> bool:
    """Whether a resource group of a result is shared by queues: it has amounts in the place of slots."""
    return "amounts" in group


def queues_diff(old: Document, new: Document, name: Callable[[str], str]) -> Document:
    """What a group has, and of every queue the resources of which something differs, `[old, new]` by resource.

    A group that is not shared by queues has none of them.

    old, new : the group under each plan, empty where it is not there
    name     : path under the old plan → path under the new one
    """
    before, after = (group if is_of_queues(group) else {} for group in (old, new))
    if not before and not after:
        return {}
    one, other = (side.get("consumers", {}) for side in (before, after))
    changed = _consumers(one, other, other, name, _queue)
    return {"amounts": [before.get("amounts"), after.get("amounts")], "consumers": changed}


def _queue(was: Document, will: Document) -> tuple[bool, Document]:
    """Of one queue; key → resource → [old, new] of those resources of which something differs."""
    resources = dict.fromkeys((*will.get("fair_share", ()), *was.get("fair_share", ())))
    changed = [
        each
        for each in resources
        if any(_value(was, key, each, none) != _value(will, key, each, none) for key, none in _OF_QUEUES.items())
    ]
    return bool(changed), {
        key: {each: [_value(was, key, each, none), _value(will, key, each, none)] for each in changed}
        for key, none in ({**_OF_QUEUES, "allocated": 0}.items() if changed else ())
    }


def _value(queue: Document, key: str, resource: str, none: int | None) -> object:
    return queue.get(key, {}).get(resource, none)
