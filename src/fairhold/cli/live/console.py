"""`console`: the web console of the service, in a browser, signed in."""

from __future__ import annotations

import webbrowser
from typing import TYPE_CHECKING

from fairhold.cli.live.connection import connect
from fairhold.cli.live.printing import say, say_json
from fairhold.client import steps
from fairhold.client.errors import ServiceMissing
from fairhold.client.exchange import Request, ask
from fairhold.client.finding import HERE
from fairhold.runtime.outlet import warn

if TYPE_CHECKING:
    from fairhold.client.exchange import Document, Steps


def open_console(service: str, *, only_print: bool, as_json: bool) -> None:
    """Open the console, or print its address. A one-time code in the fragment, which is sent to nobody, signs in."""
    connection = connect(service)
    if not (connection.target.token or connection.target.sign_ins):
        raise ServiceMissing(
            "no token is known with which a browser could be signed in; set FAIRHOLD_TOKEN, or run this as the user of "
            "the service"
        )
    url = connection.target.url
    if url == HERE:  # named by its Unix socket, which no browser can use
        url = connection.run(steps.status())["service"]["address"]
    code = connection.run(_code())["code"]
    address = f"{url}/console/#code={code}"
    if as_json:
        say_json({"address": address})
    elif only_print or not webbrowser.open(address):
        say(address)
        warn("the address signs in once, within a minute")
    else:
        say(f"opened {url}/console/")


def _code() -> Steps[Document]:
    return (yield from ask(Request("POST", "/console/code", None, {}, 0, is_safe=True)))
