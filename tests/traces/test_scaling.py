"""Another load, other times, the same way on any machine."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from fairhold.model.workload import ENDLESS, Workload
from fairhold.traces.scaling import Scaling, scaled
from tests.traces.support import faults_of, jobs_of, workload_of

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 4000
BASE = Workload(
    name=[f"j{at}" for at in range(COUNT)],
    submit=[1_000 * at + 7 for at in range(COUNT)],
    consumer=[at % 2 for at in range(COUNT)],
    tasks=[1] * COUNT,
    duration=[10 if at % 10 else ENDLESS for at in range(COUNT)],
    consumers=("/A/x", "/AB"),
)


def counts(workload: Workload) -> tuple[int, int]:
    return sum(each == 0 for each in workload.consumer), sum(each == 1 for each in workload.consumer)


def test_nothing_is_changed_by_nothing() -> None:
    assert jobs_of(scaled(BASE, Scaling())) == jobs_of(BASE)


def test_times_are_multiplied_from_the_first_submit() -> None:
    found = scaled(BASE, Scaling(time=Fraction(1, 3), duration=Fraction(5, 2), begin=1_000_000))
    assert list(found.submit[:4]) == [1_000_000, 1_000_333, 1_000_666, 1_001_000]
    assert list(found.duration[:2]) == [ENDLESS, 25]


def test_a_cut_keeps_its_distance_from_where_it_begins() -> None:
    found = scaled(BASE, Scaling(start=1_500, until=4_007, begin=0))
    assert found.name == ["j2", "j3"]
    assert list(found.submit) == [507, 1_507]
    assert len(scaled(BASE, Scaling(until=0))) == 0


@pytest.mark.parametrize("factor", [Fraction(0), Fraction(1, 4), Fraction(2), Fraction(5, 2)])
def test_load_is_multiplied(factor: Fraction) -> None:
    found = scaled(BASE, Scaling(load=(("/", factor),)))
    assert abs(len(found) - COUNT * factor) < 120
    assert len(set(found.name)) == len(found)
    assert list(found.submit) == sorted(found.submit)


def test_one_consumer_grows_and_the_others_stay_as_they_are() -> None:
    alone = scaled(BASE, Scaling(load=(("/", Fraction(1, 2)),)))
    found = scaled(BASE, Scaling(load=(("/", Fraction(1, 2)), ("/A", Fraction(3)))))
    assert counts(found)[0] == 3 * COUNT // 2
    others = [[job for job in jobs_of(each) if job[2] == "/AB"] for each in (alone, found)]
    assert others[0] == others[1]
    assert counts(scaled(BASE, Scaling(load=(("/", Fraction(1, 2)),), seed=1))) != counts(alone)


def test_a_factor_for_nobody_is_refused(tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text("at,ran\n0,4\n")
    section = "{kind: csv, file: j.csv, columns: {submit: at, duration: ran}, consumers: [{else: /A}], "
    (fault,) = faults_of(section + "scale: {load: {/B: 2}}}", tmp_path)
    assert (fault.code, "/B" in fault.what) == ("unknown-consumer", True)
    assert len(workload_of(section + "scale: {load: {/A: 2}}}", tmp_path)[0]) == 2


def test_the_section_scales(tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text("at,ran\n0,4\n10,4\n20,4\n")
    section = """
kind: csv
file: j.csv
columns: {submit: at, duration: ran}
consumers: [{else: /A}]
from: 1970-01-01T00:00:05Z
begin: 2026-01-05T09:00:00Z
scale: {time: 0.5, duration: 1.5, load: {/: 1, /A: 2}}
"""
    workload, _ = workload_of(section, tmp_path)
    begin = 1_767_603_600_000_000
    assert list(workload.submit) == [begin + at for at in (2_500_000, 2_500_000, 7_500_000, 7_500_000)]
    assert workload.name == ["job-3", "job-3~2", "job-4", "job-4~2"]
    assert set(workload.duration) == {6_000_000}
