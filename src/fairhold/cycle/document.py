"""Results as plain documents: what `quota --json` and `cycle --json` print (SPEC §11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.cycle.moves import grants, merged, observed, reclaims, withdrawn
from fairhold.cycle.open import Stop, close_books, open_books, settle
from fairhold.cycle.pooled.merge_results import quota_part, run_entries, with_pools, with_vectors
from fairhold.cycle.run import CycleResult, quotas, run
from fairhold.ledger.decision import apply
from fairhold.model.presence import absent_by
from fairhold.model.state import State
from fairhold.rules.freeing import free_slots
from fairhold.units import UNLIMITED, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.cycle.pooled.merge_results import Cycles
    from fairhold.cycle.slot_ledger import SlotCycle
    from fairhold.ledger.books import Books
    from fairhold.model.plan import Plan

Document = dict[str, Any]


class Cycle(NamedTuple):
    """One whole cycle over all resource groups of a state.

    results : by resource group with slots, in plan order
    stops   : slots whose grace had run out before
    after   : the state when the decision has been applied
    pooled  : entries in force that share vectors, with what each decided
    untrue  : where it was asked for, what must hold of every cycle and does not, one line each (SPEC §10)
    """

    results: Mapping[str, CycleResult]
    stops: tuple[Stop, ...]
    after: State
    document: Document
    untrue: tuple[str, ...] = ()
    pooled: Cycles = ()


def quota_document(plan: Plan, state: State) -> Document:
    """The quotas of the state as it is, nothing moved."""
    results = {group: quotas(book, state.now) for group, book in open_books(plan, state).items()}
    slots = {group: group_document(result) for group, result in results.items()}
    vectors = quota_part(plan, state)
    groups = slots | vectors.pop("resource_groups", {})
    return {"now": format_instant(state.now), "resource_groups": groups} | vectors | absent_by(plan, state)


def run_cycle(plan: Plan, state: State, *, check: bool = False) -> Cycle:
    """One whole cycle on a state: settle, quotas, grants, reclaims, and the state after it; slots and vectors.

    check : look whether what must hold of every cycle does
    """
    books = open_books(plan, state)
    cycle = cycle_on(books, state.now, tuple(settle(books, state)), check=check)
    pooled = run_entries(plan, state)
    after = with_vectors(close_books(books, state), state, pooled)
    if check and pooled and not cycle.untrue:
        from fairhold.cycle.pooled import invariants  # noqa: PLC0415 - asked for now and then

        cycle = cycle._replace(untrue=invariants.check(plan, state, pooled, after))
    return cycle._replace(
        after=after,
        document=with_pools(plan, cycle.document, pooled) | absent_by(plan, state),
        pooled=pooled,
    )


def cycle_on(books: Mapping[str, Books], now: int, stops: tuple[Stop, ...] = (), *, check: bool = False) -> Cycle:
    """One cycle on books, which are changed by what it decides; the state after it is left open.

    stops : what was settled before it
    """
    results = {group: run(book, now) for group, book in books.items()}
    document: Document = {
        "now": format_instant(now),
        "resource_groups": {
            group: group_document(result) | {"idle": result.draft.idle} for group, result in results.items()
        },
        "stops": merged(_stop(books, stop) for stop in stops),
        "grants": merged(row for group, result in results.items() for row in grants(result, resource_group=group)),
        "reclaims": merged(row for group, result in results.items() for row in reclaims(result, resource_group=group)),
        "withdrawn": merged(
            row for group, result in results.items() for row in withdrawn(result, resource_group=group)
        ),
        "warnings": [],
    } | observed_document(results.values())
    untrue = _untrue(results) if check else ()
    for group, book in books.items():
        apply(book, results[group].decision, now)
    return Cycle(results, stops, State(now), document, untrue)


def _untrue(results: Mapping[str, CycleResult]) -> tuple[str, ...]:
    """What does not hold of cycles that are not yet applied."""
    from fairhold.cycle import invariants  # noqa: PLC0415 - asked for now and then

    return tuple(f"{group}: {untrue}" for group, result in results.items() for untrue in invariants.check(result))


def decision_document(result: SlotCycle) -> Document:
    """What one resource group's cycle decided, before it is applied."""
    group = result.books.rows.group.name
    return {
        "grants": merged(grants(result, resource_group=group)),
        "reclaims": merged(reclaims(result, resource_group=group)),
        "withdrawn": merged(withdrawn(result, resource_group=group)),
    } | observed_document([result])


def observed_document(results: Iterable[SlotCycle]) -> Document:
    """What is decided and given to nobody, where a policy entry asks for that (R-CONTROL-4)."""
    rows = [row for each in results for row in observed(each, resource_group=each.books.rows.group.name)]
    return {"observed": merged(iter(rows))} if rows else {}


def group_document(result: CycleResult) -> Document:
    """The quotas of one resource group."""
    snapshot, draft, rows = result.snapshot, result.draft, result.snapshot.rows
    free = free_slots(snapshot, draft)
    quota = draft.quota[:]
    quota[0] = rows.tree.total(quota, 0)  # the root reports what its children got (SPEC §2)
    consumers: Document = {}
    for row in range(len(rows)):
        limit = rows.plan.limit[row]
        consumers[rows.path(row)] = {
            "demand": snapshot.demand[row],
            "need": draft.needs.need[row],
            "owned": rows.plan.owned[row],
            "reserve": draft.needs.reserve[row],
            "limit": None if limit >= UNLIMITED else limit,
            "allocated": snapshot.held[row],
            "quota": quota[row],
            "free": free[row],
        }
        if draft.planned is not None:
            consumers[rows.path(row)] |= {
                "share_ratio": rows.ratio[row] if row else None,
                "planned": str(draft.planned.exact(row)),
            }
    blocked = {"blocked": draft.blocked} if rows.is_exclusive else {}
    return {"slots": snapshot.slots, **blocked, "consumers": consumers}


def _stop(books: Mapping[str, Books], stop: Stop) -> Document:
    row: Document = {
        "consumer": books[stop.resource_group].rows.paths[stop.consumer],
        "resource_group": stop.resource_group,
        "units": stop.units,
    }
    if stop.request:
        row["request"] = stop.request
        if stop.host:
            row["host"] = stop.host
    return row
