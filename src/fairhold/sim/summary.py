"""The integer summary of a run: the same scenario gives the same document on every machine.

Times are microseconds, amounts slots or base units, products of both unit-microseconds; parts are millionths. `base`
says how many base units one `unit` of the resource has, and lists that end in `_in` go by pieces of the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairhold.sim.account import Account
    from fairhold.sim.measures import Measures
    from fairhold.sim.submitting import Refused

MILLION = 1_000_000
Document = dict[str, Any]


def part(one: int, whole: int) -> int:
    """One number as millionths of another, rounded down; 0 of nothing."""
    return one * MILLION // whole if whole else 0


def quantile(ordered: Sequence[int], percent: int) -> int:
    """The smallest number that so many hundredths are not above; 0 where there is none."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)] if ordered else 0


def spread(values: Iterable[int]) -> Document:
    """How many, mean, median, the 90th, 95th and 99th hundredth, the largest."""
    ordered = sorted(values)
    found: Document = {"count": len(ordered), "mean": sum(ordered) // len(ordered) if ordered else 0}
    for percent in (50, 90, 95, 99):
        found[f"p{percent}"] = quantile(ordered, percent)
    return found | {"max": ordered[-1] if ordered else 0}


def histogram(values: Iterable[int]) -> list[list[int]]:
    """Pairs of an upper bound, twice as large each, and how many values are not above it but above the one before."""
    counts: dict[int, int] = {}
    for value in values:
        bound = 1 << max(0, value - 1).bit_length()
        counts[bound] = counts.get(bound, 0) + 1
    return [[bound, counts[bound]] for bound in sorted(counts)]


def jain(values: Sequence[int]) -> int:
    """Jain's index of fairness in millionths: all of them where all have as much, 1/n where one has it all."""
    squares = len(values) * sum(value * value for value in values)
    return part(sum(values) ** 2, squares) if squares else MILLION


def summarize(measures: Sequence[Measures], refused: Mapping[tuple[str, str], Refused], digest: str) -> Document:
    """The document of a run that is over."""
    spans = measures[0].spans
    return {
        "fairhold_summary": 1,
        "begin": spans.begin,
        "end": measures[0].end,
        "piece": spans.piece,
        "shared": [_shared(each) for each in measures],
        "never_run": [
            {"consumer": consumer, "code": code, "jobs": each.jobs, "first": each.job, "what": each.what}
            for (code, consumer), each in sorted(refused.items())
        ],
        "log": digest,
    }


def _shared(measures: Measures) -> Document:
    room = measures.room.use
    used = measures.accounts["/"].use
    consumers = {path: _consumer(measures, path) for path in measures.accounts}
    first = [path for path in consumers if path.count("/") == 1 and path != "/"]
    ratios = [
        part(account.use, account.owed)
        for account in map(measures.accounts.__getitem__, first)
        if account.demand and account.owed
    ]
    return {
        "resource_group": measures.group,
        "resource": measures.resource,
        "unit": measures.unit,
        "base": measures.base,
        "capacity": room,
        "used": used,
        "utilisation": part(used, room),
        "fairness": jain(ratios),
        "taken": [[*way, count] for way, count in sorted(measures.taken.items())],
        "preempted_again": [[*way, count] for way, count in sorted(measures.preempted_again.items())],
        "capacity_in": list(measures.room.allocated_in),
        "notified_in": [[piece, count] for piece, count in sorted(measures.notified_in.items())],
        "lost_in": [[piece, lost] for piece, lost in sorted(measures.lost_in.items())],
        "consumers": consumers,
    }


def _consumer(measures: Measures, path: str) -> Document:
    account: Account = measures.accounts[path]
    below = "/" if path == "/" else f"{path}/"
    mine = [each for leaf, each in sorted(measures.tallies.items()) if leaf == path or leaf.startswith(below)]
    leaves = [each for each in measures.accounts if each == path or each.startswith(below)]
    waits = [wait for each in mine for wait in each.waits]
    slowdowns = [each for one in mine for each in one.slowdowns]
    return {
        **{
            name: getattr(account, name)
            for name in ("use", "demand", "own", "borrowed", "unused", "deficit", "longest")
        },
        "owned": account.owed,
        "left_waiting": max(0, account.wanted - account.held),
        **{name: sum(getattr(each, name) for each in mine) for name in _COUNTS},
        "wait": spread(waits),
        "job_wait": spread(wait for each in mine for wait in each.job_waits),
        "starvation": spread(each for leaf in leaves for each in measures.starvation.stretches(leaf)),
        "slowdown": spread(slowdowns),
        "release": spread(each for one in mine for each in one.released),
        "allocated_in": list(account.allocated_in),
        "demand_in": list(account.demand_in),
        "deficit_in": list(account.deficit_in),
        "owned_in": list(account.owned_in),
        "borrowed_in": list(account.borrowed_in),
        **(
            {}
            if measures.quotas is None
            else {"quota_in": measures.quotas.column(path, len(measures.room.allocated_in))}
        ),
        "waits": histogram(waits),
        "slowdowns": histogram(slowdowns),
    }


_COUNTS = ("submitted", "finished", "failed", "notified", "withdrawn", "stopped", "lost")
