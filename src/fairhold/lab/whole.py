"""Files that are there whole or not at all, also after a crash or on a full disk."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, content: bytes | memoryview) -> None:
    """Write a file under another name and rename it when it is whole.

    Raises OSError with the name of the file, also where the system names none, as on a full disk; no draft is left
    then.
    """
    draft = path.with_name(f".{path.name}.new")
    try:
        draft.write_bytes(content)
        os.replace(draft, path)  # noqa: PTH105 - the atomic one
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise OSError(error.errno, error.strerror, str(path)) from error
