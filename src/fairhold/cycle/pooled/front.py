"""Requests that stand behind many of their like: a cycle gives them nothing, and counts what they ask for.

Requests of one leaf for units of one size that hold nothing, for which nothing is held or on its way, and that say
nothing of hosts, are served in their order. Where they ask for as many units, and as gangs need as many, what bars one
of them bars all that stand behind it. So the first of each kind are looked at, and those behind them add only to the
demand of their leaf (R-USAGE-2), as the last in front does. Where that one got something, or something was taken for
it, those behind might have, too: the cycle is made again with all of them.

Not so where the order of all has a meaning of its own: under limits of users and of what is shared, which are given out
request by request, and where a control counts what a leaf misses.
"""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from fairhold.ledger.pool_terms import terms_of
from fairhold.model.siting import ANYWHERE
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import Request, State

LEAST = 32
"""Requests below which all are looked at."""
DEPTH = 8
"""Requests of a kind that are looked at: more than what comes free at a time can mostly serve."""
_age, _priority = attrgetter("submitted", "id"), attrgetter("priority")


class Front(NamedTuple):
    """The requests of a state that a cycle looks at.

    state  : with these alone
    behind : id of the last of a kind in front → how many stand behind it
    """

    state: State
    behind: dict[str, int]


def front_of(plan: Plan, entry: PolicyEntry, state: State) -> Front | None:
    """The requests that are enough for a cycle of an entry; None = it looks at all."""
    if entry.policy.has_queues or len(state.requests) < LEAST or not _is_plain(plan, entry):
        return None
    busy = {each.request for each in state.allocations}
    busy.update([each.request for each in state.held])
    busy.update([request for request, _ in state.freed])
    busy.update([each.taker_request for each in state.notices])
    kinds: dict[object, list[Request]] = {}
    for noun in state.requests:
        if noun.id not in busy and noun.siting == ANYWHERE:
            kinds.setdefault((noun.consumer, noun.unit, noun.count, noun.min_count), []).append(noun)
    behind: dict[str, int] = {}
    left_out: set[str] = set()
    for line in kinds.values():
        if len(line) > DEPTH:
            line.sort(key=_age)
            line.sort(key=_priority, reverse=True)
            behind[line[DEPTH - 1].id] = len(line) - DEPTH
            left_out.update([noun.id for noun in line[DEPTH:]])
    if not behind:
        return None
    return Front(replace(state, requests=tuple([noun for noun in state.requests if noun.id not in left_out])), behind)


def _is_plain(plan: Plan, entry: PolicyEntry) -> bool:
    """Whether nothing counts requests one by one."""
    settings, terms = entry.settings, terms_of(plan, entry)
    is_held_back = (
        settings.dead_zone or settings.await_ends or settings.observe_only or settings.max_reclaims is not None
    )
    return not (
        is_held_back
        or terms.limit
        or any(most < UNLIMITED for most in terms.user_limit)
        or any(each.min_runtime for each in entry.consumers.values())
    )
