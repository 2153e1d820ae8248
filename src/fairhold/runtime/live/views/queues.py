"""How queues of `fair_share` stand in the live service: their shares, what they hold, and what they have used."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairhold.cycle.pooled.active_entries import entries_in_force
from fairhold.cycle.pooled.run import quota_pools
from fairhold.ledger.vectors import POOLED
from fairhold.model.vector import number
from fairhold.orchestrator.histories import usage_now
from fairhold.orchestrator.owned import deserved_now
from fairhold.orchestrator.vectors import state_of
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.ledger.history import History
    from fairhold.model.state import State
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.runtime.live.core import Core

Document = dict[str, Any]
_OF_RESOURCE = ("fair_share", "deserved", "limit", "requested", "allocated", "saturation")


def _now(core: Core) -> int:
    """History grows old with time alone, whether or not anything happens."""
    return max(core.now(), core.orchestrator.now)


def borders(core: Core) -> tuple[int, ...]:
    """The borders up to which history counts now."""
    books = core.cluster.books.get(POOLED)
    histories = books.vectors.histories if books is not None and books.vectors is not None else ()
    return tuple(history.steps.of(_now(core))[0] for history in histories if history.is_counted)


def state_today(core: Core) -> State:
    """The state at the latest event, with the history as it is by now."""
    state = state_of(core.cluster, core.orchestrator.now)
    return replace(state, usage=usage_now(core.cluster.books[POOLED], _now(core)))


def queues_now(core: Core) -> dict[str, Document]:
    """Path → how a queue stands in every resource, by the entries in force: as `quota` says it, and its usage."""
    books = core.cluster.books.get(POOLED)
    if books is None or not any(entry.policy.has_queues for entry in core.plan.policies):
        return {}
    plan, now = core.plan, _now(core)
    state = state_today(core)
    assert books.vectors is not None
    of_entry = {history.at: history for history in books.vectors.histories}
    found: dict[str, Document] = {}
    for force in entries_in_force(plan, now, books.rows.spent):
        if not force.entry.policy.has_queues:
            continue
        told = quota_pools(plan, force.entry, force.part_of(plan, state), force.members)
        used = _usage(core, of_entry.get(force.at))
        for path, row in told["consumers"].items():
            resources = {
                each.name: {name: row[name].get(each.name, 0) for name in _OF_RESOURCE}
                | {"usage": used.get(path, {}).get(each.name, 0) if used is not None else None}
                for each in plan.resources
            }
            found[path] = {"resource_groups": [*force.entry.resource_groups], "resources": resources}
            found[path] |= _span(core, of_entry.get(force.at))
    return {path: row for path, row in found.items() if path != "/"}


def history_spans(core: Core) -> list[tuple[list[str], Document]]:
    """(resource groups, from when to when history counts) of the entries in force in which it does."""
    books = core.cluster.books.get(POOLED)
    if books is None or books.vectors is None:
        return []
    of_entry = {history.at: history for history in books.vectors.histories if history.is_counted}
    forces = [force for force in entries_in_force(core.plan, _now(core)) if force.at in of_entry]
    return [([*force.entry.resource_groups], _span(core, of_entry[force.at])) for force in forces]


def _usage(core: Core, history: History | None) -> dict[str, Document] | None:
    """Path → resource → part of the capacity, a parent's being its leaves' sum; None where history does not count."""
    if history is None or not history.is_counted:
        return None
    tree, resources = core.plan.tree, core.plan.resources
    sums: dict[int, list[Any]] = {}
    for leaf, parts in history.usage(_now(core)).items():
        row = leaf
        while row > 0:
            mine = sums.setdefault(row, [0] * len(resources))
            sums[row] = [one + more for one, more in zip(mine, parts, strict=True)]
            row = tree.parent[row]
    return {
        tree.paths[row]: {each.name: number(part) for each, part in zip(resources, parts, strict=True)}
        for row, parts in sums.items()
    }


def _span(core: Core, history: History | None) -> Document:
    """From when to when what was used counts, up to the last border of a step (R-HISTORY-3)."""
    if history is None or not history.is_counted:
        return {"usage_from": None, "usage_to": None}
    border = history.steps.of(_now(core))[0]
    return {"usage_from": format_instant(max(0, history.steps.first(border))), "usage_to": format_instant(border)}


def beyond_deserved(core: Core, attempts: Iterable[Attempt]) -> set[int]:
    """Numbers of the attempts of queues that stand beyond what their leaf deserves: those that began last."""
    books = core.cluster.books[POOLED]
    vectors = books.vectors
    assert vectors is not None
    deserved = {path: [*amounts] for path, amounts in deserved_now(core.plan, _now(core), books.rows.spent).items()}
    found: set[int] = set()
    for attempt in sorted(attempts, key=lambda each: each.name):
        left, unit = deserved.get(attempt.job.consumer), vectors.unit(attempt.job.terms.unit)
        if left is None or unit is None:
            continue
        if any(need > has for need, has in zip(unit, left, strict=True) if need):
            found.add(attempt.name)
        else:
            left[:] = [has - need for has, need in zip(left, unit, strict=True)]
    return found
