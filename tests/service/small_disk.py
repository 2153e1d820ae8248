"""A program of its own: a service on a disk that fills up. Prints as JSON what happened, null = nothing can be mounted.

Argument: a folder, on which a small file system is mounted (in a namespace of its own).
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fairhold
from fairhold.client.errors import ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable

ROOM = 12 * 2**20
PLAN = """\
fairhold: 1
cluster: small
resource_groups: {compute: {slots: 2}}
consumers: {A: {}, B: {}}
policies: [{resource_groups: [compute], policy: hybrid, consumers: {/A: {owned: 1}, /B: {owned: 1}}}]
"""


def until(what: Callable[[], Any]) -> None:
    end = time.monotonic() + 30
    while not what():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


def main(place: Path) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "none", str(place)]
    if subprocess.run(mount, check=False, stderr=subprocess.DEVNULL).returncode:
        sys.stdout.write("null")
        return
    (place / "plan.yaml").write_text(PLAN)
    command = [sys.executable, "-m", "fairhold", "serve", str(place / "plan.yaml"), "--state", str(place / "state")]
    service = subprocess.Popen([*command, "--port", "0"], stderr=sys.stderr, stdout=subprocess.DEVNULL)
    try:
        until((place / "state/service.json").exists)
        with fairhold.connect(f"unix:{place}/state/api.sock") as client:
            said = fill(client, place)
        address = f"unix:{place}/state/api.sock"
        subprocess.run([*command[:3], "stop", "--kill", "--service", address], check=True, stdout=subprocess.DEVNULL)
        said_at_end = service.wait(30)
    finally:
        service.kill()
    sys.stdout.write(json.dumps(said | {"status": said_at_end}))


def fill(client: fairhold.client.synchronous.Client, place: Path) -> dict[str, Any]:
    """Let the disk fill up while a task runs, and make room again."""
    gate = place / "gate"
    runs = client.submit("/A", ["/bin/sh", "-c", f"while [ ! -e {gate} ]; do sleep 0.05; done"])
    until(lambda: client.job(runs).state == "running")
    with (place / "ballast").open("wb", buffering=0) as ballast, suppress(OSError):
        while True:
            ballast.write(bytes(4096))
    accepted, refused, trouble = [], "", ""
    while trouble != "trouble":  # the store may find some room once more
        try:
            accepted.append(client.submit("/B", ["/bin/true", "x" * 20_000], hold=True).name)
        except ServiceError as error:
            refused, trouble = error.code, client.health()["state"]
    gate.touch()
    until(lambda: client.job(runs).is_over)
    (place / "ballast").unlink()
    until(lambda: client.health()["state"] == "ok")
    later = client.wait(client.submit("/B", ["/bin/true"]), 30)
    return {
        "refused": refused,
        "trouble": trouble,
        "first": client.wait(runs, 30).state,
        "kept": [client.job(name).state for name in accepted],
        "later": later.state,
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
