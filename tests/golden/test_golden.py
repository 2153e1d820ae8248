"""Whole logs are those that were written down: no decision is another, none comes at another instant."""

from __future__ import annotations

import json

import pytest

from tests.golden.telling import DIGESTS, NAMES, told

KEPT = json.loads(DIGESTS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_the_log_is_the_one_that_was_written_down(name: str) -> None:
    assert told(name) == KEPT[name], "python -m tests.golden FOLDER writes the whole logs, to compare them"


def test_every_digest_is_of_a_story_and_much_happens_in_them() -> None:
    assert list(KEPT) == list(NAMES)
    changes = {kind: sum(each.get("changes", {}).get(kind, 0) for each in KEPT.values()) for kind in KINDS}
    assert all(count >= least for least, count in zip(KINDS.values(), changes.values(), strict=True)), changes


KINDS = {
    "Started": 10_000,
    "Noticed": 2_000,
    "Withdrawn": 200,
    "Stopping": 2_000,
    "Kept": 500,
    "Drained": 20,
    "WindowOpened": 8,
    "BudgetsSpent": 3,
    "OwnershipAdjusted": 10,
}
"""Kinds of changes that the scenes must have, and how many at least."""
