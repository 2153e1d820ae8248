"""What plans say, place by place and in a plan's own words, and where two of them differ."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.cycle.settings_format import beside, said, word
from fairhold.errors import place_text
from fairhold.model.plan import ConsumerSettings, PolicyEntry
from fairhold.model.policy import Policy
from fairhold.model.vector import amounts_document, decimal_text, resource_document
from fairhold.model.window import WEEKDAYS
from fairhold.policies.keys import RECLAIM_GRACE
from fairhold.units import format_duration, format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from fairhold.errors import Place
    from fairhold.model.kubernetes import PodRule
    from fairhold.model.plan import Plan, PolicySettings, ResourceGroup
    from fairhold.model.price import Price
    from fairhold.model.setting import Setting
    from fairhold.model.tree import ConsumerTree
    from fairhold.model.vector import Resource

Document = dict[str, Any]
Stated = dict["Place", object]
"""Place in a plan → what stands there; None = nothing, and the default holds."""
_EPOCH = date(1970, 1, 1)


class Changed(NamedTuple):
    """A place at which two plans differ; None = nothing is said there."""

    place: Place
    old: object
    new: object

    def document(self) -> Document:
        """As `diff --json` has it."""
        return {"place": place_text(self.place), "old": self.old, "new": self.new}


def differences(old: Plan, new: Plan, moved: Mapping[str, str]) -> list[Document]:
    """All places at which two plans differ, as documents; see `changes`."""
    return [each.document() for each in changes(old, new, moved)]


def changes(old: Plan, new: Plan, moved: Mapping[str, str]) -> list[Changed]:
    """All places at which two plans differ, in the order of the new one.

    None stands where nothing is said. Entries under `policies:` are called by where they stand in the new plan, those
    that it has no more by where they stood.

    moved : old path → new path of every consumer that is called otherwise
    """
    found = [*_compared(_of_top(old), _of_top(new))]
    for name in dict.fromkeys((*new.resource_groups, *old.resource_groups)):
        one, other = old.resource_groups.get(name), new.resource_groups.get(name)
        if one != other or old.resources != new.resources:  # amounts are in base units
            found += _compared(_of_group(name, one, old.resources), _of_group(name, other, new.resources))
    paths = _paths(old.tree, moved)
    if paths != new.tree.paths or old.tree != new.tree:
        found += _compared(_of_tree(old.tree, paths), _of_tree(new.tree, new.tree.paths))
    for before, after in _pairs(old.policies, new.policies):
        found += _entries(old, new, before, after, paths)
    return found


def _compared(old: Stated, new: Stated) -> Iterator[Changed]:
    for place in dict.fromkeys((*new, *old)):
        was, will = old.get(place), new.get(place)
        if was != will:
            yield Changed(place, was, will)


def _of_top(plan: Plan) -> Stated:
    found: Stated = {
        ("cluster",): plan.cluster or None,
        ("time_zone",): plan.time_zone,
        ("default_rank",): plan.default_rank,
    }
    for days in plan.calendar.windows.special_days if plan.calendar is not None else ():
        place = ("special_days", days.name)
        found[(*place, "dates")] = [*_runs(days.dates)]
        found[(*place, "like")] = None if days.like is None else WEEKDAYS[days.like]
    if plan.resources:
        found[("resources",)] = [resource.name for resource in plan.resources]
    for resource in plan.resources:
        place = ("resources", resource.name)
        found |= {(*place, key): value for key, value in resource_document(resource).items()}
    for name, called in plan.kubernetes.resources:
        found[("kubernetes", "resources", name)] = called
    if plan.kubernetes.pods:
        found[("kubernetes", "pods")] = [_rule(each) for each in plan.kubernetes.pods]
    for key in ("start_within", "deleted_nodes_lost_after"):
        found[("kubernetes", key)] = format_duration(getattr(plan.kubernetes, key))
    if plan.prices.currency:
        found[("prices", "currency")] = plan.prices.currency
        found[("prices", "rates")] = [_rate(each) for each in plan.prices.prices]
    return found


def _rate(price: Price) -> Document:
    """A price, without what it does not say."""
    said = {"resource": price.resource, "per_hour": decimal_text(price.per_hour), "consumer": price.consumer}
    times = {key: format_instant(each) if each else "" for key, each in (("from", price.since), ("to", price.until))}
    return {key: value for key, value in (said | {"kind": price.kind} | times).items() if value}


def _rule(rule: PodRule) -> Document:
    """Whose a pod is, without what a rule does not say."""
    said_of = rule._asdict() | {"labels": dict(rule.labels)}
    return {key: value for key, value in said_of.items() if value}


def _runs(days: Sequence[int]) -> Iterator[str]:
    """Dates, and of several in a row the first and the last."""
    ordered = sorted(days)
    begins = [day for before, day in pairwise((-2, *ordered)) if day != before + 1]
    ends = [day for day, after in pairwise((*ordered, -2)) if after != day + 1]
    for begin, end in zip(begins, ends, strict=True):
        first, last = (str(_EPOCH + timedelta(days=day)) for day in (begin, end))
        yield first if first == last else f"{first}..{last}"


def _of_group(name: str, group: ResourceGroup | None, resources: Sequence[Resource]) -> Stated:
    if group is None:
        return {}
    place = ("resource_groups", name)
    found: Stated = {(*place, "configured_slots"): group.configured_slots}
    if group.capacity:
        found[(*place, "capacity")] = amounts_document(resources, group.capacity)
        return found
    if group.selector is not None:  # what nodes there are is not said by the plan
        found[(*place, "nodes")] = dict(group.selector)
        found[(*place, "slot")] = {key: decimal_text(amount) for key, amount in group.slot} or None
        return found
    if not group.hosts:
        found[(*place, "slots")] = group.slots
        return found
    found[(*place, "hosts")] = [host.name for host in group.hosts]
    for host in group.hosts:
        if host.amounts:
            found[(*place, "hosts", host.name, "amounts")] = amounts_document(resources, host.amounts)
        else:
            found[(*place, "hosts", host.name, "slots")] = host.slots
        found[(*place, "hosts", host.name, "labels")] = dict(host.labels) or None
    return found


def _paths(tree: ConsumerTree, moved: Mapping[str, str]) -> tuple[str, ...]:
    """The paths of the old plan's consumers, by what the new one calls them."""
    if not moved:
        return tree.paths
    paths = list(tree.paths)
    for row in range(1, len(paths)):
        above = paths[tree.parent[row]].rstrip("/")
        paths[row] = moved.get(tree.paths[row], f"{above}/{tree.name[row]}")
    return tuple(paths)


def _of_tree(tree: ConsumerTree, paths: Sequence[str]) -> Stated:
    found: Stated = {}
    for row, path in enumerate(paths):
        place = ("consumers", path)
        if tree.children[row]:
            found[(*place, "consumers")] = [paths[child].rpartition("/")[2] for child in tree.children[row]]
        if row:
            found[(*place, "rank")] = tree.rank[row]
            found[(*place, "reclaim_grace")] = word(RECLAIM_GRACE, tree.grace[row], paths)
    return found


Pair = tuple[int | None, int | None]


def _pairs(old: Sequence[PolicyEntry], new: Sequence[PolicyEntry]) -> list[Pair]:
    """Which entries are the same one: those most alike; (position before, position now), None where there is none."""
    likenesses: tuple[Callable[[PolicyEntry], Hashable], ...] = (
        lambda entry: (entry.resource_groups, entry.window, entry.policy.name),
        lambda entry: (entry.resource_groups, entry.window),
        lambda entry: entry.resource_groups,
        lambda entry: entry.policy.name,
    )
    before: dict[int, int] = {}
    left = list(range(len(old)))
    for like in likenesses:
        for at, entry in enumerate(new):
            same = [each for each in left if like(old[each]) == like(entry)] if at not in before else []
            if same:
                before[at] = same[0]
                left.remove(same[0])
    return [*((before.get(at), at) for at in range(len(new))), *((each, None) for each in left)]


_DEFAULT_ENTRY = PolicyEntry((), Policy("", (), ()))


def _entries(old: Plan, new: Plan, before: int | None, after: int | None, paths: Sequence[str]) -> Iterator[Changed]:
    """What differs between an entry and what it was."""
    was = _DEFAULT_ENTRY if before is None else old.policies[before]
    if after is None:
        said = {key: value for (key,), value in _of_entry((), was).items()}
        yield Changed(("policies", before or 0), said, None)
        return
    will, place = new.policies[after], ("policies", after)
    yield from _compared({} if before is None else _of_entry(place, was), _of_entry(place, will))
    yield from _compared(
        _stated((*place, "settings"), was.settings, paths, (), beside(was.policy.of_entry, will.policy.of_entry)),
        _stated(
            (*place, "settings"), will.settings, new.tree.paths, (), beside(will.policy.of_entry, was.policy.of_entry)
        ),
    )
    before_it = beside(was.policy.of_consumer, will.policy.of_consumer)
    after_it = beside(will.policy.of_consumer, was.policy.of_consumer)
    one = {paths[row]: stated for row, stated in was.consumers.items()}
    other = {new.tree.paths[row]: stated for row, stated in will.consumers.items()}
    default = ConsumerSettings()
    for path in dict.fromkeys((*other, *one)):
        mine, theirs = one.get(path, default), other.get(path, default)
        is_meant_alike = old.resources == new.resources and not (mine.lend_to or mine.borrow_from)
        if mine == theirs and is_meant_alike:  # peers are rows, of two trees; amounts are in base units
            continue
        inside = (*place, "consumers", path)
        yield from _compared(
            _stated(inside, mine, paths, old.resources, before_it),
            _stated(inside, theirs, new.tree.paths, new.resources, after_it),
        )


def _of_entry(place: Place, entry: PolicyEntry) -> Stated:
    return {
        (*place, "resource_groups"): [*entry.resource_groups],
        (*place, "policy"): entry.policy.name,
        (*place, "window"): entry.window or None,
    }


def _stated(
    place: Place,
    stated: PolicySettings | ConsumerSettings,
    paths: Sequence[str],
    resources: Sequence[Resource] = (),
    settings: Sequence[Setting] = (),
) -> Stated:
    return {(*place, key): value for key, value in said(stated, paths, resources, settings).items()}
