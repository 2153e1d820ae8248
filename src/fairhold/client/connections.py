"""Carries steps out over the connections of a client, whose calls wait or are awaited."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Self

import httpx

from fairhold.client.errors import ServiceError, closed, strange
from fairhold.client.exchange import Pause, Request, Response, carry_through
from fairhold.client.wire import answered, broken, call, settings, wire

if TYPE_CHECKING:
    from types import TracebackType

    from fairhold.client.exchange import Returned, Steps
    from fairhold.client.finding import Target


class Connections:
    """Connections to a service; to be closed, as by `with`."""

    def __init__(self, target: Target, transport: httpx.BaseTransport | None = None) -> None:
        """`connect` makes one. transport: of tests."""
        over = transport or httpx.HTTPTransport(**wire(target))
        self._http = httpx.Client(**settings(target), transport=over)
        self._name = target.name

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close its connections; jobs continue."""
        self._http.close()

    def _run(self, steps: Steps[Returned]) -> Returned:
        """Carry out steps over this client's connections."""
        try:
            return carry_through(steps, self._carry_out)
        except (KeyError, AttributeError) as error:  # of an answer in which that is not as it is with us
            raise strange(error) from error

    def _carry_out(self, step: Request | Pause) -> Response | None:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        if self._http.is_closed:
            raise closed()
        try:
            return answered(self._http.request(**call(step)))
        except httpx.HTTPError as error:
            raise broken(error, self._name) from error


class AsyncConnections:
    """Connections to a service; to be closed, as by `async with`."""

    def __init__(self, target: Target, transport: httpx.AsyncBaseTransport | None = None) -> None:
        """`connect` makes one. transport: of tests."""
        over = transport or httpx.AsyncHTTPTransport(**wire(target))
        self._http = httpx.AsyncClient(**settings(target), transport=over)
        self._name = target.name

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close its connections; jobs continue."""
        await self._http.aclose()

    async def _run(self, steps: Steps[Returned]) -> Returned:
        """Carry out steps over this client's connections."""
        try:
            step = next(steps)
            while True:
                try:
                    answer = await self._carry_out(step)
                except ServiceError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(answer)
        except StopIteration as end:
            returned: Returned = end.value
            return returned
        except (KeyError, AttributeError) as error:  # of an answer in which that is not as it is with us
            raise strange(error) from error

    async def _carry_out(self, step: Request | Pause) -> Response | None:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        if self._http.is_closed:
            raise closed()
        try:
            return answered(await self._http.request(**call(step)))
        except httpx.HTTPError as error:
            raise broken(error, self._name) from error
