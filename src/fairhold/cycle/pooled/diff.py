"""The effect of a change of plan on pools: changed quotas, and parcels with another owner."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.model.vector import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from fairhold.cycle.pooled.merge_results import Cycles

Document = dict[str, Any]
_COMPARED = ("usage_quota", "share_quota", "approximate_share_quota")
_SHOWN = ("usage", *_COMPARED)


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
    one = {name(path): (path, values) for path, values in (before["consumers"] if before else {}).items()}
    other: Document = after["consumers"] if after else {}
    changed: Document = {}
    for path in dict.fromkeys((*other, *one)):
        old_path, was = one.get(path, (path, {}))
        will = other.get(path, {})
        if old_path != path or any(was.get(value) != will.get(value) for value in _COMPARED):
            changed[path] = {value: [was.get(value), will.get(value)] for value in _SHOWN}
            if old_path != path:
                changed[path]["was"] = old_path
    return {"amounts": [side["amounts"] if side else None for side in (before, after)], "consumers": changed}


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
