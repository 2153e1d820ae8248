"""`reclaims:` and `held:` of a state: units under notice, and freed units that are kept for a request."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from fairhold.model.state import CONSOLIDATION, REASONS, HeldUnits, Notice
from fairhold.planio.report import LAST_DEADLINE, listed, shown
from fairhold.planio.vectors import read_lenders, read_parts, read_pool, refuse_group

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.errors import Place
    from fairhold.model.state import Allocation, Request
    from fairhold.planio.stateview import StateView
    from fairhold.planio.values import Value

KIND_KEYS = ("started", "pool", "lenders", "stands_on")
NOTICE_KEYS = (
    *("consumer", "request", "resource_group", "host", "units", "for", "deadline", "reason"),
    *KIND_KEYS,
)
HELD_KEYS = ("request", "host", "units")
Holder: TypeAlias = "tuple[int, str, str, str]"
"""Row, resource group, request and host, the last two empty where the state has only counts."""


def read_notices(
    view: StateView,
    value: Value,
    allocated: Mapping[tuple[int, str], int],
    allocations: Iterable[Allocation],
) -> tuple[Notice, ...]:
    """Units under notice; together at most what their holder holds."""
    left: Counter[Holder] = Counter({(row, group, "", ""): units for (row, group), units in allocated.items()})
    for held in allocations:
        request = view.requests.get(held.request)
        if request:
            left[request.consumer, request.resource_group, request.id, held.host] += held.units
    notices = []
    for at, item in enumerate(view.items(value, ("reclaims",), "notices")):
        notice = _read_notice(view, view.report.mapping(item, ("reclaims", at), what="a notice"), ("reclaims", at))
        if notice:
            if not _lacks_host(view, notice):
                _take(view, notice, left, ("reclaims", at, "units"))
            notices.append(notice)
    return tuple(notices)


def _lacks_host(view: StateView, notice: Notice) -> bool:
    """Whether a notice is at fault as it does not say on which host its units stand."""
    request = view.requests.get(notice.request)
    return request is not None and not notice.host and bool(request.unit or view.has_hosts(notice.resource_group))


def _take(view: StateView, notice: Notice, left: Counter[Holder], place: Place) -> None:
    """Count a notice against what its holder holds."""
    holder = (notice.consumer, notice.resource_group, notice.request, notice.host)
    if notice.units > left[holder]:
        who = f"`{shown(notice.request or view.tree.paths[notice.consumer])}`"
        where = f" on `{shown(notice.host)}`" if notice.host else ""
        rest = max(0, left[holder])
        units = "1 unit that is" if rest == 1 else f"{rest} units that are"
        what = f"{who} holds {units} not under notice yet{where}, and this notice is for {notice.units}"
        view.report.fault("notice-above-held", what, "lower `units`, or add what is held", place)
    left[holder] -= notice.units


def _read_notice(view: StateView, node: dict[str, Value], place: Place) -> Notice | None:
    """One notice; None where its holder is not clear."""
    report = view.report
    report.keys(node, NOTICE_KEYS, place, {})
    report.missing(node, ("units", "deadline"), place, "a notice")
    units = report.whole(node.get("units", 1), (*place, "units"), least=1)
    deadline = report.instant(node["deadline"], (*place, "deadline"), last=LAST_DEADLINE) if "deadline" in node else 0
    reason = _read_reason(view, node, place)
    taker = _read_taker(view, node.get("for"), (*place, "for"))
    if "request" in node:
        request = view.request(node["request"], (*place, "request"))
        if request is None:
            return None
        _check_holder(view, node, request, place)
        host = view.host_for(node, request, place)
        of = (request.consumer, request.resource_group, units, taker, deadline, reason, request.id, host)
        if request.unit:
            _check_vector(view, node, request, reason, place)
            return _of_kind(view, node, place, Notice(*of, _taker_request(view, node.get("for"), (*place, "for"))))
        _refuse_kind(view, node, place)
        _refuse_move(view, reason, place)
        return Notice(*of)
    _refuse_kind(view, node, place)
    _refuse_move(view, reason, place)
    return _of_counts(view, node, place, Notice(-1, "", units, taker, deadline, reason))


def _refuse_move(view: StateView, reason: str, place: Place) -> None:
    if reason == CONSOLIDATION:
        what = f"`{reason}` is a reason for units of resources, and these are slots"
        view.report.fault("other-policy", what, "leave it out", (*place, "reason"))


def _check_vector(view: StateView, node: dict[str, Value], request: Request, reason: str, place: Place) -> None:
    """Refuse what no cycle says of units of vectors: that they are for who holds them, or go at a switch."""
    if node.get("for") == request.id:
        what = f"`{shown(request.id)}` is asked to give units back to itself"
        view.report.fault("wrong-holder", what, "name the request that they are for, or `null`", (*place, "for"))
    if reason == CONSOLIDATION:
        _check_move(view, node, request, place)
    elif reason in REASONS[2:]:
        what = f"`{reason}` is a reason for slots, and these are units of resources"
        view.report.fault("other-policy", what, "leave it out, or write `limit`", (*place, "reason"))


def _check_move(view: StateView, node: dict[str, Value], request: Request, place: Place) -> None:
    """Refuse units that move and are no queue's, or for nobody."""
    if not view.has_queues(request.consumer):
        what = "only `fair_share` moves units, and this consumer has another policy"
        view.report.fault("other-policy", what, "leave it out, or write `limit`", (*place, "reason"))
    if node.get("for") is None:
        what = "units move for a request, and none is named"
        view.report.fault("missing-key", what, "add `for:` with its id", place)


def _of_kind(view: StateView, node: dict[str, Value], place: Place, notice: Notice) -> Notice:
    """A notice with what tells the units from others that its request holds on the host, where it says so."""
    request = view.requests[notice.request]
    if request is None or not any(key in node for key in KIND_KEYS):
        return notice
    view.report.missing(node, ("started",), place, "a notice with `pool`, `lenders` or `stands_on`")
    started = view.past(node["started"], (*place, "started"), "the units started") if "started" in node else 0
    pool = read_pool(view, node, request, place)
    lenders = read_lenders(view, node, request, pool, place, units=notice.units)
    return replace(notice, started=started, pool=pool, lenders=lenders, parts=read_parts(view, node, request, place))


def _refuse_kind(view: StateView, node: dict[str, Value], place: Place) -> None:
    """Refuse what only notices of units of vectors have."""
    for key in KIND_KEYS:
        if key in node:
            what = f"`{key}` is for units of resources, and these are slots"
            view.report.fault("wrong-holder", what, "leave it out", (*place, key))


def _of_counts(view: StateView, node: dict[str, Value], place: Place, notice: Notice) -> Notice | None:
    """A notice that names no request; None where its holder is not clear."""
    report = view.report
    if not view.shared:
        report.missing(node, ("request",), place, "a notice")
        return None
    if "consumer" not in node:
        report.fault("missing-key", "a notice needs `consumer` or `request`", "add the path of the holder", place)
        return None
    consumer, group = view.leaf(node["consumer"], (*place, "consumer")), view.group_of(node, place)
    if consumer < 0 or not group:
        return None
    if group in view.asked:
        what = f"`{shown(group)}` has requests, and the notice names none"
        report.fault(
            "notice-without-request", what, "add `request:` with the id of the request that holds the units", place
        )
        return None
    if "host" in node:
        what = "a notice without a request names a host, and counts have no hosts"
        report.fault("wrong-host", what, "leave `host` out", (*place, "host"))
    return replace(notice, consumer=consumer, resource_group=group)


def _check_holder(view: StateView, node: dict[str, Value], request: Request, place: Place) -> None:
    """Check that what a notice says about its holder agrees with the request."""
    if "consumer" in node:
        row = view.leaf(node["consumer"], (*place, "consumer"))
        if row not in {-1, request.consumer}:
            what = f"the request `{shown(request.id)}` belongs to `{shown(view.tree.paths[request.consumer])}`"
            view.report.fault("wrong-holder", what, "leave `consumer` out", (*place, "consumer"))
    if request.unit:
        refuse_group(view, node, place)
    elif "resource_group" in node:
        group = view.group_of(node, place)
        if group not in {"", request.resource_group}:
            what = f"the request `{shown(request.id)}` is in `{shown(request.resource_group)}`"
            view.report.fault("wrong-holder", what, "leave `resource_group` out", (*place, "resource_group"))


def _read_reason(view: StateView, node: dict[str, Value], place: Place) -> str:
    """Why the notice was given."""
    if "reason" not in node:
        return REASONS[0]
    place = (*place, "reason")
    word = view.report.text(node["reason"], place, what="a reason")
    if isinstance(node["reason"], str) and word not in REASONS:
        mend = view.report.suggest(word, REASONS, f"write one of {listed(REASONS)}")
        view.report.fault("unknown-word", f"`{shown(word)}` is not a value of `reason`", mend, place)
    return word


def _read_taker(view: StateView, value: Value, place: Place) -> int:
    """Read the row of the leaf that the units are for, named by path or by request; -1 = nobody."""
    if value is None:
        return -1
    name = view.report.text(value, place, what="the path of a leaf or the id of a request")
    if not isinstance(value, str):
        return -1
    if name.startswith("/"):
        return view.leaf(value, place)
    request = view.request(value, place)
    return request.consumer if request else -1


def _taker_request(view: StateView, value: Value, place: Place) -> str:
    """Return the id of the request that units of a vector are for; empty = nobody's, or with a fault."""
    if not isinstance(value, str):
        return ""
    taker = view.requests.get(value)
    if value.startswith("/") or (taker and not taker.unit):
        what = f"`{shown(value)}` is not a request for resources"
        view.report.fault("unknown-request", what, "name the request that the units are for, or `null`", place)
        return ""
    return value


def read_held(view: StateView, value: Value) -> tuple[HeldUnits, ...]:
    """Freed units that are kept for one request each."""
    report, held = view.report, []
    seen: set[tuple[str, str]] = set()
    for at, item in enumerate(view.items(value, ("held",), "held units")):
        place = ("held", at)
        node = report.mapping(item, place, what="held units")
        report.keys(node, HELD_KEYS, place, {})
        report.missing(node, ("request", "units"), place, "an entry of `held`")
        request = view.request(node["request"], (*place, "request")) if "request" in node else None
        units = report.whole(node.get("units", 1), (*place, "units"), least=1)
        if request:
            held.append(HeldUnits(request.id, view.host_for(node, request, place), units))
            if request.unit and (request.id, held[-1].host) in seen and held[-1].host:
                what = f"`{shown(request.id)}` is listed twice with `{shown(held[-1].host)}`"
                report.fault("listed-twice", what, "add the units up in one row", place)
            seen.add((request.id, held[-1].host))
    return tuple(held)
