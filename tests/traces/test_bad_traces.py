"""What is wrong with a trace is counted, shown with its lines, left out or fatal; damaged files are always fatal."""

from __future__ import annotations

import gzip
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.errors import InputError
from fairhold.traces.findings import CODES
from tests.docs.console import ROOT
from tests.examples import FEWER
from tests.traces.support import faults_of, jobs_of, workload_of

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "at,ran,who,n,p\n"
GOOD = "1,60,a,1,0\n"
SECTION = """
kind: csv
file: j.csv
columns: {submit: at, duration: ran, tasks: n, priority: p}
consumers: [{match: {who: a|b}, to: "/{who}"}]
"""


@pytest.mark.parametrize(
    ("row", "code", "what"),
    [
        (",60,a,1,0", "trace-missing", "`submit` is empty in 1 line: 3"),
        ("monday,60,a,1,0", "trace-instant", "`submit` is not an instant in 1 line: 3 (`monday`)"),
        ("-1,60,a,1,0", "trace-negative", "`submit` is below 0 in 1 line: 3 (`-1`)"),
        ("1e16,60,a,1,0", "trace-absurd", "`submit` is not plausible in 1 line: 3 (`1e16`)"),
        ("1,,a,1,0", "trace-missing", "`duration` is empty in 1 line: 3"),
        ("1,long,a,1,0", "trace-duration", "`duration` is not a duration in 1 line: 3 (`long`)"),
        ("1,nan,a,1,0", "trace-duration", "`duration` is not a duration in 1 line: 3 (`nan`)"),
        ("1,-3,a,1,0", "trace-negative", "`duration` is below 0 in 1 line: 3 (`-3`)"),
        ("1,99999999999,a,1,0", "trace-absurd", "`duration` is not plausible in 1 line: 3 (`99999999999`)"),
        ("1,60,a,0,0", "trace-absurd", "`tasks` is not plausible in 1 line: 3 (`0`)"),
        ("1,60,a,-2,0", "trace-negative", "`tasks` is below 0 in 1 line: 3 (`-2`)"),
        ("1,60,a,1.5,0", "trace-number", "`tasks` is not a number in 1 line: 3 (`1.5`)"),
        ("1,60,a,9999999,0", "trace-absurd", "`tasks` is not plausible in 1 line: 3 (`9999999`)"),
        ("1,60,a,1,x", "trace-number", "`priority` is not a number in 1 line: 3 (`x`)"),
        ("1,60,c,1,0", "trace-consumer", "no rule matches in 1 line: 3 (`who: c`)"),
        ("1,60,a,1", "trace-fields", "there are not 5 values in 1 line: 3 (`4`)"),
    ],
)
def test_one_bad_row(row: str, code: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text(f"{HEAD}{GOOD}{row}\n")
    (fault,) = faults_of(SECTION, tmp_path)
    assert (fault.code, fault.what, fault.line) == (code, what, 3)
    assert fault.mend
    workload, findings = workload_of(f"{SECTION}faults: skip", tmp_path)
    assert [each.code for each in findings.faults()] == [code]
    assert "faults: skip" not in findings.faults()[0].mend
    assert jobs_of(workload) == [("job-2", 1_000_000, "/a", 1, 60_000_000)]


def test_rows_of_one_kind_are_one_fault_with_the_first_lines(tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text(HEAD + "1,-1,a,1,0\n" * 5 + "\n" + "1,2,c,1,0\n")
    first, second = faults_of(SECTION, tmp_path)
    assert first.what == "`duration` is below 0 in 5 lines: 2 (`-1`), 3 (`-1`), 4 (`-1`), …"
    assert second.what == "no rule matches in 1 line: 8 (`who: c`)"


def test_lines_are_right_behind_quoted_line_ends(tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text(f'{HEAD}1,60,"a\nb",1,0\n1,-1,a,1,0\n')
    assert [fault.line for fault in faults_of(SECTION, tmp_path)] == [2, 4]


def test_a_gang_is_no_larger_than_its_job(tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text(HEAD + "1,60,a,1,2\n")
    (fault,) = faults_of(SECTION.replace("priority", "min_count"), tmp_path)
    assert (fault.code, fault.what) == ("trace-gang", "`min_count` is more than `tasks` in 1 line: 2 (`2 of 1`)")


def test_names_stand_once(tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text(HEAD + GOOD + GOOD)
    section = SECTION.replace("columns: {", "columns: {name: who, ")
    (fault,) = faults_of(section, tmp_path)
    assert (fault.code, fault.line) == ("trace-twice", 3)
    workload, _ = workload_of(f"{section}faults: skip", tmp_path)
    assert len(workload) == 1


def test_order_is_a_fault_where_the_format_promises_it(tmp_path: Path) -> None:
    row = "{} {} 1 5 1 -1 -1 1 -1 -1 1 1 1 -1 1 1 -1 -1\n"
    (tmp_path / "l.swf").write_text(row.format(1, 10) + row.format(2, 5))
    (fault,) = faults_of("{kind: swf, file: l.swf}", tmp_path)
    assert (fault.code, fault.line) == ("trace-order", 2)
    workload, _ = workload_of("{kind: swf, file: l.swf, faults: skip}", tmp_path)
    assert workload.name == ["2", "1"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"at,ran\xff", "not-utf-8"),
        (b"at,\0ran", "not-text"),
        (gzip.compress(HEAD.encode() * 50, mtime=0)[:-9], "trace-cut-short"),
        (gzip.compress(HEAD.encode(), mtime=0)[:12] + b"rubbish and more", "trace-cut-short"),
        (b"at,ran,who,n\n", "trace-header"),
        (b"at,ran,who,n,p,at\n", "trace-header"),
        (b"at,ran,,n,p\n", "trace-header"),
        (b'at,ran,who,n,p\n1,"60,a,1,0\n', "trace-syntax"),
    ],
)
def test_files_that_cannot_be_used(data: bytes, code: str, tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_bytes(data)
    (fault,) = faults_of(f"{SECTION}faults: skip", tmp_path)
    assert fault.code == code
    assert fault.file == str(tmp_path / "j.csv")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert [fault.code for fault in faults_of(SECTION, tmp_path)] == ["cannot-read"]


def test_lines_that_are_no_json(tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text(
        '{"at": 1, "ran": 2, "who": "a", "n": 1, "p": 0}\n{"at": 1,\n[]\n{"at": 1, "at": 2}\n'
    )
    section = SECTION.replace("kind: csv", "kind: jsonl")
    assert [(fault.code, fault.line) for fault in faults_of(section, tmp_path)] == [
        ("trace-syntax", 2),
        ("trace-fields", 3),
    ]
    workload, _ = workload_of(f"{section}faults: skip", tmp_path)
    assert len(workload) == 1


def test_no_log_of_the_format(tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text(HEAD + GOOD)
    for kind in ("swf", "sacct", "pods", "parquet", "philly", "openb"):
        with pytest.raises(InputError) as caught:
            workload_of(f"{{kind: {kind}, file: j.csv, faults: skip}}", tmp_path)
        assert caught.value.faults[0].mend, kind


def test_parquet_without_polars_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "j.csv").write_text("PAR1")
    monkeypatch.setitem(sys.modules, "polars", None)
    (fault,) = faults_of(SECTION.replace("kind: csv", "kind: parquet"), tmp_path)
    assert fault.code == "extra-missing"
    assert 'pip install "fairhold[sim]"' in fault.mend


def test_every_code_is_explained_on_the_page() -> None:
    page = (ROOT / "docs/reference/workload.md").read_text()
    told = [line for line in page.splitlines() if line.startswith(("| `trace-", "| `extra-"))]
    assert sorted(line.split("`")[1] for line in told) == sorted(CODES)
    for code, meaning in CODES.items():
        assert any(meaning[1:] in line for line in told if f"`{code}`" in line), code


@FEWER
@given(text=st.text(alphabet=' ,-.0123456789Teabx"\n|;:{}', max_size=200))
def test_whatever_a_file_holds_it_is_read_or_refused(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("any")
    for kind in ("csv", "jsonl", "swf", "sacct", "pods"):
        (folder / "j.csv").write_text(HEAD + text if kind == "csv" else text)
        section = SECTION if kind in ("csv", "jsonl") else "\nkind: csv\nfile: j.csv\n"
        try:
            workload, findings = workload_of(f"{section.replace('kind: csv', f'kind: {kind}')}faults: skip", folder)
        except InputError:
            continue
        assert len(workload) <= findings.rows
        assert list(workload.submit) == sorted(workload.submit)
