"""`login` and `logout`: sign in at the provider of a service, by a code that is entered in a browser."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fairhold.cli.live.connection import Connection
from fairhold.cli.live.printing import say, say_json
from fairhold.client.errors import Refused, ServiceError
from fairhold.client.finding import TOKEN, base_directory, find
from fairhold.client.login import SignIns, sign_in, sign_out
from fairhold.runtime.outlet import tell, warn
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from fairhold.client.exchange import Document


def log_in(service: str, *, as_json: bool) -> None:
    """Show the code, wait until it was entered, and keep what the service gives then."""
    target = find(service or None)
    kept = SignIns(base_directory())
    connection = Connection(target._replace(token="", sign_ins=None))
    found = connection.run(sign_in(_show))
    with kept.turn():
        kept.keep(target.key, found)
    until = format_instant(int(found.expires) * SECOND)
    if as_json:
        say_json({"service": target.key, "user": found.user, "until": until, "renewed": bool(found.refresh)})
    else:
        say(f"signed in at {target.key} as {found.user}" + ("" if found.refresh else f", until {until}"))
    if os.environ.get(TOKEN):
        warn(f"{TOKEN} is set, and counts before this")


def _show(told: Document) -> None:
    where = told["verification_uri_complete"] or told["verification_uri"]
    tell(f"to sign in at {told['provider']}, open this address, and compare or enter the code:")
    tell(f"  {where}")
    tell(f"  {told['user_code']}")


def log_out(service: str) -> None:
    """Forget a sign-in, here and at the provider."""
    target = find(service or None)
    kept = SignIns(base_directory())
    with kept.turn():
        known = kept.find(target.key)
        kept.keep(target.key, None)
    if known is None:
        say(f"you are not signed in at {target.key}")
        return
    if known.refresh:
        try:
            Connection(target._replace(token="", sign_ins=None)).run(sign_out(known.refresh))
        except (Refused, ServiceError) as error:
            warn(f"the provider was not told: {error}")
    say(f"signed out of {target.key}")
