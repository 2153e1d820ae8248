"""Checks messages from an agent: a peer that knows the secret may still have another version, or be broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from fairhold.engines.agents.limits import LIMITS
from fairhold.model.siting import MOST_LABELS, is_label
from fairhold.orchestrator.ending import OUTCOMES
from fairhold.orchestrator.events import Exit, Held, Outcome, TaskEnded

if TYPE_CHECKING:
    from collections.abc import Mapping

_OUTCOMES = OUTCOMES | {"stray": Outcome.STOPPED}
"""Also of what the service does not know, and so tells no task of."""
_LONGEST_NAME = 255
_LONGEST_LEASE = 86_400.0
_MOST = 2**63
_MOST_ASKED = 1000
_Kind = TypeVar("_Kind")


class Inventory(NamedTuple):
    """All that an agent holds; see `MachineReported`.

    host  : what the agent calls its host; spool: identity of where it keeps its attempts
    slots : how many it offers
    labels : of its host
    enforced : limits that the kernel keeps there, `memory` and `cpu`; None = an older agent, which does not say
    term, tail : of the service whose orders it took last, and number of the last entry of its log; 0 = it knows none
    proof : that this service has said both; empty = an older agent, which keeps none
    lease : seconds for which its attempts may run without contact to the service, as promised before
    """

    version: str
    host: str
    boot: str
    slots: int
    last: int
    held: tuple[Held, ...]
    spool: str = ""
    labels: tuple[str, ...] = ()
    enforced: tuple[str, ...] | None = None
    lease: float = 0.0
    term: int = 0
    tail: int = 0
    proof: str = ""


def inventory(message: Mapping[str, Any]) -> Inventory:
    """The first message of an agent. Raises ValueError where it is none."""
    if message.get("type") != "inventory":
        raise ValueError("the first message is not an inventory")
    held = []
    for item in field(message, "attempts", list):
        if not isinstance(item, dict):
            raise ValueError("an inventory names an attempt that is not an object")  # noqa: TRY004 - content, not use
        record = item.get("exit")
        held.append(
            Held(
                number(item, "attempt"),
                field(item, "alive", bool),
                None if record is None else exit_record(field(item, "exit", dict)),
            )
        )
    host = field(message, "host", str)
    if len(host) > _LONGEST_NAME or not host.isprintable():
        raise ValueError("the name of the host is too long or holds control characters")
    return Inventory(
        str(message.get("version", ""))[:_LONGEST_NAME],
        host,
        field(message, "boot", str),
        number(message, "slots"),
        number(message, "last"),
        tuple(held),
        str(message.get("spool") or "")[:_LONGEST_NAME],
        _labels(message.get("labels") or []),
        _enforced(message.get("enforced")),
        _lease(message.get("lease")),
        number(message, "term") if "term" in message else 0,
        number(message, "tail") if "tail" in message else 0,
        str(message.get("proof", ""))[:_LONGEST_NAME],
    )


def _lease(said: object) -> float:
    """Seconds; 0 where there are none. Raises ValueError."""
    if said is None:
        return 0.0
    if not isinstance(said, int | float) or not 0 <= said <= _LONGEST_LEASE:
        raise ValueError("what is left of its lease is not a number of seconds, or more than any lease has")
    return float(said)


def _enforced(said: object) -> tuple[str, ...] | None:
    """Limits by name; those that are not known here are left alone. Raises ValueError."""
    if said is None:
        return None
    if not isinstance(said, list):
        raise ValueError("the limits that it enforces are not a list")  # noqa: TRY004 - content, not use
    return tuple(name for name in LIMITS if name in said)


def _labels(said: object) -> tuple[str, ...]:
    """Labels of a host. Raises ValueError."""
    if not isinstance(said, list) or len(said) > MOST_LABELS:
        raise ValueError(f"its labels are not a list of {MOST_LABELS} at most")
    for each in said:
        if not (isinstance(each, str) and is_label(each)):
            raise ValueError("one of its labels is not written as NAME=VALUE or NAME")
    return tuple(sorted(said))


def ended(message: Mapping[str, Any]) -> TaskEnded:
    """The end of an attempt, with its record. Raises ValueError."""
    record = exit_record(field(message, "exit", dict))
    return TaskEnded(number(message, "attempt"), _OUTCOMES.get(record.reason, Outcome.FAILED), record)


def refused(message: Mapping[str, Any]) -> TaskEnded:
    """An attempt that was not started and never will be. Raises ValueError."""
    detail = str(message.get("detail") or "")
    return TaskEnded(number(message, "attempt"), Outcome.LOST, Exit("refused", detail=detail))


def old_jobs(message: Mapping[str, Any]) -> list[str]:
    """Jobs that an agent asks about. Raises ValueError."""
    jobs = field(message, "jobs", list)
    if len(jobs) > _MOST_ASKED or not all(isinstance(job, str) and len(job) <= _LONGEST_NAME for job in jobs):
        raise ValueError("the jobs that are asked about are too many or not of the right kind")
    return jobs


def exit_record(record: Mapping[str, Any]) -> Exit:
    """How an attempt ended. Raises ValueError.

    A reason that is not known here stays as it is: to refuse the record would be to wait for another for ever.
    """
    return Exit(
        field(record, "reason", str),
        _number_if_any(record, "code", -1),
        _number_if_any(record, "signal", 0),
        str(record.get("detail") or ""),
        _number_if_any(record, "cpu", 0),
        _number_if_any(record, "peak", 0),
    )


def _number_if_any(record: Mapping[str, Any], name: str, otherwise: int) -> int:
    return otherwise if record.get(name) is None else number(record, name, least=otherwise)


def number(message: Mapping[str, Any], name: str, least: int = 0) -> int:
    """A whole number of a message. Raises ValueError."""
    value = field(message, name, int)
    if not least <= value < _MOST:
        raise ValueError(f"{name} is out of its range")
    return value


def field(message: Mapping[str, Any], name: str, kind: type[_Kind]) -> _Kind:
    """A field of a message. Raises ValueError where it is missing or of another kind; a truth value is not a number."""
    value = message.get(name)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"{name} is missing or not of the right kind")
    return value
