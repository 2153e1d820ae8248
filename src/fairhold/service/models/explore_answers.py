"""What `/v1/explore` and `/v1/windows` answer."""

from typing import Any

from pydantic import Field

from fairhold.service.models.answers import Answer, Instant


class Warned(Answer):
    """A fault or warning of a plan with changes, and the change that it comes from."""

    code: str
    what: str
    mend: str
    change: str
    place: list[str | int]


class Changeable(Answer):
    """What the plan says of a consumer, in every entry, and what it wants: by the key that a change has."""

    path: str
    stated: list[dict[str, Any]]
    demand: dict[str, Any] = Field(description="Of leaves.")


class Entry(Answer):
    """A policy entry with the settings and keys that it knows."""

    policy: str
    resource_groups: list[str]
    window: str = Field(description="Empty: it is in force where no other is.")
    settings: list[str]
    keys: list[str]
    stated: dict[str, Any]


class Explorable(Answer):
    """What can be changed, of a plan on the state of an instant."""

    version: int
    at: Instant
    title: str
    entries: list[Entry]
    groups: dict[str, dict[str, Any]]
    consumers: list[Changeable]
    numbers: list[dict[str, Any]]
    warnings: list[Warned]


class NumberChange(Answer):
    """A number that differs; one that is not there has no `before`, or no `after`."""

    key: str
    consumer: str | None = None
    resource_group: str | None = None
    pool: str | None = None
    before: Any = None
    after: Any = None


class WhyBoth(Answer):
    """Explanations of a consumer, as `fairhold explain --json`."""

    before: list[dict[str, Any]]
    after: list[dict[str, Any]]


class Explored(Answer):
    """What comes of changes."""

    version: int
    at: Instant
    differences: list[NumberChange]
    warnings: list[Warned]
    findings: list[str] = Field(description="What the independent check objects to.")
    why: WhyBoth | None


class Draft(Answer):
    """A text of a plan that nobody has put in force."""

    version: int = Field(description="Of the plan that it was made from.")
    at: Instant
    text: str
    left_out: list[str] = Field(description="Changes of what is wanted: a plan does not say it.")


class Windows(Answer):
    """As `fairhold windows --json`."""

    time_zone: str
    from_: Instant = Field(alias="from")
    to: Instant
    in_force: dict[str, list[dict[str, Any]]]
    switches: list[dict[str, Any]]
