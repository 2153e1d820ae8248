"""Opening what is there: stores of other formats, files that are none, files that are damaged."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fairhold.errors import Fault, InputError
from fairhold.ports import Filter, SavedState, StoreError
from fairhold.store import backup_store, check_store, open_store
from fairhold.store.directory import FILE
from fairhold.store.schema import MIGRATIONS, steps
from tests.store.contract import NOW, fill, job, task

if TYPE_CHECKING:
    from collections.abc import Callable

FORMAT_1 = Path(__file__).with_name("version_1.sql")


def filled(directory: Path) -> Path:
    """A store with something of everything; returns its file."""
    with closing(open_store(directory)) as store:
        fill(store)
    return directory / FILE


def refusal_of(directory: Path, migrations: Path = MIGRATIONS) -> Fault:
    with pytest.raises(InputError) as caught:
        open_store(directory, migrations=migrations)
    (fault,) = caught.value.faults
    assert fault.file.startswith(str(directory))
    return fault


def old_store(directory: Path) -> Path:
    directory.mkdir()
    with closing(sqlite3.connect(directory / FILE)) as connection:
        connection.executescript(FORMAT_1.read_text())
    return directory / FILE


def shape(path: Path) -> set[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return set(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))


def test_a_store_of_format_1_is_opened_with_all_that_it_has(tmp_path: Path) -> None:
    path = old_store(tmp_path / "state")
    with closing(open_store(tmp_path / "state")) as store:
        log = store.load()
        assert log.snapshot == SavedState(5, NOW + 5, b"what five entries made")
        assert [entry.body for entry in log.entries] == ['["Event", "sechs — 6"]', '["Event", 7]']
        assert (store.jobs(Filter(user="ann")).rows, store.tasks(Filter(host="h1")).rows) == ([job(1)], [task(1)])
        assert store.check() == ()
        assert store.meta()["format"] == str(len(steps()))
    open_store(tmp_path / "new").close()
    assert shape(path) == shape(tmp_path / "new" / FILE)


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """The steps of a Fairhold that is one step ahead."""
    folder = tmp_path / "later"
    shutil.copytree(MIGRATIONS, folder)
    number = len(steps()) + 1
    (folder / f"{number:04d}_more.sql").write_text(
        "ALTER TABLE plans ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue';"
        "UPDATE meta SET value = 'new' WHERE name = 'color'"
    )
    return folder


def test_an_older_store_is_brought_to_the_format_of_now_and_then_refused_by_the_older(
    tmp_path: Path, later: Path
) -> None:
    old_store(tmp_path / "state")
    with closing(open_store(tmp_path / "state", migrations=later)) as store:
        assert store.meta()["color"] == "new"
        assert store.check() == ()
    fault = refusal_of(tmp_path / "state")
    assert fault.code == "store-newer"
    assert f"format {len(steps(later))}" in fault.what
    for refused in (check_store, lambda directory: backup_store(directory, tmp_path / "b")):
        with pytest.raises(InputError, match="store-newer"):
            refused(tmp_path / "state")


def test_a_step_that_fails_leaves_the_store_as_it_was(tmp_path: Path, later: Path) -> None:
    path = old_store(tmp_path / "state")
    open_store(tmp_path / "now").close()
    with max(later.iterdir()).open("a") as step:
        step.write("; INSERT INTO nothing VALUES (1);")
    fault = refusal_of(tmp_path / "state", later)
    assert fault.code == "store-not-migrated"
    assert "nothing" in fault.what
    assert shape(path) == shape(tmp_path / "now" / FILE)
    with closing(open_store(tmp_path / "state")) as store:
        assert (store.last, store.meta()["color"]) == (7, "blue")


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no database, only some words " * 1_000)


def nothing(path: Path) -> None:
    path.write_bytes(b"")


def cut_to_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def cut_in_the_header(path: Path) -> None:
    os.truncate(path, 60)


def of_another_program(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE songs (name TEXT); PRAGMA user_version=1;")


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (garbage, "store-damaged"),
        (nothing, "store-damaged"),
        (cut_to_half, "store-damaged"),
        (cut_in_the_header, "store-damaged"),
        (of_another_program, "store-foreign"),
    ],
)
def test_what_is_no_store_is_refused_and_left_alone(tmp_path: Path, spoil: Callable[[Path], None], code: str) -> None:
    path = filled(tmp_path)
    spoil(path)
    before = path.read_bytes()
    assert refusal_of(tmp_path).code == code
    assert path.read_bytes() == before
    assert refusal_of(tmp_path).code == code  # the directory was let go


def test_parts_of_a_store_do_not_become_a_new_one(tmp_path: Path) -> None:
    filled(tmp_path).rename(tmp_path / f"{FILE}-wal")
    assert refusal_of(tmp_path).code == "store-incomplete"


def test_a_directory_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert refusal_of(tmp_path / "file" / "state").code == "store-failed"
    assert refusal_of(tmp_path / "file").code == "store-failed"


def test_a_making_that_was_cut_short_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / f"{FILE}.creating").write_bytes(b"half")
    (tmp_path / f"{FILE}.creating-journal").write_bytes(b"half")
    open_store(tmp_path).close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store.lock", FILE]


def test_the_files_are_for_their_owner_only(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "state")) as store:
        fill(store)
        modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "state").iterdir()}
    assert set(modes.values()) == {0o600}
    assert len(modes) == 4
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700


def edit(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("DELETE FROM entries WHERE seq = 3", "store-gap"),
        ("DELETE FROM entries WHERE seq > 4", "store-gap"),
        ("DELETE FROM snapshots; ", "store-gap"),
        ("UPDATE entries SET at = 5 WHERE seq = 4", "store-clock"),
        ("UPDATE snapshots SET body = x'00'", "snapshot-damaged"),
        ("DELETE FROM jobs", "store-strangers"),
        ("DELETE FROM tasks_by_word", "store-strangers"),
        ("DELETE FROM words", "store-strangers"),
        ("INSERT INTO cycle_documents SELECT 9, at, body, seal FROM cycle_documents", "store-strangers"),
    ],
)
def test_a_check_finds_what_is_wrong(tmp_path: Path, statement: str, code: str) -> None:
    path = filled(tmp_path)
    if statement.startswith("DELETE FROM snapshots"):
        edit(path, "DELETE FROM entries WHERE seq < 4")
    edit(path, statement)
    found = check_store(tmp_path)
    assert {fault.code for fault in found} - {"store-damaged"} == {code}
    assert all(fault.file == str(path) for fault in found)


def test_a_gap_behind_the_snapshot_is_found_while_loading(tmp_path: Path) -> None:
    path = filled(tmp_path)
    edit(path, "DELETE FROM entries WHERE seq = 6")
    with closing(open_store(tmp_path)) as store, pytest.raises(InputError, match="store-gap"):
        list(store.load().entries)


def test_a_snapshot_that_cannot_be_read_gives_way_to_the_one_before(tmp_path: Path) -> None:
    path = filled(tmp_path)
    with closing(open_store(tmp_path)) as store:
        store.save_snapshot(7, NOW + 7, b"seven")
    edit(path, "UPDATE snapshots SET body = substr(body, 1, 4) WHERE seq = 7", "DELETE FROM entries WHERE seq < 6")
    with closing(open_store(tmp_path)) as store:
        log = store.load()
        assert log.snapshot is not None
        assert (log.snapshot.seq, [entry.seq for entry in log.entries]) == (5, [6, 7])
    edit(path, "UPDATE snapshots SET body = 7")
    with closing(open_store(tmp_path)) as store, pytest.raises(StoreError) as caught:
        store.load()
    assert caught.value.code == "store-damaged"


def test_damage_in_the_middle_is_told_by_check_and_by_reading(tmp_path: Path) -> None:
    with closing(open_store(tmp_path)) as store:
        for _ in range(50):
            with store.transaction() as batch:
                for _ in range(100):
                    batch.append(NOW, '["some words that fill pages of the file"]')
    path = tmp_path / FILE
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2 // 4096 * 4096)
        file.write(b"\xa5" * (size // 4))
    assert check_store(tmp_path)[0].code == "store-damaged"
    with pytest.raises(InputError, match="store-damaged"):
        backup_store(tmp_path, tmp_path / "copy")
    assert not list(tmp_path.glob("copy*"))
    with closing(open_store(tmp_path)) as store:
        with pytest.raises(StoreError) as caught:
            list(store.load().entries)
        assert caught.value.code == "store-damaged"
        assert store.check()[0].code == "store-damaged"


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.close()
    with pytest.raises(StoreError) as caught:
        store.plan()
    assert caught.value.code == "store-closed"
