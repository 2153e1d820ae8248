"""The secret that the service and its agents share: a file that only its owner may read."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING

from fairhold.engines.private import drafted, read_private
from fairhold.errors import Fault, InputError

if TYPE_CHECKING:
    from pathlib import Path

NAME = "secret"
"""Of the file, in the state directory."""
_BYTES = 32
_CONTENT = re.compile(rb"[0-9a-f]{64}\n?")


def the_secret(directory: Path) -> bytes:
    """The 32 bytes of `directory/secret`, which is made where there is none.

    Raises InputError where others may read it, it is somebody else's, or it is not a secret; OSError where it cannot be
    read or written.
    """
    path = directory / NAME
    if not os.path.lexists(path):
        _create(path)
    return _read(path)


def _create(path: Path) -> None:
    """Write a new secret; one that somebody else wrote in the same moment stays."""
    with drafted(path, secrets.token_hex(_BYTES).encode() + b"\n") as draft, suppress(FileExistsError):
        os.link(draft, path)


def _read(path: Path) -> bytes:
    refused = partial(_refused, path)
    content = read_private(path, _BYTES * 2 + 2, refused, mend_mode=f"run: chmod 600 {quote(str(path))}")
    if not _CONTENT.fullmatch(content):
        raise refused("holds no secret", "remove it when no agent runs; a new one is made")
    return bytes.fromhex(content.decode())


def _refused(path: Path, why: str, mend: str) -> InputError:
    return InputError([Fault("agent-secret", f"the agents' secret {why}", mend, file=str(path))])
