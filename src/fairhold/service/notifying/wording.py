"""What happened, in a line for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.access.notifications import BUDGET_USED, END, HOST_SILENT, RECLAIM, STARVING, WITHDRAWN
from fairhold.errors import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Fact = Mapping[str, Any]

TEST = "test"


def told(fact: Fact) -> str:
    """A fact as a sentence without a full stop."""
    event = fact["event"]
    if event == TEST:
        return "This is a test, as you asked for it"
    if event == HOST_SILENT:
        return f"Host {fact['host']} is silent since {fact['since']}"
    if event == BUDGET_USED:
        lasts = f", and lasts until {fact['lasts_until']}" if fact["lasts_until"] else ""
        return f"{fact['consumer']} has used {fact['used_percent']} % of its budget of this {fact['period']}{lasts}"
    if event == STARVING:
        numbers = f"waits for {fact['waiting']}, is entitled to {fact['entitled']} and holds {fact['allocated']}"
        return f"{fact['consumer']} {numbers} in {fact['resource_group']}, since {fact['since']}"
    return f"Job {fact['job']}{_named(fact)} of {fact['consumer']} {_of_job(fact)}"


def _named(fact: Fact) -> str:
    return f" ({fact['name']})" if fact["name"] else ""


def _of_job(fact: Fact) -> str:
    event, tasks = fact["event"], count(fact.get("tasks", 1), "task")
    if event == RECLAIM:
        return f"has to give the units of {tasks} back by {fact['deadline']}"
    if event == WITHDRAWN:
        return f"keeps the units of {tasks} after all"
    if event == END:
        code = f", exit code {fact['exit_code']}" if fact["exit_code"] else ""
        return f"has ended: {fact['state']}{code}"
    return "has started"


def subject(cluster: str, facts: Sequence[Fact], more: int) -> str:
    """What a message is about, in short."""
    head = f"[{cluster}] " if cluster else ""
    if len(facts) == 1 and not more:
        return head + told(facts[0])
    return f"{head}{len(facts) + more} things happened"


def text(facts: Sequence[Fact], more: int) -> str:
    """All that a message says."""
    lines = [f"{fact['at']}  {told(fact)}." for fact in facts]
    return "\n".join([*lines, *([f"... and {more} more."] if more else [])]) + "\n"
