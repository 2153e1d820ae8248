"""The service of the exploration: the real orchestrator as a function from a state and events to the next state.

A state is the text of its document (`freeze`), known by a number; what was decided once is remembered.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from fairhold.cycle.open import open_books
from fairhold.errors import InputError
from fairhold.model.state import State
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.events import Event, Woken
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.instructions import Forget, Notify, Start, Stop, Withdraw
from fairhold.orchestrator.outbox import Outbox
from fairhold.planio.plan import parse_plan
from tests.orchestrator.storm import check_cluster, written

HOSTS = ("here", "there")
BOTH_LEASED = HOSTS
"""Machines of the hosts where none is the service's own; its own is "", and is the first host or none."""
Message = tuple[Any, ...]

_texts: list[tuple[str, str]] = []
_number_of: dict[tuple[str, str], int] = {}


PLAN = parse_plan(
    json.dumps(
        {
            "fairhold": 1,
            "resource_groups": {"c": {"hosts": [{"name": name, "slots": 1} for name in HOSTS]}},
            "consumers": {"A": {}},
            "policies": [{"resource_groups": ["c"], "policy": "hybrid", "consumers": {"/A": {"owned": 2}}}],
        }
    ),
    "plan",
)[0]


def _books() -> Any:
    return open_books(PLAN, State(now=0))


def _keep(document: dict[str, Any], own: str) -> int:
    document["cycles"] = 0  # how many there were makes no state different
    text = json.dumps(document, sort_keys=True), own
    if text not in _number_of:
        _number_of[text] = len(_texts)
        _texts.append(text)
    return _number_of[text]


def cluster_of(number: int) -> Cluster:
    """The service's state of this number."""
    text, own = _texts[number]
    return thaw(json.loads(text), _books(), forgets=False, own=own)


@cache
def attempts_of(number: int) -> dict[int, tuple[int, str, str, bool]]:
    """Attempts that the service counts as not over: number → task, machine, why it is to stop, under notice."""
    return {
        each.name: (each.index, each.machine, each.stopping, each.notice is not None)
        for each in cluster_of(number).attempts.values()
    }


@cache
def gangs_of(number: int) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Of each attempt on several machines: these, and why it is to stop."""
    attempts = cluster_of(number).attempts.values()
    return tuple((each.machines, each.stopping) for each in attempts if len(each.machines) > 1)


@cache
def decide(number: int, events: tuple[Event, ...]) -> tuple[int, tuple[tuple[int, Message], ...]]:
    """What the service makes of events: its next state, and messages by host."""
    cluster, twin = cluster_of(number), cluster_of(number)
    live, outbox = Orchestrator(cluster, cycle_min_gap=0), Outbox()
    live.changed_all()
    live.handle(Woken(), 0)  # so that it knows the quotas, and hands slots on
    twin.cycles = cluster.cycles
    assert _keep(freeze(cluster), cluster.own) == number, "a second cycle changes nothing"
    places = {name: attempt.machine for name, attempt in cluster.attempts.items()}
    for event in [each for asked in events for each in (asked, Woken())]:
        try:
            orders = live.handle(event, 0)
        except InputError:  # nothing runs any more that could be requeued
            continue
        outbox.add(event, orders, cluster)
        places.update({name: attempt.machine for name, attempt in cluster.attempts.items()})
        for change in live.changes:
            twin.apply(written(change), 0)
        check_cluster(cluster)
    assert freeze(twin) == freeze(cluster), "the log gives the state that the service had"
    return _keep(freeze(cluster), cluster.own), tuple(_message(order, places, cluster) for order in outbox.take())


def _message(order: object, places: dict[int, str], cluster: Cluster) -> tuple[int, Message]:
    def at(machine: str) -> int:
        return next(row for row, host in enumerate(HOSTS) if cluster.machine_of(host) == machine)

    match order:
        case Start():
            return HOSTS.index(order.host), ("start", order.attempt)
        case Stop():
            return at(order.machine if order.reason == "stray" else places[order.attempt]), (
                "stop",
                order.attempt,
                order.reason,
            )
        case Notify():
            return at(places[order.attempt]), ("notice", order.attempt)
        case Withdraw():
            return at(places[order.attempt]), ("withdraw", order.attempt)
        case _:
            assert isinstance(order, Forget)
            return at(order.machine), ("forget", order.attempt)


def begin_of(machines: tuple[str, ...]) -> int:
    """The state of a service that knows nothing yet."""
    own = "" if machines == BOTH_LEASED else HOSTS[0]
    return _keep(freeze(Cluster(_books(), forgets=False, own=own)), own)
