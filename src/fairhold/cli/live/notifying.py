"""`notify`: of what somebody is told, and how he is reached."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from fairhold.access.notifications import EVENTS, LONGEST_URL
from fairhold.cli.live.connection import connect
from fairhold.cli.live.printing import pairs, show
from fairhold.client import people
from fairhold.errors import UsageError, printable
from fairhold.runtime.outlet import tell

if TYPE_CHECKING:
    from fairhold.client.exchange import Document

NONE = "none"


class Wanted(NamedTuple):
    """What is to be different, as the options say it; None = nothing of it.

    events  : as text; webhook: address, `-` = standard input has it, `none` = there is none any more
    """

    events: str | None = None
    mail: bool | None = None
    webhook: str | None = None
    new_secret: bool = False


def events_of(option: str, text: str | None) -> list[str] | None:
    """`start,end`, or `none`; None where nothing is said. Raises UsageError."""
    if text is None:
        return None
    words = [] if text == NONE else [word.strip() for word in text.split(",")]
    for word in words:
        if word not in EVENTS:
            raise UsageError(f"{option} {printable(text)}: write {', '.join(EVENTS)} with commas between, or {NONE}")
    return words


def notify_job(service: str, job: str, events: str | None, *, as_json: bool) -> None:
    """`notify JOB`: what one is told of a job; or that it is to be something else."""
    wanted = events_of("--on", events)
    asked = people.notifications(job) if wanted is None else people.notify(job, wanted)
    show(connect(service).run(asked), _watched, as_json=as_json)


def _watched(found: Document) -> str:
    return f"of job {found['job']} you are told: {', '.join(found['events']) or 'nothing'}"


def notify_always(service: str, wanted: Wanted, *, is_test: bool, as_json: bool) -> None:
    """`notify`: how one is reached and what one is told of all one's jobs; or that it is to be something else."""
    connection = connect(service)
    if wanted == Wanted():
        found = connection.run(people.notifications())
    else:
        webhook = _address(wanted.webhook)
        events = events_of("--on", wanted.events)
        found = connection.run(people.change_notifications(wanted.mail, webhook, events, new_secret=wanted.new_secret))
    show(found, lambda told: told.get("secret") or _settings(told), as_json=as_json)
    if found.get("secret") and not as_json:
        tell("messages to the webhook are signed with this secret; it is shown this once")
    if is_test:  # after the secret is shown: where this fails, nobody is told it again
        connection.run(people.test_notifications())
        if not as_json:
            tell("a message is on its way")


def _address(text: str | None) -> str | None:
    """The address of a webhook: a list of processes would show one that is an argument."""
    if text == "-":
        return sys.stdin.read(2 * LONGEST_URL).strip()
    return "" if text == NONE else text


def _settings(found: Document) -> str:
    offers = found["offers"]
    rows = {
        "told of all jobs": ", ".join(found["events"]) or "nothing",
        "mail": found["mail"] or ("none wanted" if not found["wants_mail"] else "no address"),
        "webhook": found["webhook"] or "none",
        "may lead to": ", ".join(offers["webhooks"]) or "nowhere: the access document allows no webhooks",
    }
    if not offers["mail"] and not found["mail"]:
        rows["mail"] = "the access document names no mail server"
    return pairs(rows)
