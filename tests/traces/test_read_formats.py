"""Every format, read from a small file of its kind."""

from __future__ import annotations

import csv
import gzip
import json
import lzma
import time
from typing import TYPE_CHECKING

import polars as pl
import pytest

from fairhold.model.workload import ENDLESS
from fairhold.traces.telling import csv_lines
from fairhold.units import SECOND, parse_instant
from tests.traces.support import jobs_of, workload_of

if TYPE_CHECKING:
    from pathlib import Path

NINE = parse_instant("2026-01-05T09:00:00Z") or 0
SWF = f"""\
; Version: 2.2
; UnixStartTime: {NINE // SECOND}
; Note: a log
    1    0  5  60  4 -1 -1  8 100 -1 1 17 3 -1 1 2 -1 -1
    2   10 -1  30 -1 -1 -1  2  -1 -1 1 18 3 -1 1 2 -1 -1
    3   20 -1  10  1 -1 -1  1  -1 -1 2 18 3 -1 1 2 -1 -1
    4   20 -1  -1  1 -1 -1  1  -1 -1 5 18 4 -1 1 2 -1 -1
    5   30 -1   0  1 -1 -1  1  -1 -1 0 18 4 -1 1 2 -1 -1
"""


def test_swf(tmp_path: Path) -> None:
    (tmp_path / "log.swf.gz").write_bytes(gzip.compress(SWF.encode()))
    workload, findings = workload_of("{kind: swf, file: log.swf.gz}", tmp_path)
    assert jobs_of(workload) == [
        ("1", NINE, "/group-3", 4, 60 * SECOND),
        ("2", NINE + 10 * SECOND, "/group-3", 2, 30 * SECOND),
        ("5", NINE + 30 * SECOND, "/group-4", 1, 0),
    ]
    assert list(workload.min_count) == [4, 2, 0]
    assert [workload.users[each] for each in workload.user] == ["17", "18", "18"]
    assert workload.units == ((),)
    assert findings.passed == {"part of a job": 1, "cancelled before it began": 1}
    assert findings.rows == 5


SACCT = """\
JobID|Submit|Start|Elapsed|State|Account|User|NNodes|AllocTRES|ReqTRES
7_1|2026-01-05T09:00:00|2026-01-05T09:10:00|1-00:00:01|COMPLETED|bio|ann|2|billing=8,cpu=8,gres/gpu=4,mem=62.50G,node=2|
7_1.batch|2026-01-05T09:00:00|2026-01-05T09:10:00|1-00:00:01|COMPLETED|||1|cpu=4,mem=31G,node=1|
7_2|2026-01-05T09:00:00|2026-01-05T09:10:00|00:30:00|PREEMPTED|bio|ann|1|cpu=1,mem=500M,node=1|
7_2|2026-01-05T09:00:00|2026-01-05T10:10:00|00:01:30|CANCELLED by 12|bio|ann|1|cpu=1,mem=500M,node=1|
8|2026-01-05T09:00:01|Unknown|00:00:00|PENDING|bio|bob|1||cpu=1,mem=500M,node=1
9|2026-01-05T09:00:02|None|00:00:00|CANCELLED by 12|bio|bob|1||cpu=1,mem=500M,node=1
"""


def test_sacct_counts_cpus(tmp_path: Path) -> None:
    (tmp_path / "jobs.txt").write_text(SACCT)
    workload, findings = workload_of("{kind: sacct, file: jobs.txt}", tmp_path)
    assert jobs_of(workload) == [
        ("7_1", NINE, "/bio", 8, 86_401 * SECOND),
        ("7_2", NINE, "/bio", 1, 90 * SECOND),
    ]
    assert findings.passed == {"step of a job": 1, "never began": 2, "earlier attempt of a job": 1}


def test_sacct_counts_nodes_with_what_they_had(tmp_path: Path) -> None:
    (tmp_path / "jobs.txt").write_text(SACCT)
    workload, _ = workload_of("{kind: sacct, file: jobs.txt, tasks: nodes}", tmp_path)
    assert list(workload.tasks) == [2, 1]
    assert [workload.units[each] for each in workload.unit] == [
        (("cpu", "4"), ("memory", "31.25"), ("gpu", "2")),
        (("cpu", "1"), ("memory", "0.48828125")),
    ]


def test_sacct_with_a_bar_behind_every_line_and_local_time(tmp_path: Path) -> None:
    text = "".join(f"{line}|\n" for line in SACCT.splitlines())
    (tmp_path / "jobs.txt").write_text(text)
    workload, _ = workload_of("{kind: sacct, file: jobs.txt, time_zone: Europe/Zurich}", tmp_path)
    assert workload.submit[0] == NINE - 3600 * SECOND


def test_sacct_without_a_head(tmp_path: Path) -> None:
    head, _, rest = SACCT.partition("\n")
    (tmp_path / "jobs.txt").write_text(rest)
    fields = ", ".join(head.split("|"))
    workload, _ = workload_of(f"{{kind: sacct, file: jobs.txt, fields: [{fields}]}}", tmp_path)
    assert len(workload) == 2


def test_philly(tmp_path: Path) -> None:
    text = "timestamp,duration,num_gpus,gpu_time,cluster\n"
    text += "2026-01-05 09:00:01,66.5,8,532,ab\n2026-01-05 09:00:00,1.0,1,1,c\n"
    (tmp_path / "p.csv.xz").write_bytes(lzma.compress(text.encode()))
    workload, findings = workload_of("{kind: philly, file: p.csv.xz}", tmp_path)
    assert jobs_of(workload) == [
        ("job-3", NINE, "/c", 1, SECOND),
        ("job-2", NINE + SECOND, "/ab", 8, 66_500_000),
    ]
    assert list(workload.min_count) == [0, 8]
    assert not findings.kinds
    assert findings.disordered == 1


def test_openb(tmp_path: Path) -> None:
    text = (
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
        "a,12000,16384,2,1000,,LS,Running,5,105,7\nb,500,1,1,460,,BE,Running,6,16,6\nc,1,1,0,0,,BE,Pending,6,16,\n"
    )
    (tmp_path / "pods.csv").write_text(text)
    section = "{kind: openb, file: pods.csv, begin: '2026-01-05T09:00:00Z', from: '1970-01-01T00:00:00Z'}"
    workload, findings = workload_of(section, tmp_path)
    assert jobs_of(workload) == [
        ("a", NINE + 5 * SECOND, "/LS", 1, 98 * SECOND),
        ("b", NINE + 6 * SECOND, "/BE", 1, 10 * SECOND),
    ]
    assert workload.units == (
        (("cpu", "12"), ("memory", "16"), ("gpu", "2")),
        (("cpu", "0.5"), ("memory", "0.0009765625"), ("gpu", "0.46")),
    )
    assert findings.passed == {"never began": 1}


PODS = """\
apiVersion: v1
kind: List
items:
- kind: Pod
  metadata: {name: p1, namespace: ml, creationTimestamp: "2026-01-05T09:00:00Z", labels: {kai.scheduler/queue: team-a}}
  spec:
    containers:
    - {resources: {requests: {cpu: 500m, memory: 1Gi, nvidia.com/gpu: 1}}}
    - {resources: {requests: {cpu: 250m}, limits: {memory: 512Mi}}}
  status:
    phase: Succeeded
    containerStatuses:
    - {state: {terminated: {startedAt: "2026-01-05T09:01:00Z", finishedAt: "2026-01-05T09:03:00Z"}}}
- kind: Pod
  metadata:
    name: w1
    namespace: ml
    creationTimestamp: "2026-01-05T09:00:01Z"
    labels: {kai.scheduler/queue: team-b}
    annotations: {pod-group-name: g}
  spec: {priorityClassName: build, priority: 100, containers: [{resources: {requests: {cpu: 2}}}]}
  status: {phase: Running}
- kind: Pod
  metadata:
    name: w2
    namespace: ml
    creationTimestamp: "2026-01-05T09:00:01Z"
    labels: {kai.scheduler/queue: team-b}
    annotations: {pod-group-name: g}
  spec: {priorityClassName: build, priority: 100, containers: [{resources: {requests: {cpu: 2}}}]}
  status: {phase: Running}
- kind: PodGroup
  metadata: {name: g, namespace: ml}
  spec: {minMember: 1}
- kind: Service
"""


def test_pods(tmp_path: Path) -> None:
    (tmp_path / "pods.yaml").write_text(PODS)
    workload, findings = workload_of("{kind: pods, file: pods.yaml}", tmp_path)
    assert jobs_of(workload) == [
        ("ml/p1", NINE, "/team-a", 1, 120 * SECOND),
        ("ml/w1", NINE + SECOND, "/team-b", 2, ENDLESS),
    ]
    assert list(workload.min_count) == [0, 1]
    assert list(workload.priority) == [0, 100]
    assert list(workload.preemptible) == [1, 0]
    assert workload.units == ((("cpu", "0.75"), ("memory", "1.5"), ("gpu", "1")), (("cpu", "2"),))
    assert findings.passed == {"neither a pod nor a pod group": 1}


ROWS = [
    {
        "id": "a",
        "who": "vo3",
        "at": "2026-01-05T10:00:00+01:00",
        "ms": 1500,
        "n": 2,
        "g": 0.5,
        "prio": -3,
        "hard": True,
    },
    {"id": "b", "who": "vo4", "at": "2026-01-05T09:00:00Z", "ms": 2.5, "n": 1, "g": 1, "prio": 4, "hard": False},
]
MAPPING = """
columns:
  name: id
  submit: at
  duration: {column: ms, unit: ms}
  tasks: n
  min_count: all
  unit: {gpu: g, cpu: 2}
  priority: prio
  preemptible: {column: hard, table: {"true": "false", "false": "true", "True": "false", "False": "true"}}
  user: who
consumers: [{match: {who: 'vo(\\d+)'}, to: '/VO/\\1'}]
"""


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_any_table_by_a_mapping(kind: str, tmp_path: Path) -> None:
    file = tmp_path / f"jobs.{kind}"
    if kind == "csv":
        file.write_text("\n".join([",".join(ROWS[0]), *(",".join(map(str, row.values())) for row in ROWS)]))
    elif kind == "jsonl":
        file.write_text("\n".join(map(json.dumps, ROWS)))
    else:
        pl.DataFrame(ROWS).write_parquet(file)
    workload, findings = workload_of(f"kind: {kind}\nfile: jobs.{kind}{MAPPING}", tmp_path)
    assert jobs_of(workload) == [("a", NINE, "/VO/3", 2, 1_500_000), ("b", NINE, "/VO/4", 1, 2_500)]
    assert list(workload.min_count) == [2, 0]
    assert list(workload.priority) == [-3, 4]
    assert list(workload.preemptible) == [0, 1]
    assert workload.units == ((("gpu", "0.5"), ("cpu", "2")), (("gpu", "1"), ("cpu", "2")))
    assert workload.users == ("vo3", "vo4")
    assert not findings.kinds


def test_instants_and_lengths_of_parquet(tmp_path: Path) -> None:
    frame = pl.DataFrame({"at": [NINE, NINE + 1], "ran": [1_500_000, 2]}).with_columns(
        pl.col("at").cast(pl.Datetime("us", "Europe/Zurich")), pl.col("ran").cast(pl.Duration("us"))
    )
    frame.write_parquet(tmp_path / "j.parquet")
    section = "{kind: parquet, file: j.parquet, columns: {submit: at, duration: ran}, consumers: [{else: /A}]}"
    workload, _ = workload_of(section, tmp_path)
    assert jobs_of(workload) == [("job-1", NINE, "/A", 1, 1_500_000), ("job-2", NINE + 1, "/A", 1, 2)]


def test_columns_of_parquet_that_are_no_cells_are_nobodys_business(tmp_path: Path) -> None:
    frame = pl.DataFrame({"at": [1, None], "ran": [2.5, 1.0], "hosts": [["a"], []], "more": [{"a": 1}, {"a": 2}]})
    frame.write_parquet(tmp_path / "j.parquet")
    section = (
        "{kind: parquet, file: j.parquet, columns: {submit: at, duration: ran}, consumers: [{else: /A}], faults: skip}"
    )
    workload, findings = workload_of(section, tmp_path)
    assert jobs_of(workload) == [("job-1", SECOND, "/A", 1, 2_500_000)]
    assert [fault.what for fault in findings.faults()] == ["`submit` is empty in 1 row: 2"]


def test_the_own_table_holds_slots_beside_resources(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(
        """
fairhold_tenants: 1
begin: 2026-01-05T00:00:00Z
length: 1d
tenants:
  /A: {jobs_per_day: 9, users: {"a,b": 1}, jobs: [{duration: 1ms, tasks: 3}]}
  /B: {jobs_per_day: 9, jobs: [{duration: endless, unit: {cpu: 0.25}, resource_group: g, priority: -1}]}
"""
    )
    workload, _ = workload_of("{kind: tenants, file: t.yaml}", tmp_path)
    with (tmp_path / "j.csv").open("w", newline="") as file:
        csv.writer(file).writerows(csv_lines(workload))
    again, findings = workload_of("{kind: fairhold, file: j.csv}", tmp_path)
    assert list(csv_lines(again)) == list(csv_lines(workload))
    assert len(again) > 5
    assert not findings.kinds


def test_a_length_is_the_difference_of_two_instants(tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text("s;b;e\n10;20;30.000001\n")
    section = (
        "{kind: csv, file: j.csv, separator: ';', columns: {submit: s, start: b, end: e}, consumers: [{else: /A}]}"
    )
    workload, _ = workload_of(section, tmp_path)
    assert jobs_of(workload) == [("job-2", 10 * SECOND, "/A", 1, 10 * SECOND + 1)]


def test_lengths_are_read_in_words_and_as_clocks(tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text("s,d\n0,1h30m\n0,01:02:03\n0,endless\n0,1-00:00:00\n")
    section = "{kind: csv, file: j.csv, columns: {submit: s, duration: d}, consumers: [{else: /A}]}"
    workload, _ = workload_of(section, tmp_path)
    assert list(workload.duration) == [5400 * SECOND, 3723 * SECOND, ENDLESS, 86_400 * SECOND]


def test_large_tables_are_read_fast(tmp_path: Path) -> None:
    rows = (f"{at},{at % 7},u{at % 50},{at * 3 % 1000}.5,{at % 4 + 1}" for at in range(20_000))
    (tmp_path / "j.csv").write_text("at,group,user,ran,n\n" + "\n".join(rows))
    section = """{kind: csv, file: j.csv, columns: {submit: at, duration: ran, tasks: n, user: user},
        consumers: [{to: '/{group}'}]}"""
    began = time.process_time()
    workload, _ = workload_of(section, tmp_path)
    assert len(workload) == 20_000
    assert time.process_time() - began < 2, "ten times the time that is promised"
