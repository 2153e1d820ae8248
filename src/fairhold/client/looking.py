"""What can be asked of numbers: why they are so, who lends, what others would do; without a connection (`exchange`)."""

from __future__ import annotations

from fairhold.client.exchange import Document, Steps, ask, request

_PLAYED = 60.0
"""Seconds for which a record is played at most."""


def consumer_explanation(path: str, group: str | None = None, *, would_help: bool = True) -> Steps[Document]:
    """Why a consumer's numbers are what they are now; would_help: also what would give it one more."""
    query = {"consumer": path, "resource_group": group or None, "would_help": None if would_help else 0}
    return (yield from ask(request("GET", "consumers", "explanation", query=query)))


def lending(path: str) -> Steps[Document]:
    """Who lends a consumer and those below it what, and to whom they lend, now."""
    return (yield from ask(request("GET", "consumers", "lending", query={"consumer": path})))


def plan_schema() -> Steps[Document]:
    """The JSON schema of plans."""
    return (yield from ask(request("GET", "plan", "schema")))


def explorable() -> Steps[Document]:
    """What can be changed to see what would be."""
    return (yield from ask(request("GET", "explore")))


def explore(changes: list[str], consumer: str = "") -> Steps[Document]:
    """What other numbers would do now; consumer: whose explanations are wanted."""
    body: Document = {"changes": changes} | ({"consumer": consumer} if consumer else {})
    return (yield from ask(request("POST", "explore", body=body, is_safe=True)))


def draft_plan(changes: list[str]) -> Steps[Document]:
    """The text of the plan in force with changes."""
    return (yield from ask(request("POST", "explore", "draft", body={"changes": changes}, is_safe=True)))


def simulate(text: str | None, since: str | None, until: str | None) -> Steps[Document]:
    """What happened, and what would have under a plan; since, until: instants, None = all."""
    given = {"text": text, "since": since, "until": until}
    body: Document = {name: value for name, value in given.items() if value is not None}
    asked = request("POST", "simulate", body=body, is_safe=True)
    return (yield from ask(asked._replace(wait=_PLAYED)))


def windows(ahead: str | int | None = None, *, reclaims: bool = False) -> Steps[Document]:
    """The calendar of the plan; ahead: how far to look, as text or whole seconds."""
    query = {"next": None if ahead is None else str(ahead), "reclaims": 1 if reclaims else None}
    return (yield from ask(request("GET", "windows", query=query)))
