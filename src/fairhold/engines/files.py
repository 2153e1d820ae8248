"""The files of an attempt in the output directory."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from fairhold.units import format_instant

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.orchestrator.instructions import Notify, Start

_LONGEST_NAME = 200
"""Bytes; file systems take 255."""


class Files(NamedTuple):
    """What an attempt writes and reads.

    output  : its standard output and error
    reclaim : says why and by when its slot is taken back; there from the notice to its withdrawal
    """

    output: Path
    reclaim: Path


def files_of(directory: Path, start: Start) -> Files:
    """The files of an attempt: `JOB/INDEX.ATTEMPT.out` and beside it `….reclaim.json`."""
    stem = f"{start.index}.{start.number}"
    folder = directory / folder_name(start.job)
    return Files(folder / f"{stem}.out", folder / f"{stem}.reclaim.json")


def folder_name(job: str) -> str:
    """The name of a job as the name of a folder: one of its own for every job, whatever characters it has."""
    name = job.replace("%", "%25").replace("/", "%2F").replace("~", "%7E")
    if name.startswith(".") or name.endswith(".jsonl"):  # `..`, and the record that stands beside the folders
        name = name.replace(".", "%2E")
    if len(name.encode()) > _LONGEST_NAME:
        name = f"{name[:40]}~{sha256(job.encode()).hexdigest()[:32]}"
    return name


def write_reclaim(path: Path, notice: Notify, number: int) -> None:
    """Write why and by when a slot is taken back; whoever reads the file sees all of it or none. Raises OSError."""
    document = {
        "reason": notice.reason,
        "for": notice.taker or None,
        "deadline": format_instant(notice.deadline),
        "attempt": number,
    }
    draft = path.with_suffix(".tmp")
    try:
        draft.write_text(json.dumps(document) + "\n", encoding="utf-8")
        os.replace(draft, path)  # noqa: PTH105 - its name says that it takes the place of an earlier file
    except OSError:
        with suppress(OSError):
            draft.unlink()  # half of it, on a full disk
        raise
