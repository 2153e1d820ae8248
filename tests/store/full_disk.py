"""A program of its own: fills the room for a store, makes room again, and prints what happened as JSON.

Arguments: `mount PLACE` mounts a small file system there (in a namespace of its own); `limit PLACE` limits the size of
files.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from fairhold.errors import InputError
from fairhold.ports import Retention, Store, StoreFull
from fairhold.store import open_store

ROOM = 4 * 2**20
BODY = json.dumps(["Event", "x" * 300])


def fill(store: Store) -> tuple[list[tuple[int, int, int]], int]:
    """Write until there was no room three times; what the store had then, and how many writes were tried."""
    fulls: list[tuple[int, int, int]] = []
    counted = written = 0
    while len(fulls) < 3:
        counted += 1
        try:
            with store.transaction() as batch:
                for _ in range(20):
                    batch.append(counted, BODY)
                batch.put_meta("written", str(written + 1))
                batch.put_spec(str(counted), BODY)
            written += 1  # there may be some room again
        except StoreFull:
            last = store.last
            fulls.append((last, len(store.entries(0, limit=10**6)), int(store.meta()["written"]) * 20))
    return fulls, counted


def main(way: str, place: Path) -> None:
    ballast = place / "ballast"
    if way == "mount":
        mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "none", str(place)]
        if subprocess.run(mount, check=False, stderr=subprocess.DEVNULL).returncode:
            sys.stdout.write("null")
            return
        ballast.write_bytes(bytes(ROOM // 2))
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM // 4, resource.RLIM_INFINITY))
    store = open_store(place / "state")
    fulls, counted = fill(store)
    full: dict[str, object] = {
        "fulls": fulls,
        "spec": store.spec(str(counted)),
        "check": [str(fault) for fault in store.check()],
    }
    with suppress(StoreFull):
        store.save_snapshot(store.last, counted, b"y" * 10_000)
    with suppress(StoreFull):
        store.compact(Retention(entries_through=5))
    try:
        store.backup(place / "backup")
    except (StoreFull, InputError) as error:
        full["backup"] = str(error)
    store.close()
    store = open_store(place / "state")
    full["reopened"] = store.last
    if way == "mount":
        ballast.unlink()
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    with store.transaction() as batch:
        for _ in range(200):
            batch.append(counted + 1, BODY)
    full |= {"after": store.last, "entries": len(list(store.load().entries)), "room": not store.check()}
    store.close()
    with_room = open_store(place / "state")
    full["at last"] = with_room.last
    with_room.close()
    sys.stdout.write(json.dumps(full))


main(sys.argv[1], Path(sys.argv[2]))
