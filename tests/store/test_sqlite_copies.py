"""Backups, and stores made of them."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from fairhold.errors import InputError
from fairhold.ports import Filter
from fairhold.store import backup_store, check_store, copies, open_store, restore_store
from fairhold.store.directory import FILE
from tests.store.contract import NOW, fill, job

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    with closing(open_store(tmp_path / "first", cluster="bank")) as store:
        fill(store)
        store.backup(tmp_path / "backup")
        with store.transaction() as batch:
            batch.append(NOW + 9, "[]")
    return tmp_path / "backup"


def code_of(caught: pytest.ExceptionInfo[InputError]) -> str:
    return caught.value.faults[0].code


def test_a_restored_store_is_as_at_the_backup_and_says_so(tmp_path: Path, backup: Path) -> None:
    restore_store(backup, tmp_path / "second")
    with closing(open_store(tmp_path / "second")) as store:
        assert (store.last, store.jobs(Filter()).rows) == (7, [job(1)])
        assert (store.meta()["cluster"], store.meta()["restored"]) == ("bank", "7")
        assert store.check() == ()
    assert sorted(path.name for path in (tmp_path / "second").iterdir()) == ["store.leader", "store.lock", FILE]
    assert (tmp_path / "second" / FILE).stat().st_mode & 0o777 == 0o600


def test_a_backup_may_be_taken_and_checked_from_outside_with_and_without_a_service(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "first")) as store:
        fill(store)
        assert check_store(tmp_path / "first") == ()
        backup_store(tmp_path / "first", tmp_path / "with")
    backup_store(tmp_path / "first", tmp_path / "without")
    for number, name in enumerate(("with", "without")):
        restore_store(tmp_path / name, tmp_path / str(number))
        with closing(open_store(tmp_path / str(number))) as store:
            assert store.last == 7


def test_no_room_for_a_backup_names_the_place_of_the_backup(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "first")) as store:
        fill(store)
    (tmp_path / "small").mkdir()
    program = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)); "
    program += "from fairhold.cli.main import main; sys.exit(main())"
    words = ["store", "backup", str(tmp_path / "small" / "copy"), "--state", str(tmp_path / "first")]
    command = [sys.executable, "-c", program, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = f"{tmp_path / 'small'}: the disk is full: no copy was made [store-full]\n"
    assert (done.returncode, done.stderr) == (3, said)
    assert list((tmp_path / "small").iterdir()) == []


def test_a_store_is_replaced_only_where_that_is_said_and_then_set_aside(tmp_path: Path, backup: Path) -> None:
    place = tmp_path / "first"
    with pytest.raises(InputError) as caught:
        restore_store(backup, place)
    assert code_of(caught) == "store-exists"
    with closing(open_store(place)) as store:
        assert store.last == 8
        with pytest.raises(InputError) as caught:
            restore_store(backup, place, replace=True)
        assert code_of(caught) == "store-in-use"
    for _ in range(2):
        restore_store(backup, place, replace=True)
    with closing(open_store(place)) as store:
        assert store.last == 7
    assert (place / f"{FILE}.replaced").exists()


def test_what_was_set_aside_has_its_log(tmp_path: Path, backup: Path) -> None:
    """A service that was killed leaves its last commits in the log beside the file."""
    with closing(open_store(tmp_path / "live")) as store:
        fill(store)
        shutil.copytree(tmp_path / "live", tmp_path / "killed")
    assert (tmp_path / "killed" / f"{FILE}-wal").stat().st_size > 0
    restore_store(backup, tmp_path / "killed", replace=True)
    with closing(sqlite3.connect(tmp_path / "killed" / f"{FILE}.replaced")) as connection:
        assert connection.execute("SELECT max(seq) FROM entries").fetchone() == (7,)


@pytest.mark.parametrize("stop", [1, 2, 3, 4])
def test_a_restore_that_is_cut_short_leaves_a_store_or_is_refused(
    tmp_path: Path, backup: Path, stop: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_store(tmp_path / "live")) as store:
        fill(store)
        with store.transaction() as batch:
            batch.append(NOW + 9, "[]")
        shutil.copytree(tmp_path / "live", tmp_path / "killed")
    steps = 0

    def settle(_path: Path) -> None:
        nonlocal steps
        steps += 1
        if steps == stop:
            raise KeyboardInterrupt

    monkeypatch.setattr(copies, "settle", settle)
    try:
        restore_store(backup, tmp_path / "killed", replace=True)
    except KeyboardInterrupt:
        pass
    else:
        assert steps == stop - 1 == 3
    monkeypatch.undo()
    try:
        with closing(open_store(tmp_path / "killed")) as store:
            assert (store.last, store.check()) == (7, ())
            assert stop >= 3
    except InputError as error:
        code = error.faults[0].code
        restore_store(backup, tmp_path / "killed", replace=True)
        with closing(open_store(tmp_path / "killed")) as store:
            assert (store.last, code) == (7, "store-incomplete")


@pytest.mark.parametrize("spoil", ["missing", "garbage", "cut", "gap"])
def test_a_backup_that_is_damaged_is_refused_and_the_store_stays(tmp_path: Path, backup: Path, spoil: str) -> None:
    if spoil == "missing":
        backup.unlink()
    elif spoil == "garbage":
        backup.write_bytes(b"words " * 1_000)
    elif spoil == "cut":
        backup.write_bytes(backup.read_bytes()[:-9_000])
    else:
        with closing(sqlite3.connect(backup, isolation_level=None)) as connection:
            connection.execute("DELETE FROM entries WHERE seq = 2")
    with pytest.raises(InputError) as caught:
        restore_store(backup, tmp_path / "first", replace=True)
    codes = {"missing": "store-missing", "garbage": "store-damaged", "cut": "store-damaged", "gap": "store-gap"}
    assert code_of(caught) == codes[spoil]
    with closing(open_store(tmp_path / "first")) as store:
        assert store.last == 8


def test_there_has_to_be_a_store(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        check_store(tmp_path)
    assert code_of(caught) == "store-missing"
    with pytest.raises(InputError) as caught:
        backup_store(tmp_path, tmp_path / "backup")
    assert code_of(caught) == "store-missing"


@pytest.mark.parametrize("name", ["nowhere/copy", "file/copy"])
def test_a_copy_that_cannot_be_written_blames_its_directory_and_not_the_store(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with closing(open_store(tmp_path / "first")):
        pass
    with pytest.raises(InputError) as caught:
        backup_store(tmp_path / "first", tmp_path / name)
    (fault,) = caught.value.faults
    assert (fault.code, fault.file) == ("cannot-write", str((tmp_path / name).parent))


def test_a_file_that_is_no_backup_leaves_no_trace_and_no_advice_to_do_the_same_again(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("fairhold: 1\n" * 100)
    with pytest.raises(InputError) as caught:
        restore_store(tmp_path / "plan.yaml", tmp_path / "new")
    (fault,) = caught.value.faults
    assert fault.code == "store-damaged"
    assert "fairhold store restore" not in fault.mend
    assert "fairhold store backup" in fault.mend
    assert not (tmp_path / "new").exists()
