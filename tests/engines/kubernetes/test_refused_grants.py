"""Grants that the API server refuses: what they hold is given back, and people are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.engines.kubernetes.pods import pod_of
from fairhold.engines.kubernetes.refusing import DOUBLED, FIRST, Refusals
from fairhold.units import SECOND
from tests.engines.kubernetes.pretended import Pretended

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.engines.kubernetes.writes import Write

WHY = "admission policy `images` denied the request"


class Refusing(Pretended):
    """Another policy refuses grants of some pods. tries : grants of each that were refused"""

    def __init__(self, directory: Path, *refused: str) -> None:
        self.refused, self.tries = set(refused), dict.fromkeys(refused, 0)
        super().__init__(directory)

    def _apply(self, write: Write) -> None:
        name = write.path.rpartition("/")[2]
        if write.what == "grant" and name in self.refused:
            self.tries[name] += 1
            self.governor.wrote(write.uid, pod_of(self.pods[write.uid]), is_done=False, refusal=WHY)
        else:
            super()._apply(write)


def test_a_refused_grant_gives_its_units_back_and_says_why(tmp_path: Path) -> None:
    cluster = Refusing(tmp_path, "first")
    cluster.pod("first", gpus=8)
    cluster.settle(1)
    cluster.pod("second", gpus=8)
    cluster.settle(10)
    assert cluster.running() == ["second"]
    assert WHY in cluster.why("first")
    assert cluster.tries["first"] < 5
    cluster.finish("second")
    cluster.refused.clear()
    cluster.settle(60)
    assert cluster.running() == ["first"]


def test_a_hold_for_a_refused_grant_ends_with_a_restart(tmp_path: Path) -> None:
    cluster = Refusing(tmp_path, "first")
    cluster.pod("first", gpus=8)
    cluster.settle(10)
    (job,) = cluster.jobs()
    assert WHY in (job.hold or "")
    cluster.refused.clear()
    cluster.restart()
    assert cluster.running() == ["first"]


def test_it_is_tried_again_later_and_later() -> None:
    refusals, now = Refusals(), 0
    waits = []
    for _ in range(DOUBLED + 3):
        waits.append((refusals.add("1", now) - now) // SECOND)
        assert list(refusals.over(now)) == []
        now += waits[-1] * SECOND
        assert [each.job for each in refusals.over(now)] == ["1"]
    assert waits[:3] == [60, 120, 240]
    assert waits[-1] == waits[-2] == (FIRST << DOUBLED) // SECOND
    refusals.drop("1")
    assert refusals.add("1", 0) == FIRST
