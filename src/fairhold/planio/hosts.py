"""`hosts:` of a resource group: names with ranges, `g[01-20]` or `h[1-3,7]`, to one host each."""

from __future__ import annotations

import re
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from fairhold.model.plan import Host
from fairhold.planio.names import check_name
from fairhold.planio.report import shown
from fairhold.planio.resources import full, read_amount, unknown_resource
from fairhold.planio.siting import read_host_labels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.errors import Place
    from fairhold.model.vector import Vector
    from fairhold.planio.report import Report
    from fairhold.planio.resources import Known
    from fairhold.planio.values import Value

MOST_HOSTS = 1_000_000
"""How many hosts a plan may have."""
HOST_KEYS = ("name", "slots", "labels")
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
MOST_DIGITS = 9
_PART = re.compile(rf"([0-9]{{1,{MOST_DIGITS}}})(?:-([0-9]{{1,{MOST_DIGITS}}}))?")


class RangeError(ValueError):
    """A range in a host's name that cannot be expanded; its text says why."""


def expand(name: str, most: int = MOST_HOSTS) -> list[str]:
    """Return the names that a name with ranges stands for, the last bracket running fastest.

    A number is padded to the width of the range's start: `g[08-10]` is g08, g09, g10.
    Raises ValueError with the reason where a range is at fault or gives more than `most` names.
    """
    parts = _BRACKET.split(name)
    literals, brackets = parts[::2], parts[1::2]
    if "[" in "".join(literals) or "]" in "".join(literals):
        raise RangeError("its brackets do not match")
    spans = [_spans(inner) for inner in brackets]
    if prod(sum(map(len, lists)) for lists in ([span for span, _ in row] for row in spans)) > most:
        raise RangeError(f"there would be more than {MOST_HOSTS:,} hosts")
    choices: list[Iterable[str]] = [[literals[0]]]
    for row, literal in zip(spans, literals[1:], strict=True):
        choices.append([f"{number:0{width}d}{literal}" for span, width in row for number in span])
    return ["".join(parts) for parts in product(*choices)]


def expanded(report: Report, name: str, place: Place, most: int = MOST_HOSTS) -> list[str]:
    """Names that a name in a file stands for; none, with a fault, where a range is wrong or gives more than `most`."""
    try:
        return expand(name, most)
    except RangeError as error:
        report.fault("host-range", f"`{shown(name)}` cannot be expanded: {error}", "write `g[01-20]`", place)
        return []


def _spans(inner: str) -> list[tuple[range, int]]:
    """Return the ranges of one bracket, each with the width its numbers are padded to."""
    spans = []
    for part in inner.split(","):
        match = _PART.fullmatch(part.strip(" "))
        if not match:
            raise RangeError(f"`{shown(part)}` is not a range of numbers with at most {MOST_DIGITS} digits")
        first, last = match[1], match[2] or match[1]
        if int(last) < int(first):
            raise RangeError(f"the range `{part}` ends before it starts")
        spans.append((range(int(first), int(last) + 1), len(first) if first.startswith("0") else 0))
    return spans


def read_hosts(report: Report, value: Value, place: Place, taken: set[str], resources: Known) -> tuple[Host, ...]:
    """Read the hosts of a group, in inventory order; `taken` are the names of all hosts so far and grows."""
    hosts: list[Host] = []
    for at, item in enumerate(report.sequence(value, place, what="hosts")):
        here = (*place, at)
        node = report.mapping(item, here, what="a host")
        report.missing(node, ("name",), here, "a host")
        amounts = _read_amounts(report, node, here, resources)
        slots = report.whole(node.get("slots", 0), (*here, "slots"))
        labels = read_host_labels(report, node["labels"], (*here, "labels")) if "labels" in node else ()
        name = report.text(node.get("name", "-"), (*here, "name"), what="the name of a host")
        if isinstance(node.get("name"), str):
            hosts.extend(Host(each, slots, labels, amounts) for each in _names(report, name, (*here, "name"), taken))
    return tuple(hosts)


def _read_amounts(report: Report, node: dict[str, Value], place: Place, resources: Known) -> Vector:
    """Read what a host has of every resource; nothing where it has slots."""
    amounts, is_told = [], False
    for key, stated in node.items():
        if key in resources.at:
            at = resources.at[key]
            amounts.append((at, read_amount(report, stated, (*place, key), resources.resources[at])))
        elif key not in HOST_KEYS:
            _refuse_key(report, key, resources, (*place, key))
            is_told = True
    if not amounts and (not is_told or "slots" in node):
        if resources.at and "slots" not in node:
            mend = f"add an amount, as `{shown(next(iter(resources.at)))}: 8`, or `slots:`"
            report.fault("missing-key", "a host needs amounts of resources, or `slots`", mend, place)
        else:
            report.missing(node, ("slots",), place, "a host")
        return ()
    if "slots" in node:
        what = "the host has both slots and amounts of resources, and can be shared in only one of them"
        report.fault("slots-and-vectors", what, "leave one out", (*place, "slots"))
    elif not is_told and not any(units for _, units in amounts):
        report.fault("out-of-range", "the host has nothing of any resource", "write an amount above 0", place)
    return full(resources, amounts)


def _refuse_key(report: Report, key: str, resources: Known, place: Place) -> None:
    """Refuse a key of a host: a misspelt one, or a resource that the plan does not have."""
    if not report.suggest(key, resources.at) and report.suggest(key, HOST_KEYS):
        report.unknown_key(key, HOST_KEYS, place, {})
    else:
        unknown_resource(report, key, resources, place)


def _names(report: Report, name: str, place: Place, taken: set[str]) -> list[str]:
    """Return new host names of one entry; those at fault are left away."""
    check_name(report, name, place)
    fresh = []
    for each in expanded(report, name, place, MOST_HOSTS - len(taken)):
        if each in taken:
            report.fault("duplicate-host", f"there are two hosts `{shown(each)}`", "give each its own name", place)
        else:
            taken.add(each)
            fresh.append(each)
    return fresh
