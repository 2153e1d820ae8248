"""Published traces, read whole; skipped where they are not at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fairhold.traces.telling import by_consumer
from tests.docs.console import ROOT
from tests.traces.support import workload_of

DATA = Path(os.environ.get("FAIRHOLD_DATA", ROOT / "../shared/data"))
HOUR = 3_600_000_000
XDMOD = """jobid, jobidraw, cluster, partition, qos, account, group, gid, user, uid, submit, eligible, start, end,
  elapsed, exitcode, state, nnodes, ncpus, reqcpus, reqmem, reqtres, alloctres, timelimit, nodelist, jobname"""


@pytest.mark.skipif(not DATA.is_dir(), reason=f"there are no traces in {DATA}")
@pytest.mark.parametrize(
    ("section", "found", "hours"),
    [
        ("{kind: swf, file: kth-sp2-1996/KTH-SP2-1996-2.1-cln.swf.gz, faults: skip}", (28_475, 252, 214, 1), 560_164),
        ("{kind: philly, file: philly-vc/philly.csv.gz}", (82_247, 15, 0, 0), 978_078),
        ("{kind: openb, file: alibaba-openb-2023/openb_pod_list_default.csv.gz}", (7_255, 4, 0, 0), None),
        (f"{{kind: sacct, file: xdmod-ccr/phillips.log.gz, fields: [{XDMOD}]}}", (4_285, 3, 4, 0), None),
        (f"{{kind: sacct, file: xdmod-ccr/pozidriv.log.gz, fields: [{XDMOD}]}}", (11_704, 7, 18, 0), None),
    ],
)
def test_published_traces(section: str, found: tuple[int, int, int, int], hours: int | None) -> None:
    """`found` is how many jobs, consumers, users and rows at fault there are."""
    workload, findings = workload_of(section, DATA)
    held = by_consumer(workload)
    faults = sum(kind.count for kind in findings.kinds.values())
    assert (len(workload), len(held), len(workload.users), faults) == found
    if hours is not None:
        assert sum(each.work for each in held.values()) // HOUR == hours
