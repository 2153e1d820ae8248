"""How fast the golden stories are, so that no step of a rebuilding loses any: see `tests/golden`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.golden.telling import NAMES, story_of

if TYPE_CHECKING:
    Row = dict[str, float]


def golden() -> dict[str, Row]:
    """Milliseconds of the processor for each story, the faster of two runs."""
    return {f"golden, {name}": {"ms": min(_took(name) for _ in range(2))} for name in NAMES}


def _took(name: str) -> float:
    lines: list[str] = []
    story = story_of(name)
    started = time.process_time()
    story(lines.append)
    return round((time.process_time() - started) * 1000, 1)
