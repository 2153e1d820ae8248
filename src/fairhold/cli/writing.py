"""Files that a command writes: whole or not at all, and never over the plan."""

from __future__ import annotations

import os
from pathlib import Path

from fairhold.errors import Fault, InputError, UsageError

STANDARD_OUTPUT = Path("/dev/stdout")


def refuse_same(target: Path, source: Path, what: str) -> None:
    """Refuse to write over an input; raises UsageError.

    what : which option names the file, and which input it is
    """
    try:
        is_same = target.samefile(source)
    except (OSError, ValueError):  # one of them is not there, and says so when it is used
        return
    if is_same:
        raise UsageError(f"{what}: {target}; name another file")


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all; a device, a pipe and what a link leads to are written where they are.

    Raises InputError.
    """
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_text(text)  # replacing it would take a device away from the whole machine
        else:
            _replace(path, text)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        what, mend = f"cannot write it: {why}", "name a file in a folder that you may write to"
        raise InputError([Fault("cannot-write", what, mend, file=str(path))]) from None


def _replace(target: Path, text: str) -> None:
    from tempfile import NamedTemporaryFile  # noqa: PLC0415 - slow to import, and few commands write files

    with NamedTemporaryFile("w", dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
        written = target.parent / file.name
        try:
            file.write(text)
            file.flush()
            written.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
            written.replace(target)
        except OSError:
            written.unlink()
            raise


def _umask() -> int:
    """What new files may not be, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
