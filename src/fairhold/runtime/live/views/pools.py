"""What is shared in vectors, as it stands: consumers with their units and amounts, and why requests wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from fairhold.cycle.explain.pooled.document import RequestExplanations
from fairhold.errors import count
from fairhold.kernels.vectors import total
from fairhold.ledger.vectors import POOLED, vector_groups
from fairhold.model.vector import amounts_document
from fairhold.orchestrator.hosts import what_there_is
from fairhold.orchestrator.owned import borrowed_parts
from fairhold.orchestrator.pooling import VectorCycle, run_vectors
from fairhold.orchestrator.queue_fitting import shares_queues
from fairhold.runtime.explaining_pools import why
from fairhold.runtime.live.views.amounts import amounts_now
from fairhold.runtime.live.views.budgets import budgets_of
from fairhold.runtime.live.views.presence import connecting, presence_in
from fairhold.runtime.live.views.prospect import state_of
from fairhold.runtime.live.views.queues import beyond_deserved, borders, queues_now, state_today
from fairhold.units import UNLIMITED, format_instant, parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.ledger.books import Books
    from fairhold.ledger.rows import Rows
    from fairhold.model.plan import Host, Plan
    from fairhold.model.vector import Vector
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.views.prospect import State

Document = dict[str, Any]
_LATEST: WeakKeyDictionary[Core, tuple[State, dict[str, Any]]] = WeakKeyDictionary()
_CYCLE, _QUEUES, _PRESENCE, _AMOUNTS, _STATE = "cycle", "queues", "presence", "amounts", "state"


def _kept(core: Core) -> dict[str, Any]:
    """What was found out of the state at hand: once, however many look at it."""
    state = state_of(core)
    latest = _LATEST.get(core)
    if latest is None or latest[0] != state:
        latest = _LATEST[core] = (state, {})
    return latest[1]


def next_cycle(core: Core) -> VectorCycle:
    """The cycle of vectors that would run now; it is not applied."""
    kept = _kept(core)
    if _CYCLE not in kept:
        kept[_CYCLE] = run_vectors(core.cluster, core.orchestrator.now)
    found: VectorCycle = kept[_CYCLE]
    return found


def kept_queues(core: Core) -> dict[str, Document]:
    """How queues stand now, by path."""
    kept, key = _kept(core), f"{_QUEUES} {borders(core)}"
    if key not in kept:
        kept[key] = queues_now(core)
    found: dict[str, Document] = kept[key]
    return found


def kept_presence(core: Core) -> Document | None:
    """Which hosts of what is shared in vectors are up."""
    kept = _kept(core)
    if _PRESENCE not in kept:
        kept[_PRESENCE] = presence_in(core.cluster, POOLED, connecting(core))
    found: Document | None = kept[_PRESENCE]
    return found


def kept_amounts(core: Core) -> dict[str, Document]:
    """What consumers own, hold, wait for and are entitled to of resources now, by path."""
    kept, key = _kept(core), f"{_AMOUNTS} {borders(core)}"
    if key not in kept:
        kept[key] = amounts_now(core.cluster, core.orchestrator.now, next_cycle(core), kept_queues(core))
    found: dict[str, Document] = kept[key]
    return found


def why_waiting(core: Core, job: JobRecord) -> tuple[str, str, Document]:
    """Why a job that may start does not: code, words, facts."""
    soon = sum(unit.asked.model.id == job.name for each in next_cycle(core).done for unit in each.sweeps.placed)
    if soon:
        tasks = count(soon, "task")
        return "soon", f"the next cycle starts {tasks} of it", {"tasks": soon}
    coming = [each.notice for each in core.cluster.attempts.values() if each.notice and each.notice.job == job.name]
    if coming:
        by = max(each.deadline for each in coming)
        units = "1 unit is" if len(coming) == 1 else f"{len(coming)} units are"
        text = f"{units} given back for it, by {format_instant(by)}"
        return "reclaiming", text, {"units": len(coming), "deadline": by, "given": True}
    waits: Document | None = (told_of_request(core, job) or {}).get("waits")
    if waits is None:
        return "soon", "the next cycle looks for room for it", {"tasks": 0}
    if "budget" in waits:
        budget = waits["budget"]
        facts = {"consumer": budget["consumer"], "hours": budget["hours"], "ends": parse_instant(budget["ends"])}
        return "budget", why(waits), facts
    if "user" in waits:
        return "user_limit", why(waits), {"consumer": job.consumer, **_of_user(waits["user"])}
    return "pool", why(waits), {"reason": waits["reason"], "nearest": waits.get("nearest")}


def _of_user(user: Document) -> Document:
    return {"user": user["name"], "user_limit": user["limit"], "held": user["held"]}


def told_of_request(core: Core, job: JobRecord) -> Document | None:
    """What the next cycle would say of the request of a job; None = it has none."""
    kept, leaf = _kept(core), job.consumer
    if _STATE not in kept and borders(core):  # history has grown since the latest event
        kept[_STATE] = state_today(core), {}
    elif _STATE not in kept:
        cycle = next_cycle(core)
        kept[_STATE] = cycle.state, {force.entry.resource_groups: done for force, done in cycle.cycles}
    if leaf not in kept:
        state, cycles = kept[_STATE]
        kept[leaf] = RequestExplanations(core.plan, state, leaf, cycles)
    found: Document | None = kept[leaf].of(job.name)
    return found


def pools_group(core: Core) -> Document:
    """All that is shared in vectors, in the form of a resource group: units of any size count as one."""
    cluster = core.cluster
    books, mine = cluster.books[POOLED], [each for each in cluster.attempts.values() if not each.job.resource_group]
    grants, reclaims = cluster.paused.get(POOLED, (False, False))
    rows = books.rows
    amounts, queues = kept_amounts(core), kept_queues(core)
    beyond = beyond_deserved(core, mine) if queues else set()
    budgets = budgets_of(books, max(core.now(), core.orchestrator.now))
    return {
        "slots": len(mine),
        "idle": 0,
        "resources": resources_document(core, rows.group.hosts, mine),
        "paused": {"grants": grants, "reclaims": reclaims},
        "hosts": kept_presence(core),
        "consumers": [
            _consumer(core, row, mine, beyond, budgets) | {"amounts": amounts[path], "queue": queues.get(path)}
            for row, path in ((row, rows.path(row)) for row in rows.tree.path[1:])
        ],
    }


def resources_of_groups(core: Core) -> dict[str, Document]:
    """Resource group that is shared in vectors → its resources."""
    on: dict[str, list[Attempt]] = {}
    for attempt in core.cluster.attempts.values():
        if attempt.job.resource_group == POOLED:
            on.setdefault(attempt.places[0][0], []).append(attempt)
    found: dict[str, Document] = {}
    for name in vector_groups(core.plan):
        hosts = core.plan.resource_groups[name].hosts
        found[name] = resources_document(core, hosts, [each for host in hosts for each in on.get(host.name, ())])
    return found


def resources_document(core: Core, hosts: Iterable[Host], attempts: Iterable[Attempt]) -> Document:
    """Name → what there is of a resource on some hosts (R-UP-1), and what attempts use of it.

    Of a host that the plan does not have any more there is what is booked on it.
    """
    plan, cluster, attempts, hosts = core.plan, core.cluster, list(attempts), list(hosts)
    names = {host.name for host in hosts}
    left = [each for each in attempts if not names.intersection(name for name, _ in each.places)]
    amounts = [what_there_is(cluster, host, plan.resources) for host in hosts]
    there = total([*amounts, tuple(_together(cluster.books[POOLED], left))], len(plan.resources))
    used = _together(cluster.books[POOLED], attempts)
    has, uses = amounts_document(plan.resources, there), amounts_document(plan.resources, tuple(used))
    return {each.name: {"total": has.get(each.name, 0), "used": uses.get(each.name, 0)} for each in plan.resources}


def _whole(plan: Plan, amounts: Vector) -> tuple[int, ...]:
    """What can be used of a host, overcommitment counted."""
    return tuple(int(each * of.overcommit) for each, of in zip(amounts, plan.resources, strict=True))


def _together(books: Books, attempts: Iterable[Attempt]) -> list[int]:
    assert books.vectors is not None
    used = [0] * len(books.rows.source.resources)
    for attempt in attempts:
        unit = books.vectors.unit(attempt.job.terms.unit)
        used = [one + more for one, more in zip(used, unit or (), strict=True)]
    return used


def _consumer(
    core: Core, row: int, attempts: list[Attempt], beyond: set[int], budgets: Mapping[int, Document]
) -> Document:
    """Numbers of units; beyond: those of queues that are borrowed, all others' are by what they stand on."""
    books = core.cluster.books[POOLED]
    rows = books.rows
    path = rows.path(row)

    def is_below(other: str) -> bool:
        return f"{other}/".startswith(f"{path}/")

    mine = [each for each in attempts if is_below(each.job.consumer)]
    demand = sum(books.demand[leaf] for leaf in rows.leaves if is_below(rows.path(leaf)))
    told = [each.notice for each in attempts if each.notice is not None]
    return {
        "path": path,
        "leaf": rows.is_leaf(row),
        "rank": rows.rank(row),
        "owned": 0,
        "reserved": 0,
        "limit": None,
        "quota": 0,
        "demand": demand,
        "allocated": len(mine),
        "borrowed": sum(_is_borrowed(books, each, beyond, row) for each in mine),
        "lent": sum(any(map(is_below, each.lenders)) for each in attempts if not is_below(each.job.consumer)),
        "reclaiming": sum(each.notice is not None for each in mine),
        "coming": sum(is_below(notice.taker) for notice in told if notice.taker),
        "running": len(mine),
        "waiting": max(0, demand - len(mine)),
        "users": _users(mine) if rows.is_leaf(row) else {},
        "user_limit": _user_limit(rows, row),
        "budget": budgets.get(row),
    }


def _is_borrowed(books: Books, attempt: Attempt, beyond: set[int], row: int) -> bool:
    """Whether a consumer borrows some of a unit, or its leaf holds it beyond what it deserves as a queue."""
    if shares_queues(books, attempt.job.consumer):
        return attempt.name in beyond
    return any(borrower == row for borrower, _ in borrowed_parts(books, attempt))


def _user_limit(rows: Rows, row: int) -> int | None:
    most = rows.controls.user_limit[row]
    return most if most < UNLIMITED else None


def _users(attempts: list[Attempt]) -> dict[str, int]:
    found: dict[str, int] = {}
    for attempt in attempts:
        found[attempt.job.terms.user] = found.get(attempt.job.terms.user, 0) + 1
    return found


def host_resources(core: Core, name: str, attempts: list[Attempt]) -> Document | None:
    """What a host has and uses of every resource, and who owns what of it; None where it has slots."""
    books = core.cluster.books.get(POOLED)
    if books is None or books.vectors is None or (POOLED, name) not in core.cluster.hosts:
        return None
    resources, tree = core.plan.resources, core.plan.tree
    amounts = next((host.amounts for host in books.rows.group.hosts if host.name == name), (0,) * len(resources))
    total = amounts_document(resources, _whole(core.plan, amounts))
    used = amounts_document(resources, tuple(_together(books, attempts)))
    parcels = [each for each in books.vectors.ownership or () if each.host == name]
    return {
        "resources": {r.name: {"total": total.get(r.name, 0), "used": used.get(r.name, 0)} for r in resources},
        "owners": [
            {"consumer": tree.paths[each.consumer], "amounts": amounts_document(resources, each.amounts)}
            for each in parcels
        ],
    }
