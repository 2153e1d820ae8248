"""`kubernetes observed`: what the service would do to the pods of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cli.live.connection import connect
from fairhold.cli.live.printing import clock, fitted, show
from fairhold.client import steps
from fairhold.errors import count

if TYPE_CHECKING:
    from fairhold.cli.live.connection import Asked
    from fairhold.client.exchange import Document

_HEAD = ("would", "namespace", "pod", "consumer", "node", "deadline", "for", "reason")
_RUNNING = {"keep": "would run on", "notice": "would be told to go", "stop": "would be stopped"}
_WAITING = {"start": "would start", "wait": "would wait on", "refused": "would not be accepted"}
_ALWAYS = {"keep", "notice", "start", "wait"}
_KEYS = {"would": "action", "for": "taker"}


def show_observed(service: Asked, *, as_json: bool) -> None:
    """What would be started, told to go and stopped now, and how that differs from what the cluster does."""
    show(connect(service).run(steps.observed()), in_words, as_json=as_json)


def in_words(found: Document) -> str:
    """Counts, then what would be done pod by pod."""
    lines = [_of("run", found["running"], _RUNNING), _of("wait", found["waiting"], _WAITING)]
    rows = [[_cell(row, column) for column in _HEAD] for row in found["actions"]]
    if rows:
        lines += ["", fitted(_HEAD, rows, ("reason", "node"))]
    if found["left_out"]:
        lines.append(f"and {found['left_out']} more")
    return "\n".join(lines)


def _of(what: str, counts: Document, words: dict[str, str]) -> str:
    """How many pods do something, and what would become of them."""
    told = [f"{number} {words[name]}" for name, number in counts.items() if number or name in _ALWAYS]
    return f"{count(sum(counts.values()), 'pod')} {what}: {', '.join(told)}"


def _cell(row: Document, column: str) -> object:
    value = row[_KEYS.get(column, column)]
    return clock(value) if column == "deadline" and value else value
