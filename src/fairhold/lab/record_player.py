"""A record played under another plan, in a process of its own: `python -m fairhold.lab.record_player`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.lab.other_plan import play_both
from fairhold.lab.recording import FOR_EVER, record
from fairhold.lab.sources import GivenSource
from fairhold.sim.own_process import answer_once

if TYPE_CHECKING:
    from collections.abc import Mapping


def answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What came of a log, and what would have come under `text`; InputError where that cannot be told."""
    found = record(GivenSource(asked["log"]), asked["since"], asked["until"] or FOR_EVER)
    return play_both(found, asked["text"])


if __name__ == "__main__":
    answer_once(answer)
