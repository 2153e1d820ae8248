"""Requests of which the same is said: those that hold nothing and wait for the same reason with the same unit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairhold.cli.pools import Document

_NAMED = 6
"""Requests of whom the same is said that are named; the others are counted."""
_HOLDS = ("held", "on_hosts_down", "on_the_way", "stands", "coming", "kept")


def told_together(requests: Sequence[Document]) -> Iterator[Document]:
    """Each request, those that wait alike as one, where the first of them stands.

    `together` of such a one is the name of its first, of which alone is told what would help it.
    """
    alike: dict[object, list[Document]] = {}
    for place, request in enumerate(requests):
        alike.setdefault(_same(request) or place, []).append(request)
    for those in alike.values():
        yield _as_one(those) if len(those) > 1 else those[0]


def _same(request: Document) -> str:
    """What is said of a request that only waits, whatever its name and its place; empty for others."""
    if not request["waits"] or any(request[name] for name in _HOLDS):
        return ""
    gang = (request["count"], request["min_count"]) if request["min_count"] else ()
    said = request["consumer"], request["unit"], gang, request.get("preemptible"), request["waits"]
    return json.dumps(said, sort_keys=True, default=str)


def _as_one(those: list[Document]) -> Document:
    first = those[0]
    word = first["title"].partition(" ")[0]
    names = [each["title"].removeprefix(f"{word} ") for each in those[:_NAMED]]
    more = f"{len(those) - _NAMED} more" if len(those) > _NAMED else names.pop()
    sums = {name: sum(each[name] for each in those) for name in ("count", "waiting")}
    title = f"{word}s {', '.join(names)} and {more}"
    return first | sums | {"title": title, "together": first["request"]}
