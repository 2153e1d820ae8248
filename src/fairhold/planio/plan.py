"""Plan files (SPEC §11): text → `Plan`, with every fault of the file at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.plan import Plan
from fairhold.planio.balances import Balance, balances
from fairhold.planio.calendars import check_coverage, make_calendar
from fairhold.planio.checks import check_entry
from fairhold.planio.consumers import read_consumers
from fairhold.planio.controls import zone_of_budgets
from fairhold.planio.document import parse_document, read_text
from fairhold.planio.effectless import check_lend_graces, check_overcommit, check_private_pools
from fairhold.planio.graces import check_graces
from fairhold.planio.groups import read_groups, refuse_totals
from fairhold.planio.kubernetes import read_names, with_rules
from fairhold.planio.mixtures import check_mixtures
from fairhold.planio.nodes import Inventory
from fairhold.planio.ownerships import check_owning, check_pools
from fairhold.planio.policies import read_policies
from fairhold.planio.prices import read_prices
from fairhold.planio.queues import check_queues
from fairhold.planio.report import Report
from fairhold.planio.resources import known, read_resources
from fairhold.planio.sides import NOWHERE, check_sides
from fairhold.planio.windows import read_special_days
from fairhold.planio.zones import read_zone

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from fairhold.errors import Fault
    from fairhold.model.kubernetes import Node

__all__ = ["Balance", "balances", "parse_plan", "read_plan"]

KEYS = (
    *("fairhold", "cluster", "time_zone", "default_rank", "resources", "resource_groups", "consumers", "policies"),
    *("special_days", "kubernetes", "prices"),
)


def read_plan(path: str | Path, *, places: bool = False) -> tuple[Plan, tuple[Fault, ...]]:
    """Read the plan of a file and the warnings about it; raises InputError with all its faults. See `parse_plan`."""
    return parse_plan(read_text(path), str(path), places=places)


def parse_plan(
    text: str, name: str, *, places: bool = False, nodes: Collection[Node] = ()
) -> tuple[Plan, tuple[Fault, ...]]:
    """Read the plan of a text and the warnings about it.

    name : name of the file, as faults show it
    places : whether units are to be placed: then all that is shared has to have hosts, or slots
    nodes  : of the cluster, from which groups that say `nodes` take their hosts

    Raises InputError with all faults in the order of the file. Numbers are compared with each other (SPEC §3.6) only
    where each of them is right, so that one mistake is reported once.
    """
    document = parse_document(text, name)
    report = Report(document)
    top = report.mapping(document.value, (), what="a mapping with `fairhold: 1`")
    if not top:
        report.settle()
    report.version(top, "fairhold")
    report.keys(top, KEYS, (), {})
    cluster = report.text(top.get("cluster", ""), ("cluster",), what="the name of the cluster")
    zone = read_zone(report, top.get("time_zone", "UTC"))
    special = read_special_days(report, top.get("special_days"))
    default_rank = report.whole(top.get("default_rank", 0), ("default_rank",))
    resources = known(read_resources(report, top.get("resources")))
    kubernetes = read_names(report, top.get("kubernetes"), resources.resources)
    groups = read_groups(
        report, top.get("resource_groups"), resources, Inventory.of(nodes, resources.resources, kubernetes)
    )
    if places:
        refuse_totals(report, groups)
    tree = read_consumers(report, top.get("consumers"))
    kubernetes = with_rules(report, top.get("kubernetes"), kubernetes, tree)
    prices = read_prices(report, top.get("prices"), [each.name for each in resources.resources], tree)
    entries = read_policies(report, top.get("policies", []), groups, tree, special=special, resources=resources)
    calendar = None if report.faults else make_calendar(report, zone, special, entries, tree)
    numbers = None if report.faults else zone_of_budgets(report, zone, entries)
    whole = (tree, groups, entries, calendar, numbers, resources.resources, kubernetes, prices)
    plan = Plan(cluster, zone, default_rank, *whole)
    if not report.faults:
        check_sides(report, entries, tree)
    if calendar is not None:
        check_coverage(report, calendar, tree)
    _check_entries(report, plan)
    return plan, report.settle()


def _check_entries(report: Report, plan: Plan) -> None:
    """Compare the numbers of the entries with each other."""
    if any(fault.code != NOWHERE for fault in report.faults):  # what is nowhere is under its entry all the same
        return
    for at, entry in enumerate(plan.policies):
        check_entry(report, ("policies", at, "consumers"), entry, plan.tree)
        if entry.policy.has_queues:
            check_queues(report, plan, at)
        elif entry.policy.shares_vectors:
            check_owning(report, plan, at)
            check_graces(report, plan, at)
            check_private_pools(report, plan, at)
            check_lend_graces(report, plan, at)
    check_overcommit(report, plan)
    check_pools(report, plan)
    check_mixtures(report, plan)
