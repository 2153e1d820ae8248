"""How many tasks wait: what is kept up to date is what counting all jobs gives."""

from __future__ import annotations

from random import Random

import pytest

from fairhold.orchestrator.waiting_jobs import WaitingJobs
from tests.orchestrator.storm import Storm


@pytest.mark.parametrize("seed", range(8))
def test_what_is_kept_up_to_date_is_what_counting_all_jobs_gives(seed: int) -> None:
    storm = Storm(Random(seed), forgets=seed % 2 == 0)
    waiting = WaitingJobs(storm.live.cluster)
    seen = set()
    for _ in range(60):
        storm.run(5)
        cluster = storm.live.cluster
        if waiting.cluster is not cluster:
            waiting = WaitingJobs(cluster)
        expected = [job for job in cluster.jobs.values() if job.startable]
        assert waiting.count() == len(expected)
        assert waiting.tasks == sum(job.startable for job in expected)
        assert waiting.oldest() is next(iter(expected), None)
        seen.add(len(expected))
    assert len(seen) > 1


def test_one_that_is_dropped_is_told_nothing_more() -> None:
    storm = Storm(Random(1), forgets=True)
    kept, dropped = WaitingJobs(storm.live.cluster), WaitingJobs(storm.live.cluster)
    assert {*storm.live.cluster.watches} == {kept, dropped}
    del dropped
    assert {*storm.live.cluster.watches} == {kept}
