"""Answers about usage."""

from pydantic import Field

from fairhold.service.fields import Instant
from fairhold.service.models.answers import Answer


class Capacity(Answer):
    """What there was of a resource, in resource-seconds: on hosts that were up, and on those that were not."""

    hour: str | None = None
    day: str | None = None
    month: str | None = None
    resource: str
    unit: str
    up_seconds: str
    down_seconds: str
    reserved_seconds: str = Field(description="Of what was up: idle slots that are never lent.")
    held_seconds: str = Field(description="What all together held.")


class Balance(Answer):
    """What was borrowed of a resource and lent of it; why, where these differ."""

    resource: str
    borrowed_seconds: str
    lent_seconds: str
    why: str


class Usage(Answer):
    """What was used, in resource-seconds: exact between these instants, which may lie around those asked for."""

    from_: Instant = Field(alias="from")
    to: Instant
    by: list[str]
    rows: list[dict[str, str]]
    currency: str | None = None
    cost: str | None = None
    unpriced: list[str] | None = None
    capacity: list[Capacity]
    capacity_from: Instant | None
    capacity_whole: bool = Field(description="Capacity is on record for all that was used.")
    dominant: list[dict[str, str]]
    balance: list[Balance]
