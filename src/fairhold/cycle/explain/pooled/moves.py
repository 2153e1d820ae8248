"""What a cycle moves that a consumer has to do with; of what is stopped also for whom."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain.pooled.inquiry import Document, Inquiry

_KINDS = ("stops", "grants", "reclaims", "withdrawn")


def moves_of(inquiry: Inquiry) -> Iterator[Document]:
    """Rows of the cycle for what the consumer, or one below it, holds, gets or waits for."""
    mine = {asked.model.id for asked in inquiry.asked()}
    for kind in _KINDS:
        for move in getattr(inquiry.cycle, kind):
            for row in _stopped(inquiry, move) if kind == "stops" else (move,):
                if row["request"] in mine or row.get("for") in mine:
                    yield {"kind": kind, **row}


def _stopped(inquiry: Inquiry, move: Document) -> Iterator[Document]:
    """Units that are stopped on one host, by whom they go to."""
    state, units = inquiry.state, Counter[str]()
    for notice in state.notices:
        if notice.deadline <= state.now and (notice.request, notice.host) == (move["request"], move["host"]):
            units[notice.taker_request] += notice.units
    if units.total() != move["units"]:
        yield move | {"for": None}
        return
    for taker, number in units.items():
        yield move | {"units": number, "for": taker or None}
