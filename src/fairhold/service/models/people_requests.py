"""Bodies of requests about people."""

from pydantic import Field

from fairhold.service.fields import Duration, Shown, Text, User
from fairhold.service.models.requests import Body
from fairhold.units import SECOND

LIFE = 90 * 24 * 3600 * SECOND
"""How long a token is good where nobody says it."""


class TokenBody(Body):
    """A token to be made."""

    user: User | None = Field(None, description="Whose it is; default: the caller's.")
    name: Shown = Field("", description="What it is for.")
    expires: Duration = Field(
        LIFE, description="How long it is good; 0 = until it is revoked.", json_schema_extra={"default": "90d"}
    )


class AccessBody(Body):
    """An access document to be put in force."""

    text: Text
    comment: Shown = ""
