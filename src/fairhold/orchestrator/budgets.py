"""Budgets of a live cluster: the use so far, and the effect of a used-up budget (R-BUDGET-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.ledger.rows import with_spent
from fairhold.ledger.spending import used_up
from fairhold.orchestrator.changes import BudgetsSpent, BudgetsWarned
from fairhold.orchestrator.histories import count_use

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.ledger.books import Books
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
    job = attempt.job
    on_host = cluster.on_host.setdefault((job.resource_group, attempt.places[0][0]), {})
    if sign > 0:
        on_host[attempt.name] = attempt
    else:
        on_host.pop(attempt.name, None)
    hold(cluster.books[job.resource_group], job.consumer, sign * attempt.units, now)
    count_use(cluster, attempt, sign, now)


def hold(books: Books, leaf: str, units: int, now: int) -> None:
    """A leaf (a path) holds so many units more from now on, or fewer."""
    if books.spending is not None:
        books.spending.hold(books.rows.by_path[leaf], units, now)


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
    found, paths = books.spending.take(now), books.rows.paths
    return None if found == books.rows.spent else tuple(paths[node] for node in sorted(found))


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
    instant = None if books.spending is None else books.spending.next()
    return None if instant is None else max(now, instant)


def freeze_spending(books: Mapping[str, Books]) -> dict[str, Any]:
    """What was used, whose budgets are used up, and who was told of: group → (path, period, amount, since), paths."""
    found = {
        group: [
            [
                [each.rows.paths[node], period, meter.amount, meter.since]
                for (node, period), meter in each.spending.meters.items()
            ],
            [each.rows.paths[node] for node in sorted(each.rows.spent)],
            [each.rows.paths[node] for node in sorted(each.spending.told)],
        ]
        for group, each in books.items()
        if each.spending is not None
    }
    return {"budgets": found} if found else {}


def restore_spent(books: Mapping[str, Books], document: Mapping[str, Any], node_of: Callable[[str, str], int]) -> None:
    """Let budgets be used up as they were, as far as they are under this plan; before anything is in the books.

    node_of : resource group and path then → row of the plan's tree now, -1 where it is gone
    """
    for group, (meters, paths, *_) in document.get("budgets", {}).items():
        if group not in books or books[group].spending is None or not paths:
            continue
        rows = books[group].rows
        periods = {row: budget.period for row, budget in rows.controls.budgets.items()}
        used = {
            node: amount for path, period, amount, _ in meters if periods.get(node := node_of(group, path)) == period
        }
        spent = used_up(rows, used) & {node_of(group, path) for path in paths}
        books[group].use(with_spent(rows, spent))


def count_held(cluster: Cluster, document: Mapping[str, Any], node_of: Callable[[str, str], int]) -> None:
    """What is held now, into empty meters of another plan; `restore_meters` says what was used before.

    A budget that nobody counted before counts each attempt since its start.
    """
    for group, books in cluster.books.items():
        spending = books.spending
        if spending is None:
            continue
        meters, *_ = document.get("budgets", {}).get(group, ((), ()))
        is_known = {(node_of(group, path), period) for path, period, *_ in meters} >= spending.meters.keys()
        held = (
            ((row, units, cluster.now) for row, units in enumerate(books.held) if units)
            if is_known
            else (
                (books.rows.by_path[each.job.consumer], each.units, each.started)
                for each in cluster.attempts.values()
                if each.job.resource_group == group
            )
        )
        for node, units, since in held:
            spending.hold(node, units, since)


def restore_meters(books: Mapping[str, Books], document: Mapping[str, Any], node_of: Callable[[str, str], int]) -> None:
    """Continue counting use; called after everything that runs is in the books."""
    for group, (meters, _, *told) in document.get("budgets", {}).items():
        spending = books[group].spending if group in books else None
        if spending is not None:
            rows = {node_of(group, path) for path in (told[0] if told else ())}
            spending.told = frozenset(row for row in rows if row >= 0)
            for path, period, amount, since in meters:
                spending.set(node_of(group, path), amount, since, period)
