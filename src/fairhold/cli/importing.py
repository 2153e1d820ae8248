"""`import`: queue objects of another system become a plan; what has no place in it is told."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fairhold.cli.files import print_text
from fairhold.cli.writing import STANDARD_OUTPUT, refuse_same, write_whole
from fairhold.errors import Fault, InputError
from fairhold.planio.document import MEND_UNREAD, read_text
from fairhold.planio.imports.importing import import_plan
from fairhold.runtime.outlet import warn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

ENDINGS = (".yaml", ".yml", ".json")
"""Files of a folder that are read."""


def import_files(system: str, paths: Sequence[Path], output: Path | None) -> None:
    """Write the plan; nothing is written where a file is at fault. Raises InputError, UsageError."""
    files = list(_files(paths))
    target = output or STANDARD_OUTPUT
    for path in files if output else ():
        refuse_same(target, path, "--output is one of the files that are read")
    name = "standard output" if target == STANDARD_OUTPUT else str(target)
    imported = import_plan(system, [(partial(read_text, path), str(path)) for path in files], name)
    for note in (*imported.notes, *imported.warnings):
        warn(str(note))
    if target == STANDARD_OUTPUT:
        print_text(imported.text.removesuffix("\n"))
    else:
        write_whole(target, imported.text)


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """Files, and those that lie in folders, by name. Raises InputError."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        try:
            found = sorted(each for each in path.iterdir() if each.suffix in ENDINGS and each.is_file())
        except OSError as error:
            what = f"the folder cannot be read: {error.strerror}"
            raise InputError([Fault("cannot-read", what, MEND_UNREAD, file=str(path))]) from None
        if not found:
            what = f"the folder has no file that ends with {', '.join(ENDINGS)}"
            raise InputError([Fault("import-nothing", what, "name files, or another folder", file=str(path))])
        yield from found
