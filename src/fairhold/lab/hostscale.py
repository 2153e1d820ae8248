"""`scale: {hosts: 1.5}` of a scenario: plans with so many times as many hosts or slots, exactly or not at all."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Any

from fairhold.errors import Fault, InputError
from fairhold.planio.document import parse_document, read_text
from fairhold.planio.hosts import MOST_HOSTS, expand
from fairhold.planio.plan import parse_plan
from fairhold.planio.report import shown
from fairhold.planio.resources import exact_number
from fairhold.traces.source import SCALE_KEYS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from fairhold.errors import Place
    from fairhold.model.plan import Plan
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

    Node = dict[str, Any]

PLACE: Place = ("scale", "hosts")
MOST_FACTOR = 1_000_000


@dataclass(frozen=True, slots=True)
class HostScale:
    """How many times as many hosts there are.

    factors : (resource group, factor); the empty name = every group that is not named
    """

    factors: tuple[tuple[str, Fraction], ...] = ()

    def of(self, group: str) -> Fraction:
        """The factor of a group."""
        factors = dict(self.factors)
        return factors.get(group, factors.get("", Fraction(1)))

    @property
    def is_one(self) -> bool:
        """Whether plans stay as they are."""
        return all(factor == 1 for _, factor in self.factors)

    def refuse_unknown(self, report: Report, plans: Collection[Plan]) -> None:
        """Refuse factors of groups that not every plan has."""
        for group in dict(self.factors):
            if group and not all(group in plan.resource_groups for plan in plans):
                what = f"`{shown(group)}` is not a resource group of all plans"
                report.fault("unknown-resource-group", what, "name one that is", (*PLACE, group))

    def place(self, group: str) -> Place:
        """Where the factor of a group stands in the scenario."""
        return (*PLACE, group) if group in dict(self.factors) else PLACE


def read_scale(report: Report, value: Value) -> HostScale:
    """Read the section `scale:` of a scenario: one factor, or one for each group."""
    node = report.mapping(value, ("scale",), what="a factor such as `{hosts: 2}`")
    for key in node:
        if key in SCALE_KEYS:
            mend = "write it under `workload: {scale: …}`"
            report.fault("unknown-key", f"`{key}` scales the workload", mend, ("scale", key))
    report.keys(node, ("hosts", *SCALE_KEYS), ("scale",), {})
    stated = node.get("hosts", 1)
    if isinstance(stated, dict):
        return HostScale(tuple((name, _factor(report, each, (*PLACE, name))) for name, each in stated.items()))
    return HostScale((("", _factor(report, stated, PLACE)),))


def _factor(report: Report, value: Value, place: Place) -> Fraction:
    above, _, below = value.partition("/") if isinstance(value, str) else (value, "", 1)
    number, divisor = exact_number(above), exact_number(below or 1)
    if number is None or not divisor:
        report.fault("not-a-number", "expected a factor", "write a number or a part such as 1.5 or `2/3`", place)
        return Fraction(1)
    number /= divisor
    if not 0 < number <= MOST_FACTOR:
        what = f"{shown(value)} is not between 0 and {MOST_FACTOR}"
        report.fault("out-of-range", what, "write a number above 0", place)
        return Fraction(1)
    return number


def read_scaled_plan(path: Path, scale: HostScale) -> Plan:
    """The plan of a file with its hosts scaled; raises InputError, of the scaling with places in the scenario."""
    plan = parse_plan(text := read_text(path), str(path), places=True)[0]
    if scale.is_one:
        return plan
    other = json.dumps(scaled_document(parse_document(text, str(path)).value, plan, scale))
    try:
        return parse_plan(other, str(path), places=True)[0]
    except InputError as error:  # its lines are those of a text that nobody has written
        what = f"after scaling its hosts, `{shown(str(path))}` has a fault: {error.faults[0].what}"
        mend = "choose another factor, or write a plan for this number of hosts"
        raise InputError([Fault("host-scale", what, mend, PLACE)]) from error


def scaled_document(document: Any, plan: Plan, scale: HostScale) -> Node:  # noqa: ANN401 - what a file may hold
    """The document of a plan after scaling its hosts, all else as it is.

    Raises InputError `host-scale`, with its place in the scenario, where a factor gives no whole number.
    """
    groups: Node = {}
    for name, said in document["resource_groups"].items():
        factor = scale.of(name)
        if factor == 1:
            groups[name] = said
        elif plan.resource_groups[name].hosts:
            groups[name] = said | {"hosts": _hosts(said["hosts"], name, factor, scale)}
        else:
            slots = _whole([plan.resource_groups[name].slots], "slots", name, factor, scale)
            groups[name] = said | {"slots": slots[0]}
    found: Node = document | {"resource_groups": groups}
    return found


def _hosts(entries: Sequence[Mapping[str, Any]], group: str, factor: Fraction, scale: HostScale) -> list[Node]:
    """Those that are there, then their copies `NAME~2`, `NAME~3`, … in the same order.

    Hosts that differ in nothing but their names are of one kind, and every kind is scaled by itself, so that a mixture
    stays the same: of a fraction the first of each kind are kept, or copied once more.
    """
    kinds: dict[str, list[str]] = {}
    names = [(_kind(entry), entry, expand(str(entry["name"]))) for entry in entries]
    for kind, _, of in names:
        kinds.setdefault(kind, []).extend(of)
    wanted = dict(
        zip(kinds, _whole([len(of) for of in kinds.values()], "hosts of a kind", group, factor, scale), strict=True)
    )
    if sum(wanted.values()) > MOST_HOSTS:
        what = f"`{shown(group)}` would have more than {MOST_HOSTS:,} hosts"
        raise InputError([Fault("host-scale", what, "choose a smaller factor", scale.place(group))])
    found: list[Node] = []
    number = 1
    while any(wanted.values()):
        for kind, entry, of in names:
            taken = of[: wanted[kind]]
            wanted[kind] -= len(taken)
            found += _entries(entry, of, taken, number)
        number += 1
    return found


def _entries(entry: Mapping[str, Any], of: Sequence[str], taken: Sequence[str], number: int) -> Iterator[Node]:
    """What is written for some hosts of an entry: the entry itself where they are all of them."""
    mark = "" if number == 1 else f"~{number}"
    texts = [str(entry["name"])] if len(taken) == len(of) else taken
    for text in texts:
        yield {**entry, "name": f"{text}{mark}"}


def _kind(entry: Mapping[str, Any]) -> str:
    return json.dumps({key: value for key, value in entry.items() if key != "name"}, sort_keys=True)


def _whole(counts: list[int], what: str, group: str, factor: Fraction, scale: HostScale) -> list[int]:
    found = [count * factor for count in counts]
    wrong = next((count for count, each in zip(counts, found, strict=True) if each.denominator > 1), None)
    if wrong is not None:
        told = f"`{shown(group)}` has {wrong} {what}, and {factor} times as many is not a whole number"
        step = gcd(*counts)
        mend = f"write a multiple of `1/{step}`" if step > 1 else "write a whole number"
        raise InputError([Fault("host-scale", told, mend, scale.place(group))])
    return [int(each) for each in found]
