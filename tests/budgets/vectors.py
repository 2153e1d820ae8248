"""Plans of vectors with a budget of /A, and what was used of it by brute force, from the log alone."""

from __future__ import annotations

import json
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.ledger.vectors import POOLED
from tests.live.test_usage import amounts, naive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.orchestrator.cluster import Cluster
    from fairhold.ports import Entry, Store

POLICIES = ("multidimensional", "fair_share")
HOSTS = {"h1": {"cpu": 8, "gpu": 4}, "h2": {"cpu": 4, "gpu": 4}}
GPU = (("cpu", "1"), ("gpu", "1"))
Piece = tuple[int, int, str, Fraction]
"""From, to before, of what, how much /A holds of it."""


def document_of(policy: str, then: str, **hours: float) -> dict[str, Any]:
    """Two hosts; /A, with a1 and a2, has a budget and owns h1, or deserves as much; /B gives back in 2 s."""
    mine: dict[str, Any] = {"budget": {"hours": hours or {"gpu": 1}, "period": "day", "then": then}}
    own = {"own": [{"resource_group": "g", "hosts": ["h1"]}]}
    deserved = {"deserved": {"cpu": 6, "gpu": 4}}
    mine |= own if policy == "multidimensional" else deserved
    theirs = {"share_ratio": 3} if policy == "multidimensional" else {"deserved": {"gpu": 2}}
    return {
        "fairhold": 1,
        "resources": {"cpu": {}, "gpu": {}},
        "resource_groups": {"g": {"hosts": [{"name": name, **has} for name, has in HOSTS.items()]}},
        "consumers": {"A": {"reclaim_grace": "5s", "consumers": {"a1": {}, "a2": {}}}, "B": {"reclaim_grace": "2s"}},
        "policies": [{"resource_groups": ["g"], "policy": policy, "consumers": {"/A": mine, "/B": theirs}}],
    }


def text_of(policy: str, then: str, **hours: float) -> str:
    return json.dumps(document_of(policy, then, **hours))


def _measure(cluster: Cluster, since: int, until: int) -> Iterator[Any]:
    """What /A holds between two entries of the log, and the largest part that this is of what there is."""
    held: dict[str, Fraction] = defaultdict(Fraction)
    there: dict[str, Fraction] = defaultdict(Fraction)
    for attempt in cluster.attempts.values():
        for name, amount in amounts(attempt):
            if attempt.job.consumer.startswith("/A/"):
                held[name] += amount
            if not cluster.is_open(POOLED, attempt.places[0][0]):
                there[name] += amount
    for host, has in HOSTS.items():
        for name, whole in has.items() if cluster.is_open(POOLED, host) else ():
            there[name] += whole
    parts = [held[name] / there[name] for name in ("cpu", "gpu") if there[name]]
    held["dominant_share"] = Fraction(int(max(parts, default=Fraction(0)) * 10**9), 10**9)
    for name in ("cpu", "gpu", "dominant_share"):
        yield since, until, name, held[name]


def pieces_of(store: Store, entries: list[Entry], end: int) -> list[Piece]:
    return naive(store, entries, end, _measure)  # type: ignore[return-value]  # other pieces, in its way


def used(pieces: list[Piece], name: str, begin: int, end: int) -> Fraction:
    """Amount times microseconds that /A has used between two instants."""
    times = ((max(0, min(until, end) - max(since, begin)), amount) for since, until, of, amount in pieces if of == name)
    return sum((micros * amount for micros, amount in times), Fraction(0))
