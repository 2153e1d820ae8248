"""The live tree of every resource group, and why a consumer's numbers are what they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairhold.cycle.explain import apart, explain, one_more
from fairhold.cycle.explain.pooled.document import explain_pools
from fairhold.errors import Fault, InputError
from fairhold.ledger.tables import NOBODY
from fairhold.ledger.vectors import POOLED, vector_groups
from fairhold.model.presence import UNSEEN, not_up_in
from fairhold.orchestrator.lending import lending
from fairhold.orchestrator.owned import owned_slots
from fairhold.runtime.explaining import as_document, sentence
from fairhold.runtime.explaining_pools import as_document as pools_as_document
from fairhold.runtime.explaining_pools import sentence as pools_sentence
from fairhold.runtime.live.path_suggestions import suggestion
from fairhold.runtime.live.views.budgets import budgets_of
from fairhold.runtime.live.views.consumer_columns import NAMES, Columns, Made
from fairhold.runtime.live.views.pools import pools_group
from fairhold.runtime.live.views.presence import absent_hosts
from fairhold.runtime.live.views.prospect import prospect
from fairhold.runtime.live.views.queues import history_spans, state_today

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from fairhold.ledger.books import Books
    from fairhold.ledger.rows import Rows
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.views.consumer_columns import Row, Table
    from fairhold.runtime.live.views.prospect import Prospect

Document = dict[str, Any]
_JOB = "job "
"""What stands before a request in a sentence: requests of the service are jobs."""


def consumers_document(core: Core, consumer: str = "") -> Document:
    """Every resource group with its consumers, parents before children, in path order.

    consumer : path: only it, those above it, and the children of all of these; empty = all
    """
    told = {}
    for name, head, table in live_groups(core):
        told[name] = group_of(head, table.rows(near(table.paths(), consumer) if consumer else None))
    return {"version": None, "since": None, "resource_groups": told}


def near(paths: Iterable[str], consumer: str) -> list[int]:
    """Places of a consumer, of those above it, and of the children of all of these."""
    parents = {consumer[:at] for at, sign in enumerate(consumer) if sign == "/"} | {consumer.rstrip("/")}
    return [place for place, path in enumerate(paths) if path[: path.rindex("/")] in parents]


def live_groups(core: Core) -> Iterator[tuple[str, Document, Table]]:
    """Name of each resource group, what is said of it, and its consumers."""
    for group, books in core.orchestrator.books.items():
        if group == POOLED:
            document = pools_group(core)
            rows = [tuple(each[name] for name in NAMES) for each in document["consumers"]]
            yield books.rows.group.name, document, Made(rows)
        else:
            yield books.rows.group.name, *_of_slots(core, group)


def group_of(head: Document, rows: Iterable[Row]) -> Document:
    """A resource group as a document."""
    return head | {"consumers": [dict(zip(NAMES, row, strict=True)) for row in rows]}


def group_document(core: Core, group: str) -> Document:
    """A resource group of slots."""
    head, table = _of_slots(core, group)
    return group_of(head, table.rows())


def _of_slots(core: Core, group: str) -> tuple[Document, Columns]:
    """What is said of a resource group of slots, and its consumers.

    A parent's numbers are the sums of its leaves'; owned, borrowed, lent, reserved, limit and quota are its own.

    owned     : whole slots owned now (R-SCALE-1), under `share_ratio` the planned share
    borrowed  : allocated beyond owned; lent : owned and allocated by others (`orchestrator.lending`)
    demand    : units that run, or may start as soon as there are slots; waiting : those of them that do not run
    reclaiming : of what it holds, units under notice; coming : units under notice that are on their way to it
    """
    look = prospect(core, group)
    books, result = look.books, look.division
    rows, slots = books.rows, result.snapshot.slots
    # What is held uses a budget up with time alone, whether or not anything happens.
    budgets, loans = budgets_of(books, max(core.now(), core.orchestrator.now)), lending(books)
    noticed = {row: units for row, units in enumerate(books.noticed) if units}
    sums = (_rolled(rows, each) for each in (noticed, _coming(look), _running(core, group)))
    draft, snapshot = result.draft, result.snapshot
    dense = (draft.needs.reserve[:], draft.quota[:], snapshot.demand[:], snapshot.held[:])  # they are used again
    columns = Columns(
        rows,
        (owned_slots(rows, slots), *dense),
        (*sums, loans.borrowed, loans.lent, _users(books), budgets),
    )
    grants, reclaims = core.cluster.paused.get(group, (False, False))
    head = {
        "slots": slots,
        "idle": snapshot.idle,
        "resources": None,
        "paused": {"grants": grants, "reclaims": reclaims},
        "hosts": look.presence,
    }
    return head, columns


def _users(books: Books) -> dict[int, dict[str, int]]:
    """Units that each user holds: by leaf, then by name."""
    users: dict[int, dict[str, int]] = {}
    for (leaf, user), units in books.requests.used_by.items():
        users.setdefault(leaf, {})[books.requests.users[user]] = units
    return users


def _rolled(rows: Rows, units: Mapping[int, int]) -> dict[int, int]:
    """Sums up to the root of what some leaves have; rows without any are left out."""
    found: dict[int, int] = {}
    for leaf, count in units.items():
        row = leaf
        while row >= 0:
            found[row] = found.get(row, 0) + count
            row = rows.tree.parent[row]
    return found


def _coming(look: Prospect) -> dict[int, int]:
    found: dict[int, int] = {}
    for each in look.coming:
        if each.taker != NOBODY:
            found[each.taker] = found.get(each.taker, 0) + each.units
    return found


def _running(core: Core, group: str) -> dict[int, int]:
    """Attempts by leaf."""
    found: dict[int, int] = {}
    for attempt in core.cluster.attempts.values():
        if attempt.job.resource_group == group:
            leaf = core.cluster.leaf_of(attempt.job)
            found[leaf] = found.get(leaf, 0) + 1
    return found


def consumer_explanation(
    core: Core, consumer: str, resource_group: str = "", *, would_help: bool = True
) -> Callable[[], Document]:
    """What `fairhold explain --json` prints, of the cycle that the state at hand would give.

    What is returned gives the document; it is called in another thread than the desk's, as it searches for the change
    that gives one slot more: of ten thousand consumers for some seconds.
    would_help : whether it is searched for
    resource_group : empty = all; raises InputError where a name is unknown
    """
    groups, plan, now = core.orchestrator.books, core.plan, core.orchestrator.now
    groups = {group: each for group, each in groups.items() if group != POOLED}
    pooled = _pooled_explanations(core, consumer, resource_group, would_help=would_help)
    if resource_group and resource_group not in {*groups, *vector_groups(plan)}:
        what = f"no policy shares the resource group `{resource_group}`"
        raise InputError([Fault("unknown-resource-group", what, f"use one of {', '.join(groups)}")])
    if consumer not in plan.tree.rows:
        mend = suggestion(plan.tree, consumer) or "name one of the plan"
        raise InputError([Fault("unknown-consumer", f"there is no consumer `{consumer}`", mend)])
    shared = [*(group for group in groups if group), *vector_groups(plan)]
    absent = absent_hosts(core, shared).get("hosts", {})
    away = (row for told in absent.values() for row in told["not_up"] if row["state"] == UNSEEN)
    unseen = {host for row in away for host in row["hosts"]}
    found = [
        (
            explain(plan, prospect(core, group).result, consumer, what_if=False),
            apart(groups[group], now) if would_help else None,
        )
        for group in groups
        if not resource_group or group == resource_group
    ]

    def document() -> Document:
        whole = [
            replace(each, what_if=one_more(plan, books, row, now, unseen))
            if books is not None and (row := books.rows.by_path[consumer])
            else each
            for each, books in found
        ]
        told = pooled()
        rows = [*map(as_document, whole), *(pools_as_document(each, _JOB) for each in told)]
        return {
            "explanations": [each | _absent(each, absent) for each in rows],
            "text": "\n".join([*map(sentence, whole), *(pools_sentence(each, _JOB) for each in told)]),
        }

    return document


def _absent(told: Document, absent: Mapping[str, Document]) -> Document:
    """The hosts that are not up of the groups that an explanation is about."""
    groups = told.get("resource_groups") or [told["resource_group"]]
    return not_up_in({group: absent[group] for group in groups if group in absent})


def _pooled_explanations(
    core: Core, consumer: str, resource_group: str, *, would_help: bool
) -> Callable[[], list[Document]]:
    """What is said of pools, of the state at hand; called in another thread than the desk's."""
    if POOLED not in core.cluster.books or consumer not in core.plan.tree.rows:
        return list
    plan, state, spans = core.plan, state_today(core), history_spans(core)

    def told() -> list[Document]:
        """With the span of the history that counts, beside what came of it."""
        found = explain_pools(plan, state, consumer, resource_group, what_if=would_help)
        return [
            each | next((span for groups, span in spans if groups == [*each["resource_groups"]]), {}) for each in found
        ]

    return told
