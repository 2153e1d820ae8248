"""Event logs on disk come back as the same bytes, in whole parts whatever happens."""

from __future__ import annotations

import errno
import sys
from typing import TYPE_CHECKING

import pytest

from fairhold.errors import InputError, UsageError
from fairhold.lab.events import COLUMNS, JSONL, PARQUET, open_events, read_events
from fairhold.orchestrator import changes as said
from fairhold.sim.experiment import Experiment, Outage
from fairhold.sim.log import Log
from fairhold.sim.play import Simulation
from tests.sim.scenes import SECOND, jobs_of, plan_of

if TYPE_CHECKING:
    from pathlib import Path

HOSTS = plan_of({"/A": {"owned": 2}, "/B": {"owned": 2}}, group={"hosts": [{"name": "h[1-2]", "slots": 2}]})
SCENE = Experiment(
    HOSTS,
    jobs_of((0, "/B", 4, 100), (30, "/A", 2, 10), (40, "/A", 2, 10), gang=True),
    0,
    outages=(Outage("h1", 50 * SECOND, 60 * SECOND),),
)


def lines() -> list[str]:
    found: list[str] = []
    log = Log(found.append)
    Simulation(SCENE, [log]).run()
    log.note(0, [said.HoldSet('a "job", äöü\u2028', None), said.JobDropped("j\n")])
    return found


@pytest.mark.parametrize("form", [PARQUET, JSONL, None])
def test_lines_come_back_as_they_were(tmp_path: Path, form: str | None) -> None:
    if form == PARQUET:
        pytest.importorskip("polars", reason="Parquet needs the extra `sim`")
    written = lines()
    with open_events(tmp_path, form, rows=7) as write:
        for line in written:
            write(line)
    assert "".join(read_events(tmp_path)) == "".join(written)
    assert len(list(tmp_path.iterdir())) == -(-len(written) // 7) > 2


def test_columns_are_what_the_line_says(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars", reason="Parquet needs the extra `sim`")
    with open_events(tmp_path, PARQUET) as write:
        log = Log(write)
        log.note(
            5, [said.JobAdded("j", "/A", "compute", 3, units=2), said.Started(7, "j", 1, 1, (("h1", 2), ("h2", 3)))]
        )
        log.note(6, [said.Noticed(7, 9, "quota", "/B", 1, "other"), said.HostSet("compute", "h1", 4, is_up=True)])
    frame = pl.read_parquet(tmp_path / "events-0001.parquet")
    assert tuple(frame.columns) == COLUMNS
    assert [row[:-1] for row in frame.rows()] == [
        (5, "JobAdded", "j", None, None, "/A", None, 2, None, None),
        (5, "Started", "j", 1, 7, None, "h1 h2", 5, None, None),
        (6, "Noticed", None, None, 7, None, None, None, "quota", "/B"),
        (6, "HostSet", None, None, None, None, "h1", 4, None, None),
    ]


@pytest.mark.parametrize("form", [PARQUET, JSONL])
def test_an_interrupted_run_leaves_all_that_was_written_in_whole_parts(tmp_path: Path, form: str) -> None:
    if form == PARQUET:
        pytest.importorskip("polars", reason="Parquet needs the extra `sim`")
    written = lines()[:10]
    with pytest.raises(KeyboardInterrupt), open_events(tmp_path, form, rows=4) as write:  # noqa: PT012 - is interrupted
        for line in written:
            write(line)
            if line is written[8]:
                # As a crash would leave it: only parts that were full are there, and all of them can be read.
                assert list(read_events(tmp_path)) == written[:8]
        raise KeyboardInterrupt
    assert list(read_events(tmp_path)) == written


def test_parts_of_an_earlier_run_are_removed_and_nothing_else(tmp_path: Path) -> None:
    for name in ("events-0009.jsonl", ".events-0003.parquet.new", "events.jsonl", "notes.txt"):
        (tmp_path / name).write_text("x")
    with open_events(tmp_path, JSONL) as write:
        write('[0,"Withdrawn",1]\n')
    assert sorted(path.name for path in tmp_path.iterdir()) == ["events-0001.jsonl", "events.jsonl", "notes.txt"]


@pytest.mark.parametrize("form", [PARQUET, JSONL])
def test_a_run_that_goes_on_keeps_what_is_the_same_and_mends_what_is_not(tmp_path: Path, form: str) -> None:
    if form == PARQUET:
        pytest.importorskip("polars", reason="Parquet needs the extra `sim`")
    written = lines()
    with pytest.raises(KeyboardInterrupt), open_events(tmp_path, form, rows=4) as write:  # noqa: PT012 - is interrupted
        for line in written[:15]:
            write(line)
        raise KeyboardInterrupt
    first = (tmp_path / f"events-0001.{form}").stat().st_mtime_ns
    (tmp_path / f"events-0002.{form}").write_bytes(b"\xff")
    (tmp_path / f"events-0099.{form}").write_bytes(b"")
    with open_events(tmp_path, form, rows=4, keep=True) as write:
        for line in written:
            write(line)
    assert (write.kept, write.mended) == ([1, 3], [2])
    assert (tmp_path / f"events-0001.{form}").stat().st_mtime_ns == first
    assert list(read_events(tmp_path)) == written
    assert len(list(tmp_path.iterdir())) == -(-len(written) // 4)


def test_a_run_that_stops_earlier_than_the_one_before_takes_nothing_away(tmp_path: Path) -> None:
    written = lines()
    for count in (10, 6, 7):
        with pytest.raises(KeyboardInterrupt), open_events(tmp_path, JSONL, rows=4, keep=True) as write:  # noqa: PT012
            for line in written[:count]:
                write(line)
            raise KeyboardInterrupt
    assert list(read_events(tmp_path)) == written[:10]


def test_a_part_that_is_missing_or_broken_is_named(tmp_path: Path) -> None:
    with open_events(tmp_path, JSONL, rows=1) as write:
        for line in lines()[:3]:
            write(line)
    (tmp_path / "events-0002.jsonl").unlink()
    with pytest.raises(InputError, match=r"events-0002\.jsonl: the part is missing"):
        list(read_events(tmp_path))
    pytest.importorskip("polars", reason="Parquet needs the extra `sim`")
    (tmp_path / "events-0002.parquet").write_bytes(b"none")
    with pytest.raises(InputError, match=r"events-0002\.parquet: this is not a part of an event log"):
        list(read_events(tmp_path))


def test_without_the_extra_lines_are_written_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with open_events(tmp_path) as write:
        write('[0,"Withdrawn",1]\n')
    assert (tmp_path / "events-0001.jsonl").read_text() == '[0,"Withdrawn",1]\n'
    with pytest.raises(UsageError, match=r"pip install 'fairhold\[sim\]'"), open_events(tmp_path, PARQUET):
        pass


@pytest.mark.parametrize("form", [PARQUET, JSONL])
def test_a_part_that_cannot_be_written_is_named_and_leaves_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    if form == PARQUET:
        pytest.importorskip("polars", reason="Parquet needs the extra `sim`")
    written = lines()[:6]

    def write_bytes(path: Path, _: object) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")  # without a name, as the system says it

    with pytest.raises(OSError, match="No space left") as failed, open_events(tmp_path, form, rows=4) as write:  # noqa: PT012 - the fifth fails
        for line in written[:4]:
            write(line)
        monkeypatch.setattr(type(tmp_path), "write_bytes", write_bytes)
        for line in written[4:] * 2:
            write(line)
    assert failed.value.filename == str(tmp_path / f"events-0002.{form}")
    assert [path.name for path in tmp_path.iterdir()] == [f"events-0001.{form}"]
    assert list(read_events(tmp_path)) == written[:4]
