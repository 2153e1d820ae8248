"""Ends in the middle: a program that is killed, and a log that a power cut left short."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from fairhold.errors import InputError
from fairhold.ports import Filter
from fairhold.store import open_store
from fairhold.store.directory import FILE
from tests.store.contract import NOW, task

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, str(Path(__file__).with_name("write_on.py"))]


def test_what_was_committed_survives_kill_9_and_the_log_has_no_gap(tmp_path: Path) -> None:
    dice = random.Random(7)
    promised = 0
    for _ in range(12):
        environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}"}
        writer = subprocess.Popen([*PROGRAM, str(tmp_path)], env=environment, stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        for _ in range(dice.randrange(1, 400)):
            promised = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        promised = max([promised, *(int(line) for line in writer.stdout if line.endswith("\n"))])
        writer.wait()
        writer.stdout.close()
        with closing(open_store(tmp_path)) as store:
            assert store.last >= promised
            assert store.meta()["ended"] == str(store.last)
            assert store.tasks(Filter(), "", 1).rows[0].job == str(store.last)
            log = store.load()
            begin = log.snapshot.seq if log.snapshot else 0
            assert [entry.seq for entry in log.entries] == list(range(begin + 1, store.last + 1))
            assert store.check() == ()


def test_a_log_that_was_cut_off_anywhere_keeps_whole_batches_from_the_first(tmp_path: Path) -> None:
    live = tmp_path / "live"
    with closing(open_store(live)) as store:
        for number in range(40):
            with store.transaction() as batch:
                for _ in range(10):
                    batch.append(NOW, "[" + "7," * 50 + "7]")
                batch.put_task(task(number))
                batch.put_meta("ended", str(store.last + 10))
        shutil.copytree(live, tmp_path / "copy")
    whole = (tmp_path / "copy" / f"{FILE}-wal").read_bytes()
    dice, lasts = random.Random(3), []
    for size in sorted(dice.randrange(len(whole)) for _ in range(25)):
        place = tmp_path / "cut"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        shutil.copy(tmp_path / "copy" / FILE, place)
        (place / f"{FILE}-wal").write_bytes(whole[:size])
        with closing(open_store(place)) as store:
            assert store.last == int(store.meta().get("ended", "0"))
            assert len(store.tasks(Filter(), "", 1000).rows) * 10 == store.last
            assert store.check() == ()
            lasts.append(store.last)
    assert lasts == sorted(lasts)
    assert lasts[-1] > 100


def test_the_directory_is_free_after_a_kill(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}"}
    with subprocess.Popen([*PROGRAM, str(tmp_path)], env=environment, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        try:
            with pytest.raises(InputError, match=rf"the process {writer.pid} \[store-in-use\]"):
                open_store(tmp_path)
        finally:
            writer.kill()
    open_store(tmp_path).close()
