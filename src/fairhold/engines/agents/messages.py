"""Messages to an agent: instructions of the orchestrator with all data that a task needs."""

from __future__ import annotations

import base64
import hmac
from typing import TYPE_CHECKING, Any

from fairhold.agent.frames import VERSION
from fairhold.engines.files import folder_name
from fairhold.ledger.controls import shorter
from fairhold.units import SECOND

if TYPE_CHECKING:
    from fairhold.engines.agents.questions import Asked
    from fairhold.model.spec import Spec
    from fairhold.orchestrator.instructions import Notify, Start

Message = dict[str, Any]
"""A JSON object; `type` says which message it is."""


def token(secret: bytes, attempt: int) -> str:
    """What only processes of this attempt have in their environment."""
    return hmac.digest(secret, str(attempt).encode(), "sha256").hex()


def start(order: Start, spec: Spec, *, secret: bytes, weight: int, output_limit: int, is_own: bool) -> Message:
    """Run this. Names of files are relative to the agent's directory: where that is, only the agent knows.

    is_own : to the agent of this machine. Another one keeps an empty output too: where both machines have one storage,
             no file would look like one that lies elsewhere
    """
    folder = f"jobs/{folder_name(order.job)}"
    stem = f"{folder}/{order.index}"
    return {
        "type": "start",
        "attempt": order.attempt,
        "token": token(secret, order.attempt),
        "argv": [part.replace("{index}", str(order.index)) for part in spec.argv],
        "environment": {**spec.environment, **_variables(order, spec)},
        "directory": spec.directory,
        "stdin": base64.b64encode(spec.stdin).decode(),
        "output": f"{stem}.{order.number}.out",
        "reclaim_file": f"{stem}.{order.number}.reclaim.json",
        "job_directory": f"{stem}.dir",
        "time_limit": shorter(spec.time_limit, order.longest) / SECOND,
        "memory": shorter(spec.memory, order.memory),
        "cpu": order.cpu,
        "devices": None if order.devices is None else list(order.devices),
        "output_limit": output_limit,
        "keep_empty": not is_own,
        "signal": spec.notice,
        "lead": spec.lead / SECOND,
        "weight": weight,
        "user": spec.user,
        "account": spec.account,
    }


def _variables(order: Start, spec: Spec) -> dict[str, str]:
    return {
        "FAIRHOLD_JOB": order.job,
        "FAIRHOLD_TASK": str(order.index),
        "FAIRHOLD_ATTEMPT": str(order.number),
        "FAIRHOLD_CONSUMER": spec.consumer,
        "FAIRHOLD_UNITS": str(order.units),
        "FAIRHOLD_HOSTS": ",".join(f"{host}:{units}" for host, units in order.places),
    }


def notice(order: Notify, now: int) -> Message:
    """The slot of an attempt is reclaimed.

    now : instant; the agent counts the seconds that are left, because its wall clock may be another
    """
    return {
        "type": "notice",
        "attempt": order.attempt,
        "deadline": order.deadline,
        "seconds": max(0, order.deadline - now) / SECOND,
        "reason": order.reason,
        "for": order.taker or None,
        "cycle": order.cycle or None,
    }


def withdraw(attempt: int) -> Message:
    """It may go on after all."""
    return {"type": "withdraw", "attempt": attempt}


def stop(attempt: int, reason: str, seconds: float) -> Message:
    """Stop it: its signal now, SIGKILL after so many seconds."""
    return {"type": "stop", "attempt": attempt, "reason": reason, "seconds": seconds}


def forget(attempts: list[int]) -> Message:
    """Their ends are on record."""
    return {"type": "forget", "attempts": attempts}


def clear(jobs: list[str]) -> Message:
    """Of the jobs that the agent has asked about, these are forgotten: it deletes their folders."""
    return {"type": "clear", "jobs": jobs}


def question(asked: Asked) -> Message:
    """A question about files; the agent answers with its number."""
    number, said = asked
    if said.type == "list":
        return {"type": "list", "n": number, "path": said.path, "after": said.after, "limit": said.limit}
    return {"type": "read", "n": number, "path": said.path, "offset": said.offset, "limit": said.limit}


def welcome(lease: float | None, keep: float | None) -> Message:
    """The answer to an inventory; keep: seconds after which the agent asks about the folder of a job, None = never."""
    return {"type": "welcome", "version": VERSION, "lease": lease, "keep": keep}


def unplanned() -> Message:
    """The plan has no host of the agent's name."""
    return {"type": "unplanned"}


def certificate(text: str) -> Message:
    """Another certificate for the agent, PEM: the one that it has shown is good for a third of its life only."""
    return {"type": "certificate", "certificate": text}


def enrolled(certificate: str, authority: str) -> Message:
    """A host has enrolled: its certificate, and that of who signed it and signs for the service, PEM."""
    return {"type": "enrolled", "certificate": certificate, "authority": authority}


def not_enrolled(why: str) -> Message:
    """A host has not enrolled."""
    return {"type": "not_enrolled", "why": why}


def lease(beat: int) -> Message:
    """A lease begins, at the instant at which this beat was sent."""
    return {"type": "lease", "n": beat}
