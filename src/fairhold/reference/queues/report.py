"""What `quota` and `cycle` print of queues."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any

from fairhold.model.vector import amount, amounts_document, number
from fairhold.reference.queues.cluster import told_by
from fairhold.reference.queues.opening import count_waiting, open_cluster
from fairhold.reference.queues.refusing import refused_rows
from fairhold.reference.queues.table import ENDLESS, TOP, Table
from fairhold.units import UNLIMITED, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.model.plan import Plan
    from fairhold.model.state import State
    from fairhold.model.vector import Resource
    from fairhold.reference.queues.cluster import Ask, Unit
    from fairhold.reference.queues.cycle import Decided
    from fairhold.reference.sharing import Share

Json = dict[str, Any]


def table_document(plan: Plan, table: Table) -> Json:
    """What there is, and of every queue what it may have, asks for and holds, units under notice too."""
    found: Json = {}

    def tell(path: str) -> None:
        found[path] = _row(plan, table, path)
        for child in table.children[path]:
            tell(child)

    tell(TOP)
    return {"amounts": amounts_document(plan.resources, table.total), "consumers": found}


def _row(plan: Plan, table: Table, path: str) -> Json:
    every = list(enumerate(plan.resources))
    row: Json = {
        "fair_share": {each.name: _amount(each, table.fair[path][at]) for at, each in every},
        "deserved": {each.name: _bound(each, table.deserved(path, at)) for at, each in every},
        "limit": {each.name: _bound(each, table.limit(path, at)) for at, each in every},
        "requested": amounts_document(plan.resources, table.requested[path]),
        "allocated": amounts_document(plan.resources, table.holds[path]),
        "saturation": {each.name: _part(table.saturation(path, at)) for at, each in every},
    }
    if table.settings.k:
        queues = [table.queues(at, each.step) for at, each in every]
        row["usage"] = {each.name: number(queues[at].usage(table.row[path])) for at, each in every}
    return row


def _amount(resource: Resource, units: Fraction) -> float | int:
    found = float(units / resource.base)
    return int(found) if found == int(found) else found


def _bound(resource: Resource, units: int) -> object:
    return None if units >= UNLIMITED else amount(resource, units)


def _part(saturation: Fraction) -> str:
    return "unbounded" if saturation == ENDLESS else str(saturation)


def oversubscribed(plan: Plan, table: Table) -> list[Json]:
    """R-QUEUE-2: queues of which the children are entitled to more than they are."""
    found = []
    for path in table.row:
        for at, resource in enumerate(plan.resources):
            total = sum(table.fair[child][at] for child in table.children[path])
            fair = table.fair[path][at]
            if total > fair:
                said = f"{_amount(resource, Fraction(total))} of {resource.name}, and it to {_amount(resource, fair)}"
                message = f"those below it are entitled to {said}"
                found.append({"consumer": path, "code": "oversubscribed", "message": message})
    return found


def move_rows(plan: Plan, decided: Decided) -> Json:
    """Stops, grants, notices, what is withdrawn, what is refused, and warnings."""
    cycle = decided.cycle
    cluster = cycle.cluster

    def where(ask: Ask, host: str) -> Json:
        return {"consumer": ask.leaf, "resource_group": cluster.hosts[host].group, "request": ask.id, "host": host}

    def counted(units: Iterable[Unit]) -> list[Json]:
        number = Counter((unit.ask, unit.host) for unit in units)
        return [where(*key) | {"units": each} for key, each in number.items()]

    def notices(units: Iterable[Unit]) -> list[Json]:
        number: Counter[tuple[Ask, str, str | None, int, str]] = Counter()
        for unit in units:
            if unit.told is not None:
                taker = unit.told.taker.id if unit.told.taker else None
                number[unit.ask, unit.host, taker, unit.told.deadline, unit.told.reason] += 1
        return [
            where(ask, host) | {"units": each, "for": taker, "deadline": format_instant(at), "reason": why}
            for (ask, host, taker, at, why), each in number.items()
        ]

    grants: list[Json] = []
    for (ask, host), run in groupby(cycle.serving.placed, key=lambda unit: (unit.ask, unit.host)):
        grants.append(where(ask, host) | {"units": len(list(run)), "pool": TOP})
    back = [unit for unit in cluster.units if unit.before is not None and not unit.before.is_as(unit.told)]
    return {
        "stops": counted(cycle.stops),
        "grants": grants,
        "reclaims": notices(told_by(cluster)),
        "observed": notices(decided.observed),
        "withdrawn": counted(back),
        "refused": refused_rows(plan, cycle),
        "warnings": oversubscribed(plan, cycle.table) + unsettled_rows(is_over=cycle.is_over),
    }


def unsettled_rows(*, is_over: bool) -> list[Json]:
    """A warning where the bound on rounds ended a cycle (R-SWEEP-2)."""
    message = "the cycle stopped after 20 rounds of sweeps with decisions still open: the next cycle continues"
    return [] if is_over else [{"consumer": TOP, "code": "unsettled", "message": message}]


def state_rows(plan: Plan, decided: Decided) -> Json:
    """What the state after the cycle says of units, notices, what is held, and who misses something."""
    cycle = decided.cycle
    cluster = cycle.cluster
    units = Counter((unit.ask, unit.host, unit.started) for ask in cluster.asks.values() for unit in cluster.of(ask))
    kinds = {(ask, host): {key for key in units if key[:2] == (ask, host)} for ask, host, _ in units}
    noticed = sorted((unit for unit in cluster.units if unit.told), key=lambda u: u.told.serial if u.told else 0)
    rows: dict[tuple[object, ...], Json] = {}
    for unit in noticed:
        told = unit.told
        assert told is not None
        is_alike = len(kinds[unit.ask, unit.host]) == 1
        key = unit.ask, unit.host, told.taker, told.deadline, told.reason, unit.started
        row = rows.setdefault(key, {"request": unit.ask.id, "consumer": unit.ask.leaf, "host": unit.host, "units": 0})
        row["units"] += 1
        row |= {"for": told.taker.id} if told.taker else {}
        row["deadline"] = format_instant(told.deadline)
        row |= {} if told.reason == "quota" else {"reason": told.reason}
        row |= {} if is_alike else {"started": format_instant(unit.started), "pool": TOP}
    return {
        "allocations": [
            {"request": ask.id, "host": host, "units": number, "started": format_instant(started), "pool": TOP}
            for (ask, host, started), number in units.items()
        ],
        "reclaims": list(rows.values()),
        "held": [{"request": name, "host": host, "units": each} for name, host, each in cycle.held_rows() if each],
        "shortages": [
            {
                "consumer": plan.tree.paths[each.consumer],
                "resource_group": each.resource_group,
                "since": format_instant(each.since),
            }
            | ({"taking": True} if each.is_taking else {})
            for each in decided.shortages
        ],
    }


def quota_document(plan: Plan, share: Share, state: State) -> Json:
    """The table of queues that `quota` prints."""
    cluster = open_cluster(plan, share, state)
    count_waiting(cluster, plan, share)
    return table_document(plan, Table(plan, share, state, cluster))
