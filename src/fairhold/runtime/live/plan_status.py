"""What is said of a plan at its object in the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.errors import count, place_text, printable
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.errors import Fault
    from fairhold.ports import PlanVersion

Document = dict[str, Any]
ACCEPTED = "Accepted"
MOST_FAULTS = 100
"""Faults of a plan that are said at its object."""
_LONGEST = 30_000
"""Characters of a message; the API server takes 32,768 of a condition."""


class Outcome(NamedTuple):
    """What became of a generation of the object.

    faults   : why it was not put in force; empty = it was
    is_plan  : whether it is a plan, which only does not fit what is there
    in_force : whether the plan in force says the same
    """

    faults: Sequence[Fault] = ()
    is_plan: bool = True
    in_force: bool = True


def status_of(document: Mapping[str, Any], outcome: Outcome, plan: PlanVersion | None, now: int) -> Document:
    """The whole status of an object of which this became.

    document : the object as it is
    plan     : in force; None = none is yet
    """
    generation = document["metadata"]["generation"]
    status: Document = {
        "observedGeneration": generation,
        "version": plan.version if plan else None,
        "inForceSince": _second(plan.at) if plan else None,
        "faults": [_fault(each) for each in outcome.faults[:MOST_FAULTS]],
        "faultCount": len(outcome.faults),
    }
    reason, message = _words(outcome, plan)
    condition = {
        "type": ACCEPTED,
        "status": "False" if outcome.faults else "True",
        "reason": reason,
        "message": message[:_LONGEST],
        "observedGeneration": generation,
        "lastTransitionTime": _second(now),
    }
    status["conditions"] = [_kept(condition, document)]
    return status


def is_said(document: Mapping[str, Any], status: Mapping[str, Any]) -> bool:
    """Whether the object has this status already."""
    has = document.get("status") or {}
    return all(has.get(name) == value for name, value in status.items())


def _words(outcome: Outcome, plan: PlanVersion | None) -> tuple[str, str]:
    """Reason and message of the condition."""
    kept = f"plan {plan.version} stays in force" if plan else "no plan is in force yet"
    if outcome.faults:
        more = f" (and {count(len(outcome.faults) - 1, 'fault')} more)" if len(outcome.faults) > 1 else ""
        return ("Refused" if outcome.is_plan else "Faulty"), f"{kept}: {_line(outcome.faults[0])}{more}"
    if plan is None or outcome.in_force:
        return "InForce", f"plan {plan.version} is in force" if plan else "it is put in force"
    origin = f"plan {plan.version} of {printable(plan.author)}"
    return "Replaced", f"{origin} is in force in its place; `fairhold plan versions` shows all"


def _second(instant: int) -> str:
    """As Kubernetes says instants."""
    return format_instant(instant // SECOND * SECOND)


def _line(fault: Fault) -> str:
    place = place_text(fault.place)
    return printable(f"{place}: {fault.what}" if place else fault.what)


def _fault(fault: Fault) -> Document:
    said = {"code": fault.code, "what": fault.what, "mend": fault.mend, "place": place_text(fault.place)}
    return {name: printable(text) for name, text in said.items()}


def _kept(condition: Document, document: Mapping[str, Any]) -> Document:
    """A condition whose status is as before has the instant from when it is so."""
    for before in (document.get("status") or {}).get("conditions") or ():
        if before.get("type") == condition["type"] and before.get("status") == condition["status"]:
            return condition | {"lastTransitionTime": before.get("lastTransitionTime", condition["lastTransitionTime"])}
    return condition
