"""ClusterQueues and Cohorts → a plan under `fair_share`.

What a ClusterQueue deserves is its nominal quota; what a Cohort deserves is its own with those below it. A tree holds
no more than that in all, and a ClusterQueue no more than its nominal quota and what it may borrow.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.errors import Fault, count
from fairhold.model.kubernetes import USUAL_NAMES
from fairhold.planio.imports.draft import Draft, Entry
from fairhold.planio.imports.kueue_resources import names_of, scale_of
from fairhold.planio.imports.nodes import chosen, hosts_of
from fairhold.planio.report import shown
from fairhold.units import LARGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairhold.planio.imports.draft import Written
    from fairhold.planio.imports.kueue import Key, Kueue, Node
    from fairhold.planio.imports.kueue_quotas import Pair, Quota
    from fairhold.planio.imports.kueue_resources import Scale
    from fairhold.planio.imports.nodes import Node as ClusterNode
    from fairhold.planio.values import Value

GROUP = "cluster"


def kueue_draft(kueue: Kueue, hosts: Sequence[ClusterNode]) -> Draft | None:
    """The plan; None where nobody has a quota. Amounts that are too large are faults."""
    nodes = [kueue.nodes[key] for key in kueue.paths]
    names = names_of(pair for node in nodes for pair in node.quotas)
    if not names:
        return None
    scales = {pair: scale_of(pair.resource, _numbers(nodes, pair)) for pair in names}
    _tell_names(nodes, names)
    amounts = _Amounts(kueue, names, scales)
    flavors = [pair.resource for pair in names]
    queues = sum(key.kind == "ClusterQueue" for key in kueue.paths)
    draft = Draft([f"Made by `fairhold import kueue` of {count(queues, 'ClusterQueue')}."])
    draft.resources = {names[pair]: scales[pair].settings for pair in names}
    draft.names = {
        name: pair.resource
        for pair, name in names.items()
        if flavors.count(pair.resource) == 1 and USUAL_NAMES.get(name, name) != pair.resource
    }
    draft.pods = kueue.pods
    draft.groups = {GROUP: amounts.capacity()}
    draft.hosts = list(hosts_of(hosts, _amounts_on(kueue, names, scales)))
    draft.consumers = list(kueue.paths.values())
    stated = {path: amounts.settings(key) for key, path in kueue.paths.items()}
    draft.entries = [Entry(GROUP, {}, {path: settings for path, settings in stated.items() if settings})]
    if not draft.hosts:
        what = "Kueue's objects do not say what the cluster has; the sum of all nominal quotas stands there"
        mend = "give its nodes, too, or write what there is"
        draft.assumed = [Fault("capacity-assumed", what, mend, ("resource_groups", GROUP, "capacity"))]
    return draft


def _amounts_on(
    kueue: Kueue, names: Mapping[Pair, str], scales: Mapping[Pair, Scale]
) -> Callable[[ClusterNode], Mapping[str, Written]]:
    """What makes the amounts of a node: of each resource in the flavor that the node belongs to, rounded down."""
    flavors: dict[str, list[tuple[str, Mapping[str, Value]]]] = {}
    for pair in names:
        flavors.setdefault(pair.resource, []).append((pair.flavor, kueue.flavors.get(pair.flavor, {})))

    def amounts(node: ClusterNode) -> Mapping[str, Written]:
        its = {resource: chosen(node.labels, some) for resource, some in flavors.items()}
        units = {
            pair: scales[pair].units(node.amounts.get(pair.resource, Fraction(0)))
            for pair in names
            if its[pair.resource] == pair.flavor
        }
        return {names[pair]: scales[pair].written(some) for pair, some in units.items() if some}

    return amounts


def _numbers(nodes: list[Node], pair: Pair) -> list[Fraction]:
    """All quantities of a pair that are carried over."""
    quotas = [node.quotas[pair] for node in nodes if pair in node.quotas]
    return [number for quota in quotas for number in (quota.nominal, quota.borrowing or Fraction(0))]


def _tell_names(nodes: list[Node], names: Mapping[Pair, str]) -> None:
    """Tell once where a resource is called otherwise."""
    told: set[Pair] = set()
    for node in nodes:
        for pair, quota in node.quotas.items():
            if pair not in told and names[pair] != pair.resource and node.object is not None:
                flavor = f" in the flavor `{shown(pair.flavor)}`" if names[pair].startswith(pair.flavor) else ""
                what = f"`{shown(pair.resource)}`{flavor} is the resource `{shown(names[pair])}` of the plan"
                mend = "let jobs ask for it by this name"
                node.object.note("carried-otherwise", what, mend, *quota.steps, "name")
            told.add(pair)


class _Amounts:
    """What every consumer deserves and holds at most, in base units."""

    def __init__(self, kueue: Kueue, names: Mapping[Pair, str], scales: Mapping[Pair, Scale]) -> None:
        self.kueue, self.names, self.scales = kueue, names, scales
        self.refused: set[Pair] = set()
        self.deserved: dict[Key, dict[Pair, int]] = {key: {} for key in kueue.paths}
        keys = {path: key for key, path in kueue.paths.items()}
        for key, path in reversed(kueue.paths.items()):
            node = kueue.nodes[key]
            mine = self.deserved[key]
            for pair, quota in node.quotas.items():
                mine[pair] = mine.get(pair, 0) + self._units(node, pair, quota)
            if node.parent:
                self._add(self.deserved[keys[path.rpartition("/")[0]]], mine)

    def _add(self, above: dict[Pair, int], mine: dict[Pair, int]) -> None:
        """A Cohort has what those below it have, too."""
        for pair, units in mine.items():
            above[pair] = above.get(pair, 0) + units
            self._check(pair, above[pair])

    def _units(self, node: Node, pair: Pair, quota: Quota) -> int:
        scale, found = self.scales[pair], node.object
        for key, number in (("nominalQuota", quota.nominal), ("borrowingLimit", quota.borrowing)):
            if found is not None and number is not None and (number / scale.base).denominator != 1:
                written = scale.written(scale.units(number))
                what = f"it is rounded down to {shown(str(written))}"
                found.note("rounded", what, "write a rounder quantity", *quota.steps, key)
        self._check(pair, scale.units(quota.nominal))
        return scale.units(quota.nominal)

    def _check(self, pair: Pair, units: int) -> None:
        """Refuse what no plan can hold, once for each pair, where its first quota stands."""
        if units <= LARGEST or pair in self.refused:
            return
        self.refused.add(pair)
        most = self.scales[pair].written(LARGEST)
        what = f"quotas of `{shown(pair.resource)}` come to more than a plan can hold, {shown(str(most))}"
        for node in self.kueue.nodes.values():
            if node.object is not None and pair in node.quotas:
                place = node.object.at(*node.quotas[pair].steps, "nominalQuota")
                node.object.report.fault("out-of-range", what, "write smaller quantities", place)
                return

    def capacity(self) -> dict[str, Written]:
        """What all trees have together; at least one of each where nobody has anything."""
        top = [key for key in self.kueue.paths if not self.kueue.nodes[key].parent]
        total = {pair: min(LARGEST, sum(self.deserved[key].get(pair, 0) for key in top)) for pair in self.names}
        if not any(total.values()):
            total = dict.fromkeys(total, 1)
        return {self.names[pair]: self.scales[pair].written(units) for pair, units in total.items()}

    def settings(self, key: Key) -> dict[str, Written]:
        """What a consumer states."""
        node, said = self.kueue.nodes[key], dict[str, "Written"]()
        deserved = self.deserved[key]
        if any(deserved.values()):
            said["deserved"] = {self.names[pair]: self._written(pair, deserved.get(pair, 0)) for pair in self.names}
        limits = {pair: most for pair in self.names if (most := self._limit(key, node, pair)) <= LARGEST}
        if limits:
            said["limit"] = {self.names[pair]: self._written(pair, most) for pair, most in limits.items()}
        if node.weight != 1:
            said["over_quota_weight"] = node.weight
        return said | node.settings

    def _limit(self, key: Key, node: Node, pair: Pair) -> int:
        """The most that a consumer holds; more than a plan can hold = no limit."""
        deserved, quota = self.deserved[key].get(pair, 0), node.quotas.get(pair)
        if not node.parent:
            return deserved
        if quota is not None and quota.borrowing is not None:
            return deserved + self.scales[pair].units(quota.borrowing)
        return 0 if key.kind == "ClusterQueue" and quota is None else LARGEST + 1

    def _written(self, pair: Pair, units: int) -> Written:
        return self.scales[pair].written(units)
