"""How a table becomes a workload: which column is what, in which units. The formats that are known say it here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from fairhold.traces.rules import Rule
from fairhold.units import SECOND

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

ALL = "all"
"""As `min_count`: all tasks of a job begin together."""
SECONDS = Fraction(SECOND)


@dataclass(frozen=True, slots=True)
class Field:
    """Where a value of a job comes from.

    column  : name of a column, "" = none: `default` then holds for all
    times   : a number is multiplied by this; of times, so many microseconds
    table   : what a text stands for, None = itself
    default : what an empty cell stands for, "" = a fault where a value is needed
    step    : amounts are rounded up to multiples of this, 0 = left as they are
    """

    column: str = ""
    times: Fraction = Fraction(1)
    table: Mapping[str, str] | None = field(default=None, hash=False)
    default: str = ""
    step: Fraction = Fraction(0)


ONE = Field(default="1")


@dataclass(frozen=True, slots=True)
class Reading:
    """How the rows of a file are read; None = nothing says it, and the default of the workload's column holds.

    duration  : or `start` and `end`, whose difference it is
    min_count : or `ALL`
    unit      : (resource, amount of a task); () = one slot
    rules     : which consumer a row belongs to
    where     : (column, expression): rows whose values do not fit are passed over
    zone      : of instants that name none
    separator : between values of a line
    fields    : names of the columns, where no line of the file has them
    label     : of pods: name of the label that tells the queue
    """

    kind: str
    file: Path = Path()
    name: Field | None = None
    submit: Field | None = None
    duration: Field | None = None
    start: Field | None = None
    end: Field | None = None
    tasks: Field = ONE
    min_count: Field | str | None = None
    priority: Field | None = None
    user: Field | None = None
    preemptible: Field | None = None
    resource_group: Field | None = None
    unit: tuple[tuple[str, Field], ...] = ()
    rules: tuple[Rule, ...] = ()
    where: tuple[tuple[str, re.Pattern[str]], ...] = ()
    zone: tzinfo = UTC
    separator: str = ","
    fields: tuple[str, ...] = ()
    label: str = ""
    is_fatal: bool = True


MILLI = Fraction(1, 1000)
KNOWN = {
    "swf": Reading(
        "swf",
        name=Field("job"),
        submit=Field("submit", SECONDS),
        duration=Field("run", SECONDS),
        tasks=Field("tasks"),
        min_count=ALL,
        user=Field("user"),
        rules=(Rule("/group-{group}"),),
    ),
    "sacct": Reading(
        "sacct",
        name=Field("job"),
        submit=Field("submit", SECONDS),
        duration=Field("elapsed_or_raw", SECONDS),
        tasks=Field("cpus"),
        min_count=ALL,
        user=Field("user"),
        rules=(Rule("/{account}"),),
    ),
    "philly": Reading(
        "philly",
        submit=Field("timestamp", SECONDS),
        duration=Field("duration", SECONDS),
        tasks=Field("num_gpus"),
        min_count=ALL,
        rules=(Rule("/{cluster}"),),
    ),
    "openb": Reading(
        "openb",
        name=Field("name"),
        submit=Field("creation_time", SECONDS),
        start=Field("scheduled_time", SECONDS),
        end=Field("deletion_time", SECONDS),
        unit=(
            ("cpu", Field("cpu_milli", MILLI)),
            ("memory", Field("memory_mib", Fraction(1, 1024))),
            ("gpu", Field("gpu_milli_all", MILLI)),
        ),
        rules=(Rule("/{qos}"),),
    ),
    "pods": Reading(
        "pods",
        name=Field("name"),
        submit=Field("created", SECONDS),
        duration=Field("ran", SECONDS),
        tasks=Field("tasks"),
        min_count=Field("together"),
        priority=Field("priority", default="0"),
        preemptible=Field("preemptible", default="true"),
        unit=(("cpu", Field("cpu", default="0")), ("memory", Field("memory", default="0")), ("gpu", Field("gpu"))),
        rules=(Rule("/{queue}"),),
        label="kai.scheduler/queue",
    ),
    "fairhold": Reading(
        "fairhold",
        name=Field("name"),
        submit=Field("submit", SECONDS),
        duration=Field("duration", SECONDS),
        tasks=Field("tasks"),
        min_count=Field("min_count"),
        priority=Field("priority"),
        user=Field("user"),
        preemptible=Field("preemptible"),
        resource_group=Field("resource_group"),
        rules=(Rule("{consumer}"),),
    ),
    "csv": Reading("csv"),
    "jsonl": Reading("jsonl"),
    "parquet": Reading("parquet"),
}
"""Kind → how it is read where the scenario says nothing else."""
SACCT_NODES = (
    ("cpu", Field("tres/cpu", default="0")),
    ("memory", Field("tres/mem", default="0")),
    ("gpu", Field("tres/gres/gpu", default="0")),
)
"""What a node of a job had, as the unit of a task."""


def by_nodes(reading: Reading) -> Reading:
    """Records of Slurm read as one task for every node of a job."""
    return replace(reading, tasks=Field("nodes"), unit=SACCT_NODES)
