"""Budgets of a live cluster: the use so far, and the effect of a used-up budget (R-BUDGET-1, R-BUDGET-5)."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from fairhold.cycle.pooled.active_entries import budgets_of, entries_in_force, groups_of_members
from fairhold.kernels.vectors import add, less, total
from fairhold.ledger.rows import with_spent
from fairhold.ledger.spending import UNITS
from fairhold.ledger.vectors import POOLED
from fairhold.model.budget import counted
from fairhold.model.vector import amount_text
from fairhold.orchestrator.changes import BudgetsSpent, BudgetsWarned
from fairhold.orchestrator.histories import count_capacity, count_use
from fairhold.orchestrator.hosts import what_there_is
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from fairhold.ledger.books import Books
    from fairhold.ledger.spending import Key, Meter
    from fairhold.model.plan import Host, Plan
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.tasks import JobRecord


def use_up(cluster: Cluster, change: BudgetsSpent, now: int) -> None:
    """The set of used-up budgets has changed: use the columns that go with it."""
    books = cluster.books[change.resource_group]
    rows, spending = books.rows, books.spending
    assert spending is not None, "a group in which somebody has a budget"
    spending.advance(now)
    books.use(with_spent(rows, frozenset(rows.by_path[path] for path in change.consumers)))


def warn(cluster: Cluster, change: BudgetsWarned, _now: int) -> None:
    """It is on record who has used so much of a budget that people are told."""
    books = cluster.books[change.resource_group]
    assert books.spending is not None, "a group in which somebody has a budget"
    books.spending.told = frozenset(books.rows.by_path[path] for path in change.consumers)


def hold_attempt(cluster: Cluster, attempt: Attempt, sign: int, now: int) -> None:
    """An attempt takes its units (`sign` 1) or frees them (-1): update budgets, histories and hosts."""
    job, books = attempt.job, cluster.books[attempt.job.resource_group]
    on_host = cluster.on_host.setdefault((job.resource_group, attempt.places[0][0]), {})
    if sign > 0:
        on_host[attempt.name] = attempt
    else:
        on_host.pop(attempt.name, None)
    spending = books.spending
    if spending is not None:
        host = attempt.places[0][0]
        if books.vectors is not None and not (spending.hosts and cluster.is_open(POOLED, host)):
            count_there(cluster, now, (host,))
        spending.hold(books.rows.by_path[job.consumer], sign * attempt.units, now, _unit(books, attempt))
    count_use(cluster, attempt, sign, now)


def count_hosts(cluster: Cluster, now: int, hosts: Iterable[str]) -> None:
    """Hosts may be there or not from now on: histories and budgets count by what there is."""
    count_capacity(cluster, now, hosts)
    count_there(cluster, now, hosts)


def count_there(cluster: Cluster, now: int, hosts: Iterable[str] = ()) -> None:
    """There may be another amount of hosts from now on, of which dominant shares are parts (R-BUDGET-6).

    hosts : of the others there is what was found last, if anything was
    """
    books = cluster.books.get(POOLED)
    if books is None or books.spending is None or not books.spending.counts_parts:
        return
    plan, spending = books.rows.source, books.spending
    groups, group_of = _groups(plan)
    for name in (name for name in hosts if name in group_of) if spending.hosts else group_of:
        host, group = group_of[name]
        found = what_there_is(cluster, host, plan.resources)
        nothing = (0,) * len(found)
        more = less(found, spending.hosts.get(name, nothing))
        spending.hosts[name], spending.groups[group] = found, add(spending.groups.get(group, nothing), more)
    there = {
        top: total((spending.groups[name] for name in names), len(plan.resources)) for top, names in groups.items()
    }
    spending.have(there, now)


def _groups(plan: Plan) -> tuple[dict[int, frozenset[str]], dict[str, tuple[Host, str]]]:
    """First-level consumer → groups that its budget of dominant share is a part of; host → itself and its group."""
    if "groups of budgets" not in plan.known:
        groups = groups_of_members(plan)
        names = frozenset().union(*groups.values())
        hosts = {host.name: (host, name) for name in names for host in plan.resource_groups[name].hosts}
        groups = {
            top: frozenset(name for name in mine if plan.resource_groups[name].hosts) for top, mine in groups.items()
        }
        plan.known["groups of budgets"] = groups, hosts
    found: tuple[dict[int, frozenset[str]], dict[str, tuple[Host, str]]] = plan.known["groups of budgets"]
    return found


def _unit(books: Books, attempt: Attempt) -> Sequence[int]:
    """What one of its units holds, by place."""
    if books.vectors is None:
        return UNITS
    unit = books.vectors.unit(attempt.job.terms.unit)
    assert unit is not None, "a plan in force has the units of all its jobs"
    return unit


def move_held(cluster: Cluster, job: JobRecord, consumer: str, now: int) -> Books:
    """A job belongs to another leaf, with all that it holds; returns its group's books."""
    books, held = cluster.books[job.resource_group], [cluster.attempts[name] for name in job.attempts]
    for attempt in held:
        hold_attempt(cluster, attempt, -1, now)
    job.consumer = consumer
    for attempt in held:
        hold_attempt(cluster, attempt, 1, now)
    return books


def spent(books: Books, now: int) -> tuple[str, ...] | None:
    """Paths of consumers with used-up budgets, in tree order; None if they are the same as before."""
    if books.spending is None:
        return None
    _enforce(books, now)
    found, paths = books.spending.take(now), books.rows.paths
    return None if found == books.rows.spent else tuple(paths[node] for node in sorted(found))


def _enforce(books: Books, now: int) -> None:
    """Of vectors, the budgets of the entries that are in force now count."""
    if books.vectors is None:
        return
    plan = books.rows.source
    forces = entries_in_force(plan, now)
    key = "budgets in force", *(force.at for force in forces)
    if key not in plan.known:
        plan.known[key] = budgets_of(plan, forces)
    assert books.spending is not None
    books.spending.enforce(plan.known[key])


def warned(books: Books) -> tuple[str, ...] | None:
    """Paths of consumers that have used so much that people are told, in tree order; None if these are on record.

    `spent` comes before it.
    """
    spending = books.spending
    if spending is None or spending.warned == spending.told:
        return None
    return tuple(books.rows.paths[node] for node in sorted(spending.warned))


def count_budgets(cluster: Cluster, now: int) -> None:
    """Set which budgets are used up at an instant, in a cluster that nothing else uses."""
    for group, books in cluster.books.items():
        consumers = spent(books, now)
        if consumers is not None:
            use_up(cluster, BudgetsSpent(group, consumers), now)


def next_of_budgets(books: Books, now: int) -> int | None:
    """When budgets have to be checked again; None = no such instant."""
    if books.spending is None:
        return None
    _enforce(books, now)
    instant = books.spending.next()
    return None if instant is None else max(now, instant)


def spent_amounts(books: Books, now: int) -> dict[int, tuple[tuple[int, int], ...]]:
    """What consumers have used of vectors, as a state says it: base units times whole seconds."""
    if books.spending is None:
        return {}
    used = books.spending.used(now).items()
    return {row: tuple((at, amount // SECOND) for at, amount in sorted(mine.items())) for row, mine in used}


# Snapshots


def freeze_spending(books: Mapping[str, Books]) -> dict[str, Any]:
    """What was used, whose budgets are used up, and who was told of: group → meters, paths, paths.

    A meter is (path, period, amount, since); of vectors it says last of what, and the amount is in declared units.
    """
    found = {
        group: [
            [_meter(each, each.spending.meters[key], key) for key in each.spending.meters],
            [each.rows.paths[node] for node in sorted(each.rows.spent)],
            [each.rows.paths[node] for node in sorted(each.spending.told)],
        ]
        for group, each in books.items()
        if each.spending is not None
    }
    return {"budgets": found} if found else {}


def _meter(books: Books, meter: Meter, key: Key) -> list[Any]:
    node, period, at = key
    said = [books.rows.paths[node], period, meter.amount, meter.since]
    if books.vectors is None:
        return said
    of = counted(books.rows.source.resources)[at]
    return [*said[:2], amount_text(of, meter.amount), meter.since, of.name]


def _meters(books: Books, told: Iterable[list[Any]], node_of: Callable[[str], int]) -> Iterator[tuple[Key, int, int]]:
    """(key, amount, since) of meters that a document says; of what is gone the row or the place is below 0."""
    resources = counted(books.rows.source.resources)
    names = [each.name for each in resources]
    for path, period, amount, since, *of in told:
        if not of:
            yield (node_of(path), period, 0), amount, since
        elif of[0] in names:
            at = names.index(of[0])
            yield (node_of(path), period, at), int(Fraction(amount) * resources[at].base), since
        else:
            yield (-1, period, -1), 0, since


def restore_spent(books: Mapping[str, Books], document: Mapping[str, Any], node_of: Callable[[str, str], int]) -> None:
    """Let budgets be used up as they were, as far as they are under this plan; before anything is in the books.

    node_of : resource group and path then → row of the plan's tree now, -1 where it is gone
    """
    for group, (meters, paths, *_) in document.get("budgets", {}).items():
        if group not in books or books[group].spending is None or not paths:
            continue
        rows, used = books[group].rows, dict[tuple[int, str], dict[int, int]]()
        for (node, period, at), amount, _ in _meters(books[group], meters, partial(node_of, group)):
            used.setdefault((node, period), {})[at] = amount
        budgets = rows.controls.all_budgets if rows.is_pooled else rows.controls.budgets.items()
        spent = {row for row, budget in budgets if budget.is_used_up(used.get((row, budget.period), {}))}
        books[group].use(with_spent(rows, frozenset(spent & {node_of(group, path) for path in paths})))


def count_held(cluster: Cluster, document: Mapping[str, Any], node_of: Callable[[str, str], int]) -> None:
    """What is held now, into empty meters of another plan; `restore_meters` says what was used before.

    A budget that nobody counted before counts each attempt since its start.
    """
    count_there(cluster, cluster.now)
    for group, books in cluster.books.items():
        spending = books.spending
        if spending is None:
            continue
        meters, *_ = document.get("budgets", {}).get(group, ((), ()))
        is_known = {key for key, *_ in _meters(books, meters, partial(node_of, group))} >= spending.meters.keys()
        if is_known and books.vectors is None:
            for node, units in enumerate(books.held):
                if units:
                    spending.hold(node, units, cluster.now)
            continue
        for each in cluster.attempts.values():
            if each.job.resource_group == group:
                since = cluster.now if is_known else each.started
                spending.hold(books.rows.by_path[each.job.consumer], each.units, since, _unit(books, each))


def restore_meters(books: Mapping[str, Books], document: Mapping[str, Any], node_of: Callable[[str, str], int]) -> None:
    """Continue counting use; called after everything that runs is in the books."""
    for group, (meters, _, *told) in document.get("budgets", {}).items():
        spending = books[group].spending if group in books else None
        if spending is not None:
            rows = {node_of(group, path) for path in (told[0] if told else ())}
            spending.told = frozenset(row for row in rows if row >= 0)
            for (node, period, at), amount, since in _meters(books[group], meters, partial(node_of, group)):
                spending.set(node, amount, since, period, at)
