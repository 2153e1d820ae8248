"""Tenants calibrated from a trace submit like it, and the file that says so is read back as it was."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from fairhold.model.workload import ENDLESS
from fairhold.traces.fitting import Job, fit, jobs_of
from fairhold.traces.inventing import invent
from fairhold.traces.telling import by_consumer
from fairhold.traces.tenantkeys import parse_tenants
from fairhold.traces.tenantwriting import tenants_text

if TYPE_CHECKING:
    from fractions import Fraction

    from fairhold.model.workload import Workload
    from fairhold.traces.tenants import Tenants

KNOWN = """
fairhold_tenants: 1
seed: 3
begin: 2026-01-05T00:00:00Z
length: 56d
tenants:
  /Rhythm:
    jobs_per_day: 200
    hours: [1, 1, 1, 1, 1, 1, 1, 1, 4, 4, 4, 4, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2]
    weekdays: [2, 2, 2, 2, 2, 1, 1]
    users: {ann: 3, bob: 1}
    jobs:
      - {weight: 9, duration: {shape: lognormal, median: 10m, p90: 4h}}
      - {weight: 1, tasks: {sizes: [16, 32], weights: [3, 1]}, duration: {shape: lognormal, median: 2h, p90: 8h}}
    services: [{count: 3, tasks: 2, after: 1h}]
  /Bursts:
    jobs_per_day: 300
    bursts: {share: 0.6, jobs: 15, within: 20s}
    jobs: [{duration: 5m, unit: {cpu: 2, gpu: 0.5}, priority: 3, preemptible: false, gang: false, tasks: 4}]
  "/Swings one": {jobs_per_day: 200, follows: 0.8, jobs: [{duration: 5m}]}
  /Swings/two: {jobs_per_day: 200, follows: 0.8, wanders: 0.7, jobs: [{duration: 5m}]}
"""


@cache
def known() -> Workload:
    return invent(parse_tenants(KNOWN, "known.yaml"))


@cache
def fitted() -> Tenants:
    found = fit(jobs_of([known()]))
    assert found is not None
    return found


def near(found: Fraction | float, wanted: float, by: float) -> bool:
    return abs(float(found) / wanted - 1) <= by


def test_what_was_put_in_is_found_again() -> None:
    rhythm, one, two, bursts = sorted(fitted().tenants, key=lambda tenant: "RSSB".index(tenant.path[1]))
    if two.path == "/Swings one":
        one, two = two, one
    assert near(rhythm.rate, 200, 0.05)
    assert near(sum(rhythm.hours[8:16]) / sum(rhythm.hours[:8]), 4, 0.1)
    assert near(sum(rhythm.weekdays[:5]) / sum(rhythm.weekdays[5:]), 5, 0.1)
    assert not rhythm.bursts.share
    assert rhythm.follows < 0.35
    assert rhythm.wanders < 0.3
    assert [name for name, _ in rhythm.users] == ["ann", "bob"]
    assert near(rhythm.users[0][1] / rhythm.users[1][1], 3, 0.1)
    assert [kind.weight > 7_000 for kind in rhythm.kinds] == [True, False]
    assert [(each.count, each.tasks, each.after) for each in rhythm.services] == [(3, 2, 3_600_000_000)]
    assert near(1 + 2 * bursts.bursts.share * (bursts.bursts.jobs - 1), 1 + 2 * 0.6 * 14, 0.35)
    assert bursts.kinds[0].unit == (("cpu", "2"), ("gpu", "0.5"))
    assert (bursts.kinds[0].priority, bursts.kinds[0].preemptible, bursts.kinds[0].gang) == (3, False, False)
    assert near(one.follows, 0.8, 0.25)
    assert near(two.follows, 0.8, 0.35)
    assert one.wanders < 0.4 < two.wanders


def test_what_is_invented_from_it_is_like_the_trace() -> None:
    trace = by_consumer(known())
    copy = by_consumer(invent(fitted()))
    assert copy.keys() == trace.keys()
    for path, each in trace.items():
        assert near(copy[path].jobs, each.jobs, 0.25), path
        assert near(copy[path].work / copy[path].jobs, each.work / each.jobs, 0.15), path
        assert copy[path].endless == each.endless
    rhythm = copy["/Rhythm"], trace["/Rhythm"]
    assert rhythm[0].median is not None
    assert rhythm[1].median is not None
    assert near(rhythm[0].median, rhythm[1].median, 0.1)


def test_the_file_is_read_back_as_it_was() -> None:
    found = fitted()
    text = tenants_text(found, "a trace\nwith a line end")
    assert parse_tenants(text, "tenants.yaml") == found


def test_small_traces_have_no_rhythm() -> None:
    job = Job(1_767_603_600_000_000, 1, 60_000_000, (), gang=True, priority=0, preemptible=True, user="", group="")
    found = fit({"/A": [job], "/B": [job._replace(duration=ENDLESS)]})
    assert found is not None
    assert [tenant.rate for tenant in found.tenants] == [1, 0]
    assert set(found.tenants[0].hours) == {1}
    assert len(invent(found)) >= 1
    assert parse_tenants(tenants_text(found, "x"), "tenants.yaml") == found
    assert fit({}) is None
