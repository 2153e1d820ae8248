"""What a consumer owns of hosts under `multidimensional` (SPEC §6.1)."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.model.vector import Owning
from fairhold.planio.hosts import expanded
from fairhold.planio.report import kind, listed, shown
from fairhold.planio.resources import read_amount, read_amounts, unknown_resource
from fairhold.planio.scalars import is_whole
from fairhold.policies.multidimensional.policy import OWN_KEYS

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.planio.report import Report
    from fairhold.planio.resources import Known
    from fairhold.planio.values import Value

WAYS = ("hosts", "per_host", "total")
"""Keys of an `own` entry that say how much; one of them stands in it."""
BEST, WORST = 1, 10
MEND_HOSTS = "write a number, `40%`, `remaining`, or a list of names"
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,9})?) ?%")


def read_own(report: Report, value: Value, place: Place, resources: Known) -> tuple[Owning, ...]:
    """Read the entries of `own:` in the order of the file; those at fault stay with what is right in them."""
    entries = []
    for at, item in enumerate(report.sequence(value, place, what="what is owned")):
        here = (*place, at)
        node = report.mapping(item, here, what="an entry of `own`")
        report.keys(node, OWN_KEYS, here, {})
        report.missing(node, ("resource_group",), here, "an entry of `own`")
        entries.append(_read_entry(report, node, here, resources))
    return tuple(entries)


def _read_entry(report: Report, node: dict[str, Value], place: Place, resources: Known) -> Owning:
    group = ""
    if "resource_group" in node:
        at = (*place, "resource_group")
        group = report.text(node["resource_group"], at, what="the name of a resource group")
    ways = [way for way in WAYS if way in node]
    if len(ways) != 1:
        what = (
            f"the entry says how much in {len(ways)} ways: {listed(ways)}"
            if ways
            else "the entry does not say how much is owned"
        )
        report.fault("owned-in-one-way", what, f"write one of {listed(WAYS)}", (*place, *ways[1:2]))
    stated: dict[str, Any] = _read_hosts(report, node["hosts"], (*place, "hosts")) if "hosts" in node else {}
    if "per_host" in node:
        stated["per_host"] = _read_per_host(report, node["per_host"], (*place, "per_host"), resources)
    if "total" in node:
        at = (*place, "total")
        _refuse_nothing(report, node["total"], at)
        stated["total"] = read_amounts(report, node["total"], at, resources, what="amounts by resource", least=1)
    preference = None
    if "preference" in node:
        preference = report.whole(node["preference"], (*place, "preference"), least=BEST, most=WORST)
    back = "reclaim_before_next_level"
    return Owning(
        group,
        preference=preference,
        reserved=report.flag(node.get("reserved", False), (*place, "reserved")),
        lend_grace=_read_grace(report, node.get("lend_grace"), (*place, "lend_grace")),
        reclaim_before_next_level=report.flag(node.get(back, False), (*place, back)),
        **stated,
    )


def _read_grace(report: Report, value: Value, place: Place) -> int | None:
    """Read within what time a borrower lets go; None = `none`, no bound."""
    return None if value is None or value == "none" else report.duration(value, place)


def _read_hosts(report: Report, value: Value, place: Place) -> dict[str, Any]:
    """Whole hosts: a number, a part, all that are left, or names."""
    if value == "remaining":
        return {"remaining": True}
    if isinstance(value, list):
        return {"names": _read_names(report, value, place)}
    if isinstance(value, str):
        part = _read_percent(report, value, place)
        if part is None:
            report.fault("unknown-word", f"`{shown(value)}` is not a number of hosts", MEND_HOSTS, place)
        return {"percent": part} if part else {}
    if is_whole(value) and value == 0:
        report.fault("out-of-range", "owning 0 hosts has no effect", "write 1 or more, or leave the entry out", place)
        return {}
    if not is_whole(value) and not isinstance(value, float):
        report.fault("wrong-type", f"expected hosts, found {kind(value)}", MEND_HOSTS, place)
        return {}
    return {"hosts": report.whole(value, place, least=1)}


def _read_percent(report: Report, text: str, place: Place) -> Fraction | None:
    """Read a percentage such as `40%`; None where it is none, 0 with a fault where it is out of range."""
    match = _PERCENT.fullmatch(text)
    if match is None:
        return None
    part = Fraction(match[1]) / 100
    if 0 < part <= 1:
        return part
    report.fault(
        "out-of-range", f"`{shown(text)}` is not above 0% and at most 100%", "write a percentage such as `40%`", place
    )
    return Fraction(0)


def _read_names(report: Report, items: list[Value], place: Place) -> tuple[str, ...]:
    """Names of hosts, with ranges, each once."""
    names: dict[str, None] = {}
    if not items:
        report.fault("missing-key", "the list names no host", "name one, or leave the entry out", place)
    for at, item in enumerate(items):
        here = (*place, at)
        text = report.text(item, here, what="the name of a host")
        for name in expanded(report, text, here) if isinstance(item, str) else ():
            if name in names:
                what = f"the host `{shown(name)}` is listed twice"
                report.fault("duplicate-host", what, "leave one out", here)
            names[name] = None
    return tuple(names)


def _read_per_host(
    report: Report, value: Value, place: Place, resources: Known
) -> tuple[tuple[int, Fraction | int], ...]:
    """Parts or amounts of every host, in plan order of the resources."""
    _refuse_nothing(report, value, place)
    found: list[tuple[int, Fraction | int]] = []
    for name, stated in report.mapping(value, place, what="parts by resource").items():
        here = (*place, name)
        if name not in resources.at:
            unknown_resource(report, name, resources, here)
            continue
        at = resources.at[name]
        part = _read_percent(report, stated, here) if isinstance(stated, str) else None
        if part is not None:
            found.append((at, part))
        else:
            found.append((at, read_amount(report, stated, here, resources.resources[at], least=1)))
    return tuple(sorted(found, key=lambda pair: pair[0]))


def _refuse_nothing(report: Report, value: Value, place: Place) -> None:
    if value is None or value == {}:
        report.fault("missing-key", "it names no resource", "write one, as `{cpu: 4}`", place)
