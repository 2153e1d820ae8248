"""The text of a trace, packed or not."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from io import BytesIO
from typing import IO, TYPE_CHECKING, Protocol

from fairhold.errors import Fault, InputError
from fairhold.traces.findings import CUT_SHORT, refuse

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

LARGEST_TRACE = 4 * 2**30
"""The largest text that is read, unpacked, in bytes: small files can be packed that would fill the memory."""


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


_PIECE = 16 * 2**20
_PACKED: tuple[tuple[bytes, Callable[[IO[bytes]], AbstractContextManager[_Readable]]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\0", lzma.open),
)


def read_trace(path: Path) -> str:
    """Read the text of a trace, packed by gzip, bzip2 or xz or not at all; raises InputError."""
    text = decoded(unpacked(read_bytes(path), str(path)), str(path))
    if not text.strip():
        raise refuse("empty", str(path), "the file is empty", "fetch it again, or name another file")
    return text


def read_bytes(path: Path) -> bytes:
    """Read a file as it is; raises InputError."""
    name = str(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise refuse("cannot-read", name, f"the file cannot be read: {error.strerror}", "") from error
    except ValueError as error:
        raise refuse("cannot-read", name, "the name of the file holds a NUL character", "") from error
    return data


def unpacked(data: bytes, name: str) -> bytes:
    """What a packed file holds, whatever it is called; raises InputError where it is damaged or far too large."""
    opener = next((opener for start, opener in _PACKED if data.startswith(start)), None)
    if opener is None:
        return data
    pieces, size = [], 0
    try:
        with opener(BytesIO(data)) as file:
            while piece := file.read(_PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > LARGEST_TRACE:
                    what = f"the file is larger than {LARGEST_TRACE:,} bytes when unpacked"
                    raise refuse("file-too-large", name, what, "split it")
    except EOFError as error:
        what, mend = "the packed file ends too early", "download it again: the end is missing"
        raise refuse(CUT_SHORT, name, what, mend) from error
    except (OSError, zlib.error, lzma.LZMAError) as error:
        what, mend = f"the packed file is damaged: {error}", "fetch it again"
        raise refuse(CUT_SHORT, name, what, mend) from error
    return b"".join(pieces)


def decoded(data: bytes, name: str) -> str:
    """The text of a file in UTF-8, without the mark that some programs put first; raises InputError."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what, mend = f"byte {error.start + 1} is not UTF-8", "save the file as plain UTF-8 text"
        raise InputError([Fault("not-utf-8", what, mend, file=name, line=line)]) from error
    at = text.find("\0")
    if at >= 0:
        what = "there is a NUL character, so this is not a text file"
        raise refuse("not-text", name, what, "save the file as plain UTF-8 text", text.count("\n", 0, at) + 1)
    return text
