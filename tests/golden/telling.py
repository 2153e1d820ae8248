"""All golden stories, and what is kept of each: a digest of its lines, and how many there are of each kind."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.golden.others import OTHERS
from tests.golden.scenes import SCENES
from tests.golden.stories import played

if TYPE_CHECKING:
    from tests.golden.stories import EventTrace

DIGESTS = Path(__file__).with_name("digests.json")
NAMES = (*SCENES, *OTHERS)


def story_of(name: str) -> EventTrace:
    """The story of a name."""
    return played(SCENES[name]) if name in SCENES else OTHERS[name]()


def told(name: str) -> dict[str, Any]:
    """The digest of a story, how many lines it has, and of a simulation how many of each kind of change."""
    digest, kinds, lines = sha256(), Counter[str](), 0

    def write(line: str) -> None:
        nonlocal lines
        lines += 1
        digest.update(line.encode())
        if name in SCENES:
            kinds[json.loads(line)[1]] += 1

    story_of(name)(write)
    found: dict[str, Any] = {"sha256": digest.hexdigest(), "lines": lines}
    return found | ({"changes": dict(sorted(kinds.items()))} if name in SCENES else {})
