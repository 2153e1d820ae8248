"""A PostgreSQL server of its own for tests, on a Unix socket and a port of this machine, in a temporary directory."""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest

PASSWORD = "se-cret/word"
USER = "fairhold"


def programs() -> Path | None:
    """Where the server's programs are: in PATH, or where Debian puts them."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists() and (place / "postgres").exists()), None)


def _account() -> dict[str, Any]:
    """As root, what makes a child another account: the server refuses to be root."""
    if os.geteuid():
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


class Server:
    """A server; `start` and `kill` as often as wanted."""

    def __init__(self) -> None:
        place = programs()
        assert place is not None
        self._programs = place
        self.directory = Path(tempfile.mkdtemp(prefix="fh-pg-"))
        self._account = _account()
        if self._account:
            os.chown(self.directory, self._account["user"], self._account["group"])
        self.data = self.directory / "data"
        secret = self.directory / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        words = ["-D", str(self.data), "-U", USER, "-E", "UTF8", "--locale=C", "--no-sync"]
        self._run([str(place / "initdb"), *words, "--auth=scram-sha-256", f"--pwfile={secret}"])
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = 0

    def _run(self, words: list[str]) -> None:
        done = subprocess.run(words, **self._account, cwd="/", capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = {"port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": self.directory}
        settings |= {"shared_buffers": "32MB", "max_connections": 60}
        words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._programs / "postgres"), "-D", str(self.data), *words],
                **self._account, cwd="/", stdout=log, stderr=log,
            )  # fmt: skip
        patience = time.monotonic() + 60
        while True:
            try:
                self.ask("SELECT 1")
            except psycopg.OperationalError:
                assert time.monotonic() < patience
                assert self._process.poll() is None, (self.directory / "log").read_text()
                time.sleep(0.05)
            else:
                return

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT at once and in order, SIGQUIT without."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            self._process = None

    def ask(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """What the server says, to its administrator."""
        with psycopg.connect(self.address(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def database(self) -> str:
        """Name of a new and empty database."""
        self._databases += 1
        name = f"d{self._databases}"
        self.ask(f"CREATE DATABASE {name}")
        return name

    def address(self, database: str, rest: str = "") -> str:
        """Connection string with the password."""
        return f"postgresql://{USER}:{PASSWORD.replace('/', '%2F')}@127.0.0.1:{self.port}/{database}{rest}"

    def close(self) -> None:
        """End it, without waiting for what it would still write, and remove all that it had."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.directory, ignore_errors=True)


def why_not() -> str:
    """Why there can be no server here; empty = there can."""
    return "" if programs() else "the programs of a PostgreSQL server are not installed"


@cache
def the_server() -> Server:
    """One for all tests of this process, ended with it; skips the test where there can be none."""
    if reason := why_not():
        if os.environ.get("FAIRHOLD_POSTGRESQL") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    server = Server()
    atexit.register(server.close)
    server.start()
    return server
