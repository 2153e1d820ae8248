"""Directories for tests that open sockets, whose paths have to be short."""

from __future__ import annotations

import tempfile
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
