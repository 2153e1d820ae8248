"""`import`: queue objects of another system become a plan; what has no place in it is told."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from fairhold.cli.cluster_service import open_cluster
from fairhold.cli.files import print_text
from fairhold.cli.writing import STANDARD_OUTPUT, refuse_same, write_whole
from fairhold.errors import Fault, InputError
from fairhold.planio.document import MEND_UNREAD, read_text
from fairhold.planio.imports.importing import import_plan
from fairhold.planio.imports.objects import SYSTEMS
from fairhold.runtime.outlet import warn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

ENDINGS = (".yaml", ".yml", ".json")
"""Files of a folder that are read."""


Texts = list[tuple["Callable[[], str]", str]]
"""Of each what reads it, and its name."""


def import_files(system: str, paths: Sequence[Path], output: Path | None) -> None:
    """Write the plan; nothing is written where a file is at fault. Raises InputError, UsageError."""
    files = list(_files(paths))
    for path in files if output else ():
        refuse_same(output or STANDARD_OUTPUT, path, "--output is one of the files that are read")
    _write(system, [(partial(read_text, path), str(path)) for path in files], output)


def import_cluster(system: str, kubeconfig: Path | None, context: str, output: Path | None) -> None:
    """Write the plan of what a cluster has now. Raises InputError, UsageError."""
    with open_cluster(kubeconfig, context) as api:
        from fairhold.engines.kubernetes.listing import list_kind, list_kinds  # noqa: PLC0415

        found = next(each for each in SYSTEMS if each.name == system)
        objects = list_kinds(api, found.group, found.versions, found.title)
        try:
            objects += list_kind(api, "v1", "Node", "nodes")
        except InputError as error:
            warn(f"what the cluster has is not read: {error}")
    _write(system, [(partial(json.dumps, each, indent=1), _name(each)) for each in objects], output)


def _name(document: Mapping[str, Any]) -> str:
    """What an object is called where a file has its name."""
    meta = document["metadata"]
    return "/".join((document["kind"].lower(), *filter(None, (meta.get("namespace"), meta["name"]))))


def _write(system: str, texts: Texts, output: Path | None) -> None:
    target = output or STANDARD_OUTPUT
    name = "standard output" if target == STANDARD_OUTPUT else str(target)
    imported = import_plan(system, texts, name)
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
