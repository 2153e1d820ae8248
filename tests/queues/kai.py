"""The worked cases of KAI-Scheduler, in our terms (`cases/kai.json` says what its fields are)."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

from fairhold.ledger.queues import Queues, QueueTerms
from fairhold.model.queue import FairShareSettings
from fairhold.units import UNLIMITED

Json = dict[str, Any]
RESOURCES = ("cpu", "memory", "gpu")
"""In the order in which KAI looks at them."""


def exact(number: float) -> Fraction:
    return Fraction(str(number))


def in_order(queues: list[Json]) -> list[tuple[Json, str]]:
    """(queue, its parent) with parents first, siblings in the order of the case."""
    known, done, left = {queue["id"] for queue in queues}, {""}, list(queues)
    found: list[tuple[Json, str]] = []
    while left:
        for queue in left[:]:
            parent = queue["parent"] if queue["parent"] in known else ""
            if parent in done:
                found.append((queue, parent))
                done.add(queue["id"])
                left.remove(queue)
    return found


def base_of(case: Json) -> int:
    """Base units in one of the case, so that all its amounts are whole."""
    amounts = [
        queue[each][key] for queue in case["queues"] for each in RESOURCES if each in queue for key in queue[each]
    ]
    return lcm(*(exact(each).denominator for each in (*amounts, *(case.get("total") or {}).values())), 1000)


def of(queue: Json, resource: str, key: str) -> Fraction:
    return exact(queue.get(resource, {}).get(key, 0))


def column(queues: list[tuple[Json, str]], key: str, of_root: int, scale: int) -> tuple[list[int], ...]:
    """By resource, the number of the root and of every queue."""

    def units(queue: Json, resource: str) -> int:
        return UNLIMITED if of(queue, resource, key) == -1 else int(of(queue, resource, key) * scale)

    return tuple([of_root, *(units(queue, each) for queue, _ in queues)] for each in RESOURCES)


def numbers(
    case: Json, division: str = "exact"
) -> tuple[QueueTerms, dict[str, int], int, tuple[list[int], ...], tuple[dict[int, Fraction], ...]]:
    """Terms, queue → row, base units, requested by resource and row, usage by resource."""
    queues, base = in_order(case["queues"]), base_of(case)
    rows = {"": 0} | {queue["id"]: at + 1 for at, (queue, _) in enumerate(queues)}
    parents = [0, *(rows[parent] for _, parent in queues)]
    above: list[tuple[int, ...]] = [(0,)]
    for row in range(1, len(rows)):
        above.append((row, *above[parents[row]]))
    weights = lcm(*(of(queue, each, "weight").denominator for queue, _ in queues for each in RESOURCES))
    zeros = (0,) * len(rows)
    multiplier, k = exact(case.get("saturation_multiplier", 1)), exact(case.get("k") or 0)
    terms = QueueTerms(
        children=tuple(tuple(at for at in range(1, len(rows)) if parents[at] == row) for row in range(len(rows))),
        above=tuple(above),
        steps=(base,) * len(RESOURCES),
        settings=FairShareSettings(division, multiplier=multiplier, k=k),
        deserved=column(queues, "quota", UNLIMITED, base),
        limit=column(queues, "limit", UNLIMITED, base),
        weight=column(queues, "weight", weights, weights),
        weight_of_one=(weights,) * len(RESOURCES),
        priority=(0, *(queue["priority"] for queue, _ in queues)),
        reclaim_min_runtime=zeros,
        preempt_min_runtime=zeros,
        delay=zeros,
    )
    usage = tuple(
        {rows[queue["id"]]: of(queue, each, "usage") for queue, _ in queues if of(queue, each, "usage")}
        for each in RESOURCES
    )
    return terms, rows, base, column(queues, "request", 0, base), usage


def standing(case: Json) -> tuple[Queues, dict[str, int], int]:
    """How the queues of a case stand; it says their fair shares itself."""
    terms, rows, base, requested, _ = numbers(case)
    total = tuple(int(exact((case.get("total") or {}).get(each, 0)) * base) for each in RESOURCES)

    def column(key: str) -> tuple[list[int], ...]:
        found = [[0] * len(rows) for _ in RESOURCES]
        for queue in case["queues"]:
            for at, each in enumerate(RESOURCES):
                found[at][rows[queue["id"]]] = int(exact(queue.get(each, {}).get(key, 0)) * base)
        return tuple(found)

    fair = tuple([total[at], *each[1:]] for at, each in enumerate(column("fair_share")))
    return Queues(terms, total, requested, fair, column("allocated"), column("allocated_np")), rows, base  # type: ignore[arg-type]


def amounts(vector: Json | None, base: int) -> list[int]:
    return [int(exact((vector or {}).get(each, 0)) * base) for each in RESOURCES]
