"""How long data is kept, and the removal of the rest, in short steps."""

from __future__ import annotations

import logging
import shutil
from itertools import islice
from threading import Event, Thread
from typing import TYPE_CHECKING, NamedTuple

from fairhold.errors import FairholdError
from fairhold.ports import Retention
from fairhold.units import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from fairhold.ports import Store

DAY = 86_400 * SECOND
EVERY = 600 * SECOND
"""Time between two clearings."""
FOLDERS = 50
"""Folders that are looked at in one step."""
_PAUSE = 0.02
"""Seconds between two steps, which belong to the commits of the desk."""
_IDLE = 1.0
"""Seconds after which agents that ask are answered."""
_TROUBLED = 60.0
_LOG = logging.getLogger("fairhold")


class Keep(NamedTuple):
    """How long things are kept, in microseconds; 0 = for ever.

    entries   : of the log: as far back as usage is exact for any instant, and events can be read
    keys      : of submits: as long as a client may repeat one
    jobs      : that are over, with their attempts, commands and outputs
    cycles    : that they ran, with their counts; documents : their quotas and moves
    usage     : its sums
    records   : of what was done
    """

    entries: int = 7 * DAY
    keys: int = 7 * DAY
    jobs: int = 30 * DAY
    cycles: int = 7 * DAY
    documents: int = 2 * DAY
    usage: int = 400 * DAY
    records: int = 400 * DAY


def retention(store: Store, keep: Keep, now: int) -> Retention:
    """What the store need not keep any longer.

    Entries go only where two snapshots cover them: the store sees to it. Their usage is on record by then, as rows up
    to the latest end of a span and in the snapshot from there on.
    """

    def before(age: int) -> int:
        return max(0, now - age) if age else 0

    return Retention(
        entries_through=store.seq_at(before(keep.entries)) if keep.entries and now > keep.entries else 0,
        keys=before(keep.keys),
        jobs=before(keep.jobs),
        cycles=before(keep.cycles),
        documents=before(keep.documents),
        usage=before(keep.usage),
        records=before(keep.records),
    )


class Housekeeping:
    """Clears out store and outputs in steps that block a commit for some milliseconds at most; not the desk's work.

    directory : with a folder for the outputs of each job
    live_of   : those of some jobs that have not ended, or whose end is not yet written; called in the thread that
                calls `step` and `forgotten`
    """

    def __init__(
        self, store: Store, directory: Path, live_of: Callable[[list[str]], Collection[str]], keep: Keep | None = None
    ) -> None:
        self._store, self._directory, self._live_of = store, directory, live_of
        self.keep = keep or Keep()
        self.due = 0
        self._what: Retention | None = None
        self._folders: Iterator[Path] | None = None

    def step(self, now: int) -> bool:
        """A step, where one is due; returns whether there is more to do at once."""
        if self._what is None:
            if now < self.due:
                return False
            self._what = retention(self._store, self.keep, now)
            self._folders = self._directory.iterdir() if self.keep.jobs and self._directory.is_dir() else iter(())
        if self._store.compact(self._what):
            return True
        assert self._folders is not None
        some = list(islice(self._folders, FOLDERS))
        old = [folder.name for folder in some if self._is_old(folder, now)]
        for job in self.forgotten(old):
            shutil.rmtree(self._directory / job, ignore_errors=True)  # what cannot be removed is tried again next time
        if len(some) == FOLDERS:
            return True
        self._what, self._folders, self.due = None, None, now + EVERY
        return False

    def forgotten(self, jobs: list[str]) -> list[str]:
        """Those of some jobs that are not live and not in the store."""
        live = self._live_of(jobs) if jobs else ()
        return [job for job in jobs if job not in live and self._store.job(job) is None]

    def _is_old(self, folder: Path, now: int) -> bool:
        """Whether a folder is one of a job, and old enough for that to be forgotten."""
        if not folder.name.isdecimal() or folder.is_symlink() or not folder.is_dir():
            return False
        try:
            return folder.stat().st_mtime_ns // 1000 < now - self.keep.jobs
        except FileNotFoundError:
            return False


class Caretaker:
    """Does the housekeeping of a service, in a thread of its own, until it is closed.

    now    : the clock
    others : lets the agents of other machines know what is forgotten; is given the way to find that out

    Both are called in that thread.
    """

    def __init__(
        self,
        keeping: Housekeeping,
        now: Callable[[], int],
        others: Callable[[Callable[[list[str]], list[str]]], None] = lambda _: None,
    ) -> None:
        self._keeping, self._now, self._others = keeping, now, others
        self._closed = Event()
        self._thread = Thread(target=self._run, name="caretaker", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End after the step at hand; before the store is closed."""
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        pause = _PAUSE
        while not self._closed.wait(pause):
            try:
                pause = _PAUSE
                if not self._keeping.step(self._now()):
                    self._others(self._keeping.forgotten)
                    pause = _IDLE
            except (FairholdError, OSError) as error:  # what is old stays a while longer
                _LOG.warning("old data cannot be removed: %s", error)
                pause = _TROUBLED
