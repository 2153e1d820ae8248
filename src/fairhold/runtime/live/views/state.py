"""The live state as a state file, and what of it no state file can say."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from fairhold.ledger.vectors import POOLED
from fairhold.model.hostnames import fold
from fairhold.orchestrator.as_file import is_sayable, on_planned_hosts, whole_as_file
from fairhold.planio.statewrite import state_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.model.plan import Plan
    from fairhold.model.state import State
    from fairhold.model.vector import Resource
    from fairhold.orchestrator.cluster import Cluster

Document = dict[str, Any]


def live_state(plan: Plan, cluster: Cluster, now: int) -> Document:
    """`state`: what `fairhold cycle` takes beside the plan; `unsaid`: what holds besides, in words.

    cluster : as it was at the instant, under the plan
    """
    state, left_out = on_planned_hosts(plan, whole_as_file(cluster, now))
    unsaid = [*_of_hosts(cluster), *_paused(cluster), *_beyond(plan, state)]
    if left_out:
        unsaid.append(f"left out: what is held on {', '.join(fold(left_out))}, which the plan does not have")
    return {"unsaid": unsaid, "state": state_document(plan, state)}


def _of_hosts(cluster: Cluster) -> Iterator[str]:
    """Groups of slots whose hosts are otherwise than the plan says."""
    for group, books in cluster.books.items():
        if group != POOLED and not is_sayable(books):
            yield f"hosts of {group} differ from the plan in slots or labels, or its only machine is closed"


def _beyond(plan: Plan, state: State) -> Iterator[str]:
    """Hosts that a plan has made smaller than what runs there."""
    units = {request.id: request.unit for request in state.requests}
    used: dict[str, Counter[int]] = {}
    for each in state.allocations:
        for at, amount in enumerate(units[each.request]):
            used.setdefault(each.host, Counter())[at] += each.units * amount
    hosts = [host for group in plan.resource_groups.values() for host in group.hosts if host.name in used]
    room = {host.name: [*map(_overcommitted, plan.resources, host.amounts)] for host in hosts if host.amounts}
    above = [name for name, has in room.items() if any(amount > has[at] for at, amount in used[name].items())]
    if above:
        yield f"more is used of {', '.join(fold(above))} than they have, which no state file may say"


def _overcommitted(resource: Resource, amount: int) -> int:
    return int(amount * resource.overcommit)


def _paused(cluster: Cluster) -> Iterator[str]:
    for group, (grants, reclaims) in cluster.paused.items():
        what = [word for word, is_paused in (("grants", grants), ("reclaims", reclaims)) if is_paused]
        if what:
            yield f"{' and '.join(what)} of {cluster.books[group].rows.group.name} are paused"
