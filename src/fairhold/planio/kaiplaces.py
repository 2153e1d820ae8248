"""The place of each key in a file for KAI-Scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.errors import Place
    from fairhold.planio.values import Value


def places_of(value: Value, key: str) -> Iterator[Place]:
    """Where a key stands, however deep."""
    members: Iterable[tuple[str | int, Value]] = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    for step, below in members:
        if step == key:
            yield (step,)
        for place in places_of(below, key):
            yield (step, *place)
