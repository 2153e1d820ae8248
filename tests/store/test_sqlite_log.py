"""The write-ahead log: carried over beside the commits, and never without end."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING

from fairhold.store import checkpoints, open_store
from fairhold.store.connections import LOG_SIZE
from fairhold.store.directory import FILE
from tests.store.contract import NOW

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_log_begins_anew_while_one_writes_all_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "ROWS", 100)
    monkeypatch.setattr(checkpoints, "LONG", 200)
    written, largest, patience = 0, 0, time.monotonic() + 60
    with closing(open_store(tmp_path)) as store:
        log = tmp_path / f"{FILE}-wal"
        while written < 20 * 2**20:
            with store.transaction() as batch:
                for _ in range(10):
                    batch.append(NOW, f'["{"x" * 2_000}"]')
            written += 20_000
            largest = max(largest, log.stat().st_size)
            assert time.monotonic() < patience
        assert largest < written / 2
        assert store.check() == ()
    assert not log.exists()


def test_a_log_that_cannot_be_carried_over_keeps_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "ROWS", 1)
    with closing(open_store(tmp_path)) as store:
        assert store._checkpoints is not None
        store._checkpoints._connection.close()  # whatever it does now fails
        for number in range(100):
            with store.transaction() as batch:
                batch.append(NOW + number, "[]")
        assert len(store.entries(0)) == 100
        assert store._checkpoints._thread.is_alive()
    with closing(open_store(tmp_path)) as store:
        assert len(list(store.load().entries)) == 100


def test_a_log_of_few_large_rows_is_carried_over_and_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "PAUSE", 3600.0)  # so that nothing but its size asks for it
    patience = time.monotonic() + 60
    with closing(open_store(tmp_path)) as store:
        log = tmp_path / f"{FILE}-wal"
        with store.transaction() as batch:
            batch.append(NOW, f'["{"x" * 3 * LOG_SIZE}"]')
        assert log.stat().st_size > 3 * LOG_SIZE
        while log.stat().st_size > LOG_SIZE:
            time.sleep(0.02)
            with store.transaction() as batch:
                batch.append(NOW, "[]")
            assert time.monotonic() < patience
        assert store.check() == ()
