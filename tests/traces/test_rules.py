"""Rules that lead from what a trace says to consumers, and the faults of the section that holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.traces.support import faults_of, workload_of

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "at,ran,group,user\n1,1,vo1,ann\n2,1,vo22,bob\n3,1,x,ann\n4,1,y/z,cy\n"
START = "kind: csv\nfile: j.csv\ncolumns: {submit: at, duration: ran}\n"


def paths_of(rules: str, folder: Path, more: str = "") -> list[str]:
    (folder / "j.csv").write_text(TABLE)
    workload, _ = workload_of(f"{START}{more}consumers:\n{rules}", folder)
    return [workload.consumers[each] for each in workload.consumer]


def test_the_first_rule_that_fits_holds(tmp_path: Path) -> None:
    rules = """
  - {match: {group: "vo(\\\\d+)", user: (a.*)}, to: "/VO/\\\\1/\\\\2"}
  - {like: {group: [vo*, q]}, to: "/VO/{user}"}
  - {to: "/{group}"}
"""
    assert paths_of(rules, tmp_path) == ["/VO/1/ann", "/VO/bob", "/x", "/y/z"]


def test_tables_of_the_scenario_and_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "units.csv").write_text("group,unit\nvo1,Life\nx,Earth\n")
    rules = """
  - {column: group, table: units.csv, to: "/Units/{}/{user}"}
  - {column: user, table: {bob: /Bob}}
  - {else: /Other}
"""
    assert paths_of(rules, tmp_path) == ["/Units/Life/ann", "/Bob", "/Units/Earth/ann", "/Other"]


@pytest.mark.parametrize(
    ("text", "code"), [("vo1\n", "trace-header"), ("vo1,/A\nvo1,/B\n", "duplicate-key"), ('vo1,"/A\n', "trace-syntax")]
)
def test_tables_that_cannot_be_used(text: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "units.csv").write_text(text)
    fault = faults_of(f"{START}consumers: [{{column: group, table: units.csv}}]", tmp_path)[0]
    assert (fault.code, fault.place) == (code, ("workload", "consumers", 0, "table"))
    assert fault.mend


def test_tables_need_no_head(tmp_path: Path) -> None:
    (tmp_path / "units.csv").write_text("vo1,/A,more\n\nx,/B\nvo1,/A\n")
    rules = "  - {column: group, table: units.csv}\n  - {else: /C}"
    assert paths_of(rules, tmp_path) == ["/A", "/C", "/B", "/C"]


def test_an_empty_value_fits_no_rule_that_needs_it(tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text("at,ran,group\n1,1,\n")
    workload, _ = workload_of(f'{START}consumers: [{{to: "/{{group}}"}}, {{else: /Other}}]', tmp_path)
    assert workload.consumers == ("/Other",)


def test_rows_can_be_passed_over(tmp_path: Path) -> None:
    assert paths_of("  - {else: /A}", tmp_path, "where: {user: ann|bob}\n") == ["/A", "/A", "/A"]


@pytest.mark.parametrize(
    ("rules", "code", "place"),
    [
        ("[]", "missing-key", ()),
        ("[/A]", "wrong-type", (0,)),
        ("[{else: A}]", "name", (0, "else")),
        ("[{else: /A}, {to: /B}]", "wrong-place", (0, "else")),
        ("[{match: {group: '('}, to: /A}]", "trace-pattern", (0, "match", "group")),
        ("[{match: {group: a}, to: '/\\1'}]", "out-of-range", (0, "to")),
        ("[{match: {group: a}, to: A}]", "name", (0, "to")),
        ("[{match: {group: a}}]", "missing-key", (0,)),
        ("[{table: {a: /A}}]", "missing-key", (0,)),
        ("[{table: no.csv, column: group}]", "cannot-read", (0, "table")),
        ("[{to: '/{}'}]", "out-of-range", (0, "to")),
        ("[{too: /A}]", "unknown-key", (0, "too")),
    ],
)
def test_faults_of_rules_have_their_place(rules: str, code: str, place: tuple[str | int, ...], tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text(TABLE)
    faults = faults_of(f"{START}consumers: {rules}", tmp_path)
    assert (code, ("workload", "consumers", *place)) in [(fault.code, fault.place) for fault in faults]
    assert all(fault.line and fault.file == "scenario.yaml" for fault in faults)


def test_a_column_that_is_not_there_is_named_with_the_one_that_is(tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text(TABLE)
    (fault,) = faults_of(f'{START}consumers: [{{to: "/{{grop}}"}}]', tmp_path)
    assert (fault.code, fault.mend) == ("trace-header", "did you mean `group`?")


@pytest.mark.parametrize(
    ("section", "code", "place"),
    [
        ("{kind: swf}", "missing-key", ()),
        ("{file: a}", "missing-key", ()),
        ("{kind: swff, file: a}", "unknown-word", ("kind",)),
        ("{kind: swf, file: a, lenght: 3d}", "unknown-key", ("lenght",)),
        ("{kind: swf, file: a, separator: ';'}", "unknown-key", ("separator",)),
        ("{kind: tenants, file: a, columns: {}}", "unknown-key", ("columns",)),
        ("{kind: swf, file: a, faults: ignore}", "unknown-word", ("faults",)),
        ("{kind: swf, file: a, time_zone: Mars}", "time-zone", ("time_zone",)),
        ("{kind: swf, file: a, scale: {load: -1}}", "out-of-range", ("scale", "load")),
        ("{kind: swf, file: a, scale: {time: 0}}", "out-of-range", ("scale", "time")),
        ("{kind: swf, file: a, scale: {speed: 2}}", "unknown-key", ("scale", "speed")),
        ("{kind: swf, file: a, begin: monday}", "instant", ("begin",)),
        ("{kind: sacct, file: a, tasks: gpus}", "unknown-word", ("tasks",)),
        ("{kind: csv, file: a, columns: {submit: a, duration: b}}", "missing-key", ()),
        ("{kind: csv, file: a, columns: {duration: b}, consumers: [{else: /A}]}", "missing-key", ("columns",)),
        ("{kind: csv, file: a, columns: {submit: a}, consumers: [{else: /A}]}", "missing-key", ("columns",)),
        ("{kind: swf, file: a, columns: {sumbit: a}}", "unknown-key", ("columns", "sumbit")),
        ("{kind: swf, file: a, columns: {submit: {column: a, unit: y}}}", "unknown-word",
         ("columns", "submit", "unit")),
        ("{kind: swf, file: a, columns: {unit: {gpu: {column: a, times: 1/3}}}}", "no-multiple",
         ("columns", "unit", "gpu", "times")),
        ("{kind: swf, file: a, columns: {tasks: [1]}}", "wrong-type", ("columns", "tasks")),
    ],
)  # fmt: skip
def test_faults_of_the_section_have_their_place(
    section: str, code: str, place: tuple[str | int, ...], tmp_path: Path
) -> None:
    fault = faults_of(section, tmp_path)[0]
    assert (fault.code, fault.place, fault.file) == (code, ("workload", *place), "scenario.yaml")
    assert fault.mend
