"""What consumers own now is one number, for the live tree, usage and simulations alike."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.orchestrator.owned import owned_amounts
from fairhold.runtime.live.using import Terms, usage_document
from fairhold.runtime.live.views.consumers import consumers_document
from fairhold.units import SECOND
from tests.live.play import Play

if TYPE_CHECKING:
    from pathlib import Path

RATIOS = {
    "fairhold": 1,
    "resource_groups": {"compute": {"hosts": [{"name": "h1", "slots": 10}]}},
    "consumers": {"A": {}, "B": {}, "C": {}},
    "policies": [
        {
            "resource_groups": ["compute"],
            "policy": "share_ratio",
            "consumers": {"/A": {"share_ratio": 1}, "/B": {"share_ratio": 1}, "/C": {"share_ratio": 2}},
        }
    ],
}


def test_under_share_ratio_the_planned_share_is_owned(tmp_path: Path) -> None:
    """Of ten slots 2, 2 and 5, and one is nobody's: what is held up to that is own, more is borrowed."""
    play = Play(tmp_path, json.dumps(RATIOS))
    play.submit("/A", 7)
    play.submit("/B", 1)
    play.pass_time(SECOND)
    play.commit()
    rows = {row["path"]: row for row in consumers_document(play.core)["resource_groups"]["compute"]["consumers"]}
    names = ("owned", "quota", "allocated", "borrowed", "lent", "waiting")
    assert {path: tuple(row[name] for name in names) for path, row in rows.items()} == {
        "/A": (2, 7, 7, 5, 0, 0),
        "/B": (2, 1, 1, 0, 1, 0),
        "/C": (5, 0, 0, 0, 3, 0),
    }
    assert owned_amounts(play.core.cluster, "compute", "", play.clock.instant) == {"/A": 2, "/B": 2, "/C": 5}
    begin = play.clock.instant
    play.pass_time(10 * SECOND)
    tail, now = play.core.usage.tail(play.clock.instant), play.clock.instant
    told = usage_document(play.store, tail, begin, now, Terms(("consumer", "kind")))["rows"]
    passed = Fraction(now - begin, SECOND)
    assert {(row["consumer"], row["kind"]): Fraction(row["resource_seconds"]) / passed for row in told} == {
        ("/A", "own"): 2,
        ("/A", "borrowed"): 5,
        ("/B", "own"): 1,
        ("/B", "lent"): 1,
        ("/C", "lent"): 3,
        ("/", "lent"): 1,
    }
