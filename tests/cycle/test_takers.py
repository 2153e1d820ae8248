"""For whom units are taken (R-FOR-1)."""

from __future__ import annotations

from tests.cycle.cluster import cycle


def test_r_for_1_what_a_withdrawn_notice_would_have_freed_is_on_its_way_to_nobody() -> None:
    seen = cycle(
        10,
        {
            "/A": {"owned": 4, "wants": 4},
            "/B": {"owned": 6, "wants": 6, "holds": 6},
            "/C": {"wants": 4, "holds": 4},
        },
        reclaims=[{"consumer": "/B", "units": 4, "for": "/A", "deadline": "2026-01-05T09:00:20Z"}],
    )
    assert seen.moved("withdrawn") == {"/B": 4}
    assert [(row["consumer"], row["for"], row["units"]) for row in seen.document["reclaims"]] == [("/C", "/A", 4)]
