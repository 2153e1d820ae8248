"""A program of its own: writes numbered entries until it is killed, and prints each last number after its commit.

Argument: the directory of the store. Every batch says in the store's meta with which entry it ended.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from fairhold.ports import FinishedTask, Retention
from fairhold.store import open_store


def main(directory: Path) -> None:
    store = open_store(directory)
    dice = random.Random(store.last)
    while True:
        with store.transaction() as batch:
            seq = 0
            for _ in range(dice.randrange(1, 20)):
                seq = batch.append(max(store.last_at, 1), f'["Event", {store.last}]')
            task = FinishedTask(
                str(seq), 0, 1, seq, "/A/B", "ann", f"h{seq % 5}", 1, "done", "finished", 0, 0, "", 1, seq
            )
            batch.put_task(task)
            batch.put_meta("ended", str(seq))
        sys.stdout.write(f"{seq}\n")
        sys.stdout.flush()
        if dice.random() < 0.05:
            store.save_snapshot(seq, 1, bytes(seq % 5_000))
        store.compact(Retention(entries_through=seq - 500, jobs=seq))


main(Path(sys.argv[1]))
