"""Stores with something in them that cannot be read: `store check` names it, and a start refuses them in one line."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from fairhold.errors import InputError
from fairhold.orchestrator.events import TaskRunning
from fairhold.runtime.live.contents import LiveContents
from fairhold.runtime.live.opening import LiveSettings, open_live
from fairhold.store import backup_store, check_store, restore_store
from fairhold.store.connections import connect
from fairhold.store.directory import FILE
from fairhold.store.schema import steps
from fairhold.store.tables import seal_all
from tests.live.play import PLAIN, Play, plan_text

if TYPE_CHECKING:
    from pathlib import Path

LATEST = len(steps())
NO_TEXT = "CAST(x'ff' AS TEXT)"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """State directory of a service with two snapshots, entries before, between and after them, and jobs not over."""
    play = Play(tmp_path, plan_text(PLAIN), most=4)
    for _ in range(3):
        play.submit("/A/a1", 2)
        play.pass_time(100_000)
        play.feed(*map(TaskRunning, play.live()[-1:]))
        play.end(play.live()[0])
        play.snapshot()
    play.submit("/B")
    play.commit()
    play.store.close()
    return tmp_path / "state"


def edit(place: Path, statement: str, *values: object) -> None:
    """Change a row, and let its checksum be that of what it is now."""
    with closing(connect(place / FILE)) as connection:
        assert connection.execute(statement, values).rowcount == 1
        connection.forgive()
        seal_all(connection, LATEST)


def rows(place: Path, query: str) -> list[tuple[int, ...]]:
    with closing(sqlite3.connect(place / FILE)) as connection:
        return connection.execute(query).fetchall()


def start(place: Path) -> None:
    open_live(LiveSettings(None, place, launch=False)).close()


def found(place: Path) -> list[tuple[str, str]]:
    faults = check_store(place, LiveContents)
    assert all(fault.mend and fault.file == str(place / FILE) for fault in faults)
    return [(fault.code, fault.what) for fault in faults]


def test_a_whole_store_is_good(place: Path) -> None:
    assert found(place) == []
    start(place)


LAST = "WHERE seq = (SELECT max(seq) FROM entries)"


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        (f"""UPDATE entries SET body = '["Nonsense",1' {LAST}""", "of entries"),
        (f"""UPDATE entries SET body = '["Nonsense",1]' {LAST}""", "there is no entry kind 'Nonsense'"),
        (f"""UPDATE entries SET body = '["Running"]' {LAST}""", "of entries"),
        (f"""UPDATE entries SET body = '["Running",1,2]' {LAST}""", "of entries"),
        (f"""UPDATE entries SET body = '["Running",999]' {LAST}""", "999 is not there"),
        (f"""UPDATE entries SET body = '["PlanApplied",9,{{}},[]]' {LAST}""", "plan 9 is not there"),
        (f"UPDATE entries SET body = '[[]]' {LAST}", "of entries"),
        (f"UPDATE entries SET body = '{{}}' {LAST}", "of entries"),
        (f"UPDATE entries SET body = 7 {LAST}", "of entries"),
        (f"UPDATE entries SET body = {NO_TEXT} {LAST}", "of entries"),
        ("UPDATE specs SET body = 'xx' WHERE job = '4'", "row 4 of specs"),
        ("UPDATE specs SET body = '{}' WHERE job = '4'", "'argv' is not there"),
        (f"UPDATE specs SET body = {NO_TEXT} WHERE job = '4'", "row 4 of specs"),
        ("DELETE FROM specs WHERE job = '4'", "the command of job 4 is missing"),
        ("UPDATE plans SET text = 'xx'", "row 1 of plans"),
        ("UPDATE plans SET text = ''", "row 1 of plans"),
        (f"UPDATE plans SET text = {NO_TEXT}", "row 1 of plans"),
        ("DELETE FROM plans", "plan 1"),
        ("UPDATE plans SET version = 2", "plan 1 is not there"),
        ("INSERT INTO plans SELECT 2, at, '', '', text, 1, 0, 0 FROM plans", "plan 2 is the latest"),
    ],
)
def test_what_a_start_cannot_use_is_named_and_a_start_refuses_it(place: Path, statement: str, named: str) -> None:
    edit(place, statement)
    faults = found(place)
    assert ("store-damaged", named) in [(code, named if named in what else what) for code, what in faults]
    for _ in range(2):
        with pytest.raises(InputError) as caught:
            start(place)
        (fault,) = caught.value.faults
        assert (fault.code, fault.file) == ("store-damaged", str(place / FILE))
        assert "store restore" in fault.mend


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = '[' WHERE seq = 1",
        "UPDATE entries SET body = '[\"Running\"]' WHERE seq = 2",
        "UPDATE jobs SET summary = '{\"a\"' WHERE job = '1'",
        "UPDATE jobs SET labels = '{,}' WHERE job = '1'",
        "UPDATE tasks SET labels = 'xx' WHERE number = 1",
        "UPDATE cycles SET counts = '' WHERE number = 1",
        "REPLACE INTO cycle_documents SELECT number, at, x'00', 0 FROM cycles WHERE number = 1",
    ],
)
def test_what_only_questions_would_meet_is_found_too(place: Path, statement: str) -> None:
    edit(place, statement)
    table = statement.removeprefix("UPDATE ").removeprefix("REPLACE INTO ").split()[0]
    named = f"of {table} cannot be read"
    assert ("store-damaged", named) in [(code, named if named in what else what) for code, what in found(place)]


def broken() -> list[bytes]:
    return [
        zlib.compress(b'{"a":1}'),
        zlib.compress(b"["),
        zlib.compress(json.dumps({"version": 1, "next_job": 1, "closings": {}, "returns": []}).encode()),
        b"no snapshot",
    ]


@pytest.mark.parametrize("body", broken())
def test_a_snapshot_that_cannot_be_used_gives_way_to_the_one_before_and_that_is_said(
    place: Path, body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (before,), (latest,) = rows(place, "SELECT seq FROM snapshots ORDER BY seq")
    edit(place, "UPDATE snapshots SET body = ? WHERE seq = ?", body, latest)
    assert [code for code, _ in found(place)] == ["snapshot-damaged"]
    live = open_live(LiveSettings(None, place, launch=False))
    assert set(live.core.cluster.jobs) == {"1", "2", "3", "4"} - {job for (job,) in rows(place, "SELECT job FROM jobs")}
    live.close()
    (said,) = [each.getMessage() for each in caplog.records if "snapshot" in each.getMessage()]
    assert f"the snapshot of entry {latest} cannot be used" in said
    assert said.endswith(f"the start continued from the one of entry {before}")


def test_without_a_snapshot_that_can_be_used_the_whole_log_happens_again_or_the_store_is_refused(place: Path) -> None:
    for (seq,) in rows(place, "SELECT seq FROM snapshots"):
        edit(place, "UPDATE snapshots SET body = ? WHERE seq = ?", broken()[0], seq)
    assert [code for code, _ in found(place)] == ["snapshot-damaged", "snapshot-damaged"]
    with closing(sqlite3.connect(place / FILE, isolation_level=None)) as connection:
        gone = connection.execute("SELECT * FROM entries WHERE seq = 1").fetchone()
        connection.execute("DELETE FROM entries WHERE seq = 1")
    assert "store-damaged" in dict(found(place))
    with pytest.raises(InputError, match="store-damaged"):
        start(place)
    edit(place, "INSERT INTO entries VALUES (?, ?, ?, ?)", *gone)
    start(place)


def test_a_damaged_store_is_neither_copied_nor_restored(place: Path, tmp_path: Path) -> None:
    backup_store(place, tmp_path / "copy", LiveContents)
    edit(place, "UPDATE specs SET body = 'xx' WHERE job = '4'")
    with pytest.raises(InputError, match="row 4 of specs"):
        backup_store(place, tmp_path / "other", LiveContents)
    with closing(sqlite3.connect(tmp_path / "copy", isolation_level=None)) as connection:
        connection.execute("UPDATE specs SET body = 'xx' WHERE job = '4'")
    with pytest.raises(InputError, match="row 4 of specs"):
        restore_store(tmp_path / "copy", tmp_path / "new", contents=LiveContents)
    assert not (tmp_path / "new").exists()


def test_many_faults_of_a_table_are_counted(place: Path) -> None:
    with closing(sqlite3.connect(place / FILE, isolation_level=None)) as connection:
        connection.execute("UPDATE entries SET body = 'x'")
    faults = found(place)
    assert len(faults) == 21
    assert faults[-1][1] == f"{len(rows(place, 'SELECT 1 FROM entries')) - 20} more rows of entries cannot be read"
