"""GPU numbers of attempts (R-LIVE-3): each attempt has its own on a host; and other limits that an engine enforces."""

from __future__ import annotations

from itertools import count, islice
from typing import TYPE_CHECKING

from fairhold.ledger.vectors import POOLED

if TYPE_CHECKING:
    from fairhold.ledger.books import Books
    from fairhold.model.plan import Plan
    from fairhold.model.vector import Vector
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.cluster import Cluster

GPU, CPU, MEMORY = "gpu", "cpu", "memory"
"""Resources that mean something to an engine; all others are counted only."""
_BYTES: dict[str, int] = {
    **{name: 1024**at for at, name in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB"))},
    **{name: 1000**at for at, name in enumerate(("B", "kB", "MB", "GB", "TB", "PB"))},
}


class Devices:
    """GPU numbers in use, by host; a number is free again when its attempt is known to have ended."""

    def __init__(self, cluster: Cluster) -> None:
        self._plan, self._on_host = cluster.books[POOLED].rows.source, cluster.on_host

    def take(self, host: str, unit: Vector) -> tuple[int, ...]:
        """The lowest free numbers of a host for a unit that starts there now; none where it needs no whole GPUs."""
        taken = {number for attempt in self._on_host.get((POOLED, host), {}).values() for number in attempt.devices}
        free = (number for number in count() if number not in taken)
        return tuple(islice(free, whole_gpus(self._plan, unit) or 0))


def whole_gpus(plan: Plan, unit: Vector) -> int | None:
    """Number of whole GPUs of a unit; None where it asks for a part of one, or the plan gives GPUs no numbers."""
    for resource, amount in zip(plan.resources, unit, strict=True):
        if resource.name == GPU and resource.overcommit == 1 and amount % resource.base == 0:
            return amount // resource.base
    return None


def first_gpus(plan: Plan) -> dict[str, int]:
    """Host → number of its first GPU where all hosts are one machine: they go on from host to host, in plan order."""
    found: dict[str, int] = {}
    before = 0
    for group in plan.resource_groups.values():
        for host in group.hosts:
            found[host.name] = before
            if host.amounts:
                before += whole_gpus(plan, host.amounts) or 0
    return found


def bounds_of(books: Books, attempt: Attempt) -> tuple[tuple[int, ...] | None, int, int]:
    """What an engine keeps an attempt to: numbers of GPUs, thousandths of a core, bytes; as in `Start`."""
    unit = None if books.vectors is None else books.vectors.unit(attempt.job.terms.unit)
    if unit is None:
        return None, 0, 0
    plan = books.rows.source
    devices = None if whole_gpus(plan, unit) is None else attempt.devices
    return devices, cpu_of(plan, unit), memory_of(plan, unit)


def cpu_of(plan: Plan, unit: Vector) -> int:
    """Thousandths of a core that a unit needs, rounded up; 0 = it says nothing."""
    pairs = zip(plan.resources, unit, strict=True)
    return next((-(-amount * 1000 // each.base) for each, amount in pairs if each.name == CPU), 0)


def memory_of(plan: Plan, unit: Vector) -> int:
    """Bytes that a unit needs, rounded up; 0 = it says nothing, or the plan not what its memory is counted in."""
    for resource, amount in zip(plan.resources, unit, strict=True):
        if resource.name == MEMORY and resource.unit in _BYTES:
            return -(-amount * _BYTES[resource.unit] // resource.base)
    return 0
