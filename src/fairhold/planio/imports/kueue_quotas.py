"""`resourceGroups` of a ClusterQueue or a Cohort: quotas by flavor and resource, exact, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from fairhold.planio.names import NAME_MEND, name_fault
from fairhold.planio.nodes import quantity_text
from fairhold.planio.report import kind, shown
from fairhold.units import parse_quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.errors import Place
    from fairhold.planio.imports.objects import KubernetesObject
    from fairhold.planio.values import Value

_GROUP = ("coveredResources", "flavors")
_FLAVOR = ("name", "resources")
_QUOTA = ("name", "nominalQuota", "borrowingLimit", "lendingLimit")


class Pair(NamedTuple):
    """What Kueue counts quotas of."""

    flavor: str
    resource: str


@dataclass(frozen=True, slots=True)
class Quota:
    """What an object has of one resource in one flavor.

    borrowing, lending : None = no bound
    steps              : its place below `spec`
    """

    nominal: Fraction
    borrowing: Fraction | None
    lending: Fraction | None
    steps: tuple[str | int, ...]


def read_quotas(found: KubernetesObject) -> dict[Pair, Quota]:
    """The quotas of an object, in the order of the file."""
    quotas: dict[Pair, Quota] = {}
    covered: set[str] = set()
    flavors: set[str] = set()
    groups = found.spec.get("resourceGroups")
    nodes = [] if groups is None else found.report.sequence(groups, found.at("resourceGroups"), what="resource groups")
    for at, node in enumerate(nodes):
        steps = ("resourceGroups", at)
        group = _mapping(found, node, _GROUP, steps)
        here = _covered(found, group, steps)
        for resource in here:
            if resource in covered:
                what = f"`{shown(resource)}` is covered twice"
                _twice(found, what, (*steps, "coveredResources"))
            covered.add(resource)
        _tell_choice(found, group.get("flavors"), steps)
        for flavor, said, inside in _flavors(found, group, (*steps, "flavors")):
            if flavor in flavors:
                _twice(found, f"the flavor `{shown(flavor)}` has quotas twice", (*inside, "name"))
            flavors.add(flavor)
            quotas |= _read_flavor(found, said, inside, set(here), flavor)
    return quotas


def _read_flavor(
    found: KubernetesObject, said: list[Value], here: tuple[str | int, ...], covered: set[str], flavor: str
) -> dict[Pair, Quota]:
    """The quotas in one flavor, which has one for each resource that is covered."""
    quotas: dict[Pair, Quota] = {}
    for at, node in enumerate(said):
        steps = (*here, "resources", at)
        stated = _mapping(found, node, _QUOTA, steps)
        name = _name(found, stated, steps, slashes=1)
        if not name:
            continue
        if Pair(flavor, name) in quotas:
            _twice(found, f"`{shown(name)}` has two quotas in one flavor", (*steps, "name"))
        if name not in covered:
            what, mend = f"`{shown(name)}` is not in `coveredResources`", "add it there, or take its quota out"
            found.report.fault("unknown-resource", what, mend, found.at(*steps, "name"))
        quotas.setdefault(Pair(flavor, name), _quota(found, stated, steps))
    for name in sorted(covered - {pair.resource for pair in quotas} - {""}):
        what = f"the flavor `{shown(flavor)}` says nothing of `{shown(name)}`, which is covered"
        found.report.fault("missing-key", what, "give it a `nominalQuota`, 0 for none", found.at(*here))
    return quotas


def _quota(found: KubernetesObject, stated: dict[str, Value], steps: tuple[str | int, ...]) -> Quota:
    if stated.get("nominalQuota") is None:
        found.report.missing({}, ("nominalQuota",), found.at(*steps), "a quota")
    amounts = {
        key: None if stated.get(key) is None else read_quantity(found, stated[key], (*steps, key)) for key in _QUOTA[1:]
    }
    nominal = amounts["nominalQuota"] or Fraction(0)
    return Quota(nominal, amounts["borrowingLimit"], amounts["lendingLimit"], steps)


def read_quantity(found: KubernetesObject, value: Value, steps: tuple[str | int, ...]) -> Fraction:
    """A quantity from 0 on, else a fault and 0."""
    text = quantity_text(value)
    number = None if text is None else parse_quantity(text)
    if number is None:
        what, mend = f"expected a quantity, found {kind(value)}", "write it as `500m`, `4` or `16Gi`"
        found.report.fault("import-quantity", what, mend, found.at(*steps))
    elif number < 0:
        found.report.fault("negative", f"{shown(value)} is below 0", "write 0 or more", found.at(*steps))
    else:
        return number
    return Fraction(0)


def _covered(found: KubernetesObject, group: dict[str, Value], steps: tuple[str | int, ...]) -> list[str]:
    here = (*steps, "coveredResources")
    found.report.missing(group, _GROUP, found.at(*steps), "a resource group")
    nodes = found.report.sequence(group.get("coveredResources", []), found.at(*here), what="names of resources")
    return [
        found.report.text(node, found.at(*here, at), what="the name of a resource") for at, node in enumerate(nodes)
    ]


def _flavors(
    found: KubernetesObject, group: dict[str, Value], steps: tuple[str | int, ...]
) -> Iterator[tuple[str, list[Value], tuple[str | int, ...]]]:
    """Name of each flavor, its quotas, and its place below `spec`."""
    for at, node in enumerate(found.report.sequence(group.get("flavors", []), found.at(*steps), what="flavors")):
        here = (*steps, at)
        flavor = _mapping(found, node, _FLAVOR, here)
        name = _name(found, flavor, here)
        resources = flavor.get("resources", [])
        said = found.report.sequence(resources, found.at(*here, "resources"), what="quotas of resources")
        if name:
            yield name, said, here


def _mapping(
    found: KubernetesObject, node: Value, known: tuple[str, ...], steps: tuple[str | int, ...]
) -> dict[str, Value]:
    """A mapping; keys that Kueue does not have are told."""
    stated = found.report.mapping(node, found.at(*steps))
    for key in stated:
        if key not in known:
            found.leave(stated[key], "Kueue has no such field that is known", "leave it out", *steps, key)
    return stated


def _name(found: KubernetesObject, node: dict[str, Value], steps: tuple[str | int, ...], *, slashes: int = 0) -> str:
    """A name of a flavor or a resource; empty, and a fault, where there is none."""
    place: Place = found.at(*steps, "name")
    found.report.missing(node, ("name",), found.at(*steps), "this")
    if "name" not in node:
        return ""
    name = found.report.text(node["name"], place, what="a name")
    if not isinstance(node["name"], str):
        return ""
    wrong = name_fault(name.replace("/", ".", slashes))
    if wrong:
        found.report.fault("name", wrong, NAME_MEND, place)
        return ""
    return name


def _twice(found: KubernetesObject, what: str, steps: tuple[str | int, ...]) -> None:
    found.report.fault("import-twice", what, "leave one out", found.at(*steps))


def _tell_choice(found: KubernetesObject, flavors: Value, steps: tuple[str | int, ...]) -> None:
    """Kueue chooses among the flavors of a group."""
    if isinstance(flavors, list) and len(flavors) > 1:
        what = f"{len(flavors)} flavors, of which Kueue takes the first that will do: that is not carried over"
        found.note("not-carried", what, "let each job ask for the resources of one flavor", *steps, "flavors")
