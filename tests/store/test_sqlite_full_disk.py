"""No room: nothing is half written, and all goes on when there is room."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.ports import Filter, StoreError, StoreFull
from fairhold.store import open_store
from fairhold.store.batch import GatheredBatch
from tests.store.contract import NOW, fill, job

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, str(Path(__file__).with_name("full_disk.py"))]


def run(arguments: Sequence[str]) -> Any:
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}"}
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check(said: Any) -> None:
    for last, entries, counted in said["fulls"]:
        assert last == entries == counted > 0
    assert said["spec"] is None
    assert said["check"] == []
    assert said["reopened"] == said["fulls"][-1][0]
    assert said["after"] == said["at last"] == said["reopened"] + 200
    assert said["room"]


def test_a_small_disk_fills_up_and_is_given_room(tmp_path: Path) -> None:
    if not shutil.which("unshare"):
        pytest.skip("no namespaces here")
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no namespaces here")
    said = run(["unshare", "-rm", *PROGRAM, "mount", str(tmp_path)])
    if said is None:
        pytest.skip("nothing may be mounted here")
    check(said)


def test_a_limit_on_the_size_of_files_is_met_and_lifted(tmp_path: Path) -> None:
    check(run([*PROGRAM, "limit", str(tmp_path)]))


def test_a_file_that_may_not_grow_takes_a_batch_whole_or_not_at_all(tmp_path: Path) -> None:
    with closing(open_store(tmp_path)) as store:
        fill(store)
        assert store._connection is not None
        (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
        store._connection.execute(f"PRAGMA max_page_count={pages + 4}")
        added = 0

        def add() -> None:
            with store.transaction() as batch:
                batch.append(NOW + 10, "[]")
                batch.put_job(job(100 + added, labels={"n": f"{added}" * 50}))
                batch.put_spec(f"x{added}", f'["{"x" * 500}"]')

        with suppress(StoreFull):
            while True:
                add()
                added += 1
        assert added > 0
        with pytest.raises(StoreFull) as caught:
            add()
        assert caught.value.code == "store-full"
        assert store.last == 7 + added
        assert len(store.jobs(Filter(), "", 1000).rows) == 1 + added
        assert store.check() == ()
        store._connection.execute("PRAGMA max_page_count=1000000")
        add()
        assert store.last == 8 + added
        assert len(store.jobs(Filter(label=("n", f"{added}" * 50))).rows) == 1
        assert store.check() == ()


def test_after_a_failed_sync_nothing_more_is_written_until_it_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows what is on the disk then; going on would build on it."""

    def fail(*_: object) -> int:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
        raise error

    with closing(open_store(tmp_path)) as store:
        fill(store)
        with monkeypatch.context() as patch:
            patch.setattr(GatheredBatch, "write", fail)
            with pytest.raises(StoreError, match="disk I/O"), store.transaction() as batch:
                batch.append(NOW + 10, "[]")
        with pytest.raises(StoreError, match="disk I/O"), store.transaction() as batch:
            batch.append(NOW + 10, "[]")
        assert len(store.entries(0)) == 7
    with closing(open_store(tmp_path)) as store, store.transaction() as batch:
        assert batch.append(NOW + 10, "[]") == 8
