"""Answers about the plan."""

from typing import Any

from fairhold.service.models.answers import Answer, Fault, Instant


class PlanHead(Answer):
    """A version of the plan."""

    version: int
    at: Instant
    author: str
    comment: str
    until: Instant | None


class Plan(PlanHead):
    """A version of the plan with its text."""

    text: str


class Plans(Answer):
    """Versions, the latest first."""

    versions: list[PlanHead]


class Balance(Answer):
    """What a parent owns beyond its children; entry: where the plan has windows, its position under `policies:`."""

    consumer: str
    resource_group: str
    owned: int
    children_owned: int
    balance: int
    entry: int | None = None


class Check(Answer):
    """What is wrong with a plan, and its balances."""

    faults: list[Fault]
    warnings: list[Fault]
    balances: list[Balance]


class Setting(Answer):
    """A place in the plan at which the new one says something else; null = nothing, and the default holds."""

    place: str
    old: Any
    new: Any


class Difference(Answer):
    """As `fairhold diff --json`."""

    now: Instant
    resource_groups: dict[str, Any]
    reclaims: dict[str, Any]
    settings: list[Setting]
    summary: dict[str, Any]
    windows: list[dict[str, Any]] | None = None
    over_time: dict[str, Any] | None = None
    in_the_way: list[Fault] | None = None
    warnings: list[Fault] | None = None


class Applied(Answer):
    """A plan that is in force now, or would be."""

    version: int
    warnings: list[Fault]
    diff: Difference
