"""Bodies of requests about people."""

from typing import Annotated

from pydantic import Field

from fairhold.access.notifications import LONGEST_URL
from fairhold.service.fields import Duration, Events, Shown, Text, User
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


class WatchBody(Body):
    """Of what of a job somebody wants to be told."""

    events: Events = Field(description="None: of nothing, whatever is said of all jobs.")


class NotificationsBody(Body):
    """What is to be different of how somebody is told; what is left out stays."""

    mail: bool | None = Field(None, description="Whether he wants mail, where there is an address.")
    webhook: Annotated[Text, Field(max_length=LONGEST_URL)] | None = Field(
        None, description="Address that messages are sent to; empty: none any more."
    )
    new_secret: bool = Field(default=False, description="Make another secret for the webhook.")
    events: Events | None = Field(None, description="Of what of all his jobs he is told.")
