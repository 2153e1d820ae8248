"""`cancel`, `hold`, `release`, `requeue`, `move`, `priority`: each job for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cli.live.connection import connect
from fairhold.cli.live.names import better
from fairhold.cli.live.printing import say, say_json
from fairhold.client import steps
from fairhold.client.errors import Refused
from fairhold.errors import count
from fairhold.runtime.outlet import tell

if TYPE_CHECKING:
    from fairhold.client.exchange import Document


def change_jobs(service: str, jobs: list[str], verb: str, body: Document, *, as_json: bool) -> int:
    """Change every job; one that is refused does not keep the others back. Returns the exit code.

    verb : `cancel` and so on; empty = its `priority` or `consumer` in `body`
    """
    connection = connect(service)
    worst, changed = 0, []
    for name in jobs:
        try:
            found = connection.run(steps.act(name, verb, body) if verb else steps.change(name, body))
        except Refused as error:
            if "consumer" in body:
                error = better(connection, error, body["consumer"])
            tell(str(error))
            worst = max(worst, error.exit_code)
            continue
        changed.append(found)
        if not as_json:
            say(_line(found, verb, body))
    if as_json:
        say_json(changed)
    return worst


def _line(job: Document, verb: str, body: Document) -> str:
    """What has become of a job; tasks that run take a moment to end."""
    told = f"job {job['job']}: {job['state']}"
    running = count(job["tasks"].get("running", 0), "task")
    if verb == "cancel" and job["state"] not in steps.OVER:
        return f"job {job['job']}: cancelled, {running} still ending"
    if verb == "requeue" and job["tasks"].get("running"):
        return f"job {job['job']}: {running} to end and wait again"
    if "consumer" in body:
        told += f", of {job['consumer']}"
    if "priority" in body:
        told += f", priority {job['priority']}"
    return told
