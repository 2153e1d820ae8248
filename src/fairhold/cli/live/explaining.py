"""`explain JOB` and `explain CONSUMER` of the live service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cli.live.connection import connect
from fairhold.cli.live.printing import clock, count, fitted, say, say_json
from fairhold.client import steps

if TYPE_CHECKING:
    from fairhold.client.exchange import Document


def explain_job(service: str, name: str, *, as_json: bool) -> None:
    """Why a job waits: its place, the bound, who has the units, when they come back; or what was taken from it."""
    found = connect(service).run(steps.explanation(name))
    if as_json:
        say_json(found)
    else:
        say(_job_in_words(found))


def explain_consumer(service: str, path: str, group: str, *, as_json: bool) -> None:
    """Why a consumer's numbers are what they are now."""
    found = connect(service).run(steps.consumer_explanation(path, group))
    if as_json:
        say_json(found)
    else:
        say(str(found.get("text", "")))


def _job_in_words(found: Document) -> str:
    why = f" ({found['reason']})" if found.get("reason") else ""
    text = found.get("text") or ""
    parts = [f"job {found['job']} is {found['state']}{why}" + (f": {text}" if text else "")]
    place = found.get("place")
    if place is not None:
        parts.append(f"{count(place, 'task')} of its leaf {'is' if place == 1 else 'are'} served before it.")
    leaf = found.get("leaf")
    if leaf:
        bound = f"; bound by {found['bound']}" if found.get("bound") else ""
        limit = "none" if leaf.get("limit") is None else leaf["limit"]
        parts.append(
            f"Its leaf: quota {leaf['quota']}, holds {leaf['allocated']}, wants {leaf['demand']}, "
            f"owns {leaf['owned']}, limit {limit}{bound}."
        )
    for key, title, columns in (
        ("holders", "Who has the units:", ("units", "deadline", "consumer")),
        ("notices", "Units that are on their way back:", ("units", "deadline", "for", "consumer")),
        ("reclaims", "What was taken from it:", ("attempt", "cycle", "rule", "at", "deadline", "for")),
    ):
        rows = found.get(key)
        if rows:
            parts.append(f"{title}\n{fitted(columns, [[_cell(row, column) for column in columns] for row in rows])}")
    return "\n\n".join(parts)


def _cell(row: Document, column: str) -> object:
    value = row.get(column)
    return clock(value) if column in {"at", "deadline"} else value
