"""Jobs of tenants: the same bytes everywhere, and the rates, rhythms, bursts and swings that are asked for."""

from __future__ import annotations

import hashlib
from datetime import UTC
from fractions import Fraction
from itertools import pairwise
from statistics import fmean, pvariance
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.errors import InputError
from fairhold.model.workload import ENDLESS
from fairhold.traces.inventing import invent
from fairhold.traces.telling import csv_lines
from fairhold.traces.tenantkeys import parse_tenants, read_tenants
from fairhold.traces.tenants import Bursts, JobKind, Services, Tenant, Tenants, constant
from tests.docs.console import ROOT
from tests.examples import FEWER
from tests.traces.support import jobs_of

if TYPE_CHECKING:
    from fairhold.model.workload import Workload

HOUR = 3_600_000_000
HEAD = "fairhold_tenants: 1\nbegin: 2026-01-05T00:00:00Z\nlength: 70d\ntenants:\n"
JOBS = "jobs: [{duration: 1h}]"


def invented(tenants: str, seed: int = 0) -> Workload:
    return invent(parse_tenants(f"seed: {seed}\n{HEAD}{tenants}", "tenants.yaml"))


def hourly(workload: Workload, consumer: int = 0) -> list[int]:
    """Jobs of every hour."""
    counts = [0] * (70 * 24)
    begin = 1_767_571_200_000_000
    for submit, who in zip(workload.submit, workload.consumer, strict=True):
        if who == consumer:
            counts[(submit - begin) // HOUR] += 1
    return counts


def test_the_example_is_the_same_on_every_machine() -> None:
    workload = invent(read_tenants(ROOT / "examples/workloads/tenants.yaml"))
    text = "\n".join(",".join(row) for row in csv_lines(workload))
    assert hashlib.sha256(text.encode()).hexdigest() == GOLDEN


GOLDEN = "fc5549374f7bccdff7ceadb611d11878589ea71c9873ee34b94b7537a09aecb7"
"""Where it changes, every scenario with tenants gives other numbers: the changelog has to say so."""


def test_arrivals_are_poisson() -> None:
    workload = invented(f"  /A: {{jobs_per_day: 240, {JOBS}}}")
    counts = hourly(workload)
    assert abs(fmean(counts) - 10) < 3 * (10 / len(counts)) ** 0.5
    assert 0.9 < pvariance(counts) / fmean(counts) < 1.1
    gaps = sorted(later - sooner for sooner, later in pairwise(workload.submit))
    assert abs(gaps[len(gaps) // 2] / (HOUR / 10 * 0.6931) - 1) < 0.04
    assert list(workload.submit) == sorted(workload.submit)


def test_rates_go_with_hours_and_weekdays() -> None:
    hours = ", ".join(["0"] * 8 + ["1"] * 8 + ["2"] * 8)
    tenant = f"  /A: {{jobs_per_day: 168, hours: [{hours}], weekdays: [1, 1, 1, 1, 1, 0, 2], {JOBS}}}"
    counts = hourly(invented(tenant))
    by_day = [sum(sum(counts[day * 24 : day * 24 + 24]) for day in range(first, 70, 7)) for first in range(7)]
    assert by_day[5] == 0
    assert abs(by_day[6] / by_day[0] - 2) < 0.3
    by_hour = [sum(counts[hour::24]) for hour in range(24)]
    assert not any(by_hour[:8])
    assert abs(sum(by_hour[16:]) / sum(by_hour[8:16]) - 2) < 0.15
    assert abs(sum(counts) / 70 - 168) < 5


def test_local_time_decides_the_hour() -> None:
    hours = ", ".join(["1"] + ["0"] * 23)
    text = f"time_zone: Asia/Kolkata\n{HEAD}  /A: {{jobs_per_day: 24, hours: [{hours}], {JOBS}}}"
    counts = hourly(invent(parse_tenants(text, "tenants.yaml")))
    assert {hour % 24 for hour, count in enumerate(counts) if count} == {19}, "UTC hours begin at half past"


def test_bursts_keep_the_mean_and_come_together() -> None:
    tenant = f"  /A: {{jobs_per_day: 240, bursts: {{share: 0.5, jobs: 20, within: 1m}}, {JOBS}}}"
    counts = hourly(invented(tenant))
    assert abs(fmean(counts) - 10) < 1
    assert 15 < pvariance(counts) / fmean(counts) < 26, "1 + 2 share (jobs - 1) = 20"


def correlation(first: list[int], second: list[int]) -> float:
    means = fmean(first), fmean(second)
    both = fmean([(a - means[0]) * (b - means[1]) for a, b in zip(first, second, strict=True)])
    return float(both / (pvariance(first) * pvariance(second)) ** 0.5)


def test_tenants_that_follow_are_busy_together() -> None:
    tenants = "".join(f"  /{name}: {{jobs_per_day: 480, {how}, {JOBS}}}\n" for name, how in (
        ("A", "follows: 0.8"), ("B", "follows: 0.8"), ("C", "wanders: 0.8"), ("D", "wanders: 0.8"),
    ))  # fmt: skip
    workload = invented(tenants)
    counts = [hourly(workload, consumer) for consumer in range(4)]
    assert correlation(counts[0], counts[1]) > 0.85
    assert abs(correlation(counts[2], counts[3])) < 0.25
    assert abs(correlation(counts[0], counts[2])) < 0.25
    assert all(abs(fmean(each) / 20 - 1) < 0.2 for each in counts), "the mean of a factor is 1"


def test_one_tenant_more_changes_no_other() -> None:
    one = f"  /A: {{jobs_per_day: 24, follows: 0.5, bursts: {{share: 0.5, jobs: 3, within: 1m}}, {JOBS}}}\n"
    alone = jobs_of(invented(one))
    beside = jobs_of(invented(f"  /B: {{jobs_per_day: 100, follows: 1, {JOBS}}}\n{one}"))
    assert [job for job in beside if job[2] == "/A"] == alone
    assert jobs_of(invented(one, seed=1)) != alone


def test_kinds_users_gangs_and_services() -> None:
    workload = invented("""
  /A:
    jobs_per_day: 240
    users: {ann: 3, bob: 1}
    jobs:
      - {weight: 3, tasks: 4, duration: 1m, priority: 5, unit: {cpu: 2, gpu: 0.5}}
      - {weight: 1, tasks: {sizes: [2], weights: [1]}, gang: false, duration: endless, preemptible: false}
    services: [{count: 2, tasks: 3, after: 1d}]
""")
    services = [row for row, name in enumerate(workload.name) if "service" in name]
    assert [workload.tasks[row] for row in services] == [3, 3]
    assert {workload.duration[row] for row in services} == {ENDLESS}
    others = [row for row in range(len(workload)) if row not in services]
    rows = [row for row in others if workload.tasks[row] == 4]
    assert abs(len(rows) / len(others) - 0.75) < 0.02
    assert {workload.min_count[row] for row in rows} == {4}
    assert {workload.min_count[row] for row in others} == {0, 4}
    assert {workload.priority[row] for row in rows} == {5}
    assert {workload.units[workload.unit[row]] for row in rows} == {(("cpu", "2"), ("gpu", "0.5"))}
    assert {workload.preemptible[row] for row in others} == {0, 1}
    assert abs(sum(workload.users[workload.user[row]] == "ann" for row in others) / len(others) - 0.75) < 0.02


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("fairhold_tenants: 2\nbegin: 2026-01-05T00:00:00Z\ntenants: {}", "version", ("fairhold_tenants",)),
        ("fairhold_tenants: 1\ntenants: {}", "missing-key", ()),
        (f"{HEAD}  A: {{}}", "name", ("tenants", "A")),
        (f"{HEAD}  /A: {{jobs_per_day: 3}}", "missing-key", ("tenants", "/A")),
        (f"{HEAD}  /A: {{jobs_per_day: -3, {JOBS}}}", "negative", ("tenants", "/A", "jobs_per_day")),
        (f"{HEAD}  /A: {{hours: [1, 2]}}", "out-of-range", ("tenants", "/A", "hours")),
        (f"{HEAD}  /A: {{weekdays: [0, 0, 0, 0, 0, 0, 0]}}", "out-of-range", ("tenants", "/A", "weekdays")),
        (f"{HEAD}  /A: {{follows: 2}}", "out-of-range", ("tenants", "/A", "follows")),
        (f"{HEAD}  /A: {{bursts: {{share: 0.5}}}}", "missing-key", ("tenants", "/A", "bursts")),
        (f"{HEAD}  /A: {{jobs_per_day: 1, jobs: [{{duration: {{shape: normal}}}}]}}", "unknown-word",
         ("tenants", "/A", "jobs", 0, "duration")),
        (f"{HEAD}  /A: {{jobs_per_day: 1, jobs: [{{duration: {{shape: pareto, least: 2s, median: 1s}}}}]}}",
         "out-of-range", ("tenants", "/A", "jobs", 0, "duration")),
        (f"{HEAD}  /A: {{jobs_per_day: 1, jobs: [{{duration: {{quantiles: [[0, 2s], [100, 1s]]}}}}]}}",
         "out-of-range", ("tenants", "/A", "jobs", 0, "duration", "quantiles")),
        (f"{HEAD}  /A: {{jobs_per_day: 1, jobs: [{{duration: 1s, tasks: {{sizes: [1], weights: [0]}}}}]}}",
         "out-of-range", ("tenants", "/A", "jobs", 0, "tasks", "weights")),
        (f"{HEAD}  /A: {{jobs_per_day: 1, jobs: [{{duration: 1s, unit: {{cpu: 0}}}}]}}", "not-a-number",
         ("tenants", "/A", "jobs", 0, "unit", "cpu")),
    ],
)  # fmt: skip
def test_faults_of_a_file_have_their_place(text: str, code: str, place: tuple[str | int, ...]) -> None:
    with pytest.raises(InputError) as caught:
        parse_tenants(text, "tenants.yaml")
    fault = caught.value.faults[0]
    assert (fault.code, fault.place, fault.file) == (code, place, "tenants.yaml")
    assert fault.mend


def test_so_many_jobs_that_no_memory_holds_them_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        parse_tenants(f"{HEAD}  /A: {{jobs_per_day: 1000000, {JOBS}}}", "tenants.yaml")
    assert [fault.code for fault in caught.value.faults] == ["out-of-range"]


PARTS = st.integers(0, 100).map(lambda part: Fraction(part, 100))
TENANT = st.builds(
    Tenant,
    path=st.sampled_from(["/A", "/B/c"]),
    rate=st.integers(0, 500).map(Fraction),
    hours=st.lists(st.integers(0, 9), min_size=24, max_size=24).map(tuple),
    weekdays=st.lists(st.integers(0, 9), min_size=7, max_size=7).map(tuple),
    bursts=st.builds(Bursts, PARTS, st.integers(1, 50).map(Fraction), st.integers(0, HOUR)),
    follows=PARTS,
    wanders=PARTS,
    kinds=st.lists(
        st.builds(JobKind, st.integers(1, 9), st.integers(1, 9).map(constant), st.integers(0, HOUR).map(constant)),
        min_size=1,
        max_size=3,
    ).map(tuple),
    services=st.lists(st.builds(Services, st.integers(1, 3), st.integers(1, 3), st.integers(0, HOUR))).map(tuple),
)


ALL = st.builds(
    Tenants,
    seed=st.integers(0, 2**53),
    begin=st.integers(0, 10 * HOUR),
    length=st.integers(0, 80 * HOUR),
    tenants=st.lists(TENANT, max_size=2, unique_by=lambda tenant: tenant.path).map(tuple),
    zone=st.just(UTC),
    every=st.integers(1_000_000, 90 * HOUR),
    calm=st.integers(1, 5),
)


@FEWER
@given(tenants=ALL)
def test_any_tenants_submit_in_order_and_within_their_time(tenants: Tenants) -> None:
    workload = invent(tenants)
    begin, end = tenants.begin, tenants.begin + tenants.length
    assert list(workload.submit) == sorted(workload.submit)
    assert len(set(workload.name)) == len(workload)
    endless = [each == ENDLESS for each in workload.duration]
    assert all(begin <= each < end or ends for each, ends in zip(workload.submit, endless, strict=True))
    assert sum(endless) == sum(each.count for tenant in tenants.tenants for each in tenant.services)
    assert min(workload.duration, default=0) >= 0
