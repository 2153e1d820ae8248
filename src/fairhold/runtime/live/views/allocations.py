"""What runs now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.runtime.live.views.tasks import live_state
from fairhold.units import format_instant

if TYPE_CHECKING:
    from fairhold.runtime.live.core import Core

Document = dict[str, Any]


def allocations_document(core: Core, consumer: str = "", host: str = "") -> Document:
    """Every attempt, one row for each host on which it holds units, in the order of the starts.

    consumer : path, everything below it too; host : name, `-` = of plain slots. Empty: all
    """
    above, rows = consumer.rstrip("/"), []
    for attempt in core.cluster.attempts.values():
        path = attempt.job.consumer
        if above and not f"{path}/".startswith(f"{above}/"):
            continue
        notice = attempt.told
        rows += [
            {
                "attempt": attempt.name,
                "job": attempt.job.name,
                "task": attempt.index,
                "number": attempt.number,
                "consumer": path,
                "resource_group": attempt.job.resource_group,
                "user": attempt.job.terms.user,
                "host": place,
                "units": units,
                "unit": dict(attempt.job.terms.unit) or None,
                "pool": attempt.pool or None,
                "lenders": [*attempt.lenders],
                "devices": [*attempt.devices],
                "started": format_instant(attempt.started),
                "state": live_state(attempt),
                "deadline": format_instant(notice[0]) if notice else None,
                "for": notice[2] or None if notice else None,
            }
            for place, units in attempt.places
            if host in {"", place or "-"}
        ]
    return {"allocations": rows}
