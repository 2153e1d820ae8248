"""Plan files (SPEC §11): text → `Plan`, with every fault of the file at once."""

from __future__ import annotations

import zoneinfo
from typing import TYPE_CHECKING

from fairhold.model.plan import Plan
from fairhold.planio.balances import Balance, balances
from fairhold.planio.checks import check_entry
from fairhold.planio.consumers import read_consumers
from fairhold.planio.document import parse_document, read_text
from fairhold.planio.groups import read_groups
from fairhold.planio.policies import read_policies
from fairhold.planio.report import Report, shown

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.errors import Fault
    from fairhold.planio.values import Value

__all__ = ["Balance", "balances", "parse_plan", "read_plan"]

KEYS = ("fairhold", "cluster", "time_zone", "default_rank", "resource_groups", "consumers", "policies")
_ZONE = "write a name like `Europe/Zurich`"
NOT_HERE = {"resources": "`resources`: vector resources are"}


def read_plan(path: str | Path) -> tuple[Plan, tuple[Fault, ...]]:
    """Read the plan of a file and the warnings about it; raises InputError with all its faults."""
    return parse_plan(read_text(path), str(path))


def parse_plan(text: str, name: str) -> tuple[Plan, tuple[Fault, ...]]:
    """Read the plan of a text and the warnings about it.

    name : name of the file, as faults show it

    Raises InputError with all faults in the order of the file. Numbers are compared with each other (SPEC §3.6) only
    where each of them is right, so that one mistake is reported once.
    """
    document = parse_document(text, name)
    report = Report(document)
    top = report.mapping(document.value, (), what="a mapping with `fairhold: 1`")
    if not top:
        report.settle()
    report.version(top, "fairhold")
    report.keys(top, KEYS, (), NOT_HERE)
    cluster = report.text(top.get("cluster", ""), ("cluster",), what="the name of the cluster")
    zone = _read_zone(report, top.get("time_zone", "UTC"))
    default_rank = report.whole(top.get("default_rank", 0), ("default_rank",))
    groups = read_groups(report, top.get("resource_groups"))
    tree = read_consumers(report, top.get("consumers"))
    entries = read_policies(report, top.get("policies", []), groups, tree)
    plan = Plan(cluster, zone, default_rank, tree, groups, entries)
    if not report.faults:
        for at, entry in enumerate(entries):
            check_entry(report, ("policies", at, "consumers"), entry, tree, groups)
    return plan, report.settle()


def _read_zone(report: Report, value: Value) -> str:
    """Read the name of a time zone that this machine knows; any name where it knows none."""
    place = ("time_zone",)
    name = report.text(value, place, what="the name of a time zone", mend=_ZONE)
    if name == "UTC" or not isinstance(value, str):
        return name
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        known = zoneinfo.available_timezones()
        if known and name not in known:
            mend = report.suggest(name, sorted(known), _ZONE)
            report.fault("time-zone", f"there is no time zone `{shown(name)}`", mend, place)
    return name
