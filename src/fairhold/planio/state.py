"""State files (SPEC §11): text → `State` for a plan, with every fault of the file at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.state import State
from fairhold.model.tree import ROOT
from fairhold.planio.adjusted import read_adjusted
from fairhold.planio.counts import check_amounts, read_counts, read_sizes
from fairhold.planio.document import parse_document, read_text
from fairhold.planio.hosts import expanded
from fairhold.planio.loans import read_loans
from fairhold.planio.moving import with_new_paths
from fairhold.planio.names import unknown_path
from fairhold.planio.notices import read_held, read_notices
from fairhold.planio.own_entries import read_own_entries
from fairhold.planio.queues import read_usage
from fairhold.planio.report import Report, shown
from fairhold.planio.requests import read_allocations, read_requests
from fairhold.planio.shortages import read_shortages
from fairhold.planio.spending import read_spent, read_spent_resources
from fairhold.planio.stateview import StateView
from fairhold.planio.statewrite import state_document
from fairhold.planio.vectors import read_ownership

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction
    from pathlib import Path

    from fairhold.model.plan import Plan
    from fairhold.planio.values import Value

__all__ = ["parse_state", "read_state", "state_document"]

KEYS = (
    *("fairhold_state", "now", "resource_groups", "demand", "allocated", "requests", "allocations"),
    *(
        "reclaims",
        "held",
        "ownership",
        "own_entries",
        "adjusted",
        "borrowed",
        "shortages",
        "spent",
        "spent_resources",
        "usage",
        "hosts_down",
        "hosts_never_seen",
        "hosts_closed",
    ),
    "previous_cycle",
)


def read_state(
    path: str | Path,
    plan: Plan,
    before: Plan | None = None,
    moved: Mapping[str, str] | None = None,
    *,
    places: bool = False,
) -> State:
    """Read the state of a file; raises InputError with all its faults. See `parse_state`."""
    return parse_state(read_text(path), plan, str(path), before, moved, places=places)


def parse_state(
    text: str,
    plan: Plan,
    name: str,
    before: Plan | None = None,
    moved: Mapping[str, str] | None = None,
    *,
    places: bool = False,
) -> State:
    """Read the state of a text under a plan.

    name   : name of the file, as faults show it
    before : plan that the state is of, where that is another one; what its consumers own of its hosts is left out where
             the plan has one of them no more
    moved  : old path → new path of consumers that the plan before calls otherwise
    places : whether units are to be placed: then amounts without requests are refused

    Raises InputError with all faults in the order of the file.
    """
    document = parse_document(text, name)
    report = Report(document)
    value = with_new_paths(document.value, moved) if moved else document.value
    top = report.mapping(value, (), what="a mapping with `fairhold_state: 1`")
    if not top:
        report.settle()
    report.version(top, "fairhold_state")
    report.keys(top, KEYS, (), {})
    report.missing(top, ("now",), (), "a state")
    view = StateView(report, plan, before)
    state = _read(view, top, places=places)
    report.settle()
    return state


def _read(view: StateView, top: dict[str, Value], *, places: bool) -> State:
    """All sections; requests before what names them."""
    report = view.report
    now = report.instant(top["now"], ("now",)) if "now" in top else 0
    view.now = now
    sizes = read_sizes(view, top.get("resource_groups"))
    demand = read_counts(view, top.get("demand"), "demand")
    allocated = read_counts(view, top.get("allocated"), "allocated")
    requests = read_requests(view, top.get("requests"))
    allocations = read_allocations(view, top.get("allocations"))
    view.check_modes()
    check_amounts(view, places=places)
    down = _read_hosts(view, top, "hosts_down")
    unseen = _read_others(view, top, "hosts_never_seen", {"hosts_down": down})
    return State(
        now=now,
        slots=sizes.slots,
        hosts_down=down | unseen,
        hosts_never_seen=unseen,
        hosts_closed=_read_closed(view, top, {"hosts_down": down, "hosts_never_seen": unseen}),
        demand=demand.units,
        allocated=allocated.units,
        requests=requests,
        allocations=allocations,
        notices=read_notices(view, top.get("reclaims"), allocated.units, allocations),
        held=read_held(view, top.get("held")),
        borrowed=read_loans(view, top.get("borrowed")),
        shortages=read_shortages(view, top.get("shortages"), now),
        spent=read_spent(view, top.get("spent")),
        spent_amounts=read_spent_resources(view, top.get("spent_resources")),
        ownership=read_ownership(view, top.get("ownership")),
        own_entries=read_own_entries(view, top.get("own_entries")),
        adjusted=read_adjusted(view, top.get("adjusted")),
        usage=_read_usage(view, top.get("usage")),
        previous_cycle=_read_previous(report, top.get("previous_cycle"), now),
        capacity=sizes.capacity,
        wanted=demand.amounts,
        held_amounts=allocated.amounts,
    )


def _read_hosts(view: StateView, top: dict[str, Value], key: str) -> frozenset[str]:
    """Names of hosts, with ranges; of a range the first that the plan does not have is at fault."""
    found: set[str] = set()
    for at, item in enumerate(view.items(top.get(key), (key,), "names of hosts")):
        place = (key, at)
        text = view.report.text(item, place, what="the name of a host")
        for name in expanded(view.report, text, place) if isinstance(item, str) else ():
            if name in found:
                view.report.fault("duplicate-host", f"the host `{shown(name)}` is listed twice", "leave one out", place)
            elif name not in view.gone_hosts and not view.known_host(name, place):
                break
            elif name in view.host:
                found.add(name)
    return frozenset(found)


def _read_others(
    view: StateView, top: dict[str, Value], key: str, down: Mapping[str, frozenset[str]]
) -> frozenset[str]:
    """Names of hosts, none of which may be in other lists, of those that are down."""
    found = _read_hosts(view, top, key)
    for other, names in down.items():
        for name in sorted(found & names):
            what = f"the host `{shown(name)}` is listed under `{other}:` too"
            view.report.fault(
                "duplicate-host", what, "leave it out here: a host that is down starts nothing anyway", (key,)
            )
    return found


def _read_closed(view: StateView, top: dict[str, Value], down: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Names of hosts that start nothing, none of them down; with slots only where it is said what stands on them."""
    closed = _read_others(view, top, "hosts_closed", down)
    for name in sorted(closed):
        place, group = ("hosts_closed",), view.host[name]
        if group in view.counted:
            what = f"`{shown(group)}` has only counts, which do not say what runs on `{shown(name)}`"
            mend = "write `requests:` and `allocations:`, or list the host under `hosts_down:`"
            view.report.fault("closed-needs-requests", what, mend, place)
    return closed


def _read_usage(view: StateView, value: Value) -> dict[int, tuple[Fraction, ...]]:
    """Decayed history of consumers, by row: parts of the cluster's capacity."""
    report, found = view.report, {}
    for path, stated in report.mapping(value, ("usage",), what="paths with parts of the capacity").items():
        place = ("usage", path)
        row = view.tree.rows.get(path, -1)
        if row == ROOT:
            what = "the root `/` is the cluster; its usage is the sum of those below it"
            report.fault("name", what, "leave it out", place)
        elif row < 0 and path not in view.gone:
            unknown_path(report, view.tree, path, place)
        parts = read_usage(report, stated, place, view.resources)
        if row > ROOT:
            found[row] = parts
    return found


def _read_previous(report: Report, value: Value, now: int) -> int | None:
    """Read the instant of the cycle before."""
    if value is None:
        return None
    place = ("previous_cycle",)
    previous = report.instant(value, place)
    if now and previous > now:
        report.fault("later-than-now", "the previous cycle is later than `now`", "give the earlier instant", place)
    return previous
