"""Places for tests: directories for sockets, whose paths have to be short, and small disks."""

from __future__ import annotations

import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """In place of the one that is named after the test."""
    with tempfile.TemporaryDirectory(prefix="fh-", ignore_cleanup_errors=True) as directory:
        yield Path(directory)


@contextmanager
def disk(place: Path, size: str) -> Iterator[Path]:
    """A disk of this size ("64k") at a new directory; the test is skipped where the system lets us mount none."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(place)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
