"""`requests:` and `allocations:` of a state: single wishes with ages, gangs and hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.state import Allocation, Request
from fairhold.planio.report import shown
from fairhold.planio.siting import SITING_KEYS, read_siting
from fairhold.planio.vectors import asks_for_vector, count_use, read_lenders, read_parts, read_pool, read_unit

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.planio.stateview import StateView
    from fairhold.planio.values import Value

REQUEST_KEYS = (
    *("id", "consumer", "resource_group", "unit", "count", "min_count", "priority", "preemptible"),
    *("submitted", "user", "time_limit", "waiting_since", *SITING_KEYS),
)
VECTOR_KEYS = ("pool", "lenders", "stands_on")
"""Keys of an allocation of units of a vector."""
ALLOCATION_KEYS = ("request", "host", "units", "started", *VECTOR_KEYS)
LARGEST_PRIORITY = 10**9


def read_requests(view: StateView, value: Value) -> tuple[Request, ...]:
    """All requests; ids of those at fault are kept in the view, so that references to them are not faults, too."""
    report, requests = view.report, []
    for at, item in enumerate(view.items(value, ("requests",), "requests")):
        place = ("requests", at)
        node = report.mapping(item, place, what="a request")
        report.keys(node, REQUEST_KEYS, place, {})
        report.missing(node, ("id", "consumer", "count"), place, "a request")
        name = _read_id(view, node, place)
        faults = len(report.faults)
        request = _read_request(view, node, place, name)
        is_right = request is not None and len(report.faults) == faults
        view.requests.setdefault(name, request if is_right else None)
        if request is not None:
            if not request.unit:
                view.asked.setdefault(request.resource_group, place)
            requests.append(request)
    return tuple(requests)


def _read_id(view: StateView, node: dict[str, Value], place: Place) -> str:
    """Read the id of a request: text that is not a path and stands once."""
    if "id" not in node:
        return ""
    here = (*place, "id")
    name = view.report.text(node["id"], here, what="the id of a request")
    if not isinstance(node["id"], str):
        return ""
    if not name or name.startswith("/") or not name.isprintable():
        what = f"`{shown(name)}` is not an id for a request"
        view.report.fault("name", what, "use printable text that does not start with `/`", here)
    elif name in view.requests:
        view.report.fault("duplicate-request", f"there are two requests `{shown(name)}`", "give each its own id", here)
    return name


def _read_request(view: StateView, node: dict[str, Value], place: Place, name: str) -> Request | None:
    """One request; None where nothing can be made of it."""
    report = view.report
    consumer = view.leaf(node["consumer"], (*place, "consumer")) if "consumer" in node else -1
    is_vector = asks_for_vector(view, node)
    unit = read_unit(view, node, consumer, place) if is_vector else ()
    group = "" if is_vector else view.group_of(node, place)
    count = report.whole(node.get("count", 0), (*place, "count"))
    least = report.whole(node.get("min_count", 0), (*place, "min_count"))
    if least > count:
        what = f"`min_count` {least} is more than `count` {count}"
        report.fault("gang-above-count", what, "lower `min_count` or raise `count`", (*place, "min_count"))
    at = (*place, "priority")
    priority = report.whole(node.get("priority", 0), at, least=-LARGEST_PRIORITY, most=LARGEST_PRIORITY)
    priority = max(priority, -LARGEST_PRIORITY)
    submitted = (
        view.past(node["submitted"], (*place, "submitted"), "the request was submitted") if "submitted" in node else 0
    )
    if "unit" in node and not is_vector:
        _check_unit(view, node["unit"], (*place, "unit"))
    preemptible = read_preemptible(
        view, node, (*place, "preemptible"), is_queue=is_vector and view.has_queues(consumer)
    )
    siting = read_siting(report, node, place)
    if consumer < 0 or not (group or unit):
        return None
    user = report.text(node["user"], (*place, "user"), what="the name of a user") if "user" in node else ""
    limit = report.duration(node.get("time_limit", 0), (*place, "time_limit"))
    at = (*place, "waiting_since")
    since = view.past(node["waiting_since"], at, "the request waits since") if "waiting_since" in node else None
    return Request(
        *(name, consumer, group, count, least, priority, submitted, user, limit, since, siting, unit, preemptible)
    )


def read_preemptible(view: StateView, node: dict[str, Value], place: Place, *, is_queue: bool) -> bool | None:
    """Whether a request of a queue may be taken back, None = it does not say; all others may."""
    if "preemptible" not in node:
        return None
    said = view.report.flag(node["preemptible"], place)
    if node["preemptible"] is False and not is_queue:
        what = "only `fair_share` has units that are never reclaimed; here they would keep what others own"
        mend = "leave it out; use `own` for guaranteed capacity, or `min_runtime` for a minimum run time"
        view.report.fault("out-of-range", what, mend, place)
    return said if is_queue else None


def _check_unit(view: StateView, value: Value, place: Place) -> None:
    """In slot policies a unit is one slot; where resources are shared too, it may be what one needs of them."""
    faults = len(view.report.faults)
    node = view.report.mapping(value, place, what="a unit such as `{slots: 1}`")
    if len(view.report.faults) > faults:
        return
    if list(node) != ["slots"] or node["slots"] != 1 or type(node["slots"]) is not int:
        mend = "write `unit: {slots: 1}`"
        mend += ", or what it needs of resources, as `{cpu: 4}`" if view.vectors else ""
        view.report.fault("wrong-unit", "a unit of a slot policy is one slot", mend, place)


def read_allocations(view: StateView, value: Value) -> tuple[Allocation, ...]:
    """Read what requests hold."""
    report, allocations = view.report, []
    for at, item in enumerate(view.items(value, ("allocations",), "allocations")):
        place = ("allocations", at)
        node = report.mapping(item, place, what="an allocation")
        report.keys(node, ALLOCATION_KEYS, place, {})
        report.missing(node, ("request", "units", "started"), place, "an allocation")
        request = view.request(node["request"], (*place, "request")) if "request" in node else None
        host = view.host_for(node, request, place) if request else ""
        units = report.whole(node.get("units", 1), (*place, "units"), least=1)
        started = view.past(node["started"], (*place, "started"), "the units started") if "started" in node else 0
        if request and request.unit:
            pool = read_pool(view, node, request, place)
            lenders = read_lenders(view, node, request, pool, place, units=units)
            if host:
                count_use(view, host, units, request, (*place, "units"))
            parts = read_parts(view, node, request, place)
            allocations.append(Allocation(request.id, host, units, started, pool, lenders, parts))
        elif request:
            _refuse_pool(view, node, place)
            allocations.append(Allocation(request.id, host, units, started))
    return tuple(allocations)


def _refuse_pool(view: StateView, node: dict[str, Value], place: Place) -> None:
    """Refuse what only units of a vector have."""
    for key in VECTOR_KEYS:
        if key in node:
            what = f"`{key}` is for units of resources, and these are slots"
            view.report.fault("other-policy", what, "leave it out", (*place, key))
