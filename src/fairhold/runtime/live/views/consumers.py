"""The live tree of every resource group, and why a consumer's numbers are what they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairhold.cycle.explain import apart, explain, one_more
from fairhold.cycle.explain.pooled.document import explain_pools
from fairhold.errors import Fault, InputError
from fairhold.kernels.columns import zeros
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
from fairhold.runtime.live.views.pools import pools_group
from fairhold.runtime.live.views.presence import absent_hosts
from fairhold.runtime.live.views.prospect import prospect
from fairhold.runtime.live.views.queues import history_spans, state_today
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from fairhold.ledger.books import Books
    from fairhold.ledger.rows import Rows
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.views.prospect import Prospect

Document = dict[str, Any]
Row = tuple[Any, ...]
"""Values of a consumer in the order of `NAMES`."""
SUMS = ("demand", "allocated", "reclaiming", "coming", "running")
NAMES = (
    *("path", "leaf", "rank", "owned", "reserved", "limit", "quota", *SUMS, "borrowed", "lent", "waiting"),
    *("users", "user_limit", "budget", "amounts", "queue"),
)
_JOB = "job "
"""What stands before a request in a sentence: requests of the service are jobs."""


def consumers_document(core: Core, consumer: str = "") -> Document:
    """Every resource group with its consumers, parents before children, in path order.

    consumer : path: only it, those above it, and the children of all of these; empty = all
    """
    groups = {name: (head, rows) for name, head, rows in live_groups(core)}
    if consumer:
        groups = {
            name: (head, [row for row in rows if is_near(row[0], consumer)]) for name, (head, rows) in groups.items()
        }
    told = {name: group_of(head, rows) for name, (head, rows) in groups.items()}
    return {"version": None, "since": None, "resource_groups": told}


def is_near(path: str, consumer: str) -> bool:
    """Whether a path is that of a consumer, of one above it, or of a child of one of these."""
    return f"{consumer.rstrip('/')}/".startswith(path[: path.rindex("/") + 1])


def live_groups(core: Core) -> Iterator[tuple[str, Document, list[Row]]]:
    """Name of each resource group, what is said of it, and the values of its consumers."""
    for group, books in core.orchestrator.books.items():
        if group == POOLED:
            document = pools_group(core)
            rows = [tuple(each[name] for name in NAMES) for each in document["consumers"]]
            yield books.rows.group.name, document, rows
        else:
            yield books.rows.group.name, *_of_slots(core, group)


def group_of(head: Document, rows: Iterable[Row]) -> Document:
    """A resource group as a document."""
    return head | {"consumers": [dict(zip(NAMES, row, strict=True)) for row in rows]}


def group_document(core: Core, group: str) -> Document:
    """A resource group of slots."""
    return group_of(*_of_slots(core, group))


def _of_slots(core: Core, group: str) -> tuple[Document, list[Row]]:
    """What is said of a resource group of slots, and the values of its consumers.

    A parent's numbers are the sums of its leaves'; owned, borrowed, lent, reserved, limit and quota are its own.

    owned     : whole slots owned now (R-SCALE-1), under `share_ratio` the planned share
    borrowed  : allocated beyond owned; lent : owned and allocated by others (`orchestrator.lending`)
    demand    : units that run, or may start as soon as there are slots; waiting : those of them that do not run
    reclaiming : of what it holds, units under notice; coming : units under notice that are on their way to it
    """
    look = prospect(core, group)
    books, result = look.books, look.division
    rows, slots = books.rows, result.snapshot.slots
    sums = _sums(core, look)
    # What is held uses a budget up with time alone, whether or not anything happens.
    users, budgets = _users(books), budgets_of(books, max(core.now(), core.orchestrator.now))
    loans, none = lending(books), dict[str, int]()
    columns: tuple[Callable[[int], Any], ...] = (
        rows.path,
        rows.is_leaf,
        rows.rank,
        owned_slots(rows, slots).__getitem__,
        result.draft.needs.reserve.__getitem__,
        lambda row: _or_none(rows.plan.limit[row]),
        result.draft.quota.__getitem__,
        *(sums[name].__getitem__ for name in SUMS),
        lambda row: loans.borrowed.get(row, 0),
        lambda row: loans.lent.get(row, 0),
        lambda row: max(0, sums["demand"][row] - sums["allocated"][row]),
        lambda row: users.get(row, none),
        lambda row: _or_none(rows.controls.user_limit[row]),
        budgets.get,
        lambda _: None,
        lambda _: None,
    )
    shown = rows.tree.path[1:]
    grants, reclaims = core.cluster.paused.get(group, (False, False))
    head = {
        "slots": slots,
        "idle": result.snapshot.idle,
        "resources": None,
        "paused": {"grants": grants, "reclaims": reclaims},
        "hosts": look.presence,
    }
    return head, list(zip(*(map(column, shown) for column in columns), strict=True))


def _sums(core: Core, look: Prospect) -> dict[str, array[int]]:
    """Units of every consumer and of all below it."""
    books, result, rows = look.books, look.division, look.books.rows
    return {
        "demand": result.snapshot.demand,
        "allocated": result.snapshot.held,
        "reclaiming": _rolled(rows, dict(enumerate(books.noticed))),
        "coming": _rolled(rows, _coming(core, look.group)),
        "running": _rolled(rows, _running(core, look.group)),
    }


def _or_none(limit: int) -> int | None:
    return None if limit >= UNLIMITED else limit


def _users(books: Books) -> dict[int, dict[str, int]]:
    """Units that each user holds: by leaf, then by name."""
    users: dict[int, dict[str, int]] = {}
    for (leaf, user), units in books.requests.used_by.items():
        users.setdefault(leaf, {})[books.requests.users[user]] = units
    return users


def _rolled(rows: Rows, units: Mapping[int, int]) -> array[int]:
    """Sums up to the root of what leaves have."""
    column = zeros(len(rows))
    for leaf, count in units.items():
        column[leaf] = count
    parent = rows.tree.parent
    for row in range(len(rows) - 1, 0, -1):
        column[parent[row]] += column[row]
    return column


def _coming(core: Core, group: str) -> dict[int, int]:
    found: dict[int, int] = {}
    for each in prospect(core, group).coming:
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


def consumer_explanation(core: Core, consumer: str, resource_group: str = "") -> Callable[[], Document]:
    """What `fairhold explain --json` prints, of the cycle that the state at hand would give.

    What is returned gives the document; it is called in another thread than the desk's, as it searches for the change
    that gives one slot more, for up to some tenths of a second.
    resource_group : empty = all; raises InputError where a name is unknown
    """
    groups, plan, now = core.orchestrator.books, core.plan, core.orchestrator.now
    groups = {group: each for group, each in groups.items() if group != POOLED}
    pooled = _pooled_explanations(core, consumer, resource_group)
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
        (explain(plan, prospect(core, group).result, consumer, what_if=False), apart(groups[group], now))
        for group in groups
        if not resource_group or group == resource_group
    ]

    def document() -> Document:
        whole = [
            replace(each, what_if=one_more(plan, books, row, now, unseen))
            if (row := books.rows.by_path[consumer])
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


def _pooled_explanations(core: Core, consumer: str, resource_group: str) -> Callable[[], list[Document]]:
    """What is said of pools, of the state at hand; called in another thread than the desk's."""
    if POOLED not in core.cluster.books or consumer not in core.plan.tree.rows:
        return list
    plan, state, spans = core.plan, state_today(core), history_spans(core)

    def told() -> list[Document]:
        """With the span of the history that counts, beside what came of it."""
        found = explain_pools(plan, state, consumer, resource_group)
        return [
            each | next((span for groups, span in spans if groups == [*each["resource_groups"]]), {}) for each in found
        ]

    return told
