"""`explain` of files: the derivation of one consumer's numbers, or why one request waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cli.files import open_plan, print_json, print_text, unknown
from fairhold.cli.pool_requests import called, request_text
from fairhold.cli.pool_words import moves_in_words, pools_in_words, printable_lines
from fairhold.cli.presence import with_hosts
from fairhold.cli.queue_requests import request_text as queue_text
from fairhold.cli.words import document_in_words
from fairhold.cycle.open import open_books
from fairhold.cycle.pooled.active_entries import entries_in_force
from fairhold.errors import ArgumentError, Fault, count
from fairhold.model.presence import absent_by
from fairhold.model.siting import words_of
from fairhold.planio.state import read_state
from fairhold.runtime.explained import of_pools, of_slots

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fairhold.cli.pools import Document
    from fairhold.model.plan import Plan
    from fairhold.model.state import Request, State


def print_explanation(plan_path: Path, state_path: Path, name: str, group: str, *, as_json: bool) -> None:
    """`explain`: of a consumer, or of one request where resources are shared.

    name : a path, or the id of a request; of a request for slots the numbers of its leaf are told
    """
    plan = open_plan(plan_path)
    state = read_state(state_path, plan)
    asks = next((each for each in state.requests if each.id == name), None) if name not in plan.tree.rows else None
    consumer = plan.tree.paths[asks.consumer] if asks else name
    if consumer not in plan.tree.rows:
        raise ArgumentError([_neither(plan, state, name)])
    shared = (
        *open_books(plan, state),
        *(name for force in entries_in_force(plan, state.now) for name in force.entry.resource_groups),
    )
    if group and group not in shared:
        raise ArgumentError([unknown("resource group", group, shared)])
    pools = of_pools(plan, state, consumer, group, asks.id if asks else "")
    alone = [*_alone(pools, asks.id)] if asks else []
    if alone:
        if as_json:
            print_json(alone)
        else:
            print_text("\n\n".join(_in_words(told) for told in alone))
        return
    told = [*of_slots(plan, state, consumer, group, wants_more=asks is None), *pools]
    told = [each | absent_by(plan, state, each.get("resource_groups") or [each["resource_group"]]) for each in told]
    if as_json:
        print_json(told)
        return
    words = explanations_in_words(told) or f"{consumer} takes no part in {group or 'any resource group'}"
    print_text(f"{_asks_for(asks, consumer)}\n\n{words}" if asks and not asks.unit else words)


def _asks_for(request: Request, leaf: str) -> str:
    """What a request for slots asks for: what is told after it is of its leaf."""
    gang = f" (at least {request.min_count})" if request.min_count else ""
    hosts = words_of(request.siting)
    wants = f"{count(request.count, 'slot')}{gang} of {request.resource_group}"
    return (
        f"Request {request.id} of {leaf}: {wants}{f' on hosts {hosts}' if hosts else ''}. The numbers are its leaf's."
    )


def explanations_in_words(told: Sequence[Document]) -> str:
    """Explanations of one consumer, of slots and of pools, as text."""
    words = (with_hosts((document_in_words if "levels" in each else pools_in_words)(each), each) for each in told)
    return "\n\n".join(words)


def _alone(pools: list[Document], name: str) -> Iterator[Document]:
    """Explanations of a leaf with one of its requests alone."""
    for told in pools:
        rows = [row for row in told["requests"] if row["request"] == name]
        if rows:
            moves = [move for move in told["moves"] if name in {move["request"], move.get("for")}]
            yield told | {"requests": rows, "moves": moves}


def _in_words(told: Document) -> str:
    told = called(told, "request")
    rows = (queue_text(row) if "preemptible" in row else request_text(row) for row in told["requests"])
    return "\n\n".join(map(printable_lines, (*rows, *moves_in_words(told))))


def _neither(plan: Plan, state: State, name: str) -> Fault:
    """A name is that of no consumer in the plan and of no request in the state; the nearest of all is suggested."""
    from difflib import get_close_matches  # noqa: PLC0415

    requests = [each.id for each in state.requests]
    if name.startswith("/") or not requests:
        return unknown("consumer", name, plan.tree.paths)
    near = get_close_matches(name, [*requests, *plan.tree.paths], n=1)
    what = f"there is no request `{name}` in the state, and no consumer of that name in the plan"
    few = ", ".join(requests[:10]) + (", …" if len(requests) > 10 else "")
    mend = f"did you mean `{near[0]}`?" if near else f"requests are: {few}; a consumer is named by its path, as `/A/B`"
    return Fault("unknown-request", what, mend)
