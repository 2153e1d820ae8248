"""What a store need not keep any longer."""

from __future__ import annotations

from typing import NamedTuple


class Retention(NamedTuple):
    """What need not be kept any longer: whatever is older than these instants. 0 = keep everything.

    entries_through : entries up to this number may go (their usage is on record), where two snapshots cover them
    keys, jobs, cycles, documents, usage, records : submit keys, finished jobs with attempts and specs, cycles, their
        documents, usage that ended before, records of what was done
    """

    entries_through: int = 0
    keys: int = 0
    jobs: int = 0
    cycles: int = 0
    documents: int = 0
    usage: int = 0
    records: int = 0
