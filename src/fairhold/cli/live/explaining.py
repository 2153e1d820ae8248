"""`explain JOB` and `explain CONSUMER` of the live service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cli.live.connection import connect
from fairhold.cli.live.endings import bad_endings
from fairhold.cli.live.names import better, unknown_job
from fairhold.cli.live.printing import clock, fitted, say, say_json
from fairhold.cli.pool_requests import called, request_text
from fairhold.cli.pool_words import pools_in_words
from fairhold.cli.presence import with_hosts
from fairhold.cli.queue_requests import request_text as queue_text
from fairhold.cli.words import document_in_words
from fairhold.client import looking, steps
from fairhold.client.errors import Refused
from fairhold.errors import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cli.live.connection import Asked, Connection
    from fairhold.client.exchange import Document

_HOLDERS = ("units", "reclaiming", "deadline", "consumer")
_COMING = ("units", "deadline", "consumer")
_TAKEN = ("task", "attempt", "cycle", "rule", "at", "deadline", "end", "for")
_KEYS = {"attempt": "number"}


def explain_job(service: Asked, name: str, *, as_json: bool) -> None:
    """Why a job waits: its place, the bound, who has the units, when they come back; or what was taken from it."""
    connection = connect(service)
    found = connection.run(steps.explanation(name))
    if as_json:
        say_json(found)
    else:
        say(explanation_in_words(connection, found))


def explanation_in_words(connection: Connection, found: Document) -> str:
    """How a job stands, what was taken from it, and how tasks of it ended badly."""
    return job_in_words(found, bad_endings(connection, found["job"]) if found["state"] == "failed" else [])


def explain_consumer(service: Asked, path: str, group: str, *, as_json: bool) -> None:
    """Why a consumer's numbers are what they are now."""
    connection = connect(service)
    try:
        found = connection.run(looking.consumer_explanation(path, group))
    except Refused as error:
        raise unknown_job(connection, path) or better(connection, error, path) from None
    if as_json:
        say_json(found)
    else:
        say("\n\n".join(map(consumer_in_words, found["explanations"])))


def consumer_in_words(told: Document) -> str:
    """How a consumer stands in one resource group, or in what is shared by one entry."""
    text = (pools_in_words if "requests" in told else document_in_words)(told, "job")
    return with_hosts(text, told, clock)


def job_in_words(found: Document, over: list[str]) -> str:
    """How a job stands, and what was taken from it.

    over : rows about bad ends of its tasks
    """
    if found["state"] in steps.OVER:
        why = f" ({found['reason']}): {found['text']}" if found.get("reason") else ""
        parts = [f"job {found['job']} is over: {found['state']}{why}", *over]
    else:
        parts = [*_waiting(found)]
    taken = found["reclaims"]
    if taken:
        rows = [[_cell(row, column) for column in _TAKEN] for row in taken]
        parts.append(f"What was taken from it:\n{fitted(_TAKEN, rows)}")
    return "\n\n".join(parts)


def _waiting(found: Document) -> Iterator[str]:
    """How a job stands that has not ended."""
    why = found.get("reason")
    waits = ", and more of its tasks wait" if why and found["state"] == "running" else ""
    yield f"job {found['job']} is {found['state']}{waits}" + (f" ({why}): {found['text']}" if why else "")
    place = found.get("place")
    if place is not None:
        yield _place(place)
    leaf = found.get("leaf")
    if leaf:
        bound = f"; bound by {found['bound']}" if found.get("bound") else ""
        limit = "none" if leaf.get("limit") is None else leaf["limit"]
        yield (
            f"Its leaf: quota {leaf['quota']}, holds {leaf['allocated']}, wants {leaf['demand']}, "
            f"owns {_owned(leaf)}, limit {limit}{bound}."
        )
    if found.get("request"):
        told = called(found["request"], "job")
        yield queue_text(told) if "preemptible" in told else request_text(told)
    if why and found["holders"]:
        rows = [[_cell(row, column) for column in _HOLDERS] for row in found["holders"]]
        yield f"Who has the units:\n{fitted(_HOLDERS, rows)}"
    if found["notices"]:
        rows = [[_cell(row, column) for column in _COMING] for row in found["notices"]]
        yield f"Units that are on their way to its leaf:\n{fitted(_COMING, rows)}"


def _owned(leaf: Document) -> str:
    """What a leaf owns by the plan, and how much of it with the slots that there are now."""
    now, in_plan = leaf["owned"], leaf.get("owned_in_plan")
    return str(now) if in_plan in {None, now} else f"{in_plan}, {now} of it now (R-SCALE-1)"


def _place(place: int) -> str:
    if not place:
        return "It is the next of its leaf."
    return f"{count(place, 'task')} of its leaf {'is' if place == 1 else 'are'} served before it."


def _cell(row: Document, column: str) -> object:
    if column == "rule" and row.get("reason") == "host":  # somebody asked for it: no rule, and no cycle
        return f"drain: {row['why']}" if row.get("why") else "drain"
    value = row.get(_KEYS.get(column, column))
    return clock(value) if column in {"at", "deadline"} else value
