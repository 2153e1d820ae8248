"""Which limits of a unit the kernel enforces on a host, as text for users (docs/adr/0025)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

LIMITS = {
    "memory": "memory is checked once a second, and a task above its unit is stopped",
    "cpu": "a task may use more processor time than its unit",
}
"""Resources that a host can limit, and what it means where it does not."""


def limits_missing(enforced: Collection[str], handed_out: Collection[str]) -> tuple[str, ...]:
    """What a plan hands out and a host does not limit."""
    return tuple(name for name in LIMITS if name in handed_out and name not in enforced)


def said_of(host: str, missing: Collection[str]) -> str:
    """What is missing on a host, in one line."""
    what = "; ".join(LIMITS[name] for name in missing)
    return f"{host} has no control groups that limit {' and '.join(missing)}: {what}"
