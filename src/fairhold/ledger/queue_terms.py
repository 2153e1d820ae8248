"""Settings of a `fair_share` entry for every queue of a plan: inheritance resolved, whole numbers (SPEC §7)."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, cast

from fairhold.ledger.pool_terms import MOST_KNOWN
from fairhold.ledger.queues import QueueTerms
from fairhold.model.plan import ConsumerSettings
from fairhold.model.queue import FairShareSettings
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.queue import Amounts

ROOT = 0


def queue_terms_of(plan: Plan, entry: PolicyEntry, members: Collection[int] | None = None) -> QueueTerms:
    """The terms of one entry, worked out once for a plan.

    members : first-level consumers that take part, None = all
    """
    mine = None if members is None else frozenset(members)
    known = plan.known.get("queue terms", ())
    for consumers, settings, those, terms in known:
        if consumers is entry.consumers and settings is entry.settings and those == mine:
            return cast("QueueTerms", terms)
    found = _queue_terms_of(plan, entry, members)
    plan.known["queue terms"] = (*known, (entry.consumers, entry.settings, mine, found))[-MOST_KNOWN:]
    return found


def _queue_terms_of(plan: Plan, entry: PolicyEntry, members: Collection[int] | None) -> QueueTerms:
    tree, nothing = plan.tree, ConsumerSettings()
    rows = range(len(tree))
    stated = [entry.consumers.get(row, nothing) for row in rows]
    queues = [each.queue for each in stated]
    above: list[tuple[int, ...]] = [(ROOT,)]
    for row in rows[1:]:
        above.append((row, *above[tree.parent[row]]))
    children = [tree.children[row] for row in rows]
    if members is not None:
        children[ROOT] = tuple(row for row in children[ROOT] if row in members)
    resources = range(len(plan.resources))
    weights = [_weights([queue.weight for queue in queues], at) for at in resources]
    reclaim = [_first(each.queue.reclaim_min_runtime, each.min_runtime) for each in stated]
    preempt = [_first(each.queue.preempt_min_runtime, each.min_runtime) for each in stated]
    return QueueTerms(
        children=tuple(children),
        above=tuple(above),
        steps=tuple(resource.step for resource in plan.resources),
        settings=entry.settings.fair_share or FairShareSettings(),
        deserved=tuple(_column([queue.deserved for queue in queues], at, 0) for at in resources),
        limit=tuple(_column([queue.limit for queue in queues], at, UNLIMITED) for at in resources),
        weight=tuple(weight for weight, _ in weights),
        weight_of_one=tuple(one for _, one in weights),
        priority=tuple(queue.priority for queue in queues),
        reclaim_min_runtime=_inherited(reclaim, tree.parent),
        preempt_min_runtime=_inherited(preempt, tree.parent),
        delay=_inherited([queue.preemption_delay for queue in queues], tree.parent),
    )


def _column(stated: Sequence[Amounts], at: int, default: int) -> list[int]:
    """By row, the amount of one resource; the root's is bounded by nothing."""
    return [UNLIMITED, *(dict(each).get(at, default) for each in stated[1:])]


def _weights(stated: Sequence[tuple[tuple[int, Fraction], ...]], at: int) -> tuple[list[int], int]:
    """By row, the weight as a whole number in proportion, and what stands for 1."""
    parts = [dict(each).get(at, Fraction(1)) for each in stated]
    one = lcm(*{part.denominator for part in parts})
    return [int(part * one) for part in parts], one


def _first(one: int | None, other: int | None) -> int | None:
    return other if one is None else one


def _inherited(stated: Sequence[int | None], parent: Sequence[int]) -> tuple[int, ...]:
    """By row what it states, else what the row above has; 0 where nobody does."""
    found: list[int] = []
    for row, mine in enumerate(stated):
        above = found[parent[row]] if row else 0
        found.append(above if mine is None else mine)
    return tuple(found)
