"""`jobs --when` and `show --when` against a service that follows the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.cli.live.test_live_commands import fairhold
from tests.client.fake import LATER, NOW

if TYPE_CHECKING:
    from tests.client.fake import Fake


def expected(**told: Any) -> dict[str, Any]:
    return {"place": 2, "p50": NOW, "p90": LATER, "why": "", "at": NOW, "draws": 20} | told


def test_the_place_and_the_expected_start_are_shown_where_they_are_asked_for(fake: Fake) -> None:
    for _ in range(3):
        fairhold("submit", "/Research", "--", "true")
    fake.jobs["1"]["expected"] = expected()
    fake.jobs["2"]["expected"] = expected(place=None, p50=None, p90=None, why="it is held")
    fake.jobs["3"]["expected"] = expected(p90=None)
    lines = fairhold("jobs", "--when").stdout.splitlines()
    assert "expected=1" in fake.asked[-1][1]
    assert "place" in lines[0]
    assert "expected start" in lines[0]
    assert "9 of 10 by not told" in lines[1]
    assert "unknown: it is held" in lines[2]
    assert "9 of 10 by" in lines[3]
    said = fairhold("show", "1", "--when").stdout
    assert "in line" in said
    assert "number 2 of its leaf" in said
    assert "9 of 10 by" in said
    assert "expected=1" in next(path for _, path, *_ in fake.asked if path.startswith("/v1/jobs/1?"))
    assert "expected start" not in fairhold("jobs").stdout
