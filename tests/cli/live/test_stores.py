"""`store check`, `backup` and `restore` beside a service that uses the store."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

from fairhold.store import open_store
from tests.live.play import PLAIN, Play, plan_text

if TYPE_CHECKING:
    from pathlib import Path

ME = [sys.executable, "-m", "fairhold", "store"]


def store(*args: str, exits: int = 0) -> str:
    done = subprocess.run([*ME, *args], capture_output=True, text=True, check=False)
    assert done.returncode == exits, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def test_a_store_in_use_is_checked_copied_and_not_replaced(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    play.submit("/B", 3)
    play.commit()
    state, copy, other = tmp_path / "state", tmp_path / "copy.sqlite", tmp_path / "other"
    assert store("check", "--state", str(state)).strip() == f"{state}: good"
    assert json.loads(store("check", "--json", "--state", str(state)))["faults"] == []
    store("backup", str(copy), "--state", str(state))
    play.submit("/B", 1)  # the service goes on
    play.commit()
    assert "backup-exists" in store("backup", str(copy), "--state", str(state), exits=1)
    assert "store-in-use" in store("restore", str(copy), "--state", str(state), "--replace", exits=1)
    store("restore", str(copy), "--state", str(other))
    play.store.close()
    found = open_store(other)
    assert len([entry for entry in found.entries(0) if entry.body.startswith('["JobAdded"')]) == 1
    found.close()


def test_what_is_wrong_is_told_with_its_code(tmp_path: Path) -> None:
    play = Play(tmp_path, plan_text(PLAIN))
    play.submit("/B", 3)
    play.commit()
    play.store.close()
    state = tmp_path / "state"
    file = next(state.glob("*.sqlite"))
    with sqlite3.connect(file) as connection:
        connection.execute("DELETE FROM entries WHERE seq = 2")
    connection.close()
    assert "store-gap" in store("check", "--state", str(state), exits=1)
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    assert "store-newer" in store("check", "--state", str(state), exits=1)
    assert "store-newer" in store("backup", str(tmp_path / "copy.sqlite"), "--state", str(state), exits=1)
