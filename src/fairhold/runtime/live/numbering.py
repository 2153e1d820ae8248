"""Numbers of new jobs above all that were ever given, also where an earlier state of the store came back.

A job that took the number of another one would be given its directory, with the checkpoints and outputs in it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fairhold.ports import AHEAD

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.runtime.live.core import Core

_LONGEST = 15
"""Digits of the largest number that is believed."""


def rise_above(core: Core, folders: Path) -> None:
    """Let new jobs be numbered above every folder of a job, and far above them where the store was restored.

    folders : directory with a folder for each job that has one on this machine; of other machines nobody knows here
    """
    taken = max(core.next_job - 1, _highest(folders))
    if step := int(core.store.meta().get(AHEAD, "0")):
        taken = -(-(taken + step // 2) // step) * step
        core.journal.write(lambda batch: batch.put_meta(AHEAD, "0"))
    core.take_numbers(taken)


def _highest(folders: Path) -> int:
    try:
        names = [each.name for each in os.scandir(folders)]
    except FileNotFoundError:
        return 0
    numbers = (name for name in names if name.isascii() and name.isdecimal() and len(name) <= _LONGEST)
    return max(map(int, numbers), default=0)
