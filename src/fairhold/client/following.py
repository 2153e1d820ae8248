"""The log as it grows: a stream of server-sent events, asked for again where it left off when the connection breaks."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

import httpx

from fairhold.client.errors import ConnectionLost, ServiceError, closed, error_of, strange
from fairhold.client.exchange import LONG_PATIENCE, Request, request
from fairhold.client.wire import answered, broken, call

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from fairhold.client.exchange import Document
    from fairhold.client.rotation import Rotation

_FIRST, _LONGEST = 0.05, 1.0
"""Seconds until the stream is asked for again; longer the longer nobody answers."""
_STREAM = {"Accept": "text/event-stream"}
_DATA = "data:"
_COMES_BACK = 503


class Place:
    """How far a stream was read, and how long nothing has come of it.

    after : number of the last event that is known; services: how many there are, of which one leads
    """

    def __init__(self, after: int, services: int) -> None:
        self.after = after
        self._data: list[str] = []
        self._is_there = services > 1
        self._spent, self._pause = 0.0, _FIRST

    def request(self) -> Request:
        """What comes behind this place."""
        self._data = []
        return request("GET", "events", query={"after": self.after}, headers=_STREAM)

    def heard(self, line: str) -> Document | None:
        """A line of the stream; the event that it ends, if it ends one."""
        self._is_there = True
        self._spent, self._pause = 0.0, _FIRST
        if line.startswith(_DATA):
            self._data.append(line.removeprefix(_DATA).removeprefix(" "))
        if line or not self._data:
            return None
        text, self._data = "\n".join(self._data), []
        try:
            event: Document = json.loads(text)
            self.after = event["seq"]
        except (KeyError, TypeError, ValueError) as error:
            raise strange(error) from error
        return event

    def pause(self, error: ServiceError) -> float:
        """Seconds to wait before the stream is asked for again; raises the error where that is of no use."""
        is_passing = self._is_there and error.status in {0, _COMES_BACK} and error.code != "not-a-service"
        if not (is_passing or isinstance(error, ConnectionLost)) or self._spent >= LONG_PATIENCE:
            raise error
        pause, self._pause = self._pause, min(2 * self._pause, _LONGEST)
        self._spent += pause
        return pause


def follow(each: Sequence[httpx.Client], rotation: Rotation, after: int) -> Iterator[Document]:
    """Events above a number as they are committed, for as long as somebody takes them.

    each : a client for each service; rotation: which of them is asked
    """
    place = Place(after, len(each))
    while True:
        at = rotation.at
        http, name = each[at], rotation.targets[at].name
        if http.is_closed:
            raise closed()
        try:
            with http.stream(**call(place.request())) as response:
                if response.is_error:
                    response.read()
                    raise error_of(answered(response))
                for line in response.iter_lines():
                    event = place.heard(line)
                    if event is not None:
                        yield event
        except (httpx.HTTPError, ServiceError) as error:
            pause = place.pause(_meant(error, name))
        else:
            pause = place.pause(_ended(name))
        rotation.move(at)
        time.sleep(pause)


async def follow_async(each: Sequence[httpx.AsyncClient], rotation: Rotation, after: int) -> AsyncIterator[Document]:
    """The same for asyncio."""
    place = Place(after, len(each))
    while True:
        at = rotation.at
        http, name = each[at], rotation.targets[at].name
        if http.is_closed:
            raise closed()
        try:
            async with http.stream(**call(place.request())) as response:
                if response.is_error:
                    await response.aread()
                    raise error_of(answered(response))
                async for line in response.aiter_lines():
                    event = place.heard(line)
                    if event is not None:
                        yield event
        except (httpx.HTTPError, ServiceError) as error:
            pause = place.pause(_meant(error, name))
        else:
            pause = place.pause(_ended(name))
        rotation.move(at)
        await asyncio.sleep(pause)


def _meant(error: httpx.HTTPError | ServiceError, name: str) -> ServiceError:
    return broken(error, name) if isinstance(error, httpx.HTTPError) else error


def _ended(name: str) -> ServiceError:
    """A stream ends where the service does."""
    return ConnectionLost(f"the stream of events of {name} has ended, and does not resume", "check whether it runs")
