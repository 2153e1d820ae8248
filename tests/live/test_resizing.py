"""Jobs that grow, tasks that are dropped one by one, and gangs with another minimum."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from fairhold.errors import InputError
from fairhold.model.kubernetes import Node
from fairhold.orchestrator.events import JobChanged, JobHeld, JobReleased, TaskCancelled
from fairhold.orchestrator.freeze import freeze
from fairhold.orchestrator.freezing import Freezing
from fairhold.orchestrator.tasks import JobRecord
from fairhold.runtime.live import in_force
from fairhold.runtime.live.recovery import frozen
from fairhold.runtime.live.views.tasks import tasks_page
from tests.live.play import Play

PLAN = """
fairhold: 1
resources: {gpu: {base: 1}}
resource_groups: {compute: {nodes: {}}}
consumers: {a: {reclaim_grace: 0s}, b: {reclaim_grace: 0s}}
policies:
  - {policy: fair_share, resource_groups: [compute], consumers: {/a: {deserved: {gpu: 8}}, /b: {deserved: {gpu: 0}}}}
"""
UNIT: dict[str, Any] = {"group": "", "unit": (("gpu", "1"),)}
SECOND = 1_000_000


@pytest.fixture
def play(tmp_path: Path) -> Play:
    found = Play(tmp_path, PLAN)
    in_force.change_nodes(found.core, {"n1": Node("n1", (), (("nvidia.com/gpu", Fraction(8)),))})
    found.commit()
    found.report("n1")
    return found


def record(play: Play, job: str) -> JobRecord:
    return play.core.cluster.jobs[job]


def running(play: Play, job: str) -> list[int]:
    """Indices of the tasks of a job that hold units and were not told to stop."""
    attempts = play.core.cluster.attempts
    return sorted(attempts[number].index for number in record(play, job).attempts if not attempts[number].stopping)


def resize(play: Play, job: str, **size: Any) -> None:
    play.core.change(JobChanged(job, **size), None)
    play.pass_time(2 * SECOND)


def test_a_gang_grows_one_by_one_and_gives_what_it_has_beyond_its_minimum_first(play: Play) -> None:
    gang = play.submit("/b", 4, min_count=4, **UNIT)
    play.pass_time(2 * SECOND)
    assert running(play, gang) == [0, 1, 2, 3]
    resize(play, gang, tasks=8)
    assert running(play, gang) == [0, 1, 2, 3, 4, 5, 6, 7]
    play.submit("/a", 3, **UNIT)
    play.pass_time(2 * SECOND)
    assert running(play, gang) == [0, 1, 2, 3, 4]
    play.submit("/a", 2, **UNIT)
    play.pass_time(2 * SECOND)
    assert running(play, gang) == []


def test_a_gang_with_another_minimum_waits_for_so_many(play: Play) -> None:
    play.submit("/a", 5, **UNIT)
    gang = play.submit("/a", 3, min_count=3, **UNIT)
    play.pass_time(2 * SECOND)
    assert running(play, gang) == [0, 1, 2]
    waiting = play.submit("/a", 2, min_count=2, **UNIT)
    play.feed(JobHeld(waiting))
    play.core.change(JobChanged(waiting, tasks=3, min_count=3), None)
    play.feed(JobReleased(waiting))
    attempts = list(record(play, gang).attempts)
    for number in attempts[:2]:
        play.end(number)
    play.pass_time(2 * SECOND)
    assert running(play, waiting) == []
    resize(play, waiting, min_count=2)
    assert running(play, waiting) == [0, 1]


def test_a_task_that_waits_is_dropped_and_others_go_on(play: Play) -> None:
    job = play.submit("/a", 4, **UNIT)
    play.feed(TaskCancelled(job, 0), TaskCancelled(job, 2), TaskCancelled(job, 2), TaskCancelled(job, 9))
    play.pass_time(2 * SECOND)
    assert running(play, job) == [1, 3]
    assert (record(play, job).dropped, record(play, job).waiting) == (2, 0)
    document = tasks_page(play.core, job)
    assert document is not None
    assert [each["state"] for each in document["tasks"]] == ["cancelled", "starting", "cancelled", "starting"]


def test_a_task_that_runs_is_stopped_and_does_not_wait_again(play: Play) -> None:
    job = play.submit("/a", 2, **UNIT)
    play.pass_time(2 * SECOND)
    first, second = record(play, job).attempts
    play.feed(TaskCancelled(job, 0))
    assert play.core.cluster.attempts[first].stopping == "cancel"
    play.end(first, "reclaim")
    play.end(second, "reclaim")
    play.pass_time(2 * SECOND)
    assert running(play, job) == [1]
    assert record(play, job).cancelled == 1
    play.end(next(iter(record(play, job).attempts)))
    assert job not in play.core.cluster.jobs or record(play, job).is_over


def test_a_task_that_waits_in_front_is_dropped(play: Play) -> None:
    job = play.submit("/a", 2, **UNIT)
    play.pass_time(2 * SECOND)
    play.feed(JobHeld(job))
    play.end(next(iter(record(play, job).attempts)), "reclaim")
    play.feed(TaskCancelled(job, 0), JobReleased(job))
    play.pass_time(2 * SECOND)
    assert running(play, job) == [1]
    assert record(play, job).waiting == 0


def test_a_job_all_of_whose_tasks_are_dropped_is_cancelled(play: Play) -> None:
    job = play.submit("/a", 1, **UNIT)
    play.feed(TaskCancelled(job, 0))
    play.commit()
    done = play.core.finished(job)
    assert done is not None
    assert done.state == "cancelled"


@pytest.mark.parametrize("snapshot", [False, True])
def test_a_start_knows_sizes_and_dropped_tasks(play: Play, *, snapshot: bool) -> None:
    gang = play.submit("/b", 2, min_count=2, **UNIT)
    play.core.change(JobChanged(gang, tasks=5, min_count=3), None)
    play.feed(TaskCancelled(gang, 1))
    play.pass_time(2 * SECOND)
    before = freeze(play.core.cluster)["changed"]
    play.restart(snapshot=snapshot)
    assert freeze(play.core.cluster)["changed"] == before
    assert (record(play, gang).terms.tasks, record(play, gang).terms.min_count) == (5, 3)
    assert running(play, gang) == [0, 2, 3, 4]


def test_a_snapshot_in_slices_has_the_size_from_its_beginning(play: Play) -> None:
    job = play.submit("/a", 2, **UNIT)
    before, sliced = freeze(play.core.cluster), Freezing(play.core.cluster)
    play.core.change(JobChanged(job, tasks=6), None)
    play.feed(TaskCancelled(job, 1))
    assert sliced.document() == before


@pytest.mark.parametrize(
    ("size", "code"),
    [
        ({"tasks": 3, "min_count": 4}, "gang-above-count"),
        ({"min_count": -1}, "gang-above-count"),
        ({"tasks": 2**41}, "too-large"),
        ({"tasks": 9, "min_count": 9}, "never-fits"),
    ],
)
def test_sizes_that_cannot_be_are_refused_and_change_nothing(play: Play, size: dict[str, Any], code: str) -> None:
    gang = play.submit("/b", 2, min_count=2, **UNIT)
    before = frozen(play.core)
    with pytest.raises(InputError) as refused:
        play.core.change(JobChanged(gang, **size), None)
    assert [fault.code for fault in refused.value.faults] == [code]
    assert frozen(play.core) == before


def test_a_change_of_which_one_part_is_refused_changes_nothing(play: Play) -> None:
    job = play.submit("/a", 2, **UNIT)
    with pytest.raises(InputError, match="out-of-range"):
        play.core.change(JobChanged(job, tasks=5, priority=2**80), None)
    assert record(play, job).terms.tasks == 2


def test_a_job_does_not_shrink(play: Play) -> None:
    job = play.submit("/a", 3, **UNIT)
    with pytest.raises(InputError, match="out-of-range"):
        play.core.orchestrator.handle(JobChanged(job, tasks=2), play.clock())
