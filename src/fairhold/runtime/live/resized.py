"""Pods that ask for other amounts than their jobs were booked with."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.model.kubernetes import amounts_of_told
from fairhold.model.siting import siting_of

if TYPE_CHECKING:
    from fairhold.model.kubernetes import Amounts
    from fairhold.model.plan import Plan
    from fairhold.orchestrator.events import JobSubmitted
    from fairhold.orchestrator.tasks import JobRecord


def is_within(terms: JobSubmitted, job: JobRecord) -> bool:
    """Whether a task of a job holds what is asked for."""
    most = {name: Fraction(amount) for name, amount in job.terms.unit}
    fits = all(Fraction(amount) <= most.get(name, 0) for name, amount in terms.unit)
    return fits and terms.units <= job.units


def is_booked(terms: JobSubmitted, job: JobRecord) -> bool:
    """Whether a task of a job holds what is asked for, and no more."""
    return (terms.unit, terms.units) == (job.terms.unit, job.units)


def is_sited(terms: JobSubmitted, job: JobRecord) -> bool:
    """Whether a job waits for such nodes as are asked for."""
    return terms.siting.need == siting_of(job.terms.siting).need


def booked_for(plan: Plan, job: JobRecord) -> Amounts:
    """What a task of a job holds, in names and units of Kubernetes, with 0 of what it could hold, too."""
    if job.terms.unit:
        none = {plan.kubernetes.name_of(resource.name): Fraction(0) for resource in plan.resources}
        return tuple((none | dict(amounts_of_told(plan.kubernetes, plan.resources, job.terms.unit))).items())
    return tuple((name, job.units * amount) for name, amount in plan.resource_groups[job.resource_group].slot)
