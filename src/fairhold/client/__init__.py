"""A client of the live service, for programs: `with fairhold.connect() as service: …`.

steps      : what is asked, in which order, and what is tried again; knows no sockets. Each step function is a generator
             of requests, which the clients and the command line run over their own connections
connect    : a client whose calls wait; connect_async: the same for asyncio
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairhold.client.asynchronous import AsyncClient
    from fairhold.client.synchronous import Client

NEEDS = "the client needs httpx: pip install 'fairhold[client]'"


def connect(url: str | None = None, token: str | None = None) -> Client:
    """A client of a service; it opens connections when it is used, and is closed by `with` or `close()`.

    url   : `http://…`, `https://…` or `unix:PATH`, or several with commas, of which one leads;
            else FAIRHOLD_SERVICE, else the service that this user runs here
    token : else FAIRHOLD_TOKEN, else the one of the service that was found

    Raises ServiceMissing where none is named and none runs, and ImportError without the extra `client`.
    """
    from fairhold.client.finding import find  # noqa: PLC0415 - `import fairhold` stays fast

    try:
        from fairhold.client.synchronous import Client  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _told(error) from error
    return Client(find(url, token))


def connect_async(url: str | None = None, token: str | None = None) -> AsyncClient:
    """As `connect`, for `async with`."""
    from fairhold.client.finding import find  # noqa: PLC0415

    try:
        from fairhold.client.asynchronous import AsyncClient  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _told(error) from error
    return AsyncClient(find(url, token))


def _told(error: ModuleNotFoundError) -> ModuleNotFoundError:
    return ModuleNotFoundError(NEEDS, name="httpx") if error.name == "httpx" else error
