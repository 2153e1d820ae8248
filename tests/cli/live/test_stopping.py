"""`stop` says that the service has stopped when its process has, which lets go of the store last."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.live.served import LONGEST, ME, until

if TYPE_CHECKING:
    from pathlib import Path

SLOW = """
import json, os, socket, sys, time
door = socket.socket(socket.AF_UNIX)
door.bind(sys.argv[1])
door.listen()
link, _ = door.accept()
def answer(document):
    asked = b""
    while b"\\r\\n\\r\\n" not in asked:
        asked += link.recv(65536)
    head, _, body = asked.partition(b"\\r\\n\\r\\n")
    length = [line.split()[1] for line in head.lower().splitlines() if line.startswith(b"content-length")]
    while length and len(body) < int(length[0]):
        body += link.recv(65536)
    body = json.dumps(document).encode()
    head = "HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)
    link.sendall(head.encode() + body)
answer({"started": "2026-01-05T09:00:00Z"})
answer({"how": "kill"})
os.unlink(sys.argv[1])
door.close()
link.close()
time.sleep(1)
open(sys.argv[2], "w").close()
"""
"""A service that takes its time between its last answer and its end."""


@pytest.mark.parametrize("how", ["--kill", "--drain"])
def test_a_service_has_stopped_when_its_process_has_ended(tmp_path: Path, how: str) -> None:
    sock, over = tmp_path / "api.sock", tmp_path / "over"
    with subprocess.Popen([sys.executable, "-c", SLOW, str(sock), str(over)]) as slow:
        until(sock.exists)
        command = [*ME, "stop", how, "--service", f"unix:{sock}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST)
        assert over.exists(), done
        assert (done.returncode, " stopped" in done.stdout) == (0, True), done.stdout
        assert slow.wait(LONGEST) == 0
