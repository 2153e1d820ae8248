"""What is said of consumers at their objects in a cluster, and how these are called."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from fairhold.engines.kubernetes.custom_resources import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Document = dict[str, Any]
LONGEST = 253
"""Characters of the name of an object."""
_OF_UNITS = {name: "entitled" if name == "quota" else name for name in NUMBERS}
"""How views call the numbers of what is shared in resources."""
_NO_LETTER = re.compile(r"[^a-z0-9-]+")


def names_of(paths: Iterable[str]) -> dict[str, str]:
    """Path → name of the object, a valid DNS name; of those that would be called the same, later ones get a number.

    The paths alone decide, in whatever order they come.
    """
    plain = {path: name_of(path) for path in sorted(paths)}
    first: dict[str, str] = {}
    for path, name in plain.items():
        first.setdefault(name, path)
    taken, found = set(first), {}
    for path, name in plain.items():
        if first[name] == path:
            found[path] = name
            continue
        number = 2
        while (numbered := f"{name[: LONGEST - 12]}-{number}") in taken:
            number += 1
        taken.add(numbered)
        found[path] = numbered
    return found


def name_of(path: str) -> str:
    """A path as a DNS name: `/Risk/Desk 1` is `risk.desk-1`."""
    labels = (_NO_LETTER.sub("-", label.lower()).strip("-") or "x" for label in path.strip("/").split("/"))
    name = ".".join(labels)
    if len(name) > LONGEST:
        name = f"{name[: LONGEST - 20].rstrip('.-')}.{sha256(path.encode()).hexdigest()[:12]}"
    return name


def statuses_of(document: Mapping[str, Any]) -> dict[str, Document]:
    """Path → status of its object, from what the service says of consumers; the root has none."""
    numbers: dict[str, dict[str, Document]] = {}
    for group, told in document["resource_groups"].items():
        for row in told["consumers"]:
            if row["path"] == "/":
                continue
            mine = numbers.setdefault(row["path"], {name: {} for name in NUMBERS})
            for name in NUMBERS:
                _add(mine[name], group, row, name)
    return {path: {"path": path, **mine, "shown": _shown(mine)} for path, mine in numbers.items()}


def _add(found: Document, group: str, row: Mapping[str, Any], name: str) -> None:
    """Add amounts of resources, or slots under the name of their resource group."""
    if row.get("amounts") is not None:
        found.update(row["amounts"].get(_OF_UNITS[name], {}))
    elif row[name]:
        found[f"{group}.slots" if group in found else group] = row[name]


def _shown(numbers: Mapping[str, Document]) -> dict[str, str]:
    return {name: ", ".join(f"{what} {amount}" for what, amount in of.items()) or "0" for name, of in numbers.items()}


def merge(before: Mapping[str, Any], after: Mapping[str, Any]) -> Document:
    """The merge patch that makes one document of another; empty = they are the same."""
    patch: Document = {name: None for name in before if name not in after}
    for name, value in after.items():
        has = before.get(name)
        if isinstance(value, dict) and isinstance(has, dict):
            if below := merge(has, value):
                patch[name] = below
        elif name not in before or has != value:
            patch[name] = value
    return patch
